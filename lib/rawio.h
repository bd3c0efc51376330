/* rawio - rows without a header: elements one after the other, in either byte order.
 *
 * Also the reader of every container whose data is such a block behind a header (npy, safetensors). */
#ifndef PE_RAWIO_H
#define PE_RAWIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"

/* Files "FILE: byte B: ..." what is no whole row. A raw stream does not tell its width: cols is
 * due. */
extern const struct pe_backend pe_raw_backend;

#define PE_RAW_RANK_MAX 64

/* A block of values, once its header is read: the source's buffer stands at its first byte. */
struct pe_raw_block {
	enum pe_elem elem; /* in the file */
	bool big_endian;
	bool counted;      /* rows is what the block holds */
	uint64_t behind;   /* bytes that follow a counted block before the input must end */
	bool column_major; /* Fortran order: held whole, then handed out by rows */
	uint64_t rows;     /* the leading dimensions, flattened */
	size_t cols;
	/* column_major: the leading dimensions, whose first varies fastest; none: rows is the one */
	size_t leading;
	uint64_t dims[PE_RAW_RANK_MAX];
};

/* Sets s->state, s->cols, s->rows, s->elem, s->carrier. A counted block that is longer or
 * shorter than a regular file is refused before anything is read or allocated; from anything
 * else the first row is read, so that it is there before someone makes room for it. */
int pe_raw_begin(struct pe_source *s, const struct pe_raw_block *block, struct pe_error *e);
ssize_t pe_raw_read(struct pe_source *s, void *rows, size_t max, struct pe_error *e);
bool pe_raw_holds_row(const struct pe_source *s);
void pe_raw_close(struct pe_source *s);

/* True where the order differs from this machine's. */
bool pe_raw_swapped(bool big_endian);
/* Reverses the bytes of n values of that many bytes each. */
void pe_raw_swap(void *values, size_t n, size_t size);

#endif
