/* safetensors - checkpoints: named tensors behind a JSON header (huggingface/safetensors, README
 * "Format").
 *
 * A file is 8 bytes N (little-endian), N bytes of JSON that begin with '{' and map each name to
 * its dtype, shape and data_offsets, and the data. Everything is untrusted: N is at most
 * 100,000,000, no name occurs twice, the tensors follow each other without hole or overlap from
 * offset 0 to the end of the file, and each has the bytes that its shape and type take. Memory
 * is bounded by what the file really holds. */
#ifndef PE_SAFETENSORS_H
#define PE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "elem.h"
#include "error.h"

/* Reads the one tensor that s->tensor names; a file of a single tensor needs no name. Rank 0 or
 * 1 is one row, leading dimensions are flattened into rows. F64 F32 F16 BF16 I64 I32. */
extern const struct pe_backend pe_safetensors_backend;

struct pe_tensor {
	char *name;
	const char *type;  /* "F32" ... as the file spells it */
	enum pe_elem elem; /* PE_ELEM_NONE: a type that is listed and not read */
	size_t rank;
	uint64_t *shape;     /* rank of them */
	uint64_t elements;   /* their product */
	uint64_t begin, end; /* bytes in the data */
};

/* The tensors of a header, in the order of their data. */
struct pe_checkpoint {
	struct pe_tensor *tensors;
	size_t count;
	uint64_t bytes; /* of data */
};

/* Reads the header that source's buffer begins with and leaves the buffer at the first byte of
 * data. */
int pe_checkpoint_read(struct pe_checkpoint *c, struct pe_source *s, struct pe_error *e);
/* Opens a file (NULL or "-": standard input), reads its header and closes it: for lists. The
 * size of a regular file is checked, anything else is read to its end. */
int pe_checkpoint_open(struct pe_checkpoint *c, const char *path, struct pe_error *e);
void pe_checkpoint_free(struct pe_checkpoint *c);

/* Writes: the 8 bytes and the JSON of a file with one tensor of rows x cols, padded with blanks
 * so that the data are aligned to 8 bytes. Allocated; *size is its length. */
char *pe_safetensors_header(const char *name, enum pe_elem elem, uint64_t rows, size_t cols,
			    size_t *size);

#endif
