/* attend against the formula in wide arithmetic, on every instruction set of the machine, and
 * the promises that no formula states: the same bytes for any tiling, and what nan, inf and
 * masks do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend.h"
#include "attend_kernel.h"

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif

/* ---- data ---- */

/* xorshift64*, then the sum of twelve uniform numbers: near enough to a normal distribution of
 * deviation 1 */
static double
normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*state ^= *state >> 12;
		*state ^= *state << 25;
		*state ^= *state >> 27;
		sum += (double)((*state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
	}
	return sum;
}

static void
put(enum pe_elem elem, void *array, size_t i, double x)
{
	if (elem == PE_F32)
		((float *)array)[i] = (float)x;
	else
		((double *)array)[i] = x;
}

static double
get(enum pe_elem elem, const void *array, size_t i)
{
	return elem == PE_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void *
array_of(enum pe_elem elem, size_t n)
{
	void *array = calloc(n + 1, pe_elem_size(elem));

	assert_non_null(array);
	return array;
}

static void *
random_array(enum pe_elem elem, size_t n, uint64_t seed)
{
	void *array = array_of(elem, n);

	for (size_t i = 0; i < n; i++)
		put(elem, array, i, normal(&seed));
	return array;
}

/* A job: what a plan and one call need. Sizes of the terms are 0 where there is none. */
struct job {
	enum pe_elem elem;
	size_t heads, kv_heads, dim, value_dim, keys, rows;
	int64_t position, window;
	double scale; /* 0: 1 / sqrt(dim) */
	bool causal, offsets, apart, bias, bias_per_head;
	size_t clipped, unclipped, valued; /* rows of relative tables */
	bool per_head;                     /* these tables' vectors */
	double spread;                     /* of the bias by offset; 0: 1 */
};

struct data {
	struct pe_attend_relative relative[2], relative_value;
	struct pe_attend_spec spec;
	struct pe_attend_rows rows;
	void *arrays[9];
};

static struct pe_attend_relative
relative_of(const struct job *j, size_t count, size_t width, bool clip, void **array, uint64_t seed)
{
	*array = random_array(j->elem, count * width * (j->per_head ? j->heads : 1), seed);
	return (struct pe_attend_relative){
	    .vectors = *array,
	    .count = count,
	    .first = -(int64_t)(count / 2),
	    .per_head = j->per_head,
	    .clip = clip,
	};
}

static struct pe_attend_offsets
offsets_of(const struct job *j, void **array, uint64_t seed)
{
	const size_t count = j->keys + j->rows - 1;

	*array = random_array(j->elem, j->heads * count, seed);
	for (size_t i = 0; j->spread != 0 && i < j->heads * count; i++)
		put(j->elem, *array, i, j->spread * get(j->elem, *array, i));
	return (struct pe_attend_offsets){
	    .values = *array,
	    .first = -(j->position + (int64_t)j->rows - 1),
	    .count = count,
	};
}

static void
make(struct data *d, const struct job *j)
{
	*d = (struct data){
	    .spec = {.elem = j->elem,
		     .heads = j->heads,
		     .kv_heads = j->kv_heads,
		     .dim = j->dim,
		     .value_dim = j->value_dim,
		     .keys = j->keys,
		     .scale = j->scale != 0 ? j->scale : 1 / sqrt((double)j->dim),
		     .causal = j->causal,
		     .window = j->window,
		     .threads = 1},
	    .rows = {.rows = j->rows, .position = j->position, .bias_per_head = j->bias_per_head},
	};
	d->spec.key = d->arrays[0] = random_array(j->elem, j->keys * j->kv_heads * j->dim, 11);
	d->spec.value = d->arrays[1] =
	    random_array(j->elem, j->keys * j->kv_heads * j->value_dim, 12);
	d->rows.query = d->arrays[2] = random_array(j->elem, j->rows * j->heads * j->dim, 13);
	if (j->clipped > 0)
		d->relative[d->spec.relatives++] =
		    relative_of(j, j->clipped, j->dim, true, &d->arrays[3], 14);
	if (j->unclipped > 0)
		d->relative[d->spec.relatives++] =
		    relative_of(j, j->unclipped, j->dim, false, &d->arrays[4], 15);
	d->spec.relative = d->relative;
	if (j->valued > 0) {
		d->relative_value =
		    relative_of(j, j->valued, j->value_dim, true, &d->arrays[5], 16);
		d->spec.relative_value = &d->relative_value;
	}
	if (j->offsets)
		d->rows.offsets = offsets_of(j, &d->arrays[6], 17);
	if (j->apart)
		d->rows.apart = offsets_of(j, &d->arrays[7], 18);
	if (j->bias)
		d->rows.bias = d->arrays[8] = random_array(
		    j->elem, j->rows * j->keys * (j->bias_per_head ? j->heads : 1), 19);
}

static void
unmake(struct data *d)
{
	for (size_t i = 0; i < sizeof d->arrays / sizeof *d->arrays; i++)
		free(d->arrays[i]);
}

/* ---- the formula ---- */

/* e^x for x <= 0: (the Taylor sum of x / 2^12)^(2^12), relative error below 1e-28 in binary128 */
static wide
exponential(wide x)
{
	wide sum = 1, term = 1;

	if (x < -11000)
		return 0;
	for (int i = 1; i < 24; i++)
		sum += term *= x / 4096 / i;
	for (int i = 0; i < 12; i++)
		sum *= sum;
	return sum;
}

static wide
dot(enum pe_elem elem, const void *a, size_t i, const void *b, size_t k, size_t n)
{
	wide sum = 0;

	for (size_t c = 0; c < n; c++)
		sum += (wide)get(elem, a, i + c) * (wide)get(elem, b, k + c);
	return sum;
}

/* Index of the vector that an offset meets, or -1. */
static int64_t
index_of(const struct pe_attend_relative *a, int64_t offset)
{
	const int64_t i = offset - a->first, last = (int64_t)a->count - 1;

	if (i >= 0 && i <= last)
		return i;
	return !a->clip ? -1 : i < 0 ? 0 : last;
}

static size_t
vector_of(const struct data *d, const struct pe_attend_relative *a, int64_t index, size_t h,
	  size_t dim)
{
	return ((size_t)index * (a->per_head ? d->spec.heads : 1) + (a->per_head ? h : 0)) * dim;
}

static bool
seen(const struct pe_attend_spec *s, int64_t m, int64_t n)
{
	return (!s->causal || n <= m) &&
	       (s->window == 0 || (n - m < s->window && m - n < s->window));
}

/* All that is added to scale * q.k. */
static wide
terms(const struct data *d, size_t r, size_t h, size_t n)
{
	const struct pe_attend_spec *s = &d->spec;
	const int64_t m = d->rows.position + (int64_t)r, offset = (int64_t)n - m;
	const bool apart = d->rows.apart.values != NULL && (m == 0 || n == 0);
	const struct pe_attend_offsets *o = apart ? &d->rows.apart : &d->rows.offsets;
	wide sum = 0;

	if (o->values != NULL)
		sum += (wide)get(s->elem, o->values, h * o->count + (size_t)(offset - o->first));
	if (d->rows.bias != NULL)
		sum +=
		    (wide)get(s->elem, d->rows.bias,
			      ((d->rows.bias_per_head ? h : 0) * d->rows.rows + r) * s->keys + n);
	for (size_t i = 0; i < s->relatives; i++) {
		const int64_t index = index_of(&s->relative[i], offset);

		if (index >= 0)
			sum += (wide)s->scale *
			       dot(s->elem, d->rows.query, (r * s->heads + h) * s->dim,
				   s->relative[i].vectors,
				   vector_of(d, &s->relative[i], index, h, s->dim), s->dim);
	}
	return sum;
}

/* Logits of a query row and head; those of keys it does not see are left alone. */
static void
reference_logits(const struct data *d, size_t r, size_t h, wide *logits)
{
	const struct pe_attend_spec *s = &d->spec;
	const size_t kv = h * s->kv_heads / s->heads;

	for (size_t n = 0; n < s->keys; n++)
		logits[n] =
		    terms(d, r, h, n) +
		    (wide)s->scale * dot(s->elem, d->rows.query, (r * s->heads + h) * s->dim,
					 s->key, (n * s->kv_heads + kv) * s->dim, s->dim);
}

/* Logits become weights; returns log(sum(exp)). */
static double
reference_softmax(const struct data *d, size_t r, wide *logits)
{
	const int64_t m = d->rows.position + (int64_t)r;
	wide top = 0, sum = 0;
	bool any = false;

	for (size_t n = 0; n < d->spec.keys; n++)
		if (seen(&d->spec, m, (int64_t)n) && (!any || logits[n] > top)) {
			top = logits[n];
			any = true;
		}
	for (size_t n = 0; n < d->spec.keys; n++) {
		logits[n] = seen(&d->spec, m, (int64_t)n) ? exponential(logits[n] - top) : 0;
		sum += logits[n];
	}
	for (size_t n = 0; any && n < d->spec.keys; n++)
		logits[n] /= sum;
	return any ? (double)top + log((double)sum) : -(double)INFINITY;
}

static void
reference_output(const struct data *d, size_t h, int64_t m, const wide *weights, wide *out)
{
	const struct pe_attend_spec *s = &d->spec;
	const size_t kv = h * s->kv_heads / s->heads;

	for (size_t c = 0; c < s->value_dim; c++) {
		out[c] = 0;
		for (size_t n = 0; n < s->keys; n++) {
			wide v =
			    (wide)get(s->elem, s->value, (n * s->kv_heads + kv) * s->value_dim + c);

			if (s->relative_value != NULL)
				v +=
				    (wide)get(s->elem, s->relative_value->vectors,
					      vector_of(d, s->relative_value,
							index_of(s->relative_value, (int64_t)n - m),
							h, s->value_dim) +
						  c);
			out[c] += weights[n] * v;
		}
	}
}

/* ---- comparing ---- */

struct error {
	double largest, scale; /* of the differences, of the values */
};

static void
note(struct error *e, double got, wide due)
{
	const double error = fabs((double)((wide)got - due)), size = fabs((double)due);

	assert_true(got == got);
	if (error > e->largest)
		e->largest = error;
	if (size > e->scale)
		e->scale = size;
}

static struct pe_attend *
plan_of(const struct data *d, size_t kernel)
{
	struct pe_attend *plan;
	struct pe_error e;

	assert_int_equal(pe_attend_init(&plan, &d->spec, &e), 0);
	assert_int_equal(pe_attend_use(plan, pe_attend_kernel_usable(d->spec.elem, kernel), &e), 0);
	return plan;
}

/* What a plan computes of all rows. */
struct result {
	void *out, *lse, *matrix[3];
};

static struct result
result_of(const struct data *d, const struct pe_attend *plan, size_t head)
{
	const struct pe_attend_spec *s = &d->spec;
	const size_t rows = d->rows.rows;
	struct result x = {array_of(s->elem, rows * s->heads * s->value_dim),
			   array_of(s->elem, rows * s->heads),
			   {NULL}};
	struct pe_attend_rows one = d->rows;
	struct pe_error e;

	assert_int_equal(pe_attend_output(plan, &d->rows, x.out, x.lse, &e), 0);
	one.head = head;
	if (one.bias != NULL && one.bias_per_head)
		one.bias = (const char *)one.bias + head * rows * s->keys * pe_elem_size(s->elem);
	for (int kind = PE_ATTEND_WEIGHTS; kind <= PE_ATTEND_BIAS; kind++) {
		x.matrix[kind] = array_of(s->elem, rows * s->keys);
		assert_int_equal(
		    pe_attend_matrix(plan, &one, (enum pe_attend_matrix)kind, x.matrix[kind], &e),
		    0);
	}
	return x;
}

static void
free_result(struct result *x)
{
	free(x->out);
	free(x->lse);
	for (size_t i = 0; i < 3; i++)
		free(x->matrix[i]);
}

enum { OUTPUT, LSE, WEIGHTS, LOGITS, BIAS, RESULTS };
static const char *const words[RESULTS] = {"output", "lse", "weights", "logits", "bias"};

/* A kernel's results of a job and how far they are off. */
struct trial {
	struct result x;
	struct error errors[RESULTS];
};

/* Row r of the matrices of head h, which logits and then weights are due of. */
static void
compare_logits(const struct data *d, struct trial *t, size_t r, size_t h, const wide *logits)
{
	const struct pe_attend_spec *s = &d->spec;

	for (size_t n = 0; n < s->keys; n++) {
		const double logit = get(s->elem, t->x.matrix[PE_ATTEND_LOGITS], r * s->keys + n),
			     bias = get(s->elem, t->x.matrix[PE_ATTEND_BIAS], r * s->keys + n);

		if (seen(s, d->rows.position + (int64_t)r, (int64_t)n)) {
			note(&t->errors[LOGITS], logit, logits[n]);
			note(&t->errors[BIAS], bias, terms(d, r, h, n));
		} else {
			assert_true(logit == -(double)INFINITY && bias == -(double)INFINITY);
		}
	}
}

/* Each row's formula is worked out once, for all trials. */
static void
compare(const struct data *d, struct trial *trials, size_t count, size_t head)
{
	const struct pe_attend_spec *s = &d->spec;
	wide *logits = calloc(s->keys + 1, sizeof *logits),
	     *out = calloc(s->value_dim, sizeof *out);

	assert_true(logits != NULL && out != NULL);
	for (size_t at = 0; at < d->rows.rows * s->heads; at++) {
		const size_t r = at / s->heads, h = at % s->heads;

		reference_logits(d, r, h, logits);
		for (size_t k = 0; h == head && k < count; k++)
			compare_logits(d, &trials[k], r, h, logits);
		const double lse = reference_softmax(d, r, logits);
		reference_output(d, h, d->rows.position + (int64_t)r, logits, out);
		for (struct trial *t = trials; t < trials + count; t++) {
			if (isinf(lse))
				assert_true(get(s->elem, t->x.lse, at) == lse);
			else
				note(&t->errors[LSE], get(s->elem, t->x.lse, at), (wide)lse);
			for (size_t n = 0; h == head && n < s->keys; n++)
				note(&t->errors[WEIGHTS],
				     get(s->elem, t->x.matrix[PE_ATTEND_WEIGHTS], r * s->keys + n),
				     logits[n]);
			for (size_t c = 0; c < s->value_dim; c++)
				note(&t->errors[OUTPUT],
				     get(s->elem, t->x.out, at * s->value_dim + c), out[c]);
		}
	}
	free(logits);
	free(out);
}

/* Every kernel's results lie within `bounds` of the formula's, relative to the largest value. */
static void
check_job(struct job j, const double bounds[RESULTS])
{
	struct trial trials[3] = {{.x = {NULL}}};
	struct data d;
	size_t kernels = 0;

	make(&d, &j);
	for (; pe_attend_kernel_usable(j.elem, kernels) != NULL; kernels++) {
		struct pe_attend *plan = plan_of(&d, kernels);

		trials[kernels].x = result_of(&d, plan, j.heads - 1);
		pe_attend_free(plan);
	}
	compare(&d, trials, kernels, j.heads - 1);
	for (size_t k = 0; k < kernels; k++) {
		const struct error *errors = trials[k].errors;

		for (size_t i = 0; i < RESULTS; i++)
			if (errors[i].largest > bounds[i] * errors[i].scale)
				fail_msg("kernel %zu: %s is off by %g of %g", k, words[i],
					 errors[i].largest, errors[i].scale);
		free_result(&trials[k].x);
	}
	unmake(&d);
}

/* ---- tests ---- */

/* Bounds of output, lse, weights, logits, bias. A machine without fused products rounds twice. */
#if defined(__x86_64__)
#define F32 ((const double[RESULTS]){1e-6, 3e-7, 1e-6, 4e-7, 3e-7})
#else
#define F32 ((const double[RESULTS]){6e-7, 3e-7, 6e-7, 4e-7, 3e-7})
#endif
#define F64 ((const double[RESULTS]){2e-15, 6e-16, 2e-15, 1e-15, 6e-16})

static void
check_both(struct job j)
{
	j.elem = PE_F64;
	check_job(j, F64);
	j.elem = PE_F32;
	check_job(j, F32);
}

static void
test_plain(void **state)
{
	static const size_t dims[][2] = {{1, 1},   {3, 5},   {7, 64},  {32, 33},
					 {64, 48}, {80, 80}, {130, 17}};

	(void)state;
	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
		check_both((struct job){.heads = 1,
					.kv_heads = 1,
					.dim = dims[i][0],
					.value_dim = dims[i][1],
					.keys = 259,
					.rows = 13});
}

static void
test_few_keys(void **state)
{
	(void)state;
	for (size_t keys = 0; keys < 4; keys++)
		check_both((struct job){.heads = 2,
					.kv_heads = 1,
					.dim = 4,
					.value_dim = 3,
					.keys = keys,
					.rows = 5,
					.position = -2,
					.causal = true,
					.offsets = true,
					.valued = 3});
}

/* a whole number, lo .. hi */
static int64_t
draw(uint64_t *seed, int64_t lo, int64_t hi)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int64_t)((*seed >> 33) % (uint64_t)(hi - lo + 1));
}

static struct job
any_job(uint64_t *seed)
{
	struct job j = {
	    .heads = (size_t)draw(seed, 1, 5),
	    .dim = (size_t)draw(seed, 1, 40),
	    .value_dim = (size_t)draw(seed, 1, 40),
	    .keys = (size_t)draw(seed, 1, 400),
	    .rows = (size_t)draw(seed, 1, 20),
	    .position = draw(seed, -30, 420),
	    .window = draw(seed, 0, 1) * draw(seed, 1, 300),
	    .causal = draw(seed, 0, 1),
	    .offsets = draw(seed, 0, 1),
	    .apart = draw(seed, 0, 3) == 0,
	    .bias = draw(seed, 0, 2) == 0,
	    .bias_per_head = draw(seed, 0, 1),
	    .per_head = draw(seed, 0, 1),
	    .clipped = (size_t)(draw(seed, 0, 1) * draw(seed, 1, 300)),
	    .unclipped = (size_t)(draw(seed, 0, 1) * draw(seed, 1, 600)),
	    .valued = (size_t)(draw(seed, 0, 1) * draw(seed, 1, 200)),
	};

	j.kv_heads = (size_t)draw(seed, 1, (int64_t)j.heads);
	if (draw(seed, 0, 1))
		j.position = draw(seed, -20, 0);
	return j;
}

static void
test_any(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 24; i++)
		check_both(any_job(&seed));
}

/* Many keys at unit scale: sums of short chains stay as exact as those of few. */
static void
test_many_keys(void **state)
{
	const struct job j = {.elem = PE_F32,
			      .heads = 1,
			      .kv_heads = 1,
			      .dim = 64,
			      .value_dim = 64,
			      .keys = 3000,
			      .rows = 12,
			      .offsets = true};

	(void)state;
	check_job(j, (const double[RESULTS]){4e-7, 2e-7, 6e-7, 4e-7, 1e-7});
}

/* Normal data of deviation 1, where the largest logits pass 4, at the width of most models. */
static void
test_unit_scale(void **state)
{
	struct job j = {
	    .elem = PE_F32, .heads = 1, .kv_heads = 1, .dim = 64, .value_dim = 64, .rows = 40};

	(void)state;
	for (j.keys = 64; j.keys <= 1024; j.keys *= 4)
		check_job(j, (const double[RESULTS]){6e-7, 2e-7, 6e-7, 4e-7, 0});
}

static void
test_large_logits(void **state)
{
	(void)state;
	check_job((struct job){.elem = PE_F64,
			       .heads = 1,
			       .kv_heads = 1,
			       .dim = 8,
			       .value_dim = 8,
			       .keys = 500,
			       .rows = 9,
			       .offsets = true,
			       .spread = 1e4},
		  (const double[RESULTS]){4e-12, 4e-16, 4e-12, 4e-16, 1e-16});
	check_job((struct job){.elem = PE_F32,
			       .heads = 1,
			       .kv_heads = 1,
			       .dim = 8,
			       .value_dim = 8,
			       .keys = 500,
			       .rows = 9,
			       .offsets = true,
			       .spread = 1e4},
		  (const double[RESULTS]){4e-3, 2e-7, 4e-3, 2e-7, 1e-7});
}

/* ---- same bytes ---- */

static const void *
row_of(enum pe_elem elem, const void *array, size_t i)
{
	return array == NULL ? NULL : (const char *)array + i * pe_elem_size(elem);
}

/* The whole job in calls of `step` rows and one or all heads. A per-head bias goes with one head
 * at a time. */
static void
in_pieces(const struct data *d, struct pe_attend *plan, size_t step, bool by_heads,
	  struct result *x)
{
	const struct pe_attend_spec *s = &d->spec;
	struct pe_error e;

	for (size_t r = 0; r < d->rows.rows; r += step)
		for (size_t h = 0; h < (by_heads ? s->heads : 1); h++) {
			const size_t matrix = d->rows.bias_per_head ? h * d->rows.rows : 0;
			struct pe_attend_rows part = d->rows;

			part.rows = d->rows.rows - r < step ? d->rows.rows - r : step;
			part.position += (int64_t)r;
			part.query = row_of(s->elem, part.query, r * s->heads * s->dim);
			part.bias = row_of(s->elem, part.bias, (matrix + r) * s->keys);
			part.head = h;
			part.heads = by_heads ? 1 : 0;
			part.bias_per_head = false;
			assert_int_equal(
			    pe_attend_output(
				plan, &part,
				(void *)(uintptr_t)row_of(s->elem, x->out,
							  r * s->heads * s->value_dim),
				(void *)(uintptr_t)row_of(s->elem, x->lse, r * s->heads), &e),
			    0);
			for (int k = PE_ATTEND_WEIGHTS; h + 1 == s->heads && k <= PE_ATTEND_BIAS;
			     k++)
				assert_int_equal(
				    pe_attend_matrix(plan, &part, (enum pe_attend_matrix)k,
						     (void *)(uintptr_t)row_of(
							 s->elem, x->matrix[k], r * s->keys),
						     &e),
				    0);
		}
}

static void
assert_same(const struct data *d, const struct result *x, const struct result *y, bool matrices)
{
	const size_t rows = d->rows.rows, size = pe_elem_size(d->spec.elem);

	assert_memory_equal(x->out, y->out, rows * d->spec.heads * d->spec.value_dim * size);
	assert_memory_equal(x->lse, y->lse, rows * d->spec.heads * size);
	for (size_t k = 0; matrices && k < 3; k++)
		assert_memory_equal(x->matrix[k], y->matrix[k], rows * d->spec.keys * size);
}

/* The same keys and values, laid out head by head; for tiles, and for single rows. */
static void
check_by_heads(struct data *d, size_t kernel, const struct result *whole)
{
	struct pe_attend_spec *s = &d->spec;
	struct pe_error e;

	assert_int_equal(pe_attend_by_heads(s->elem, (void *)(uintptr_t)s->key, s->keys,
					    s->kv_heads, s->dim, &e),
			 0);
	assert_int_equal(pe_attend_by_heads(s->elem, (void *)(uintptr_t)s->value, s->keys,
					    s->kv_heads, s->value_dim, &e),
			 0);
	s->by_heads = true;
	struct pe_attend *plan = plan_of(d, kernel);
	struct result x = result_of(d, plan, s->heads - 1);
	assert_same(d, whole, &x, true);
	in_pieces(d, plan, 1, true, &x);
	assert_same(d, whole, &x, true);
	free_result(&x);
	pe_attend_free(plan);
}

static void
check_same_bytes(const struct job *j, size_t kernel, bool odd_values)
{
	static const size_t steps[] = {1, 2, 5, 6, 7, 97, 1000};
	struct data d;
	uint64_t seed = 77;

	make(&d, j);
	for (size_t i = 0; odd_values && i < 9; i++) {
		const size_t n =
		    (size_t)draw(&seed, 0, (int64_t)(j->keys * j->kv_heads * j->value_dim) - 1);

		put(j->elem, d.arrays[1], n, i % 2 ? (double)NAN : (double)INFINITY);
	}
	struct pe_attend *plan = plan_of(&d, kernel);
	struct result whole = result_of(&d, plan, j->heads - 1);

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const bool by_heads = i % 2 || j->bias_per_head;
		struct result x = result_of(&d, plan, j->heads - 1);

		memset(x.out, 1, j->rows * j->heads * j->value_dim * pe_elem_size(j->elem));
		in_pieces(&d, plan, steps[i], by_heads, &x);
		assert_same(&d, &whole, &x, by_heads || j->heads == 1);
		free_result(&x);
	}
	pe_attend_free(plan);
	for (d.spec.threads = 2; d.spec.threads < 5; d.spec.threads++) {
		plan = plan_of(&d, kernel);
		struct result x = result_of(&d, plan, j->heads - 1);
		assert_same(&d, &whole, &x, true);
		free_result(&x);
		pe_attend_free(plan);
	}
	check_by_heads(&d, kernel, &whole);
	free_result(&whole);
	unmake(&d);
}

static void
test_same_bytes(void **state)
{
	struct job j = {.heads = 3,
			.kv_heads = 2,
			.dim = 20,
			.value_dim = 24,
			.keys = 700,
			.rows = 330,
			.position = -9,
			.causal = true,
			.offsets = true,
			.apart = true,
			.clipped = 31,
			.unclipped = 801,
			.valued = 17,
			.per_head = true};

	(void)state;
	for (int elem = PE_F64; elem <= PE_F32; elem++)
		for (size_t k = 0; pe_attend_kernel_usable((enum pe_elem)elem, k) != NULL; k++) {
			j.elem = (enum pe_elem)elem;
			j.window = 0;
			check_same_bytes(&j, k, false);
			check_same_bytes(&j, k, true);
			j.window = 150;
			j.bias = j.bias_per_head = k % 2;
			check_same_bytes(&j, k, true);
			/* windows that begin at other blocks and reach over more than 512 keys */
			check_same_bytes(&(struct job){.elem = (enum pe_elem)elem,
						       .heads = 1,
						       .kv_heads = 1,
						       .dim = 3,
						       .value_dim = 2,
						       .keys = 2000,
						       .rows = 300,
						       .position = 900,
						       .window = 700},
					 k, false);
			/* rows that end before the fourth block and in it, and meet more vectors than a block */
			check_same_bytes(&(struct job){.elem = (enum pe_elem)elem,
						       .heads = 1,
						       .kv_heads = 1,
						       .dim = 3,
						       .value_dim = 2,
						       .keys = 700,
						       .rows = 300,
						       .position = 300,
						       .causal = true,
						       .valued = 301},
					 k, false);
		}
}

/* ---- IEEE 754 ---- */

/* A job of one head whose bias, rows and keys a test spoils: f32, every kernel. */
static const struct job spoilt = {.elem = PE_F32,
				  .heads = 1,
				  .kv_heads = 1,
				  .dim = 5,
				  .value_dim = 9,
				  .keys = 300,
				  .rows = 20,
				  .bias = true,
				  .valued = 5};

static void
test_masked_nan(void **state)
{
	(void)state;
	for (size_t k = 0; pe_attend_kernel_usable(PE_F32, k) != NULL; k++) {
		struct job j = spoilt;
		struct data d;

		j.causal = true;
		j.position = 120;
		make(&d, &j);
		for (size_t c = 0; c < j.value_dim; c++) {
			put(j.elem, d.arrays[1], 130 * j.value_dim + c,
			    (double)NAN); /* value 130 */
			put(j.elem, d.arrays[1], 7 * j.value_dim + c, (double)INFINITY);
		}
		put(j.elem, d.arrays[0], 130 * j.dim, (double)NAN); /* key 130 */
		for (size_t r = 0; r < j.rows; r++)
			put(j.elem, d.arrays[8], r * j.keys + 7, -(double)INFINITY);

		struct pe_attend *plan = plan_of(&d, k);
		struct result x = result_of(&d, plan, 0);

		for (size_t i = 0; i < j.rows * j.value_dim; i++)
			assert_true(isfinite(get(j.elem, x.out, i)) == (i / j.value_dim < 10));
		for (size_t r = 0; r < 10; r++)
			assert_true(get(j.elem, x.matrix[PE_ATTEND_WEIGHTS], r * j.keys + 7) == 0);
		free_result(&x);
		pe_attend_free(plan);
		unmake(&d);
	}
}

static void
test_no_key(void **state)
{
	(void)state;
	for (size_t k = 0; pe_attend_kernel_usable(PE_F32, k) != NULL; k++) {
		const struct job j = spoilt;
		struct data d;

		make(&d, &j);
		for (size_t i = 0; i < 3 * j.keys; i++)
			put(j.elem, d.arrays[8], i, -(double)INFINITY);
		put(j.elem, d.arrays[8], 2 * j.keys + 299, 0); /* row 2 keeps its last key */
		put(j.elem, d.arrays[1], 0, (double)NAN);

		struct pe_attend *plan = plan_of(&d, k);
		struct result x = result_of(&d, plan, 0);

		for (size_t i = 0; i < 2 * j.value_dim; i++)
			assert_true(get(j.elem, x.out, i) == 0 && !signbit(get(j.elem, x.out, i)));
		for (size_t i = 0; i < 2 * j.keys; i++)
			assert_true(get(j.elem, x.matrix[PE_ATTEND_WEIGHTS], i) == 0);
		assert_true(get(j.elem, x.lse, 0) == -(double)INFINITY);
		assert_true(get(j.elem, x.matrix[PE_ATTEND_WEIGHTS], 3 * j.keys - 1) == 1);
		assert_true(isfinite(get(j.elem, x.out, 2 * j.value_dim)));
		assert_true(isnan(get(j.elem, x.out, 3 * j.value_dim)));
		free_result(&x);
		pe_attend_free(plan);
		unmake(&d);
	}
}

static void
test_not_finite(void **state)
{
	(void)state;
	for (size_t k = 0; pe_attend_kernel_usable(PE_F32, k) != NULL; k++) {
		const struct job j = spoilt;
		struct data d;

		make(&d, &j);
		put(j.elem, d.arrays[8], 200, (double)INFINITY);     /* row 0: a logit of +inf */
		put(j.elem, d.arrays[8], j.keys + 299, (double)NAN); /* row 1 */
		put(j.elem, d.arrays[2], 2 * j.dim,
		    (double)INFINITY); /* row 2: products of both signs */
		put(j.elem, d.arrays[8], 3 * j.keys + 9, -(double)INFINITY); /* row 3 */
		put(j.elem, d.arrays[1], 9 * j.value_dim, (double)INFINITY); /* that key's value */

		struct pe_attend *plan = plan_of(&d, k);
		struct result x = result_of(&d, plan, 0);

		for (size_t r = 0; r < 3; r++) {
			assert_true(isnan(get(j.elem, x.out, r * j.value_dim + 1)));
			assert_true(isnan(get(j.elem, x.matrix[PE_ATTEND_WEIGHTS], r * j.keys)));
		}
		assert_true(get(j.elem, x.matrix[PE_ATTEND_LOGITS], 200) == (double)INFINITY);
		assert_true(isfinite(get(j.elem, x.out, 3 * j.value_dim)));
		assert_true(get(j.elem, x.out, 4 * j.value_dim) == (double)INFINITY);
		assert_true(isfinite(get(j.elem, x.out, 4 * j.value_dim + 1)));
		free_result(&x);
		pe_attend_free(plan);
		unmake(&d);
	}
}

/* Finite logits so far from 0 that the largest one in powers of two is rounded by whole steps: as
 * sharp as they can be, but a softmax. */
static void
check_far(enum pe_elem elem, size_t k)
{
	const double far[] = {3e7, 1e8, 1e9, -3e7, -1e9, -1e10, -1e30, -(double)FLT_MAX};
	enum { ROWS = sizeof far / sizeof *far };
	struct job j = spoilt;
	struct data d;

	j.elem = elem;
	make(&d, &j);
	for (size_t i = 0; i < ROWS * j.keys; i++) {
		const double x = far[i / j.keys];
		const double wider = elem == PE_F32 ? x : x < -1e30 ? -DBL_MAX : x * 0x1p29;
		put(elem, d.arrays[8], i, wider);
	}
	struct pe_attend *plan = plan_of(&d, k);
	struct result x = result_of(&d, plan, 0);

	for (size_t r = 0; r < ROWS; r++) {
		double sum = 0, most = 0;
		for (size_t n = 0; n < j.keys; n++) {
			const double w = get(elem, x.matrix[PE_ATTEND_WEIGHTS], r * j.keys + n);
			assert_true(w >= 0 && w <= 1);
			sum += w;
			most = fmax(most, fabs(get(elem, d.arrays[1], n * j.value_dim)));
		}
		assert_true(fabs(sum - 1) < 1e-5);
		assert_true(fabs(get(elem, x.out, r * j.value_dim)) <= most);
		const double bias = get(elem, d.arrays[8], r * j.keys);
		const double lse = get(elem, x.lse, r), u = elem == PE_F32 ? 0x1p-24 : 0x1p-53;
		assert_true(r + 1 == ROWS || fabs(lse - bias) < 16 * u * fabs(bias));
	}
	free_result(&x);
	pe_attend_free(plan);
	unmake(&d);
}

static void
test_far_logits(void **state)
{
	(void)state;
	for (size_t k = 0; pe_attend_kernel_usable(PE_F32, k) != NULL; k++) {
		check_far(PE_F32, k);
		check_far(PE_F64, k);
	}
}

/* ---- plans ---- */

static void
test_refused(void **state)
{
	struct pe_attend_spec good = {
	    .elem = PE_F32, .heads = 4, .kv_heads = 2, .dim = 8, .value_dim = 8};
	struct pe_attend_relative none = {.count = 0};
	struct pe_attend_spec bad[8];
	struct pe_attend *plan;
	struct pe_error e;
	float value = 0;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].elem = PE_BF16;
	bad[1].heads = 0;
	bad[2].kv_heads = 5;
	bad[3].dim = 0;
	bad[4].value = &value;
	bad[4].value_dim = 0;
	bad[5].relative = &none;
	bad[5].relatives = 1;
	bad[6].window = -1;
	bad[7].value_dim = SIZE_MAX;
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(pe_attend_init(&plan, &bad[i], &e), -1);
		assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
		assert_null(plan);
	}
	assert_true(pe_attend_memory(&bad[7]) == SIZE_MAX);
}

/* A thread's memory grows with the widths, not with keys or rows. */
static void
test_memory(void **state)
{
	struct pe_attend_spec s = {.elem = PE_F32,
				   .heads = 1,
				   .kv_heads = 1,
				   .dim = 64,
				   .value_dim = 64,
				   .keys = 8192,
				   .threads = 1};
	const size_t bytes = pe_attend_memory(&s);

	(void)state;
	assert_true(bytes < 512 * 1024);
	s.keys = (size_t)1 << 30;
	assert_true(pe_attend_memory(&s) == bytes);
	s.threads = 3;
	assert_true(pe_attend_memory(&s) == 3 * bytes);
	s.threads = 1;
	s.dim = s.value_dim = 8192;
	assert_true(pe_attend_memory(&s) < 16 << 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),      cmocka_unit_test(test_few_keys),
	    cmocka_unit_test(test_any),        cmocka_unit_test(test_many_keys),
	    cmocka_unit_test(test_unit_scale), cmocka_unit_test(test_large_logits),
	    cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_masked_nan),
	    cmocka_unit_test(test_no_key),     cmocka_unit_test(test_not_finite),
	    cmocka_unit_test(test_far_logits), cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
