/* attend against the formula in wide arithmetic, on every instruction set of the machine, and the promises that no formula
 * states: the same bytes for any tiling, and what nan, inf and masks do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
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

/* xorshift64*, then the sum of twelve uniform numbers: near enough to a normal distribution of deviation 1 */
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

/* Errors of output, lse, weights, logits, bias in this order. */
static void
compare(const struct data *d, const struct result *x, size_t head, struct error *errors)
{
	const struct pe_attend_spec *s = &d->spec;
	wide *logits = calloc(s->keys + 1, sizeof *logits),
	     *out = calloc(s->value_dim, sizeof *out);

	assert_true(logits != NULL && out != NULL);
	for (size_t r = 0; r < d->rows.rows; r++)
		for (size_t h = 0; h < s->heads; h++) {
			const int64_t m = d->rows.position + (int64_t)r;
			const size_t at = r * s->heads + h;

			reference_logits(d, r, h, logits);
			for (size_t n = 0; h == head && n < s->keys; n++) {
				const size_t i = r * s->keys + n;

				if (seen(s, m, (int64_t)n)) {
					note(&errors[3], get(s->elem, x->matrix[1], i), logits[n]);
					note(&errors[4], get(s->elem, x->matrix[2], i),
					     terms(d, r, h, n));
				} else {
					assert_true(get(s->elem, x->matrix[1], i) == -INFINITY);
					assert_true(get(s->elem, x->matrix[2], i) == -INFINITY);
				}
			}
			const double lse = reference_softmax(d, r, logits);
			if (isinf(lse))
				assert_true(get(s->elem, x->lse, at) == lse);
			else
				note(&errors[1], get(s->elem, x->lse, at), (wide)lse);
			for (size_t n = 0; h == head && n < s->keys; n++)
				note(&errors[2], get(s->elem, x->matrix[0], r * s->keys + n),
				     logits[n]);
			reference_output(d, h, m, logits, out);
			for (size_t c = 0; c < s->value_dim; c++)
				note(&errors[0], get(s->elem, x->out, at * s->value_dim + c),
				     out[c]);
		}
	free(logits);
	free(out);
}

static const char *const words[] = {"output", "lse", "weights", "logits", "bias"};

/* Every kernel's results lie within `bounds` of the formula's, relative to the largest value. */
static void
check_job(struct job j, const double bounds[5])
{
	for (size_t k = 0; pe_attend_kernel_usable(j.elem, k) != NULL; k++) {
		struct error errors[5] = {{0}};
		struct data d;

		make(&d, &j);
		struct pe_attend *plan = plan_of(&d, k);
		struct result x = result_of(&d, plan, j.heads - 1);

		compare(&d, &x, j.heads - 1, errors);
		for (size_t i = 0; i < 5; i++)
			if (getenv("ATTEND_VERBOSE") != NULL)
				print_message("kernel %zu T %zu d %zu %s: %.3g\n", k, j.keys, j.dim,
					      words[i], errors[i].largest / errors[i].scale);
		for (size_t i = 0; i < 5; i++)
			if (errors[i].largest > bounds[i] * errors[i].scale)
				fail_msg("kernel %zu: %s is off by %g of %g", k, words[i],
					 errors[i].largest, errors[i].scale);
		free_result(&x);
		pe_attend_free(plan);
		unmake(&d);
	}
}

/* ---- tests ---- */

static void
test_quick(void **state)
{
	(void)state;
	static const double f32[5] = {1e-6, 1e-6, 2e-6, 1e-6, 1e-6},
			    f64[5] = {2e-15, 2e-15, 4e-15, 2e-15, 2e-15};
	struct job j = {.elem = PE_F32,
			.heads = 1,
			.kv_heads = 1,
			.dim = 64,
			.value_dim = 64,
			.keys = 300,
			.rows = 200};
	check_job(j, f32);
	j.elem = PE_F64;
	check_job(j, f64);
	j = (struct job){.elem = PE_F64,
			 .heads = 3,
			 .kv_heads = 2,
			 .dim = 7,
			 .value_dim = 5,
			 .keys = 333,
			 .rows = 50,
			 .position = -20,
			 .causal = true,
			 .offsets = true,
			 .bias = true,
			 .bias_per_head = true,
			 .clipped = 9,
			 .unclipped = 41,
			 .valued = 5,
			 .per_head = true};
	check_job(j, f64);
	j.elem = PE_F32;
	check_job(j, f32);
	j.apart = true;
	j.window = 30;
	check_job(j, f32);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_quick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
