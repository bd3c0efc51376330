/* backend - what a container offers to the stream room: for reading a table of three functions and
 * the state they share. A new container is a new table, and one line where stream.c lists them. */
#ifndef PE_BACKEND_H
#define PE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elem.h"
#include "error.h"
#include "io.h"
#include "matrix.h"

/* An input under way. The stream room fills it from its spec, the backend's open completes it. */
struct pe_source {
	struct pe_input input;
	struct pe_buffer buffer; /* what was read and not used, the magic included */
	enum pe_elem carrier;    /* of the rows handed out; NONE before open: the elem found */
	enum pe_elem elem;  /* before open: as which values are taken, NONE: as the file has them */
	bool big_endian;    /* raw */
	bool header;        /* text: the first line is names */
	bool rows_optional; /* no row is no fault */
	char separator;     /* text: ',' '\\t', or ' ' for any run of blanks */
	const char *tensor; /* safetensors */
	size_t cols;        /* before open: the width due, 0: any; afterwards the width */
	int64_t rows;       /* as a header tells, else -1 */
	char **names;       /* text: cols of them, else NULL */
	void *state;        /* the backend's own */
};

struct pe_backend {
	/* Reads as far as the first row. On failure close is called all the same. */
	int (*open)(struct pe_source *s, struct pe_error *e);
	/* As pe_reader_read. */
	ssize_t (*read)(struct pe_source *s, void *rows, size_t max, struct pe_error *e);
	/* True if read would hand out a row without asking the system. */
	bool (*holds_row)(const struct pe_source *s);
	void (*close)(struct pe_source *s);
};

/* Fills a matrix whose cols and elem are set with all rows that `read` gives. expected: how many
 * that is likely to be, 0 if nobody knows. On failure the matrix is empty. */
typedef ssize_t pe_rows_read(void *context, void *rows, size_t max, struct pe_error *e);
int pe_rows_gather(struct pe_matrix *m, pe_rows_read *read, void *context, size_t expected,
		   struct pe_error *e);

/* The checks that all backends share. Fails where the width found is not the one due, or zero. */
int pe_source_width(struct pe_source *s, size_t cols, struct pe_error *e);
/* "empty input ..." unless that is allowed. */
int pe_source_empty(const struct pe_source *s, struct pe_error *e);

/* "PLACE: overflows f16: '70000'" or "PLACE: not an integer: '1.5'": src[i] does not fit `to`. */
int pe_convert_fail(const char *place, enum pe_elem to, enum pe_elem from, const void *src,
		    size_t i, struct pe_error *e);
/* Converts n values of row `row` on and says which one does not fit: "PLACE: row R, column C: ..." */
int pe_convert_rows(const char *place, uint64_t row, size_t cols, enum pe_elem to, void *dst,
		    enum pe_elem from, const void *src, size_t n, struct pe_error *e);

#endif
