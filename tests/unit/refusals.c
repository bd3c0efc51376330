/* refusals: what the commands refuse before the library is asked, the library refuses too; sizes
 * that no memory could hold, with the text and the kind of fault that the headers promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alibi.h"
#include "convention.h"
#include "freq.h"
#include "learned.h"
#include "matrix.h"
#include "num.h"
#include "picture.h"
#include "positions.h"
#include "shift.h"
#include "sinusoid.h"
#include "stream.h"
#include "t5.h"

static const struct pe_convention paper = PE_CONVENTION_PAPER;
static const size_t huge = (size_t)1 << 40;

static void
assert_refused(int status, const struct pe_error *e, enum pe_fault fault, const char *text)
{
	assert_int_equal(status, -1);
	assert_string_equal(e->text, text);
	assert_int_equal(e->fault, fault);
}

/* ---- parameters ---- */

static void
slopes(void **unused)
{
	struct pe_error e;

	(void)unused;
	assert_refused(pe_alibi_check(&(struct pe_alibi){0, 8}, &e), &e, PE_FAULT_ARGUMENT,
		       "heads must be positive: '0'");
	assert_refused(pe_alibi_check(&(struct pe_alibi){8, -1}, &e), &e, PE_FAULT_ARGUMENT,
		       "max-bias must be positive and finite: '-1'");
	assert_refused(pe_alibi_check(&(struct pe_alibi){8, (double)INFINITY}, &e), &e,
		       PE_FAULT_ARGUMENT, "max-bias must be positive and finite: 'inf'");
	assert_int_equal(pe_alibi_check(&(struct pe_alibi){8, 8}, &e), 0);
}

static void
spacing(void **unused)
{
	struct pe_freq f = {.pairs = 2, .base = -1, .half = 2};
	struct pe_error e;

	(void)unused;
	assert_refused(pe_freq_check(&f, &e), &e, PE_FAULT_ARGUMENT,
		       "base must be positive and finite: '-1'");
	f.base = (double)INFINITY;
	assert_refused(pe_freq_check(&f, &e), &e, PE_FAULT_ARGUMENT,
		       "base must be positive and finite: 'inf'");
	f.base = 10000;
	f.shift = 2;
	assert_refused(pe_freq_check(&f, &e), &e, PE_FAULT_ARGUMENT,
		       "frequency shift 2 leaves no spacing for 2 pairs");
	f.pairs = 1;
	assert_int_equal(pe_freq_check(&f, &e), 0);
}

static void
columns(void **unused)
{
	struct pe_convention c = paper;
	struct pe_columns made;
	struct pe_error e;

	(void)unused;
	assert_false(pe_convention_preset("nobody", &c));
	c.odd = PE_ODD_ERROR;
	assert_refused(pe_convention_columns(&c, 5, &made, &e), &e, PE_FAULT_ARGUMENT,
		       "width must be even: '5'");
	c.odd = PE_ODD_DROP;
	c.layout = PE_LAYOUT_HALVES;
	assert_refused(pe_convention_columns(&c, 4, &made, &e), &e, PE_FAULT_ARGUMENT,
		       "an odd width drops a value of interleaved columns only");
}

static void
grids(void **unused)
{
	struct pe_convention c = paper;
	struct pe_grid *g;
	struct pe_error e;

	(void)unused;
	assert_refused(pe_grid_init(&g, &c, 2, 2, 5, &e), &e, PE_FAULT_ARGUMENT,
		       "the width of a grid's row must be even: '5'");
	assert_refused(pe_grid_init(&g, &c, huge, huge, 4, &e), &e, PE_FAULT_ARGUMENT,
		       "1099511627776 x 1099511627776 cells overflow");
	c.grid_start = PE_POSITION_MAX;
	assert_refused(pe_grid_init(&g, &c, 2, 2, 4, &e), &e, PE_FAULT_ARGUMENT,
		       "grid: a coordinate lies beyond 2^53");
	c.grid_start = -4;
	c.grid_normalize = true;
	assert_refused(pe_grid_init(&g, &c, 2, 2, 4, &e), &e, PE_FAULT_ARGUMENT,
		       "grid-normalize: needs a last coordinate above 0: '-3'");
}

static void
lists_of_positions(void **unused)
{
	const double whole[] = {1, 2}, part[] = {1, 2.5}, none[] = {1, (double)NAN};
	struct pe_error e;

	(void)unused;
	assert_int_equal(pe_positions_check_rows(part, 2, 1, "p", false, &e), 0);
	assert_int_equal(pe_positions_check_rows(whole, 2, 1, "p", true, &e), 0);
	assert_refused(pe_positions_check_rows(none, 2, 1, "p", false, &e), &e, PE_FAULT_DATA,
		       "p: row 1: a position must be finite: 'nan'");
	assert_refused(pe_positions_check_rows(part, 2, 1, "p", true, &e), &e, PE_FAULT_DATA,
		       "p: row 1: a position in a learned table must be whole: '2.5'");
}

static void
shifts_beyond_an_element(void **unused)
{
	struct pe_convention c = paper;
	struct pe_shift *s;
	struct pe_error e;

	(void)unused;
	c.gain = 1e39;
	assert_refused(pe_shift_init(&s, &c, 4, 0, PE_F32, &e), &e, PE_FAULT_DATA,
		       "pair 0: the shift's values overflow f32");
	assert_refused(pe_shift_init(&s, &c, 4, 0, PE_F16, &e), &e, PE_FAULT_DATA,
		       "pair 0: the shift's values overflow f16");
	c.odd = PE_ODD_ERROR;
	assert_refused(pe_shift_init(&s, &c, 5, 0, PE_F64, &e), &e, PE_FAULT_ARGUMENT,
		       "width must be even: '5'");
}

static void
buckets(void **unused)
{
	struct pe_t5 plan;
	struct pe_error e;

	(void)unused;
	assert_int_equal(pe_t5_init(&plan, SIZE_MAX, INT64_MAX, false, &e), -1);
	assert_int_equal(e.fault, PE_FAULT_ARGUMENT);
	assert_non_null(strstr(e.text, "num-buckets: must be at most "));
}

static void
learned_tables(void **unused)
{
	const struct pe_matrix empty = {.cols = 2, .elem = PE_F64};
	const struct pe_matrix two = {.rows = 2, .cols = 2, .elem = PE_F64};
	struct pe_learned l = {.table = &empty, .name = "wpe", .gain = 1};
	struct pe_error e;

	(void)unused;
	assert_refused(pe_learned_check(&l, &e), &e, PE_FAULT_DATA,
		       "wpe: a learned table needs rows");
	l.table = &two;
	l.stretch = (size_t)1 << 51;
	assert_refused(pe_learned_check(&l, &e), &e, PE_FAULT_ARGUMENT,
		       "2251799813685248 rows are too many to stretch wpe to");
}

/* ---- sizes ---- */

static void
sizes(void **unused)
{
	static const char overflows[] =
	    "1099511627776 rows x 1099511627776 columns x 8 bytes overflows";
	struct pe_matrix m = {.cols = huge, .elem = PE_F64};
	struct pe_picture picture = {.zoom = huge};
	struct pe_output out = {.fd = -1};
	struct pe_error e;
	size_t bytes, count, capacity = 0;

	(void)unused;
	assert_refused(pe_num_matrix_size(huge, huge, 8, &bytes, &e), &e, PE_FAULT_MEMORY,
		       overflows);
	assert_refused(pe_matrix_resize(&m, huge, &capacity, &e), &e, PE_FAULT_MEMORY, overflows);
	assert_refused(pe_matrix_init(&m, huge, huge, PE_F64, &e), &e, PE_FAULT_MEMORY, overflows);
	assert_refused(pe_picture_write(&picture, &m, &out, &e), &e, PE_FAULT_MEMORY,
		       "1099511627776 rows x 1099511627776 columns x zoom 1099511627776 overflows");
	assert_refused(pe_num_count("-n", "1099511627777", &count, &e), &e, PE_FAULT_ARGUMENT,
		       "-n: beyond 2^40: '1099511627777'");
	assert_int_equal(pe_num_count("-n", "1099511627776", &count, &e), 0);
	assert_int_equal(count, huge);
}

/* ---- writers ---- */

static void
writers(void **unused)
{
	struct pe_writer_spec spec = {
	    .path = "/dev/null", .format = {.container = PE_NPY}, .rows = 2};
	const double row = 1;
	struct pe_writer *w;
	struct pe_error e;

	(void)unused;
	assert_refused(pe_writer_open(&w, &spec, &e), &e, PE_FAULT_DATA,
		       "a matrix without columns cannot be written");
	spec.cols = 1;
	spec.format.elem = PE_BF16;
	assert_refused(pe_writer_open(&w, &spec, &e), &e, PE_FAULT_ARGUMENT,
		       "npy has no element 'bf16'");
	assert_null(w);
	spec.format.elem = PE_F64;
	assert_int_equal(pe_writer_open(&w, &spec, &e), 0);
	assert_int_equal(pe_writer_put(w, &row, 1, &e), 0);
	assert_refused(pe_writer_close(w, &e), &e, PE_FAULT_DATA,
		       "/dev/null: 1 rows came, 2 were announced");
}

/* A list of no items: numpy's shape (0,), where an input may be without rows. */
static void
empty_lists(void **unused)
{
	static const char npy[] =
	    "\x93NUMPY\1\0\x40\0{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }       ";
	char path[32];
	int ends[2];
	struct pe_matrix m;
	struct pe_error e;

	(void)unused;
	assert_int_equal(sizeof npy - 1, 10 + 0x40);
	for (int optional = 0; optional < 2; optional++) {
		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], npy, sizeof npy - 1), sizeof npy - 1);
		assert_int_equal(close(ends[1]), 0);
		(void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
		const struct pe_reader_spec spec = {.path = path, .rows_optional = optional};
		const int status = pe_matrix_read(&m, &spec, &e);
		assert_int_equal(close(ends[0]), 0);
		if (optional) {
			assert_int_equal(status, 0);
			assert_int_equal(m.rows, 0);
			assert_int_equal(m.cols, 1);
		} else {
			assert_int_equal(status, -1);
			assert_non_null(strstr(e.text, ": a matrix without columns"));
		}
	}
}

/* ---- nothing to free ---- */

static void
nothing_to_free(void **unused)
{
	(void)unused;
	pe_shift_free(NULL);
	pe_sinusoid_free(NULL);
	pe_grid_free(NULL);
	pe_reader_close(NULL);
	pe_writer_abandon(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slopes),
	    cmocka_unit_test(spacing),
	    cmocka_unit_test(columns),
	    cmocka_unit_test(grids),
	    cmocka_unit_test(lists_of_positions),
	    cmocka_unit_test(shifts_beyond_an_element),
	    cmocka_unit_test(buckets),
	    cmocka_unit_test(learned_tables),
	    cmocka_unit_test(sizes),
	    cmocka_unit_test(writers),
	    cmocka_unit_test(empty_lists),
	    cmocka_unit_test(nothing_to_free),
	};

	return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
