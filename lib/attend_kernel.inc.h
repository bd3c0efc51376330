/* attend_kernel.inc - one text for all kernels: a tile of query rows of one head against all
 * keys. A translation unit for an element and an instruction set defines
 *   ELEMENT        32 or 64: arithmetic in float or double
 *   VECTOR_BYTES   of a vector register
 *   REGISTERS      how many of these there are, 16 or 32
 *   FUSED(a, b, c) a * b + c of vectors
 *   SPLAT(x)       a vector of x
 *   MAX(a, b)      the larger ones, b where either is nan; and MAX_ACROSS(x), the largest of a vector without nan:
 *                  both optional
 *   SQUARES(p, n)  a vector made of the 16 bytes at p, p + n, p + 2n ...; in each 16 bytes of two vectors:
 *   LOW, HIGH(a, b)              the lower elements of both, interleaved; the upper ones
 *   LOW_PAIRS, HIGH_PAIRS(a, b)  the same of elements of 8 bytes, where these are 4
 *   LOOK_UP(t, i)  the elements of the table t of sixteen that the low bits of i tell: optional
 *   KERNEL         the name of the kernel
 * and includes this file. */
#include "attend_vector.inc.h"

/* Keys whose weighted values are summed before they join the total: chains stay short. */
#define LEAP (4 * BLOCK)

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

/* Of the `count` keys from n0 on those of the span. */
static struct part
part_of(struct span a, size_t n0, size_t count)
{
	const int64_t from = a.low - (int64_t)n0, to = a.high - (int64_t)n0;
	const struct part p = {from > 0 ? (size_t)from : 0, to > 0 ? (size_t)to : 0};

	return (struct part){p.from < count ? p.from : count, p.to < count ? p.to : count};
}

/* ---- a task ---- */

struct work {
	const struct pe_attend_task *task;
	const struct pe_attend *plan;
	const struct pe_attend_spec *spec;
	int64_t position; /* of the tile's first row */
	size_t kv;        /* head of keys and values */
	real *query, *logits, *more, *weights, *sums, *totals, *buckets;
	real *panels[2], *values[2]; /* of blocks in turn */
	real *max;                   /* of each row so far: whole_power of its largest logit */
	real *lanes;                 /* sum of the row's weights so far, by lane */
	bool *alive;
	real *rings[PE_ATTEND_RELATIVES];
	size_t met[PE_ATTEND_RELATIVES]; /* panels below it are in the ring, or were */
};

/* A block of keys. While the tile meets one, the next is loaded, a panel of keys after every few
 * groups of rows: keys and values of one head among several lie apart, where they are slow to come
 * and share few of a cache's sets. */
struct block {
	size_t n0, count;   /* keys n0 .. n0 + count - 1 */
	bool whole;         /* every row of the tile sees all of them */
	struct part part;   /* keys that the tile sees */
	real *panels;       /* the keys, transposed */
	const real *values; /* NULL: none are wanted */
	real *copy;         /* the values made contiguous; NULL: they are */
	bool finite;        /* the values */
	size_t loaded;      /* so many keys are loaded */
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

		if (r + ROWS < t->count)
			look_at(from + (r + ROWS) * stride, dim);
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
	    .kv = task->head * plan->spec.kv_heads / plan->spec.heads,
	    .query = (real *)(base + l->query),
	    .logits = (real *)(base + l->logits),
	    .more = (real *)(base + l->more),
	    .weights = (real *)(base + l->weights),
	    .sums = (real *)(base + l->sums),
	    .totals = (real *)(base + l->totals),
	    .panels = {(real *)(base + l->panels[0]), (real *)(base + l->panels[1])},
	    .values = {(real *)(base + l->values[0]), (real *)(base + l->values[1])},
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

/* A single row meets keys where they lie. */
static bool
is_single(const struct work *w)
{
	return w->task->count == 1;
}

/* Row n of this head's part of keys or values, `width` wide, and how far apart such rows lie within
 * a block. */
static const real *
part_at(const struct work *w, const void *rows, size_t n, size_t width)
{
	const struct pe_attend_spec *s = w->spec;
	const size_t n0 = n / BLOCK * BLOCK, left = s->keys - n0,
		     count = left < BLOCK ? left : BLOCK;

	if (!s->by_heads)
		return (const real *)rows + (n * s->kv_heads + w->kv) * width;
	return (const real *)rows + (n0 * s->kv_heads + count * w->kv + (n - n0)) * width;
}

static size_t
part_stride(const struct work *w, size_t width)
{
	return w->spec->by_heads ? width : w->spec->kv_heads * width;
}

static const real *
key_at(const struct work *w, size_t n)
{
	return part_at(w, w->spec->key, n, w->spec->dim);
}

static const real *
value_at(const struct work *w, size_t n)
{
	return part_at(w, w->spec->value, n, w->spec->value_dim);
}

/* Loads the panels of keys, and their values, that lie before the end-th key. */
static void
load_until(const struct work *w, struct block *b, size_t end)
{
	const struct pe_attend_spec *s = w->spec;
	const size_t stride = part_stride(w, s->dim), value_stride = part_stride(w, s->value_dim),
		     width = w->plan->layout.value_width;

	for (; b->loaded < b->count && (b->loaded + PANEL <= end || b->count <= end);
	     b->loaded += PANEL) {
		const size_t j = b->loaded, left = b->count - j,
			     count = left < PANEL ? left : PANEL;

		if (b->panels != NULL && j < b->part.to && j + PANEL > b->part.from &&
		    !(is_single(w) && count == PANEL))
			transpose(b->panels + j * s->dim, key_at(w, b->n0 + j), stride, s->dim,
				  count, left - count);
		if (b->copy != NULL)
			copy_rows(b->copy + j * width, value_at(w, b->n0 + j), value_stride,
				  s->value_dim, count, left - count, width);
	}
}

/* The block that begins with key n0, nothing of it loaded. */
static struct block
block_at(const struct work *w, size_t n0, bool with_keys, bool with_values)
{
	const struct pe_attend_spec *s = w->spec;
	const struct span first = span_of_rows(w, 0, 1),
			  last = span_of_rows(w, w->task->count - 1, 1);
	const size_t turn = n0 / BLOCK % 2;
	struct block b = {.n0 = n0, .count = s->keys - n0 < BLOCK ? s->keys - n0 : BLOCK};

	b.whole = last.low <= (int64_t)n0 && first.high >= (int64_t)(n0 + b.count);
	b.part = seen(w, &b, 0, w->task->count);
	b.finite = true;
	b.panels = with_keys ? w->panels[turn] : NULL;
	if (!with_values)
		return b;
	b.copy = pe_attend_copies_values(w->plan) ? w->values[turn] : NULL;
	b.values = b.copy != NULL ? b.copy : value_at(w, n0);
	return b;
}

/* scale * q.k of a group and the panels of the block that it sees any of, in two parts. */
static void
meet_keys(struct work *w, const struct block *b, size_t r)
{
	const size_t dim = w->spec->dim, rows = group(w, r);
	const struct part part = seen(w, b, r, rows);
	const size_t next = w->spec->by_heads ? b->count : w->spec->keys - b->n0;
	const real *q = w->query + r * dim;

	for (size_t j = part.from / PANEL * PANEL; j < part.to; j += PANEL)
		if (is_single(w) && j + PANEL <= b->count)
			dot_keys(q, dim, key_at(w, b->n0 + j), part_stride(w, dim),
				 next - j - PANEL, w->logits + j, w->more + j);
		else
			dot(rows, q, dim, b->panels + j * dim, w->logits + j, w->more + j);
}

/* scale * q.a of a group and a panel of other vectors. */
static void
meet_panel(struct work *w, size_t r, const real *panel, real *to, size_t stride)
{
	const size_t dim = w->spec->dim, rows = group(w, r);

	dot(rows, w->query + r * dim, dim, panel, w->logits, w->more);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < PANEL; j += LANES)
			store(to + i * stride + j,
			      load(w->logits + i * BLOCK + j) + load(w->more + i * BLOCK + j));
}

/* scale * q.a of the vectors that the tile's rows meet at the block's keys: the panels not yet
 * in the ring. Offsets only grow from block to block, so each panel is met once in a tile. */
static void
meet_relative(struct work *w, size_t which, const struct block *b)
{
	real *panel = w->panels[(b->n0 / BLOCK + 1) % 2]; /* the next block is not there yet */
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

		transpose(panel, vectors + v * stride, stride, dim, n, a->count - v - n);
		for (size_t r = 0; r < w->task->count; r += ROWS)
			meet_panel(w, r, panel, w->rings[which] + r * ring + v % ring, ring);
		w->met[which] = p + 1;
	}
}

/* How n keys from `offset` on meet vectors by offset: below before the first vector, then
 * `within` from vector `index` on, the rest above the last. */
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

static const real *
offsets_from(const struct pe_attend_offsets *o, size_t head, int64_t offset)
{
	return (const real *)o->values + head * o->count + (size_t)(offset - o->first);
}

static void
add_offsets(const struct pe_attend_offsets *o, size_t head, int64_t offset, real *to, size_t n)
{
	if (o->values != NULL)
		add(to, offsets_from(o, head, offset), n);
}

/* Adds row r's terms for the block's keys that it sees, and masks the others. */
static void
finish_logits(const struct work *w, size_t r, size_t n0, struct part part)
{
	const struct pe_attend_task *t = w->task;
	const int64_t m = w->position + (int64_t)r;
	real *row = w->logits + r % ROWS * BLOCK, *more = w->more + r % ROWS * BLOCK,
	     *to = more + part.from;
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
	fill(more, 0, part.from, 0);
	fill(more, part.to, BLOCK, 0);
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

/* The largest of a block's logits, -inf where there is none but nan. */
static real
largest_logit(const real *a, const real *b, const real *terms)
{
	vec top = SPLAT(-(real)INFINITY);

	for (size_t j = 0; j < BLOCK; j += LANES) {
		const vec more = terms != NULL ? load(b + j) + load(terms + j) : load(b + j);

		top = MAX(load(a + j) + more, top);
	}
	return MAX_ACROSS(top);
}

/* Logits a + b, or a + (b + terms), become weights relative to 2^max and a sum; false if a logit
 * is above it. */
INLINE bool
soften_block(const real *a, const real *b, const real *terms, real max, real *weights, vec *sum)
{
	vec top[MANY];

	*sum = SPLAT(0);
	EACH top[i] = SPLAT(0);
	for (size_t j = 0; j < BLOCK; j += MANY * LANES) {
		vec s[MANY], t[MANY], x[MANY], p[MANY];

		EACH s[i] = load(a + j + i * LANES);
		EACH t[i] = load(b + j + i * LANES);
		if (terms != NULL)
			EACH t[i] += load(terms + j + i * LANES);
		power(s, t, SPLAT(max), x, p);
		EACH store(weights + j + i * LANES, p[i]);
		EACH *sum += p[i];
		EACH top[i] = MAX(x[i], top[i]);
	}
	for (size_t i = 1; i < MANY; i++)
		top[0] = MAX(top[i], top[0]);
	return !(MAX_ACROSS(top[0]) > 0);
}

/* soften_block where max is_far. */
static __attribute__((noinline)) vec
soften_far(const real *a, const real *b, const real *terms, real max, real *weights)
{
	real sums[LANES] = {0};

	for (size_t j = 0; j < BLOCK; j++) {
		weights[j] = far_power(a[j] + (terms != NULL ? b[j] + terms[j] : b[j]), max);
		sums[j % LANES] += weights[j];
	}
	return load(sums);
}

/* Raises row r's largest logit if the block has a larger one. */
static void
look_higher(struct work *w, size_t r, const real *terms)
{
	const size_t row = r % ROWS * BLOCK;
	const real high = whole_power(largest_logit(w->logits + row, w->more + row, terms));

	if (high > w->max[r])
		raise(w, r, high);
}

/* A block of logits becomes weights relative to the row's largest so far. Most blocks have no
 * larger one, which shows as they do. */
static void
soften(struct work *w, size_t r, const real *terms)
{
	const size_t row = r % ROWS * BLOCK;
	const real *a = w->logits + row, *b = w->more + row, *max = &w->max[r];
	real *to = w->weights + row, *lanes = w->lanes + r * LANES;
	vec sum;

	if (*max == -(real)INFINITY ||
	    !(terms != NULL ? soften_block(a, b, terms, *max, to, &sum)
			    : soften_block(a, b, NULL, *max, to, &sum))) {
		look_higher(w, r, terms);
		soften_block(a, b, terms, *max == -(real)INFINITY ? 0 : *max, to, &sum);
	}
	if (is_far(*max))
		sum = soften_far(a, b, terms, *max, to);
	store(lanes, load(lanes) + sum);
}

static void
note_alive(struct work *w, size_t r)
{
	const size_t row = r % ROWS * BLOCK;

	for (size_t j = row; j < row + BLOCK; j++)
		w->alive[j] = !(w->logits[j] + w->more[j] == -(real)INFINITY);
}

/* The block's weights of row r, summed by the vector of relative_value that they meet. */
static void
sort_weights(struct work *w, size_t r, size_t n0, struct part part)
{
	const struct pe_attend_relative *a = &w->plan->relative_value;
	const real *weights = w->weights + r % ROWS * BLOCK + part.from;
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
		weigh(rows, w->weights, part, values, width, sums);
	else
		weigh_alive(rows, w->weights, w->alive, part, values, width, sums);
}

/* Row r's terms for a block of keys, where they are by offset alone and no key is masked; else
 * they are added to the logits. */
static const real *
terms_of(struct work *w, const struct block *b, size_t r)
{
	const struct pe_attend_rows *rows = w->task->rows;
	const struct part part = seen(w, b, r, 1);

	if (part.to - part.from == BLOCK && w->spec->relatives == 0 && w->task->bias == NULL &&
	    rows->apart.values == NULL && b->finite)
		return rows->offsets.values == NULL
			   ? NULL
			   : offsets_from(&rows->offsets, w->task->head,
					  (int64_t)b->n0 - w->position - (int64_t)r);
	finish_logits(w, r, b->n0, part);
	if (!b->finite)
		note_alive(w, r);
	return NULL;
}

static void
meet_group(struct work *w, const struct block *b, size_t r0)
{
	const size_t rows = group(w, r0);
	const struct part part = seen(w, b, r0, rows);

	if (part.from >= part.to)
		return;
	meet_keys(w, b, r0);
	for (size_t r = r0; r < r0 + rows; r++)
		soften(w, r, terms_of(w, b, r));
	for (size_t r = r0; w->spec->relative_value != NULL && r < r0 + rows; r++)
		sort_weights(w, r, b->n0, seen(w, b, r, 1));
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

/* What a block needs once it is loaded: the relative vectors near it, and to know its values. */
static void
open_block(struct work *w, struct block *b, bool careful)
{
	load_until(w, b, BLOCK);
	for (size_t i = 0; i < w->spec->relatives; i++)
		meet_relative(w, i, b);
	if (careful && b->values != NULL)
		b->finite = all_finite(b->values, b->count * w->plan->layout.value_width);
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
		const real *values = w->values[0];

		copy_rows(w->values[0], vectors + v * stride, stride, dim, part.to, 0, width);
		const bool finite = all_finite(values, part.to * width);

		for (size_t r = 0; r < w->task->count; r += ROWS) {
			for (size_t i = 0; i < group(w, r); i++)
				memcpy(w->weights + i * BLOCK,
				       w->buckets + (r + i) * w->plan->layout.bucket_width + v,
				       part.to * sizeof(real));
			for (size_t i = 0; !finite && i < ROWS * BLOCK; i++)
				w->alive[i] = w->weights[i] != 0;
			meet_values(w, r, part, values, finite);
		}
	}
}

/* Totals over the weights' sum. */
static void
finish_row(const struct work *w, size_t r, real *out, real *lse)
{
	const size_t dim = w->spec->value_dim;
	real *totals = w->totals + r * w->plan->layout.value_width;
	const double max = (double)w->max[r], ln2 = 0x1.62e42fefa39efp-1;
	const double sum = across(load(w->lanes + r * LANES));

	if (lse != NULL)
		*lse = (real)(max * ln2 + log(sum));
	if (out == NULL)
		return;
	const real divisor = sum == 0 && max < 0 ? 1 : (real)sum; /* no key: the sums are 0 */
	divide(totals, divisor, dim);
	memcpy(out, totals, dim * sizeof(real));
}

/* The tile's rows meet all blocks of the span. */
static void
meet_blocks(struct work *w, struct span span, bool with_values, bool careful)
{
	const size_t end = (size_t)span.high, rows = w->task->count;
	struct block b = block_at(w, (size_t)span.low / BLOCK * BLOCK, true, with_values), next = b;

	for (;; b = next) {
		const bool more = end - b.n0 > BLOCK;

		open_block(w, &b, careful);
		if (more)
			next = block_at(w, b.n0 + BLOCK, true, with_values);
		for (size_t r = 0; r < rows; r += ROWS) {
			meet_group(w, &b, r);
			if (more)
				load_until(w, &next, (r + ROWS) * BLOCK / rows);
		}
		if ((b.n0 + BLOCK) % LEAP == 0)
			gather(w);
		if (!more)
			return;
	}
}

/* The rows' weights, values and sums of both, block by block. `careful` about values that are
 * not finite; the bytes are the same where all are. */
static void
sum_up(struct work *w, bool with_values, bool careful)
{
	const struct pe_attend_layout *l = &w->plan->layout;
	const size_t count = w->task->count, tile = (count + ROWS - 1) / ROWS * ROWS;
	const struct span span = span_of_rows(w, 0, count);

	fill(w->max, 0, tile, -(real)INFINITY);
	memset(w->lanes, 0, tile * LANES * sizeof(real));
	memset(w->sums, 0, tile * l->value_width * sizeof(real));
	memset(w->totals, 0, tile * l->value_width * sizeof(real));
	memset(w->met, 0, sizeof w->met);
	if (w->spec->relative_value != NULL)
		memset(w->buckets, 0, tile * l->bucket_width * sizeof(real));
	if (span.low < span.high)
		meet_blocks(w, span, with_values, careful);
	gather(w); /* of its own, whether or not the tile's last block gathered */
	if (with_values && w->spec->relative_value != NULL) {
		meet_relative_value(w);
		gather(w);
	}
}

static void
output(const struct pe_attend_task *t, void *scratch, void *out, void *lse)
{
	struct work w = begin(t, scratch);
	const struct pe_attend_spec *s = w.spec;

	sum_up(&w, out != NULL, false);
	/* nan and inf are seen by what they do, which costs the others no look at every value */
	if (out != NULL && !all_finite(w.totals, t->count * t->plan->layout.value_width))
		sum_up(&w, true, true);
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
	double total = 0;

	for (size_t done = 0; done < n;) {
		const size_t end = n - done < BLOCK ? n : done + BLOCK;
		vec sum = SPLAT(0);

		for (; done < end; done += MANY * LANES) {
			const size_t left = end - done < MANY * LANES ? end - done : MANY * LANES;
			real some[MANY * LANES];
			vec a[MANY], b[MANY], x[MANY], p[MANY];

			fill(some, left, MANY * LANES, -(real)INFINITY);
			memcpy(some, row + done, left * sizeof(real));
			EACH a[i] = load(some + i * LANES);
			EACH b[i] = SPLAT(0);
			power(a, b, max, x, p);
			EACH store(some + i * LANES, p[i]);
			memcpy(row + done, some, left * sizeof(real));
			EACH sum += p[i];
		}
		total += across(sum);
	}
	return total;
}

static double
soften_far_row(real *row, size_t n, real max)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		row[i] = far_power(row[i], max);
		sum += (double)row[i];
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
	const double sum = is_far(top) ? soften_far_row(row + low, high - low, top)
				       : soften_row(row + low, high - low, SPLAT(none ? 0 : top));
	const real divisor = none && sum == 0 ? 1 : (real)sum;

	divide(row + low, divisor, high - low);
	fill(row, 0, low, 0);
	fill(row, high, keys, 0);
}

static void
add_up(real *to, const real *a, const real *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = a[i] + b[i];
}

static void
clear_logits(struct work *w, size_t r)
{
	fill(w->logits + r % ROWS * BLOCK, 0, BLOCK, 0);
	fill(w->more + r % ROWS * BLOCK, 0, BLOCK, 0);
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
		struct block b = block_at(&w, n0, kind != PE_ATTEND_BIAS, false);

		open_block(&w, &b, false);

		for (size_t r = 0; r < t->count; r++) {
			if (r % ROWS == 0 && kind != PE_ATTEND_BIAS)
				meet_keys(&w, &b, r);
			if (kind == PE_ATTEND_BIAS)
				clear_logits(&w, r);
			finish_logits(&w, r, n0, seen(&w, &b, r, 1));
			add_up(rows + r * s->keys + n0, w.logits + r % ROWS * BLOCK,
			       w.more + r % ROWS * BLOCK, b.count);
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
