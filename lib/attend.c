/* attend - plans, tiles of query rows, threads. The arithmetic is in attend_kernel.inc.h. */
#include "attend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attend_kernel.h"
#include "cpu.h"
#include "num.h"

/* Of a column of a tile: 480 rows of f32, 240 of f64. Larger ones share the packing of keys among
 * more rows; this leaves room for keys and values in a second-level cache of 1 MiB at d = 64, and
 * is met in turn, six rows at a time, where the cache is smaller. Twice as many where there are
 * MANY keys and values of several heads, which come from further away. */
#define TILE_BYTES ((size_t)1920)
#define MANY ((size_t)1024)
/* A tile is made smaller where its widest part would take more. */
#define PART_BYTES ((size_t)1 << 20)
/* Rows of a tile at the end of a call, where threads wait for each other. */
#define LEAST (4 * PE_ATTEND_ROWS)
#define LINE ((size_t)64) /* of cache */
/* Multiplications that are worth a thread: 0.1 ms, a few times what it costs to start one. */
#define THREAD_WORK 4e6

/* ---- plan ---- */

const struct pe_attend_kernel *
pe_attend_kernel_usable(enum pe_elem elem, size_t i)
{
	const bool f32 = elem == PE_F32;
	const struct pe_attend_kernel *usable[3] = {NULL};
	size_t n = 0;

#if defined(__x86_64__)
	if (pe_cpu_has_v4())
		usable[n++] = f32 ? &pe_attend_kernel_f32_v4 : &pe_attend_kernel_f64_v4;
	if (pe_cpu_has_v3())
		usable[n++] = f32 ? &pe_attend_kernel_f32_v3 : &pe_attend_kernel_f64_v3;
#endif
	usable[n] = f32 ? &pe_attend_kernel_f32 : &pe_attend_kernel_f64;
	return i <= n ? usable[i] : NULL;
}

static size_t
rounded_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Sets aside rows x width x size bytes and says where they begin; false where that cannot be
 * addressed. */
static bool
place(struct pe_attend_layout *l, size_t *where, size_t rows, size_t width, size_t size)
{
	size_t bytes, aligned, total;

	if (!pe_num_size(rows, width, size, &bytes) || bytes > PTRDIFF_MAX - LINE)
		return false;
	aligned = rounded_up(bytes, LINE);
	if (aligned > PTRDIFF_MAX - l->bytes)
		return false;
	total = l->bytes + aligned;
	*where = l->bytes;
	l->bytes = total;
	return true;
}

/* Panels of a relative table that a block of keys can meet in a tile, or all of them if these
 * are fewer. */
static size_t
ring_panels(const struct pe_attend_relative *a, size_t tile, size_t panel)
{
	const size_t near = (PE_ATTEND_BLOCK + tile - 2) / panel + 2;
	const size_t all = a->count / panel + (a->count % panel != 0);

	return near < all ? near : all;
}

/* Elements that a row of the tile takes in the widest of its parts. */
static size_t
widest(const struct pe_attend *p)
{
	size_t width = larger(p->spec.dim, larger(p->layout.value_width, p->layout.bucket_width));

	for (size_t i = 0; i < p->spec.relatives; i++)
		width = larger(width, ring_panels(&p->spec.relative[i], p->tile, p->kernel->panel) *
					  p->kernel->panel);
	return width;
}

static bool
lay_out(struct pe_attend *p)
{
	const struct pe_attend_spec *s = &p->spec;
	const size_t size = pe_elem_size(s->elem), lanes = p->kernel->lanes,
		     panel = p->kernel->panel;
	struct pe_attend_layout l = {
	    .value_width = rounded_up(s->value_dim, lanes),
	    .bucket_width = s->relative_value != NULL ? s->relative_value->count : 0,
	};
	bool good, copies;

	p->layout = l;
	copies = pe_attend_copies_values(p);
	p->tile = (s->kv_heads > 1 && s->keys >= MANY ? 2 : 1) * (TILE_BYTES / size);
	while (p->tile > PE_ATTEND_ROWS && widest(p) > PART_BYTES / size / p->tile)
		p->tile -= PE_ATTEND_ROWS;
	good = place(&l, &l.query, p->tile, s->dim, size) &&
	       place(&l, &l.logits, PE_ATTEND_ROWS, PE_ATTEND_BLOCK, size) &&
	       place(&l, &l.more, PE_ATTEND_ROWS, PE_ATTEND_BLOCK, size) &&
	       place(&l, &l.weights, PE_ATTEND_ROWS, PE_ATTEND_BLOCK, size) &&
	       place(&l, &l.sums, p->tile, l.value_width, size) &&
	       place(&l, &l.totals, p->tile, l.value_width, size) &&
	       place(&l, &l.states, p->tile, lanes + 1, size) &&
	       place(&l, &l.panels[0], s->dim, PE_ATTEND_BLOCK, size) &&
	       place(&l, &l.panels[1], s->dim, PE_ATTEND_BLOCK, size) &&
	       place(&l, &l.values[0], copies || l.bucket_width > 0 ? PE_ATTEND_BLOCK : 0,
		     l.value_width, size) &&
	       place(&l, &l.values[1], copies ? PE_ATTEND_BLOCK : 0, l.value_width, size) &&
	       place(&l, &l.alive, PE_ATTEND_ROWS, PE_ATTEND_BLOCK, sizeof(bool)) &&
	       place(&l, &l.buckets, p->tile, l.bucket_width, size);
	for (size_t i = 0; good && i < s->relatives; i++) {
		l.ring_width[i] = ring_panels(&s->relative[i], p->tile, panel) * panel;
		good = place(&l, &l.rings[i], p->tile, l.ring_width[i], size);
	}
	p->layout = l;
	return good;
}

/* The plan's own copy of the spec; no memory of it is the caller's but the arrays. */
static void
copy_spec(struct pe_attend *p, const struct pe_attend_spec *spec)
{
	struct pe_attend_spec *s = &p->spec;
	long cores;

	*s = *spec;
	for (size_t i = 0; i < s->relatives; i++)
		p->relative[i] = spec->relative[i];
	s->relative = p->relative;
	if (s->relative_value != NULL) {
		p->relative_value = *s->relative_value;
		s->relative_value = &p->relative_value;
	}
	if (s->window > 2 * PE_POSITION_MAX) /* so that positions and window add up within int64 */
		s->window = 2 * PE_POSITION_MAX;
	if (s->threads == 0) {
		cores = sysconf(_SC_NPROCESSORS_ONLN);
		s->threads = cores > 0 ? (size_t)cores : 1;
	}
}

static int
check_relative(const struct pe_attend_relative *a, struct pe_error *e)
{
	if (a->vectors == NULL || a->count == 0 || a->count > PE_COUNT_MAX ||
	    a->first > PE_POSITION_MAX || a->first < -PE_POSITION_MAX)
		return pe_fail(e, PE_FAULT_ARGUMENT, "attention: no vectors by offset");
	return 0;
}

static int
check(const struct pe_attend_spec *s, struct pe_error *e)
{
	if (s->elem != PE_F32 && s->elem != PE_F64)
		return pe_fail(e, PE_FAULT_ARGUMENT, "attention: computes in f32 or f64: '%s'",
			       pe_elem_name(s->elem));
	if (s->heads == 0 || s->kv_heads == 0 || s->kv_heads > s->heads || s->dim == 0 ||
	    (s->value != NULL && s->value_dim == 0))
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "attention: no such heads: %zu of %zu columns, %zu of keys",
			       s->heads, s->dim, s->kv_heads);
	if (s->dim > PE_COUNT_MAX || s->value_dim > PE_COUNT_MAX || s->keys > PE_COUNT_MAX ||
	    s->window < 0 || s->relatives > PE_ATTEND_RELATIVES)
		return pe_fail(e, PE_FAULT_ARGUMENT, "attention: out of range");
	for (size_t i = 0; i < s->relatives; i++)
		if (check_relative(&s->relative[i], e))
			return -1;
	return s->relative_value != NULL ? check_relative(s->relative_value, e) : 0;
}

static int
set_up(struct pe_attend *p, const struct pe_attend_spec *spec, struct pe_error *e)
{
	if (check(spec, e))
		return -1;
	copy_spec(p, spec);
	return pe_attend_use(p, pe_attend_kernel_usable(spec->elem, 0), e);
}

int
pe_attend_use(struct pe_attend *p, const struct pe_attend_kernel *kernel, struct pe_error *e)
{
	p->kernel = kernel;
	return lay_out(p) ? 0 : pe_fail_memory(e);
}

int
pe_attend_by_heads(enum pe_elem elem, void *data, size_t rows, size_t heads, size_t width,
		   struct pe_error *e)
{
	char *block, *to = data;
	size_t part, row, size;

	if (heads < 2 || rows == 0)
		return 0;
	if (!pe_num_size(width, pe_elem_size(elem), 1, &part) ||
	    !pe_num_size(part, heads, 1, &row) || !pe_num_size(row, PE_ATTEND_BLOCK, 1, &size) ||
	    (block = malloc(size)) == NULL)
		return pe_fail_memory(e);
	for (size_t done = 0, n; done < rows; done += n) {
		n = rows - done < PE_ATTEND_BLOCK ? rows - done : PE_ATTEND_BLOCK;
		memcpy(block, to, n * row);
		for (size_t h = 0; h < heads; h++)
			for (size_t i = 0; i < n; i++, to += part)
				memcpy(to, block + i * row + h * part, part);
	}
	free(block);
	return 0;
}

int
pe_attend_init(struct pe_attend **plan, const struct pe_attend_spec *spec, struct pe_error *e)
{
	*plan = calloc(1, sizeof **plan);
	if (*plan == NULL)
		return pe_fail_memory(e);
	if (set_up(*plan, spec, e) == 0)
		return 0;
	pe_attend_free(*plan);
	*plan = NULL;
	return -1;
}

void
pe_attend_free(struct pe_attend *plan)
{
	free(plan);
}

size_t
pe_attend_batch(const struct pe_attend *plan)
{
	const size_t tile = TILE_BYTES / pe_elem_size(plan->spec.elem);

	return 4 * plan->spec.threads * (tile < plan->tile ? tile : plan->tile);
}

size_t
pe_attend_memory(const struct pe_attend_spec *spec)
{
	struct pe_attend p = {.kernel = NULL};
	struct pe_error e;
	size_t bytes;

	if (set_up(&p, spec, &e) || !pe_num_size(p.spec.threads, p.layout.bytes, 1, &bytes))
		return SIZE_MAX;
	return bytes;
}

/* ---- a call ---- */

struct call {
	const struct pe_attend *plan;
	const struct pe_attend_rows *rows;
	size_t head, heads; /* asked for */
	size_t threads;
	bool matrix;
	enum pe_attend_matrix kind;
	void *out, *lse;
	atomic_size_t left; /* rows of all heads that no thread has taken yet */
};

struct worker {
	struct call *call;
	void *memory, *scratch; /* as allocated, and on a cache line's start */
	pthread_t thread;
};

static void
do_task(const struct call *c, size_t index, size_t row, size_t count, void *scratch)
{
	const struct pe_attend_spec *s = &c->plan->spec;
	const size_t matrix = c->rows->rows * s->keys;
	const size_t at = c->rows->bias_per_head ? index * matrix * pe_elem_size(s->elem) : 0;
	const struct pe_attend_task task = {
	    .plan = c->plan,
	    .rows = c->rows,
	    .head = c->head + index,
	    .bias = c->rows->bias != NULL ? (const char *)c->rows->bias + at : NULL,
	    .row = row,
	    .count = count,
	};

	if (c->matrix)
		c->plan->kernel->matrix(&task, c->kind, scratch, c->out);
	else
		c->plan->kernel->output(&task, scratch, c->out, c->lse);
}

/* Rows of the next tile, where `left` are left of all heads and `end` of this one: as few tiles of
 * the same size as will do, towards the end of the call smaller ones, so that threads end together
 * however fast each has been. */
static size_t
tile_of(const struct call *c, size_t left, size_t end)
{
	const size_t tiles = (end + c->plan->tile - 1) / c->plan->tile,
		     even = rounded_up((end + tiles - 1) / tiles, PE_ATTEND_ROWS),
		     share = rounded_up(left / c->threads * 2 / 3, PE_ATTEND_ROWS);
	const size_t tile = c->threads == 1 || share > even ? even : larger(share, LEAST);

	return tile < end ? tile : end;
}

static void *
work(void *argument)
{
	const struct worker *w = argument;
	struct call *c = w->call;
	const size_t rows = c->rows->rows;
	size_t left = atomic_load(&c->left);

	while (left > 0) {
		/* the last rows of a head first: causal ones have most keys */
		const size_t end = (left - 1) % rows + 1, count = tile_of(c, left, end);

		if (!atomic_compare_exchange_weak(&c->left, &left, left - count))
			continue;
		do_task(c, c->heads - 1 - (left - 1) / rows, end - count, count, w->scratch);
		left = atomic_load(&c->left);
	}
	return NULL;
}

static size_t
threads_worth(const struct call *c)
{
	const struct pe_attend_spec *s = &c->plan->spec;
	const double products = (double)c->rows->rows * (double)c->heads * (double)s->keys *
				(double)(s->dim + s->value_dim);
	const double worth = products / THREAD_WORK;

	return worth < 2 ? 1 : worth < (double)s->threads ? (size_t)worth : s->threads;
}

static int
run(struct call *c, struct pe_error *e)
{
	const size_t wanted = threads_worth(c), bytes = c->plan->layout.bytes;
	struct worker *workers;
	size_t ready = 0, started = 1;

	if (c->rows->rows == 0)
		return 0;
	c->threads = wanted;
	atomic_init(&c->left, c->heads * c->rows->rows);
	workers = calloc(wanted, sizeof *workers);
	if (workers == NULL)
		return pe_fail_memory(e);
	for (; ready < wanted; ready++) {
		workers[ready].call = c;
		/* not aligned_alloc: glibc before 2.38 does not reuse what it freed, and the
		 * heap grows call by call */
		char *memory = malloc(bytes + LINE);
		if (memory == NULL)
			break;
		workers[ready].memory = memory;
		workers[ready].scratch = memory + (LINE - (uintptr_t)memory % LINE);
	}
	if (ready == wanted) {
		/* a thread that cannot be had is no failure: the others do its tasks */
		while (started < wanted &&
		       pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
			started++;
		work(&workers[0]);
		for (size_t i = 1; i < started; i++)
			pthread_join(workers[i].thread, NULL);
	}
	for (size_t i = 0; i < ready; i++)
		free(workers[i].memory);
	free(workers);
	return ready == wanted ? 0 : pe_fail_memory(e);
}

int
pe_attend_output(const struct pe_attend *plan, const struct pe_attend_rows *rows, void *out,
		 void *lse, struct pe_error *e)
{
	struct call c = {
	    .plan = plan,
	    .rows = rows,
	    .head = rows->head,
	    .heads = rows->heads > 0 ? rows->heads : plan->spec.heads,
	    .out = out,
	    .lse = lse,
	};

	return run(&c, e);
}

int
pe_attend_matrix(const struct pe_attend *plan, const struct pe_attend_rows *rows,
		 enum pe_attend_matrix kind, void *out, struct pe_error *e)
{
	struct call c = {
	    .plan = plan,
	    .rows = rows,
	    .head = rows->head,
	    .heads = 1,
	    .matrix = true,
	    .kind = kind,
	    .out = out,
	};

	return run(&c, e);
}
