/* round - an MPFR number, rounded once to an element. */
#include "round.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

double
pe_round_odd(mpfr_srcptr x)
{
	double d = mpfr_get_d(x, MPFR_RNDZ);
	uint64_t bits;

	if (!isfinite(d) || mpfr_cmp_d(x, d) == 0)
		return d;
	memcpy(&bits, &d, sizeof bits);
	bits |= 1; /* d = 0 with x != 0 becomes the least subnormal, with the sign that RNDZ kept */
	memcpy(&d, &bits, sizeof bits);
	return d;
}

void
pe_round_store(enum pe_elem elem, void *array, size_t at, mpfr_srcptr x)
{
	switch (elem) {
	case PE_F64: ((double *)array)[at] = mpfr_get_d(x, MPFR_RNDN); break;
	case PE_F32: ((float *)array)[at] = mpfr_get_flt(x, MPFR_RNDN); break;
	case PE_F16: ((uint16_t *)array)[at] = pe_f16_round(pe_round_odd(x)); break;
	case PE_BF16: ((uint16_t *)array)[at] = pe_bf16_round(pe_round_odd(x)); break;
	default: break;
	}
}
