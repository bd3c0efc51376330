/* rope - the stated error bound against MPFR, and that no split, axis or element changes a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rope.h"

enum {
	HEADS = 2,
	HEAD_DIM = 24,
	ROTARY = 20,
	PAIRS = ROTARY / 2,
	WIDTH = HEADS * HEAD_DIM,
	ROWS = 200
};

static uint64_t seed = 1;

/* Uniform in -1 .. 1 (Marsaglia 2003, xorshift64). */
static double
any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(int64_t)seed * 0x1p-63;
}

static struct pe_rope_spec
spec_of(enum pe_pairing pairing)
{
	struct pe_rope_spec s = {
	    .head_dim = HEAD_DIM,
	    .rotary_dim = ROTARY,
	    .pairing = pairing,
	    .freq = {.pairs = PAIRS, .base = 10000, .half = PAIRS},
	    .scaling = pe_scaling_make(PE_SCALING_NONE),
	    .axes = 1,
	};

	return s;
}

static struct pe_rope *
plan_of(const struct pe_rope_spec *spec)
{
	struct pe_rope *plan;
	struct pe_error e;

	if (pe_rope_init(&plan, spec, &e))
		fail_msg("%s", e.text);
	return plan;
}

static double *
scratch_of(const struct pe_rope *plan)
{
	double *scratch = calloc(pe_rope_scratch(plan), sizeof *scratch);

	assert_non_null(scratch);
	return scratch;
}

/* |got - (a cos +- b sin)| <= bound, angle = t * base^(-i/PAIRS) */
static void
check_value(double got, double a, double b, int sign, size_t i, int64_t t, double bound)
{
	mpfr_t angle, x, y;

	mpfr_inits2(300, angle, x, y, (mpfr_ptr)NULL);
	mpfr_set_si(x, -(long)i, MPFR_RNDN);
	mpfr_div_ui(x, x, PAIRS, MPFR_RNDN);
	mpfr_set_ui(angle, 10000, MPFR_RNDN);
	mpfr_pow(angle, angle, x, MPFR_RNDN);
	mpfr_mul_si(angle, angle, (long)t, MPFR_RNDN);
	mpfr_sin_cos(y, x, angle, MPFR_RNDN);
	mpfr_mul_d(x, x, a, MPFR_RNDN);
	mpfr_mul_d(y, y, sign * b, MPFR_RNDN);
	mpfr_add(x, x, y, MPFR_RNDN);
	mpfr_sub_d(x, x, got, MPFR_RNDN);
	assert_true(fabs(mpfr_get_d(x, MPFR_RNDN)) <= bound);
	mpfr_clears(angle, x, y, (mpfr_ptr)NULL);
}

static void
rows_keep_the_stated_bound(void **state)
{
	static const int64_t positions[] = {
	    0, 1, 63, 64, 12345, 1000000007, (INT64_C(1) << 53) - 1};

	(void)state;
	for (int pairing = PE_PAIR_INTERLEAVED; pairing <= PE_PAIR_HALVES; pairing++) {
		const struct pe_rope_spec spec = spec_of((enum pe_pairing)pairing);
		const size_t step = pairing == PE_PAIR_HALVES ? 1 : 2;
		const size_t reach = pairing == PE_PAIR_HALVES ? PAIRS : 1;
		struct pe_rope *plan = plan_of(&spec);
		double *scratch = scratch_of(plan);

		for (size_t k = 0; k < sizeof positions / sizeof *positions; k++) {
			double row[WIDTH], x[WIDTH];
			float narrow[WIDTH];

			for (size_t c = 0; c < WIDTH; c++) {
				narrow[c] = (float)any();
				row[c] = x[c] = narrow[c];
			}
			pe_rope_rotate(plan, positions[k], 1, HEADS, PE_F64, row, scratch);
			pe_rope_rotate(plan, positions[k], 1, HEADS, PE_F32, narrow, scratch);
			for (size_t c = 0; c < WIDTH; c++)
				assert_true(narrow[c] == (float)row[c]);
			for (size_t h = 0; h < WIDTH; h += HEAD_DIM) {
				for (size_t i = 0; i < PAIRS; i++) {
					const size_t a = h + i * step, b = a + reach;
					const double bound = 5 * 0x1p-53 * hypot(x[a], x[b]);
					check_value(row[a], x[a], x[b], -1, i, positions[k], bound);
					check_value(row[b], x[b], x[a], 1, i, positions[k], bound);
				}
				for (size_t c = h + ROTARY; c < h + HEAD_DIM; c++)
					assert_true(row[c] == x[c]);
			}
		}
		free(scratch);
		pe_rope_free(plan);
	}
}

static void
no_split_changes_a_row(void **state)
{
	const struct pe_rope_spec spec = spec_of(PE_PAIR_HALVES);
	struct pe_rope *plan = plan_of(&spec);
	double *scratch = scratch_of(plan);
	static double whole[ROWS * WIDTH], pieces[ROWS * WIDTH], listed[ROWS * WIDTH];
	double positions[ROWS];

	(void)state;
	for (size_t c = 0; c < ROWS * WIDTH; c++)
		whole[c] = any();
	memcpy(pieces, whole, sizeof whole);
	memcpy(listed, whole, sizeof whole);
	for (size_t r = 0; r < ROWS; r++)
		positions[r] = (double)r - 50;
	pe_rope_rotate(plan, -50, ROWS, HEADS, PE_F64, whole, scratch);
	for (size_t r = 0, n; r < ROWS; r += n) {
		n = r % 7 + 1 < ROWS - r ? r % 7 + 1 : ROWS - r;
		pe_rope_rotate(plan, (int64_t)r - 50, n, HEADS, PE_F64, pieces + r * WIDTH,
			       scratch);
	}
	pe_rope_rotate_at(plan, positions, ROWS, HEADS, PE_F64, listed, scratch);
	assert_memory_equal(whole, pieces, sizeof whole);
	assert_memory_equal(whole, listed, sizeof whole);
	free(scratch);
	pe_rope_free(plan);
}

/* Whatever loop this machine chooses does what the header says, to the bit: for every number of
 * pairs, since loops have ends. */
static void
rows_are_products_of_the_table(void **state)
{
	(void)state;
	for (size_t pairs = 1; pairs <= 12; pairs++) {
		for (int pairing = PE_PAIR_INTERLEAVED; pairing <= PE_PAIR_HALVES; pairing++) {
			struct pe_rope_spec spec = spec_of((enum pe_pairing)pairing);
			const size_t step = pairing == PE_PAIR_HALVES ? 1 : 2;
			const size_t reach = pairing == PE_PAIR_HALVES ? pairs : 1;
			double table[2 * 12], row[HEAD_DIM], x[HEAD_DIM];
			float narrow[HEAD_DIM];

			spec.rotary_dim = 2 * pairs;
			spec.freq.pairs = pairs;
			struct pe_rope *plan = plan_of(&spec);
			double *scratch = scratch_of(plan);
			for (size_t c = 0; c < HEAD_DIM; c++)
				x[c] = row[c] = narrow[c] = (float)any();
			pe_rope_table(plan, PE_ROPE_COSINES | PE_ROPE_SINES, 99, 1, PE_F64, table);
			pe_rope_rotate(plan, 99, 1, 1, PE_F64, row, scratch);
			pe_rope_rotate(plan, 99, 1, 1, PE_F32, narrow, scratch);
			for (size_t i = 0; i < pairs; i++) {
				const size_t a = i * step, b = a + reach;
				const double c = table[i], s = table[pairs + i];
				assert_true(row[a] == x[a] * c - x[b] * s);
				assert_true(row[b] == x[b] * c + x[a] * s);
				assert_true(narrow[a] == (float)row[a] &&
					    narrow[b] == (float)row[b]);
			}
			free(scratch);
			pe_rope_free(plan);
		}
	}
}

/* Each pair of a table on several axes is that of a plain table at its own position, whatever
 * the pattern of axes. */
static void
axes_pick_positions(void **state)
{
	static const unsigned char patterns[][PAIRS] = {
	    {0, 0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0},
	    {0, 1, 2, 0, 1, 2, 0, 0, 0, 0}, {2, 2, 0, 1, 1, 0, 2, 0, 1, 1},
	    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	};
	struct pe_rope_spec spec = spec_of(PE_PAIR_INTERLEAVED);
	struct pe_rope *plain = plan_of(&spec);
	static double got[ROWS * ROTARY], want[3][ROTARY], positions[3 * ROWS];

	(void)state;
	spec.axes = 3;
	for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
		spec.axis = patterns[k];
		struct pe_rope *plan = plan_of(&spec);
		for (size_t i = 0; i < 3 * ROWS; i++)
			positions[i] = floor(1e6 * any());
		pe_rope_table_at(plan, PE_ROPE_COSINES | PE_ROPE_SINES, positions, ROWS, PE_F64,
				 got);
		for (size_t r = 0; r < ROWS; r++) {
			for (size_t a = 0; a < 3; a++)
				pe_rope_table(plain, PE_ROPE_COSINES | PE_ROPE_SINES,
					      (int64_t)positions[3 * r + a], 1, PE_F64, want[a]);
			for (size_t c = 0; c < ROTARY; c++)
				assert_true(got[r * ROTARY + c] == want[patterns[k][c % PAIRS]][c]);
		}
		pe_rope_free(plan);
	}
	pe_rope_free(plain);
}

static void
a_bad_scaling_is_refused(void **state)
{
	struct pe_rope_spec spec = spec_of(PE_PAIR_HALVES);
	struct pe_rope *plan = NULL;
	struct pe_error e;

	(void)state;
	spec.scaling = pe_scaling_make(PE_SCALING_LINEAR);
	assert_int_equal(pe_rope_init(&plan, &spec, &e), -1);
	assert_string_equal(e.text, "scaling: linear needs factor");
	assert_null(plan);
	pe_rope_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_keep_the_stated_bound),
	    cmocka_unit_test(no_split_changes_a_row),
	    cmocka_unit_test(rows_are_products_of_the_table),
	    cmocka_unit_test(axes_pick_positions),
	    cmocka_unit_test(a_bad_scaling_is_refused),
	};

	return cmocka_run_group_tests_name("rope", tests, NULL, NULL);
}
