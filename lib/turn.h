/* turn - sine and cosine of position * frequency, correctly rounded at every position.
 *
 * The one room that makes angles. A plan holds, for each pair i, the fraction of a turn that one
 * position advances; a position times it modulo 1 is exact integer arithmetic, so a position of
 * 2^53 costs no accuracy. Every value handed out is gain * sin(scale * t * omega_i), or the
 * cosine, times the pair's growth at t where there is one: the real formula rounded once to the
 * element asked for, ties to even; a zero is +0, what is too large becomes inf.
 *
 * Rows at even distances come by rotation (a shift of the position turns each pair, Vaswani
 * 2017, section 3.5) from rows that are made anew now and then; a rounding that the error bound
 * leaves open (Ziv 1991) is settled with more bits. The bounds stand in turn_kernel.h. One value
 * takes 0.3 (f32) to 0.7 ns (f64) with AVX-512 where rows come in dozens, 10 ns at positions of
 * their own, 30 ns where angles are rounded, 100 ns where values grow. */
#ifndef PE_TURN_H
#define PE_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpfr.h>

#include "elem.h"
#include "error.h"

/* Where the numbers come from. Each call fills x with the value to within 2^-(p - 4) relative, p being x's precision;
 * the slow path asks again with more.
 * omega   radians per unit of scaled position; or turns, if `turns` is set: then quarters of a turn come out exact
 * omegas  the same for n pairs at once, where that is cheaper; may be NULL
 * scale   multiplies positions, gain multiplies values; NULL: 1
 * growth  multiplies the values of pair i at a position as well, a positive algebraic number; NULL: nothing does
 * growth_wide  the same as a sum of two doubles to within 2^-98, or false where it lies beyond 2^+-400; due beside growth
 * angle   rounds the angle in radians to this element before its sine (`--round angle:E`); PE_ELEM_NONE: exact */
struct pe_turn_source {
	size_t pairs;
	void (*omega)(const void *context, size_t i, mpfr_ptr x);
	void (*omegas)(const void *context, size_t first, size_t n, mpfr_t *x);
	void (*scale)(const void *context, mpfr_ptr x);
	void (*gain)(const void *context, mpfr_ptr x);
	void (*growth)(const void *context, size_t i, double position, mpfr_ptr x);
	bool (*growth_wide)(const void *context, size_t i, double position, double x[2]);
	const void *context; /* must outlive the plan */
	bool turns;
	enum pe_elem angle;
};

struct pe_turn; /* opaque plan: read-only after init, may be shared by threads */

int pe_turn_init(struct pe_turn **plan, const struct pe_turn_source *source, struct pe_error *e);
void pe_turn_free(struct pe_turn *plan);

/* Where values go in a row: the sine of pair i at column sine + i * step, the cosine at cosine +
 * i * step. Interleaved: 0, 1, 2. Halves: 0, pairs, 1. Only the first `sines` and `cosines`
 * pairs are written (0: none; an odd width's last pair has no second member). */
struct pe_turn_layout {
	size_t sine, cosine, step;
	size_t sines, cosines; /* how many pairs write it; at most pairs */
	size_t row;            /* elements from one row to the next */
};

/* Rows of the integer positions first, first + stride, ...; all must lie within +-2^53 (checked
 * by the caller). elem is one of f64, f32, f16, bf16. Rows are independent: any split into calls
 * gives the same bytes. Columns that the layout does not name are left alone. */
void pe_turn_rows(const struct pe_turn *plan, int64_t first, int64_t stride, size_t rows,
		  enum pe_elem elem, const struct pe_turn_layout *layout, void *out);

/* The same for any finite positions within +-2^53, fractions too, one for each row. */
void pe_turn_rows_at(const struct pe_turn *plan, const double *positions, size_t rows,
		     enum pe_elem elem, const struct pe_turn_layout *layout, void *out);

/* Sine and cosine of one pair at one position, correctly rounded to f64; 0.1 us. */
void pe_turn_at(const struct pe_turn *plan, size_t i, double position, double *sine,
		double *cosine);

/* Pairs first .. first + count - 1 at one position as unevaluated sums of two doubles, high part
 * first: for what adds or multiplies before it rounds. Relative error below 2^-96 (but never
 * below |gain| 2^-132 in absolute terms). Not for a plan with growth. */
void pe_turn_wide_at(const struct pe_turn *plan, size_t first, size_t count, double position,
		     double (*sine)[2], double (*cosine)[2]);

#endif
