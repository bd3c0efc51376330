/* freq - the spacing rule of the frequencies: omega_i = base^(-i / D), i = 0 .. pairs - 1.
 *
 * D = half - shift, where half is d/2 (Vaswani 2017, section 3.5) or floor(d/2), and shift 1 gives
 * the spacing of tensor2tensor and DDPM, whose last frequency is 1/base. D <= 0 is allowed for one
 * pair alone, whose omega is 1. For RoPE (Su 2021) half is the rotary dimension / 2.
 *
 * A plan is a recipe: any precision can be asked of it, which the slow path of correct rounding
 * needs. */
#ifndef PE_FREQ_H
#define PE_FREQ_H

#include <stddef.h>
#include <mpfr.h>

#include "elem.h"
#include "error.h"

struct pe_freq {
	size_t pairs;
	double base;        /* > 0, finite */
	double half;        /* d / 2, a multiple of 0.5 */
	double shift;       /* 0 unless a code base spaces otherwise */
	enum pe_elem round; /* round omega to this element first; PE_ELEM_NONE: exact */
};

/* PE_FAULT_ARGUMENT where base, D and pairs do not go together. */
int pe_freq_check(const struct pe_freq *f, struct pe_error *e);

/* x rounded once to the element, nearest even; PE_ELEM_NONE leaves it. */
void pe_freq_round(enum pe_elem round, mpfr_ptr x);

/* omega_i, relative error below 2^-(p - 4) where p is the precision of omega; exact where p bits
 * can hold it. */
void pe_freq_omega(const struct pe_freq *f, size_t i, mpfr_ptr omega);

/* omega_i for i = first .. first + n - 1, all of one precision, at less than half the price: as
 * above, but perhaps inexact. */
void pe_freq_omegas(const struct pe_freq *f, size_t first, size_t n, mpfr_t *omega);

#endif
