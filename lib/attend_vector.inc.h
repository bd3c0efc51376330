/* attend_vector.inc - the arithmetic of attend_kernel.inc.h: vectors, e^x, products of small
 * tiles, packing. The translation unit defines the macros that attend_kernel.inc.h lists. No
 * function here knows attention's plans. */
#include <float.h>
#include <math.h>
#include <string.h>

#define ROWS PE_ATTEND_ROWS
#define BLOCK PE_ATTEND_BLOCK
/* Errors grow slower than sums where these are made of short chains: columns of a dot product,
 * and keys of weighted values, of which PE_ATTEND_BLOCK is a multiple. Chains are shorter where
 * their sums need no memory. */
#define DOT_CHAIN ((size_t)(256 / REGISTERS))
#define CHAIN ((size_t)(512 / REGISTERS))

/* The element: bits behind its point, bias and least value of its exponent, and polynomials of the
 * least relative error (Remez's exchange), the highest power first: of 2^r on +-1/2, 1 at 0, within
 * 2e-9 at degree 6, 4e-18 at degree 11; of (2^r - 1) / r on +-1/32, within 2e-9 and 8e-18 of 2^r.
 * Besides the bits of 2^(j / 16) without j / 16 itself in the exponent's place. */
#if ELEMENT == 32
typedef float real;
typedef int32_t whole;
typedef uint32_t unsigned_whole;
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
#if defined(LOOK_UP)
static const real near[] = {0x1.c6ac6ap-5f, 0x1.ebfff4p-3f, 0x1.62e43p-1f};
static const whole sixteenths[] = {
    0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532, 0x3f75fed7, 0x3f75583f,
    0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c, 0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
#endif
#else
typedef double real;
typedef int64_t whole;
typedef uint64_t unsigned_whole;
#define MANTISSA 52
#define BIAS 1023
#define LIMIT (-1022.0)
#define LOG2E 0x1.71547652b82fep+0
static const real powers[] = {0x1.e79bb6fc55606p-32, 0x1.e61b4f9a207f5p-28, 0x1.b5267cdfd91eep-24,
			      0x1.62bfc79d4b59fp-20, 0x1.ffcbfba980f96p-17, 0x1.4309130ed8cd5p-13,
			      0x1.5d87fe78cd6cfp-10, 0x1.3b2ab6fba011ap-7,  0x1.c6b08d7049fe8p-5,
			      0x1.ebfbdff82c5a4p-3,  0x1.62e42fefa39efp-1,  1.0};
#if defined(LOOK_UP)
static const real near[] = {0x1.43086570a2aa2p-13, 0x1.5d89be056f218p-10, 0x1.3b2ab6fdb3270p-7,
			    0x1.c6b08d6e8afe2p-5,  0x1.ebfbdff82c55ep-3,  0x1.62e42fefa39fdp-1};
static const whole sixteenths[] = {
    0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
    0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
    0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
    0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da};
#endif
#endif

typedef real vec __attribute__((vector_size(VECTOR_BYTES)));
typedef whole bits __attribute__((vector_size(VECTOR_BYTES)));
typedef unsigned_whole unsigned_bits __attribute__((vector_size(VECTOR_BYTES)));
/* a vector anywhere in an array of the element */
typedef real loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

#define LANES (VECTOR_BYTES / sizeof(real))
#define VECTORS 2 /* in a row of the register tile: twelve sums, as many chains where they fit */
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
larger(vec a, vec b)
{
	const bits more = a > b;

	return (vec)(((bits)a & more) | ((bits)b & ~more));
}
#define MAX(a, b) larger(a, b)
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

/* A logit in powers of two, rounded; what would be beyond the range, the largest in it. */
INLINE real
in_powers(real logit)
{
	const real x = logit * LOG2E, most = ELEMENT == 32 ? (real)FLT_MAX : (real)DBL_MAX;

	return x - x == 0 || logit - logit != 0 ? x : x < 0 ? -most : most;
}

/* The largest logit so far, in powers of two, rounded up: sums relative to it are rescaled
 * without rounding. */
INLINE real
whole_power(real logit)
{
	const real x = in_powers(logit);

	return ELEMENT == 32 ? (real)ceilf((float)x) : (real)ceil((double)x);
}

/* Is whole_power so large that its own rounding is a step or more? */
INLINE bool
is_far(real max)
{
	const real far = (real)(INT64_C(1) << MANTISSA);

	return (max <= -far || max >= far) && max - max == 0;
}

/* Vectors that go through each step together: one alone waits for every result. */
#define MANY (REGISTERS / 8)
#define EACH     \
	UNROLLED \
	for (size_t i = 0; i < MANY; i++)

/* 2^r scaled by 2^k, where `shifted` holds k in its low bits: with STEPS bits behind the point if
 * the processor can look up a table in a register, else a whole number, BIAS added. The table's
 * bits lack j / 16, which comes with k. */
#if defined(LOOK_UP)
#define STEPS 4
#define FIRST 0
INLINE void
scaled_power(const vec r[MANY], const vec shifted[MANY], vec p[MANY])
{
	vec scale[MANY], q[MANY];

	EACH scale[i] = (vec)((unsigned_bits)LOOK_UP(sixteenths, shifted[i]) +
			      ((unsigned_bits)shifted[i] << (MANTISSA - STEPS)));
	EACH q[i] = FUSED(SPLAT(near[0]), r[i], SPLAT(near[1]));
	EACH p[i] = scale[i] * r[i];
	UNROLLED
	for (size_t n = 2; n < sizeof near / sizeof *near; n++)
		EACH q[i] = FUSED(q[i], r[i], SPLAT(near[n]));
	EACH p[i] = FUSED(p[i], q[i], scale[i]);
}
#else
#define STEPS 0
#define FIRST BIAS
INLINE void
scaled_power(const vec r[MANY], const vec shifted[MANY], vec p[MANY])
{
	EACH p[i] = FUSED(SPLAT(powers[0]), r[i], SPLAT(powers[1]));
	UNROLLED
	for (size_t n = 2; n < sizeof powers / sizeof *powers; n++)
		EACH p[i] = FUSED(p[i], r[i], SPLAT(powers[n]));
	EACH p[i] *= (vec)((bits)shifted[i] << MANTISSA);
}
#endif

/* x = s log2(e) - max and p = e^s / 2^max of the sum s = a + b, for max = whole_power of no smaller
 * one; 0 where that is below 2^LIMIT, nan for nan. With k the nearest to x of the numbers with STEPS
 * bits behind the point, p is 2^k 2^r, r = a log2(e) + (b log2(e) - (max + k)), rounded where it is
 * small; k comes out of the low bits of k + 1.5 * 2^(MANTISSA - STEPS). With rounding p is within
 * 2u. */
INLINE void
power(const vec a[MANY], const vec b[MANY], vec max, vec x[MANY], vec p[MANY])
{
	const vec magic = SPLAT((real)(INT64_C(3) << (MANTISSA - STEPS - 1)) + FIRST);
	const vec less = magic - max;
	vec shifted[MANY], r[MANY];

	EACH x[i] = a[i] + b[i];
	EACH x[i] = FUSED(x[i], SPLAT(LOG2E), -max);
	EACH shifted[i] = x[i] + magic;
	EACH r[i] = shifted[i] - less; /* max + k */
	EACH r[i] = FUSED(b[i], SPLAT(LOG2E), -r[i]);
	EACH r[i] = FUSED(a[i], SPLAT(LOG2E), r[i]);
	scaled_power(r, shifted, p);
	EACH p[i] = (vec)((bits)p[i] & ~(x[i] < SPLAT(LIMIT)));
}

/* The same for one sum where max is_far: there power's r, which knows what max lost by rounding, is
 * no fraction but any number, and 2^r negative, 0 or inf. A sum that is rounded as max was is never
 * above it, and the largest one is at it; that is off by no more than u |s|. */
static real
far_power(real s, real max)
{
	const real x = in_powers(s) - max;

	return x < LIMIT ? 0 : ELEMENT == 32 ? (real)exp2f((float)x) : (real)exp2((double)x);
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

#define SQUARE (16 / sizeof(real))

/* SQUARE columns of LANES rows: squares of 16 bytes, transposed side by side. */
INLINE void
transpose_squares(vec to[SQUARE], const real *from, size_t stride)
{
	const vec a = SQUARES(from, SQUARE * stride), b = SQUARES(from + stride, SQUARE * stride);
	const vec low = LOW(a, b), high = HIGH(a, b);
#if ELEMENT == 32
	const vec c = SQUARES(from + 2 * stride, SQUARE * stride),
		  d = SQUARES(from + 3 * stride, SQUARE * stride);
	const vec low_cd = LOW(c, d), high_cd = HIGH(c, d);

	to[0] = LOW_PAIRS(low, low_cd);
	to[1] = HIGH_PAIRS(low, low_cd);
	to[2] = LOW_PAIRS(high, high_cd);
	to[3] = HIGH_PAIRS(high, high_cd);
#else
	to[0] = low;
	to[1] = high;
#endif
}

#define TILE(vectors)                     \
	UNROLLED                          \
	for (size_t i = 0; i < rows; i++) \
		UNROLLED                  \
	for (size_t v = 0; v < (vectors); v++)

/* Sums of chains: in registers while a tile is worked on, if there are enough, else in memory. */
#if REGISTERS == 32
#define SET_SUM(sum, chain, at) sum = chain
#define ADD_CHAIN(sum, chain, at) sum += chain
#define PUT_SUM(sum, at) store(at, sum)
#define JOIN_SUM(sum, at) store(at, load(at) + sum)
#else
#define SET_SUM(sum, chain, at) store(at, chain)
#define ADD_CHAIN(sum, chain, at) store(at, load(at) + chain)
#define PUT_SUM(sum, at) (void)sum
#define JOIN_SUM(sum, at) (void)sum
#endif

/* rows x PANEL dot products: q holds columns of ROWS rows, the panel columns of PANEL keys. Those
 * of the first columns go to `to`, of the others to `more`: their sum's rounding would be the
 * largest error of all, and its exponential can be had without it. */
INLINE void
dot_tile(size_t rows, const real *q, size_t dim, const real *panel, real *to, real *more)
{
	const size_t half = (dim / 2 + DOT_CHAIN - 1) / DOT_CHAIN * DOT_CHAIN;
	size_t done = 0;

	for (size_t part = half < dim ? half : dim;; part = dim, to = more) {
		vec sum[ROWS][VECTORS];
		bool first = true;

		do {
			const size_t end = part - done > DOT_CHAIN ? done + DOT_CHAIN : part;
			vec chain[ROWS][VECTORS];

			TILE(VECTORS) chain[i][v] = SPLAT(0);
			for (; done < end; done++) {
				vec k[VECTORS];

				UNROLLED
				for (size_t v = 0; v < VECTORS; v++)
					k[v] = load(panel + done * PANEL + v * LANES);
				TILE(VECTORS)
				chain[i][v] = FUSED(SPLAT(q[done * ROWS + i]), k[v], chain[i][v]);
			}
			if (first)
				TILE(VECTORS)
			SET_SUM(sum[i][v], chain[i][v], to + i * BLOCK + v * LANES);
			else TILE(VECTORS)
			    ADD_CHAIN(sum[i][v], chain[i][v], to + i * BLOCK + v * LANES);
			first = false;
		} while (done < part);
		TILE(VECTORS) PUT_SUM(sum[i][v], to + i * BLOCK + v * LANES);
		if (to == more)
			return;
	}
}

#define LINE (64 / sizeof(real)) /* of cache */

/* Asks for a row that will be needed soon. */
static void
look_at(const real *from, size_t n)
{
	for (size_t i = 0; i < n; i += LINE)
		__builtin_prefetch(from + i);
}

/* The last columns, fewer than SQUARE, of LANES rows. */
INLINE void
gather_columns(vec to[SQUARE], const real *from, size_t stride, size_t n)
{
	for (size_t c = 0; c < n; c++) {
		real column[LANES];

		for (size_t j = 0; j < LANES; j++)
			column[j] = from[j * stride + c];
		to[c] = load(column);
	}
}

/* Tiles are not inlined: compilers run out of registers otherwise. */
#define ALONE static __attribute__((noinline)) void

ALONE
dot_one(const real *q, size_t dim, const real *panel, real *to, real *more)
{
	dot_tile(1, q, dim, panel, to, more);
}

ALONE
dot_six(const real *q, size_t dim, const real *panel, real *to, real *more)
{
	dot_tile(ROWS, q, dim, panel, to, more);
}

static void
dot(size_t rows, const real *q, size_t dim, const real *panel, real *to, real *more)
{
	if (rows == 1)
		dot_one(q, dim, panel, to, more);
	else
		dot_six(q, dim, panel, to, more);
}

/* dot_one of PANEL keys where they lie, `stride` apart: the same bytes. What one query meets once
 * is not worth a panel. `next` keys follow; they are asked for, as no processor foresees where
 * columns of rows lead. */
ALONE
dot_keys(const real *q, size_t dim, const real *keys, size_t stride, size_t next, real *to,
	 real *more)
{
	const size_t half = (dim / 2 + DOT_CHAIN - 1) / DOT_CHAIN * DOT_CHAIN;
	size_t done = 0, asked = 0;

	for (size_t part = half < dim ? half : dim;; part = dim, to = more) {
		vec sum[VECTORS], chain[VECTORS], columns[SQUARE];

		UNROLLED
		for (size_t v = 0; v < VECTORS; v++)
			sum[v] = chain[v] = SPLAT(0);
		while (done < part) {
			const size_t n = part - done < SQUARE ? part - done : SQUARE;

			for (; asked * dim < (done + n) * PANEL && asked < next; asked++)
				look_at(keys + (PANEL + asked) * stride, dim);
			UNROLLED
			for (size_t v = 0; v < VECTORS; v++) {
				const real *from = keys + v * LANES * stride + done;

				if (n == SQUARE)
					transpose_squares(columns, from, stride);
				else
					gather_columns(columns, from, stride, n);
				for (size_t c = 0; c < n; c++)
					chain[v] = FUSED(SPLAT(q[(done + c) * ROWS]), columns[c],
							 chain[v]);
			}
			done += n;
			if (done % DOT_CHAIN != 0 && done < part)
				continue;
			UNROLLED
			for (size_t v = 0; v < VECTORS; v++) {
				sum[v] += chain[v];
				chain[v] = SPLAT(0);
			}
		}
		UNROLLED
		for (size_t v = 0; v < VECTORS; v++)
			store(to + v * LANES, sum[v]);
		if (to == more)
			return;
	}
}

/* sums += weights x values of the keys [part.from, part.to) of a block, one register tile of
 * columns. A chain ends at fixed keys, not where the part does: the keys it leaves out have
 * weight 0, and what starts at +0 never sums to -0. */
INLINE void
weigh_tile(size_t rows, size_t vectors, const real *weights, struct part part, const real *values,
	   size_t width, real *sums)
{
	vec sum[ROWS][VECTORS];

	TILE(vectors) sum[i][v] = SPLAT(0);
	for (size_t j = part.from; j < part.to;) {
		const size_t next = j / CHAIN * CHAIN + CHAIN,
			     end = next < part.to ? next : part.to;
		vec chain[ROWS][VECTORS];

		TILE(vectors) chain[i][v] = SPLAT(0);
		for (; j < end; j++) {
			vec x[VECTORS];

			UNROLLED
			for (size_t v = 0; v < vectors; v++)
				x[v] = load(values + j * width + v * LANES);
			TILE(vectors)
			chain[i][v] = FUSED(SPLAT(weights[i * BLOCK + j]), x[v], chain[i][v]);
		}
		TILE(vectors) ADD_CHAIN(sum[i][v], chain[i][v], sums + i * width + v * LANES);
	}
	TILE(vectors) JOIN_SUM(sum[i][v], sums + i * width + v * LANES);
}

#define WEIGH(name, rows, vectors)                                                          \
	ALONE name(const real *weights, struct part part, const real *values, size_t width, \
		   real *sums)                                                              \
	{                                                                                   \
		weigh_tile(rows, vectors, weights, part, values, width, sums);              \
	}
WEIGH(weigh_one_narrow, 1, 1)
WEIGH(weigh_one, 1, VECTORS)
WEIGH(weigh_narrow, ROWS, 1)
WEIGH(weigh_wide, ROWS, VECTORS)
#undef WEIGH

static void
weigh(size_t rows, const real *weights, struct part part, const real *values, size_t width,
      real *sums)
{
	size_t at = 0;

	for (; at + VECTORS * LANES <= width; at += VECTORS * LANES)
		if (rows == 1)
			weigh_one(weights, part, values + at, width, sums + at);
		else
			weigh_wide(weights, part, values + at, width, sums + at);
	for (; at < width; at += LANES)
		if (rows == 1)
			weigh_one_narrow(weights, part, values + at, width, sums + at);
		else
			weigh_narrow(weights, part, values + at, width, sums + at);
}

/* The same bytes, but keys that are not alive are left out: where their value is not finite, 0
 * times it would be nan. */
static void
weigh_alive(size_t rows, const real *weights, const bool *alive, struct part part,
	    const real *values, size_t width, real *sums)
{
	for (size_t at = 0; at < rows * width; at += LANES) {
		const size_t i = at / width * BLOCK, c = at % width;
		vec sum = SPLAT(0), chain = SPLAT(0);

		for (size_t j = part.from; j < part.to; j++) {
			if (alive[i + j])
				chain = FUSED(SPLAT(weights[i + j]), load(values + j * width + c),
					      chain);
			if ((j + 1) % CHAIN == 0 || j + 1 == part.to) {
				ADD_CHAIN(sum, chain, sums + at);
				chain = SPLAT(0);
			}
		}
		JOIN_SUM(sum, sums + at);
	}
}

/* ---- blocks ---- */

/* Columns of PANEL rows: to[c * PANEL + j] = row j, column c; zero beyond count. `more` rows
 * follow that will be wanted next. */
static void
transpose(real *to, const real *from, size_t stride, size_t dim, size_t count, size_t more)
{
	const size_t whole_rows = count / LANES * LANES, whole_columns = dim / SQUARE * SQUARE;

	for (size_t j = 0; j < whole_rows; j += LANES) {
		const size_t next = j + LANES,
			     last = next + LANES < count + more ? next + LANES : count + more;
		size_t ahead = next;

		for (size_t c = 0; c < whole_columns; c += SQUARE) {
			vec columns[SQUARE];

			transpose_squares(columns, from + j * stride + c, stride);
			UNROLLED
			for (size_t i = 0; i < SQUARE; i++)
				store(to + (c + i) * PANEL + j, columns[i]);
			if (ahead < last)
				look_at(from + ahead++ * stride, dim);
		}
	}
	if (whole_rows == PANEL && whole_columns == dim)
		return;
	for (size_t c = 0; c < dim; c++) {
		for (size_t j = c < whole_columns ? whole_rows : 0; j < count; j++)
			to[c * PANEL + j] = from[j * stride + c];
		fill(to + c * PANEL, count, PANEL, 0);
	}
}

#define NEAR ((size_t)8) /* rows that a row is asked for ahead of its copy */

/* Rows of `dim`, made `width` wide; `next` rows follow that will be wanted. */
static void
copy_rows(real *to, const real *from, size_t stride, size_t dim, size_t count, size_t next,
	  size_t width)
{
	const size_t full = dim / LANES * LANES;

	for (size_t j = 0; j < count; j++) {
		if (j + NEAR < count + next)
			look_at(from + (j + NEAR) * stride, dim);
		for (size_t c = 0; c < full; c += LANES)
			store(to + j * width + c, load(from + j * stride + c));
		if (full < width)
			store(to + j * width + full,
			      load_some(from + j * stride + full, dim - full, 0));
	}
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
