/* table - the rows that pe-table hands out, whatever they are made of. */
#include "table.h"
#include "cli_rows.h"

#include <math.h>
#include <string.h>

#include "cli_positions.h"

/* ---- what is read ---- */

static void
open_sources(struct cli *cli, const struct table_options *o, struct table *t)
{
	const bool add = o->given[KEY_ADD];
	struct pe_reader_spec rows = {0}, learned = {0};
	struct pe_error e;

	/* every claim on standard input comes before the first read that could wait */
	if (add)
		rows = cli_reader(cli, o->input);
	if (o->learned != NULL)
		learned = cli_side_table(cli, o->learned, cli->common.dim);
	if (o->positions != NULL)
		cli_read_positions(cli, KEY_POSITIONS, o->positions,
				   add ? (struct pe_format){0} : cli->common.from,
				   o->learned != NULL, &t->positions);
	if (add) {
		rows.carrier = PE_F64;
		t->rows = cli_open_reader(&rows);
		learned.cols = pe_reader_cols(t->rows);
	}
	if (o->learned == NULL)
		return;
	t->learned_file = cli_open_reader(&learned);
	if (pe_reader_all(t->learned_file, &t->learned_rows, &e))
		cli_die(&e);
}

static size_t
width_of(const struct cli *cli, const struct table *t)
{
	if (t->rows != NULL)
		return pe_reader_cols(t->rows);
	return t->learned_file != NULL ? pe_reader_cols(t->learned_file) : cli->common.dim;
}

/* ---- plan ---- */

static void
plan_learned(const struct table_options *o, struct table *t)
{
	struct pe_error e;

	t->learned = (struct pe_learned){
	    .table = &t->learned_rows,
	    .name = pe_reader_name(t->learned_file),
	    .row_offset = o->row_offset,
	    .stretch = o->stretch,
	    .align = o->align,
	    .gain = o->convention.gain,
	};
	if (pe_learned_check(&t->learned, &e))
		cli_die(&e);
}

static void
plan_sinusoids(const struct table_options *o, struct table *t)
{
	struct pe_error e;

	t->largest = fabs(o->convention.gain);
	if (!o->given[KEY_GRID]) {
		if (pe_sinusoid_init(&t->line, &o->convention, t->dim, &e))
			cli_die(&e);
		return;
	}
	if (pe_grid_init(&t->grid, &o->convention, o->height, o->width, t->dim, &e))
		cli_die(&e);
	t->at = (struct pe_positions){.step = 1};
	t->count = (uint64_t)o->height * o->width;
}

/* That all the rows asked for, or those that a header tells of, can be had, before the first one
 * goes out. */
static void
check_rows(const struct table_options *o, const struct table *t)
{
	struct pe_error e;

	if (t->learned.table != NULL && pe_learned_find(&t->learned, &t->at, 0, t->count, &e))
		cli_die(&e);
	if (t->count != PE_ENDLESS && t->count > pe_positions_rows(&t->at))
		cli_refuse("-n: position beyond 2^53 in row %llu: '%llu'",
			   (unsigned long long)pe_positions_rows(&t->at),
			   (unsigned long long)o->count);
}

void
table_open(struct cli *cli, const struct table_options *o, struct table *t)
{
	*t = (struct table){
	    .at = {.first = o->start, .step = o->step},
	    .count = o->count,
	    .cls = o->given[KEY_CLS],
	    .pads = o->given[KEY_ZERO_ROW],
	    .pad = o->zero_row,
	};
	open_sources(cli, o, t);
	t->dim = width_of(cli, t);
	if (o->positions != NULL) {
		t->at.list = pe_matrix_f64(&t->positions);
		t->at.listed = t->count = t->positions.rows;
	}
	if (o->learned != NULL)
		plan_learned(o, t);
	else
		plan_sinusoids(o, t);
	if (!o->given[KEY_ADD])
		check_rows(o, t);
}

void
table_close(struct table *t)
{
	pe_sinusoid_free(t->line);
	pe_grid_free(t->grid);
	pe_reader_close(t->learned_file);
	pe_matrix_free(&t->positions);
	pe_matrix_free(&t->learned_rows);
}

/* ---- rows ---- */

uint64_t
table_rows(const struct table *t)
{
	const uint64_t there = pe_positions_rows(&t->at);
	const uint64_t rows = t->count < there ? t->count : there;

	return rows == PE_ENDLESS ? rows : rows + t->cls;
}

/* The engine rounds beyond the largest to infinity, which only a gain that large can bring about. */
static int
check_range(const struct table *t, uint64_t from, size_t n, enum pe_elem elem, const void *out,
	    struct pe_error *e)
{
	if (t->largest <= pe_elem_largest(elem))
		return 0;
	const size_t i = pe_elem_infinity(elem, out, n * t->dim);
	if (i == n * t->dim)
		return 0;
	return pe_fail(e, PE_FAULT_DATA, "row %llu, column %zu: overflows %s",
		       (unsigned long long)(from + i / t->dim), i % t->dim, pe_elem_name(elem));
}

static void
clear_pads(const struct table *t, uint64_t from, size_t n, size_t width, char *out)
{
	if (!t->pads)
		return;
	for (size_t r = 0; r < n; r++)
		if (pe_positions_at(&t->at, from + r) == (double)t->pad)
			memset(out + r * width, 0, width);
}

int
table_fill(const struct table *t, uint64_t from, size_t n, enum pe_elem elem, void *out,
	   struct pe_error *e)
{
	const size_t width = t->dim * pe_elem_size(elem);
	const uint64_t shown = from;
	char *to = out;

	if (n == 0)
		return 0;
	if (t->cls && from == 0) {
		memset(to, 0, width);
		to += width;
		n--;
	} else if (t->cls) {
		from--;
	}
	if (t->line != NULL)
		pe_sinusoid_rows(t->line, &t->at, from, n, elem, to);
	else if (t->grid != NULL)
		pe_grid_rows(t->grid, from, n, elem, to);
	else if (pe_learned_find(&t->learned, &t->at, from, n, e))
		return -1;
	else if (pe_learned_is_plain(&t->learned) && elem == t->learned.table->elem)
		pe_learned_copy(&t->learned, &t->at, from, n, to);
	else
		pe_learned_values(&t->learned, &t->at, from, n, t->odd, (double *)(void *)to);
	clear_pads(t, from, n, width, to);
	return check_range(t, shown + (to != (char *)out), n, elem, to, e);
}
