/* turn_exact - turn's last resort: any precision, until the rounding is decided (Ziv 1991). */
#include "turn_kernel.h"

#include <stdlib.h>

#include "round.h"

/* The sine of an algebraic number other than 0 is transcendental (Lindemann 1882), also times an
 * algebraic growth, so more bits decide in the end. What LAST bits leave open is taken for
 * exact: a gain that is a tie at angle 0, an angle of quarter turns. LAST is so large because
 * the cosine of a tiny angle may stand next to such a tie: doubles go down to 2^-1074, their
 * product's square to 2^-4300. A rounded angle has ties too, at rational frequencies; no other
 * product comes as near to one as LAST_ANGLE bits. */
enum { FIRST = 192, LAST = FIRST << 5, LAST_ANGLE = FIRST << 2 };

/* x times scale: relative error below 2^-(p - 6), as the source's numbers have 2^-(p - 4) */
static void
times_scale(const struct pe_turn_source *source, mpfr_ptr x)
{
	mpfr_t scale;

	if (source->scale == NULL)
		return;
	mpfr_init2(scale, mpfr_get_prec(x));
	source->scale(source->context, scale);
	mpfr_mul(x, x, scale, MPFR_RNDN);
	mpfr_clear(scale);
}

static void
times_two_pi(mpfr_ptr x)
{
	mpfr_t pi;

	mpfr_init2(pi, mpfr_get_prec(x) + 8);
	mpfr_const_pi(pi, MPFR_RNDN);
	mpfr_mul(x, x, pi, MPFR_RNDN);
	mpfr_mul_2ui(x, x, 1, MPFR_RNDN);
	mpfr_clear(pi);
}

void
pe_turn_exact_rate(const struct pe_turn_source *source, mpfr_ptr x)
{
	times_scale(source, x);
	if (source->turns)
		times_two_pi(x);
}

/* Gain and growth: relative error below 2^-(p - 5). */
static void
gain_of(const struct pe_turn_source *source, size_t i, double position, mpfr_ptr gain)
{
	mpfr_t growth;

	if (source->gain != NULL)
		source->gain(source->context, gain);
	else
		mpfr_set_ui(gain, 1, MPFR_RNDN);
	if (source->growth == NULL)
		return;
	mpfr_init2(growth, mpfr_get_prec(gain));
	source->growth(source->context, i, position, growth);
	mpfr_mul(gain, gain, growth, MPFR_RNDN);
	mpfr_clear(growth);
}

bool
pe_turn_exact_step(const struct pe_turn_source *source, size_t i, mpfr_ptr x)
{
	mpfr_t check;
	bool exact;

	times_scale(source, x);
	if (mpfr_zero_p(x))
		return true;
	if (!source->turns) {
		mpfr_init2(check, mpfr_get_prec(x) + 8);
		mpfr_const_pi(check, MPFR_RNDN);
		mpfr_div(x, x, check, MPFR_RNDN);
		mpfr_div_2ui(x, x, 1, MPFR_RNDN);
		mpfr_clear(check);
		return false;
	}
	/* A number that needs few bits is met again with three times as many. */
	if (mpfr_min_prec(x) > mpfr_get_prec(x) - 16)
		return false;
	mpfr_init2(check, 3 * mpfr_get_prec(x));
	source->omega(source->context, i, check);
	times_scale(source, check);
	exact = mpfr_equal_p(x, check);
	mpfr_clear(check);
	return exact;
}

double
pe_turn_exact_angle(const struct pe_turn_source *source, size_t i, double position)
{
	bool decided = false;
	uint64_t bits = 0;
	mpfr_t angle, error;

	mpfr_init2(error, 64);
	for (mpfr_prec_t p = FIRST; !decided; p *= 2) {
		mpfr_init2(angle, p);
		source->omega(source->context, i, angle);
		pe_turn_exact_rate(source, angle);
		mpfr_mul_d(angle, angle, position, MPFR_RNDN);
		mpfr_abs(error, angle, MPFR_RNDU);
		mpfr_mul_2si(error, error, (long)(8 - p), MPFR_RNDU);
		decided = p < LAST_ANGLE ? pe_round_decide(source->angle, angle, error, &bits)
					 : pe_round_tie(source->angle, angle, error, &bits);
		mpfr_clear(angle);
	}
	mpfr_clear(error);
	return pe_round_value(source->angle, bits);
}

/* The angle in radians, less whole turns where the source counts in turns, and a bound of its
 * error. */
static void
angle_of(const struct pe_turn_source *source, size_t i, double position, mpfr_ptr angle,
	 mpfr_ptr error)
{
	const mpfr_prec_t p = mpfr_get_prec(angle);

	if (source->angle != PE_ELEM_NONE) {
		mpfr_set_d(angle, pe_turn_exact_angle(source, i, position), MPFR_RNDN);
		mpfr_set_zero(error, 1);
		return;
	}
	source->omega(source->context, i, angle);
	times_scale(source, angle);
	mpfr_mul_d(angle, angle, position, MPFR_RNDN);
	mpfr_abs(error, angle, MPFR_RNDU);
	mpfr_mul_2si(error, error, (long)(10 - p), MPFR_RNDU); /* 3 bits for 2 pi */
	if (source->turns) {
		mpfr_t whole;

		mpfr_init2(whole, p);
		mpfr_rint(whole, angle, MPFR_RNDN);
		mpfr_sub(angle, angle, whole, MPFR_RNDN);
		mpfr_clear(whole);
		times_two_pi(angle);
	}
}

/* One try at p bits. sine, cosine: the values with *sine_error and *cosine_error. The angle's
 * error moves either by no more than itself, what MPFR rounds is 2^-p of a sine below |angle|
 * and of a cosine below 1, and the gain errs by 2^-(p - 5). */
struct attempt {
	mpfr_t gain, angle, sine, cosine, sine_error, cosine_error;
};

static void
attempt(struct attempt *a, const struct pe_turn_source *source, size_t i, double position,
	mpfr_prec_t p)
{
	mpfr_inits2(p, a->gain, a->angle, a->sine, a->cosine, (mpfr_ptr)NULL);
	mpfr_inits2(64, a->sine_error, a->cosine_error, (mpfr_ptr)NULL);
	gain_of(source, i, position, a->gain);
	angle_of(source, i, position, a->angle, a->sine_error);
	mpfr_sin_cos(a->sine, a->cosine, a->angle, MPFR_RNDN);
	mpfr_mul(a->sine, a->sine, a->gain, MPFR_RNDN);
	mpfr_mul(a->cosine, a->cosine, a->gain, MPFR_RNDN);

	mpfr_t unit;
	mpfr_init2(unit, 64);
	mpfr_set_ui_2exp(unit, 1, (mpfr_exp_t)(6 - p), MPFR_RNDU);
	mpfr_add(a->cosine_error, a->sine_error, unit, MPFR_RNDU);
	mpfr_mul(unit, unit, a->angle, MPFR_RNDA);
	mpfr_abs(unit, unit, MPFR_RNDU);
	mpfr_add(a->sine_error, a->sine_error, unit, MPFR_RNDU);
	mpfr_abs(unit, a->gain, MPFR_RNDU);
	mpfr_mul(a->sine_error, a->sine_error, unit, MPFR_RNDU);
	mpfr_mul(a->cosine_error, a->cosine_error, unit, MPFR_RNDU);
	mpfr_clear(unit);
}

static void
attempt_clear(struct attempt *a)
{
	mpfr_clears(a->gain, a->angle, a->sine, a->cosine, a->sine_error, a->cosine_error,
		    (mpfr_ptr)NULL);
}

/* Zero has no sign in the real formula: +0. The last attempt takes for zero what it cannot tell
 * from it. */
static bool
settle(enum pe_elem elem, mpfr_srcptr x, mpfr_srcptr error, bool last, uint64_t *bits)
{
	if (mpfr_zero_p(error) ? mpfr_zero_p(x) : last && mpfr_cmpabs(x, error) <= 0) {
		*bits = 0;
		return true;
	}
	return last ? pe_round_tie(elem, x, error, bits) : pe_round_decide(elem, x, error, bits);
}

void
pe_turn_exact(const struct pe_turn_source *source, size_t i, double position, enum pe_elem elem,
	      uint64_t *sine, uint64_t *cosine)
{
	bool sine_due = sine != NULL, cosine_due = cosine != NULL;
	struct attempt a;

	for (mpfr_prec_t p = FIRST; sine_due || cosine_due; p *= 2) {
		attempt(&a, source, i, position, p);
		if (sine_due)
			sine_due = !settle(elem, a.sine, a.sine_error, p >= LAST, sine);
		if (cosine_due)
			cosine_due = !settle(elem, a.cosine, a.cosine_error, p >= LAST, cosine);
		attempt_clear(&a);
	}
}

/* False if x is not yet known well enough. */
static bool
widen(mpfr_ptr x, mpfr_srcptr error, bool last, double wide[2])
{
	wide[0] = mpfr_get_d(x, MPFR_RNDN);
	wide[1] = 0;
	if (mpfr_nan_p(x)) /* of an angle that its element cannot hold */
		return true;
	if (mpfr_cmpabs(x, error) <= 0) { /* zero, or as good as */
		wide[0] = 0;
		return last || mpfr_zero_p(error);
	}
	const bool enough =
	    mpfr_zero_p(error) || mpfr_get_exp(error) < mpfr_get_exp(x) - 106 || last;
	mpfr_sub_d(x, x, wide[0], MPFR_RNDN);
	wide[1] = mpfr_get_d(x, MPFR_RNDN);
	return enough;
}

void
pe_turn_exact_wide(const struct pe_turn_source *source, size_t i, double position, double sine[2],
		   double cosine[2])
{
	bool done = false;
	struct attempt a;

	for (mpfr_prec_t p = FIRST; !done; p *= 2) {
		attempt(&a, source, i, position, p);
		done = widen(a.sine, a.sine_error, p >= LAST, sine);
		done = widen(a.cosine, a.cosine_error, p >= LAST, cosine) && done;
		attempt_clear(&a);
	}
}
