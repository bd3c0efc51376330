/* csvio - rows as text: separated by commas, tabs or blanks (RFC 4180, as far as numbers go).
 *
 * Reading: a line of bare numbers is converted where it stands; a line with anything else goes
 * through libcsv, one physical line at a time, and means the same. LF, CRLF or CR; blank lines
 * and lines that begin with # are skipped and counted. Faults are told as "FILE:LINE: column C:
 * ...", columns from 1. A row of any length is read, a single field beyond PE_CSV_FIELD_MAX
 * bytes is refused: so is a quote that never closes. */
#ifndef PE_CSVIO_H
#define PE_CSVIO_H

#include <stddef.h>

#include "backend.h"
#include "elem.h"

#define PE_CSV_FIELD_MAX ((size_t)1 << 20)

extern const struct pe_backend pe_csv_backend;

/* Writing. */
struct pe_csv_format {
	char separator; /* ',' '\t' ' ' */
	int digits;     /* 0: shortest, else significant digits */
};

/* The most bytes that a row of so many columns takes; false if it cannot be addressed. */
bool pe_csv_row_max(size_t cols, size_t *bytes);
/* n lines, with their newlines; `to` has pe_csv_row_max bytes for each. Returns their size. */
size_t pe_csv_write_rows(char *to, const struct pe_csv_format *format, enum pe_elem elem,
			 const void *rows, size_t n, size_t cols);
/* A line of names, quoted where that is due; its size, also where `to` is NULL. */
size_t pe_csv_write_names(char *to, char separator, const char *const *names, size_t cols);

#endif
