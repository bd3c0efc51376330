/* turn - sine and cosine of position * frequency, correctly rounded at every position.
 *
 * This version asks MPFR for every value: right, and slow. */
#include "turn.h"

#include <math.h>
#include <stdlib.h>

enum { PRECISION = 256 }; /* 53 bits of position, 53 of the value and 150 to decide its rounding */

struct pe_turn {
	struct pe_turn_source source;
	mpfr_t *step; /* scale * omega_i */
	mpfr_t gain;
};

int
pe_turn_init(struct pe_turn **plan, const struct pe_turn_source *source, struct pe_error *e)
{
	struct pe_turn *p = calloc(1, sizeof *p);
	mpfr_t scale;

	if (p == NULL || (p->step = calloc(source->pairs, sizeof *p->step)) == NULL) {
		free(p);
		return pe_fail_memory(e);
	}
	p->source = *source;
	mpfr_inits2(PRECISION, p->gain, scale, (mpfr_ptr)NULL);
	mpfr_set_ui(p->gain, 1, MPFR_RNDN);
	mpfr_set_ui(scale, 1, MPFR_RNDN);
	if (source->gain != NULL)
		source->gain(source->context, p->gain);
	if (source->scale != NULL)
		source->scale(source->context, scale);
	for (size_t i = 0; i < source->pairs; i++) {
		mpfr_init2(p->step[i], PRECISION);
		source->omega(source->context, i, p->step[i]);
		mpfr_mul(p->step[i], p->step[i], scale, MPFR_RNDN);
	}
	mpfr_clear(scale);
	*plan = p;
	return 0;
}

void
pe_turn_free(struct pe_turn *plan)
{
	if (plan == NULL)
		return;
	for (size_t i = 0; i < plan->source.pairs; i++)
		mpfr_clear(plan->step[i]);
	mpfr_clear(plan->gain);
	free(plan->step);
	free(plan);
	mpfr_free_cache();
}

size_t
pe_turn_pairs(const struct pe_turn *plan)
{
	return plan->source.pairs;
}

/* f16 and bf16 are cut out of a value with 24 more bits that was rounded to odd, so they round once. */
static void
store(enum pe_elem elem, void *out, size_t at, mpfr_srcptr x)
{
	switch (elem) {
	case PE_F64: ((double *)out)[at] = mpfr_get_d(x, MPFR_RNDN); break;
	case PE_F32: ((float *)out)[at] = mpfr_get_flt(x, MPFR_RNDN); break;
	default: {
		double d = mpfr_get_d(x, MPFR_RNDZ);
		if (mpfr_cmp_d(x, d) != 0 && fmod(fabs(ldexp(d, 52 - ilogb(d))), 2) == 0)
			d = nextafter(d, d > 0 ? (double)INFINITY : -(double)INFINITY);
		((uint16_t *)out)[at] = elem == PE_F16 ? pe_f16_round(d) : pe_bf16_round(d);
	}
	}
}

static void
angle_of(const struct pe_turn *plan, size_t i, double position, mpfr_ptr angle)
{
	mpfr_mul_d(angle, plan->step[i], position, MPFR_RNDN);
	if (plan->source.angle != PE_ELEM_NONE)
		mpfr_set_d(angle, pe_elem_round(plan->source.angle, mpfr_get_d(angle, MPFR_RNDN)),
			   MPFR_RNDN);
}

void
pe_turn_rows_at(const struct pe_turn *plan, const double *positions, size_t rows, enum pe_elem elem,
		const struct pe_turn_layout *layout, void *out)
{
	mpfr_t angle, sine, cosine;

	mpfr_inits2(PRECISION, angle, sine, cosine, (mpfr_ptr)NULL);
	for (size_t r = 0; r < rows; r++) {
		for (size_t i = 0; i < plan->source.pairs; i++) {
			angle_of(plan, i, positions[r], angle);
			mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
			mpfr_mul(sine, sine, plan->gain, MPFR_RNDN);
			mpfr_mul(cosine, cosine, plan->gain, MPFR_RNDN);
			if (i < layout->sines)
				store(elem, out, r * layout->row + layout->sine + i * layout->step,
				      sine);
			if (i < layout->cosines)
				store(elem, out,
				      r * layout->row + layout->cosine + i * layout->step, cosine);
		}
	}
	mpfr_clears(angle, sine, cosine, (mpfr_ptr)NULL);
}

void
pe_turn_rows(const struct pe_turn *plan, int64_t first, int64_t stride, size_t rows,
	     enum pe_elem elem, const struct pe_turn_layout *layout, void *out)
{
	for (size_t r = 0; r < rows; r++) {
		const double position = (double)(first + (int64_t)r * stride);
		struct pe_turn_layout row = *layout;

		row.sine += r * layout->row;
		row.cosine += r * layout->row;
		pe_turn_rows_at(plan, &position, 1, elem, &row, out);
	}
}

void
pe_turn_at(const struct pe_turn *plan, size_t i, double position, double *sine, double *cosine)
{
	mpfr_t angle, s, c;

	mpfr_inits2(PRECISION, angle, s, c, (mpfr_ptr)NULL);
	angle_of(plan, i, position, angle);
	mpfr_sin_cos(s, c, angle, MPFR_RNDN);
	mpfr_mul(s, s, plan->gain, MPFR_RNDN);
	mpfr_mul(c, c, plan->gain, MPFR_RNDN);
	*sine = mpfr_get_d(s, MPFR_RNDN);
	*cosine = mpfr_get_d(c, MPFR_RNDN);
	mpfr_clears(angle, s, c, (mpfr_ptr)NULL);
}
