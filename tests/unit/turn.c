/* turn: every value against MPFR, every kernel against every other, every way of asking against
 * the others.
 *
 *     turn            the quick run
 *     turn VALUES     the oracle alone, over at least VALUES random values of each element */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "turn.h"
#include "turn_kernel.h"

enum { ORACLE_BITS = 400, ELEMENTS = 4 };

static const enum pe_elem elements[ELEMENTS] = {PE_F64, PE_F32, PE_F16, PE_BF16};

/* ---- numbers at random, the same in each run ---- */

static uint64_t
next(uint64_t *state) /* splitmix64 */
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---- a plan: omega_i = base^(-2i/d) ---- */

struct table {
	double base, scale, gain;
	size_t dim;
	bool turns; /* omega counts in turns: omega_i = base * 2^i */
	enum pe_elem angle;
};

static void
omega(const void *context, size_t i, mpfr_ptr x)
{
	const struct table *t = context;
	mpfr_t exponent;

	if (t->turns) {
		mpfr_set_d(x, t->base, MPFR_RNDN);
		mpfr_mul_2ui(x, x, i, MPFR_RNDN);
		return;
	}
	mpfr_init2(exponent, mpfr_get_prec(x) + 32);
	mpfr_set_si(exponent, -2 * (long)i, MPFR_RNDN);
	mpfr_div_ui(exponent, exponent, t->dim, MPFR_RNDN);
	mpfr_set_d(x, t->base, MPFR_RNDN);
	mpfr_pow(x, x, exponent, MPFR_RNDN);
	mpfr_clear(exponent);
}

static void
scale(const void *context, mpfr_ptr x)
{
	mpfr_set_d(x, ((const struct table *)context)->scale, MPFR_RNDN);
}

/* the square root, so that it is no double by itself; negative gains stay negative */
static void
gain(const void *context, mpfr_ptr x)
{
	const double g = ((const struct table *)context)->gain;

	mpfr_set_d(x, fabs(g), MPFR_RNDN);
	mpfr_sqrt(x, x, MPFR_RNDN);
	if (g < 0)
		mpfr_neg(x, x, MPFR_RNDN);
}

static struct pe_turn *
plan_of(const struct table *t)
{
	const struct pe_turn_source source = {
	    .pairs = (t->dim + 1) / 2,
	    .omega = omega,
	    .turns = t->turns,
	    .scale = t->scale != 1 ? scale : NULL,
	    .gain = t->gain != 1 ? gain : NULL,
	    .context = t,
	    .angle = t->angle,
	};
	struct pe_turn *plan;
	struct pe_error e;

	assert_int_equal(pe_turn_init(&plan, &source, &e), 0);
	return plan;
}

/* ---- the oracle ---- */

/* Correctly rounded by MPFR's own means: precision and exponent range of the element. */
static uint64_t
rounded(enum pe_elem elem, mpfr_srcptr exact)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	const bool half = elem == PE_F16;
	uint64_t bits = 0;
	mpfr_t x;

	if (elem == PE_F64 || elem == PE_F32) {
		const double d = mpfr_get_d(exact, MPFR_RNDN);
		const float f = mpfr_get_flt(exact, MPFR_RNDN);
		elem == PE_F64 ? memcpy(&bits, &d, sizeof d) : memcpy(&bits, &f, sizeof f);
		return bits;
	}
	mpfr_init2(x, half ? 11 : 8);
	mpfr_set_emin(half ? -23 : -132);
	mpfr_set_emax(half ? 16 : 128);
	int way = mpfr_set(x, exact, MPFR_RNDN);
	way = mpfr_check_range(x, way, MPFR_RNDN);
	mpfr_subnormalize(x, way, MPFR_RNDN);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	const double d = mpfr_get_d(x, MPFR_RNDN); /* exact */
	mpfr_clear(x);
	return half ? pe_f16_round(d) : pe_bf16_round(d);
}

static void
oracle_angle(const struct table *t, size_t i, double position, mpfr_ptr angle)
{
	omega(t, i, angle);
	mpfr_mul_d(angle, angle, t->scale, MPFR_RNDN);
	mpfr_mul_d(angle, angle, position, MPFR_RNDN);
	if (t->turns) {
		mpfr_t pi;
		mpfr_init2(pi, ORACLE_BITS);
		mpfr_const_pi(pi, MPFR_RNDN);
		mpfr_mul(angle, angle, pi, MPFR_RNDN);
		mpfr_mul_2ui(angle, angle, 1, MPFR_RNDN);
		mpfr_clear(pi);
	}
	if (t->angle == PE_ELEM_NONE)
		return;
	mpfr_prec_round(angle, ORACLE_BITS - 100, MPFR_RNDN); /* a tie is one again */
	const uint64_t bits = rounded(t->angle, angle);
	double d;
	float f;
	memcpy(&d, &bits, sizeof d);
	memcpy(&f, &bits, sizeof f);
	mpfr_set_prec(angle, ORACLE_BITS);
	mpfr_set_d(angle,
		   t->angle == PE_F64   ? d
		   : t->angle == PE_F32 ? (double)f
		   : t->angle == PE_F16 ? pe_f16_value((uint16_t)bits)
					: pe_bf16_value((uint16_t)bits),
		   MPFR_RNDN);
}

struct truth {
	uint64_t sine[ELEMENTS], cosine[ELEMENTS];
};

static struct truth
oracle(const struct table *t, size_t i, double position)
{
	struct truth truth;
	mpfr_t angle, s, c, g;

	mpfr_inits2(ORACLE_BITS, angle, s, c, g, (mpfr_ptr)NULL);
	oracle_angle(t, i, position, angle);
	mpfr_sin_cos(s, c, angle, MPFR_RNDN);
	mpfr_set_ui(g, 1, MPFR_RNDN);
	if (t->gain != 1)
		gain(t, g);
	mpfr_mul(s, s, g, MPFR_RNDN);
	mpfr_mul(c, c, g, MPFR_RNDN);
	if (mpfr_zero_p(s)) /* the real zero has no sign */
		mpfr_set_zero(s, 1);
	for (size_t k = 0; k < ELEMENTS; k++) {
		truth.sine[k] = rounded(elements[k], s);
		truth.cosine[k] = rounded(elements[k], c);
	}
	mpfr_clears(angle, s, c, g, (mpfr_ptr)NULL);
	return truth;
}

static uint64_t
bits_at(enum pe_elem elem, const void *row, size_t at)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)row + at * pe_elem_size(elem), pe_elem_size(elem));
	return bits;
}

/* ---- rows ---- */

static struct pe_turn_layout
interleaved(size_t dim)
{
	return (struct pe_turn_layout){
	    .cosine = 1,
	    .step = 2,
	    .sines = (dim + 1) / 2,
	    .cosines = dim / 2,
	    .row = dim,
	};
}

/* rows * dim values of 8 bytes or fewer, filled with what no value is */
static void *
room(size_t rows, size_t dim)
{
	void *out = malloc(rows * dim * 8 + 1);

	assert_non_null(out);
	memset(out, 0xff, rows * dim * 8 + 1);
	return out;
}

static void
check_value(const struct table *t, const char *how, size_t e, double position, size_t i, bool sine,
	    uint64_t got, uint64_t due)
{
	if (got == due)
		return;
	fail_msg("%s: %s of pair %zu at %.17g, base %g, d %zu, scale %g, gain %g, angle %d, %s: "
		 "%#llx, due %#llx",
		 how, sine ? "sine" : "cosine", i, position, t->base, t->dim, t->scale, t->gain,
		 (int)t->angle, pe_elem_name(elements[e]), (unsigned long long)got,
		 (unsigned long long)due);
}

/* Some rows at once by every kernel: all bytes the same, and `samples` random pairs right. */
static void
check_rows(const struct table *t, int64_t first, int64_t stride, size_t rows, size_t samples,
	   uint64_t *random)
{
	const struct pe_turn_layout layout = interleaved(t->dim);
	struct pe_turn *plan = plan_of(t);
	void *out[ELEMENTS], *again = room(rows, t->dim);

	for (size_t e = 0; e < ELEMENTS; e++) {
		const size_t bytes = rows * t->dim * pe_elem_size(elements[e]);
		const struct pe_turn_kernel *kernel;
		out[e] = room(rows, t->dim);
		pe_turn_use(plan, &pe_turn_base);
		pe_turn_rows(plan, first, stride, rows, elements[e], &layout, out[e]);
		for (size_t k = 0; (kernel = pe_turn_kernel_at(k)) != &pe_turn_base; k++) {
			if (!kernel->runs())
				continue;
			pe_turn_use(plan, kernel);
			pe_turn_rows(plan, first, stride, rows, elements[e], &layout, again);
			if (memcmp(again, out[e], bytes) != 0)
				fail_msg("kernel %s, %s, base %g, d %zu, first %lld: other bytes",
					 kernel->name, pe_elem_name(elements[e]), t->base, t->dim,
					 (long long)first);
		}
	}
	for (size_t n = 0; n < samples; n++) {
		const size_t row = next(random) % rows, i = next(random) % ((t->dim + 1) / 2);
		const double position = (double)(first + (int64_t)row * stride);
		const struct truth truth = oracle(t, i, position);
		for (size_t e = 0; e < ELEMENTS; e++) {
			const size_t at = row * t->dim + 2 * i;
			check_value(t, "rows", e, position, i, true,
				    bits_at(elements[e], out[e], at), truth.sine[e]);
			if (2 * i + 1 < t->dim)
				check_value(t, "rows", e, position, i, false,
					    bits_at(elements[e], out[e], at + 1), truth.cosine[e]);
		}
	}
	for (size_t e = 0; e < ELEMENTS; e++)
		free(out[e]);
	free(again);
	pe_turn_free(plan);
}

/* The same at a list of positions, by the best kernel. */
static void
check_list(const struct table *t, const double *positions, size_t rows, size_t samples,
	   uint64_t *random)
{
	const struct pe_turn_layout layout = interleaved(t->dim);
	struct pe_turn *plan = plan_of(t);
	void *out[ELEMENTS];

	for (size_t e = 0; e < ELEMENTS; e++) {
		out[e] = room(rows, t->dim);
		pe_turn_rows_at(plan, positions, rows, elements[e], &layout, out[e]);
	}
	for (size_t n = 0; n < samples; n++) {
		const size_t row = next(random) % rows, i = next(random) % ((t->dim + 1) / 2);
		const struct truth truth = oracle(t, i, positions[row]);
		for (size_t e = 0; e < ELEMENTS; e++) {
			const size_t at = row * t->dim + 2 * i;
			check_value(t, "list", e, positions[row], i, true,
				    bits_at(elements[e], out[e], at), truth.sine[e]);
			if (2 * i + 1 < t->dim)
				check_value(t, "list", e, positions[row], i, false,
					    bits_at(elements[e], out[e], at + 1), truth.cosine[e]);
		}
	}
	for (size_t e = 0; e < ELEMENTS; e++)
		free(out[e]);
	pe_turn_free(plan);
}

/* ---- tests ---- */

static const size_t dims[] = {2, 4, 64, 128, 512, 1000};
static const double bases[] = {1.5, 100, 10000, 500000, 1e6};
static const int64_t places[] = {
    0, 1000, 1000000, 1000000000, INT64_C(1) << 40, (INT64_C(1) << 53) - 299,
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void
rows_around_the_places(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t d = 0; d < COUNT(dims); d++)
		for (size_t b = 0; b < COUNT(bases); b++)
			for (size_t p = 0; p < COUNT(places); p++) {
				const struct table t = {
				    .base = bases[b], .dim = dims[d], .scale = 1, .gain = 1};
				check_rows(&t, places[p], 1, 300, 60, &random);
				check_rows(&t, -places[p], -1, 300, 20, &random);
			}
}

static void
strides(void **state)
{
	static const int64_t steps[] = {0, 2, -3, 1000, 65537, INT64_C(1) << 44};
	const struct table t = {.base = 10000, .dim = 38, .scale = 1, .gain = 1};
	uint64_t random = 2;

	(void)state;
	for (size_t k = 0; k < COUNT(steps); k++)
		check_rows(&t, -5, steps[k], 200, 200, &random);
	check_rows(&t, -(INT64_C(1) << 53), INT64_C(1) << 54, 2, 50, &random);
	check_rows(&t, -(INT64_C(1) << 53), INT64_C(1) << 52, 5, 50, &random);
}

/* More pairs than a plan keeps rotations for. */
static void
very_wide_rows(void **state)
{
	const struct table t = {.base = 10000, .dim = 40000, .scale = 1, .gain = 1};
	uint64_t random = 11;

	(void)state;
	check_rows(&t, 1000, 1, 3, 60, &random);
	check_rows(&t, -1000, 1, 20, 60, &random);
}

static void
lists_of_fractions(void **state)
{
	static const double positions[] = {0,
					   0.5,
					   250.5,
					   -0.25,
					   1e-300,
					   -3e-308,
					   5e-324,
					   0.1,
					   999.999,
					   1.0 / 3,
					   1e6 + 0.1,
					   0x1p-60,
					   0x1p-64,
					   0x1p-128,
					   0x1.8p-129,
					   0x1p-136,
					   0x1.fffffp-137,
					   0x1p-138,
					   0x1p52 + 0.5,
					   -0x1p53,
					   0x1p53,
					   1e15 + 0.125,
					   17,
					   -0.0};
	uint64_t random = 3;

	(void)state;
	for (size_t d = 0; d < COUNT(dims); d++)
		for (size_t b = 0; b < COUNT(bases); b++) {
			const struct table t = {
			    .base = bases[b], .dim = dims[d], .scale = 1, .gain = 1};
			check_list(&t, positions, COUNT(positions), 100, &random);
		}
}

static void
scales_and_gains(void **state)
{
	static const double scales[] = {0,    1.0 / 3, -2.5,  1000,   1e-30,  1e17,
					1e19, 1e30,    1e300, 1e-300, -1e-10, 5e-324};
	static const double gains[] = {64,     2,    -3,    1e-76,    1e-90,           1e-12,
				       1e-300, 1e76, 1e300, 0x1p-248, 0x1.000001p-240, 1 + 0x1p-20};
	static const double positions[] = {0, 1, -3, 0.3, 1e-200, 12345678.9};
	uint64_t random = 4;

	(void)state;
	for (size_t s = 0; s < COUNT(scales); s++)
		for (size_t g = 0; g < COUNT(gains); g++) {
			const struct table t = {
			    .base = 10000, .dim = 20, .scale = scales[s], .gain = gains[g]};
			if (fabs(scales[s]) < 1e20) /* the oracle's 400 bits end there */
				check_rows(&t, -9, 7, 30, 30, &random);
			if (fabs(scales[s]) < 1e20)
				check_list(&t, positions, COUNT(positions), 30, &random);
		}
}

/* sqrt(gain) on a midpoint of f32, f16 and bf16 where the cosine is 1, the even neighbour below
 * it and above */
static void
ties(void **state)
{
	static const double roots[] = {1 + 0x1p-24, 1 + 0x1p-11, 1 + 0x1p-8,
				       1 + 0x3p-24, 1 + 0x3p-11, 1 + 0x3p-8};
	static const double tiny[] = {1e-10, 1e-16, 1e-50, 0};
	uint64_t random = 5;

	(void)state;
	for (size_t k = 0; k < COUNT(roots); k++) {
		const struct table t = {
		    .base = 10000, .dim = 12, .scale = 1, .gain = roots[k] * roots[k]};
		check_rows(&t, 0, 1, 2, 60, &random);
		const struct table still = {
		    .base = 10000, .dim = 12, .scale = 0, .gain = roots[k] * roots[k]};
		check_rows(&still, 0, 1, 20, 60, &random);
		check_list(&t, tiny, COUNT(tiny), 60, &random); /* next to the tie, below it */
	}
}

/* The cosine of 1e-300 is below 1 by 5e-601: 1 + 3/2 of a last place goes up to even at 0, and
 * down beside it. */
static void
next_to_a_tie(void **state)
{
	static const double positions[] = {0, 1e-300};
	static const int last[ELEMENTS] = {0, 23, 10, 7};
	const struct pe_turn_layout layout = interleaved(2);

	(void)state;
	for (size_t e = 1; e < ELEMENTS; e++) {
		const double root = 1 + ldexp(1.5, -last[e]);
		const struct table t = {.base = 2, .dim = 2, .scale = 1, .gain = root * root};
		struct pe_turn *plan = plan_of(&t);
		uint64_t out[2] = {0};
		double cosine[2];
		for (size_t k = 0; k < 2; k++) {
			pe_turn_rows_at(plan, &positions[k], 1, elements[e], &layout, out);
			cosine[k] = elements[e] == PE_F32
					? (double)((const float *)out)[1]
					: (elements[e] == PE_F16
					       ? pe_f16_value(((const uint16_t *)out)[1])
					       : pe_bf16_value(((const uint16_t *)out)[1]));
		}
		assert_true(cosine[0] == 1 + ldexp(2, -last[e]));
		assert_true(cosine[1] == 1 + ldexp(1, -last[e]));
		pe_turn_free(plan);
	}
}

static void
rounded_angles(void **state)
{
	static const double positions[] = {0, 1, 0.1, 250.5, 16777217, 1e9 + 1, 0x1p53 - 1, 1e-300};
	uint64_t random = 6;

	(void)state;
	for (size_t e = 0; e < ELEMENTS; e++)
		for (size_t b = 0; b < COUNT(bases); b++) {
			struct table t = {.base = bases[b],
					  .dim = 64,
					  .scale = 1,
					  .gain = 1,
					  .angle = elements[e]};
			check_rows(&t, 0, 1, 200, 200, &random);
			t.scale = 1.0 / 3;
			check_rows(&t, 2048, 1, 20, 100, &random); /* ties of f16 at pair 0 */
			if (elements[e] != PE_F16)                 /* whose largest is 65504 */
				check_list(&t, positions, COUNT(positions), 100, &random);
		}
}

/* Pair 16 advances by 10000^(-1/2), which is no double. 25 n positions make n/4, and for odd n
 * from 257 to 511 that lies between two neighbours in bf16, halves; the even one is a whole
 * number. */
static void
ties_of_angles(void **state)
{
	const struct table t = {.base = 10000, .dim = 64, .scale = 1, .gain = 1, .angle = PE_BF16};
	struct pe_turn *plan = plan_of(&t);

	(void)state;
	for (int n = 257; n < 512; n += 2) {
		const int even = (n + 1) / 4;
		double s, c;
		pe_turn_at(plan, 16, 25.0 * n, &s, &c);
		assert_true(fabs(s - sin(even)) < 1e-15 && fabs(c - cos(even)) < 1e-15);
	}
	pe_turn_free(plan);
}

/* Exact quarters of a turn: 0, 1 and -1 without a trace, and no sign at zero. */
static void
whole_turns(void **state)
{
	static const double due[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
	const struct table t = {.base = 0.25, .dim = 12, .scale = 1, .gain = 1, .turns = true};
	struct pe_turn *plan = plan_of(&t);

	(void)state;
	for (int64_t n = -9; n < 10; n++)
		for (size_t i = 0; i < 6; i++) {
			const size_t quarter = (size_t)(n * (1 << i)) & 3;
			double s, c;
			pe_turn_at(plan, i, (double)n, &s, &c);
			assert_memory_equal(&s, &due[quarter][0], sizeof s);
			assert_memory_equal(&c, &due[quarter][1], sizeof c);
			pe_turn_at(plan, 0, (double)n / 0x1p70, &s, &c);
			assert_true(c == 1 && (s > 0) == (n > 0) && (s < 0) == (n < 0));
		}
	pe_turn_free(plan);

	const struct table third = {
	    .base = 1.0 / 3, .dim = 40, .scale = 1, .gain = 3, .turns = true};
	uint64_t random = 7;
	check_rows(&third, 1, 1, 200, 400, &random);
}

/* Any layout, any split, a row alone or in a list: the same values at their places, and nothing
 * beside them. */
static void
layouts_and_splits(void **state)
{
	static const struct pe_turn_layout layouts[] = {
	    {.cosine = 1, .step = 2, .sines = 133, .cosines = 132, .row = 265},
	    {.sine = 1, .step = 2, .sines = 132, .cosines = 133, .row = 265},
	    {.cosine = 133, .step = 1, .sines = 133, .cosines = 133, .row = 267},
	    {.sine = 134, .step = 1, .sines = 132, .cosines = 133, .row = 270},
	    {.cosine = 2, .step = 1, .cosines = 133, .row = 135},
	    {.sine = 0, .step = 3, .sines = 133, .row = 400},
	    {.sine = 1, .cosine = 3, .step = 5, .sines = 131, .cosines = 127, .row = 700},
	    {.cosine = 1, .step = 2, .sines = 1, .cosines = 133, .row = 267},
	    {.sine = 3, .step = 2, .sines = 133, .cosines = 0, .row = 300},
	};
	enum { ROWS = 300, PAIRS = 133 };
	const struct table t = {.base = 10000, .dim = 2 * PAIRS, .scale = 1, .gain = 1};
	const struct pe_turn_layout plain = interleaved(t.dim);
	struct pe_turn *plan = plan_of(&t);
	static double whole[ROWS * 2 * PAIRS], got[ROWS * 700];

	(void)state;
	pe_turn_rows(plan, -50, 1, ROWS, PE_F64, &plain, whole);
	for (size_t k = 0; k < COUNT(layouts); k++) {
		const struct pe_turn_layout *l = &layouts[k];
		size_t left = ROWS * l->row;
		for (size_t n = 0; n < left; n++)
			got[n] = 7;
		for (size_t done = 0, n = 1; done < ROWS; done += n, n += 3) {
			n = n < ROWS - done ? n : ROWS - done;
			pe_turn_rows(plan, (int64_t)done - 50, 1, n, PE_F64, l,
				     got + done * l->row);
		}
		for (size_t r = 0; r < ROWS; r++) {
			double *row = got + r * l->row;
			for (size_t i = 0; i < PAIRS; i++) {
				const double *due = whole + r * 2 * PAIRS + 2 * i;
				if (i < l->sines) {
					assert_memory_equal(&row[l->sine + i * l->step], &due[0],
							    8);
					row[l->sine + i * l->step] = 7;
				}
				if (i < l->cosines) {
					assert_memory_equal(&row[l->cosine + i * l->step], &due[1],
							    8);
					row[l->cosine + i * l->step] = 7;
				}
			}
		}
		for (size_t n = 0; n < left; n++)
			assert_true(got[n] == 7);
	}
	for (size_t r = 0; r < ROWS; r += 17) {
		const double position = (double)r - 50;
		double s, c;
		pe_turn_rows_at(plan, &position, 1, PE_F64, &plain, got);
		assert_memory_equal(got, whole + r * 2 * PAIRS, 2 * PAIRS * sizeof *got);
		for (size_t i = 0; i < PAIRS; i += 11) {
			pe_turn_at(plan, i, position, &s, &c);
			assert_memory_equal(&s, whole + (r * PAIRS + i) * 2, 8);
			assert_memory_equal(&c, whole + (r * PAIRS + i) * 2 + 1, 8);
		}
	}
	pe_turn_free(plan);
}

/* |got - exact| / |exact| */
static double
relative_error(const double got[2], mpfr_srcptr exact)
{
	mpfr_t rest;

	mpfr_init2(rest, ORACLE_BITS);
	mpfr_sub_d(rest, exact, got[0], MPFR_RNDN);
	mpfr_sub_d(rest, rest, got[1], MPFR_RNDN);
	mpfr_div(rest, rest, exact, MPFR_RNDN);
	const double error = fabs(mpfr_get_d(rest, MPFR_RNDN));
	mpfr_clear(rest);
	return error;
}

static double
worst_wide_value(const struct table *t, const struct pe_turn_kernel *kernel, double first,
		 double factor)
{
	const size_t pairs = t->dim / 2;
	struct pe_turn *plan = plan_of(t);
	double sine[128][2], cosine[128][2], worst = 0;
	mpfr_t angle, s, c, g;

	mpfr_inits2(ORACLE_BITS, angle, s, c, g, (mpfr_ptr)NULL);
	gain(t, g);
	pe_turn_use(plan, kernel);
	for (double position = first; position < 1e15; position *= factor) {
		pe_turn_wide_at(plan, 0, pairs, position, sine, cosine);
		for (size_t i = 0; i < pairs; i++) {
			oracle_angle(t, i, position, angle);
			mpfr_sin_cos(s, c, angle, MPFR_RNDN);
			mpfr_mul(s, s, g, MPFR_RNDN);
			mpfr_mul(c, c, g, MPFR_RNDN);
			worst = fmax(worst, relative_error(sine[i], s));
			worst = fmax(worst, relative_error(cosine[i], c));
		}
	}
	mpfr_clears(angle, s, c, g, (mpfr_ptr)NULL);
	pe_turn_free(plan);
	return worst;
}

/* Seeds within 2^-96, by every kernel: what turn.h and turn_kernel.h promise. The second table's
 * last pairs turn so little that a unit of the second word would show, at positions with a
 * fraction; the third steps below the fixed point. */
static void
wide_values(void **state)
{
	const struct table usual = {.base = 10000, .dim = 256, .scale = 1, .gain = 3};
	const struct table small = {.base = 1e16, .dim = 20, .scale = 1, .gain = 3};
	const struct table tiny = {.base = 1e300, .dim = 16, .scale = 1, .gain = 3};
	const struct pe_turn_kernel *kernel;

	(void)state;
	for (size_t k = 0; (kernel = pe_turn_kernel_at(k)) != NULL; k++) {
		if (!kernel->runs())
			continue;
		const double worst = worst_wide_value(&usual, kernel, 1, 7.3);
		print_message("# %s: worst relative error of a wide value: 2^%.2f\n", kernel->name,
			      log2(worst));
		assert_true(worst < 0x1p-96);
		assert_true(worst_wide_value(&small, kernel, 0.37, 1.37) < 0x1p-96);
		assert_true(worst_wide_value(&tiny, kernel, 1e-20, 1e3) < 0x1p-96);
	}
}

/* The largest error of a lane's sine or cosine at a position, for pairs of base 10000 that fill
 * the lanes; high: of the high parts. */
static double
worst_lane(const struct table *t, const struct pe_turn_wide *w, double position, bool high)
{
	double worst = 0;
	mpfr_t angle, s, c;

	mpfr_inits2(ORACLE_BITS, angle, s, c, (mpfr_ptr)NULL);
	for (size_t i = 0; i < PE_TURN_LANES; i++) {
		oracle_angle(t, i, position, angle);
		mpfr_sin_cos(s, c, angle, MPFR_RNDN);
		mpfr_sub_d(s, s, w->sh[i], MPFR_RNDN);
		mpfr_sub_d(s, s, high ? 0 : w->sl[i], MPFR_RNDN);
		mpfr_sub_d(c, c, w->ch[i], MPFR_RNDN);
		mpfr_sub_d(c, c, high ? 0 : w->cl[i], MPFR_RNDN);
		worst = fmax(worst,
			     fmax(fabs(mpfr_get_d(s, MPFR_RNDN)), fabs(mpfr_get_d(c, MPFR_RNDN))));
	}
	mpfr_clears(angle, s, c, (mpfr_ptr)NULL);
	return worst;
}

/* As far as a span goes, in both arithmetics: the bounds by which kernels decide. */
static void
rotations_keep_their_bounds(void **state)
{
	const struct table t = {.base = 10000, .dim = 2 * PE_TURN_LANES, .scale = 1, .gain = 1};
	static const double one[2] = {1, 0};
	static struct pe_turn_step steps[PE_TURN_LANES];
	struct pe_turn_phase phase;
	struct pe_turn_wide wide, high, by, group;
	const struct pe_turn_kernel *kernel;
	mpfr_t x, pi;

	(void)state;
	mpfr_inits2(ORACLE_BITS, x, pi, (mpfr_ptr)NULL);
	mpfr_const_pi(pi, MPFR_RNDN);
	for (size_t i = 0; i < PE_TURN_LANES; i++) {
		omega(&t, i, x);
		mpfr_div(x, x, pi, MPFR_RNDN);
		mpfr_div_2ui(x, x, 1, MPFR_RNDN);
		assert_true(pe_turn_step_set(&steps[i], x, false));
	}
	mpfr_clears(x, pi, (mpfr_ptr)NULL);
	for (size_t k = 0; (kernel = pe_turn_kernel_at(k)) != NULL; k++) {
		double worst_wide = 0, worst_high = 0;
		for (int64_t first = 1; kernel->runs() && first < INT64_C(1) << 50; first *= 37) {
			pe_turn_phases(&phase, steps, PE_TURN_LANES,
				       pe_turn_position_of_integer(1));
			kernel->seed(&by, &phase, PE_TURN_LANES, one);
			group = by;
			for (size_t n = 1; n < PE_TURN_GROUP; n++)
				kernel->turn_wide(&group, &by, PE_TURN_LANES);
			pe_turn_phases(&phase, steps, PE_TURN_LANES,
				       pe_turn_position_of_integer(first));
			kernel->seed(&wide, &phase, PE_TURN_LANES, one);
			high = wide;
			for (size_t n = 0; n < PE_TURN_SPAN / PE_TURN_GROUP; n++) {
				kernel->turn_wide(&wide, &group, PE_TURN_LANES);
				kernel->turn_high(&high, &group, PE_TURN_LANES);
			}
			const double last = (double)first + PE_TURN_SPAN;
			worst_wide = fmax(worst_wide, worst_lane(&t, &wide, last, false));
			worst_high = fmax(worst_high, worst_lane(&t, &high, last, true));
		}
		print_message("# %s: worst error behind a span: 2^%.2f wide, 2^%.2f high\n",
			      kernel->name, log2(worst_wide), log2(worst_high));
		assert_true(worst_wide < 0x1.1p-90 && worst_high < 0x1p-47);
	}
}

/* Other elements next to the bottom of their range, where kernels must not decide on cut
 * subnormals: what f64 holds, rounded once more. (A double is a tie of theirs for one value in
 * 2^28 at most, and none of these is.) */
static void
subnormal_values(void **state)
{
	enum { ROWS = 4000, DIM = 64 };
	static double wide[ROWS * DIM];
	static uint16_t half[ROWS * DIM];
	static float narrow[ROWS * DIM];
	const struct pe_turn_layout layout = interleaved(DIM);

	(void)state;
	for (int exponent = -260; exponent < -20; exponent += 16) { /* of the gain's square */
		const struct table t = {
		    .base = 10000, .dim = DIM, .scale = 1, .gain = ldexp(1.3, exponent)};
		struct pe_turn *plan = plan_of(&t);
		const struct pe_turn_kernel *kernel;
		pe_turn_rows(plan, 1, 1, ROWS, PE_F64, &layout, wide);
		for (size_t k = 0; (kernel = pe_turn_kernel_at(k)) != NULL; k++) {
			if (!kernel->runs())
				continue;
			pe_turn_use(plan, kernel);
			pe_turn_rows(plan, 1, 1, ROWS, PE_BF16, &layout, half);
			for (size_t n = 0; n < COUNT(half); n++)
				assert_int_equal(half[n], pe_bf16_round(wide[n]));
			pe_turn_rows(plan, 1, 1, ROWS, PE_F16, &layout, half);
			for (size_t n = 0; n < COUNT(half); n++)
				assert_int_equal(half[n], pe_f16_round(wide[n]));
			pe_turn_rows(plan, 1, 1, ROWS, PE_F32, &layout, narrow);
			for (size_t n = 0; n < COUNT(narrow); n++)
				assert_true(narrow[n] == (float)wide[n]);
		}
		pe_turn_free(plan);
	}
}

static void
the_table_of_sines(void **state)
{
	mpfr_t angle, s, c;

	(void)state;
	mpfr_inits2(ORACLE_BITS, angle, s, c, (mpfr_ptr)NULL);
	for (unsigned long j = 0; j < 256; j++) {
		mpfr_const_pi(angle, MPFR_RNDN);
		mpfr_mul_ui(angle, angle, j, MPFR_RNDN);
		mpfr_div_2ui(angle, angle, 7, MPFR_RNDN);
		mpfr_sin_cos(s, c, angle, MPFR_RNDN);
		for (size_t k = 0; k < 4; k += 2) {
			mpfr_ptr x = k ? c : s;
			if (pe_turn_table[j][k] != 0)
				assert_true(pe_turn_table[j][k] == mpfr_get_d(x, MPFR_RNDN));
			mpfr_sub_d(x, x, pe_turn_table[j][k], MPFR_RNDN);
			if (pe_turn_table[j][k] != 0)
				assert_true(pe_turn_table[j][k + 1] == mpfr_get_d(x, MPFR_RNDN));
			else
				assert_true(mpfr_cmp_d(x, 0x1p-390) < 0);
		}
	}
	mpfr_clears(angle, s, c, (mpfr_ptr)NULL);
}

/* Random tables, random places: `values` of each element. */
static void
at_random(size_t values, uint64_t random)
{
	enum { ROWS = 200, SAMPLES = 500 };

	for (size_t done = 0; done < values; done += 2 * SAMPLES) {
		const struct table t = {
		    .base = bases[next(&random) % COUNT(bases)],
		    .dim = dims[next(&random) % COUNT(dims)],
		    .scale = next(&random) % 8 == 0 ? 0x1p-70 * (double)next(&random) : 1,
		    .gain = next(&random) % 8 == 0 ? 0x1p-62 * (double)next(&random) : 1,
		    .angle = next(&random) % 8 == 0 ? elements[next(&random) % 2] : PE_ELEM_NONE,
		};
		const int64_t first = (int64_t)(next(&random) >> (11 + next(&random) % 53)) - ROWS;
		if (next(&random) % 4 != 0) {
			check_rows(&t, next(&random) % 2 ? first : -first, 1, ROWS, SAMPLES,
				   &random);
		} else {
			double positions[ROWS];
			for (size_t r = 0; r < ROWS; r++)
				positions[r] =
				    ldexp((double)next(&random), -11 - (int)(next(&random) % 80));
			check_list(&t, positions, ROWS, SAMPLES, &random);
		}
		if (values > 1000000 && done % 1000000 == 0)
			print_message("# %zu values of each element\n", done);
	}
}

/* The hardest values that a search found; what each of the lines is stands in the file. */
static void
hard_cases(void **state)
{
	FILE *file = fopen("tests/data/turn_hard.tsv", "r");
	char line[256], elem[8], member[8];
	uint64_t random = 10;
	size_t lines = 0;

	(void)state;
	if (file == NULL)
		skip(); /* not run from the top of the tree */
	while (fgets(line, sizeof line, file) != NULL) {
		struct table t = {.scale = 1, .gain = 1};
		double position;
		size_t pair;
		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%7s %lg %zu %zu %lg %7s", elem, &t.base, &t.dim,
					&pair, &position, member),
				 6);
		const struct truth truth = oracle(&t, pair, position);
		struct pe_turn *plan = plan_of(&t);
		const struct pe_turn_layout layout = interleaved(t.dim);
		for (size_t e = 0; e < ELEMENTS; e++)
			for (size_t before = 0; before < 2; before++) {
				void *out = room(80, t.dim);
				const size_t row = before * 77, at = row * t.dim + 2 * pair;
				pe_turn_rows(plan, (int64_t)position - (int64_t)row, 1, row + 2,
					     elements[e], &layout, out);
				check_value(&t, "hard", e, position, pair, true,
					    bits_at(elements[e], out, at), truth.sine[e]);
				check_value(&t, "hard", e, position, pair, false,
					    bits_at(elements[e], out, at + 1), truth.cosine[e]);
				free(out);
			}
		pe_turn_free(plan);
		if (lines++ % 16 == 0)
			check_rows(&t, (int64_t)position - 1, 1, 3, 3, &random);
	}
	assert_true(lines > 100);
	assert_int_equal(fclose(file), 0);
}

/* What the kernels leave open is rare, in whole vectors and in the last one: 2^-16 of the values
 * or so, met by 1 of 30 jobs. */
static size_t asked, left;

static unsigned
counted(unsigned open)
{
	asked++;
	left += open != 0;
	return open;
}

static unsigned
counted_f64(const struct pe_turn_job *job)
{
	return counted(pe_turn_base.rows_f64(job));
}

static unsigned
counted_f32(const struct pe_turn_job *job)
{
	return counted(pe_turn_base.rows_f32(job));
}

static void
kernels_decide_nearly_all(void **state)
{
	static const size_t widths[] = {2, 6, 16, 100, 128, 512};
	struct pe_turn_kernel counting = pe_turn_base;

	(void)state;
	counting.rows_f64 = counted_f64;
	counting.rows_f32 = counted_f32;
	for (size_t w = 0; w < COUNT(widths); w++) {
		const struct table t = {.base = 10000, .dim = widths[w], .scale = 1, .gain = 1};
		const struct pe_turn_layout layout = interleaved(t.dim);
		struct pe_turn *plan = plan_of(&t);
		void *out = room(6400, t.dim);
		pe_turn_use(plan, &counting);
		asked = left = 0;
		pe_turn_rows(plan, 1000, 1, 6400, PE_F64, &layout, out);
		assert_int_equal(left, 0);
		pe_turn_rows(plan, 1000, 1, 6400, PE_F32, &layout, out);
		assert_true(asked >= 800 && left < asked / 10);
		free(out);
		pe_turn_free(plan);
	}
}

static void
some_at_random(void **state)
{
	(void)state;
	at_random(100000, 8);
}

static size_t oracle_values;

static void
many_at_random(void **state)
{
	(void)state;
	at_random(oracle_values, 9);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest quick[] = {
	    cmocka_unit_test(the_table_of_sines),
	    cmocka_unit_test(wide_values),
	    cmocka_unit_test(layouts_and_splits),
	    cmocka_unit_test(whole_turns),
	    cmocka_unit_test(rows_around_the_places),
	    cmocka_unit_test(strides),
	    cmocka_unit_test(very_wide_rows),
	    cmocka_unit_test(lists_of_fractions),
	    cmocka_unit_test(scales_and_gains),
	    cmocka_unit_test(ties),
	    cmocka_unit_test(next_to_a_tie),
	    cmocka_unit_test(rounded_angles),
	    cmocka_unit_test(rotations_keep_their_bounds),
	    cmocka_unit_test(subnormal_values),
	    cmocka_unit_test(ties_of_angles),
	    cmocka_unit_test(hard_cases),
	    cmocka_unit_test(kernels_decide_nearly_all),
	    cmocka_unit_test(some_at_random),
	};
	const struct CMUnitTest oracle_only[] = {cmocka_unit_test(many_at_random)};

	if (argc < 2)
		return cmocka_run_group_tests(quick, NULL, NULL);
	oracle_values = strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(oracle_only, NULL, NULL);
}
