/* diagnose - which convention turns one position table into another. */
#include "diagnose.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pairing.h"

/* ---- words ---- */

static void say(struct pe_diagnosis *d, const char *format, ...) PE_PRINTF(2, 3);

/* One more item of the list. */
static void
say(struct pe_diagnosis *d, const char *format, ...)
{
	size_t used = strlen(d->text);
	va_list args;

	if (used > 0 && used + 2 < sizeof d->text) {
		memcpy(d->text + used, ", ", 3);
		used += 2;
	}
	va_start(args, format);
	(void)vsnprintf(d->text + used, sizeof d->text - used, format, args);
	va_end(args);
}

/* ---- B as a rearrangement of A ---- */

enum pairing { PAIRS_KEPT, PAIRS_TO_HALVES, PAIRS_TO_INTERLEAVED };
enum exchange { EXCHANGE_NONE, EXCHANGE_PAIRS, EXCHANGE_HALVES };
enum sign { SIGN_KEPT, SIGN_ALL, SIGN_EVEN, SIGN_ODD, SIGN_FIRST, SIGN_SECOND, SIGNS };
enum { SHIFT_MAX = 2, LOOKED_AT = 16 };

/* Read from B's cell back to A's: sign and factor, exchange, pairing, row, transpose. */
struct move {
	bool transpose;
	enum pairing pairing;
	size_t head; /* width in which pairs move; the whole row where it is its width */
	enum exchange exchange;
	enum sign sign;
	int shift; /* B's row r is A's row r + shift */
	double factor;
};

static int
changes(const struct move *m, size_t cols)
{
	return m->transpose + (m->pairing != PAIRS_KEPT) +
	       (m->pairing != PAIRS_KEPT && m->head != cols) + (m->exchange != EXCHANGE_NONE) +
	       (m->sign != SIGN_KEPT) + (m->shift != 0);
}

static size_t
source_column(const struct move *m, size_t cols, size_t col)
{
	const size_t half = cols / 2;

	if (col >= 2 * half)
		return col; /* the odd last one */
	if (m->exchange == EXCHANGE_PAIRS)
		col ^= 1;
	else if (m->exchange == EXCHANGE_HALVES)
		col = col < half ? col + half : col - half;
	if (m->pairing == PAIRS_KEPT)
		return col;
	return pe_pairing_source(m->pairing == PAIRS_TO_HALVES, m->head - m->head % 2, col);
}

static double
sign_of(const struct move *m, size_t cols, size_t col)
{
	switch (m->sign) {
	case SIGN_ALL: return -1;
	case SIGN_EVEN: return col % 2 == 0 ? -1 : 1;
	case SIGN_ODD: return col % 2 == 1 ? -1 : 1;
	case SIGN_FIRST: return col < cols / 2 ? -1 : 1;
	case SIGN_SECOND: return col >= cols / 2 ? -1 : 1;
	default: return 1;
	}
}

/* A's value for B's cell, without the factor. */
static double
moved(const struct move *m, const struct pe_matrix *a, size_t cols, size_t row, size_t col)
{
	const double *x = pe_matrix_f64(a);
	const size_t from = source_column(m, cols, col);
	const double value = m->transpose ? x[from * a->cols + row] : x[row * a->cols + from];

	return sign_of(m, cols, col) * value;
}

/* Rows of B that have a counterpart. */
static void
overlap(const struct move *m, const struct pe_matrix *b, size_t *first, size_t *end)
{
	*first = m->shift < 0 ? (size_t)-m->shift : 0;
	*end =
	    m->shift > 0 ? (b->rows > (size_t)m->shift ? b->rows - (size_t)m->shift : 0) : b->rows;
}

static bool
same(double x, double y, double tolerance)
{
	return x == y || fabs(x - y) <= tolerance || (isnan(x) && isnan(y));
}

static bool
explains(const struct move *m, const struct pe_matrix *a, const struct pe_matrix *b,
	 double tolerance)
{
	const double *y = pe_matrix_f64(b);
	size_t first, end;

	overlap(m, b, &first, &end);
	if (end < first + 1 + (m->shift != 0)) /* a shift of one common row says nothing */
		return false;
	for (size_t r = first; r < end; r++)
		for (size_t c = 0; c < b->cols; c++)
			if (!same(m->factor *
				      moved(m, a, b->cols, (size_t)((int64_t)r + m->shift), c),
				  y[r * b->cols + c], tolerance))
				return false;
	return true;
}

/* The factor that takes the largest moved value of the first rows to B's; 1 where there is none. */
static double
factor_of(const struct move *m, const struct pe_matrix *a, const struct pe_matrix *b)
{
	const double *y = pe_matrix_f64(b);
	double largest = 0, factor = 1;
	size_t first, end;

	overlap(m, b, &first, &end);
	end = end > first + LOOKED_AT ? first + LOOKED_AT : end;
	for (size_t r = first; r < end; r++)
		for (size_t c = 0; c < b->cols; c++) {
			const double x = moved(m, a, b->cols, (size_t)((int64_t)r + m->shift), c);
			if (isfinite(x) && fabs(x) > largest) {
				largest = fabs(x);
				factor = y[r * b->cols + c] / x;
			}
		}
	return isfinite(factor) && factor != 0 ? factor : 1;
}

struct search {
	const struct pe_matrix *a, *b;
	double tolerance;
	bool any_factor;
	int fewest; /* changes of the best so far */
	struct move best;
};

static void
try_move(struct search *s, struct move m)
{
	const int n = changes(&m, s->b->cols);

	if (n >= s->fewest)
		return;
	if (s->any_factor)
		m.factor = factor_of(&m, s->a, s->b);
	if (explains(&m, s->a, s->b, s->tolerance)) {
		s->fewest = n;
		s->best = m;
	}
}

static void
try_rows(struct search *s, struct move m)
{
	for (int shift = -SHIFT_MAX; shift <= SHIFT_MAX; shift++)
		for (int sign = 0; sign < SIGNS; sign++) {
			m.shift = shift;
			m.sign = (enum sign)sign;
			try_move(s, m);
		}
}

static void
try_columns(struct search *s, bool transposed)
{
	const size_t cols = s->b->cols;

	for (int exchange = EXCHANGE_NONE; exchange <= EXCHANGE_HALVES; exchange++) {
		struct move m = {.transpose = transposed,
				 .head = cols,
				 .exchange = (enum exchange)exchange,
				 .factor = 1};

		try_rows(s, m);
		for (m.head = cols; m.head >= 4 || m.head == cols; m.head /= 2) {
			m.pairing = PAIRS_TO_HALVES;
			try_rows(s, m);
			m.pairing = PAIRS_TO_INTERLEAVED;
			try_rows(s, m);
			if (m.head % 4 != 0)
				break;
		}
	}
}

static void
tell_move(const struct move *m, size_t cols, struct pe_diagnosis *d)
{
	static const char *const signs[SIGNS] = {"",
						 "sign",
						 "sign of the even columns",
						 "sign of the odd columns",
						 "sign of the first half of the columns",
						 "sign of the second half of the columns"};

	if (m->transpose)
		say(d, "transpose");
	if (m->pairing != PAIRS_KEPT)
		say(d, m->pairing == PAIRS_TO_HALVES ? "interleaved -> halves"
						     : "halves -> interleaved");
	if (m->pairing != PAIRS_KEPT && m->head != cols)
		say(d, "in heads of %zu columns", m->head);
	if (m->exchange != EXCHANGE_NONE)
		say(d, "sine <-> cosine (flip: %s exchanged)",
		    m->exchange == EXCHANGE_PAIRS ? "columns 2i and 2i+1" : "the two halves");
	if (m->sign != SIGN_KEPT)
		say(d, "%s", signs[m->sign]);
	if (m->shift != 0)
		say(d, "start off by %d (row r of B is row r%+d of A)", m->shift, m->shift);
	if (m->factor != 1)
		say(d, "gain %.6g", m->factor);
}

static bool
rearranged(struct search *s, struct pe_diagnosis *d)
{
	const bool as_is = s->a->rows == s->b->rows && s->a->cols == s->b->cols;
	const bool turned = s->a->rows == s->b->cols && s->a->cols == s->b->rows;

	for (int factors = 0; factors < 2; factors++) {
		s->any_factor = factors == 1;
		s->fewest = INT32_MAX;
		if (as_is)
			try_columns(s, false);
		if (turned)
			try_columns(s, true);
		if (s->fewest == INT32_MAX)
			continue;
		if (s->fewest == 0 && !s->any_factor)
			say(d, "none is needed: the same convention, within %.3g", s->tolerance);
		else
			tell_move(&s->best, s->b->cols, d);
		return true;
	}
	return false;
}

/* ---- both as sinusoidal tables ---- */

struct fit {
	bool halves, flip;
	double base, freq_shift; /* base is nan where there is one pair alone */
	double start, pos_scale, gain;
};

struct columns {
	size_t sine, cosine, step, pairs;
};

static const double turn = 6.283185307179586;

static struct columns
columns_of(const struct pe_matrix *m, bool halves, bool flip)
{
	const size_t pairs = m->cols / 2;
	const size_t second = halves ? pairs : 1;

	return (struct columns){flip ? second : 0, flip ? 0 : second, halves ? 1 : 2, pairs};
}

static double
angle(const struct pe_matrix *m, const struct columns *c, size_t row, size_t pair)
{
	const double *x = pe_matrix_f64(m) + row * m->cols + pair * c->step;

	return atan2(x[c->sine], x[c->cosine]);
}

/* sin^2 + cos^2 is the same for all pairs and rows: only the right pairing has that. */
static bool
constant_norm(const struct pe_matrix *m, const struct columns *c, double *gain)
{
	const double *x = pe_matrix_f64(m);

	*gain = hypot(x[c->sine], x[c->cosine]);
	for (size_t r = 0; r < m->rows; r++)
		for (size_t i = 0; i < c->pairs; i++) {
			const double *at = x + r * m->cols + i * c->step;
			if (!(fabs(hypot(at[c->sine], at[c->cosine]) - *gain) <= 1e-3 * *gain))
				return false;
		}
	return *gain > 0;
}

/* Radians a row, from neighbours first and then, the turns being known, from rows ever farther
 * apart. */
static double
frequency(const struct pe_matrix *m, const struct columns *c, size_t pair)
{
	double omega = remainder(angle(m, c, 1, pair) - angle(m, c, 0, pair), turn);

	for (size_t apart = 2; apart < m->rows; apart *= 2) {
		const double left = angle(m, c, apart, pair) - angle(m, c, 0, pair);
		omega =
		    (left + turn * round((omega * (double)apart - left) / turn)) / (double)apart;
	}
	return omega;
}

/* The position of row 0: roughly from the slowest pair, and finer from each faster one. */
static double
start_of(const struct pe_matrix *m, const struct columns *c, const struct fit *f, double lambda)
{
	double t = 0;

	for (size_t i = c->pairs; i-- > 0;) {
		const double omega = f->pos_scale * exp(-lambda * (double)i),
			     here = angle(m, c, 0, i);
		t = (here + turn * round((omega * t - here) / turn)) / omega;
	}
	return t;
}

/* How far a number is from one of so many significant digits, relative to it. */
static double
unround(double x, int digits)
{
	const double unit = pow(10, floor(log10(x)) - digits + 1);

	return fabs(x / unit - round(x / unit)) * unit / x;
}

/* A spacing lambda = ln(base) / D fits any D: the one that makes base the rounder number was meant. */
static void
choose_base(struct fit *f, double lambda, double half)
{
	f->base = exp(lambda * half);
	f->freq_shift = 0;
	if (half <= 1 || unround(f->base, 1) < 1e-3)
		return;
	const double other = exp(lambda * (half - 1));
	for (int digits = 1; digits <= 2; digits++) {
		if (unround(f->base, digits) < 1e-3)
			return;
		if (unround(other, digits) < 1e-3) {
			f->base = other;
			f->freq_shift = 1;
			return;
		}
	}
}

static bool
fit_columns(const struct pe_matrix *m, bool halves, bool flip, struct fit *f)
{
	const struct columns c = columns_of(m, halves, flip);
	double lambda;

	*f = (struct fit){.halves = halves, .flip = flip, .base = (double)NAN};
	if (!constant_norm(m, &c, &f->gain))
		return false;
	f->pos_scale = frequency(m, &c, 0);
	const double slowest = frequency(m, &c, c.pairs - 1);
	if (!(slowest > 0) || !(f->pos_scale >= slowest))
		return false; /* the cosine stands first, or the rows are no steps of one */
	lambda = c.pairs > 1 ? log(f->pos_scale / slowest) / (double)(c.pairs - 1) : 0;
	for (size_t i = 1; i < c.pairs; i++)
		if (!(fabs(log(f->pos_scale / frequency(m, &c, i)) - lambda * (double)i) < 0.02))
			return false;
	if (c.pairs > 1)
		choose_base(f, lambda, halves ? (double)c.pairs : (double)m->cols / 2);
	f->start = start_of(m, &c, f, lambda);
	return true;
}

static bool
fit_table(const struct pe_matrix *m, struct fit *f)
{
	if (m->rows < 2 || m->cols < 2)
		return false;
	for (int way = 0; way < 4; way++)
		if (fit_columns(m, way & 1, way & 2, f))
			return true;
	return false;
}

static void
tell_change(struct pe_diagnosis *d, const char *what, double from, double to)
{
	if (isnan(from) || isnan(to) ||
	    fabs(from - to) <= 1e-3 * fmax(1, fmax(fabs(from), fabs(to))))
		return;
	say(d, "%s %.7g -> %.7g", what, from, to);
}

static bool
both_sinusoidal(const struct pe_matrix *a, const struct pe_matrix *b, struct pe_diagnosis *d)
{
	struct fit x, y;

	if (!fit_table(a, &x) || !fit_table(b, &y))
		return false;
	if (x.halves != y.halves)
		say(d, x.halves ? "halves -> interleaved" : "interleaved -> halves");
	if (x.flip != y.flip)
		say(d, "sine <-> cosine (flip: %s first)", y.flip ? "cosine" : "sine");
	tell_change(d, "base", x.base, y.base);
	tell_change(d, "freq-shift", x.freq_shift, y.freq_shift);
	tell_change(d, "start", round(1000 * x.start) / 1000, round(1000 * y.start) / 1000);
	tell_change(d, "pos-scale", x.pos_scale, y.pos_scale);
	if (fabs(x.gain - y.gain) > 1e-3 * x.gain)
		say(d, "gain %.6g", y.gain / x.gain);
	return d->text[0] != '\0';
}

/* ---- */

static double
largest(const struct pe_matrix *m)
{
	const double *x = pe_matrix_f64(m);
	double most = 0;

	for (size_t i = 0; i < m->rows * m->cols; i++)
		if (isfinite(x[i]))
			most = fmax(most, fabs(x[i]));
	return most;
}

void
pe_diagnose(const struct pe_matrix *a, const struct pe_matrix *b, double tolerance,
	    struct pe_diagnosis *d)
{
	struct search s = {
	    .a = a, .b = b, .tolerance = tolerance >= 0 ? tolerance : 1e-3 * largest(b)};

	*d = (struct pe_diagnosis){.text = ""};
	d->found = rearranged(&s, d) || both_sinusoidal(a, b, d);
	if (!d->found && tolerance < 0) { /* bf16 keeps less */
		s.tolerance *= 10;
		d->found = rearranged(&s, d);
	}
	if (!d->found)
		say(d, "no known convention turns A into B");
}
