/* freq: powers to the bits asked for, one by one and many at once; rounded once where an element
 * is named. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpfr.h>

#include "freq.h"

enum { PAIRS = 40, WIDE = 600 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct pe_freq plans[] = {
    {.pairs = PAIRS, .base = 10000, .half = PAIRS},
    {.pairs = PAIRS, .base = 1.5, .half = 3.5, .shift = 0.25},
    {.pairs = PAIRS, .base = 1e308, .half = PAIRS, .shift = PAIRS - 0x1p-10},
    {.pairs = PAIRS, .base = 5e-324, .half = 0.5},
    {.pairs = PAIRS, .base = 1 + 0x1p-52, .half = 1e6},
    {.pairs = PAIRS, .base = 1, .half = PAIRS},
    {.pairs = 1, .base = 10000, .half = 1, .shift = 1},
};

/* |got / due - 1| < 2^-(p - 4) */
static void
close_to(mpfr_srcptr got, mpfr_srcptr due)
{
	mpfr_t rest;

	mpfr_init2(rest, WIDE);
	mpfr_div(rest, got, due, MPFR_RNDN);
	mpfr_sub_ui(rest, rest, 1, MPFR_RNDN);
	assert_true(mpfr_zero_p(rest) || mpfr_get_exp(rest) <= 4 - mpfr_get_prec(got));
	mpfr_clear(rest);
}

static void
powers(void **state)
{
	static const mpfr_prec_t precisions[] = {53, 208, 512};
	mpfr_t due, exponent, many[PAIRS];

	(void)state;
	mpfr_inits2(WIDE + 1100, due, exponent, (mpfr_ptr)NULL);
	for (size_t p = 0; p < COUNT(precisions); p++) {
		for (size_t k = 0; k < PAIRS; k++)
			mpfr_init2(many[k], precisions[p]);
		for (size_t n = 0; n < COUNT(plans); n++) {
			const struct pe_freq *f = &plans[n];
			pe_freq_omegas(f, 0, f->pairs, many);
			for (size_t i = 0; i < f->pairs; i++) {
				mpfr_set_d(exponent, -(double)i, MPFR_RNDN);
				mpfr_div_d(exponent, exponent, i > 0 ? f->half - f->shift : 1,
					   MPFR_RNDN);
				mpfr_set_d(due, f->base, MPFR_RNDN);
				mpfr_pow(due, due, exponent, MPFR_RNDN);
				close_to(many[i], due);
				pe_freq_omega(f, i, many[i]);
				close_to(many[i], due);
			}
			if (f->pairs > 1) { /* from the middle, as a plan goes on */
				pe_freq_omegas(f, PAIRS - 1, 1, many);
				close_to(many[0], due);
			}
		}
		for (size_t k = 0; k < PAIRS; k++)
			mpfr_clear(many[k]);
	}
	mpfr_clears(due, exponent, (mpfr_ptr)NULL);
	pe_freq_omegas(&plans[0], 0, 0, NULL);
}

/* 2^-(i/2) for even i is a double, and comes out as one. */
static void
powers_that_are_doubles(void **state)
{
	const struct pe_freq f = {.pairs = PAIRS, .base = 16, .half = 8};
	mpfr_t x;

	(void)state;
	mpfr_init2(x, 300);
	for (int i = 0; i < PAIRS; i += 2) {
		pe_freq_omega(&f, (size_t)i, x);
		assert_int_equal(mpfr_cmp_d(x, ldexp(1, -i / 2)), 0);
	}
	mpfr_clear(x);
}

/* 1 + 2^-24 + 2^-60 lies above the tie of two floats, and its nearest double upon it. */
static void
one_rounding(void **state)
{
	mpfr_t x;

	(void)state;
	mpfr_init2(x, 100);
	mpfr_set_ui_2exp(x, 1, -60, MPFR_RNDN);
	mpfr_add_d(x, x, 1 + 0x1p-24, MPFR_RNDN);
	pe_freq_round(PE_ELEM_NONE, x);
	assert_true(mpfr_cmp_d(x, 1 + 0x1p-24) > 0);
	pe_freq_round(PE_F32, x);
	assert_int_equal(mpfr_cmp_d(x, 1 + 0x1p-23), 0);

	/* few bits asked for do not round before the element does; both ways give the same */
	struct pe_freq f = {.pairs = PAIRS, .base = 10000, .half = PAIRS, .round = PE_BF16};
	mpfr_t many[PAIRS];
	for (size_t k = 0; k < PAIRS; k++)
		mpfr_init2(many[k], 53);
	pe_freq_omegas(&f, 0, PAIRS, many);
	for (size_t i = 0; i < PAIRS; i++) {
		f.round = PE_ELEM_NONE;
		pe_freq_omega(&f, i, x);
		assert_int_equal(
		    mpfr_cmp_d(many[i], pe_elem_round(PE_BF16, mpfr_get_d(x, MPFR_RNDN))), 0);
		mpfr_clear(many[i]);
	}
	mpfr_clear(x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(powers),
	    cmocka_unit_test(powers_that_are_doubles),
	    cmocka_unit_test(one_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
