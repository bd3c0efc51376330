/* xpos - the growth of xPos: what multiplies a rotated query or key by its position. */
#include "xpos.h"

#include <math.h>
#include <stdlib.h>

#include "num.h"
#include "wide.h"

enum {
	BITS = 20,       /* of a distance that the table of powers reaches */
	PRECISION = 160, /* of its entries: squaring them BITS times costs BITS of it */
	GUARD =
	    72, /* an exponent is below 2^54, and so costs a power 54 bits of its own precision */
	RANGE = 400, /* binary exponent that a wide factor may have */
};

struct pe_xpos {
	struct pe_xpos_spec spec;
	/* factor at distance +2^j, then -2^j: [side * BITS + j] of each pair in turn */
	struct pe_wide *powers;
};

/* ---- plan ---- */

static struct pe_wide
wide_of(mpfr_srcptr x)
{
	struct pe_wide w = {mpfr_get_d(x, MPFR_RNDN), 0};
	mpfr_t rest;

	mpfr_init2(rest, mpfr_get_prec(x));
	mpfr_sub_d(rest, x, w.high, MPFR_RNDN);
	w.low = mpfr_get_d(rest, MPFR_RNDN);
	mpfr_clear(rest);
	return w;
}

/* zeta_i^(+-distance / base), rounded once. distance is exact, or as exact as GUARD more bits. */
static void
power(const struct pe_xpos_spec *s, size_t i, mpfr_srcptr distance, mpfr_ptr x)
{
	const mpfr_prec_t p = mpfr_get_prec(x) + GUARD;
	mpfr_t zeta, exponent;

	mpfr_inits2(p, zeta, exponent, (mpfr_ptr)NULL);
	mpfr_set_d(zeta, 5 * (double)i + 2 * (double)s->pairs, MPFR_RNDN);
	mpfr_div_d(zeta, zeta, 7 * (double)s->pairs, MPFR_RNDN);
	mpfr_div_d(exponent, distance, s->base, MPFR_RNDN);
	if (s->role == PE_XPOS_KEY)
		mpfr_neg(exponent, exponent, MPFR_RNDN);
	mpfr_pow(x, zeta, exponent, MPFR_RNDN);
	mpfr_clears(zeta, exponent, (mpfr_ptr)NULL);
}

static void
plan_powers(struct pe_xpos *p)
{
	mpfr_t x, inverse;

	mpfr_inits2(PRECISION, x, inverse, (mpfr_ptr)NULL);
	for (size_t i = 0; i < p->spec.pairs; i++) {
		struct pe_wide *pair = p->powers + i * 2 * BITS;

		mpfr_set_ui(inverse, 1, MPFR_RNDN);
		power(&p->spec, i, inverse, x);
		for (size_t j = 0; j < BITS; j++, mpfr_sqr(x, x, MPFR_RNDN)) {
			mpfr_ui_div(inverse, 1, x, MPFR_RNDN);
			pair[j] = wide_of(x);
			pair[BITS + j] = wide_of(inverse);
		}
	}
	mpfr_clears(x, inverse, (mpfr_ptr)NULL);
}

int
pe_xpos_init(struct pe_xpos **plan, const struct pe_xpos_spec *spec, struct pe_error *e)
{
	struct pe_xpos *p;
	size_t size;

	if (!(spec->base >= 1) || !isfinite(spec->base))
		return pe_fail(e, PE_FAULT_ARGUMENT, "xpos: base must be 1 or more: '%g'",
			       spec->base);
	if (!pe_num_size(spec->pairs, 2 * BITS, sizeof *p->powers, &size))
		return pe_fail_memory(e);
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return pe_fail_memory(e);
	p->spec = *spec;
	p->powers = malloc(size);
	if (p->powers == NULL) {
		pe_xpos_free(p);
		return pe_fail_memory(e);
	}
	plan_powers(p);
	*plan = p;
	return 0;
}

void
pe_xpos_free(struct pe_xpos *plan)
{
	if (plan == NULL)
		return;
	free(plan->powers);
	free(plan);
	mpfr_free_cache();
}

/* ---- factors ---- */

bool
pe_xpos_reaches(const struct pe_xpos_spec *spec, enum pe_elem elem, double position)
{
	const double reach = elem == PE_F32 ? PE_XPOS_REACH_F32 : PE_XPOS_REACH_F64;

	return spec->role == PE_XPOS_NONE ||
	       fabs(position - (double)spec->centre) <= reach * spec->base;
}

void
pe_xpos_factor(const struct pe_xpos *plan, size_t i, double position, mpfr_ptr x)
{
	mpfr_t distance;

	mpfr_init2(distance, mpfr_get_prec(x) + GUARD);
	mpfr_set_d(distance, position, MPFR_RNDN);
	mpfr_sub_d(distance, distance, (double)plan->spec.centre, MPFR_RNDN);
	power(&plan->spec, i, distance, x);
	mpfr_clear(distance);
}

/* BITS products err by 5 * 2^-106 each, and what they multiply by 2^-105: below 2^-99 together. */
static struct pe_wide
product(const struct pe_wide *powers, unsigned long distance)
{
	struct pe_wide x = {1, 0};

	for (; distance != 0; distance >>= 1, powers++)
		if (distance & 1)
			x = pe_wide_multiply(x, *powers);
	return x;
}

bool
pe_xpos_factor_wide(const struct pe_xpos *plan, size_t i, double position, double x[2])
{
	const double distance = position - (double)plan->spec.centre, size = fabs(distance);
	struct pe_wide w;
	mpfr_t exact;

	if (size * 1.81 > RANGE * plan->spec.base) /* zeta > 2^-1.81 */
		return false;
	if (position == rint(position) && size < 1 << BITS) {
		const struct pe_wide *pair = plan->powers + i * 2 * BITS;

		w = product(distance < 0 ? pair + BITS : pair, (unsigned long)size);
	} else {
		mpfr_init2(exact, PRECISION);
		pe_xpos_factor(plan, i, position, exact);
		w = wide_of(exact);
		mpfr_clear(exact);
	}
	x[0] = w.high;
	x[1] = w.low;
	return true;
}
