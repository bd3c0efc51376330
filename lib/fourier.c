/* fourier - features of coordinates: sines and cosines of multiples of them. */
#include "fourier.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <mpfr.h>

#include "num.h"
#include "round.h"
#include "turn.h"
#include "wide.h"

enum {
	PRECISION = 192, /* of an angle: 53 bits of the value and 139 to decide its rounding */
	STRIDE = 64,     /* rows of one coordinate that go to turn at a time */
};

/* Sine and cosine of so many turns, which are used up. The nearest quarter is taken off exactly,
 * so what is left lies within an eighth, and neither value is small by cancellation. */
static void
of_turns(mpfr_ptr turns, mpfr_ptr sine, mpfr_ptr cosine)
{
	mpfr_t quarters, angle;
	long quarter;

	mpfr_init2(quarters, mpfr_get_prec(turns) + 2);
	mpfr_init2(angle, PRECISION + 4);
	mpfr_mul_2ui(turns, turns, 2, MPFR_RNDN);
	mpfr_rint(quarters, turns, MPFR_RNDN);
	mpfr_sub(turns, turns, quarters, MPFR_RNDN);
	mpfr_div_2ui(quarters, quarters, 2, MPFR_RNDN);
	mpfr_frac(quarters, quarters, MPFR_RNDN);
	mpfr_mul_2ui(quarters, quarters, 2, MPFR_RNDN);
	quarter = mpfr_get_si(quarters, MPFR_RNDN) & 3; /* -1 & 3 is 3 */
	mpfr_const_pi(angle, MPFR_RNDN);
	mpfr_div_2ui(angle, angle, 1, MPFR_RNDN);
	mpfr_mul(angle, angle, turns, MPFR_RNDN);
	mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
	if (quarter & 1) {
		mpfr_swap(sine, cosine);
		mpfr_neg(cosine, cosine, MPFR_RNDN);
	}
	if (quarter & 2) {
		mpfr_neg(sine, sine, MPFR_RNDN);
		mpfr_neg(cosine, cosine, MPFR_RNDN);
	}
	/* zeros are exact here and have no sign */
	if (mpfr_zero_p(sine))
		mpfr_set_zero(sine, 1);
	if (mpfr_zero_p(cosine))
		mpfr_set_zero(cosine, 1);
	mpfr_clears(quarters, angle, (mpfr_ptr)NULL);
}

/* ---- bands ---- */

struct pe_bands {
	struct pe_bands_spec spec;
	struct pe_turn *turn; /* pair k is band k; a coordinate is its position */
};

/* Of band k: radians, or with pi turns, so that a half turn is one exactly. */
static void
band_omega(const void *context, size_t k, mpfr_ptr x)
{
	const struct pe_bands_spec *spec = context;

	if (spec->linear && spec->bands > 1) {
		/* 1 + k (2^(bands - 1) - 1)/(bands - 1): a sum of positive numbers */
		mpfr_set_ui_2exp(x, 1, (mpfr_exp_t)spec->bands - 1, MPFR_RNDN);
		mpfr_sub_ui(x, x, 1, MPFR_RNDN);
		mpfr_mul_ui(x, x, (unsigned long)k, MPFR_RNDN);
		mpfr_div_ui(x, x, (unsigned long)(spec->bands - 1), MPFR_RNDN);
		mpfr_add_ui(x, x, 1, MPFR_RNDN);
	} else {
		mpfr_set_ui_2exp(x, 1, (mpfr_exp_t)k, MPFR_RNDN);
	}
	if (spec->pi)
		mpfr_div_2ui(x, x, 1, MPFR_RNDN);
}

int
pe_bands_init(struct pe_bands **plan, const struct pe_bands_spec *spec, struct pe_error *e)
{
	struct pe_bands *p = calloc(1, sizeof *p);
	size_t width;

	if (p == NULL)
		return pe_fail_memory(e);
	p->spec = *spec;
	const struct pe_turn_source source = {
	    .pairs = spec->bands,
	    .omega = band_omega,
	    .turns = spec->pi,
	    .context = &p->spec,
	};
	if (pe_num_matrix_size(spec->dims, 2 * spec->bands + 1, sizeof(double), &width, e) ||
	    pe_turn_init(&p->turn, &source, e)) {
		free(p);
		return -1;
	}
	*plan = p;
	return 0;
}

void
pe_bands_free(struct pe_bands *plan)
{
	if (plan == NULL)
		return;
	pe_turn_free(plan->turn);
	free(plan);
}

size_t
pe_bands_width(const struct pe_bands *plan)
{
	return plan->spec.dims * (2 * plan->spec.bands + plan->spec.input);
}

/* Sine and cosine of a coordinate that turn does not take: beyond 2^53, or no number. */
static void
far_band(const struct pe_bands *p, double x, size_t row, enum pe_elem elem,
	 const struct pe_turn_layout *layout, void *out)
{
	/* as many bits as the angle has before the point, and PRECISION behind it */
	const mpfr_prec_t bits = PRECISION + 1024 + (mpfr_prec_t)p->spec.bands;
	mpfr_t angle, sine, cosine;

	mpfr_init2(angle, bits);
	mpfr_inits2(PRECISION, sine, cosine, (mpfr_ptr)NULL);
	for (size_t k = 0; k < p->spec.bands; k++) {
		const size_t at = row * layout->row + k * layout->step;

		band_omega(&p->spec, k, angle);
		mpfr_mul_d(angle, angle, x, MPFR_RNDN);
		if (p->spec.pi && isfinite(x))
			of_turns(angle, sine, cosine);
		else
			mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
		pe_round_store(elem, out, at + layout->sine, sine);
		pe_round_store(elem, out, at + layout->cosine, cosine);
	}
	mpfr_clears(angle, sine, cosine, (mpfr_ptr)NULL);
}

/* The features of one coordinate in n <= STRIDE rows; layout.sine is that of the first. */
static void
bands_of(const struct pe_bands *p, const double *x, size_t n, enum pe_elem elem,
	 const struct pe_turn_layout *layout, void *out)
{
	double position[STRIDE] = {0};
	bool far = false;

	for (size_t r = 0; r < n; r++) {
		position[r] = x[r * p->spec.dims];
		if (!(fabs(position[r]) <= (double)PE_POSITION_MAX)) {
			position[r] = 0;
			far = true;
		}
	}
	pe_turn_rows_at(p->turn, position, n, elem, layout, out);
	for (size_t r = 0; far && r < n; r++)
		if (!(fabs(x[r * p->spec.dims]) <= (double)PE_POSITION_MAX))
			far_band(p, x[r * p->spec.dims], r, elem, layout, out);
}

static int
copy_input(const struct pe_bands *p, uint64_t first, const double *x, size_t rows,
	   enum pe_elem elem, void *out, struct pe_error *e)
{
	const size_t bytes = pe_bands_width(p) * pe_elem_size(elem);

	for (size_t r = 0; r < rows; r++) {
		const size_t done = pe_elem_convert(elem, (char *)out + r * bytes, PE_F64,
						    x + r * p->spec.dims, p->spec.dims);
		if (done < p->spec.dims)
			return pe_fail(e, PE_FAULT_DATA,
				       "row %llu, column %zu: overflows %s: '%.15g'",
				       (unsigned long long)(first + r), done + 1,
				       pe_elem_name(elem), x[r * p->spec.dims + done]);
	}
	return 0;
}

int
pe_bands_rows(const struct pe_bands *plan, uint64_t first, const double *x, size_t rows,
	      enum pe_elem elem, void *out, struct pe_error *e)
{
	const size_t dims = plan->spec.dims;
	const size_t inputs = plan->spec.input ? dims : 0;

	if (plan->spec.input && copy_input(plan, first, x, rows, elem, out, e))
		return -1;
	for (size_t done = 0, n; done < rows; done += n) {
		n = rows - done < STRIDE ? rows - done : STRIDE;
		for (size_t j = 0; j < dims; j++) {
			struct pe_turn_layout layout = {
			    .step = 2 * dims,
			    .sines = plan->spec.bands,
			    .cosines = plan->spec.bands,
			    .row = pe_bands_width(plan),
			};
			layout.sine = done * layout.row + inputs + j;
			layout.cosine = layout.sine + dims;
			bands_of(plan, x + done * dims + j, n, elem, &layout, out);
		}
	}
	return 0;
}

/* ---- matrix ---- */

enum { FEATURES_AT_ONCE = 64 };

/* The frequencies that one coordinate contributes: column j of B, without signs. */
struct column {
	const struct pe_fourier *fourier;
	size_t j;
	struct pe_turn *turn;
};

struct pe_fourier {
	struct pe_fourier_spec spec;
	struct column *columns; /* dims */
	mpfr_t *logs;           /* dims logarithms of the row under way; NULL without log */
	mpfr_t factor, product, sum, sine, cosine;
};

/* What features .. of a row come to before they are rounded, to within error. */
struct features {
	struct pe_wide sine[FEATURES_AT_ONCE], cosine[FEATURES_AT_ONCE];
	double error[FEATURES_AT_ONCE];
};

static double
frequency(const struct pe_fourier *p, size_t f, size_t j)
{
	return p->spec.matrix[f * p->spec.dims + j];
}

/* A frequency of 0 never turns and is left out of products; any other will do in its place. */
static void
column_omega(const void *context, size_t f, mpfr_ptr x)
{
	const struct column *column = context;
	const double b = frequency(column->fourier, f, column->j);

	mpfr_set_d(x, b != 0 ? fabs(b) : 1, MPFR_RNDN);
}

static int
plan_columns(struct pe_fourier *p, struct pe_error *e)
{
	p->columns = calloc(p->spec.dims, sizeof *p->columns);
	if (p->columns == NULL)
		return pe_fail_memory(e);
	for (size_t j = 0; j < p->spec.dims; j++) {
		struct column *column = &p->columns[j];
		const struct pe_turn_source source = {
		    .pairs = p->spec.features,
		    .omega = column_omega,
		    .turns = !p->spec.radians,
		    .context = column,
		};

		column->fourier = p;
		column->j = j;
		if (pe_turn_init(&column->turn, &source, e))
			return -1;
	}
	return 0;
}

static int
plan_logs(struct pe_fourier *p, struct pe_error *e)
{
	if (!p->spec.log)
		return 0;
	p->logs = calloc(p->spec.dims, sizeof *p->logs);
	if (p->logs == NULL)
		return pe_fail_memory(e);
	for (size_t j = 0; j < p->spec.dims; j++)
		mpfr_init2(p->logs[j], PRECISION);
	return 0;
}

int
pe_fourier_init(struct pe_fourier **plan, const struct pe_fourier_spec *spec, struct pe_error *e)
{
	struct pe_fourier *p = calloc(1, sizeof *p);

	if (p == NULL)
		return pe_fail_memory(e);
	p->spec = *spec;
	mpfr_init2(p->factor, 53);
	mpfr_init2(p->product, 106);
	mpfr_inits2(PRECISION, p->sum, p->sine, p->cosine, (mpfr_ptr)NULL);
	if (plan_columns(p, e) || plan_logs(p, e)) {
		pe_fourier_free(p);
		return -1;
	}
	*plan = p;
	return 0;
}

void
pe_fourier_free(struct pe_fourier *plan)
{
	if (plan == NULL)
		return;
	for (size_t j = 0; j < plan->spec.dims; j++) {
		if (plan->columns != NULL)
			pe_turn_free(plan->columns[j].turn);
		if (plan->logs != NULL)
			mpfr_clear(plan->logs[j]);
	}
	free(plan->columns);
	free(plan->logs);
	mpfr_clears(plan->factor, plan->product, plan->sum, plan->sine, plan->cosine,
		    (mpfr_ptr)NULL);
	mpfr_free_cache();
	free(plan);
}

/* ---- the exact way, for what the fast one leaves undecided ---- */

/* sum = B_f x exactly. The product of two doubles is a multiple of 2^(e - 106), e the sum of
 * their exponents; a sum of n of them that has all bits from the largest to the smallest of
 * these, and log2 n + 1 for carries, loses none. */
static void
exact_product(struct pe_fourier *p, const double *b, const double *x)
{
	int high = INT_MIN, low = INT_MAX, carries = 2;

	for (size_t n = p->spec.dims; n > 0; n /= 2)
		carries++;
	for (size_t j = 0; j < p->spec.dims; j++) {
		int eb, ex;

		if (b[j] == 0 || x[j] == 0)
			continue;
		(void)frexp(b[j], &eb);
		(void)frexp(x[j], &ex);
		high = eb + ex > high ? eb + ex : high;
		low = eb + ex - 106 < low ? eb + ex - 106 : low;
	}
	mpfr_set_prec(p->sum, high >= low ? high - low + carries : MPFR_PREC_MIN);
	mpfr_set_zero(p->sum, 1);
	for (size_t j = 0; j < p->spec.dims; j++) {
		mpfr_set_d(p->factor, b[j], MPFR_RNDN);
		mpfr_mul_d(p->product, p->factor, x[j], MPFR_RNDN);
		mpfr_add(p->sum, p->sum, p->product, MPFR_RNDN);
	}
}

/* sum = B_f ln x, absolute error some 2^-180 of its largest term. */
static void
log_product(struct pe_fourier *p, const double *b)
{
	mpfr_t term;

	mpfr_init2(term, PRECISION);
	mpfr_set_prec(p->sum, PRECISION);
	mpfr_set_zero(p->sum, 1);
	for (size_t j = 0; j < p->spec.dims; j++) {
		mpfr_mul_d(term, p->logs[j], b[j], MPFR_RNDN);
		mpfr_add(p->sum, p->sum, term, MPFR_RNDN);
	}
	mpfr_clear(term);
}

/* Feature f, rounded from PRECISION bits. */
static void
exact_feature(struct pe_fourier *p, const double *x, size_t f)
{
	const double *b = p->spec.matrix + f * p->spec.dims;

	if (p->spec.log)
		log_product(p, b);
	else
		exact_product(p, b, x);
	if (p->spec.radians)
		mpfr_sin_cos(p->sine, p->cosine, p->sum, MPFR_RNDN);
	else
		of_turns(p->sum, p->sine, p->cosine);
}

/* ---- the fast way ---- */

/* Turns features first .. first + n - 1 on by what coordinate j at that position adds: exp(i(a +
 * b)) = exp(ia) exp(ib). */
static void
turn_on(const struct pe_fourier *p, size_t j, double position, size_t first, size_t n,
	struct features *features)
{
	double sine[FEATURES_AT_ONCE][2], cosine[FEATURES_AT_ONCE][2];

	pe_turn_wide_at(p->columns[j].turn, first, n, position, sine, cosine);
	for (size_t k = 0; k < n; k++) {
		const double b = frequency(p, first + k, j), sign = b < 0 ? -1 : 1;
		const struct pe_wide s = {sign * sine[k][0], sign * sine[k][1]},
				     c = {cosine[k][0], cosine[k][1]};
		const struct pe_wide a = features->sine[k], d = features->cosine[k];
		const struct pe_wide minus = {-a.high, -a.low};

		if (b == 0)
			continue;
		features->sine[k] = pe_wide_add(pe_wide_multiply(a, c), pe_wide_multiply(d, s));
		features->cosine[k] =
		    pe_wide_add(pe_wide_multiply(d, c), pe_wide_multiply(minus, s));
	}
}

/* A coordinate adds 2^-96 from turn and some 20 u^2 from the product, less than 2^-94 together.
 * A logarithm goes in as two doubles; what they miss is below 2^-107 of 745, so the angle errs
 * by less than 2 pi b 2^-97. */
static void
fast_features(struct pe_fourier *p, const double *x, size_t first, size_t n,
	      struct features *features)
{
	for (size_t k = 0; k < n; k++) {
		features->sine[k] = (struct pe_wide){0, 0};
		features->cosine[k] = (struct pe_wide){1, 0};
		features->error[k] = 0;
	}
	for (size_t j = 0; j < p->spec.dims; j++) {
		if (!p->spec.log) {
			turn_on(p, j, x[j], first, n, features);
			for (size_t k = 0; k < n; k++)
				features->error[k] += 0x1p-94;
			continue;
		}
		const double high = mpfr_get_d(p->logs[j], MPFR_RNDN);
		mpfr_sub_d(p->product, p->logs[j], high, MPFR_RNDN);
		turn_on(p, j, high, first, n, features);
		turn_on(p, j, mpfr_get_d(p->product, MPFR_RNDN), first, n, features);
		for (size_t k = 0; k < n; k++)
			features->error[k] += 0x1p-93 + fabs(frequency(p, first + k, j)) * 0x1p-94;
	}
}

/* Stores the value rounded once to elem, if the error leaves no doubt of it: both ends of where
 * the value may lie round to one double, and that is no tie of a narrower element. */
static bool
settle(struct pe_wide value, double error, enum pe_elem elem, void *out, size_t at)
{
	const double low = value.high + (value.low - error),
		     high = value.high + (value.low + error);

	if (low != high)
		return false;
	if (elem == PE_F64) {
		((double *)out)[at] = low;
		return true;
	}
	const double narrow = pe_elem_round(elem, low);
	if (pe_elem_round(elem, nextafter(low, -INFINITY)) != narrow ||
	    pe_elem_round(elem, nextafter(low, INFINITY)) != narrow)
		return false;
	return pe_elem_convert(elem, (char *)out + at * pe_elem_size(elem), PE_F64, &narrow, 1) ==
	       1;
}

enum where { NOWHERE, NEAR, FAR };

/* Whether the row's coordinates have features at all, and the fast way reaches them; takes their
 * logarithms. */
static enum where
take_row(struct pe_fourier *p, const double *x)
{
	enum where where = NEAR;

	for (size_t j = 0; j < p->spec.dims; j++) {
		if (!isfinite(x[j]) || (p->spec.log && x[j] <= 0))
			return NOWHERE;
		if (p->spec.log) {
			mpfr_set_d(p->logs[j], x[j], MPFR_RNDN);
			mpfr_log(p->logs[j], p->logs[j], MPFR_RNDN);
		} else if (fabs(x[j]) > (double)PE_POSITION_MAX) {
			where = FAR;
		}
	}
	return where;
}

void
pe_fourier_rows(struct pe_fourier *plan, const double *x, size_t rows, enum pe_elem elem, void *out)
{
	const size_t m = plan->spec.features;
	const size_t cosines = plan->spec.cosine_first ? 0 : m, sines = m - cosines;

	for (size_t r = 0; r < rows; r++, x += plan->spec.dims) {
		const enum where where = take_row(plan, x);
		struct features fast;

		if (where == NOWHERE) {
			mpfr_set_nan(plan->sine);
			for (size_t c = 0; c < 2 * m; c++)
				pe_round_store(elem, out, r * 2 * m + c, plan->sine);
			continue;
		}
		for (size_t f = 0; f < m; f++) {
			const size_t k = f % FEATURES_AT_ONCE, at = r * 2 * m + f;

			if (k == 0 && where == NEAR)
				fast_features(plan, x, f,
					      m - f < FEATURES_AT_ONCE ? m - f : FEATURES_AT_ONCE,
					      &fast);
			if (where == NEAR &&
			    settle(fast.sine[k], fast.error[k], elem, out, at + sines) &&
			    settle(fast.cosine[k], fast.error[k], elem, out, at + cosines))
				continue;
			exact_feature(plan, x, f);
			pe_round_store(elem, out, at + sines, plan->sine);
			pe_round_store(elem, out, at + cosines, plan->cosine);
		}
	}
}
