/* attend_kernel.inc - one text for all kernels: a tile of query rows of one head against all keys. A translation unit for an
 * element and an instruction set defines
 *   ELEMENT        32 or 64: arithmetic in float or double
 *   VECTOR_BYTES   of a vector register
 *   VECTORS        vectors in a row of the register tile
 *   FUSED(a, b, c) a * b + c of vectors
 *   SPLAT(x)       a vector of x
 *   MAX(a, b)      the larger ones, b where either is nan; and MAX_ACROSS(x), the largest of a vector without nan:
 *                  both optional
 *   SQUARES(p, n)  a vector made of the 16 bytes at p, p + n, p + 2n ...; in each 16 bytes of two vectors:
 *   LOW, HIGH(a, b)              the lower elements of both, interleaved; the upper ones
 *   LOW_PAIRS, HIGH_PAIRS(a, b)  the same of elements of 8 bytes, where these are 4
 *   KERNEL         the name of the kernel
 * and includes this file. */
#include <math.h>
#include <string.h>

#define ROWS PE_ATTEND_ROWS
#define BLOCK PE_ATTEND_BLOCK
/* Errors grow slower than sums where these are made of short chains: products of a dot product; weighted values, keys between
 * which chains end (PE_ATTEND_BLOCK is a multiple), and keys whose chains are summed before they join the total. */
#define DOT_CHAIN ((size_t)16)
#define CHAIN ((size_t)32)
#define LEAP (4 * BLOCK)

#if ELEMENT == 32
typedef float real;
typedef int32_t whole;
#define MANTISSA 23 /* bits behind the point */
#define BIAS 127    /* of the exponent */
#define LOG2E 0x1.715476p+0f
#define LIMIT (-126.0f)
#define POWERS                                                                            \
	0x1.41fbbcp-13f, 0x1.5f3e52p-10f, 0x1.3b2d4cp-7f, 0x1.c6aee8p-5f, 0x1.ebfbdcp-3f, \
	    0x1.62e43p-1f, 1.0f
#else
typedef double real;
typedef int64_t whole;
#define MANTISSA 52
#define BIAS 1023
#define LOG2E 0x1.71547652b82fep+0
#define LIMIT (-1022.0)
#define POWERS                                                                   \
	0x1.e79bb6fc55606p-32, 0x1.e61b4f9a207f5p-28, 0x1.b5267cdfd91eep-24,     \
	    0x1.62bfc79d4b59fp-20, 0x1.ffcbfba980f96p-17, 0x1.4309130ed8cd5p-13, \
	    0x1.5d87fe78cd6cfp-10, 0x1.3b2ab6fba011ap-7, 0x1.c6b08d7049fe8p-5,   \
	    0x1.ebfbdff82c5a4p-3, 0x1.62e42fefa39efp-1, 1.0
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

/* Keys that a query at position m sees: n in [low, high). */
struct span {
	int64_t low, high;
};

static struct span
span_of(const struct pe_attend_spec *s, int64_t m)
{
	struct span a = {0, (int64_t)s->keys};

	if (s->window > 0) {
		a.low = m - s->window + 1 > 0 ? m - s->window + 1 : 0;
		a.high = m + s->window < a.high ? m + s->window : a.high;
	}
	if (s->causal && m + 1 < a.high)
		a.high = m + 1;
	if (a.high < 0)
		a.high = 0;
	if (a.low > a.high)
		a.low = a.high;
	return a;
}

/* Of the `count` keys from n0 on those of the span, as indices [from, to). */
struct part {
	size_t from, to;
};

static struct part
part_of(struct span a, size_t n0, size_t count)
{
	const int64_t from = a.low - (int64_t)n0, to = a.high - (int64_t)n0;
	const struct part p = {from > 0 ? (size_t)from : 0, to > 0 ? (size_t)to : 0};

	return (struct part){p.from < count ? p.from : count, p.to < count ? p.to : count};
}

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

/* The largest logit so far, in powers of two, rounded up: sums relative to it are rescaled without rounding. */
INLINE real
whole_power(real logit)
{
	return ELEMENT == 32 ? (real)ceilf((float)logit * (float)LOG2E)
			     : (real)ceil((double)logit * (double)LOG2E);
}

/* e^s / 2^max for max = whole_power of no smaller logit; 0 where that is below 2^LIMIT, nan for nan. With k the nearest whole
 * number to s log2(e) - max, it is 2^k 2^r, r = s log2(e) - (max + k), rounded once; k comes out of the low bits of
 * k + 1.5 * 2^MANTISSA, where BIAS is already added to it. The polynomial is the minimax one of 2^r, |r| <= 1/2, 1 at 0, of
 * relative error 2e-9 (degree 6) and 4e-18 (degree 11); with rounding the result is within 2u. */
INLINE vec
power(vec s, vec max)
{
	static const real powers[] = {POWERS};
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

static real
largest(const real *from, size_t n) /* -inf where there is none but nan */
{
	real x = -(real)INFINITY;

	for (size_t i = 0; i < n; i++)
		x = from[i] > x ? from[i] : x;
	return x;
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

/* sums += weights x values of the keys [part.from, part.to) of a block, one register tile of columns. A chain ends at
 * fixed keys, not where the part does: the keys it leaves out have weight 0. */
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

	for (size_t j = 0; j < whole_rows; j += LANES) {
		const real *rows = from + j * stride;

		for (size_t c = 0; c < whole_columns; c += SQUARE) {
			if (c % (64 / sizeof(real)) ==
			    0) /* a cache line of each of the next rows */
				for (size_t i = 0; i < LANES; i++)
					__builtin_prefetch(rows + (LANES + i) * stride + c);
			transpose_squares(to + c * PANEL + j, rows + c, stride);
		}
	}
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

/* ---- a task ---- */

struct work {
	const struct pe_attend_task *task;
	const struct pe_attend *plan;
	const struct pe_attend_spec *spec;
	int64_t position; /* of the tile's first row */
	real *query, *logits, *sums, *totals, *panels, *values, *buckets;
	real *max;   /* of each row so far: whole_power of its largest logit */
	real *lanes; /* sum of the row's weights so far, by lane */
	bool *alive;
	real *rings[PE_ATTEND_RELATIVES];
	size_t met[PE_ATTEND_RELATIVES]; /* panels below it are in the ring, or were */
};

/* A block of keys. */
struct block {
	size_t n0, count;   /* keys n0 .. n0 + count - 1 */
	bool whole;         /* every row of the tile sees all of them */
	const real *values; /* NULL: none are wanted */
	bool finite;        /* the values */
};

/* Queries times scale, ROWS rows interleaved; zeros fill the last group up. */
static void
load_queries(struct work *w)
{
	const struct pe_attend_task *t = w->task;
	const size_t dim = w->spec->dim, stride = w->spec->heads * dim;
	const real *from = (const real *)t->rows->query + t->row * stride + t->head * dim;
	const real scale = (real)w->spec->scale;

	for (size_t r = 0; r < (t->count + ROWS - 1) / ROWS * ROWS; r++) {
		real *to = w->query + r / ROWS * ROWS * dim + r % ROWS;

		for (size_t c = 0; c < dim; c++)
			to[c * ROWS] = r < t->count ? from[r * stride + c] * scale : 0;
	}
}

static struct work
begin(const struct pe_attend_task *task, void *scratch)
{
	const struct pe_attend *plan = task->plan;
	const struct pe_attend_layout *l = &plan->layout;
	char *base = scratch;
	struct work w = {
	    .task = task,
	    .plan = plan,
	    .spec = &plan->spec,
	    .position = task->rows->position + (int64_t)task->row,
	    .query = (real *)(base + l->query),
	    .logits = (real *)(base + l->logits),
	    .sums = (real *)(base + l->sums),
	    .totals = (real *)(base + l->totals),
	    .panels = (real *)(base + l->panels),
	    .values = (real *)(base + l->values),
	    .buckets = (real *)(base + l->buckets),
	    .max = (real *)(base + l->states),
	    .alive = (bool *)(base + l->alive),
	};

	w.lanes = w.max + plan->tile;
	for (size_t i = 0; i < w.spec->relatives; i++)
		w.rings[i] = (real *)(base + l->rings[i]);
	if (task->rows->query != NULL)
		load_queries(&w);
	return w;
}

/* Keys that some row of `count` rows from row r on sees. */
static struct span
span_of_rows(const struct work *w, size_t r, size_t count)
{
	const struct span first = span_of(w->spec, w->position + (int64_t)r),
			  last = span_of(w->spec, w->position + (int64_t)(r + count - 1));

	return (struct span){first.low, last.high};
}

static size_t
group(const struct work *w, size_t r) /* rows of the group that begins at row r */
{
	return w->task->count - r < ROWS ? w->task->count - r : ROWS;
}

/* The block's keys that some of `count` rows from row r on see. */
static struct part
seen(const struct work *w, const struct block *b, size_t r, size_t count)
{
	if (b->whole)
		return (struct part){0, b->count};
	return part_of(span_of_rows(w, r, count), b->n0, b->count);
}

/* The block's keys that the tile sees, transposed in panels. */
static void
load_keys(struct work *w, const struct block *b)
{
	const struct pe_attend_spec *s = w->spec;
	const size_t stride = s->kv_heads * s->dim, kv = w->task->head * s->kv_heads / s->heads;
	const real *key = (const real *)s->key + b->n0 * stride + kv * s->dim;
	const struct part part = seen(w, b, 0, w->task->count);

	for (size_t j = part.from / PANEL * PANEL; j < part.to; j += PANEL) {
		const size_t count = b->count - j < PANEL ? b->count - j : PANEL;

		transpose(w->panels + j * s->dim, key + j * stride, stride, s->dim, count);
	}
}

/* scale * q.k of a group and the panels of the block that it sees any of. */
static void
meet_keys(struct work *w, size_t r, struct part part)
{
	const size_t dim = w->spec->dim, rows = group(w, r);

	for (size_t j = part.from / PANEL * PANEL; j < part.to; j += PANEL)
		dot(rows, w->query + r * dim, dim, w->panels + j * dim, w->logits + j, BLOCK);
}

/* scale * q.a of the vectors that the tile's rows meet at the block's keys: the panels not yet in the ring. Offsets only grow
 * from block to block, so each panel is met once in a tile. */
static void
meet_relative(struct work *w, size_t which, const struct block *b)
{
	const struct pe_attend_relative *a = &w->plan->relative[which];
	const size_t dim = w->spec->dim, ring = w->plan->layout.ring_width[which];
	const size_t stride = a->per_head ? w->spec->heads * dim : dim;
	const real *vectors = (const real *)a->vectors + (a->per_head ? w->task->head * dim : 0);
	const int64_t last = (int64_t)a->count - 1,
		      nearest = (int64_t)b->n0 - w->position - a->first;
	int64_t low = nearest - (int64_t)(w->task->count - 1),
		high = nearest + (int64_t)b->count - 1;

	if (!a->clip && (high < 0 || low > last))
		return;
	low = low < 0 ? 0 : low > last ? last : low;
	high = high < 0 ? 0 : high > last ? last : high;
	if (w->met[which] < (size_t)low / PANEL)
		w->met[which] = (size_t)low / PANEL;
	for (size_t p = w->met[which]; p <= (size_t)high / PANEL; p++) {
		const size_t v = p * PANEL, n = a->count - v < PANEL ? a->count - v : PANEL;

		transpose(w->panels, vectors + v * stride, stride, dim, n);
		for (size_t r = 0; r < w->task->count; r += ROWS)
			dot(group(w, r), w->query + r * dim, dim, w->panels,
			    w->rings[which] + r * ring + v % ring, ring);
		w->met[which] = p + 1;
	}
}

/* How n keys from `offset` on meet vectors by offset: below before the first vector, then `within` from vector `index` on, the
 * rest above the last. */
struct meeting {
	size_t below, within, index;
};

static struct meeting
meeting(const struct pe_attend_relative *a, int64_t offset, size_t n)
{
	const int64_t index = offset - a->first;
	struct meeting m = {0};

	if (index < 0)
		m.below = (uint64_t)-index < n ? (size_t)-index : n;
	m.index = index < 0 ? 0 : (size_t)index;
	if (m.index < a->count)
		m.within = n - m.below < a->count - m.index ? n - m.below : a->count - m.index;
	return m;
}

static void
add_relative(const struct work *w, size_t which, size_t r, int64_t offset, real *to, size_t n)
{
	const struct pe_attend_relative *a = &w->plan->relative[which];
	const size_t ring = w->plan->layout.ring_width[which];
	const real *from = w->rings[which] + r * ring;
	const struct meeting m = meeting(a, offset, n);

	if (a->clip) {
		if (m.below > 0)
			add_same(to, from[0], m.below);
		if (m.below + m.within < n)
			add_same(to + m.below + m.within, from[(a->count - 1) % ring],
				 n - m.below - m.within);
	}
	for (size_t done = 0, step; done < m.within; done += step) {
		const size_t at = (m.index + done) % ring;

		step = m.within - done < ring - at ? m.within - done : ring - at;
		add(to + m.below + done, from + at, step);
	}
}

static void
add_offsets(const struct pe_attend_offsets *o, size_t head, int64_t offset, real *to, size_t n)
{
	if (o->values != NULL)
		add(to, (const real *)o->values + head * o->count + (size_t)(offset - o->first), n);
}

/* Adds row r's terms for the block's keys that it sees, and masks the others. */
static void
finish_logits(const struct work *w, size_t r, size_t n0, struct part part)
{
	const struct pe_attend_task *t = w->task;
	const int64_t m = w->position + (int64_t)r;
	real *row = w->logits + r % ROWS * BLOCK, *to = row + part.from;
	const size_t key = n0 + part.from, n = part.to - part.from;
	const int64_t offset = (int64_t)key - m;
	const bool apart = t->rows->apart.values != NULL;
	const size_t alone = !apart ? 0 : m == 0 ? n : key == 0 && n > 0 ? 1 : 0;

	if (n > 0)
		add_offsets(&t->rows->apart, t->head, offset, to, alone);
	add_offsets(&t->rows->offsets, t->head, offset + (int64_t)alone, to + alone, n - alone);
	for (size_t i = 0; i < w->spec->relatives; i++)
		add_relative(w, i, r, offset, to, n);
	if (t->bias != NULL)
		add(to, (const real *)t->bias + (t->row + r) * w->spec->keys + key, n);
	fill(row, 0, part.from, -(real)INFINITY);
	fill(row, part.to, BLOCK, -(real)INFINITY);
}

/* A larger logit than row r has met: all it has summed so far shrinks by a power of two. */
static void
raise(struct work *w, size_t r, real max)
{
	const struct pe_attend_layout *l = &w->plan->layout;
	const real old = w->max[r] - max, factor = old < LIMIT ? 0 : (real)ldexp(1, (int)old);

	w->max[r] = max;
	multiply(w->lanes + r * LANES, factor, LANES);
	multiply(w->sums + r * l->value_width, factor, l->value_width);
	multiply(w->totals + r * l->value_width, factor, l->value_width);
	multiply(w->buckets + r * l->bucket_width, factor, l->bucket_width);
}

/* Logits become weights relative to the row's largest so far. */
static void
soften(struct work *w, size_t r)
{
	real *row = w->logits + r % ROWS * BLOCK, *lanes = w->lanes + r * LANES;
	vec top = load(row);

	for (size_t j = LANES; j < BLOCK; j += LANES)
		top = MAX(load(row + j), top);
	const real high = whole_power(MAX_ACROSS(MAX(top, SPLAT(-(real)INFINITY))));
	if (high > w->max[r])
		raise(w, r, high);
	const vec max = SPLAT(w->max[r] == -(real)INFINITY ? 0 : w->max[r]);
	vec sum = SPLAT(0);
	for (size_t j = 0; j < BLOCK; j += LANES) {
		const vec x = power(load(row + j), max);

		store(row + j, x);
		sum += x;
	}
	store(lanes, load(lanes) + sum);
}

static void
note_alive(struct work *w, size_t r)
{
	const size_t row = r % ROWS * BLOCK;

	for (size_t j = row; j < row + BLOCK; j++)
		w->alive[j] = !(w->logits[j] == -(real)INFINITY);
}

/* The block's weights of row r, summed by the vector of relative_value that they meet. */
static void
sort_weights(struct work *w, size_t r, size_t n0, struct part part)
{
	const struct pe_attend_relative *a = &w->plan->relative_value;
	const real *weights = w->logits + r % ROWS * BLOCK + part.from;
	real *buckets = w->buckets + r * w->plan->layout.bucket_width;
	const size_t n = part.to - part.from;
	const int64_t offset = (int64_t)(n0 + part.from) - w->position - (int64_t)r;
	const struct meeting m = meeting(a, offset, n);

	add(buckets + m.index, weights + m.below, m.within);
	if (a->clip) {
		buckets[0] += sum(weights, m.below);
		buckets[a->count - 1] += sum(weights + m.below + m.within, n - m.below - m.within);
	}
}

/* The group's weights meet values. */
static void
meet_values(struct work *w, size_t r, struct part part, const real *values, bool finite)
{
	const size_t rows = group(w, r), width = w->plan->layout.value_width;
	real *sums = w->sums + r * width;

	if (finite)
		weigh(rows, w->logits, part, values, width, sums);
	else
		weigh_alive(rows, w->logits, w->alive, part, values, width, sums);
}

static void
meet_group(struct work *w, const struct block *b, size_t r0)
{
	const size_t rows = group(w, r0);
	const struct part part = seen(w, b, r0, rows);

	if (part.from >= part.to)
		return;
	meet_keys(w, r0, part);
	for (size_t r = r0; r < r0 + rows; r++) {
		const struct part own = seen(w, b, r, 1);

		finish_logits(w, r, b->n0, own);
		if (!b->finite)
			note_alive(w, r);
		soften(w, r);
		if (w->spec->relative_value != NULL)
			sort_weights(w, r, b->n0, own);
	}
	if (b->values != NULL)
		meet_values(w, r0, part, b->values, b->finite);
}

/* Sums join the totals. */
static void
gather(struct work *w)
{
	const size_t n = w->task->count * w->plan->layout.value_width;

	add(w->totals, w->sums, n);
	fill(w->sums, 0, n, 0);
}

/* The block that begins with key n0, its keys and values and the relative vectors near it loaded. */
static struct block
load_block(struct work *w, size_t n0, bool with_keys, bool with_values)
{
	const struct pe_attend_spec *s = w->spec;
	const size_t stride = s->kv_heads * s->value_dim, width = w->plan->layout.value_width;
	const struct span first = span_of_rows(w, 0, 1),
			  last = span_of_rows(w, w->task->count - 1, 1);
	struct block b = {.n0 = n0, .count = s->keys - n0 < BLOCK ? s->keys - n0 : BLOCK};

	b.whole = last.low <= (int64_t)n0 && first.high >= (int64_t)(n0 + b.count);
	b.finite = true;
	for (size_t i = 0; i < s->relatives; i++)
		meet_relative(w, i, &b);
	if (with_keys)
		load_keys(w, &b);
	if (with_values) {
		b.values = (const real *)s->value + n0 * stride +
			   w->task->head * s->kv_heads / s->heads * s->value_dim;
		b.values = contiguous(b.values, stride, s->value_dim, b.count, w->values, width);
		b.finite = all_finite(b.values, b.count * width);
	}
	return b;
}

/* The sorted weights meet their vectors, a block of them at a time. */
static void
meet_relative_value(struct work *w)
{
	const struct pe_attend_relative *a = &w->plan->relative_value;
	const size_t dim = w->spec->value_dim, width = w->plan->layout.value_width;
	const size_t stride = a->per_head ? w->spec->heads * dim : dim;
	const real *vectors = (const real *)a->vectors + (a->per_head ? w->task->head * dim : 0);

	for (size_t v = 0; v < a->count; v += BLOCK) {
		const struct part part = {0, a->count - v < BLOCK ? a->count - v : BLOCK};
		const real *values =
		    contiguous(vectors + v * stride, stride, dim, part.to, w->values, width);
		const bool finite = all_finite(values, part.to * width);

		for (size_t r = 0; r < w->task->count; r += ROWS) {
			for (size_t i = 0; i < group(w, r); i++)
				memcpy(w->logits + i * BLOCK,
				       w->buckets + (r + i) * w->plan->layout.bucket_width + v,
				       part.to * sizeof(real));
			for (size_t i = 0; !finite && i < ROWS * BLOCK; i++)
				w->alive[i] = w->logits[i] != 0;
			meet_values(w, r, part, values, finite);
		}
	}
}

/* Sums over the weights' sum. Adding 0 turns -0 into 0: whether a sum underflowed to -0 before or after a masked block
 * added 0 to it depends on the tile. */
static void
finish_row(const struct work *w, size_t r, real *out, real *lse)
{
	const size_t dim = w->spec->value_dim, width = w->plan->layout.value_width;
	real *totals = w->totals + r * width;
	const double max = (double)w->max[r], ln2 = 0x1.62e42fefa39efp-1;
	const double sum = across(load(w->lanes + r * LANES));

	if (lse != NULL)
		*lse = (real)(max * ln2 + log(sum));
	if (out == NULL)
		return;
	const real divisor = sum == 0 && max < 0 ? 1 : (real)sum; /* no key: the sums are 0 */
	for (size_t c = 0; c < width; c += LANES)
		store(totals + c, load(totals + c) / SPLAT(divisor) + SPLAT(0));
	memcpy(out, totals, dim * sizeof(real));
}

static void
output(const struct pe_attend_task *t, void *scratch, void *out, void *lse)
{
	struct work w = begin(t, scratch);
	const struct pe_attend_spec *s = w.spec;
	const struct pe_attend_layout *l = &t->plan->layout;
	const size_t tile = (t->count + ROWS - 1) / ROWS * ROWS;
	const struct span span = span_of_rows(&w, 0, t->count);

	fill(w.max, 0, tile, -(real)INFINITY);
	memset(w.lanes, 0, tile * LANES * sizeof(real));
	memset(w.sums, 0, tile * l->value_width * sizeof(real));
	memset(w.totals, 0, tile * l->value_width * sizeof(real));
	if (s->relative_value != NULL)
		memset(w.buckets, 0, tile * l->bucket_width * sizeof(real));
	for (size_t n0 = (size_t)span.low / BLOCK * BLOCK; (int64_t)n0 < span.high; n0 += BLOCK) {
		const struct block b = load_block(&w, n0, true, out != NULL);

		for (size_t r = 0; r < t->count; r += ROWS)
			meet_group(&w, &b, r);
		if ((n0 + BLOCK) % LEAP == 0)
			gather(&w);
	}
	if (out != NULL && s->relative_value != NULL)
		meet_relative_value(&w);
	gather(&w);
	for (size_t r = 0; r < t->count; r++) {
		const size_t at = (t->row + r) * s->heads + t->head;

		finish_row(&w, r, out != NULL ? (real *)out + at * s->value_dim : NULL,
			   lse != NULL ? (real *)lse + at : NULL);
	}
}

/* n logits become weights relative to max; returns their sum. */
static double
soften_row(real *row, size_t n, vec max)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += LANES) {
		const vec x = power(load_some(row + i, n - i, -(real)INFINITY), max);

		memcpy(row + i, &x, (n - i < LANES ? n - i : LANES) * sizeof(real));
		sum += across(x);
	}
	return sum;
}

/* A row of logits becomes its weights. */
static void
softmax(real *row, struct span span, size_t keys)
{
	const size_t low = (size_t)span.low, high = (size_t)span.high;
	const real top = whole_power(largest(row + low, high - low));
	const bool none = top == -(real)INFINITY;
	const double sum = soften_row(row + low, high - low, SPLAT(none ? 0 : top));
	const real divisor = none && sum == 0 ? 1 : (real)sum;

	for (size_t n = low; n < high; n++)
		row[n] /= divisor;
	fill(row, 0, low, 0);
	fill(row, high, keys, 0);
}

static void
matrix(const struct pe_attend_task *t, enum pe_attend_matrix kind, void *scratch, void *out)
{
	struct work w = begin(t, scratch);
	const struct pe_attend_spec *s = w.spec;
	const struct span span = span_of_rows(&w, 0, t->count);
	real *rows = (real *)out + t->row * s->keys;

	for (size_t r = 0; r < t->count; r++)
		fill(rows + r * s->keys, 0, s->keys, -(real)INFINITY);
	for (size_t n0 = (size_t)span.low / BLOCK * BLOCK; (int64_t)n0 < span.high; n0 += BLOCK) {
		const struct block b = load_block(&w, n0, kind != PE_ATTEND_BIAS, false);

		for (size_t r = 0; r < t->count; r++) {
			if (r % ROWS == 0 && kind != PE_ATTEND_BIAS)
				meet_keys(&w, r, seen(&w, &b, r, group(&w, r)));
			if (kind == PE_ATTEND_BIAS)
				fill(w.logits + r % ROWS * BLOCK, 0, BLOCK, 0);
			finish_logits(&w, r, n0, seen(&w, &b, r, 1));
			memcpy(rows + r * s->keys + n0, w.logits + r % ROWS * BLOCK,
			       b.count * sizeof(real));
		}
	}
	for (size_t r = 0; kind == PE_ATTEND_WEIGHTS && r < t->count; r++)
		softmax(rows + r * s->keys, span_of_rows(&w, r, 1), s->keys);
}

const struct pe_attend_kernel KERNEL = {
    .lanes = LANES,
    .panel = PANEL,
    .output = output,
    .matrix = matrix,
};
