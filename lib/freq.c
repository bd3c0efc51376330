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

void
pe_freq_omega(const struct pe_freq *f, size_t i, mpfr_ptr omega)
{
	mpfr_t exponent, wide;

	/* ln b < 710 and i / D < 2^41, so 64 more bits pay for what the power loses */
	mpfr_inits2(mpfr_get_prec(omega) + 64, exponent, wide, (mpfr_ptr)NULL);
	mpfr_set_d(exponent, f->half, MPFR_RNDN);
	mpfr_sub_d(exponent, exponent, f->shift, MPFR_RNDN);
	if (i == 0 || mpfr_sgn(exponent) <= 0) {
		mpfr_set_ui(omega, 1, MPFR_RNDN);
	} else {
		mpfr_ui_div(exponent, (unsigned long)i, exponent, MPFR_RNDN);
		mpfr_neg(exponent, exponent, MPFR_RNDN);
		mpfr_set_d(wide, f->base, MPFR_RNDN);
		mpfr_pow(wide, wide, exponent, MPFR_RNDN);
		mpfr_set(omega, wide, MPFR_RNDN);
	}
	pe_freq_round(f->round, omega);
	mpfr_clears(exponent, wide, (mpfr_ptr)NULL);
}
