/* scaling - the scaled frequencies are real numbers: any precision asked for is met. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "scaling.h"

enum { PAIRS = 32 };

static const double divisors[PAIRS] = {1,  1.1, 1.25, 1.5, 2,  2.5, 3,  3.5, 4,  5,  6,
				       7,  8,   9,    10,  11, 12,  13, 14,  15, 16, 17,
				       18, 19,  20,   21,  22, 23,  24, 25,  26, 27};

static struct pe_scaling
typical(enum pe_scaling_kind kind)
{
	struct pe_scaling s = pe_scaling_make(kind);
	struct pe_error e;

	for (const struct pe_scaling_key *k = pe_scaling_keys(); k->name != NULL; k++) {
		const double value = strcmp(k->name, "original") == 0 ? 4096
				     : strcmp(k->name, "length") == 0 ? 16384
								      : 4;
		if (k->required >> kind & 1)
			assert_int_equal(pe_scaling_set(&s, "x", k, value, &e), 0);
	}
	s.divisors = divisors;
	return s;
}

static const struct pe_freq freq = {.pairs = PAIRS, .base = 10000, .half = PAIRS};

/* |a / b - 1| < 2^-bits */
static void
assert_close(mpfr_ptr a, mpfr_srcptr b, long bits)
{
	mpfr_t ratio;

	mpfr_init2(ratio, 2000);
	mpfr_sub(ratio, a, b, MPFR_RNDN);
	mpfr_div(ratio, ratio, b, MPFR_RNDN);
	assert_true(mpfr_zero_p(ratio) || mpfr_get_exp(ratio) <= -bits);
	mpfr_clear(ratio);
}

static void
every_precision_is_met(void **state)
{
	mpfr_t truth, x;

	(void)state;
	mpfr_init2(truth, 1200);
	for (int kind = PE_SCALING_NONE; kind <= PE_SCALING_LONGROPE; kind++) {
		const struct pe_scaling s = typical((enum pe_scaling_kind)kind);
		for (mpfr_prec_t p = 53; p < 1000; p = p * 2 + 11) {
			mpfr_init2(x, p);
			for (size_t i = 0; i < PAIRS; i++) {
				pe_scaling_omega(&s, &freq, i, truth);
				pe_scaling_omega(&s, &freq, i, x);
				assert_close(x, truth, p - 4);
			}
			pe_scaling_gain(&s, truth);
			pe_scaling_gain(&s, x);
			assert_close(x, truth, p - 4);
			pe_scaling_base(&s, &freq, truth);
			pe_scaling_base(&s, &freq, x);
			assert_close(x, truth, p - 4);
			mpfr_clear(x);
		}
	}
	mpfr_clear(truth);
}

/* The base in force is one whose plain frequencies are the scaled ones. */
static void
base_and_frequencies_agree(void **state)
{
	mpfr_t base, omega, power;

	(void)state;
	mpfr_inits2(300, base, omega, power, (mpfr_ptr)NULL);
	for (int kind = PE_SCALING_NTK; kind <= PE_SCALING_DYNAMIC; kind++) {
		const struct pe_scaling s = typical((enum pe_scaling_kind)kind);
		pe_scaling_base(&s, &freq, base);
		for (size_t i = 1; i < PAIRS; i++) {
			pe_scaling_omega(&s, &freq, i, omega);
			mpfr_set_si(power, -(long)i, MPFR_RNDN);
			mpfr_div_ui(power, power, PAIRS, MPFR_RNDN);
			mpfr_pow(power, base, power, MPFR_RNDN);
			assert_close(power, omega, 280);
		}
	}
	mpfr_clears(base, omega, power, (mpfr_ptr)NULL);
}

/* 1 / divisor is a hair above the tie between two neighbours in bf16, and the nearest double is
 * that tie, which would go down to the even one. */
static void
rounding_comes_once(void **state)
{
	const struct pe_freq one = {.pairs = 1, .base = 10000, .half = 1, .round = PE_BF16};
	const double tie = 1 + 5 * 0x1p-8, divisor = 1 / tie;
	struct pe_scaling s = pe_scaling_make(PE_SCALING_LONGROPE);
	mpfr_t x;

	(void)state;
	mpfr_init2(x, 300);
	s.divisors = &divisor;
	pe_scaling_omega(&s, &one, 0, x);
	assert_true(1 / divisor == tie);
	assert_int_equal(mpfr_cmp_d(x, 1 + 6 * 0x1p-8), 0);
	mpfr_clear(x);
}

static void
what_does_not_go_together_is_refused(void **state)
{
	const struct pe_freq one_pair = {.pairs = 1, .base = 10000, .half = 1};
	const struct pe_freq small_base = {.pairs = PAIRS, .base = 1, .half = PAIRS};
	struct pe_scaling s = pe_scaling_make(PE_SCALING_YARN);
	struct pe_error e;

	(void)state;
	assert_int_equal(pe_scaling_check(&s, &freq, "x", true, &e), -1);
	assert_string_equal(e.text, "x: yarn needs factor");
	s = typical(PE_SCALING_YARN);
	assert_int_equal(pe_scaling_check(&s, &freq, "x", true, &e), 0);
	assert_int_equal(pe_scaling_check(&s, &small_base, "x", true, &e), -1);
	assert_string_equal(e.text, "x: yarn needs a base above 1: '1'");
	s = typical(PE_SCALING_NTK);
	assert_int_equal(pe_scaling_check(&s, &one_pair, "x", true, &e), -1);
	s = typical(PE_SCALING_LONGROPE);
	s.original = 1;
	assert_int_equal(pe_scaling_check(&s, &freq, "x", true, &e), -1);
	assert_string_equal(e.text, "x: original_max_position_embeddings must be above 1: '1'");
	assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_precision_is_met),
	    cmocka_unit_test(base_and_frequencies_agree),
	    cmocka_unit_test(rounding_comes_once),
	    cmocka_unit_test(what_does_not_go_together_is_refused),
	};

	return cmocka_run_group_tests_name("scaling", tests, NULL, NULL);
}
