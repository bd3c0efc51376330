/* stream - matrices as rows: a format chosen once, then blocks of rows in and out.
 *
 * A row in memory is an array of one element type, the carrier, whatever the file holds: the
 * reader converts into it and the writer out of it, and both say where a value does not fit.
 * Everything that is wrong in an input is said as "FILE: line L, column C: what: 'text'" (text,
 * from 1), "FILE: byte B: what" (raw) or "FILE: what" (npy, safetensors); a value that the
 * carrier or the output cannot hold as "FILE: row R, column C: what: 'value'" (from 0, as --rows
 * and --cols count). */
#ifndef PE_STREAM_H
#define PE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elem.h"
#include "error.h"
#include "io.h"
#include "matrix.h"

enum pe_container {
	PE_AUTO, /* by suffix, magic, else csv */
	PE_CSV,  /* comma */
	PE_TSV,  /* tab */
	PE_TXT,  /* blanks */
	PE_NPY,
	PE_RAW, /* no header: the element names the format */
	PE_SAFETENSORS,
};

/* "csv", "npy:f32", "f64be" ... as the user spells it. */
struct pe_format {
	enum pe_container container;
	enum pe_elem elem; /* PE_ELEM_NONE: text prints f64 digits, npy the widest of the inputs */
	bool big_endian;   /* raw only */
};

/* false if there is no such format. */
bool pe_format_parse(const char *text, struct pe_format *format);
/* By the suffix of a path, a ".safetensors:NAME" included; PE_AUTO if it tells nothing. */
struct pe_format pe_format_of_path(const char *path);
bool pe_format_is_text(struct pe_format format);
/* Its separator where it is text, else 0. */
char pe_format_separator(struct pe_format format);

/* ---- reading ---- */

struct pe_reader_spec {
	const char *path;        /* NULL or "-": standard input; "FILE.safetensors:TENSOR" */
	struct pe_format format; /* PE_AUTO container: found out */
	bool header;             /* the first text line is names */
	size_t cols; /* width that is due: needed for raw, checked elsewhere; 0: unknown */
	/* element of the rows handed out; PE_ELEM_NONE: the file's own (text: f64) */
	enum pe_elem carrier;
	bool rows_optional; /* an input without any row is no fault (then cols may stay 0) */
};

struct pe_reader; /* opaque: an input, a format, a buffer */

/* Opens and reads as far as the first row, so that cols and elem are known. */
int pe_reader_open(struct pe_reader **r, const struct pe_reader_spec *spec, struct pe_error *e);
/* True for a regular file opened by its name: it can be closed and opened again. */
bool pe_reader_is_file(const struct pe_reader *r);
size_t pe_reader_cols(const struct pe_reader *r);
enum pe_elem pe_reader_elem(const struct pe_reader *r); /* what the file holds; text: f64 */
bool pe_reader_is_text(const struct pe_reader *r);
enum pe_elem pe_reader_carrier(const struct pe_reader *r);
int64_t pe_reader_rows(const struct pe_reader *r); /* as a header tells it, else -1 */
/* How many rows are still to come from a file by its name, as a header tells or, raw, its size;
 * else -1. Fit to make room for, before it is read: a header's word counts only where the file
 * has been found to be as large. */
int64_t pe_reader_expects(const struct pe_reader *r);
const char *pe_reader_name(const struct pe_reader *r); /* for messages */
/* The header's names, cols of them; NULL where there is none. */
const char *const *pe_reader_names(const struct pe_reader *r);

/* Up to max rows of the carrier at `rows`. Hands out whole rows that are already here rather
 * than wait for more, so a filter answers a slow writer row by row. Rows read, 0 at the end, -1
 * on failure. */
ssize_t pe_reader_read(struct pe_reader *r, void *rows, size_t max, struct pe_error *e);

/* True where the next read would have to wait for the system: no whole row is buffered, and no
 * more bytes are there. The moment for a filter to flush what it has. */
bool pe_reader_waits(const struct pe_reader *r);

/* All rows that are left, and closes nothing. */
int pe_reader_all(struct pe_reader *r, struct pe_matrix *m, struct pe_error *e);
/* Frees; the input had been checked to its end by the read that returned 0. NULL is allowed. */
void pe_reader_close(struct pe_reader *r);

/* Opens, reads all, closes: for side tables. */
int pe_matrix_read(struct pe_matrix *m, const struct pe_reader_spec *spec, struct pe_error *e);

/* ---- writing ---- */

struct pe_writer_spec {
	const char *path; /* NULL or "-": standard output */
	/* PE_AUTO container: by suffix of path, else csv; its elem NONE: text prints the carrier
	 * f16, bf16, f32 as f64 digits, npy writes `natural` */
	struct pe_format format;
	enum pe_elem natural;     /* element of npy output where the user names none; NONE: f64 */
	int digits;               /* text: 0 shortest, else significant digits */
	const char *stamp;        /* text: first line, without "# " and newline; NULL: none */
	const char *const *names; /* text: header line, cols of them; NULL: none */
	size_t cols;
	int64_t rows; /* if known, else -1: npy to a pipe then holds the rows */
	/* element of the rows that are put; NONE: the element written, see pe_writer_carrier */
	enum pe_elem carrier;
	const char *tensor;     /* safetensors: its name */
	pe_output_watch *watch; /* told of a temporary file that has a name; NULL: nobody */
};

struct pe_writer;

/* The element that a format resolves to: what a made table computes in. Text without an element
 * gives f64, npy without one gives natural (f64 where that is NONE, f32 where it is bf16, which
 * npy lacks). */
enum pe_elem pe_writer_elem(const struct pe_writer_spec *spec);

/* The container likewise: by the suffix of path, else csv. */
struct pe_format pe_writer_format(const struct pe_writer_spec *spec);

int pe_writer_open(struct pe_writer **w, const struct pe_writer_spec *spec, struct pe_error *e);
enum pe_elem pe_writer_carrier(const struct pe_writer *w);

/* Room for rows inside the writer's own block, so that a maker fills it without a copy: returns
 * its address and sets *room to how many rows fit, at least 1 and at most want. */
void *pe_writer_room(struct pe_writer *w, size_t want, size_t *room);
/* The n rows that were filled from pe_writer_room's address. */
int pe_writer_filled(struct pe_writer *w, size_t n, struct pe_error *e);
/* n rows from elsewhere. */
int pe_writer_put(struct pe_writer *w, const void *rows, size_t n, struct pe_error *e);
/* Hands everything so far to the system. */
int pe_writer_flush(struct pe_writer *w, struct pe_error *e);
/* Flushes, completes, commits and frees, whatever it returns. Only after 0 is the output whole. */
int pe_writer_close(struct pe_writer *w, struct pe_error *e);
/* Frees without committing: the old file stands. NULL is allowed. */
void pe_writer_abandon(struct pe_writer *w);

#endif
