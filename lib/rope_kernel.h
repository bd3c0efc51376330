/* rope_kernel - the innermost loop of rope, once for every machine and once for AVX2.
 *
 * Each turns n pairs (a, b) into (a c - b s, b c + a s) in double arithmetic, in this order and
 * without fusing a product with its sum, so that all give the same bytes. */
#ifndef PE_ROPE_KERNEL_H
#define PE_ROPE_KERNEL_H

#include <stddef.h>

struct pe_rope_kernel {
	/* pair i is a[i] and b[i] */
	void (*halves_f64)(double *a, double *b, const double *cosine, const double *sine,
			   size_t n);
	void (*halves_f32)(float *a, float *b, const double *cosine, const double *sine, size_t n);
	/* pair i is x[2 i] and x[2 i + 1] */
	void (*interleaved_f64)(double *x, const double *cosine, const double *sine, size_t n);
	void (*interleaved_f32)(float *x, const double *cosine, const double *sine, size_t n);
};

extern const struct pe_rope_kernel pe_rope_kernel_base;
extern const struct pe_rope_kernel pe_rope_kernel_v3; /* x86-64 with AVX2 alone */

#endif
