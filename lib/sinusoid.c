/* sinusoid - rows of the sinusoidal position table, along a line and on a grid. */
#include "sinusoid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "round.h"

struct pe_sinusoid {
	struct pe_columns columns;
	struct pe_convention_turn engine;
};

static int
plan(struct pe_sinusoid *s, const struct pe_convention *c, size_t dim, double last,
     struct pe_error *e)
{
	if (pe_convention_columns(c, dim, &s->columns, e))
		return -1;
	return pe_convention_turn_init(&s->engine, c, &s->columns, last, e);
}

int
pe_sinusoid_init(struct pe_sinusoid **s, const struct pe_convention *c, size_t dim,
		 struct pe_error *e)
{
	struct pe_sinusoid *made = calloc(1, sizeof *made);

	if (made == NULL)
		return pe_fail_memory(e);
	if (plan(made, c, dim, 0, e)) {
		free(made);
		return -1;
	}
	*s = made;
	return 0;
}

void
pe_sinusoid_free(struct pe_sinusoid *s)
{
	if (s == NULL)
		return;
	pe_convention_turn_free(&s->engine);
	free(s);
}

/* How many rows from `from` on, at most n, stand at whole numbers with one distance between
 * them, which is stored. */
static size_t
run_of(const struct pe_positions *at, uint64_t from, size_t n, int64_t *step)
{
	const double *list = at->list + from;
	size_t run = 2;

	if (n == 1 || list[0] != trunc(list[0]) || list[1] != trunc(list[1]))
		return 1;
	*step = (int64_t)(list[1] - list[0]); /* both are within 2^53: it is exact */
	while (run < n && list[run] - list[run - 1] == (double)*step)
		run++;
	return run;
}

/* The engine likes evenly spaced rows, and a row that is repeated is made once: a list with
 * runs, as of sequences that start anew, costs no more than a count. */
static void
turn_rows(const struct pe_sinusoid *s, const struct pe_positions *at, uint64_t from, size_t n,
	  enum pe_elem elem, const struct pe_turn_layout *layout, char *out)
{
	enum { WORTH = 16 }; /* rows of a list for which a step of its own pays */
	const size_t size = pe_elem_size(elem), width = layout->row * size;

	while (n > 0) {
		int64_t step = at->step;
		const size_t run = at->list != NULL ? run_of(at, from, n, &step) : n;

		if (run > 1 && step == 0) {
			const double position = pe_positions_at(at, from);

			pe_turn_rows_at(s->engine.turn, &position, 1, elem, layout, out);
			for (size_t r = 1; r < run; r++)
				memcpy(out + r * width, out, s->columns.dim * size);
		} else if (at->list != NULL && run < WORTH) {
			pe_turn_rows_at(s->engine.turn, at->list + from, run, elem, layout, out);
		} else {
			pe_turn_rows(s->engine.turn, (int64_t)pe_positions_at(at, from), step, run,
				     elem, layout, out);
		}
		out += run * width;
		from += run;
		n -= run;
	}
}

/* The plan's columns of n rows that are `width` elements apart, from the column that `out`
 * points to. */
static void
fill(const struct pe_sinusoid *s, const struct pe_positions *at, uint64_t from, size_t n,
     enum pe_elem elem, size_t width, void *out)
{
	const size_t size = pe_elem_size(elem);
	struct pe_turn_layout layout = s->columns.layout;

	layout.row = width;
	if (s->engine.turn != NULL)
		turn_rows(s, at, from, n, elem, &layout, out);
	if (!s->columns.zero_column)
		return;
	char *last = (char *)out + (s->columns.dim - 1) * size;
	for (size_t r = 0; r < n; r++)
		memset(last + r * width * size, 0, size);
}

void
pe_sinusoid_rows(const struct pe_sinusoid *s, const struct pe_positions *at, uint64_t from,
		 size_t n, enum pe_elem elem, void *out)
{
	fill(s, at, from, n, elem, s->columns.dim, out);
}

/* ---- grids ---- */

struct pe_grid {
	struct pe_sinusoid y, x;
	size_t height, width, dim;
	size_t y_column, x_column; /* where each half begins */
	int64_t start;
};

static int
check_axis(const struct pe_convention *c, size_t cells, double *last, struct pe_error *e)
{
	const struct pe_positions coordinates = {.first = c->grid_start, .step = 1};

	*last = 0;
	if (cells > pe_positions_rows(&coordinates))
		return pe_fail(e, PE_FAULT_ARGUMENT, "grid: a coordinate lies beyond 2^53");
	if (!c->grid_normalize)
		return 0;
	*last = (double)(c->grid_start + (int64_t)cells - 1);
	if (*last <= 0)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "grid-normalize: needs a last coordinate above 0: '%.0f'", *last);
	return 0;
}

int
pe_grid_init(struct pe_grid **g, const struct pe_convention *c, size_t height, size_t width,
	     size_t dim, struct pe_error *e)
{
	double last_y, last_x;
	size_t cells;

	if (dim % 2 != 0)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "the width of a grid's row must be even: '%zu'", dim);
	if (!pe_num_size(height, width, 1, &cells))
		return pe_fail(e, PE_FAULT_ARGUMENT, "%zu x %zu cells overflow", height, width);
	if (check_axis(c, height, &last_y, e) || check_axis(c, width, &last_x, e))
		return -1;

	struct pe_grid *made = calloc(1, sizeof *made);
	if (made == NULL)
		return pe_fail_memory(e);
	const size_t half = dim / 2;
	made->height = height;
	made->width = width;
	made->dim = dim;
	made->start = c->grid_start;
	made->y_column = c->grid_order == PE_GRID_HW ? 0 : half;
	made->x_column = half - made->y_column;
	if (plan(&made->y, c, half, last_y, e) || plan(&made->x, c, half, last_x, e)) {
		pe_grid_free(made);
		return -1;
	}
	*g = made;
	return 0;
}

void
pe_grid_free(struct pe_grid *g)
{
	if (g == NULL)
		return;
	pe_convention_turn_free(&g->y.engine);
	pe_convention_turn_free(&g->x.engine);
	free(g);
}

void
pe_grid_rows(const struct pe_grid *g, uint64_t from, size_t n, enum pe_elem elem, void *out)
{
	const size_t size = pe_elem_size(elem);
	const struct pe_positions across = {.first = g->start, .step = 1};
	char *to = out;

	while (n > 0) { /* a piece of one row of cells at a time */
		const uint64_t y = from / g->width, x = from % g->width;
		const size_t piece = n < g->width - x ? n : (size_t)(g->width - x);
		const struct pe_positions down = {.first = g->start + (int64_t)y};

		fill(&g->y, &down, 0, piece, elem, g->dim, to + g->y_column * size);
		fill(&g->x, &across, x, piece, elem, g->dim, to + g->x_column * size);
		to += piece * g->dim * size;
		from += piece;
		n -= piece;
	}
}

/* ---- frequencies ---- */

void
pe_sinusoid_freqs(const struct pe_freq *f, size_t from, size_t n, bool odd, double *out)
{
	enum { PRECISION = 256 }; /* a tie of 53 bits that 250 cannot tell has never been seen */
	mpfr_t omega, wave;

	mpfr_inits2(PRECISION, omega, wave, (mpfr_ptr)NULL);
	for (size_t r = 0; r < n; r++) {
		pe_freq_omega(f, from + r, omega);
		mpfr_const_pi(wave, MPFR_RNDN);
		mpfr_mul_2ui(wave, wave, 1, MPFR_RNDN);
		mpfr_div(wave, wave, omega, MPFR_RNDN);
		out[3 * r] = (double)(from + r);
		out[3 * r + 1] = odd ? pe_round_odd(omega) : mpfr_get_d(omega, MPFR_RNDN);
		out[3 * r + 2] = odd ? pe_round_odd(wave) : mpfr_get_d(wave, MPFR_RNDN);
	}
	mpfr_clears(omega, wave, (mpfr_ptr)NULL);
}
