/* matrix - rows x cols of one element, in memory, owned. For what the mathematics needs whole:
 * K and V, a learned table, a bias table. */
#ifndef PE_MATRIX_H
#define PE_MATRIX_H

#include <stddef.h>

#include "elem.h"
#include "error.h"

struct pe_matrix {
	size_t rows, cols;
	enum pe_elem elem;
	void *data; /* rows * cols elements, row after row; NULL where rows * cols is 0 */
};

/* All zero. Fails, before it asks for memory, where the size cannot be addressed. */
int pe_matrix_init(struct pe_matrix *m, size_t rows, size_t cols, enum pe_elem elem,
		   struct pe_error *e);
void pe_matrix_free(struct pe_matrix *m); /* may be called on a zeroed struct, and twice */

/* Grows or shrinks to that many rows; new ones are zero. Amortised: capacity is the caller's to
 * keep in *capacity (rows, 0 at first). */
int pe_matrix_resize(struct pe_matrix *m, size_t rows, size_t *capacity, struct pe_error *e);

/* Columns first .. first + n - 1 as n rows of the transposed matrix, to `rows`. */
void pe_matrix_columns(const struct pe_matrix *m, size_t first, size_t n, void *rows);

/* Address of a row; pe_matrix_f64 is for f64 matrices. */
void *pe_matrix_row(const struct pe_matrix *m, size_t row);
double *pe_matrix_f64(const struct pe_matrix *m);

#endif
