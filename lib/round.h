/* round - real numbers, rounded once to an element: to nearest, ties to even, subnormals too.
 *
 * A number that is known to within an error is decided when both ends of its interval round to
 * the same element (Ziv 1991, ACM TOMS 17(3), 410-423): rounding is monotone, so the real number
 * between them rounds there too. What stays undecided is asked again with more bits. */
#ifndef PE_ROUND_H
#define PE_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpfr.h>

#include "elem.h"

/* The bit pattern of x rounded once to f64, f32, f16 or bf16, ties to even: in the low 64, 32 or
 * 16 bits. Beyond the largest value lies inf, below the normal ones the subnormals. */
uint64_t pe_round_bits(enum pe_elem elem, mpfr_srcptr x);

/* The same of high + low, |low| <= |high| / 2^20, both finite. The sum is taken as it stands:
 * round once more with low a little less and a little more to decide. */
uint64_t pe_round_bits_wide(enum pe_elem elem, double high, double low);

/* True if every real number within error of x rounds to *bits. error >= 0. */
bool pe_round_decide(enum pe_elem elem, mpfr_srcptr x, mpfr_srcptr error, uint64_t *bits);

/* For an x that is known to be a midpoint if it stays undecided: the even neighbour then. Always
 * true. */
bool pe_round_tie(enum pe_elem elem, mpfr_srcptr x, mpfr_srcptr error, uint64_t *bits);

/* Stores x at index `at` of an array of elem, a float type. */
void pe_round_store(enum pe_elem elem, void *array, size_t at, mpfr_srcptr x);

/* The double next to x towards zero, made odd where x is not exactly it: no later rounding to a
 * narrower type then sees a tie that is none (Boldo and Melquiond 2008, rounding to odd). */
double pe_round_odd(mpfr_srcptr x);

/* Puts the pattern into element `at` of an array, or widens it to a double. */
void pe_round_put(enum pe_elem elem, void *out, size_t at, uint64_t bits);
double pe_round_value(enum pe_elem elem, uint64_t bits);

#endif
