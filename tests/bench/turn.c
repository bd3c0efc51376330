/* turn - nanoseconds a value of the angle engine, by element and kernel, beside a bare write of
 * the same memory.
 *
 *     turn [DIM [ROWS]]        tab separated: what, kernel, element, ns a value, GB/s; the least of several runs */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "freq.h"
#include "turn.h"
#include "turn_kernel.h"

enum { REPEATS = 9, BLOCK = 256 << 10 };

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
omega(const void *context, size_t i, mpfr_ptr x)
{
	pe_freq_omega(context, i, x);
}

static void
omegas(const void *context, size_t first, size_t n, mpfr_t *x)
{
	pe_freq_omegas(context, first, n, x);
}

struct bench {
	const struct pe_turn *plan;
	struct pe_turn_layout layout;
	size_t rows, block; /* in all, and in one call */
	enum pe_elem elem;
	void *out;
};

static void
run_rows(const struct bench *b)
{
	for (size_t done = 0; done < b->rows; done += b->block)
		pe_turn_rows(b->plan, (int64_t)done, 1, b->block, b->elem, &b->layout, b->out);
}

static void
run_list(const struct bench *b)
{
	double positions[64];

	for (size_t done = 0; done < b->rows; done += 64) {
		for (size_t r = 0; r < 64; r++)
			positions[r] = (double)(done + r) * 0.37;
		pe_turn_rows_at(b->plan, positions, 64, b->elem, &b->layout, b->out);
	}
}

static void
run_memset(const struct bench *b)
{
	for (size_t done = 0; done < b->rows; done += b->block) {
		memset(b->out, (int)done, b->block * b->layout.row * pe_elem_size(b->elem));
		__asm__ volatile("" : : "r"(b->out) : "memory");
	}
}

static void
report(const char *what, const char *kernel, const struct bench *b,
       void (*run)(const struct bench *))
{
	const double values = (double)b->rows * (double)b->layout.row;
	double best = 1e9;

	run(b);
	for (int k = 0; k < REPEATS; k++) {
		const double start = seconds();
		run(b);
		const double time = seconds() - start;
		best = time < best ? time : best;
	}
	printf("%s\t%s\t%s\t%.4f\t%.2f\n", what, kernel, pe_elem_name(b->elem), best * 1e9 / values,
	       values * (double)pe_elem_size(b->elem) / best * 1e-9);
}

int
main(int argc, char **argv)
{
	static const enum pe_elem elements[] = {PE_F32, PE_F64, PE_F16, PE_BF16};
	const size_t dim = argc > 1 ? strtoul(argv[1], NULL, 10) : 512;
	const size_t rows = argc > 2 ? strtoul(argv[2], NULL, 10) : 8192;
	const struct pe_freq freq = {.pairs = dim / 2, .base = 10000, .half = (double)dim / 2};
	const struct pe_turn_source source = {
	    .pairs = dim / 2, .omega = omega, .omegas = omegas, .context = &freq};
	const struct pe_turn_kernel *kernel;
	struct pe_turn *plan;
	struct pe_error e;

	const double start = seconds();
	if (dim < 2 || pe_turn_init(&plan, &source, &e))
		return 1;
	printf("# d=%zu rows=%zu; plan %.1f us\n", dim, rows, (seconds() - start) * 1e6);
	for (size_t n = 0; n < sizeof elements / sizeof *elements; n++) {
		const size_t row = dim * pe_elem_size(elements[n]);
		struct bench b = {
		    .plan = plan,
		    .layout =
			{.cosine = 1, .step = 2, .sines = dim / 2, .cosines = dim / 2, .row = dim},
		    .rows = rows,
		    .block = BLOCK / row > 64 ? BLOCK / row : 64,
		    .elem = elements[n],
		};
		b.out = aligned_alloc(4096, b.block * row);
		if (b.out == NULL)
			return 1;
		report("memset", "-", &b, run_memset);
		for (size_t k = 0; (kernel = pe_turn_kernel_at(k)) != NULL; k++) {
			if (!kernel->runs())
				continue;
			pe_turn_use(plan, kernel);
			report("rows", kernel->name, &b, run_rows);
			report("list", kernel->name, &b, run_list);
		}
		free(b.out);
	}
	pe_turn_free(plan);
	return 0;
}
