/* freq - the spacing rule of the frequencies: omega_i = base^(-i / D). */
#include "freq.h"

#include <math.h>

#include "round.h"

int
pe_freq_check(const struct pe_freq *f, struct pe_error *e)
{
	if (!(f->base > 0) || !isfinite(f->base))
		return pe_fail(e, PE_FAULT_ARGUMENT, "base must be positive and finite: '%g'",
			       f->base);
	if (f->half - f->shift <= 0 && f->pairs > 1)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "frequency shift %g leaves no spacing for %zu pairs", f->shift,
			       f->pairs);
	return 0;
}

void
pe_freq_round(enum pe_elem round, mpfr_ptr x)
{
	if (round != PE_ELEM_NONE)
		mpfr_set_d(x, pe_round_value(round, pe_round_bits(round, x)), MPFR_RNDN);
}

/* D to the precision of d. */
static void
spacing(const struct pe_freq *f, mpfr_ptr d)
{
	mpfr_set_d(d, f->half, MPFR_RNDN);
	mpfr_sub_d(d, d, f->shift, MPFR_RNDN);
}

/* Bits that an exponent of size |i / D ln b| takes from a power's precision, and a few for
 * roundings. */
static mpfr_prec_t
guard(const struct pe_freq *f, size_t last)
{
	const double size = fabs((double)last / (f->half - f->shift) * log(f->base));

	return 16 + (size < 0x1p200 ? ilogb(size + 1) : 200);
}

void
pe_freq_omega(const struct pe_freq *f, size_t i, mpfr_ptr omega)
{
	const mpfr_prec_t asked = mpfr_get_prec(omega),
			  least = 192; /* for the rounding to an element */
	mpfr_t exponent, wide;

	mpfr_inits2((asked > least ? asked : least) + guard(f, i), exponent, wide, (mpfr_ptr)NULL);
	spacing(f, exponent);
	if (i == 0 || mpfr_sgn(exponent) <= 0) {
		mpfr_set_ui(omega, 1, MPFR_RNDN);
	} else {
		mpfr_ui_div(exponent, (unsigned long)i, exponent, MPFR_RNDN);
		mpfr_neg(exponent, exponent, MPFR_RNDN);
		mpfr_set_d(wide, f->base, MPFR_RNDN);
		mpfr_pow(wide, wide, exponent, MPFR_RNDN);
		pe_freq_round(f->round, wide);
		mpfr_set(omega, wide, MPFR_RNDN);
	}
	mpfr_clears(exponent, wide, (mpfr_ptr)NULL);
}

/* omega_i+1 = omega_i base^(-1/D): one exponential for the first and one for the ratio, not one for
 * each. Every product takes an ulp more; n of them, the ratio's own error n times and what the
 * exponent takes stay within the guarding bits. */
void
pe_freq_omegas(const struct pe_freq *f, size_t first, size_t n, mpfr_t *omega)
{
	mpfr_t d, ratio, at;

	if (n == 0 || f->round != PE_ELEM_NONE || f->half - f->shift <= 0) {
		for (size_t k = 0; k < n; k++)
			pe_freq_omega(f, first + k, omega[k]);
		return;
	}
	mpfr_inits2(mpfr_get_prec(omega[0]) + guard(f, first + n) + 2 + ilogb((double)n), d, ratio,
		    at, (mpfr_ptr)NULL);
	spacing(f, d);
	mpfr_set_d(ratio, f->base, MPFR_RNDN);
	mpfr_log(ratio, ratio, MPFR_RNDN);
	mpfr_div(ratio, ratio, d, MPFR_RNDN);
	mpfr_neg(ratio, ratio, MPFR_RNDN);
	mpfr_mul_ui(at, ratio, (unsigned long)first, MPFR_RNDN);
	mpfr_exp(at, at, MPFR_RNDN);
	mpfr_exp(ratio, ratio, MPFR_RNDN);
	for (size_t k = 0; k < n; k++) {
		mpfr_set(omega[k], at, MPFR_RNDN);
		mpfr_mul(at, at, ratio, MPFR_RNDN);
	}
	mpfr_clears(d, ratio, at, (mpfr_ptr)NULL);
}
