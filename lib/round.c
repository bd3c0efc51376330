/* round - real numbers, rounded once to an element. */
#include "round.h"

#include <string.h>

static uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static double
double_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

double
pe_round_odd(mpfr_srcptr x)
{
	const double cut = mpfr_get_d(x, MPFR_RNDZ);

	/* 0 with x != 0 becomes the least subnormal, with the sign that RNDZ kept */
	return double_of(bits_of(cut) | (mpfr_cmp_d(x, cut) != 0));
}

/* A double rounded to odd has enough bits left that rounding it to an
 * element of 24 bits or fewer rounds the real number once, subnormals of the element included. */
static uint64_t
narrow_bits(enum pe_elem elem, double odd)
{
	if (elem == PE_F32) {
		const float narrow = (float)odd;
		uint32_t bits;
		memcpy(&bits, &narrow, sizeof bits);
		return bits;
	}
	return elem == PE_F16 ? pe_f16_round(odd) : pe_bf16_round(odd);
}

uint64_t
pe_round_bits(enum pe_elem elem, mpfr_srcptr x)
{
	if (elem == PE_F64)
		return bits_of(mpfr_get_d(x, MPFR_RNDN));
	return narrow_bits(elem, pe_round_odd(x));
}

uint64_t
pe_round_bits_wide(enum pe_elem elem, double high, double low)
{
	const double sum = high + low, rest = low - (sum - high);

	if (elem == PE_F64)
		return bits_of(sum);
	uint64_t odd = bits_of(sum);
	if (rest != 0 &&
	    !(odd & 1)) /* towards the rest: to the odd neighbour that encloses the real sum */
		odd = (rest > 0) == (sum > 0) ? odd + 1 : odd - 1;
	return narrow_bits(elem, double_of(odd));
}

/* What the ends of the interval round to. */
static void
ends(enum pe_elem elem, mpfr_srcptr x, mpfr_srcptr error, uint64_t bits[2])
{
	mpfr_t end;

	mpfr_init2(end, mpfr_get_prec(x));
	mpfr_sub(end, x, error, MPFR_RNDD);
	bits[0] = pe_round_bits(elem, end);
	mpfr_add(end, x, error, MPFR_RNDU);
	bits[1] = pe_round_bits(elem, end);
	mpfr_clear(end);
}

bool
pe_round_decide(enum pe_elem elem, mpfr_srcptr x, mpfr_srcptr error, uint64_t *bits)
{
	uint64_t both[2];

	ends(elem, x, error, both);
	*bits = both[0];
	return both[0] == both[1];
}

bool
pe_round_tie(enum pe_elem elem, mpfr_srcptr x, mpfr_srcptr error, uint64_t *bits)
{
	uint64_t both[2];

	ends(elem, x, error, both);
	*bits = both[both[0] & 1];
	return true;
}

void
pe_round_put(enum pe_elem elem, void *out, size_t at, uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;

	switch (elem) {
	case PE_F64: memcpy((char *)out + at * sizeof bits, &bits, sizeof bits); break;
	case PE_F32: memcpy((char *)out + at * sizeof word, &word, sizeof word); break;
	default: ((uint16_t *)out)[at] = (uint16_t)bits;
	}
}

double
pe_round_value(enum pe_elem elem, uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;
	float narrow;

	switch (elem) {
	case PE_F64: return double_of(bits);
	case PE_F32: memcpy(&narrow, &word, sizeof narrow); return (double)narrow;
	case PE_F16: return pe_f16_value((uint16_t)bits);
	default: return pe_bf16_value((uint16_t)bits);
	}
}

void
pe_round_store(enum pe_elem elem, void *array, size_t at, mpfr_srcptr x)
{
	pe_round_put(elem, array, at, pe_round_bits(elem, x));
}
