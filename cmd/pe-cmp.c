/* pe-cmp - compare two matrices: by how much they differ, and where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "compare.h"
#include "decimal.h"
#include "diagnose.h"
#include "io.h"
#include "num.h"
#include "stream.h"

enum { KEY_ABS = CLI_KEY, KEY_REL, KEY_ULP, KEY_AS, KEY_NAN_EQUAL, KEY_DIAGNOSE };

static const struct cli_option options[] = {
    {KEY_ABS, "--abs", "A", "cells are equal if |a - b| <= A"},
    {KEY_REL, "--rel", "R", "cells are equal if |a - b| <= R |a|"},
    {KEY_ULP, "--ulp", "N", "cells are equal if at most N numbers of the element apart"},
    {KEY_AS, "--as", "f32|f16|bf16", "round both to this element first, and count its ulps"},
    {KEY_NAN_EQUAL, "--nan-equal", NULL, "nan equals nan"},
    {KEY_DIAGNOSE, "--diagnose", NULL, "name the convention that turns A into B, in a line more"},
    {'q', "--quiet", NULL, "print nothing, the status tells"},
    {0},
};

static const struct cli_command command = {
    .name = "pe-cmp",
    .summary = "Compare two matrices. Status 0: equal, 1: not, 2: trouble.",
    .synopsis =
	"[--abs A] [--rel R] [--ulp N] [--as f32|f16|bf16] [--nan-equal] [--diagnose] [-q]\n"
	"[-f FORMAT] [-d N] [--header-in] A B",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_PROGRESS,
    .trouble = 2,
};

struct opts {
	struct pe_limits limits;
	enum pe_elem as; /* NONE: as they are */
	bool quiet, diagnose;
	const char *path[2];
};

static double
parse_limit(int key, const char *arg)
{
	const double limit = cli_number(key, arg);

	if (limit < 0)
		cli_refuse("%s: must not be negative: '%s'", cli_spelling(key), pe_quote(arg).text);
	return limit;
}

static int64_t
parse_ulps(int key, const char *arg)
{
	const int64_t limit = cli_integer(key, arg);

	if (limit < 0)
		cli_refuse("%s: must not be negative: '%s'", cli_spelling(key), pe_quote(arg).text);
	return limit;
}

static enum pe_elem
parse_as(int key, const char *arg)
{
	static const char *const names[] = {"f32", "f16", "bf16", NULL};
	static const enum pe_elem elems[] = {PE_F32, PE_F16, PE_BF16};

	return elems[cli_choice(key, arg, names)];
}

static struct opts
parse(struct cli *cli)
{
	struct opts o = {.limits = {.abs = -1, .rel = -1, .ulp = -1}};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case KEY_ABS: o.limits.abs = parse_limit(key, arg); break;
		case KEY_REL: o.limits.rel = parse_limit(key, arg); break;
		case KEY_ULP: o.limits.ulp = parse_ulps(key, arg); break;
		case KEY_AS: o.as = parse_as(key, arg); break;
		case KEY_NAN_EQUAL: o.limits.nan_equal = true; break;
		case KEY_DIAGNOSE: o.diagnose = true; break;
		case 'q': o.quiet = true; break;
		}
	if (o.diagnose && o.quiet)
		cli_conflict(KEY_DIAGNOSE, 'q');
	if (cli_operands(cli) < 2)
		cli_refuse("two matrices must be named (see --help)");
	if (cli_operands(cli) > 2)
		cli_refuse("extra operand: '%s'", pe_quote(cli_operand(cli, 2)).text);
	o.path[0] = cli_operand(cli, 0);
	o.path[1] = cli_operand(cli, 1);
	cli_check_stdin(o.path, 2);
	cli_check_header(cli);
	return o;
}

/* One of the two: its rows come in its own element and are compared in a common one. */
struct side {
	struct pe_reader *reader;
	struct pe_matrix own, common; /* a block of rows each */
	struct pe_matrix kept;        /* --diagnose: all rows, as f64 */
	size_t capacity;              /* of kept, in rows */
	uint64_t rows;
};

static void
open_side(struct cli *cli, struct side *side, const char *path, enum pe_elem as)
{
	struct pe_reader_spec spec = cli_reader(cli, path);
	struct pe_error e;

	spec.carrier = as;
	*side = (struct side){0};
	if (pe_reader_open(&side->reader, &spec, &e))
		cli_die(&e);
}

static void
allocate_block(struct side *side, size_t rows, enum pe_elem elem)
{
	const size_t cols = pe_reader_cols(side->reader);
	struct pe_error e;

	if (pe_matrix_init(&side->own, rows, cols, pe_reader_carrier(side->reader), &e) ||
	    pe_matrix_init(&side->common, rows, cols, elem, &e) ||
	    pe_matrix_init(&side->kept, 0, cols, PE_F64, &e))
		cli_die(&e);
}

static void
close_side(struct side *side)
{
	pe_reader_close(side->reader);
	pe_matrix_free(&side->own);
	pe_matrix_free(&side->common);
	pe_matrix_free(&side->kept);
}

/* Exactly `want` rows unless the input ends before; whole numbers and narrow floats fit the
 * common element. */
static size_t
read_side(struct side *side, size_t want)
{
	size_t have = 0;
	struct pe_error e;

	while (have < want) {
		const ssize_t n =
		    pe_reader_read(side->reader, pe_matrix_row(&side->own, have), want - have, &e);
		if (n < 0)
			cli_die(&e);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	(void)pe_elem_convert(side->common.elem, side->common.data, side->own.elem, side->own.data,
			      have * side->own.cols);
	side->rows += have;
	return have;
}

/* Whole numbers on both sides are compared exactly, beyond 2^53 too. */
static enum pe_elem
common_element(const struct side *a, const struct side *b, enum pe_elem as)
{
	if (as != PE_ELEM_NONE)
		return as;
	return pe_elem_is_integer(pe_reader_elem(a->reader)) &&
		       pe_elem_is_integer(pe_reader_elem(b->reader))
		   ? PE_I64
		   : PE_F64;
}

static void
keep(struct side *side, size_t n)
{
	const size_t before = side->kept.rows;
	struct pe_error e;

	if (pe_matrix_resize(&side->kept, before + n, &side->capacity, &e))
		cli_die(&e);
	(void)pe_elem_convert(PE_F64, pe_matrix_row(&side->kept, before), side->common.elem,
			      side->common.data, n * side->common.cols);
}

/* Reads both to their ends; what only one has is counted. */
static void
compare(struct cli *cli, struct pe_compare *c, struct side *a, struct side *b, bool keeping)
{
	const bool same_width = pe_reader_cols(a->reader) == pe_reader_cols(b->reader);
	size_t n, m;

	do {
		n = read_side(a, a->own.rows);
		m = read_side(b, b->own.rows);
		if (same_width)
			pe_compare_rows(c, a->common.data, b->common.data, n < m ? n : m);
		if (keeping) {
			keep(a, n);
			keep(b, m);
		}
		cli_progress(cli, a->rows);
	} while (n > 0 || m > 0);
}

/* ---- the line ---- */

enum { CELL_TEXT = 2 * PE_DECIMAL_MAX + 64, LINE = 768 };

static void
cell_text(char text[CELL_TEXT], const struct pe_compare *c, const struct pe_cell *cell)
{
	char a[PE_DECIMAL_MAX + 1], b[PE_DECIMAL_MAX + 1];

	if (c->differing == 0) {
		(void)snprintf(text, CELL_TEXT, "-");
		return;
	}
	a[pe_decimal_write(a, c->elem, cell->a, 0, 0)] = '\0';
	b[pe_decimal_write(b, c->elem, cell->b, 0, 0)] = '\0';
	(void)snprintf(text, CELL_TEXT, "%llu,%zu:%s:%s", (unsigned long long)cell->row, cell->col,
		       a, b);
}

/* rows=... cols=... and the rest, with its newline. */
static void
comparison(char line[LINE], const struct pe_compare *c, const struct side *a, const struct side *b,
	   bool same_shape)
{
	char first[CELL_TEXT], worst[CELL_TEXT], ulp[24] = "inf";
	char abs[PE_DECIMAL_MAX + 1], rel[PE_DECIMAL_MAX + 1];

	abs[pe_decimal_write_f64(abs, c->max_abs)] = '\0';
	rel[pe_decimal_write_f64(rel, c->max_rel)] = '\0';
	cell_text(first, c, &c->first);
	cell_text(worst, c, &c->worst);
	if (!c->ulp_infinite)
		(void)snprintf(ulp, sizeof ulp, "%llu", (unsigned long long)c->max_ulp);
	if (same_shape)
		(void)snprintf(
		    line, LINE,
		    "rows=%llu cols=%zu max_abs=%s max_rel=%s max_ulp=%s first=%s worst=%s\n",
		    (unsigned long long)a->rows, c->cols, abs, rel, ulp, first, worst);
	else
		(void)snprintf(line, LINE, "rows=%llu:%llu cols=%zu:%zu\n",
			       (unsigned long long)a->rows, (unsigned long long)b->rows,
			       pe_reader_cols(a->reader), pe_reader_cols(b->reader));
}

/* How close is the same: what --abs allows, else what the diagnosis thinks fit. */
static void
diagnosis(char line[LINE], const struct opts *o, const struct side *a, const struct side *b)
{
	struct pe_diagnosis d = {.text = "no rows"};

	if (a->kept.rows > 0 && b->kept.rows > 0)
		pe_diagnose(&a->kept, &b->kept, o->limits.abs, &d);
	(void)snprintf(line, LINE, "diagnose: %s\n", d.text);
}

static void
print(const char *text)
{
	struct pe_output out;
	struct pe_error e;

	if (pe_output_open(&out, NULL, NULL, &e) || pe_output_write(&out, text, strlen(text), &e) ||
	    pe_output_commit(&out, &e))
		cli_die(&e);
	pe_output_abandon(&out);
}

static void
report(const struct opts *o, const struct pe_compare *c, const struct side *a, const struct side *b,
       bool same_shape)
{
	char text[2 * LINE];

	if (o->quiet)
		return;
	comparison(text, c, a, b, same_shape);
	if (o->diagnose)
		diagnosis(text + strlen(text), o, a, b);
	print(text);
}

static size_t
block_rows(const struct side *a, const struct side *b)
{
	const size_t x = pe_reader_cols(a->reader), y = pe_reader_cols(b->reader);
	const size_t width = 8 * (x > y ? x : y);

	return width < PE_IO_BLOCK ? PE_IO_BLOCK / width : 1;
}

int
main(int argc, char **argv)
{
	struct cli cli;
	struct side a, b;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	open_side(&cli, &a, o.path[0], o.as);
	open_side(&cli, &b, o.path[1], o.as);
	struct pe_compare c = {
	    .limits = o.limits,
	    .elem = common_element(&a, &b, o.as),
	    .cols = pe_reader_cols(a.reader),
	};
	allocate_block(&a, block_rows(&a, &b), c.elem);
	allocate_block(&b, block_rows(&a, &b), c.elem);
	cli_progress_start(&cli);
	compare(&cli, &c, &a, &b, o.diagnose);
	const bool same_shape = a.rows == b.rows && pe_reader_cols(b.reader) == c.cols;
	report(&o, &c, &a, &b, same_shape);
	close_side(&a);
	close_side(&b);
	cli_end(&cli);
	return same_shape && c.differing == 0 ? 0 : 1;
}
