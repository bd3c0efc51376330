/* rope - rotary position embedding: pairs of a row's columns turn by position times frequency. */
#include "rope.h"

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "rope_kernel.h"
#include "round.h"
#include "turn.h"

enum {
	BLOCK_ROWS = 64, /* rows whose tables are made at a time, where a row is short */
	BLOCK_VALUES =
	    16 * 1024,   /* and at most so many cosines, which stay in the second-level cache */
	PRECISION = 160, /* of values that are printed: 53 bits and 107 to decide their rounding */
};

/* Pairs start, start + step, ... that take their position from one axis. */
struct run {
	const struct pe_rope *rope;
	size_t axis, start, step, count;
	struct pe_turn *turn;
};

struct pe_rope {
	struct pe_rope_spec spec;
	double *divisors;     /* our copy of what spec.scaling.divisors points to */
	struct pe_xpos *xpos; /* NULL: none */
	size_t pairs, block;
	struct run *runs;
	size_t run_count;
	const struct pe_rope_kernel *kernel;
};

/* ---- plan ---- */

static void
run_omega(const void *context, size_t i, mpfr_ptr x)
{
	const struct run *run = context;
	const struct pe_rope_spec *spec = &run->rope->spec;

	pe_scaling_omega(&spec->scaling, &spec->freq, run->start + i * run->step, x);
}

static void
run_scale(const void *context, mpfr_ptr x)
{
	const struct run *run = context;

	mpfr_set_si(x, run->rope->spec.inverse ? -1 : 1, MPFR_RNDN);
}

static void
run_gain(const void *context, mpfr_ptr x)
{
	const struct run *run = context;

	pe_scaling_gain(&run->rope->spec.scaling, x);
	if (run->rope->spec.inverse)
		mpfr_ui_div(x, 1, x, MPFR_RNDN);
}

static void
run_growth(const void *context, size_t i, double position, mpfr_ptr x)
{
	const struct run *run = context;

	pe_xpos_factor(run->rope->xpos, run->start + i * run->step, position, x);
}

static bool
run_growth_wide(const void *context, size_t i, double position, double x[2])
{
	const struct run *run = context;

	return pe_xpos_factor_wide(run->rope->xpos, run->start + i * run->step, position, x);
}

static size_t
axis_of(const struct pe_rope_spec *spec, size_t pair)
{
	return spec->axis != NULL ? spec->axis[pair] : 0;
}

/* Splits the pairs into evenly spaced runs of one axis: one run where there is one axis, one for
 * each section, and a few where axes alternate. The first pair of a run is the lowest that no
 * run has; its step is the way to the next pair of that axis. */
static size_t
next_run(const struct pe_rope_spec *spec, size_t pairs, bool *taken, struct run *run)
{
	size_t i = run->start;

	while (i < pairs && taken[i])
		i++;
	*run = (struct run){.axis = i < pairs ? axis_of(spec, i) : 0, .start = i, .step = 1};
	if (i == pairs)
		return 0;
	for (size_t j = i + 1; j < pairs; j++)
		if (!taken[j] && axis_of(spec, j) == run->axis) {
			run->step = j - i;
			break;
		}
	for (; i < pairs && !taken[i] && axis_of(spec, i) == run->axis; i += run->step) {
		taken[i] = true;
		run->count++;
	}
	return run->count;
}

static int
plan_run(struct pe_rope *p, const struct run *found, struct pe_error *e)
{
	struct run *run = &p->runs[p->run_count];
	struct pe_turn_source source = {
	    .pairs = found->count,
	    .omega = run_omega,
	    .scale = run_scale,
	    .gain = run_gain,
	    .context = run,
	    .angle = p->spec.angle,
	};

	if (p->xpos != NULL) {
		source.growth = run_growth;
		source.growth_wide = run_growth_wide;
	}
	*run = *found;
	run->rope = p;
	if (pe_turn_init(&run->turn, &source, e))
		return -1;
	p->run_count++;
	return 0;
}

static int
plan_runs(struct pe_rope *p, const struct pe_rope_spec *spec, struct pe_error *e)
{
	bool *taken = calloc(p->pairs, sizeof *taken);
	struct run found = {0};
	size_t runs = 0;

	if (taken == NULL)
		return pe_fail_memory(e);
	while (next_run(spec, p->pairs, taken, &found) > 0)
		runs++;
	p->runs = calloc(runs, sizeof *p->runs);
	if (p->runs == NULL) {
		free(taken);
		return pe_fail_memory(e);
	}
	memset(taken, 0, p->pairs * sizeof *taken);
	found = (struct run){0};
	while (next_run(spec, p->pairs, taken, &found) > 0)
		if (plan_run(p, &found, e)) {
			free(taken);
			return -1;
		}
	free(taken);
	return 0;
}

static const struct pe_rope_kernel *
best_kernel(void)
{
#if defined(__x86_64__) || defined(__amd64__)
	if (pe_cpu_has_v3())
		return &pe_rope_kernel_v3;
#endif
	return &pe_rope_kernel_base;
}

static int
copy_divisors(struct pe_rope *p, struct pe_error *e)
{
	if (p->spec.scaling.kind != PE_SCALING_LONGROPE)
		return 0;
	p->divisors = calloc(p->pairs, sizeof *p->divisors);
	if (p->divisors == NULL)
		return pe_fail_memory(e);
	memcpy(p->divisors, p->spec.scaling.divisors, p->pairs * sizeof *p->divisors);
	p->spec.scaling.divisors = p->divisors;
	return 0;
}

/* What undoes a query's factor is a key's. */
static int
plan_xpos(struct pe_rope *p, struct pe_error *e)
{
	struct pe_xpos_spec *xpos = &p->spec.xpos;

	if (xpos->role == PE_XPOS_NONE)
		return 0;
	xpos->pairs = p->pairs;
	if (p->spec.inverse)
		xpos->role = xpos->role == PE_XPOS_QUERY ? PE_XPOS_KEY : PE_XPOS_QUERY;
	return pe_xpos_init(&p->xpos, xpos, e);
}

int
pe_rope_init(struct pe_rope **plan, const struct pe_rope_spec *spec, struct pe_error *e)
{
	struct pe_rope *p;

	if (pe_freq_check(&spec->freq, e) ||
	    pe_scaling_check(&spec->scaling, &spec->freq, "scaling", false, e))
		return -1;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return pe_fail_memory(e);
	p->spec = *spec;
	p->spec.axis = NULL; /* the runs hold it */
	p->kernel = best_kernel();
	p->pairs = spec->rotary_dim / 2;
	if (p->spec.reach == 0)
		p->spec.reach = p->pairs;
	p->block = BLOCK_VALUES / p->pairs;
	p->block = p->block < 1 ? 1 : p->block > BLOCK_ROWS ? BLOCK_ROWS : p->block;
	if (copy_divisors(p, e) || plan_xpos(p, e) || plan_runs(p, spec, e)) {
		pe_rope_free(p);
		return -1;
	}
	*plan = p;
	return 0;
}

void
pe_rope_free(struct pe_rope *plan)
{
	if (plan == NULL)
		return;
	for (size_t k = 0; k < plan->run_count; k++)
		pe_turn_free(plan->runs[k].turn);
	free(plan->runs);
	pe_xpos_free(plan->xpos);
	free(plan->divisors);
	free(plan);
}

size_t
pe_rope_pairs(const struct pe_rope *plan)
{
	return plan->pairs;
}

size_t
pe_rope_scratch(const struct pe_rope *plan)
{
	return 2 * plan->pairs * plan->block;
}

/* ---- tables ---- */

static struct pe_turn_layout
layout_of(const struct pe_rope *p, const struct run *run, unsigned what)
{
	const size_t sines = what & PE_ROPE_COSINES ? p->pairs : 0;

	return (struct pe_turn_layout){
	    .cosine = run->start,
	    .sine = sines + run->start,
	    .step = run->step,
	    .cosines = what & PE_ROPE_COSINES ? run->count : 0,
	    .sines = what & PE_ROPE_SINES ? run->count : 0,
	    .row = what & PE_ROPE_SINES ? sines + p->pairs : sines,
	};
}

void
pe_rope_table(const struct pe_rope *plan, unsigned what, int64_t first, size_t rows,
	      enum pe_elem elem, void *out)
{
	for (size_t k = 0; k < plan->run_count; k++) {
		const struct pe_turn_layout layout = layout_of(plan, &plan->runs[k], what);
		pe_turn_rows(plan->runs[k].turn, first, 1, rows, elem, &layout, out);
	}
}

void
pe_rope_table_at(const struct pe_rope *plan, unsigned what, const double *positions, size_t rows,
		 enum pe_elem elem, void *out)
{
	const size_t axes = plan->spec.axes;
	double axis[BLOCK_ROWS];

	for (size_t k = 0; k < plan->run_count; k++) {
		const struct run *run = &plan->runs[k];
		struct pe_turn_layout layout = layout_of(plan, run, what);

		for (size_t done = 0, n; done < rows; done += n) {
			n = rows - done < BLOCK_ROWS ? rows - done : BLOCK_ROWS;
			for (size_t r = 0; r < n; r++)
				axis[r] = positions[(done + r) * axes + run->axis];
			pe_turn_rows_at(run->turn, axis, n, elem, &layout, out);
			layout.sine += n * layout.row;
			layout.cosine += n * layout.row;
		}
	}
}

/* ---- rotation ---- */

static void
rotate_head(const struct pe_rope *p, enum pe_elem elem, void *head, const double *cosine,
	    const double *sine)
{
	const size_t reach = p->spec.reach;
	double *const f64 = head;
	float *const f32 = head;

	if (p->spec.pairing == PE_PAIR_HALVES && elem == PE_F32)
		p->kernel->halves_f32(f32, f32 + reach, cosine, sine, p->pairs);
	else if (p->spec.pairing == PE_PAIR_HALVES)
		p->kernel->halves_f64(f64, f64 + reach, cosine, sine, p->pairs);
	else if (elem == PE_F32)
		p->kernel->interleaved_f32(f32, cosine, sine, p->pairs);
	else
		p->kernel->interleaved_f64(f64, cosine, sine, p->pairs);
}

/* The rows of a block, whose cosines and sines are in the table. */
static void
rotate_block(const struct pe_rope *p, size_t rows, size_t heads, enum pe_elem elem, char *data,
	     const double *table)
{
	const size_t head_bytes = p->spec.head_dim * pe_elem_size(elem);

	for (size_t r = 0; r < rows; r++, table += 2 * p->pairs)
		for (size_t h = 0; h < heads; h++, data += head_bytes)
			rotate_head(p, elem, data, table, table + p->pairs);
}

void
pe_rope_rotate(const struct pe_rope *plan, int64_t first, size_t rows, size_t heads,
	       enum pe_elem elem, void *data, double *scratch)
{
	const size_t row_bytes = heads * plan->spec.head_dim * pe_elem_size(elem);

	for (size_t done = 0, n; done < rows; done += n) {
		n = rows - done < plan->block ? rows - done : plan->block;
		pe_rope_table(plan, PE_ROPE_COSINES | PE_ROPE_SINES, first + (int64_t)done, n,
			      PE_F64, scratch);
		rotate_block(plan, n, heads, elem, (char *)data + done * row_bytes, scratch);
	}
}

void
pe_rope_rotate_at(const struct pe_rope *plan, const double *positions, size_t rows, size_t heads,
		  enum pe_elem elem, void *data, double *scratch)
{
	const size_t row_bytes = heads * plan->spec.head_dim * pe_elem_size(elem);

	for (size_t done = 0, n; done < rows; done += n) {
		n = rows - done < plan->block ? rows - done : plan->block;
		pe_rope_table_at(plan, PE_ROPE_COSINES | PE_ROPE_SINES,
				 positions + done * plan->spec.axes, n, PE_F64, scratch);
		rotate_block(plan, n, heads, elem, (char *)data + done * row_bytes, scratch);
	}
}

/* ---- what was derived ---- */

void
pe_rope_omegas(const struct pe_rope *plan, enum pe_elem elem, void *out)
{
	mpfr_t omega;

	mpfr_init2(omega, PRECISION);
	for (size_t i = 0; i < plan->pairs; i++) {
		pe_scaling_omega(&plan->spec.scaling, &plan->spec.freq, i, omega);
		pe_round_store(elem, out, i, omega);
	}
	mpfr_clear(omega);
}

void
pe_rope_wavelengths(const struct pe_rope *plan, enum pe_elem elem, void *out)
{
	mpfr_t omega, turn;

	mpfr_inits2(PRECISION, omega, turn, (mpfr_ptr)NULL);
	for (size_t i = 0; i < plan->pairs; i++) {
		pe_scaling_omega(&plan->spec.scaling, &plan->spec.freq, i, omega);
		mpfr_const_pi(turn, MPFR_RNDN);
		mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
		mpfr_div(omega, turn, omega, MPFR_RNDN);
		pe_round_store(elem, out, i, omega);
	}
	mpfr_clears(omega, turn, (mpfr_ptr)NULL);
}

void
pe_rope_base(const struct pe_rope *plan, enum pe_elem elem, void *out)
{
	mpfr_t base;

	mpfr_init2(base, PRECISION);
	pe_scaling_base(&plan->spec.scaling, &plan->spec.freq, base);
	pe_round_store(elem, out, 0, base);
	mpfr_clear(base);
}

double
pe_rope_gain(const struct pe_rope *plan)
{
	mpfr_t gain;

	mpfr_init2(gain, PRECISION);
	pe_scaling_gain(&plan->spec.scaling, gain);
	const double value = mpfr_get_d(gain, MPFR_RNDN);
	mpfr_clear(gain);
	return value;
}
