/* xpos - factors against MPFR, and tables that grow: correctly rounded, ties too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "rope.h"
#include "round.h"
#include "xpos.h"

/* Bits of what is taken for true. The cosine of the least positions stands so near to 1 that it
 * needs more. */
enum { PAIRS = 10, TRUTH = 400, NEAR_ZERO = 2200 };

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

/* ((2i + 0.4 d) / (1.4 d))^((t - centre) / base), inverted for a key. */
static void
true_factor(const struct pe_xpos_spec *s, size_t i, double t, mpfr_ptr x)
{
	mpfr_t y;

	mpfr_init2(y, mpfr_get_prec(x));
	mpfr_set_ui(x, 4 * 2 * s->pairs, MPFR_RNDN);
	mpfr_add_ui(x, x, 10 * 2 * i, MPFR_RNDN);
	mpfr_div_ui(x, x, 14 * 2 * s->pairs, MPFR_RNDN);
	mpfr_set_d(y, t, MPFR_RNDN);
	mpfr_sub_si(y, y, (long)s->centre, MPFR_RNDN);
	mpfr_div_d(y, y, s->role == PE_XPOS_KEY ? -s->base : s->base, MPFR_RNDN);
	mpfr_pow(x, x, y, MPFR_RNDN);
	mpfr_clear(y);
}

/* |a - b| <= 2^bits |b| */
static bool
agree(mpfr_ptr a, mpfr_srcptr b, int bits)
{
	mpfr_t most;

	mpfr_init2(most, 64);
	mpfr_mul_2si(most, b, bits, MPFR_RNDN);
	mpfr_sub(a, a, b, MPFR_RNDN);
	const bool good = mpfr_cmpabs(a, most) <= 0;
	mpfr_clear(most);
	return good;
}

static struct pe_xpos *
plan_of(const struct pe_xpos_spec *spec)
{
	struct pe_xpos *plan;
	struct pe_error e;

	if (pe_xpos_init(&plan, spec, &e))
		fail_msg("%s", e.text);
	return plan;
}

static void
check_factor(const struct pe_xpos *plan, const struct pe_xpos_spec *spec, size_t i, double t)
{
	mpfr_t truth, x, sum;
	double wide[2];

	mpfr_inits2(TRUTH, truth, sum, (mpfr_ptr)NULL);
	mpfr_init2(x, 120);
	true_factor(spec, i, t, truth);
	pe_xpos_factor(plan, i, t, x);
	assert_true(agree(x, truth, -120));
	if (pe_xpos_factor_wide(plan, i, t, wide)) {
		mpfr_set_d(sum, wide[0], MPFR_RNDN);
		mpfr_add_d(sum, sum, wide[1], MPFR_RNDN);
		assert_true(agree(sum, truth, -98));
	} else {
		assert_true(fabs(t - (double)spec->centre) > 220 * spec->base);
	}
	mpfr_clears(truth, x, sum, (mpfr_ptr)NULL);
}

static void
factors_keep_the_stated_bounds(void **state)
{
	static const double bases[] = {1, 7.5, 512, 1e5}, places[] = {0, 1, 300, 1e5, 0x1p20, 1e12};
	static const int64_t centres[] = {0, 6, -1000000, INT64_C(1) << 52};

	(void)state;
	for (size_t k = 0; k < 4 * 4 * 2 * 6; k++) {
		const struct pe_xpos_spec spec = {
		    .role = k & 1 ? PE_XPOS_KEY : PE_XPOS_QUERY,
		    .pairs = PAIRS,
		    .base = bases[k / 2 % 4],
		    .centre = centres[k / 8 % 4],
		};
		const double place = places[k / 32], centre = (double)spec.centre;
		struct pe_xpos *plan = plan_of(&spec);

		for (size_t i = 0; i < PAIRS; i++) {
			check_factor(plan, &spec, i, place);
			check_factor(plan, &spec, i, centre + place);
			check_factor(plan, &spec, i, centre - rint(400 * spec.base * any()));
			check_factor(plan, &spec, i, 1000 * any());
		}
		pe_xpos_free(plan);
	}
}

static void
within_reach_factors_are_normal_numbers(void **state)
{
	const struct pe_xpos_spec spec = {PE_XPOS_KEY, PAIRS, 512, 100};
	const double f64 = 100 + 552 * 512, f32 = 100 + 66 * 512;
	struct pe_xpos *plan = plan_of(&spec);
	mpfr_t x;

	(void)state;
	assert_true(pe_xpos_reaches(&spec, PE_F64, f64) &&
		    !pe_xpos_reaches(&spec, PE_F64, f64 + 1));
	assert_true(pe_xpos_reaches(&spec, PE_F32, f32) &&
		    !pe_xpos_reaches(&spec, PE_F32, f32 + 1));
	mpfr_init2(x, 64);
	pe_xpos_factor(plan, 0, f64, x);
	assert_in_range(mpfr_get_exp(x), 990, 1001);
	pe_xpos_factor(plan, 0, f32, x);
	assert_in_range(mpfr_get_exp(x), 115, 121);
	mpfr_clear(x);
	pe_xpos_free(plan);
}

static void
a_base_below_a_position_is_refused(void **state)
{
	static const double bases[] = {0.5, 0, -3, INFINITY, NAN};
	struct pe_xpos *plan;
	struct pe_error e;

	(void)state;
	for (size_t k = 0; k < 5; k++) {
		const struct pe_xpos_spec spec = {PE_XPOS_QUERY, PAIRS, bases[k], 0};

		assert_int_equal(pe_xpos_init(&plan, &spec, &e), -1);
		assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
	}
}

/* ---- tables ---- */

static struct pe_rope *
rope_of(const struct pe_xpos_spec *xpos)
{
	const struct pe_rope_spec spec = {
	    .head_dim = 2 * xpos->pairs,
	    .rotary_dim = 2 * xpos->pairs,
	    .freq = {.pairs = xpos->pairs, .base = 10000, .half = (double)xpos->pairs},
	    .scaling = pe_scaling_make(PE_SCALING_NONE),
	    .axes = 1,
	    .xpos = *xpos,
	};
	struct pe_rope *plan;
	struct pe_error e;

	if (pe_rope_init(&plan, &spec, &e))
		fail_msg("%s", e.text);
	return plan;
}

static void
check_cell(enum pe_elem elem, const void *row, size_t at, mpfr_srcptr truth)
{
	unsigned char due[8] = {0};
	const size_t size = pe_elem_size(elem);

	pe_round_store(elem, due, 0, truth);
	assert_memory_equal((const char *)row + at * size, due, size);
}

static void
check_row(const struct pe_rope *plan, const struct pe_xpos_spec *xpos, double t, mpfr_prec_t bits)
{
	static const enum pe_elem elements[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	mpfr_t angle, factor, sine, cosine;

	mpfr_inits2(bits, angle, factor, sine, cosine, (mpfr_ptr)NULL);
	for (size_t k = 0; k < 4; k++) {
		uint64_t row[2 * PAIRS];

		pe_rope_table_at(plan, PE_ROPE_COSINES | PE_ROPE_SINES, &t, 1, elements[k], row);
		for (size_t i = 0; i < PAIRS; i++) {
			mpfr_set_si(angle, -(long)i, MPFR_RNDN);
			mpfr_div_ui(angle, angle, PAIRS, MPFR_RNDN);
			mpfr_ui_pow(angle, 10000, angle, MPFR_RNDN);
			mpfr_mul_d(angle, angle, t, MPFR_RNDN);
			mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
			true_factor(xpos, i, t, factor);
			mpfr_mul(sine, sine, factor, MPFR_RNDN);
			mpfr_mul(cosine, cosine, factor, MPFR_RNDN);
			check_cell(elements[k], row, i, cosine);
			check_cell(elements[k], row, PAIRS + i, sine);
		}
	}
	mpfr_clears(angle, factor, sine, cosine, (mpfr_ptr)NULL);
}

static void
tables_are_correctly_rounded(void **state)
{
	static const double bases[] = {1, 64, 512};

	(void)state;
	for (size_t k = 0; k < 6; k++) {
		const struct pe_xpos_spec xpos = {
		    .role = k & 1 ? PE_XPOS_KEY : PE_XPOS_QUERY,
		    .pairs = PAIRS,
		    .base = bases[k / 2],
		    .centre = 100,
		};
		struct pe_rope *plan = rope_of(&xpos);

		check_row(plan, &xpos, 0, TRUTH);
		check_row(plan, &xpos, 0x1p-1000,
			  NEAR_ZERO); /* the factor at 0, and the least bit more */
		for (size_t n = 0; n < 20; n++) {
			check_row(plan, &xpos, rint(100 + 550 * xpos.base * any()), TRUTH);
			check_row(plan, &xpos, 100 + 20 * any(), TRUTH);
		}
		pe_rope_free(plan);
	}
}

/* zeta_3 of 10 pairs is 1/2; zeta_13 of 20 is 3/4, whose seventh power, 2187 / 2^14, lies
 * halfway between two of f16. */
static void
at_angle_zero_powers_may_be_exact_and_ties(void **state)
{
	const struct pe_xpos_spec half = {PE_XPOS_QUERY, 10, 1, -7},
				  tie = {PE_XPOS_QUERY, 20, 1, -7};
	struct pe_rope *plan = rope_of(&half);
	double row[20];
	uint16_t narrow[20];

	(void)state;
	pe_rope_table(plan, PE_ROPE_COSINES, 0, 1, PE_F64, row);
	assert_true(row[3] == 0x1p-7);
	pe_rope_free(plan);
	plan = rope_of(&tie);
	pe_rope_table(plan, PE_ROPE_COSINES, 0, 1, PE_F64, row);
	assert_true(row[13] == 2187 * 0x1p-14);
	pe_rope_table(plan, PE_ROPE_COSINES, 0, 1, PE_F16, narrow);
	assert_true(pe_f16_value(narrow[13]) == 2188 * 0x1p-14);
	pe_rope_free(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(factors_keep_the_stated_bounds),
	    cmocka_unit_test(within_reach_factors_are_normal_numbers),
	    cmocka_unit_test(a_base_below_a_position_is_refused),
	    cmocka_unit_test(tables_are_correctly_rounded),
	    cmocka_unit_test(at_angle_zero_powers_may_be_exact_and_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
