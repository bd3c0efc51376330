/* relvec - every offset against the definition of clipping, at the ends of int64 too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "relvec.h"

enum { HEADS = 2, MOST = 64 };

/* value[row][head] = 100 head + row + 1, so that 0 means: no row. */
static void
fill(struct pe_matrix *table, size_t rows)
{
	struct pe_error e;

	assert_int_equal(pe_matrix_init(table, rows, HEADS, PE_F64, &e), 0);
	for (size_t r = 0; r < rows; r++)
		for (size_t h = 0; h < HEADS; h++)
			pe_matrix_f64(table)[r * HEADS + h] = (double)(100 * h + r + 1);
}

static double
by_definition(const struct pe_relvec *r, size_t head, int64_t offset)
{
	const int64_t last = r->first + (int64_t)r->rows - 1;

	if (!r->clips && (offset < r->first || offset > last))
		return 0;
	if (offset < r->first)
		offset = r->first;
	if (offset > last)
		offset = last;
	return (double)(100 * (int64_t)head + offset - r->first + 1);
}

static void
check_run(const struct pe_relvec *r, const struct pe_matrix *table, int64_t lo, size_t n)
{
	double bias[MOST];

	for (size_t h = 0; h < HEADS; h++) {
		pe_relvec_bias(r, table, h, lo, n, bias);
		for (size_t j = 0; j < n; j++)
			assert_true(bias[j] == by_definition(r, h, lo + (int64_t)j));
	}
}

static void
check_table(struct pe_relvec (*make)(size_t), size_t rows)
{
	const struct pe_relvec r = make(rows);
	struct pe_matrix table;

	fill(&table, rows);
	for (int64_t lo = -20; lo <= 20; lo++)
		for (size_t n = 0; n <= 40; n++)
			check_run(&r, &table, lo, n);
	check_run(&r, &table, INT64_MIN, MOST);
	check_run(&r, &table, INT64_MAX - MOST, MOST);
	pe_matrix_free(&table);
}

static struct pe_relvec
clipped(size_t rows)
{
	struct pe_relvec r;
	struct pe_error e;

	assert_int_equal(pe_relvec_init_clipped(&r, "t", rows, &e), 0);
	assert_true(r.first == -(int64_t)(rows / 2));
	return r;
}

static struct pe_relvec
two_sided(size_t rows)
{
	struct pe_relvec r;
	struct pe_error e;

	assert_int_equal(pe_relvec_init_unclipped(&r, "t", rows, false, &e), 0);
	return r;
}

static struct pe_relvec
one_sided(size_t rows)
{
	struct pe_relvec r;
	struct pe_error e;

	assert_int_equal(pe_relvec_init_unclipped(&r, "t", rows, true, &e), 0);
	assert_true(r.first == 1 - (int64_t)rows);
	return r;
}

static void
runs_are_the_definition(void **state)
{
	(void)state;
	for (size_t rows = 1; rows <= 11; rows += 2) {
		check_table(clipped, rows);
		check_table(two_sided, rows);
	}
	for (size_t rows = 1; rows <= 6; rows++)
		check_table(one_sided, rows);
}

static void
even_tables_are_refused(void **state)
{
	struct pe_relvec r;
	struct pe_error e;

	(void)state;
	assert_int_equal(pe_relvec_init_clipped(&r, "a.csv", 4, &e), -1);
	assert_int_equal(e.fault, PE_FAULT_DATA);
	assert_string_equal(e.text,
			    "a.csv: has 4 rows, an odd count is due (2K+1: offsets -K to K)");
	assert_int_equal(pe_relvec_init_unclipped(&r, "e.csv", 2, false, &e), -1);
	assert_string_equal(e.text,
			    "e.csv: has 2 rows, an odd count is due (2L-1: offsets 1-L to L-1)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_are_the_definition),
	    cmocka_unit_test(even_tables_are_refused),
	};

	return cmocka_run_group_tests_name("relvec", tests, NULL, NULL);
}
