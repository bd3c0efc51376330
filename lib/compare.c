/* compare - by how much two matrices differ, cell by cell, and where. */
#include "compare.h"

#include <math.h>
#include <string.h>

struct distance {
	double abs, rel;
	uint64_t ulp;
	bool ulp_infinite;
};

static const struct distance infinite = {(double)INFINITY, (double)INFINITY, 0, true};

/* ---- ulps ---- */

/* Sign and magnitude of a number as its rank: neighbours are one apart, both zeros are 0. */
static int64_t
rank(uint64_t bits, int sign_bit)
{
	const uint64_t sign = UINT64_C(1) << sign_bit;

	return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static int64_t
rank_of(enum pe_elem elem, const void *value)
{
	uint64_t bits = 0;
	uint32_t single;
	uint16_t half;
	double wide;

	switch (elem) {
	case PE_F32: memcpy(&single, value, sizeof single); return rank(single, 31);
	case PE_F16:
	case PE_BF16: memcpy(&half, value, sizeof half); return rank(half, 15);
	case PE_F64: memcpy(&bits, value, sizeof bits); return rank(bits, 63);
	default:
		(void)pe_elem_convert(PE_F64, &wide, elem, value, 1);
		memcpy(&bits, &wide, sizeof bits);
		return rank(bits, 63);
	}
}

uint64_t
pe_ulps(enum pe_elem elem, const void *a, const void *b)
{
	const int64_t x = rank_of(elem, a), y = rank_of(elem, b);

	return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* ---- one cell ---- */

static double
value_of(enum pe_elem elem, const void *value)
{
	double x = 0;

	(void)pe_elem_convert(PE_F64, &x, elem, value, 1);
	return x;
}

/* |a - b| of values that are known to differ; of integers exact before it is rounded, so never 0. */
static double
difference(enum pe_elem elem, const void *a, const void *b)
{
	int64_t x, y;

	if (elem != PE_I64)
		return fabs(value_of(elem, a) - value_of(elem, b));
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return (double)(x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x);
}

static struct distance
measure(enum pe_elem elem, const void *a, const void *b)
{
	const double x = value_of(elem, a), y = value_of(elem, b);
	struct distance d;

	if (!isfinite(x) || !isfinite(y))
		return infinite;
	d.abs = difference(elem, a, b);
	d.rel = d.abs / fabs(x); /* x = 0: infinite, as d.abs is not 0 */
	d.ulp = pe_ulps(elem, a, b);
	d.ulp_infinite = false;
	return d;
}

static bool
within(const struct pe_limits *limits, const struct distance *d)
{
	return (limits->abs >= 0 && d->abs <= limits->abs) ||
	       (limits->rel >= 0 && d->rel <= limits->rel) ||
	       (limits->ulp >= 0 && !d->ulp_infinite && d->ulp <= (uint64_t)limits->ulp);
}

static struct pe_cell
cell(const struct pe_compare *c, size_t col, const void *a, const void *b)
{
	struct pe_cell found = {.found = true, .row = c->rows, .col = col};

	memcpy(found.a, a, pe_elem_size(c->elem));
	memcpy(found.b, b, pe_elem_size(c->elem));
	return found;
}

/* A cell whose values are not the same number. */
static void
count(struct pe_compare *c, size_t col, const void *a, const void *b)
{
	const bool both_nan = isnan(value_of(c->elem, a)) && isnan(value_of(c->elem, b));

	if (both_nan && c->limits.nan_equal)
		return;
	const struct distance d = measure(c->elem, a, b);
	if (!c->worst.found || d.abs > c->max_abs)
		c->worst = cell(c, col, a, b);
	c->max_abs = fmax(c->max_abs, d.abs);
	c->max_rel = fmax(c->max_rel, d.rel);
	c->max_ulp = d.ulp > c->max_ulp ? d.ulp : c->max_ulp;
	c->ulp_infinite |= d.ulp_infinite;
	if (within(&c->limits, &d))
		return;
	if (!c->first.found)
		c->first = cell(c, col, a, b);
	c->differing++;
}

static bool
is_same(enum pe_elem elem, const void *a, const void *b, size_t i)
{
	switch (elem) {
	case PE_F64: return ((const double *)a)[i] == ((const double *)b)[i];
	case PE_F32: return ((const float *)a)[i] == ((const float *)b)[i];
	case PE_I64: return ((const int64_t *)a)[i] == ((const int64_t *)b)[i];
	case PE_F16:
		return pe_f16_value(((const uint16_t *)a)[i]) ==
		       pe_f16_value(((const uint16_t *)b)[i]);
	default:
		return pe_bf16_value(((const uint16_t *)a)[i]) ==
		       pe_bf16_value(((const uint16_t *)b)[i]);
	}
}

void
pe_compare_rows(struct pe_compare *c, const void *a, const void *b, size_t n)
{
	const size_t size = pe_elem_size(c->elem);

	for (size_t r = 0; r < n; r++) {
		const char *x = (const char *)a + r * c->cols * size;
		const char *y = (const char *)b + r * c->cols * size;

		for (size_t i = 0; i < c->cols; i++)
			if (!is_same(c->elem, x, y, i))
				count(c, i, x + i * size, y + i * size);
		c->rows++;
	}
}
