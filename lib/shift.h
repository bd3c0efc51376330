/* shift - the matrix M_k that moves a sinusoidal row by k positions: p_{t+k} = M_k p_t on columns.
 *
 * A pair (sine, cosine) of frequency omega has the block [[cos wk, sin wk], [-sin wk, cos wk]]
 * with w k the scaled angle (Vaswani et al. 2017, section 3.5: a fixed offset is a linear
 * function). GAIN * M_k is the W of a head whose scores x_m W x_n peak k positions back. M_-k is
 * M_k transposed, to the bit. */
#ifndef PE_SHIFT_H
#define PE_SHIFT_H

#include <stddef.h>

#include "convention.h"
#include "elem.h"
#include "error.h"

struct pe_shift; /* opaque plan, O(dim): read-only after init */

/* dim must be even and k finite and within +-2^53: PE_FAULT_ARGUMENT. A gain whose products
 * overflow elem: PE_FAULT_DATA. elem is that of the matrix's rows: f64, f32, f16 or bf16; each
 * entry is the real gain * cos or gain * sin rounded once to it. pe_shift_apply needs f64. */
int pe_shift_init(struct pe_shift **s, const struct pe_convention *c, size_t dim, double k,
		  enum pe_elem elem, struct pe_error *e);
void pe_shift_free(struct pe_shift *s);

/* Rows from .. from + n - 1 of the dim x dim matrix gain * M_k. Every zero is +0. */
void pe_shift_rows(const struct pe_shift *s, size_t from, size_t n, void *out);

/* Each of n rows p of dim values becomes gain * M_k p; out may be in. With s, c the pair and u =
 * 2^-53, each result is off by at most 3 u |gain| (|s| |cos wk| + |c| |sin wk|), roles of s and
 * c as its formula has them: one rounding for the coefficient, one for the product, one for the
 * sum. Second order terms and underflow apart. */
void pe_shift_apply(const struct pe_shift *s, size_t n, const double *in, double *out);

#endif
