/* attend_vector.inc - the arithmetic of attend_kernel.inc.h: vectors, e^x, products of small
 * tiles, packing. The translation unit defines the macros that attend_kernel.inc.h lists. No
 * function here knows attention's plans. */
#include <math.h>
#include <string.h>

#define ROWS PE_ATTEND_ROWS
#define BLOCK PE_ATTEND_BLOCK
/* Errors grow slower than sums where these are made of short chains: columns of a dot product,
 * and keys of weighted values, of which PE_ATTEND_BLOCK is a multiple. */
#define DOT_CHAIN ((size_t)16)
#define CHAIN ((size_t)32)

/* The element: bits behind its point, bias and least value of its exponent, and the polynomial
 * of 2^r on +-1/2, 1 at 0, with the least relative error (Remez's exchange): 2e-9 at degree 6,
 * 4e-18 at degree 11; the highest power first. */
#if ELEMENT == 32
typedef float real;
typedef int32_t whole;
#define MANTISSA 23
#define BIAS 127
#define LIMIT (-126.0f)
#define LOG2E 0x1.715476p+0f
static const real powers[] = {0x1.41fbbcp-13f,
			      0x1.5f3e52p-10f,
			      0x1.3b2d4cp-7f,
			      0x1.c6aee8p-5f,
			      0x1.ebfbdcp-3f,
			      0x1.62e43p-1f,
			      1.0f};
#else
typedef double real;
typedef int64_t whole;
#define MANTISSA 52
#define BIAS 1023
#define LIMIT (-1022.0)
#define LOG2E 0x1.71547652b82fep+0
static const real powers[] = {0x1.e79bb6fc55606p-32, 0x1.e61b4f9a207f5p-28, 0x1.b5267cdfd91eep-24,
			      0x1.62bfc79d4b59fp-20, 0x1.ffcbfba980f96p-17, 0x1.4309130ed8cd5p-13,
			      0x1.5d87fe78cd6cfp-10, 0x1.3b2ab6fba011ap-7,  0x1.c6b08d7049fe8p-5,
			      0x1.ebfbdff82c5a4p-3,  0x1.62e42fefa39efp-1,  1.0};
#endif

typedef real vec __attribute__((vector_size(VECTOR_BYTES)));
typedef whole bits __attribute__((vector_size(VECTOR_BYTES)));
/* a vector anywhere in an array of the element */
typedef real loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

#define LANES (VECTOR_BYTES / sizeof(real))
#define PANEL (LANES * VECTORS) /* keys of the register tile */

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Keys [from, to) of a block. */
struct part {
	size_t from, to;
};

INLINE vec
load(const real *from)
{
	return *(const loose *)from;
}

INLINE void
store(real *to, vec x)
{
	*(loose *)to = x;
}

#if !defined(MAX)
INLINE vec
max(vec a, vec b)
{
	const bits more = a > b;

	return (vec)(((bits)a & more) | ((bits)b & ~more));
}
#define MAX(a, b) max(a, b)
#endif

#if !defined(MAX_ACROSS)
INLINE real
max_across(vec x)
{
	real top = x[0];

	for (size_t i = 1; i < LANES; i++)
		top = x[i] > top ? x[i] : top;
	return top;
}
#define MAX_ACROSS(x) max_across(x)
#endif

/* ---- 2^x ---- */

/* The largest logit so far, in powers of two, rounded up: sums relative to it are rescaled
 * without rounding. */
INLINE real
whole_power(real logit)
{
	return ELEMENT == 32 ? (real)ceilf((float)logit * (float)LOG2E)
			     : (real)ceil((double)logit * (double)LOG2E);
}

/* e^s / 2^max for max = whole_power of no smaller logit; 0 where that is below 2^LIMIT, nan for
 * nan. With k the nearest whole number to s log2(e) - max, it is 2^k 2^r, r = s log2(e) - (max +
 * k), rounded once; k comes out of the low bits of k + 1.5 * 2^MANTISSA, where BIAS is already
 * added to it. With rounding the result is within 2u. */
INLINE vec
power(vec s, vec max)
{
	const vec magic = SPLAT((real)(INT64_C(3) << (MANTISSA - 1)) + BIAS);
	const vec x = FUSED(s, SPLAT(LOG2E), -max), shifted = x + magic;
	const vec r = FUSED(s, SPLAT(LOG2E), -(max + (shifted - magic)));
	vec p = SPLAT(powers[0]);

	UNROLLED
	for (size_t i = 1; i < sizeof powers / sizeof *powers; i++)
		p = FUSED(p, r, SPLAT(powers[i]));
	p *= (vec)((bits)shifted << MANTISSA);
	return (vec)((bits)p & ~(x < SPLAT(LIMIT)));
}

/* ---- rows ---- */

static void
fill(real *to, size_t from, size_t end, real x)
{
	for (; from < end; from++)
		to[from] = x;
}

static void
add(real *to, const real *from, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(to + i, load(to + i) + load(from + i));
	for (; i < n; i++)
		to[i] += from[i];
}

static void
add_same(real *to, real x, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(to + i, load(to + i) + SPLAT(x));
	for (; i < n; i++)
		to[i] += x;
}

static void
multiply(real *x, real factor, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] *= factor;
}

static void
divide(real *x, real divisor, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(x + i, load(x + i) / SPLAT(divisor));
	for (; i < n; i++)
		x[i] /= divisor;
}

/* A vector of which only the first n are there; others are x. */
INLINE vec
load_some(const real *from, size_t n, real x)
{
	vec some = SPLAT(x);

	if (n >= LANES)
		return load(from);
	memcpy(&some, from, n * sizeof(real));
	return some;
}

static double
across(vec x)
{
	double sum = 0;

	for (size_t i = 0; i < LANES; i++)
		sum += (double)x[i];
	return sum;
}

static real
sum(const real *from, size_t n)
{
	vec sum = SPLAT(0);
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		sum += load(from + i);
	if (i < n)
		sum += load_some(from + i, n - i, 0);
	return n > 0 ? (real)across(sum) : 0;
}

/* -inf where there is none but nan */
static real
largest(const real *from, size_t n)
{
	const vec lowest = SPLAT(-(real)INFINITY);
	vec top = lowest;

	for (size_t i = 0; i < n; i += LANES)
		top = MAX(load_some(from + i, n - i, -(real)INFINITY), top);
	return MAX_ACROSS(MAX(top, lowest));
}

/* ---- products ---- */

/* rows x PANEL dot products: q holds columns of ROWS rows, the panel columns of PANEL keys. */
INLINE void
dot_rows(size_t rows, const real *q, size_t dim, const real *panel, real *to, size_t stride)
{
	for (size_t done = 0; done < dim;) {
		const size_t end = dim - done > DOT_CHAIN ? done + DOT_CHAIN : dim;
		const bool first = done == 0;
		vec sum[ROWS][VECTORS];

		UNROLLED
		for (size_t i = 0; i < rows; i++)
			UNROLLED
		for (size_t v = 0; v < VECTORS; v++)
			sum[i][v] = SPLAT(0);
		for (; done < end; done++) {
			vec k[VECTORS];

			UNROLLED
			for (size_t v = 0; v < VECTORS; v++)
				k[v] = load(panel + done * PANEL + v * LANES);
			UNROLLED
			for (size_t i = 0; i < rows; i++)
				UNROLLED
			for (size_t v = 0; v < VECTORS; v++)
				sum[i][v] = FUSED(SPLAT(q[done * ROWS + i]), k[v], sum[i][v]);
		}
		UNROLLED
		for (size_t i = 0; i < rows; i++)
			UNROLLED
		for (size_t v = 0; v < VECTORS; v++) {
			real *at = to + i * stride + v * LANES;

			store(at, first ? sum[i][v] : load(at) + sum[i][v]);
		}
	}
}

static void
dot(size_t rows, const real *q, size_t dim, const real *panel, real *to, size_t stride)
{
	if (rows == 1)
		dot_rows(1, q, dim, panel, to, stride);
	else
		dot_rows(ROWS, q, dim, panel, to, stride);
}

/* sums += weights x values of the keys [part.from, part.to) of a block, one register tile of
 * columns. A chain ends at fixed keys, not where the part does: the keys it leaves out have
 * weight 0, and what starts at +0 never sums to -0. */
INLINE void
weigh_tile(size_t rows, size_t vectors, const real *weights, struct part part, const real *values,
	   size_t width, real *sums)
{
	for (size_t j = part.from; j < part.to;) {
		const size_t next = j / CHAIN * CHAIN + CHAIN,
			     end = next < part.to ? next : part.to;
		vec sum[ROWS][VECTORS];

		UNROLLED
		for (size_t i = 0; i < rows; i++)
			UNROLLED
		for (size_t v = 0; v < vectors; v++)
			sum[i][v] = SPLAT(0);
		for (; j < end; j++) {
			vec x[VECTORS];

			UNROLLED
			for (size_t v = 0; v < vectors; v++)
				x[v] = load(values + j * width + v * LANES);
			UNROLLED
			for (size_t i = 0; i < rows; i++)
				UNROLLED
			for (size_t v = 0; v < vectors; v++)
				sum[i][v] = FUSED(SPLAT(weights[i * BLOCK + j]), x[v], sum[i][v]);
		}
		UNROLLED
		for (size_t i = 0; i < rows; i++)
			UNROLLED
		for (size_t v = 0; v < vectors; v++) {
			real *at = sums + i * width + v * LANES;

			store(at, load(at) + sum[i][v]);
		}
	}
}

#define WEIGH(n) \
	case n: weigh_tile(rows, n, weights, part, values + at, width, sums + at); break

INLINE void
weigh_rows(size_t rows, const real *weights, struct part part, const real *values, size_t width,
	   real *sums)
{
	size_t left = width / LANES;

	for (size_t tiles = (left + VECTORS - 1) / VECTORS, at = 0; tiles > 0; tiles--) {
		const size_t vectors = (left + tiles - 1) / tiles;

		switch (vectors) {
			WEIGH(1);
			WEIGH(2);
#if VECTORS == 4
			WEIGH(3);
			WEIGH(4);
#endif
		}
		at += vectors * LANES;
		left -= vectors;
	}
}

#undef WEIGH

static void
weigh(size_t rows, const real *weights, struct part part, const real *values, size_t width,
      real *sums)
{
	if (rows == 1)
		weigh_rows(1, weights, part, values, width, sums);
	else
		weigh_rows(ROWS, weights, part, values, width, sums);
}

/* The same where a value is not finite: 0 times it is nan, so keys that are not alive are left out. */
static void
weigh_alive(size_t rows, const real *weights, const bool *alive, struct part part,
	    const real *values, size_t width, real *sums)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t j = part.from; j < part.to; j++)
			for (size_t c = 0; alive[i * BLOCK + j] && c < width; c++)
				sums[i * width + c] +=
				    weights[i * BLOCK + j] * values[j * width + c];
}

/* ---- blocks ---- */

#define SQUARE (16 / sizeof(real))
#define LINE (64 / sizeof(real)) /* of cache */

/* SQUARE columns of LANES rows: squares of 16 bytes, transposed side by side. */
INLINE void
transpose_squares(real *to, const real *from, size_t stride)
{
	const vec a = SQUARES(from, SQUARE * stride), b = SQUARES(from + stride, SQUARE * stride);
	const vec low = LOW(a, b), high = HIGH(a, b);
#if ELEMENT == 32
	const vec c = SQUARES(from + 2 * stride, SQUARE * stride),
		  d = SQUARES(from + 3 * stride, SQUARE * stride);
	const vec low_cd = LOW(c, d), high_cd = HIGH(c, d);

	store(to, LOW_PAIRS(low, low_cd));
	store(to + PANEL, HIGH_PAIRS(low, low_cd));
	store(to + 2 * PANEL, LOW_PAIRS(high, high_cd));
	store(to + 3 * PANEL, HIGH_PAIRS(high, high_cd));
#else
	store(to, low);
	store(to + PANEL, high);
#endif
}

/* Columns of PANEL rows: to[c * PANEL + j] = row j, column c; zero beyond count. */
static void
transpose(real *to, const real *from, size_t stride, size_t dim, size_t count)
{
	const size_t whole_rows = count / LANES * LANES, whole_columns = dim / SQUARE * SQUARE;

	for (size_t j = 0; j < whole_rows; j += LANES)
		for (size_t c = 0; c < whole_columns; c += SQUARE)
			transpose_squares(to + c * PANEL + j, from + j * stride + c, stride);
	for (size_t c = 0; c < dim; c++) {
		for (size_t j = c < whole_columns ? whole_rows : 0; j < count; j++)
			to[c * PANEL + j] = from[j * stride + c];
		fill(to + c * PANEL, count, PANEL, 0);
	}
}

/* A block of values, `count` rows of `width`: in place where it lies so, else copied. */
static const real *
contiguous(const real *from, size_t stride, size_t dim, size_t count, real *copy, size_t width)
{
	if (stride == width && dim == width) /* else a last row would end before its width */
		return from;
	for (size_t j = 0; j < count; j++)
		for (size_t c = 0; c < width; c += LANES)
			store(copy + j * width + c, load_some(from + j * stride + c, dim - c, 0));
	return copy;
}

static bool
all_finite(const real *from, size_t n) /* n is a multiple of LANES */
{
	bits odd = {0};

	for (size_t i = 0; i < n; i += LANES) {
		const vec x = load(from + i);

		odd |= (bits)(x - x); /* +0, or nan where x is inf or nan */
	}
	for (size_t i = 0; i < LANES; i++)
		if (odd[i] != 0)
			return false;
	return true;
}
