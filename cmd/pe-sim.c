/* pe-sim - similarity, dot product and distance: of sinusoidal rows by offset, of any table's rows. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "cli_convention.h"
#include "cli_positions.h"
#include "num.h"
#include "similarity.h"

enum { OFFSETS = CLI_KEY, ROW, GRAM, BY_OFFSET, METRIC };

static const struct cli_option options[] = {
    {OFFSETS, "--offsets", "LO:HI[:STEP]|FILE",
     "offset, dot, dot/(d/2), distance of sinusoidal rows so far apart"},
    CLI_CONVENTION_OPTIONS,
    {ROW, "--row", "R", "compare row R with every row (0)"},
    {GRAM, "--gram", NULL, "compare every row with every row: a matrix"},
    {BY_OFFSET, "--by-offset", NULL, "offset, mean, minimum, maximum over all pairs of rows"},
    {METRIC, "--metric", "cosine|dot|distance", "what is compared (cosine)"},
    {0},
};

static const struct cli_command command = {
    .name = "pe-sim",
    .summary =
	"How alike rows are: of the sinusoidal table by offset alone, of any table row by row.",
    .synopsis = "-d DIM [-b BASE] [--layout L] [--freq-shift S] [--pos-scale S] [--preset NAME] "
		"--offsets LO:HI[:STEP]|FILE\n"
		"[--row R | --gram | --by-offset] [--metric cosine|dot|distance] [FILE]",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

enum shape { SHAPE_ROW, SHAPE_GRAM, SHAPE_BY_OFFSET };

struct opts {
	struct cli_convention convention;
	const char *offsets;  /* NULL: compare the rows of a table */
	const char *list;     /* offsets is a file */
	int64_t lo, hi, step; /* offsets is a range */
	enum shape shape;
	enum pe_metric metric;
	size_t row;
	int shape_key, metric_key, convention_key; /* as given, 0: not */
};

/* ---- the command line ---- */

static void
parse_offsets(struct opts *o, const char *arg)
{
	o->offsets = arg;
	o->list = arg;
	if (arg[0] == '\0')
		cli_refuse("--offsets: must be LO:HI[:STEP] or a file: ''");
	if (strchr(arg, ':') == NULL || arg[strspn(arg, "+-.0123456789:")] != '\0')
		return;
	o->list = NULL;
	cli_range(OFFSETS, arg, &o->lo, &o->hi, &o->step);
	if (o->lo < -PE_POSITION_MAX || o->hi > PE_POSITION_MAX)
		cli_refuse("--offsets: beyond 2^53, where offsets are exact: '%s'", arg);
}

static void
choose_shape(struct opts *o, enum shape shape, int key)
{
	if (o->shape_key != 0 && o->shape_key != key)
		cli_conflict(key, o->shape_key);
	o->shape = shape;
	o->shape_key = key;
}

static void
check(const struct cli *cli, const struct opts *o)
{
	if (o->offsets == NULL) {
		if (o->convention_key != 0)
			cli_refuse("%s: has no effect without --offsets",
				   cli_spelling(o->convention_key));
		cli_check_header(cli);
		return;
	}
	if (o->shape_key != 0 || o->metric_key != 0)
		cli_conflict(o->shape_key != 0 ? o->shape_key : o->metric_key, OFFSETS);
	if (cli_operands(cli) > 0)
		cli_refuse("extra operand: '%s'", pe_quote(cli_operand(cli, 0)).text);
	if (o->list == NULL && cli->common.from.container != PE_AUTO)
		cli_conflict('f', OFFSETS);
	if (o->list == NULL && cli->common.header_in)
		cli_refuse("--header-in: has no effect, nothing is read");
	if (cli->common.dim == 0)
		cli_missing('d');
}

static struct opts
parse(struct cli *cli)
{
	static const char *const metrics[] = {"cosine", "dot", "distance", NULL};
	struct opts o = {0};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case OFFSETS: parse_offsets(&o, arg); break;
		case ROW:
			choose_shape(&o, SHAPE_ROW, key);
			o.row = cli_count(key, arg);
			break;
		case GRAM: choose_shape(&o, SHAPE_GRAM, key); break;
		case BY_OFFSET: choose_shape(&o, SHAPE_BY_OFFSET, key); break;
		case METRIC:
			o.metric = (enum pe_metric)cli_choice(key, arg, metrics);
			o.metric_key = key;
			break;
		default:
			if (cli_convention_option(&o.convention, key, arg))
				o.convention_key = key;
		}
	check(cli, &o);
	return o;
}

static struct pe_writer *
open_output(struct cli *cli, const char *const *names, size_t cols, size_t rows,
	    enum pe_elem natural)
{
	struct pe_writer_spec spec = cli_writer(cli, cols, (int64_t)rows);
	struct pe_writer *out;
	struct pe_error e;

	spec.natural = pe_elem_is_integer(natural) ? PE_F64 : natural;
	spec.carrier = PE_F64;
	spec.names = cli_header(cli, names, cols);
	if (pe_writer_open(&out, &spec, &e))
		cli_die(&e);
	cli_progress_start(cli);
	return out;
}

static void
put(struct pe_writer *out, const double *row)
{
	struct pe_error e;

	if (pe_writer_put(out, row, 1, &e))
		cli_die(&e);
}

/* ---- by offset ---- */

static void
write_offsets(struct cli *cli, const struct opts *o)
{
	static const char *const names[] = {"offset", "dot", "similarity", "distance"};
	const struct pe_convention convention = cli_convention_finish(&o->convention);
	struct pe_similarity_plan *plan;
	struct pe_matrix list = {0};
	struct pe_error e;

	if (pe_similarity_init(&plan, &convention, cli->common.dim, &e))
		cli_die(&e);
	if (o->list != NULL)
		cli_read_positions(cli, OFFSETS, o->list, cli->common.from, false, &list);
	const size_t rows = o->list != NULL ? list.rows : (size_t)((o->hi - o->lo) / o->step) + 1;
	struct pe_writer *out = open_output(cli, names, 4, rows, PE_F64);
	for (size_t r = 0; r < rows; r++) {
		const double offset = o->list != NULL ? pe_matrix_f64(&list)[r]
						      : (double)(o->lo + (int64_t)r * o->step);
		const struct pe_similarity s = pe_similarity_at(plan, offset);
		put(out, (const double[]){offset, s.dot, s.similarity, s.distance});
		cli_progress(cli, r);
	}
	if (pe_writer_close(out, &e))
		cli_die(&e);
	pe_matrix_free(&list);
	pe_similarity_free(plan);
}

/* ---- of rows ---- */

static void
write_row(struct cli *cli, const struct opts *o, const struct pe_likeness *l, enum pe_elem natural,
	  struct pe_writer **out)
{
	static const char *const names[] = {"row", "value"};
	const size_t rows = l->table->rows;

	*out = open_output(cli, names, 2, rows, natural);
	for (size_t r = 0; r < rows; r++)
		put(*out, (const double[]){(double)r, pe_likeness_of(l, o->row, r)});
}

static void
write_gram(struct cli *cli, const struct pe_likeness *l, enum pe_elem natural,
	   struct pe_writer **out)
{
	const size_t rows = l->table->rows;
	struct pe_matrix block;
	struct pe_error e;

	if (pe_matrix_init(&block, PE_LIKENESS_BLOCK, rows, PE_F64, &e))
		cli_die(&e);
	*out = open_output(cli, NULL, rows, rows, natural);
	for (size_t r = 0, n; r < rows; r += n) {
		n = rows - r < PE_LIKENESS_BLOCK ? rows - r : PE_LIKENESS_BLOCK;
		pe_likeness_rows(l, r, n, pe_matrix_f64(&block));
		if (pe_writer_put(*out, block.data, n, &e))
			cli_die(&e);
		cli_progress(cli, r + n);
	}
	pe_matrix_free(&block);
}

static void
write_by_offset(struct cli *cli, const struct pe_likeness *l, enum pe_elem natural,
		struct pe_writer **out)
{
	static const char *const names[] = {"offset", "mean", "minimum", "maximum"};
	const size_t rows = l->table->rows;
	struct pe_spread *spreads = calloc(rows, sizeof *spreads);
	struct pe_error e;

	if (spreads == NULL)
		cli_fail("out of memory");
	if (pe_likeness_by_offset(l, spreads, &e))
		cli_die(&e);
	*out = open_output(cli, names, 4, rows, natural);
	for (size_t k = 0; k < rows; k++)
		put(*out, (const double[]){(double)k, spreads[k].mean, spreads[k].minimum,
					   spreads[k].maximum});
	free(spreads);
}

static void
compare_rows(struct cli *cli, const struct opts *o)
{
	struct pe_reader_spec spec = cli_reader(cli, cli_optional_operand(cli));
	struct pe_matrix table = {0};
	struct pe_likeness likeness;
	struct pe_reader *in;
	struct pe_writer *out = NULL;
	struct pe_error e;

	spec.carrier = PE_F64;
	if (pe_reader_open(&in, &spec, &e) || pe_reader_all(in, &table, &e))
		cli_die(&e);
	if (table.rows == 0)
		cli_fail("%s: no rows", pe_reader_name(in));
	if (o->row >= table.rows)
		cli_fail("--row: %s has rows 0..%zu: '%zu'", pe_reader_name(in), table.rows - 1,
			 o->row);
	const enum pe_elem natural = pe_reader_elem(in);
	pe_reader_close(in);
	if (pe_likeness_init(&likeness, &table, o->metric, &e))
		cli_die(&e);
	switch (o->shape) {
	case SHAPE_ROW: write_row(cli, o, &likeness, natural, &out); break;
	case SHAPE_GRAM: write_gram(cli, &likeness, natural, &out); break;
	case SHAPE_BY_OFFSET: write_by_offset(cli, &likeness, natural, &out); break;
	}
	if (pe_writer_close(out, &e))
		cli_die(&e);
	pe_likeness_free(&likeness);
	pe_matrix_free(&table);
}

int
main(int argc, char **argv)
{
	struct cli cli;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	if (o.offsets != NULL)
		write_offsets(&cli, &o);
	else
		compare_rows(&cli, &o);
	cli_end(&cli);
	return 0;
}
