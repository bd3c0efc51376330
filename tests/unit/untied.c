/* untied - features whose products are TUPE's terms, [CLS] reset and all; rows times a matrix
 * beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "project.h"
#include "untied.h"

enum { ROWS = 7, HEADS = 3, INNER = 2 };

/* Small whole numbers, whose products are exact in either element. */
static void
fill(struct pe_matrix *m, size_t rows, size_t cols, enum pe_elem elem, int seed)
{
	struct pe_error e;

	assert_int_equal(pe_matrix_init(m, rows, cols, elem, &e), 0);
	for (size_t i = 0; i < rows * cols; i++) {
		const double x = (double)((i * 7 + (size_t)seed) % 11) - 5;

		if (elem == PE_F32)
			((float *)m->data)[i] = (float)x;
		else
			pe_matrix_f64(m)[i] = x;
	}
}

static double
at(const struct pe_matrix *m, size_t row, size_t col)
{
	const size_t i = row * m->cols + col;

	return m->elem == PE_F32 ? (double)((float *)m->data)[i] : pe_matrix_f64(m)[i];
}

static double
product(const struct pe_matrix *q, size_t m, const struct pe_matrix *k, size_t n, size_t begin,
	size_t width)
{
	double sum = 0;

	for (size_t i = begin; i < begin + width; i++)
		sum += at(q, m, i) * at(k, n, i);
	return sum;
}

/* Ke et al. 2021: with cls, position t has row t + 1, and rows 0 and 1 meet themselves at the
 * edges. */
static double
term(const struct pe_matrix *q, const struct pe_matrix *k, size_t head, bool cls, size_t m,
     size_t n)
{
	size_t row = m, col = n;

	if (cls) {
		row++, col++;
		if (m == 0)
			row = col = 0;
		else if (n == 0)
			row = col = 1;
	}
	return product(q, row, k, col, head * INNER, INNER);
}

static void
check_terms(enum pe_elem elem, bool cls)
{
	struct pe_matrix query, key;
	struct pe_untied u;
	struct pe_error e;

	fill(&query, ROWS, HEADS * INNER, elem, 3);
	fill(&key, ROWS, HEADS * INNER, elem, 8);
	assert_int_equal(pe_untied_init(&u, &query, &key, HEADS, cls, &e), 0);
	assert_int_equal(u.positions, ROWS - (cls ? 1 : 0));
	assert_int_equal(u.query.elem, elem);
	for (size_t h = 0; h < HEADS; h++)
		for (size_t m = 0; m < u.positions; m++)
			for (size_t n = 0; n < u.positions; n++)
				assert_true(product(&u.query, m, &u.key, n, h * u.width, u.width) ==
					    term(&query, &key, h, cls, m, n));
	pe_untied_free(&u);
	pe_untied_free(&u);
	pe_matrix_free(&query);
	pe_matrix_free(&key);
}

static void
features_multiply_to_the_terms(void **state)
{
	(void)state;
	for (int cls = 0; cls <= 1; cls++) {
		check_terms(PE_F64, cls != 0);
		check_terms(PE_F32, cls != 0);
	}
}

/* y = x W for any split of the rows; whole numbers are exact. */
static void
projection_multiplies_rows(void **state)
{
	enum { IN = 5, OUT = 67, N = 9 };

	(void)state;
	for (int wide = 0; wide <= 1; wide++) {
		const enum pe_elem elem = wide ? PE_F64 : PE_F32;
		struct pe_matrix w, x, y;
		struct pe_project p;
		struct pe_error e;

		fill(&w, IN, OUT, PE_F64, 1);
		fill(&x, N, IN, elem, 2);
		fill(&y, N, OUT, elem, 0);
		assert_int_equal(pe_project_init(&p, &w, elem, 2, &e), 0);
		for (size_t r = 0, n = 1; r < N; r += n, n = n + 1 < N - r ? n + 1 : N - r)
			assert_int_equal(
			    pe_project_rows(&p, pe_matrix_row(&x, r), n, pe_matrix_row(&y, r), &e),
			    0);
		for (size_t r = 0; r < N; r++)
			for (size_t j = 0; j < OUT; j++) {
				double sum = 0;

				for (size_t i = 0; i < IN; i++)
					sum += at(&x, r, i) * at(&w, i, j);
				assert_true(at(&y, r, j) == sum);
			}
		pe_project_free(&p);
		pe_project_free(&p);
		pe_matrix_free(&w);
		pe_matrix_free(&x);
		pe_matrix_free(&y);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(features_multiply_to_the_terms),
	    cmocka_unit_test(projection_multiplies_rows),
	};

	return cmocka_run_group_tests_name("untied", tests, NULL, NULL);
}
