/* learned against exact rational arithmetic: stretched and scaled values rounded once, also at
 * ties, far exponents and through a narrower element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gmp.h>
#include <mpfr.h>

#include "learned.h"
#include "round.h"

/* Position of row j in a table of `rows` that was stretched to `to`: a fraction, kept within the
 * table. */
static void
place(enum pe_align align, size_t rows, size_t to, size_t j, mpq_t u)
{
	mpq_t end;

	mpq_init(end);
	if (align == PE_ALIGN_CENTERS) {
		mpq_set_si(u, (long)((2 * j + 1) * rows) - (long)to, 2 * to);
	} else {
		mpq_set_si(u, to > 1 ? (long)(j * (rows - 1)) : 0, to > 1 ? to - 1 : 1);
	}
	mpq_canonicalize(u);
	if (mpq_sgn(u) < 0)
		mpq_set_ui(u, 0, 1);
	mpq_set_ui(end, rows - 1, 1);
	if (mpq_cmp(u, end) > 0)
		mpq_set(u, end);
	mpq_clear(end);
}

/* gain * ((1 - f) a + f b), exact, then rounded once to elem at `to`. */
static void
oracle(const struct pe_learned *l, size_t j, size_t col, enum pe_elem elem, void *to)
{
	const double *values = pe_matrix_f64(l->table);
	const size_t cols = l->table->cols;
	mpq_t u, f, a, b;
	mpz_t low;
	mpfr_t x;

	mpq_inits(u, f, a, b, (mpq_ptr)NULL);
	mpz_init(low);
	if (l->stretch > 0)
		place(l->align, l->table->rows, l->stretch, j, u);
	else
		mpq_set_ui(u, j, 1);
	mpz_fdiv_q(low, mpq_numref(u), mpq_denref(u));
	const size_t row = mpz_get_ui(low);
	mpq_set_z(f, low);
	mpq_sub(f, u, f);
	mpq_set_d(a, values[row * cols + col]);
	mpq_set_d(b, values[(row + (mpq_sgn(f) > 0)) * cols + col]);
	mpq_sub(b, b, a);
	mpq_mul(b, b, f);
	mpq_add(a, a, b);
	mpq_set_d(b, l->gain);
	mpq_mul(a, a, b);
	mpfr_init2(x, 2600);
	mpfr_set_q(x, a, MPFR_RNDN);
	pe_round_store(elem, to, 0, x);
	mpfr_clear(x);
	mpz_clear(low);
	mpq_clears(u, f, a, b, (mpq_ptr)NULL);
}

static uint64_t
next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A table of `rows` x `cols`; the kinds are chosen so that sums cancel, ties happen and
 * exponents lie far apart. */
static void
random_table(struct pe_matrix *m, size_t rows, size_t cols, int kind, uint64_t *seed)
{
	struct pe_error e;

	assert_int_equal(pe_matrix_init(m, rows, cols, PE_F64, &e), 0);
	for (size_t i = 0; i < rows * cols; i++) {
		const uint64_t bits = next(seed);
		double x = (double)(int64_t)(bits >> 11) * 0x1p-52 - 1;

		if (kind == 1) /* few bits: exact sums and ties */
			x = (double)((int)(bits % 64) - 32) / 8;
		if (kind == 2) /* anywhere a double can be */
			x = ldexp(x, (int)(bits % 2040) - 1060);
		if (kind == 3) /* neighbours that nearly cancel */
			x = (i / cols % 2 != 0 ? -1 : 1) * (1 + (double)(bits % 4) * 0x1p-52);
		pe_matrix_f64(m)[i] = x;
	}
}

static double
value_of(enum pe_elem elem, const void *at)
{
	double value;

	(void)pe_elem_convert(PE_F64, &value, elem, at, 1);
	return value;
}

static void
check(const struct pe_learned *l)
{
	static const enum pe_elem narrow[] = {PE_F32, PE_F16, PE_BF16};
	const struct pe_positions at = {.step = 1};
	const size_t rows = pe_learned_rows(l), cols = l->table->cols;
	double *nearest = calloc(rows * cols, sizeof *nearest),
	       *odd = calloc(rows * cols, sizeof *odd);

	assert_non_null(nearest);
	assert_non_null(odd);
	pe_learned_values(l, &at, 0, rows, false, nearest);
	pe_learned_values(l, &at, 0, rows, true, odd);
	for (size_t i = 0; i < rows * cols; i++) {
		double due = 0;

		oracle(l, i / cols, i % cols, PE_F64, &due);
		if (!(nearest[i] == due))
			fail_msg("value %zu: %a, due %a", i, nearest[i], due);
		for (size_t k = 0; k < 3; k++) {
			double narrow_due = 0, narrowed = 0;

			oracle(l, i / cols, i % cols, narrow[k], &narrow_due);
			(void)pe_elem_convert(narrow[k], &narrowed, PE_F64, &odd[i], 1);
			assert_true(value_of(narrow[k], &narrowed) ==
				    value_of(narrow[k], &narrow_due));
		}
	}
	free(nearest);
	free(odd);
}

static void
test_stretch(void **state)
{
	static const size_t sizes[][2] = {{5, 8},  {7, 3},   {3, 1}, {1, 4},
					  {2, 97}, {16, 16}, {4, 12}};
	uint64_t seed = 1;

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			struct pe_matrix m;

			random_table(&m, sizes[i][0], 6, kind, &seed);
			for (int align = 0; align < 2; align++) {
				struct pe_learned l = {
				    .table = &m,
				    .name = "t",
				    .stretch = sizes[i][1],
				    .align = (enum pe_align)align,
				    .gain = 1,
				};
				check(&l);
				l.gain = -0.3;
				check(&l);
			}
			pe_matrix_free(&m);
		}
	}
}

static void
test_gain(void **state)
{
	static const double gains[] = {0.1, -3, 0, 0x1p-1000, 55.42562584220407};
	uint64_t seed = 2;

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct pe_matrix m;

		random_table(&m, 20, 6, kind, &seed);
		for (size_t i = 0; i < sizeof gains / sizeof gains[0]; i++)
			check(&(struct pe_learned){.table = &m, .name = "t", .gain = gains[i]});
		pe_matrix_free(&m);
	}
}

static void
test_not_finite(void **state)
{
	double values[] = {1, HUGE_VAL, 2, -HUGE_VAL, NAN, 3}, out[18];
	struct pe_matrix m = {.rows = 6, .cols = 1, .elem = PE_F64, .data = values};
	const struct pe_learned l = {
	    .table = &m, .name = "t", .stretch = 11, .align = PE_ALIGN_CORNERS, .gain = 1};

	(void)state;
	pe_learned_values(&l, &(struct pe_positions){.step = 1}, 0, 11, true, out);
	assert_true(out[0] == 1 && out[1] == HUGE_VAL && out[2] == HUGE_VAL && out[3] == HUGE_VAL);
	assert_true(out[4] == 2 && out[5] == -HUGE_VAL && out[6] == -HUGE_VAL);
	assert_true(isnan(out[7]) && isnan(out[8]) && isnan(out[9]) && out[10] == 3);
}

static void
test_find(void **state)
{
	struct pe_matrix m = {.rows = 10, .cols = 1, .elem = PE_F64};
	struct pe_learned l = {.table = &m, .name = "t", .gain = 1};
	struct pe_error e;
	const struct {
		int64_t first, step;
		uint64_t from, n;
		const char *due; /* NULL: all there */
	} cases[] = {
	    {0, 1, 0, 10, NULL},
	    {0, 1, 0, 11, "position 10: t has rows 0..9"},
	    {0, 1, 5, PE_ENDLESS, "position 10: t has rows 0..9"},
	    {9, -1, 0, 10, NULL},
	    {9, -4, 0, 4, "position -3: t has rows 0..9"},
	    {3, 0, 0, PE_ENDLESS, NULL},
	    {10, 0, 0, PE_ENDLESS, "position 10: t has rows 0..9"},
	    {INT64_C(1) << 53, 1, 1, 5, NULL}, /* no such row: not this check's matter */
	    {-(INT64_C(1) << 53), 1, 0, 1, "position -9007199254740992: t has rows 0..9"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct pe_positions at = {.first = cases[i].first, .step = cases[i].step};
		const int status = pe_learned_find(&l, &at, cases[i].from, cases[i].n, &e);

		assert_int_equal(status, cases[i].due != NULL ? -1 : 0);
		if (status != 0)
			assert_string_equal(e.text, cases[i].due);
	}
	l.row_offset = -2;
	assert_int_equal(pe_learned_find(&l, &(struct pe_positions){.first = 1}, 0, 1, &e), -1);
	assert_string_equal(e.text, "position 1 (row -1): t has rows 0..9");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stretch),
	    cmocka_unit_test(test_gain),
	    cmocka_unit_test(test_not_finite),
	    cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
