/* fourier - the fast way against the real formula in MPFR, for every element, on random and on
 * dyadic coordinates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <mpfr.h>

#include "fourier.h"
#include "round.h"

enum { DIMS = 3, FEATURES = 70, ROWS = 20, BITS = 700 };

static uint64_t seed = 7;

static double
any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(int64_t)seed * 0x1p-63;
}

/* What is harder than a random number: eighths, whose features are often exact, and zero. */
static double
coarse(void)
{
	return floor(any() * 32) / 8;
}

static void
truth(const struct pe_fourier_spec *spec, const double *x, size_t f, bool second, enum pe_elem elem,
      void *to)
{
	mpfr_t sum, term;

	mpfr_inits2(BITS, sum, term, (mpfr_ptr)NULL);
	mpfr_set_zero(sum, 1);
	for (size_t j = 0; j < spec->dims; j++) {
		mpfr_set_d(term, x[j], MPFR_RNDN);
		if (spec->log)
			mpfr_log(term, term, MPFR_RNDN);
		mpfr_mul_d(term, term, spec->matrix[f * spec->dims + j], MPFR_RNDN);
		mpfr_add(sum, sum, term, MPFR_RNDN);
	}
	if (!spec->radians) {
		mpfr_rint(term, sum, MPFR_RNDN);
		mpfr_sub(sum, sum, term, MPFR_RNDN);
		mpfr_const_pi(term, MPFR_RNDN);
		mpfr_mul_2ui(term, term, 1, MPFR_RNDN);
		mpfr_mul(sum, sum, term, MPFR_RNDN);
	}
	if (second)
		mpfr_cos(term, sum, MPFR_RNDN);
	else
		mpfr_sin(term, sum, MPFR_RNDN);
	if (mpfr_zero_p(term) ||
	    mpfr_get_exp(term) < -600) /* a multiple of a half turn, but for MPFR's pi */
		mpfr_set_zero(term, 1);
	pe_round_store(elem, to, 0, term);
	mpfr_clears(sum, term, (mpfr_ptr)NULL);
}

static void
check_matrix(struct pe_fourier_spec spec, double (*frequency)(void), double (*coordinate)(void),
	     enum pe_elem elem)
{
	static double matrix[FEATURES * DIMS], x[ROWS * DIMS], out[ROWS * FEATURES * 2];
	const size_t size = pe_elem_size(elem);
	struct pe_fourier *plan;
	struct pe_error e;

	for (size_t i = 0; i < FEATURES * DIMS; i++)
		matrix[i] = 10 * frequency();
	for (size_t i = 0; i < ROWS * DIMS; i++)
		x[i] = spec.log ? fabs(coordinate()) + 0x1p-20 : coordinate();
	spec.dims = DIMS;
	spec.features = FEATURES;
	spec.matrix = matrix;
	assert_int_equal(pe_fourier_init(&plan, &spec, &e), 0);
	pe_fourier_rows(plan, x, ROWS, elem, out);
	for (size_t r = 0; r < ROWS; r++)
		for (size_t c = 0; c < 2 * FEATURES; c++) {
			double want = 0;
			truth(&spec, x + r * DIMS, c % FEATURES,
			      (c >= FEATURES) != spec.cosine_first, elem, &want);
			assert_memory_equal((char *)out + (r * 2 * FEATURES + c) * size, &want,
					    size);
		}
	pe_fourier_free(plan);
}

static void
features_are_rounded_once(void **state)
{
	static const enum pe_elem elems[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	const struct pe_fourier_spec turns = {0}, radians = {.radians = true},
				     logs = {.log = true, .cosine_first = true};

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		check_matrix(turns, any, any, elems[k]);
		check_matrix(turns, coarse, coarse, elems[k]);
		check_matrix(radians, any, coarse, elems[k]);
		check_matrix(logs, any, any, elems[k]);
	}
}

/* One band of one coordinate is one feature of radians, near and far. */
static void
bands_are_features(void **state)
{
	static const double one = 1, xs[] = {0.1, -3, 1e-300, 0x1p53, 0x1.8p60, 1e300, -1e200};
	const struct pe_bands_spec bands_spec = {.dims = 1, .bands = 1};
	const struct pe_fourier_spec spec = {
	    .dims = 1, .features = 1, .matrix = &one, .radians = true};
	struct pe_bands *bands;
	struct pe_fourier *fourier;
	struct pe_error e;

	(void)state;
	assert_int_equal(pe_bands_init(&bands, &bands_spec, &e), 0);
	assert_int_equal(pe_fourier_init(&fourier, &spec, &e), 0);
	for (size_t k = 0; k < sizeof xs / sizeof *xs; k++) {
		double a[2], b[2];
		assert_int_equal(pe_bands_rows(bands, 0, xs + k, 1, PE_F64, a, &e), 0);
		pe_fourier_rows(fourier, xs + k, 1, PE_F64, b);
		assert_memory_equal(a, b, sizeof a);
	}
	pe_bands_free(bands);
	pe_fourier_free(fourier);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(features_are_rounded_once),
	    cmocka_unit_test(bands_are_features),
	};

	return cmocka_run_group_tests_name("fourier", tests, NULL, NULL);
}
