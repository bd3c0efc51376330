/* turn - sine and cosine of position * frequency, correctly rounded at every position.
 *
 * Rows go three ways, each the fall-back of the one before: a kernel rotates anchor rows and
 * keeps what its error bound decides (turn_lanes.h); a pair that stays undecided, or grows with
 * its position, is made anew from its fixed-point phase, to 96 bits (settle_lanes); MPFR is
 * asked, with more and more bits (turn_exact.c). */
#include "turn.h"

#include <math.h>
#include <stdlib.h>

#include "round.h"
#include "turn_kernel.h"
#include "wide.h"

/* Radians per position, wide. slack: relative error of the product with a position, 0 where that
 * is exact. */
struct rate {
	double wide[2], slack;
};

struct pe_turn {
	struct pe_turn_source source;
	const struct pe_turn_kernel *kernel;
	bool near;                  /* all steps and the gain are within reach of the fast ways */
	double gain[2];             /* wide */
	struct pe_turn_step *steps; /* of the pairs */
	double *grain;              /* a value's error is below |gain| * |position| * grain */
	struct pe_turn_wide *by;    /* 0 .. GROUP positions, for LANES pairs each; or NULL */
	struct rate *rates;         /* where angles are rounded, */
	struct pe_turn_step unit;   /* and the step of one radian */
};

/* More than all underflows of a kernel cost, before the gain or behind it. */
#define TINY 0x1p-960

/* WIDTH: lanes that settle works on. KEPT: pairs up to which a plan keeps rotations, which take
 * 34 times the memory of a row of doubles. WORTH: rows from which it pays to make rotations for
 * them. */
enum {
	PRECISION = 256,
	ROTATIONS = PE_TURN_GROUP + 1,
	WIDTH = PE_TURN_WIDTH,
	KEPT = 1 << 14,
	WORTH = PE_TURN_GROUP / 2,
};

/* ---- the plan ---- */

const struct pe_turn_kernel *
pe_turn_kernel_at(size_t k)
{
#if defined(__x86_64__) || defined(__amd64__)
	static const struct pe_turn_kernel *const kernels[] = {&pe_turn_v4, &pe_turn_v3,
							       &pe_turn_base};
#else
	static const struct pe_turn_kernel *const kernels[] = {&pe_turn_base};
#endif
	return k < sizeof kernels / sizeof *kernels ? kernels[k] : NULL;
}

void
pe_turn_use(struct pe_turn *plan, const struct pe_turn_kernel *kernel)
{
	plan->kernel = kernel;
}

static const struct pe_turn_kernel *
best_kernel(void)
{
	size_t k = 0;

	while (!pe_turn_kernel_at(k)->runs())
		k++;
	return pe_turn_kernel_at(k);
}

static void
to_wide(mpfr_ptr x, double wide[2])
{
	wide[0] = mpfr_get_d(x, MPFR_RNDN);
	mpfr_sub_d(x, x, wide[0], MPFR_RNDN);
	wide[1] = mpfr_get_d(x, MPFR_RNDN);
}

/* Kernels multiply gains in double arithmetic: 2^+-900 leaves room for the low parts and for
 * splitting. */
static bool
plan_gain(struct pe_turn *p)
{
	mpfr_t gain;

	mpfr_init2(gain, PRECISION);
	mpfr_set_ui(gain, 1, MPFR_RNDN);
	if (p->source.gain != NULL)
		p->source.gain(p->source.context, gain);
	const bool near = mpfr_zero_p(gain) || (mpfr_number_p(gain) && mpfr_get_exp(gain) < 900 &&
						mpfr_get_exp(gain) > -900);
	to_wide(gain, p->gain);
	mpfr_clear(gain);
	return near;
}

/* A position of 53 bits times a step whose error is below 2^-(192 + shift) turns, times 2 pi:
 * 2^-189.3 |position|. An anchor that is turned on errs by up to five times this: by the steps
 * from it too, which are less than two positions apart. */
static bool
plan_step(struct pe_turn *p, size_t i, mpfr_ptr omega)
{
	bool exact = pe_turn_exact_step(&p->source, i, omega), near;
	mpfr_t wider;

	p->grain[i] = 0x1p-186;
	if (mpfr_regular_p(omega) == 0 || mpfr_get_exp(omega) <= 0) {
		near = pe_turn_step_set(&p->steps[i], omega, exact);
		p->grain[i] = ldexp(p->grain[i], -p->steps[i].shift);
		return near;
	}
	/* whole turns take bits from the fraction */
	mpfr_init2(wider, mpfr_get_prec(omega) + 64);
	p->source.omega(p->source.context, i, wider);
	exact = pe_turn_exact_step(&p->source, i, wider);
	near = pe_turn_step_set(&p->steps[i], wider, exact);
	mpfr_clear(wider);
	return near;
}

/* A rate that is one double is met again with three times as many bits before it is taken for
 * exact: then the product is, and a tie of the rounded angle is known for one. */
static bool
plan_rate(struct pe_turn *p, size_t i, mpfr_ptr omega)
{
	struct rate *rate = &p->rates[i];
	mpfr_t check;

	pe_turn_exact_rate(&p->source, omega);
	to_wide(omega, rate->wide);
	rate->slack = 0x1p-100;
	if (rate->wide[1] != 0)
		return true;
	mpfr_init2(check, 3 * mpfr_get_prec(omega));
	p->source.omega(p->source.context, i, check);
	pe_turn_exact_rate(&p->source, check);
	if (mpfr_cmp_d(check, rate->wide[0]) == 0)
		rate->slack = 0;
	mpfr_clear(check);
	return true;
}

static void
plan_unit(struct pe_turn *p, mpfr_ptr x)
{
	mpfr_const_pi(x, MPFR_RNDN);
	mpfr_ui_div(x, 1, x, MPFR_RNDN);
	mpfr_div_2ui(x, x, 1, MPFR_RNDN);
	(void)pe_turn_step_set(&p->unit, x, false);
}

/* by[0] .. by[GROUP] turn n pairs by 0, 1, ... strides. */
static void
plan_rotations(const struct pe_turn *p, size_t first, size_t n, int64_t stride,
	       struct pe_turn_wide *by)
{
	static const double one[2] = {1, 0};
	const size_t lanes = (n + WIDTH - 1) / WIDTH * WIDTH;
	struct pe_turn_phase phase;

	for (size_t i = 0; i < lanes; i++) {
		by[0].sh[i] = by[0].sl[i] = by[0].cl[i] = 0;
		by[0].ch[i] = 1;
	}
	pe_turn_phases(&phase, p->steps + first, n, pe_turn_position_of_integer(stride));
	p->kernel->seed(&by[1], &phase, lanes, one);
	for (size_t k = 2; k < ROTATIONS; k++) {
		for (size_t i = 0; i < lanes; i++) {
			by[k].sh[i] = by[k - 1].sh[i];
			by[k].sl[i] = by[k - 1].sl[i];
			by[k].ch[i] = by[k - 1].ch[i];
			by[k].cl[i] = by[k - 1].cl[i];
		}
		p->kernel->turn_wide(&by[k], &by[1], lanes);
	}
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Steps or rates of n <= LANES pairs; x is room for them. */
static bool
plan_some(struct pe_turn *p, size_t first, size_t n, mpfr_t *x)
{
	const struct pe_turn_source *source = &p->source;
	bool near = true;

	if (source->omegas != NULL)
		source->omegas(source->context, first, n, x);
	for (size_t k = 0; k < n && near; k++) {
		if (source->omegas == NULL)
			source->omega(source->context, first + k, x[k]);
		near = source->angle != PE_ELEM_NONE ? plan_rate(p, first + k, x[k])
						     : plan_step(p, first + k, x[k]);
	}
	return near;
}

static void
plan_pairs(struct pe_turn *p)
{
	const size_t pairs = p->source.pairs, room = least(pairs, PE_TURN_LANES);
	mpfr_t x[PE_TURN_LANES];

	for (size_t k = 0; k < room; k++)
		mpfr_init2(x[k], PE_TURN_STEP_BITS);
	p->near = plan_gain(p);
	for (size_t i = 0, n; i < pairs && p->near; i += n) {
		n = least(pairs - i, PE_TURN_LANES);
		p->near = plan_some(p, i, n, x);
		if (p->near && p->by != NULL)
			plan_rotations(p, i, n, 1, p->by + i / PE_TURN_LANES * ROTATIONS);
	}
	if (p->rates != NULL && pairs > 0)
		plan_unit(p, x[0]);
	for (size_t k = 0; k < room; k++)
		mpfr_clear(x[k]);
}

int
pe_turn_init(struct pe_turn **plan, const struct pe_turn_source *source, struct pe_error *e)
{
	const size_t pairs = source->pairs;
	const size_t chunks = pairs / PE_TURN_LANES + (pairs % PE_TURN_LANES != 0);
	struct pe_turn *p = calloc(1, sizeof *p);

	if (p == NULL)
		return pe_fail_memory(e);
	p->source = *source;
	p->kernel = best_kernel();
	if (source->angle != PE_ELEM_NONE) {
		p->rates = calloc(pairs + 1, sizeof *p->rates);
	} else {
		p->steps = calloc(pairs + 1, sizeof *p->steps);
		p->grain = calloc(pairs + 1, sizeof *p->grain);
		if (pairs <= KEPT)
			p->by = aligned_alloc(_Alignof(struct pe_turn_wide),
					      (chunks + 1) * ROTATIONS * sizeof *p->by);
	}
	if (p->rates == NULL &&
	    (p->steps == NULL || p->grain == NULL || (p->by == NULL && pairs <= KEPT))) {
		pe_turn_free(p);
		return pe_fail_memory(e);
	}
	plan_pairs(p);
	*plan = p;
	return 0;
}

void
pe_turn_free(struct pe_turn *plan)
{
	if (plan == NULL)
		return;
	free(plan->steps);
	free(plan->grain);
	free(plan->by);
	free(plan->rates);
	free(plan);
	mpfr_free_cache();
}

/* ---- angles at one position ---- */

/* round(rate * position), decided by the wide product, whose error is below 2^-103 of it, or by
 * MPFR. */
static double
rounded_angle(const struct pe_turn *p, size_t i, double position)
{
	const struct rate *rate = &p->rates[i];
	const double high = position * rate->wide[0];
	const double low = fma(position, rate->wide[0], -high) + position * rate->wide[1];
	const double slack = fabs(high) * rate->slack;

	if (position == 0)
		return 0;
	if (fabs(high) > 0x1p-900 && fabs(high) < 0x1p900) {
		const uint64_t bits = pe_round_bits_wide(p->source.angle, high, low - slack);
		if (bits == pe_round_bits_wide(p->source.angle, high, low + slack))
			return pe_round_value(p->source.angle, bits);
	}
	return pe_turn_exact_angle(&p->source, i, position);
}

/* The phases of n pairs at a position. slop[k]: what they may be off, times |gain|. False if an
 * angle lies beyond the fixed point. none[k]: lane k is an entry of the table, exactly; may be
 * NULL. */
static bool
phases_at(const struct pe_turn *p, size_t first, size_t n, double position,
	  struct pe_turn_phase *phase, double *slop, bool *none)
{
	const struct pe_turn_position at = pe_turn_position_of(position);

	for (size_t k = 0; k < n; k++) {
		bool zero;
		if (p->source.angle == PE_ELEM_NONE) {
			zero = pe_turn_phase_set(phase, k, &p->steps[first + k], at);
			slop[k] = fabs(position) * p->grain[first + k];
		} else {
			const double angle = rounded_angle(p, first + k, position);
			if (!(fabs(angle) < 0x1p63))
				return false;
			zero = pe_turn_phase_set(phase, k, &p->unit, pe_turn_position_of(angle));
			slop[k] = fabs(angle) * 0x1p-186;
		}
		if (none != NULL)
			none[k] = zero;
	}
	pe_turn_phase_pad(phase, n);
	return true;
}

/* ---- the second and third way: pair by pair ---- */

static bool
decide(enum pe_elem elem, double high, double low, double slack, uint64_t *bits)
{
	*bits = pe_round_bits_wide(elem, high, low - slack);
	return *bits == pe_round_bits_wide(elem, high, low + slack);
}

/* Multiplies lane k by the growth of pair i. Returns its size, 0 where only MPFR reaches that far. */
static double
grow(const struct pe_turn *p, size_t i, double position, struct pe_turn_wide *w, size_t k)
{
	double by[2];

	if (!p->source.growth_wide(p->source.context, i, position, by) ||
	    fabs(p->gain[0]) * by[0] > 0x1p900)
		return 0;
	const struct pe_wide growth = {by[0], by[1]};
	const struct pe_wide s = pe_wide_multiply((struct pe_wide){w->sh[k], w->sl[k]}, growth);
	const struct pe_wide c = pe_wide_multiply((struct pe_wide){w->ch[k], w->cl[k]}, growth);
	w->sh[k] = s.high, w->sl[k] = s.low;
	w->ch[k] = c.high, w->cl[k] = c.low;
	return growth.high;
}

/* Up to 8 pairs: bit patterns, correctly rounded. */
static void
settle_lanes(const struct pe_turn *p, size_t first, size_t n, double position, enum pe_elem elem,
	     uint64_t sine[WIDTH], uint64_t cosine[WIDTH])
{
	const double gain = fabs(p->gain[0]);
	const bool grows = p->source.growth != NULL;
	const double error =
	    grows ? 0x1p-95 : 0x1p-96; /* a growth adds 2^-98, its product 2^-103 */
	struct pe_turn_phase phase;
	struct pe_turn_wide w;
	double slop[WIDTH];
	bool none[WIDTH];
	const bool near = p->near && phases_at(p, first, n, position, &phase, slop, none);

	if (near)
		p->kernel->seed(&w, &phase, WIDTH, p->gain);
	for (size_t k = 0; k < n; k++) {
		bool s = false, c = false;
		const double growth =
		    near && grows ? grow(p, first + k, position, &w, k) : (double)near;
		if (growth > 0) {
			const double slack =
			    growth * (gain * slop[k] + TINY * fmax(gain, 1)) + (grows ? TINY : 0);
			sine[k] = cosine[k] = 0; /* a zero of the real formula is +0 */
			s = gain == 0 || (none[k] && phase.entry[0][k] == 0) ||
			    decide(elem, w.sh[k], w.sl[k], fabs(w.sh[k]) * error + slack, &sine[k]);
			c = gain == 0 || (none[k] && phase.entry[2][k] == 0) ||
			    decide(elem, w.ch[k], w.cl[k], fabs(w.ch[k]) * error + slack,
				   &cosine[k]);
		}
		pe_turn_exact(&p->source, first + k, position, elem, s ? NULL : &sine[k],
			      c ? NULL : &cosine[k]);
	}
}

/* Writes some pairs of one row. lane: the first one's place in the row. */
static void
settle(const struct pe_turn *p, size_t first, size_t lane, size_t n, double position,
       enum pe_elem elem, const struct pe_turn_job *row)
{
	uint64_t sine[WIDTH], cosine[WIDTH];

	for (size_t done = 0; done < n; done += WIDTH) {
		const size_t some = least(n - done, WIDTH);
		settle_lanes(p, first + done, some, position, elem, sine, cosine);
		for (size_t k = 0, at = lane + done; k < some; k++, at++) {
			if (at < row->sines)
				pe_round_put(elem, row->sine, at * row->step, sine[k]);
			if (at < row->cosines)
				pe_round_put(elem, row->cosine, at * row->step, cosine[k]);
		}
	}
}

/* ---- the first way: rows by a kernel ---- */

/* A kernel's rows of one element. turned: the error of a value of size 1 behind SPAN / GROUP + 1
 * = 9 rotations, u = 2^-53. In single arithmetic each errs by 3 u (|s rc| + |c rs|), that is by
 * 4.6 u of the pair's length at most; with the seed's u and the slack's own it makes 44 u. Sines
 * that stay small err in proportion: by 29 u of their bound, and by 25 u of it for what the
 * cosines' error puts in. 56 u < 2^-47. In wide arithmetic what counts is the rotation's own
 * seed, which errs by 2^-97 and is taken SPAN times: 2^-90, and 153 products (16 to make the
 * rotation by GROUP, and one more, nine times) that err by 2^-101.5 each: 2^-89.9 in all. floor:
 * more than any underflow costs, and, for bf16, so much that no subnormal value is decided,
 * because cut_odd needs a normal float. */
struct method {
	unsigned (*rows)(const struct pe_turn_job *job);
	void (*turn)(struct pe_turn_wide *w, const struct pe_turn_wide *r, size_t lanes);
	double turned, floor;
	size_t size;
};

static struct method
method_of(const struct pe_turn *p, enum pe_elem elem)
{
	const struct pe_turn_kernel *k = p->kernel;
	struct method m = {k->rows_f32, k->turn_high, 0x1p-47, TINY, pe_elem_size(elem)};

	if (elem == PE_F64) {
		m.rows = k->rows_f64;
		m.turn = k->turn_wide;
		m.turned = 0x1p-88;
	} else if (elem == PE_F16) {
		m.rows = k->rows_f16;
	} else if (elem == PE_BF16) {
		m.rows = k->rows_bf16;
		m.floor = 0x1p-125;
	}
	m.floor *= fmax(fabs(p->gain[0]), 1);
	return m;
}

/* What is written for some pairs of a run of rows. */
static struct pe_turn_job
job_of(const struct pe_turn_layout *l, size_t first, size_t n, size_t size, void *out)
{
	const size_t beside = l->sine < l->cosine ? l->cosine - l->sine : l->sine - l->cosine;

	return (struct pe_turn_job){
	    .end = n,
	    .sine = (char *)out + (l->sine + first * l->step) * size,
	    .cosine = (char *)out + (l->cosine + first * l->step) * size,
	    .sines = l->sines > first ? least(l->sines - first, n) : 0,
	    .cosines = l->cosines > first ? least(l->cosines - first, n) : 0,
	    .step = l->step,
	    .row = l->row,
	    .zipped = l->step == 2 && beside == 1 && l->sines > 0 && l->cosines > 0,
	    .cosine_first = l->cosine < l->sine,
	};
}

static void
next_rows(struct pe_turn_job *job, size_t rows, size_t size)
{
	job->sine = (char *)job->sine + rows * job->row * size;
	job->cosine = (char *)job->cosine + rows * job->row * size;
}

/* Makes the job's rows, at position + k * stride, and settles what the kernel leaves: where in a row
 * it is, is known by WIDTH lanes; in which row, is found row by row. */
static void
make_rows(const struct pe_turn *p, const struct method *m, size_t first, double position,
	  double stride, enum pe_elem elem, const struct pe_turn_job *job)
{
	struct pe_turn_job row = *job;
	unsigned open = m->rows(job);

	row.rows = 1;
	for (; open != 0; open >>= 1, row.begin += WIDTH) {
		if ((open & 1) == 0)
			continue;
		row.end = least(row.begin + WIDTH, job->end);
		row.by = job->by;
		row.sine = job->sine;
		row.cosine = job->cosine;
		for (size_t k = 0; k < job->rows; k++, row.by++, next_rows(&row, 1, m->size))
			if (m->rows(&row) != 0)
				settle(p, first + row.begin, row.begin, row.end - row.begin,
				       position + (double)k * stride, elem, &row);
	}
}

/* The bounds for an anchor of n pairs and what is turned from it. A sine stays below the
 * anchor's and the rotation's together, and errs in proportion; by: one stride, or NULL where
 * nothing turns. slack[k] holds what the phase may be off, and gets the bound of the sine; twice
 * that follows LANES behind; lanes without a pair get 0, which decides them. Returns the
 * cosines' bound. */
static double
set_slack(const struct pe_turn *p, const struct method *m, size_t n,
	  const struct pe_turn_wide *anchor, const struct pe_turn_wide *by, double *slack)
{
	const double gain = fabs(p->gain[0]), strides = gain * PE_TURN_SPAN;
	double slop = 0;

	for (size_t k = 0; k < n; k++) {
		const double turned = by != NULL ? strides * fabs(by->sh[k]) : 0;
		const double most = fabs(anchor->sh[k]) + turned;
		slop = slack[k] > slop ? slack[k] : slop;
		slack[k] = m->turned * (most < gain ? most : gain) + gain * slack[k] + m->floor;
		slack[PE_TURN_LANES + k] = 2 * slack[k];
	}
	for (size_t k = n; k % WIDTH != 0; k++)
		slack[k] = slack[PE_TURN_LANES + k] = 0;
	return gain * (m->turned + slop) + m->floor;
}

/* Pairs first .. first + n - 1, n <= LANES, of rows at even distances. */
static void
rotate_rows(const struct pe_turn *p, size_t first, size_t n, int64_t position, int64_t stride,
	    size_t rows, enum pe_elem elem, struct pe_turn_job job, const struct pe_turn_wide *by)
{
	const struct method m = method_of(p, elem);
	const size_t lanes = (n + WIDTH - 1) / WIDTH * WIDTH;
	struct pe_turn_phase phase;
	struct pe_turn_wide anchor;
	double slack[2 * PE_TURN_LANES];

	job.anchor = &anchor;
	job.by = by;
	job.slack = slack;
	job.spread = slack + PE_TURN_LANES;
	for (size_t done = 0; done < rows; done += job.rows) {
		const int64_t at = position + (int64_t)done * stride;
		if (done % PE_TURN_SPAN == 0) {
			const size_t run = least(rows - done, PE_TURN_SPAN);
			const double last = (double)(at + (int64_t)(run - 1) * stride);
			const double reach = fmax(fabs((double)at), fabs(last));
			pe_turn_phases(&phase, p->steps + first, n,
				       pe_turn_position_of_integer(at));
			p->kernel->seed(&anchor, &phase, lanes, p->gain);
			for (size_t k = 0; k < n; k++)
				slack[k] = reach * p->grain[first + k];
			job.slack_cosine = set_slack(p, &m, n, &anchor, &by[1], slack);
		} else {
			m.turn(&anchor, &by[PE_TURN_GROUP], lanes);
		}
		job.rows = least(rows - done, PE_TURN_GROUP);
		make_rows(p, &m, first, (double)at, (double)stride, elem, &job);
		next_rows(&job, job.rows, m.size);
	}
}

void
pe_turn_rows(const struct pe_turn *plan, int64_t first, int64_t stride, size_t rows,
	     enum pe_elem elem, const struct pe_turn_layout *layout, void *out)
{
	const size_t size = pe_elem_size(elem), pairs = plan->source.pairs;
	const bool kept = stride == 1 && plan->by != NULL;

	if (!plan->near || plan->rates != NULL || plan->source.growth != NULL || rows == 1 ||
	    (!kept && rows < WORTH)) {
		for (size_t r = 0; r < rows; r++) {
			const double position = (double)(first + (int64_t)r * stride);
			pe_turn_rows_at(plan, &position, 1, elem, layout,
					(char *)out + r * layout->row * size);
		}
		return;
	}
	for (size_t i = 0; i < pairs; i += PE_TURN_LANES) {
		const size_t n = least(pairs - i, PE_TURN_LANES);
		const struct pe_turn_job job = job_of(layout, i, n, size, out);
		if (kept) {
			rotate_rows(plan, i, n, first, stride, rows, elem, job,
				    plan->by + i / PE_TURN_LANES * ROTATIONS);
		} else {
			struct pe_turn_wide by[ROTATIONS];
			plan_rotations(plan, i, n, stride, by);
			rotate_rows(plan, i, n, first, stride, rows, elem, job, by);
		}
	}
}

/* Up to LANES pairs of one row at any position. */
static void
place_row(const struct pe_turn *p, size_t first, size_t n, double position, enum pe_elem elem,
	  struct pe_turn_job *job)
{
	const struct method m = method_of(p, elem);
	const size_t lanes = (n + WIDTH - 1) / WIDTH * WIDTH;
	struct pe_turn_phase phase;
	struct pe_turn_wide anchor, still;
	double slack[2 * PE_TURN_LANES];

	if (!p->near || p->source.growth != NULL ||
	    !phases_at(p, first, n, position, &phase, slack, NULL)) {
		settle(p, first, 0, n, position, elem, job);
		return;
	}
	p->kernel->seed(&anchor, &phase, lanes, p->gain);
	for (size_t k = 0; k < lanes; k++) {
		still.sh[k] = still.sl[k] = still.cl[k] = 0;
		still.ch[k] = 1;
	}
	job->anchor = &anchor;
	job->by = &still;
	job->rows = 1;
	job->slack = slack;
	job->spread = slack + PE_TURN_LANES;
	job->slack_cosine = set_slack(p, &m, n, &anchor, NULL, slack);
	make_rows(p, &m, first, position, 0, elem, job);
}

void
pe_turn_rows_at(const struct pe_turn *plan, const double *positions, size_t rows, enum pe_elem elem,
		const struct pe_turn_layout *layout, void *out)
{
	const size_t size = pe_elem_size(elem), pairs = plan->source.pairs;

	for (size_t r = 0; r < rows; r++) {
		for (size_t i = 0; i < pairs; i += PE_TURN_LANES) {
			const size_t n = least(pairs - i, PE_TURN_LANES);
			struct pe_turn_job job = job_of(layout, i, n, size, out);
			next_rows(&job, r, size);
			place_row(plan, i, n, positions[r], elem, &job);
		}
	}
}

/* ---- single pairs ---- */

void
pe_turn_at(const struct pe_turn *plan, size_t i, double position, double *sine, double *cosine)
{
	uint64_t s[WIDTH], c[WIDTH];

	settle_lanes(plan, i, 1, position, PE_F64, s, c);
	*sine = pe_round_value(PE_F64, s[0]);
	*cosine = pe_round_value(PE_F64, c[0]);
}

void
pe_turn_wide_at(const struct pe_turn *plan, size_t first, size_t count, double position,
		double (*sine)[2], double (*cosine)[2])
{
	double slop[PE_TURN_LANES];
	struct pe_turn_phase phase;
	struct pe_turn_wide w;

	for (size_t done = 0, n; done < count; done += n) {
		n = least(count - done, PE_TURN_LANES);
		const bool near =
		    plan->near && phases_at(plan, first + done, n, position, &phase, slop, NULL);
		if (near)
			plan->kernel->seed(&w, &phase, (n + WIDTH - 1) / WIDTH * WIDTH, plan->gain);
		for (size_t k = 0; k < n; k++) {
			double *s = sine[done + k], *c = cosine[done + k];
			if (near) {
				s[0] = w.sh[k], s[1] = w.sl[k];
				c[0] = w.ch[k], c[1] = w.cl[k];
			} else {
				pe_turn_exact_wide(&plan->source, first + done + k, position, s, c);
			}
		}
	}
}
