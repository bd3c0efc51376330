/* similarity - the stated error bounds against MPFR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <mpfr.h>

#include "similarity.h"

enum { BITS = 300 };

/* Half an ulp of the result, and slack of 2^-90. */
static void
assert_rounded(mpfr_ptr real, double got, double slack)
{
	int exponent;

	(void)frexp(got, &exponent);
	mpfr_sub_d(real, real, got, MPFR_RNDN);
	assert_true(fabs(mpfr_get_d(real, MPFR_RNDN)) <= ldexp(1.0, exponent - 54) + slack);
}

static void
offsets_keep_the_stated_bound(void **state)
{
	static const double offsets[] = {0, 1, -7, 0.5, 1e-9, 1e-300, 1000, 123456789, 0x1p53};
	static const size_t dims[] = {2, 16, 130, 512};
	const struct pe_convention convention = PE_CONVENTION_PAPER;
	mpfr_t dot, distance, omega, x;
	struct pe_error e;

	(void)state;
	mpfr_inits2(BITS, dot, distance, omega, x, (mpfr_ptr)NULL);
	for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
		const size_t pairs = dims[d] / 2;
		const struct pe_freq f = {.pairs = pairs, .base = 10000, .half = (double)pairs};
		struct pe_similarity_plan *plan;

		assert_int_equal(pe_similarity_init(&plan, &convention, dims[d], &e), 0);
		for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
			const struct pe_similarity got = pe_similarity_at(plan, offsets[k]);

			mpfr_set_zero(dot, 1);
			mpfr_set_zero(distance, 1);
			for (size_t i = 0; i < pairs; i++) {
				pe_freq_omega(&f, i, omega);
				mpfr_mul_d(omega, omega, offsets[k], MPFR_RNDN);
				mpfr_cos(x, omega, MPFR_RNDN);
				mpfr_add(dot, dot, x, MPFR_RNDN);
				mpfr_div_ui(omega, omega, 2, MPFR_RNDN);
				mpfr_sin(x, omega, MPFR_RNDN);
				mpfr_sqr(x, x, MPFR_RNDN);
				mpfr_add(distance, distance, x, MPFR_RNDN);
			}
			mpfr_sqrt(distance, distance, MPFR_RNDN);
			mpfr_mul_ui(distance, distance, 2, MPFR_RNDN);
			mpfr_div_ui(x, dot, (unsigned long)pairs, MPFR_RNDN);
			assert_rounded(dot, got.dot, (double)pairs * 0x1p-90);
			assert_rounded(x, got.similarity, 0x1p-90);
			assert_rounded(distance, got.distance, got.distance * 0x1p-80);
		}
		pe_similarity_free(plan);
	}
	mpfr_clears(dot, distance, omega, x, (mpfr_ptr)NULL);
}

static void
odd_widths_are_refused(void **state)
{
	const struct pe_convention convention = PE_CONVENTION_PAPER;
	struct pe_similarity_plan *plan = NULL;
	struct pe_error e;

	(void)state;
	assert_int_equal(pe_similarity_init(&plan, &convention, 7, &e), -1);
	assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
	assert_null(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(offsets_keep_the_stated_bound),
	    cmocka_unit_test(odd_widths_are_refused),
	};

	return cmocka_run_group_tests_name("similarity", tests, NULL, NULL);
}
