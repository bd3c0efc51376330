/* round - an MPFR number, rounded once to an element: to nearest, ties to even, subnormals too. */
#ifndef PE_ROUND_H
#define PE_ROUND_H

#include <stddef.h>
#include <mpfr.h>

#include "elem.h"

/* Stores x at index `at` of an array of elem, a float type. */
void pe_round_store(enum pe_elem elem, void *array, size_t at, mpfr_srcptr x);

/* The double next to x towards zero, made odd where x is not exactly it: no later rounding to a narrower
 * type then sees a tie that is none (Boldo and Melquiond 2008, rounding to odd). */
double pe_round_odd(mpfr_srcptr x);

#endif
