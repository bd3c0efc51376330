/* wide - numbers as unevaluated sums of two doubles, for what must be added or multiplied before
 * it rounds.
 *
 * u = 2^-53. A wide number is high + low with |low| at most half an ulp of high. Sums and
 * products are those of Dekker 1971 and Knuth (TAOCP 2, 4.2.2), with the error bounds of Joldes,
 * Muller and Popescu 2017 (ACM TOMS 44(2)). */
#ifndef PE_WIDE_H
#define PE_WIDE_H

#include <math.h>

struct pe_wide {
	double high, low;
};

/* a + b exactly. */
static inline struct pe_wide
pe_two_sum(double a, double b)
{
	const double sum = a + b, part = sum - a;

	return (struct pe_wide){sum, (a - (sum - part)) + (b - part)};
}

/* a * b exactly, where nothing underflows. */
static inline struct pe_wide
pe_two_product(double a, double b)
{
	const double product = a * b;

	return (struct pe_wide){product, fma(a, b, -product)};
}

/* Error below 3 u^2 of the result where both have one sign, else of the larger. */
static inline struct pe_wide
pe_wide_add(struct pe_wide a, struct pe_wide b)
{
	const struct pe_wide high = pe_two_sum(a.high, b.high), low = pe_two_sum(a.low, b.low);
	const struct pe_wide sum = pe_two_sum(high.high, high.low + low.high);

	return pe_two_sum(sum.high, sum.low + low.low);
}

/* Relative error below 5 u^2. */
static inline struct pe_wide
pe_wide_multiply(struct pe_wide a, struct pe_wide b)
{
	const struct pe_wide product = pe_two_product(a.high, b.high);

	return pe_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

/* a / b rounded to a double; error half an ulp and a few u^2. */
static inline double
pe_wide_divide(struct pe_wide a, double b)
{
	const double q = a.high / b;

	return q + (fma(-q, b, a.high) + a.low) / b;
}

/* The root of a >= 0 rounded to a double; the same error. */
static inline double
pe_wide_root(struct pe_wide a)
{
	const double root = sqrt(a.high);

	return root > 0 ? root + (fma(-root, root, a.high) + a.low) / (2 * root) : root;
}

#endif
