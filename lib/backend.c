/* backend - what a container offers to the stream room. */
#include "backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "decimal.h"
#include "num.h"

/* To the number of rows it has, or may have. */
static int
set_room(struct pe_matrix *m, size_t rows, struct pe_error *e)
{
	size_t bytes;

	if (!pe_num_size(rows, m->cols, pe_elem_size(m->elem), &bytes))
		return pe_fail_memory(e);
	void *data = realloc(m->data, bytes > 0 ? bytes : 1);
	if (data == NULL)
		return pe_fail_memory(e);
	m->data = data;
	return 0;
}

int
pe_rows_gather(struct pe_matrix *m, pe_rows_read *read, void *context, size_t expected,
	       struct pe_error *e)
{
	const size_t block = PE_IO_BLOCK / (m->cols * 8 + 1) + 1;
	size_t room = 0;
	ssize_t n = 1;

	while (n > 0) {
		if (m->rows == room) {
			const size_t more = room / 2 > block ? room / 2 : block;
			room += expected > room ? expected - room : more;
			n = set_room(m, room, e);
		}
		if (n >= 0)
			n = read(context, pe_matrix_row(m, m->rows), room - m->rows, e);
		if (n > 0)
			m->rows += (size_t)n;
	}
	if (n < 0 || set_room(m, m->rows, e)) {
		pe_matrix_free(m);
		return -1;
	}
	if (m->rows == 0) {
		free(m->data);
		m->data = NULL;
	}
	return 0;
}

int
pe_source_width(struct pe_source *s, size_t cols, struct pe_error *e)
{
	if (cols == 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: a matrix without columns", s->input.name);
	if (s->cols != 0 && s->cols != cols)
		return pe_fail(e, PE_FAULT_DATA, "%s: rows have %zu columns, %zu are due",
			       s->input.name, cols, s->cols);
	s->cols = cols;
	return 0;
}

int
pe_source_empty(const struct pe_source *s, struct pe_error *e)
{
	if (s->rows_optional)
		return 0;
	if (s->buffer.offset == 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: empty input (was it also the output?)",
			       s->input.name);
	return pe_fail(e, PE_FAULT_DATA, "%s: no rows, only names, blank lines or comments",
		       s->input.name);
}

static bool
is_whole(enum pe_elem elem, const void *value)
{
	double x;

	if (pe_elem_is_integer(elem))
		return true;
	(void)pe_elem_convert(PE_F64, &x, elem, value, 1);
	return isfinite(x) && x == trunc(x);
}

int
pe_convert_fail(const char *place, enum pe_elem to, enum pe_elem from, const void *src, size_t i,
		struct pe_error *e)
{
	char text[PE_DECIMAL_MAX + 1];

	text[pe_decimal_write(text, from, src, i, 0)] = '\0';
	if (pe_elem_is_integer(to) && !is_whole(from, (const char *)src + i * pe_elem_size(from)))
		return pe_fail(e, PE_FAULT_DATA, "%s: not an integer: '%s'", place, text);
	return pe_fail(e, PE_FAULT_DATA, "%s: overflows %s: '%s'", place, pe_elem_name(to), text);
}

int
pe_convert_rows(const char *place, uint64_t row, size_t cols, enum pe_elem to, void *dst,
		enum pe_elem from, const void *src, size_t n, struct pe_error *e)
{
	const size_t fit = pe_elem_convert(to, dst, from, src, n);
	char cell[512];

	if (fit == n)
		return 0;
	(void)snprintf(cell, sizeof cell, "%s: row %llu, column %zu", place,
		       (unsigned long long)(row + fit / cols), fit % cols);
	return pe_convert_fail(cell, to, from, src, fit, e);
}
