/* learned - rows of a table that was trained, not computed. */
#include "learned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <mpfr.h>

#include "num.h"
#include "round.h"

size_t
pe_learned_rows(const struct pe_learned *l)
{
	return l->stretch > 0 ? l->stretch : l->table->rows;
}

bool
pe_learned_is_plain(const struct pe_learned *l)
{
	return l->stretch == 0 && l->gain == 1;
}

int
pe_learned_check(const struct pe_learned *l, struct pe_error *e)
{
	size_t product;

	if (l->table->rows == 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: a learned table needs rows", l->name);
	/* place() multiplies up to 2 T + 1 by R, and its weights must be exact in a double */
	if (l->stretch >= (size_t)1 << 51 || l->table->rows >= (size_t)1 << 51 ||
	    !pe_num_size(2 * l->stretch + 1, l->table->rows, 1, &product))
		return pe_fail(e, PE_FAULT_ARGUMENT, "%zu rows are too many to stretch %s to",
			       l->stretch, l->name);
	return 0;
}

/* ---- where the table ends ---- */

/* Row of the table for a position, -1 where there is none. Positions and offset are within 2^53:
 * no wrap. */
static int64_t
table_row(const struct pe_learned *l, double position)
{
	const int64_t row = (int64_t)position + l->row_offset;

	return row >= 0 && (uint64_t)row < pe_learned_rows(l) ? row : -1;
}

static int
fail_outside(const struct pe_learned *l, double position, struct pe_error *e)
{
	char reads[40] = "";

	if (l->row_offset != 0)
		(void)snprintf(reads, sizeof reads, " (row %lld)",
			       (long long)position + (long long)l->row_offset);
	return pe_fail(e, PE_FAULT_DATA, "position %.0f%s: %s%s has rows 0..%zu", position, reads,
		       l->name, l->stretch > 0 ? " stretched" : "", pe_learned_rows(l) - 1);
}

int
pe_learned_find(const struct pe_learned *l, const struct pe_positions *at, uint64_t from,
		uint64_t n, struct pe_error *e)
{
	const uint64_t there = pe_positions_rows(at);

	if (from >= there || n == 0)
		return 0;
	const uint64_t end = n < there - from ? from + n : there;
	/* Evenly spaced positions are all inside where both ends are; else the walk ends within
	 * the table's rows. */
	if (at->list == NULL && end != PE_ENDLESS && table_row(l, pe_positions_at(at, from)) >= 0 &&
	    table_row(l, pe_positions_at(at, end - 1)) >= 0)
		return 0;
	for (uint64_t r = from; r < end; r++) {
		const double position = pe_positions_at(at, r);

		if (table_row(l, position) < 0)
			return fail_outside(l, position, e);
		if (at->list == NULL && at->step == 0)
			break;
	}
	return 0;
}

/* ---- rows as they are ---- */

void
pe_learned_copy(const struct pe_learned *l, const struct pe_positions *at, uint64_t from, size_t n,
		void *out)
{
	const size_t width = l->table->cols * pe_elem_size(l->table->elem);
	char *to = out;

	while (n > 0) { /* a run of rows that follow each other at a time */
		const size_t row = (size_t)table_row(l, pe_positions_at(at, from));
		size_t run = 1;

		while (run < n &&
		       table_row(l, pe_positions_at(at, from + run)) == (int64_t)(row + run))
			run++;
		memcpy(to, pe_matrix_row(l->table, row), run * width);
		to += run * width;
		from += run;
		n -= run;
	}
}

/* ---- rows that are computed ---- */

/* gain * (p a + q b) / den, p + q = den; p, q, den are whole numbers below 2^53. */
struct blend {
	size_t low, high; /* rows of a and b */
	double p, q, den, gain;
};

static struct blend
place(const struct pe_learned *l, size_t row)
{
	const size_t rows = l->table->rows, to = l->stretch;
	size_t num = 0, den = 1;

	if (to == 0) {
		num = row;
	} else if (l->align == PE_ALIGN_CENTERS) {
		const size_t end = 2 * to * (rows - 1);

		den = 2 * to;
		num = (2 * row + 1) * rows;
		num = num < to ? 0 : num - to;
		num = num > end ? end : num;
	} else if (to > 1) {
		num = row * (rows - 1);
		den = to - 1;
	}
	const size_t low = num / den, rest = num % den;
	struct blend w = {.low = low, .high = low, .p = 1, .den = 1, .gain = l->gain};

	if (rest > 0) {
		w.high = low + 1;
		w.p = (double)(den - rest);
		w.q = (double)rest;
		w.den = (double)den;
	}
	return w;
}

/* Magnitudes far enough from both ends that no product, sum or remainder below overflows or
 * loses bits. */
static bool
is_tame(double x)
{
	return x == 0 || (fabs(x) > 0x1p-700 && fabs(x) < 0x1p700);
}

/* The double from h + l, |l| <= ulp(h) / 2, that rounds to odd. */
static double
to_odd(double h, double l)
{
	uint64_t bits;

	memcpy(&bits, &h, sizeof bits);
	if (l == 0 || bits % 2 != 0)
		return h;
	bits += (l > 0) == (h > 0) ? 1 : UINT64_MAX;
	memcpy(&h, &bits, sizeof h);
	return h;
}

/* a times the gain; false where the product may not be as exact as fma makes it. */
static bool
scale_fast(double a, double gain, bool odd, double *value)
{
	const double h = a * gain;

	*value = odd ? to_odd(h, fma(a, gain, -h)) : h;
	return is_tame(h) && (h != 0 || a == 0);
}

/* The weighted sum in double-double: false where it cannot tell how the value rounds. s + tail =
 * a p + b q but for an error below 2^-51 (|l1| + |l2| + |t|), and the quotient's remainder is
 * exact. */
static bool
blend_fast(const struct blend *w, double a, double b, bool odd, double *value)
{
	if (w->gain != 1 || !is_tame(a) || !is_tame(b))
		return false;
	const double h1 = a * w->p, l1 = fma(a, w->p, -h1);
	const double h2 = b * w->q, l2 = fma(b, w->q, -h2);
	const double s = h1 + h2, back = s - h1;
	const double t = (h1 - (s - back)) + (h2 - back);
	const double y = s / w->den, r = fma(-y, w->den, s);
	const double rest = (r + (t + (l1 + l2))) / w->den;
	const double bound = 0x1p-50 * (fabs(r) + fabs(t) + fabs(l1) + fabs(l2)) / w->den;
	if (bound == 0) {
		*value = y;
		return true;
	}
	if (s == 0)
		return false;
	const double up = y + (rest + bound), down = y + (rest - bound);
	if (!odd) {
		*value = up;
		return up == down;
	}
	const double h = y + rest, l = rest - (h - y);
	*value = to_odd(h, l);
	return fabs(l) > bound;
}

/* Exact but for one division, whose quotient is far wider than any tie of the numerator's bits. */
static double
blend_slow(const struct blend *w, double a, double b, bool odd)
{
	enum {
		EXACT = 2400,
		WIDE = 2600
	}; /* two doubles times 2^53 each, lined up, times a double */
	mpfr_t sum, part;
	double value;

	mpfr_inits2(EXACT, sum, part, (mpfr_ptr)NULL);
	mpfr_set_d(sum, a, MPFR_RNDN);
	mpfr_mul_d(sum, sum, w->p, MPFR_RNDN);
	mpfr_set_d(part, b, MPFR_RNDN);
	mpfr_mul_d(part, part, w->q, MPFR_RNDN);
	mpfr_add(sum, sum, part, MPFR_RNDN);
	mpfr_mul_d(sum, sum, w->gain, MPFR_RNDN);
	mpfr_set_prec(part, WIDE);
	mpfr_div_d(part, sum, w->den, MPFR_RNDN);
	if (odd)
		value = pe_round_odd(part);
	else
		pe_round_store(PE_F64, &value, 0, part);
	mpfr_clears(sum, part, (mpfr_ptr)NULL);
	return value;
}

static double
blend(const struct blend *w, double a, double b, bool odd)
{
	double value;

	if (!isfinite(a) || (w->q > 0 && !isfinite(b)))
		return w->gain * (w->q > 0 ? (w->p * a + w->q * b) / w->den : a);
	if (!(w->q > 0 ? blend_fast(w, a, b, odd, &value) : scale_fast(a, w->gain, odd, &value)))
		value = blend_slow(w, a, b, odd);
	return value;
}

/* One row of the table as doubles, a piece at a time, so that conversion costs little and no
 * memory is asked for. */
static void
blend_row(const struct pe_matrix *m, const struct blend *w, bool odd, double *out)
{
	enum { PIECE = 256 };
	const size_t size = pe_elem_size(m->elem);
	const char *low = pe_matrix_row(m, w->low), *high = pe_matrix_row(m, w->high);
	double b[PIECE];

	for (size_t c = 0; c < m->cols; c += PIECE) {
		const size_t n = m->cols - c < PIECE ? m->cols - c : PIECE;

		(void)pe_elem_convert(PE_F64, out + c, m->elem, low + c * size, n);
		(void)pe_elem_convert(PE_F64, b, m->elem, high + c * size, n);
		for (size_t i = 0; i < n; i++)
			out[c + i] = blend(w, out[c + i], b[i], odd);
	}
}

void
pe_learned_values(const struct pe_learned *l, const struct pe_positions *at, uint64_t from,
		  size_t n, bool odd, double *out)
{
	const size_t cols = l->table->cols;

	for (size_t r = 0; r < n; r++, out += cols) {
		const size_t row = (size_t)table_row(l, pe_positions_at(at, from + r));
		const struct blend w = place(l, row);

		if (w.q == 0 && l->gain == 1)
			(void)pe_elem_convert(PE_F64, out, l->table->elem,
					      pe_matrix_row(l->table, w.low), cols);
		else
			blend_row(l->table, &w, odd, out);
	}
}
