/* untied - absolute positions that meet each other but not the words. */
#include "untied.h"

#include <string.h>

enum { CLS_FEATURES = 2 };

/* Row t of the features begins each head with row first + t of P's projection. */
static void
spread(const struct pe_untied *u, const struct pe_matrix *from, size_t first, struct pe_matrix *to)
{
	const size_t size = pe_elem_size(from->elem);
	const size_t inner = from->cols / u->heads * size;

	for (size_t t = 0; t < to->rows; t++) {
		const char *row = pe_matrix_row(from, first + t);
		char *features = pe_matrix_row(to, t);

		for (size_t h = 0; h < u->heads; h++)
			memcpy(features + h * u->width * size, row + h * inner, inner);
	}
}

static double
get(const struct pe_matrix *m, size_t row, size_t col)
{
	const size_t at = row * m->cols + col;

	return m->elem == PE_F32 ? (double)((float *)m->data)[at] : pe_matrix_f64(m)[at];
}

static void
set(struct pe_matrix *m, size_t row, size_t col, double value)
{
	const size_t at = row * m->cols + col;

	if (m->elem == PE_F32)
		((float *)m->data)[at] = (float)value;
	else
		pe_matrix_f64(m)[at] = value;
}

/* The product of a row of P with itself in head h. */
static double
meet(const struct pe_matrix *query, const struct pe_matrix *key, size_t row, size_t h, size_t inner)
{
	double sum = 0;

	for (size_t i = h * inner; i < (h + 1) * inner; i++)
		sum += get(query, row, i) * get(key, row, i);
	return sum;
}

/* Position 0 loses its own features. Of the two new ones the first is on in every query but
 * [CLS] and holds p1 . p1 in key 0 alone; the second is on in every key and holds p0 . p0 in
 * query 0 alone. */
static void
reset_cls(struct pe_untied *u, const struct pe_matrix *query, const struct pe_matrix *key)
{
	const size_t inner = query->cols / u->heads;

	for (size_t h = 0; h < u->heads; h++) {
		const size_t begin = h * u->width, on = begin + inner;

		for (size_t i = begin; i < on; i++) {
			set(&u->query, 0, i, 0);
			set(&u->key, 0, i, 0);
		}
		set(&u->key, 0, on, meet(query, key, 1, h, inner));
		set(&u->query, 0, on + 1, meet(query, key, 0, h, inner));
		for (size_t t = 0; t < u->positions; t++) {
			set(&u->query, t, on, t > 0);
			set(&u->key, t, on + 1, 1);
		}
	}
}

int
pe_untied_init(struct pe_untied *u, const struct pe_matrix *query, const struct pe_matrix *key,
	       size_t heads, bool cls, struct pe_error *e)
{
	const size_t first = cls ? 1 : 0;

	*u = (struct pe_untied){
	    .heads = heads,
	    .width = query->cols / heads + (cls ? CLS_FEATURES : 0),
	    .positions = query->rows - first,
	};
	if (pe_matrix_init(&u->query, u->positions, heads * u->width, query->elem, e) ||
	    pe_matrix_init(&u->key, u->positions, heads * u->width, key->elem, e)) {
		pe_untied_free(u);
		return -1;
	}
	spread(u, query, first, &u->query);
	spread(u, key, first, &u->key);
	if (cls)
		reset_cls(u, query, key);
	return 0;
}

void
pe_untied_free(struct pe_untied *u)
{
	pe_matrix_free(&u->query);
	pe_matrix_free(&u->key);
}
