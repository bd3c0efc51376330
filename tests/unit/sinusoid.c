/* sinusoid against the formula in MPFR: every convention's numbers rounded once, where a shell
 * cannot see the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "round.h"
#include "sinusoid.h"

enum { PRECISION = 400 };

/* scale * t * base^(-i / D), D = half - shift; scale = pos_scale, times 2 pi / (last + 1e-6) on
 * a normalised axis */
static void
angle_of(const struct pe_convention *c, size_t dim, size_t i, double t, double last, mpfr_ptr angle)
{
	const double half = c->layout == PE_LAYOUT_HALVES ? (double)(dim / 2) : (double)dim / 2;
	mpfr_t x;

	mpfr_init2(x, PRECISION);
	mpfr_set_d(angle, c->base, MPFR_RNDN);
	mpfr_log(angle, angle, MPFR_RNDN);
	mpfr_set_d(x, half, MPFR_RNDN);
	mpfr_sub_d(x, x, c->freq_shift, MPFR_RNDN);
	mpfr_div(angle, angle, x, MPFR_RNDN);
	mpfr_mul_d(angle, angle, -(double)i, MPFR_RNDN);
	mpfr_exp(angle, angle, MPFR_RNDN);
	mpfr_mul_d(angle, angle, t, MPFR_RNDN);
	mpfr_mul_d(angle, angle, c->pos_scale, MPFR_RNDN);
	if (c->grid_normalize) {
		mpfr_const_pi(x, MPFR_RNDN);
		mpfr_mul_ui(x, x, 2, MPFR_RNDN);
		mpfr_mul(angle, angle, x, MPFR_RNDN);
		mpfr_set_str(x, "1e-6", 10, MPFR_RNDN);
		mpfr_add_d(x, x, last, MPFR_RNDN);
		mpfr_div(angle, angle, x, MPFR_RNDN);
	}
	mpfr_clear(x);
}

/* What column `column` of a table of dim columns holds at position t, stored at `to`. */
static void
oracle(const struct pe_convention *c, size_t dim, size_t column, double t, double last,
       enum pe_elem elem, void *to)
{
	const size_t pairs = dim / 2 + (dim % 2 != 0 && c->layout == PE_LAYOUT_INTERLEAVED);
	const bool halves = c->layout == PE_LAYOUT_HALVES;
	const size_t i = halves ? column % pairs : column / 2;
	const bool second = halves ? column >= pairs : column % 2 != 0;
	mpfr_t x, g;

	mpfr_inits2(PRECISION, x, g, (mpfr_ptr)NULL);
	angle_of(c, dim, i, t, last, x);
	if (second != c->flip)
		mpfr_cos(x, x, MPFR_RNDN);
	else
		mpfr_sin(x, x, MPFR_RNDN);
	mpfr_mul_d(x, x, c->gain, MPFR_RNDN);
	if (c->gain_root) {
		mpfr_sqrt_ui(g, (unsigned long)dim, MPFR_RNDN);
		mpfr_div(x, x, g, MPFR_RNDN);
	}
	pe_round_store(elem, to, 0, x);
	mpfr_clears(x, g, (mpfr_ptr)NULL);
}

/* The same value: a real zero has no sign. */
static bool
is_same(enum pe_elem elem, const void *a, const void *b)
{
	double x, y;

	(void)pe_elem_convert(PE_F64, &x, elem, a, 1);
	(void)pe_elem_convert(PE_F64, &y, elem, b, 1);
	return x == y;
}

static void
check_line(const struct pe_convention *c, size_t dim, const struct pe_positions *at, size_t rows,
	   enum pe_elem elem)
{
	const size_t size = pe_elem_size(elem),
		     columns = dim - (dim % 2 != 0 && c->layout == PE_LAYOUT_HALVES);
	struct pe_sinusoid *s;
	struct pe_error e;
	char *out = calloc(rows * dim, size);

	assert_non_null(out);
	assert_int_equal(pe_sinusoid_init(&s, c, dim, &e), 0);
	pe_sinusoid_rows(s, at, 0, rows, elem, out);
	for (size_t r = 0; r < rows; r++) {
		for (size_t j = 0; j < columns; j++) {
			double due = 0;

			oracle(c, dim, j, pe_positions_at(at, r), 0, elem, &due);
			assert_true(is_same(elem, out + (r * dim + j) * size, &due));
		}
	}
	pe_sinusoid_free(s);
	free(out);
}

static const enum pe_elem elems[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static void
test_presets(void **state)
{
	const struct pe_positions at = {.first = 999990, .step = 7};

	(void)state;
	for (const char *const *name = pe_convention_presets(); *name != NULL; name++) {
		struct pe_convention c;

		assert_true(pe_convention_preset(*name, &c));
		for (size_t k = 0; k < 4; k++) {
			check_line(&c, 12, &at, 5, elems[k]);
			check_line(&c, 7, &at, 3, elems[k]);
		}
	}
}

static void
test_conventions(void **state)
{
	static const double list[] = {0, 1, 2, 3,       0.5,    -0.125, 1e15,
				      7, 7, 7, -0x1p53, 0x1p53, 1e-300};
	const struct pe_positions at = {.list = list, .listed = sizeof list / sizeof list[0]};
	const struct pe_convention some[] = {
	    {.base = 1.5, .pos_scale = 0.3, .gain = -2.7},
	    {.base = 500000, .pos_scale = 1000, .gain = 1, .gain_root = true, .freq_shift = 0.25},
	    {.base = 1e6, .pos_scale = 1, .gain = 1e-3, .layout = PE_LAYOUT_HALVES, .flip = true},
	    {.base = 0.5, .pos_scale = -1, .gain = 1, .freq_shift = -3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
		for (size_t k = 0; k < 4; k++)
			check_line(&some[i], 10, &at, at.listed, elems[k]);
}

/* A list with runs, which go to the engine as such, has the bytes of its rows made one by one. */
static void
test_runs(void **state)
{
	enum { ROWS = 200, DIM = 20 };
	const struct pe_convention c = PE_CONVENTION_PAPER;
	struct pe_sinusoid *s;
	struct pe_error e;
	double list[ROWS], whole[ROWS * DIM], lone[DIM];

	(void)state;
	for (int r = 0; r < ROWS; r++)
		list[r] = r < 50    ? r
			  : r < 70  ? 9
			  : r < 100 ? 0.5 + r
			  : r < 150 ? 1e6 - 3 * r
				    : r % 7;
	assert_int_equal(pe_sinusoid_init(&s, &c, DIM, &e), 0);
	pe_sinusoid_rows(s, &(struct pe_positions){.list = list, .listed = ROWS}, 0, ROWS, PE_F64,
			 whole);
	for (size_t r = 0; r < ROWS; r++) {
		pe_sinusoid_rows(s, &(struct pe_positions){.list = &list[r], .listed = 1}, 0, 1,
				 PE_F64, lone);
		assert_memory_equal(lone, whole + r * DIM, sizeof lone);
	}
	pe_sinusoid_free(s);
}

static void
check_grid(const struct pe_convention *c, size_t height, size_t width, size_t dim,
	   enum pe_elem elem)
{
	const size_t size = pe_elem_size(elem), half = dim / 2;
	struct pe_grid *g;
	struct pe_error e;
	char *out = calloc(height * width * dim, size);

	assert_non_null(out);
	assert_int_equal(pe_grid_init(&g, c, height, width, dim, &e), 0);
	/* in pieces that end within a row of cells */
	for (size_t done = 0, n; done < height * width; done += n) {
		n = height * width - done < 5 ? height * width - done : 5;
		pe_grid_rows(g, done, n, elem, out + done * dim * size);
	}
	for (size_t cell = 0; cell < height * width; cell++) {
		for (size_t j = 0; j < dim; j++) {
			const bool y = (j < half) == (c->grid_order == PE_GRID_HW);
			const size_t index = y ? cell / width : cell % width;
			const double last =
			    (double)(c->grid_start + (int64_t)(y ? height : width) - 1);
			double due = 0;

			oracle(c, half, j % half, (double)(c->grid_start + (int64_t)index), last,
			       elem, &due);
			assert_true(is_same(elem, out + (cell * dim + j) * size, &due));
		}
	}
	pe_grid_free(g);
	free(out);
}

static void
test_grids(void **state)
{
	const struct pe_convention some[] = {
	    PE_CONVENTION_PAPER,
	    {.base = 10000, .pos_scale = 1, .gain = 1, .grid_start = 1, .grid_normalize = true},
	    {.base = 20,
	     .pos_scale = 0.1,
	     .gain = 3,
	     .grid_start = -1,
	     .grid_normalize = true,
	     .grid_order = PE_GRID_WH},
	    {.base = 20,
	     .pos_scale = 1,
	     .gain = 1,
	     .layout = PE_LAYOUT_HALVES,
	     .grid_start = INT64_C(1) << 52},
	};

	(void)state;
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
		for (size_t k = 0; k < 4; k++)
			check_grid(&some[i], 3, 7, 12, elems[k]);
}

static void
test_freqs(void **state)
{
	const struct pe_freq f = {.pairs = 9, .base = 77.7, .half = 9, .shift = 1};
	double out[3 * 9];
	mpfr_t omega, x;

	(void)state;
	pe_sinusoid_freqs(&f, 0, 9, false, out);
	mpfr_inits2(PRECISION, omega, x, (mpfr_ptr)NULL);
	for (size_t i = 0; i < 9; i++) {
		mpfr_set_d(x, 77.7, MPFR_RNDN);
		mpfr_log(x, x, MPFR_RNDN);
		mpfr_mul_d(x, x, -(double)i / 8, MPFR_RNDN); /* an exact quotient */
		mpfr_exp(omega, x, MPFR_RNDN);
		mpfr_const_pi(x, MPFR_RNDN);
		mpfr_mul_ui(x, x, 2, MPFR_RNDN);
		mpfr_div(x, x, omega, MPFR_RNDN);
		assert_true(out[3 * i] == (double)i);
		assert_true(out[3 * i + 1] == mpfr_get_d(omega, MPFR_RNDN));
		assert_true(out[3 * i + 2] == mpfr_get_d(x, MPFR_RNDN));
	}
	mpfr_clears(omega, x, (mpfr_ptr)NULL);
}

static void
test_positions(void **state)
{
	const struct {
		int64_t first, step;
		uint64_t rows;
	} cases[] = {
	    {0, 1, (UINT64_C(1) << 53) + 1},
	    {INT64_C(1) << 53, 1, 1},
	    {INT64_C(1) << 53, 0, PE_ENDLESS},
	    {(INT64_C(1) << 53) + 1, -1, 0},
	    {INT64_C(1) << 53, -1, (UINT64_C(1) << 54) + 1},
	    {0, INT64_MIN, 1},
	    {0, INT64_MAX, 1},
	    {-(INT64_C(1) << 53), INT64_C(1) << 53, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct pe_positions p = {.first = cases[i].first, .step = cases[i].step};

		assert_true(pe_positions_rows(&p) == cases[i].rows);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_presets), cmocka_unit_test(test_conventions),
	    cmocka_unit_test(test_runs),    cmocka_unit_test(test_grids),
	    cmocka_unit_test(test_freqs),   cmocka_unit_test(test_positions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
