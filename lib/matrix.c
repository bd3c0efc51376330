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
