/* shift: the matrix is a rotation, entry by entry the table's own numbers, and its action keeps
 * the bound that it states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <mpfr.h>

#include "shift.h"

enum { DIM = 8, PAIRS = DIM / 2, PRECISION = 300 };

static const struct pe_convention conventions[] = {
    PE_CONVENTION_PAPER,
    {.base = 10000, .pos_scale = 1, .gain = 1, .layout = PE_LAYOUT_HALVES},
    {.base = 100, .pos_scale = 0.25, .gain = -7.3, .flip = true},
    {.base = 3,
     .pos_scale = 1,
     .gain = 0.1,
     .layout = PE_LAYOUT_HALVES,
     .flip = true,
     .freq_shift = 1},
};
static const double shifts[] = {0, 1, -1, 2.5, 1e6, 0x1p53, -123456.789, 1e-200};

static double
uniform(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1;
}

/* Every entry of M_-k is the one across the diagonal of M_k, bit by bit; off the pairs' blocks
 * there are zeros. */
static void
test_transpose(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof conventions / sizeof conventions[0]; c++) {
		for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
			double there[DIM][DIM], back[DIM][DIM];
			struct pe_shift *s;
			struct pe_error e;

			assert_int_equal(
			    pe_shift_init(&s, &conventions[c], DIM, shifts[i], PE_F64, &e), 0);
			pe_shift_rows(s, 0, 3, there);
			pe_shift_rows(s, 3, DIM - 3, there + 3);
			pe_shift_free(s);
			assert_int_equal(
			    pe_shift_init(&s, &conventions[c], DIM, -shifts[i], PE_F64, &e), 0);
			pe_shift_rows(s, 0, DIM, back);
			pe_shift_free(s);
			size_t zeros = 0;
			for (size_t row = 0; row < DIM; row++)
				for (size_t col = 0; col < DIM; col++) {
					zeros += there[row][col] == 0;
					assert_memory_equal(&there[row][col], &back[col][row],
							    sizeof(double));
					assert_false(there[row][col] == 0 &&
						     signbit(there[row][col]));
				}
			assert_true(zeros >= DIM * (DIM - 2));
		}
	}
}

/* gain * (x cos + y sin), exact angle, against what the room makes of x and y. */
static double
error_of(const struct pe_convention *c, size_t i, double k, double x, double y, double got,
	 double *bound)
{
	const double half = PAIRS - c->freq_shift;
	mpfr_t angle, sine, cosine;

	mpfr_inits2(PRECISION, angle, sine, cosine, (mpfr_ptr)NULL);
	mpfr_set_d(angle, c->base, MPFR_RNDN);
	mpfr_log(angle, angle, MPFR_RNDN);
	mpfr_mul_d(angle, angle, -(double)i, MPFR_RNDN);
	mpfr_div_d(angle, angle, half, MPFR_RNDN);
	mpfr_exp(angle, angle, MPFR_RNDN);
	mpfr_mul_d(angle, angle, k, MPFR_RNDN);
	mpfr_mul_d(angle, angle, c->pos_scale, MPFR_RNDN);
	mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
	*bound = 3 * 0x1p-53 * (1 + 0x1p-50) * fabs(c->gain) *
		 (fabs(x * mpfr_get_d(cosine, MPFR_RNDN)) + fabs(y * mpfr_get_d(sine, MPFR_RNDN)));
	mpfr_mul_d(cosine, cosine, x, MPFR_RNDN);
	mpfr_mul_d(sine, sine, y, MPFR_RNDN);
	mpfr_add(sine, sine, cosine, MPFR_RNDN);
	mpfr_mul_d(sine, sine, c->gain, MPFR_RNDN);
	mpfr_sub_d(sine, sine, got, MPFR_RNDN);
	const double error = fabs(mpfr_get_d(sine, MPFR_RNDN));
	mpfr_clears(angle, sine, cosine, (mpfr_ptr)NULL);
	return error;
}

static void
test_apply(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (size_t c = 0; c < sizeof conventions / sizeof conventions[0]; c++) {
		const struct pe_convention *convention = &conventions[c];
		struct pe_columns columns;
		struct pe_error e;

		assert_int_equal(pe_convention_columns(convention, DIM, &columns, &e), 0);
		for (size_t n = 0; n < 400; n++) {
			const double k = n < 8 ? shifts[n] : ldexp(uniform(&seed), (int)(n % 53));
			const struct pe_turn_layout *l = &columns.layout;
			double in[DIM], out[DIM], bound;
			struct pe_shift *s;

			for (size_t j = 0; j < DIM; j++)
				in[j] = uniform(&seed);
			memcpy(out, in, sizeof out);
			assert_int_equal(pe_shift_init(&s, convention, DIM, k, PE_F64, &e), 0);
			pe_shift_apply(s, 1, out, out);
			pe_shift_free(s);
			for (size_t i = 0; i < PAIRS; i++) {
				const double x = in[l->sine + i * l->step],
					     y = in[l->cosine + i * l->step];

				assert_true(error_of(convention, i, k, x, y,
						     out[l->sine + i * l->step], &bound) <= bound);
				assert_true(error_of(convention, i, -k, y, x,
						     out[l->cosine + i * l->step],
						     &bound) <= bound);
			}
		}
	}
}

static void
test_refusals(void **state)
{
	const struct pe_convention c = PE_CONVENTION_PAPER;
	struct pe_shift *s;
	struct pe_error e;

	(void)state;
	assert_int_equal(pe_shift_init(&s, &c, 7, 1, PE_F64, &e), -1);
	assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
	assert_int_equal(pe_shift_init(&s, &c, 0, 1, PE_F64, &e), -1);
	assert_int_equal(pe_shift_init(&s, &c, 8, NAN, PE_F64, &e), -1);
	assert_int_equal(pe_shift_init(&s, &c, 8, 0x1.0000001p53, PE_F64, &e), -1);
	assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_transpose),
	    cmocka_unit_test(test_apply),
	    cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
