/* matrix - rows x cols of one element, in memory, owned. */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "num.h"

int
pe_matrix_init(struct pe_matrix *m, size_t rows, size_t cols, enum pe_elem elem, struct pe_error *e)
{
	size_t bytes;

	*m = (struct pe_matrix){.rows = rows, .cols = cols, .elem = elem};
	if (pe_num_matrix_size(rows, cols, pe_elem_size(elem), &bytes, e))
		return -1;
	if (bytes == 0)
		return 0;
	m->data = calloc(1, bytes);
	return m->data != NULL ? 0 : pe_fail_memory(e);
}

void
pe_matrix_free(struct pe_matrix *m)
{
	free(m->data);
	*m = (struct pe_matrix){0};
}

int
pe_matrix_resize(struct pe_matrix *m, size_t rows, size_t *capacity, struct pe_error *e)
{
	const size_t width = m->cols * pe_elem_size(m->elem);
	size_t bytes;

	if (rows > *capacity) {
		const size_t wanted =
		    rows > *capacity + *capacity / 2 ? rows : *capacity + *capacity / 2;

		if (pe_num_matrix_size(wanted, m->cols, pe_elem_size(m->elem), &bytes, e))
			return -1;
		void *data = realloc(m->data, bytes > 0 ? bytes : 1);
		if (data == NULL)
			return pe_fail_memory(e);
		m->data = data;
		*capacity = wanted;
	}
	if (rows > m->rows && width > 0)
		memset((char *)m->data + m->rows * width, 0, (rows - m->rows) * width);
	m->rows = rows;
	return 0;
}

/* Tiles of 16 x 16: a source row's cache line is used up before it is gone. memcpy of a size
 * that the compiler knows is a move. */
static inline void
transpose_tile(const char *from, size_t from_row, char *to, size_t to_row, size_t rows, size_t cols,
	       size_t size)
{
	for (size_t c = 0; c < cols; c++)
		for (size_t r = 0; r < rows; r++)
			memcpy(to + c * to_row + r * size, from + r * from_row + c * size, size);
}

void
pe_matrix_columns(const struct pe_matrix *m, size_t first, size_t n, void *rows)
{
	enum { TILE = 16 };
	const size_t size = pe_elem_size(m->elem), width = m->cols * size, height = m->rows * size;

	for (size_t r = 0; r < m->rows; r += TILE)
		for (size_t c = 0; c < n; c += TILE) {
			const char *from = (const char *)m->data + r * width + (first + c) * size;
			char *to = (char *)rows + c * height + r * size;
			const size_t high = m->rows - r < TILE ? m->rows - r : TILE;
			const size_t wide = n - c < TILE ? n - c : TILE;

			if (size == 8)
				transpose_tile(from, width, to, height, high, wide, 8);
			else if (size == 4)
				transpose_tile(from, width, to, height, high, wide, 4);
			else
				transpose_tile(from, width, to, height, high, wide, 2);
		}
}

void *
pe_matrix_row(const struct pe_matrix *m, size_t row)
{
	return (char *)m->data + row * m->cols * pe_elem_size(m->elem);
}

double *
pe_matrix_f64(const struct pe_matrix *m)
{
	return m->data;
}
