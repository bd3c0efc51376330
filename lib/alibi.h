/* alibi - linear biases (Press, Smith, Lewis 2022): head h adds -slope_h * |n - m| to its logits.
 *
 * Slopes of 2^k heads are the powers 2^(-max_bias (h + 1) / H). Any other H takes those of the
 * next power of two below it, then every other one of the next above, as the paper's code does. */
#ifndef PE_ALIBI_H
#define PE_ALIBI_H

#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"

/* How a bias matrix writes the same attention. */
enum pe_alibi_form {
	PE_ALIBI_SYMMETRIC, /* -slope * |n - m| */
	PE_ALIBI_ROW, /* +slope * n, which differs from it by a constant per row once keys n > m are masked */
	PE_ALIBI_CAUSAL, /* -slope * (m - n), and -inf where n > m */
};

struct pe_alibi {
	size_t heads;
	double max_bias; /* 8 in the paper */
};

/* PE_FAULT_ARGUMENT unless heads > 0 and max_bias > 0 is finite. */
int pe_alibi_check(const struct pe_alibi *a, struct pe_error *e);

/* heads slopes, the real numbers rounded once to elem, a float type. */
void pe_alibi_slopes(const struct pe_alibi *a, enum pe_elem elem, void *slopes);

/* Bias by offset (row form: by key position) lo, ..., lo + n - 1 of one head: real slope times
 * distance, rounded once. The magnitudes of lo and lo + n are at most 2^53. PE_FAULT_DATA where
 * a value overflows elem (f16). */
int pe_alibi_bias(const struct pe_alibi *a, enum pe_alibi_form form, size_t head, int64_t lo,
		  size_t n, enum pe_elem elem, void *bias, struct pe_error *e);

/* -slope * |offset| in doubles, for slopes of one's own. */
void pe_alibi_slope_bias(double slope, int64_t lo, size_t n, double *bias);

#endif
