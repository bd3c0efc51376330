/* elem: the two halves, all of them, and the way to them from floats at and about every boundary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "elem.h"

static const enum pe_elem halves[] = {PE_F16, PE_BF16};

static float
single_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* What IEEE 754 says the bits mean. */
static double
value_by_definition(enum pe_elem elem, uint16_t bits)
{
	const int fraction_bits = elem == PE_F16 ? 10 : 7;
	const int bias = elem == PE_F16 ? 15 : 127;
	const int exponent = (bits & 0x7fff) >> fraction_bits;
	const int fraction = bits & ((1 << fraction_bits) - 1);
	double x;

	if (exponent == 2 * bias + 1)
		x = fraction != 0 ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		x = ldexp(fraction, 1 - bias - fraction_bits);
	else
		x = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
	return bits & 0x8000 ? -x : x;
}

static void
every_half_has_its_value(void **unused)
{
	(void)unused;
	for (size_t h = 0; h < 2; h++)
		for (uint32_t bits = 0; bits < 65536; bits++) {
			const uint16_t half = (uint16_t)bits;
			const double due = value_by_definition(halves[h], half);
			double wide;
			float single;

			assert_int_equal(pe_elem_convert(PE_F64, &wide, halves[h], &half, 1), 1);
			assert_int_equal(pe_elem_convert(PE_F32, &single, halves[h], &half, 1), 1);
			if (isnan(due)) {
				assert_true(isnan(wide) && isnan(single));
				continue;
			}
			assert_true(wide == due && (double)single == due);
			assert_int_equal(!signbit(wide), !signbit(due));
			assert_int_equal(!signbit(single), !signbit(due));
		}
}

static void
every_half_comes_back(void **unused)
{
	(void)unused;
	for (size_t h = 0; h < 2; h++)
		for (uint32_t bits = 0; bits < 65536; bits++) {
			const uint16_t half = (uint16_t)bits;
			uint16_t back;
			float single;
			double wide;

			(void)pe_elem_convert(PE_F32, &single, halves[h], &half, 1);
			(void)pe_elem_convert(PE_F64, &wide, halves[h], &half, 1);
			if (isnan(wide))
				continue;
			assert_int_equal(pe_elem_convert(halves[h], &back, PE_F32, &single, 1), 1);
			assert_int_equal(back, half);
			assert_int_equal(pe_elem_convert(halves[h], &back, PE_F64, &wide, 1), 1);
			assert_int_equal(back, half);
		}
}

/* Nearest by search among neighbours: nothing of the code under test is used but the values
 * proved above. */
static void
assert_nearest(enum pe_elem elem, double x, uint16_t got)
{
	const double value = value_by_definition(elem, got);
	const uint16_t infinity = elem == PE_F16 ? 0x7c00 : 0x7f80;
	const uint16_t magnitude = got & 0x7fff;
	const double step = fabs(x) - fabs(value);
	const uint16_t next = (uint16_t)(step > 0 ? magnitude + 1 : magnitude - 1);

	if (magnitude == infinity || step == 0 || (step < 0 && magnitude == 0))
		return; /* overflow is looked at elsewhere */
	const double beside = next == infinity ? ldexp(1, elem == PE_F16 ? 16 : 128)
					       : value_by_definition(elem, next);
	const double other = fabs(fabs(x) - beside);
	assert_true(fabs(step) < other || (fabs(step) == other && magnitude % 2 == 0));
}

static void
floats_round_to_the_nearest_half(void **unused)
{
	(void)unused;
	for (size_t h = 0; h < 2; h++)
		/* every upper half of a float, with the lower halves at which rounding turns */
		for (uint32_t upper = 0; upper < 65536; upper++) {
			static const uint32_t lower[] = {0,      1,      0x0fff, 0x1000, 0x1001,
							 0x2fff, 0x3000, 0x3001, 0x7fff, 0x8000,
							 0x8001, 0xefff, 0xf000, 0xffff};
			for (size_t k = 0; k < sizeof lower / sizeof lower[0]; k++) {
				const float x = single_of(upper << 16 | lower[k]);
				const double wide = (double)x;
				uint16_t from_single = 0, from_double = 0;
				const size_t fit =
				    pe_elem_convert(halves[h], &from_single, PE_F32, &x, 1);

				assert_int_equal(
				    pe_elem_convert(halves[h], &from_double, PE_F64, &wide, 1),
				    fit);
				if (isnan(x)) {
					assert_true(
					    isnan(value_by_definition(halves[h], from_single)));
					continue;
				}
				assert_int_equal(from_single, from_double);
				assert_int_equal(fit, isinf(x) || !isinf(value_by_definition(
								      halves[h], from_single)));
				if (!isinf(x) && fit == 1)
					assert_nearest(halves[h], wide, from_single);
			}
		}
}

static void
what_does_not_fit_is_counted(void **unused)
{
	const float singles[] = {1, -65519.996f, 65520, 1};
	const float large[] = {0x1.fefffep127f, -0x1.ffp127f};
	uint16_t got[4];

	(void)unused;
	assert_int_equal(pe_elem_convert(PE_F16, got, PE_F32, singles, 4), 2);
	assert_int_equal(got[1], 0xfbff);
	assert_int_equal(pe_elem_convert(PE_BF16, got, PE_F32, large, 2), 1);
	assert_int_equal(got[0], 0x7f7f);
}

/* 2^60 + 2^36 + 1 is above the middle of two floats; a double on the way would lose the 1, and the tie go down. */
static void
whole_numbers_round_once(void **unused)
{
	const int64_t wide[2] = {(INT64_C(1) << 60) + (INT64_C(1) << 36) + 1, -3};
	const int32_t narrow[2] = {16777217, 16777219};
	float x[2];

	(void)unused;
	assert_int_equal(pe_elem_convert(PE_F32, x, PE_I64, wide, 2), 2);
	assert_true(x[0] == 0x1p60F + 0x1p37F && x[1] == -3);
	assert_int_equal(pe_elem_convert(PE_F32, x, PE_I32, narrow, 2), 2);
	assert_true(x[0] == 16777216 && x[1] == 16777220);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_half_has_its_value),
	    cmocka_unit_test(every_half_comes_back),
	    cmocka_unit_test(floats_round_to_the_nearest_half),
	    cmocka_unit_test(what_does_not_fit_is_counted),
	    cmocka_unit_test(whole_numbers_round_once),
	};

	return cmocka_run_group_tests_name("elem", tests, NULL, NULL);
}
