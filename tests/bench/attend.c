/* attend against two matrix products of its size, and against itself with other options: one
 * line for each ratio.
 *
 * Both sides of a ratio run in turn, in one process; the median of the ratios is printed. The
 * matrix products are OpenBLAS's, if it is installed (loaded at run time: nothing else of this
 * project uses it): S = Q K' and O = S V, a band of rows at a time. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attend.h"

#define BAND ((size_t)1024)

typedef void gemm_f32(int, int, int, int, int, int, float, const float *, int, const float *, int,
		      float, float *, int);
typedef void gemm_f64(int, int, int, int, int, int, double, const double *, int, const double *,
		      int, double, double *, int);

struct blas {
	gemm_f32 *f32;
	gemm_f64 *f64;
	void (*threads)(int);
};

/* One side of a ratio. */
struct side {
	enum pe_elem elem;
	size_t rows, keys, dim, value_dim, heads, threads;
	bool causal, t5;
	size_t clipped, unclipped, valued; /* rows of relative tables */
	int64_t window;
	bool blas;    /* the two products instead */
	double times; /* the ratio counts it so many times; 0: once */
};

struct bench {
	struct blas blas;
	float *noise; /* values for everything, f32 and f64 */
	double *noise64;
	void *out;
	void *band;
};

#define NOISE ((size_t)1 << 25)

static double
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const void *
values(const struct bench *b, enum pe_elem elem, size_t from)
{
	return elem == PE_F32 ? (const void *)(b->noise + from) : (const void *)(b->noise64 + from);
}

static void
run_blas(const struct bench *b, const struct side *s)
{
	const int keys = (int)s->keys, dim = (int)s->dim, wide = (int)s->value_dim;

	b->blas.threads((int)s->threads);
	for (size_t r = 0; r < s->rows; r += BAND) {
		const int rows = (int)(s->rows - r < BAND ? s->rows - r : BAND);

		if (s->elem == PE_F32) {
			b->blas.f32(101, 111, 112, rows, keys, dim, 1, b->noise, dim, b->noise, dim,
				    0, b->band, keys);
			b->blas.f32(101, 111, 111, rows, wide, keys, 1, b->band, keys, b->noise,
				    wide, 0, b->out, wide);
		} else {
			b->blas.f64(101, 111, 112, rows, keys, dim, 1, b->noise64, dim, b->noise64,
				    dim, 0, b->band, keys);
			b->blas.f64(101, 111, 111, rows, wide, keys, 1, b->band, keys, b->noise64,
				    wide, 0, b->out, wide);
		}
	}
}

static struct pe_attend_relative
relative(const struct bench *b, const struct side *s, size_t count, bool clip)
{
	return (struct pe_attend_relative){
	    .vectors = values(b, s->elem, 0),
	    .count = count,
	    .first = -(int64_t)(count / 2),
	    .clip = clip,
	};
}

static void
run_attend(const struct bench *b, const struct side *s)
{
	struct pe_attend_relative relatives[2], valued = relative(b, s, s->valued, true);
	struct pe_attend_spec spec = {
	    .elem = s->elem,
	    .heads = s->heads,
	    .kv_heads = s->heads,
	    .by_heads = s->heads > 1, /* noise is noise however it is laid out */
	    .dim = s->dim,
	    .value_dim = s->value_dim,
	    .keys = s->keys,
	    .key = values(b, s->elem, 0),
	    .value = values(b, s->elem, s->keys * s->heads * s->dim),
	    .scale = 1 / sqrt((double)s->dim),
	    .causal = s->causal,
	    .window = s->window,
	    .relative = relatives,
	    .relative_value = s->valued > 0 ? &valued : NULL,
	    .threads = s->threads,
	};
	struct pe_attend_rows rows = {.query = values(b, s->elem, 128),
				      .rows = s->rows,
				      .position =
					  s->rows < s->keys ? (int64_t)(s->keys - s->rows) : 0};
	struct pe_attend *plan;
	struct pe_error e;

	if (s->clipped > 0)
		relatives[spec.relatives++] = relative(b, s, s->clipped, true);
	if (s->unclipped > 0)
		relatives[spec.relatives++] = relative(b, s, s->unclipped, false);
	if (s->t5)
		rows.offsets = (struct pe_attend_offsets){
		    .values = values(b, s->elem, 0),
		    .first = -(rows.position + (int64_t)s->rows - 1),
		    .count = s->keys + s->rows - 1,
		};
	if (pe_attend_init(&plan, &spec, &e) || pe_attend_output(plan, &rows, b->out, NULL, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	pe_attend_free(plan);
}

static double
measure(const struct bench *b, const struct side *s, clockid_t clock)
{
	const double began = now(clock);

	if (s->blas)
		run_blas(b, s);
	else
		run_attend(b, s);
	return now(clock) - began;
}

static int
ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, ascending);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

#define PAIRS 15

/* Prints the median of ours / other, and ours in ms. Pairs until two seconds are over, at least
 * three. */
static void
ratio(const struct bench *b, const char *name, struct side ours, struct side other, double bar)
{
	/* one thread's own time, so that other work on the machine does not count; of several
	 * the time that passed */
	const clockid_t clock =
	    ours.threads + other.threads == 2 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
	const double began = now(CLOCK_MONOTONIC);
	double ratios[PAIRS], times[PAIRS];
	size_t n = 0;

	if (other.blas && b->blas.f32 == NULL)
		return;
	measure(b, &other, clock);
	measure(b, &ours, clock);
	while (n < PAIRS && (n < 3 || now(CLOCK_MONOTONIC) - began < 2)) {
		const double theirs =
		    measure(b, &other, clock) * (other.times > 0 ? other.times : 1);

		times[n] = measure(b, &ours, clock);
		ratios[n] = times[n] / theirs;
		n++;
	}
	const double r = median(ratios, n), t = median(times, n);
	const double products = 2.0 * (double)ours.rows * (double)ours.keys *
				(double)(ours.dim + ours.value_dim) * (double)ours.heads;

	printf("%-34s %6.3f  bar %5.2f %s %9.2f ms %7.1f GF/s\n", name, r, bar,
	       r <= bar ? "    " : "MISS", t * 1e3, products / t * 1e-9);
	fflush(stdout);
}

static void
load_blas(struct blas *blas)
{
	void *library;

	/* The fastest the peer can be: its own choice of a kernel takes processors newer than
	 * itself for the oldest, and settings left on in the environment may halve its speed. */
	unsetenv("OPENBLAS_CORETYPE");
	unsetenv("OPENBLAS_L2_SIZE");
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512dq"))
		setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
	else if (__builtin_cpu_supports("avx2"))
		setenv("OPENBLAS_CORETYPE", "Haswell", 1);
#endif
	library = dlopen("libopenblas.so.0", RTLD_NOW);
	if (library == NULL) {
		printf("no OpenBLAS: its ratios are left out\n");
		return;
	}
	*(void **)&blas->f32 = dlsym(library, "cblas_sgemm");
	*(void **)&blas->f64 = dlsym(library, "cblas_dgemm");
	*(void **)&blas->threads = dlsym(library, "openblas_set_num_threads");
}

static struct side
side(enum pe_elem elem, size_t tokens, size_t dim)
{
	return (struct side){.elem = elem,
			     .rows = tokens,
			     .keys = tokens,
			     .dim = dim,
			     .value_dim = dim,
			     .heads = 1,
			     .threads = 1};
}

static void
against_blas(const struct bench *b, const char *name, struct side ours, double bar)
{
	struct side theirs = ours;

	theirs.blas = true;
	theirs.times = (double)ours.heads;
	ratio(b, name, ours, theirs, bar);
}

static void
against_products(const struct bench *b)
{
	struct side s;
	char name[80];

	for (size_t t = 1024; t <= 32768; t *= 2) {
		s = side(PE_F32, t, 64);
		s.rows = t > 8192 ? 2048 : t;
		s.t5 = true;
		snprintf(name, sizeof name, "f32 t5 T=%zu / 2 sgemm", t);
		against_blas(b, name, s, t > 8192 ? 1.3 : 1.15);
	}
	s = side(PE_F32, 8192, 64);
	s.threads = 2;
	against_blas(b, "f32 T=8192 2 threads / 2 sgemm", s, 1.15);
	s = side(PE_F64, 4096, 64);
	s.t5 = true;
	against_blas(b, "f64 t5 T=4096 / 2 dgemm", s, 1.3);
}

static void
against_itself(const struct bench *b)
{
	struct side s = side(PE_F32, 8192, 64), other = s;

	s.threads = 2;
	ratio(b, "2 threads / 1", s, other, 1 / 1.8);
	s = other;
	s.causal = true;
	ratio(b, "causal / bidirectional", s, other, 1 / 1.7);
	s = other = side(PE_F32, 2048, 64);
	s.heads = 8;
	other.times = 8;
	ratio(b, "H=8 / 8 times H=1", s, other, 1);
	s = other = side(PE_F32, 8192, 64);
	s.window = 256;
	ratio(b, "window 256 / all", s, other, 0.1);
	s = other = side(PE_F32, 4096, 64);
	other.t5 = true;
	s.clipped = 129;
	ratio(b, "shaw keys K=64 / t5", s, other, 1.5);
	s.valued = 129;
	ratio(b, "shaw keys, values K=64 / t5", s, other, 1.5);
	s.clipped = s.valued = 0;
	s.unclipped = 127;
	ratio(b, "huang L=64 / t5", s, other, 1.5);
	s.unclipped = 2 * 4096 - 1;
	ratio(b, "huang L=T / t5", s, other, 1.6);
}

static void
against_shapes(const struct bench *b)
{
	static const size_t dims[] = {32, 64, 80, 128, 256};
	struct side s, other = side(PE_F32, 4096, 64);
	char name[80];

	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
		s = side(PE_F32, 4096, dims[i]);
		other.times = (double)dims[i] / 64;
		snprintf(name, sizeof name, "d=%zu / d=64 by work", dims[i]);
		ratio(b, name, s, other, 1.25);
	}
	for (size_t t = 1000; t <= 4097; t += 3097) {
		s = side(PE_F32, t, 64);
		other.times = (double)(t * t) / (4096.0 * 4096);
		snprintf(name, sizeof name, "T=%zu / T=4096 by work", t);
		ratio(b, name, s, other, 1.25);
	}
	s = side(PE_F32, 4096, 64);
	s.value_dim = 48;
	other.times = 112.0 / 128;
	ratio(b, "d_v=48 / d_v=64 by work", s, other, 1.25);
}

typedef float wide __attribute__((vector_size(16), aligned(4), may_alias));

/* One query row against 65,536 keys: its time over that of reading K and V once. */
static void
decode(const struct bench *b)
{
	struct side s = side(PE_F32, 65536, 64);
	double ours[9], reading[9];
	volatile float sink = 0;

	s.rows = 1;
	for (size_t i = 0; i < 9; i++) {
		const wide *x = (const wide *)b->noise;
		wide p = {0}, q = p, r = p, t = p;
		const double began = now(CLOCK_PROCESS_CPUTIME_ID);

		for (const wide *end = x + 2 * s.keys * s.dim / 4; x < end; x += 4) {
			p += x[0];
			q += x[1];
			r += x[2];
			t += x[3];
		}
		reading[i] = now(CLOCK_PROCESS_CPUTIME_ID) - began;
		sink = sink + p[0] + q[1] + r[2] + t[3];
		ours[i] = measure(b, &s, CLOCK_PROCESS_CPUTIME_ID);
	}
	printf("decode, 65536 keys: %.2f ms, reading K and V: %.2f ms\n", median(ours, 9) * 1e3,
	       median(reading, 9) * 1e3);
}

int
main(int argc, char **argv)
{
	struct bench b = {.noise = malloc(NOISE * sizeof(float)),
			  .noise64 = malloc(NOISE / 4 * sizeof(double)),
			  .out = malloc(NOISE * sizeof(float)),
			  .band = malloc(BAND * 32768 * sizeof(double))};
	const char *only = argc > 1 ? argv[1] : "pisd";

	if (b.noise == NULL || b.noise64 == NULL || b.out == NULL || b.band == NULL)
		return 1;
	for (size_t i = 0; i < NOISE; i++) {
		b.noise[i] = (float)((i * 2654435761u >> 7) % 4096) / 1024 - 2;
		if (i < NOISE / 4)
			b.noise64[i] = (double)b.noise[i];
	}
	load_blas(&b.blas);
	if (strchr(only, 'p'))
		against_products(&b);
	if (strchr(only, 'i'))
		against_itself(&b);
	if (strchr(only, 's'))
		against_shapes(&b);
	if (strchr(only, 'd'))
		decode(&b);
	free(b.noise);
	free(b.noise64);
	free(b.out);
	free(b.band);
	return 0;
}
