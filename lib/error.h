/* error - what a library call says when it fails.
 *
 * A call that can fail returns 0 or a count when it succeeds and -1 when it does not; then its
 * struct pe_error holds one line of text, "PLACE: what: 'offending text'", and the kind of fault.
 * The library never prints and never exits: the caller decides. */
#ifndef PE_ERROR_H
#define PE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

enum pe_fault {
	PE_FAULT_ARGUMENT = 1, /* the caller asked for what cannot be: a command line at fault */
	PE_FAULT_DATA,         /* the input does not hold what is due */
	PE_FAULT_IO,           /* the system refused an open, a read, a write or a close */
	PE_FAULT_MEMORY,       /* no memory, or more rows and columns than can be addressed */
};

struct pe_error {
	enum pe_fault fault;
	char text[1024]; /* one line, no newline, NUL-terminated */
};

#if defined(__GNUC__)
#define PE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PE_PRINTF(text, first)
#endif

/* Fills *e and returns -1, so that a caller may write: return pe_fail(e, ...). */
int pe_fail(struct pe_error *e, enum pe_fault fault, const char *format, ...) PE_PRINTF(3, 4);

/* The same with ": " and the system's word for errno behind the text; fault PE_FAULT_IO. */
int pe_fail_errno(struct pe_error *e, const char *format, ...) PE_PRINTF(2, 3);

/* "out of memory"; fault PE_FAULT_MEMORY. */
int pe_fail_memory(struct pe_error *e);

/* A name or a piece of input made safe for a one-line message: control characters and bytes that
 * are no valid UTF-8 become \n, \t, \xNN; more than 80 bytes end in "...". */
struct pe_quoted {
	char text[332];
};
struct pe_quoted pe_quote(const char *text);
/* A file's name, whose end tells most: more than 240 bytes begin with "...", none is ''. */
struct pe_quoted_path {
	char text[968];
};
struct pe_quoted_path pe_quote_path(const char *path);
struct pe_quoted pe_quote_bytes(const void *bytes, size_t size);
/* The same of any length, allocated; NULL: no memory. */
char *pe_escape(const char *text);

#endif
