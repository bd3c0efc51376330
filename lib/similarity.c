/* similarity - how alike two rows are. */
#include "similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "turn.h"
#include "wide.h"

/* ---- by offset ---- */

enum { PAIRS_AT_ONCE = 64 };

struct pe_similarity_plan {
	struct pe_freq freq;
	double pos_scale;
	size_t pairs;
	struct pe_turn *turn;
};

static void
omega(const void *context, size_t i, mpfr_ptr x)
{
	const struct pe_similarity_plan *p = context;

	pe_freq_omega(&p->freq, i, x);
}

static void
scale(const void *context, mpfr_ptr x)
{
	const struct pe_similarity_plan *p = context;

	mpfr_set_d(x, p->pos_scale, MPFR_RNDN);
}

int
pe_similarity_init(struct pe_similarity_plan **plan, const struct pe_convention *c, size_t dim,
		   struct pe_error *e)
{
	struct pe_columns columns;
	struct pe_similarity_plan *p;

	if (dim % 2 != 0)
		return pe_fail(e, PE_FAULT_ARGUMENT, "-d: must be even: '%zu'", dim);
	if (pe_convention_columns(c, dim, &columns, e))
		return -1;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return pe_fail_memory(e);
	p->freq = pe_convention_freq(c, &columns);
	p->pos_scale = c->pos_scale;
	p->pairs = columns.pairs;
	const struct pe_turn_source source = {
	    .pairs = p->pairs,
	    .omega = omega,
	    .scale = scale,
	    .context = p,
	};
	if (pe_turn_init(&p->turn, &source, e)) {
		free(p);
		return -1;
	}
	*plan = p;
	return 0;
}

void
pe_similarity_free(struct pe_similarity_plan *plan)
{
	if (plan == NULL)
		return;
	pe_turn_free(plan->turn);
	free(plan);
}

static struct pe_wide
square(const double x[2])
{
	const struct pe_wide wide = {x[0], x[1]};

	return pe_wide_multiply(wide, wide);
}

struct pe_similarity
pe_similarity_at(struct pe_similarity_plan *plan, double offset)
{
	double sine[PAIRS_AT_ONCE][2], cosine[PAIRS_AT_ONCE][2];
	struct pe_wide dot = {0, 0}, squares = {0, 0};

	for (size_t i = 0, n; i < plan->pairs; i += n) {
		n = plan->pairs - i < PAIRS_AT_ONCE ? plan->pairs - i : PAIRS_AT_ONCE;
		pe_turn_wide_at(plan->turn, i, n, offset, sine, cosine);
		for (size_t k = 0; k < n; k++)
			dot = pe_wide_add(dot, (struct pe_wide){cosine[k][0], cosine[k][1]});
		pe_turn_wide_at(plan->turn, i, n, offset / 2, sine, cosine);
		for (size_t k = 0; k < n; k++)
			squares = pe_wide_add(squares, square(sine[k]));
	}
	return (struct pe_similarity){
	    .dot = dot.high,
	    .similarity = pe_wide_divide(dot, (double)plan->pairs),
	    .distance = 2 * pe_wide_root(squares),
	};
}

/* ---- of rows ---- */

enum { LANES = 8 };

/* Two doubles are a register on every machine that has any; four such are the lanes of a sum. */
typedef double two __attribute__((vector_size(2 * sizeof(double))));

static two
load(const double *x)
{
	two v;

	memcpy(&v, x, sizeof v);
	return v;
}

/* Adds up the lanes, and the columns that did not fill eight. */
static double
finish(two a, two b, two c, two d, const double *rest, size_t n)
{
	double lane[LANES] = {a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]};

	for (size_t k = 0; k < n; k++)
		lane[k] += rest[k];
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
	       ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static double
dot_product(const double *x, const double *y, size_t n)
{
	two a = {0}, b = {0}, c = {0}, d = {0};
	double rest[LANES];
	size_t j = 0;

	for (; j + LANES <= n; j += LANES) {
		a += load(x + j) * load(y + j);
		b += load(x + j + 2) * load(y + j + 2);
		c += load(x + j + 4) * load(y + j + 4);
		d += load(x + j + 6) * load(y + j + 6);
	}
	for (size_t k = 0; k < n - j; k++)
		rest[k] = x[j + k] * y[j + k];
	return finish(a, b, c, d, rest, n - j);
}

static double
square_distance(const double *x, const double *y, size_t n)
{
	two a = {0}, b = {0}, c = {0}, d = {0};
	double rest[LANES];
	size_t j = 0;

	for (; j + LANES <= n; j += LANES) {
		const two e = load(x + j) - load(y + j), f = load(x + j + 2) - load(y + j + 2);
		const two g = load(x + j + 4) - load(y + j + 4),
			  h = load(x + j + 6) - load(y + j + 6);
		a += e * e;
		b += f * f;
		c += g * g;
		d += h * h;
	}
	for (size_t k = 0; k < n - j; k++)
		rest[k] = (x[j + k] - y[j + k]) * (x[j + k] - y[j + k]);
	return finish(a, b, c, d, rest, n - j);
}

/* Scales n values by a power of two so that the largest finite one comes to lie in 0.5 .. 1;
 * returns the exponent taken off. */
static int
normalise(double *x, size_t n)
{
	double most = 0;
	int exponent = 0;

	for (size_t j = 0; j < n; j++)
		if (fabs(x[j]) > most && isfinite(x[j]))
			most = fabs(x[j]);
	(void)frexp(most, &exponent);
	for (size_t j = 0; j < n && exponent != 0; j++)
		x[j] = ldexp(x[j], -exponent);
	return exponent;
}

int
pe_likeness_init(struct pe_likeness *l, struct pe_matrix *table, enum pe_metric metric,
		 struct pe_error *e)
{
	double *values = pe_matrix_f64(table);

	*l = (struct pe_likeness){.table = table, .metric = metric};
	if (metric == PE_METRIC_DISTANCE)
		l->exponent = normalise(values, table->rows * table->cols);
	if (metric != PE_METRIC_COSINE)
		return 0;
	l->squares = calloc(table->rows, sizeof *l->squares);
	if (l->squares == NULL)
		return pe_fail_memory(e);
	for (size_t r = 0; r < table->rows; r++, values += table->cols) {
		(void)normalise(values, table->cols);
		l->squares[r] = dot_product(values, values, table->cols);
	}
	return 0;
}

void
pe_likeness_free(struct pe_likeness *l)
{
	free(l->squares);
	l->squares = NULL;
}

double
pe_likeness_of(const struct pe_likeness *l, size_t a, size_t b)
{
	const size_t n = l->table->cols;
	const double *x = pe_matrix_row(l->table, a), *y = pe_matrix_row(l->table, b);

	if (l->metric == PE_METRIC_DISTANCE)
		return ldexp(sqrt(square_distance(x, y, n)), l->exponent);
	const double dot = dot_product(x, y, n);
	if (l->metric == PE_METRIC_DOT)
		return dot;
	/* the root of a square is exact, so a row is 1 to itself; beyond 1 there is rounding alone */
	const double cosine = dot / sqrt(l->squares[a] * l->squares[b]);
	return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

void
pe_likeness_rows(const struct pe_likeness *l, size_t first, size_t rows, double *out)
{
	const size_t n = l->table->rows;

	/* a row that has been fetched serves all rows of the block */
	for (size_t c = 0; c < n; c++)
		for (size_t r = 0; r < rows; r++)
			out[r * n + c] = pe_likeness_of(l, first + r, c);
}

/* Of dot products in a sum: 2^40 of them near the largest double do not overflow. */
#define SCALE 0x1p-41

/* What the pairs of one offset have come to so far. */
struct tally {
	struct pe_wide sum; /* of values times their scale */
	double minimum, maximum;
	bool is_nan;
};

static void
count(struct tally *t, double value, double scale)
{
	t->is_nan = t->is_nan || isnan(value);
	t->minimum = value < t->minimum ? value : t->minimum;
	t->maximum = value > t->maximum ? value : t->maximum;
	t->sum = isfinite(value) && isfinite(t->sum.high)
		     ? pe_wide_add(t->sum, (struct pe_wide){value * scale, 0})
		     : (struct pe_wide){t->sum.high + value, 0};
}

static struct pe_spread
spread(const struct tally *t, size_t pairs, double scale)
{
	if (t->is_nan)
		return (struct pe_spread){NAN, NAN, NAN};
	return (struct pe_spread){
	    .mean =
		isfinite(t->sum.high) ? pe_wide_divide(t->sum, (double)pairs) / scale : t->sum.high,
	    .minimum = t->minimum,
	    .maximum = t->maximum,
	};
}

int
pe_likeness_by_offset(const struct pe_likeness *l, struct pe_spread *spreads, struct pe_error *e)
{
	const double scale = l->metric == PE_METRIC_DOT ? SCALE : 1;
	const size_t n = l->table->rows;
	struct tally *tallies = calloc(n, sizeof *tallies);

	if (tallies == NULL)
		return pe_fail_memory(e);
	for (size_t k = 0; k < n; k++)
		tallies[k] = (struct tally){.minimum = INFINITY, .maximum = -INFINITY};
	for (size_t first = 0; first < n; first += PE_LIKENESS_BLOCK)
		for (size_t c = first; c < n; c++)
			for (size_t r = first; r <= c && r < first + PE_LIKENESS_BLOCK; r++)
				count(&tallies[c - r], pe_likeness_of(l, r, c), scale);
	for (size_t k = 0; k < n; k++)
		spreads[k] = spread(&tallies[k], n - k, scale);
	free(tallies);
	return 0;
}
