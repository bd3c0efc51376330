/* alibi - slopes and bias matrices of attention with linear biases. */
#include "alibi.h"

#include <stdlib.h>

#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "num.h"
#include "window.h"

enum { MAX_BIAS = CLI_KEY, FORM, QUERY_START };

static const struct cli_option options[] = {
    {'H', "--heads", "N", "heads, any number"},
    {MAX_BIAS, "--max-bias", "X", "the slopes run down to 2^-X (8)"},
    {'n', "--count", "TQ[xTK]", "write the bias matrices, heads stacked, instead of the slopes"},
    {FORM, "--form", "symmetric|row|causal",
     "-slope |n-m|, +slope n, or -slope (m-n) with -inf to the right (symmetric)"},
    {'c', "--causal", NULL, "short for --form causal"},
    {QUERY_START, "--query-start", "S|end",
     "position of the first query row; end aligns last with last (0)"},
    {0},
};

static const struct cli_command command = {
    .name = "alibi",
    .summary =
	"Slopes of ALiBi (one row), or the bias of every query and key, H x TQ rows by TK columns.",
    .synopsis = "-H HEADS [--max-bias X]\n"
		"-H HEADS -n TQ[xTK] [-c | --form FORM] [--query-start S|end] [--max-bias X]",
    .options = options,
    .common = CLI_OUT | CLI_DIM | CLI_PROGRESS,
};

struct opts {
	struct pe_alibi alibi;
	enum pe_alibi_form form;
	size_t rows, cols; /* -n; 0: the slopes alone */
	int64_t query_start;
	int form_key, start_key; /* as given, 0: not */
};

static void
check(struct opts *o, bool at_end)
{
	struct pe_error e;

	if (o->alibi.heads == 0)
		cli_missing('H');
	if (pe_alibi_check(&o->alibi, &e))
		cli_die(&e);
	if (o->rows == 0 && (o->form_key != 0 || o->start_key != 0))
		cli_refuse("%s: has no effect without -n",
			   cli_spelling(o->form_key != 0 ? o->form_key : o->start_key));
	if (o->start_key != 0 && o->form == PE_ALIBI_ROW)
		cli_refuse("--query-start: has no effect beside --form row");
	if (at_end)
		o->query_start = (int64_t)o->cols - (int64_t)o->rows;
	if (o->query_start > PE_POSITION_MAX - (int64_t)o->rows ||
	    o->query_start < (int64_t)o->cols - PE_POSITION_MAX)
		cli_refuse("--query-start: offsets beyond 2^53: '%lld'", (long long)o->query_start);
}

static struct opts
parse(struct cli *cli)
{
	static const char *const forms[] = {"symmetric", "row", "causal", NULL};
	struct opts o = {.alibi.max_bias = 8};
	const char *arg;
	bool at_end = false;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case 'H': o.alibi.heads = cli_positive(key, arg); break;
		case MAX_BIAS: o.alibi.max_bias = cli_positive_number(key, arg); break;
		case 'n': cli_shape(key, arg, &o.rows, &o.cols); break;
		case FORM:
			o.form_key = key;
			o.form = (enum pe_alibi_form)cli_choice(key, arg, forms);
			break;
		case 'c':
			o.form_key = key;
			o.form = PE_ALIBI_CAUSAL;
			break;
		case QUERY_START:
			o.start_key = key;
			o.query_start = cli_query_start(key, arg, &at_end);
			break;
		}
	if (cli_operands(cli) > 0)
		cli_refuse("extra operand: '%s'", pe_quote(cli_operand(cli, 0)).text);
	check(&o, at_end);
	return o;
}

static struct pe_writer *
open_output(struct cli *cli, size_t cols, size_t rows)
{
	struct pe_writer_spec spec = cli_writer(cli, cols, (int64_t)rows);

	spec.names = cli_header(cli, NULL, cols);
	/* Values are rounded once, to the element written; integers are converted and checked. */
	if (pe_elem_is_integer(pe_writer_elem(&spec)))
		spec.carrier = PE_F64;
	return cli_open_writer(cli, &spec);
}

static int
write_slopes(const struct opts *o, struct pe_writer *out, struct pe_error *e)
{
	size_t room;

	pe_alibi_slopes(&o->alibi, pe_writer_carrier(out), pe_writer_room(out, 1, &room));
	return pe_writer_filled(out, 1, e);
}

static int
window_values(const void *context, size_t head, int64_t lo, size_t n, enum pe_elem elem,
	      void *values, struct pe_error *e)
{
	const struct opts *o = context;

	return pe_alibi_bias(&o->alibi, o->form, head, lo, n, elem, values, e);
}

/* The row form is the same in each row: a window that stands still at position 0. */
static int
write_row_form(const struct opts *o, struct pe_writer *out, struct pe_error *e)
{
	struct pe_matrix row;
	int status = pe_matrix_init(&row, 1, o->cols, pe_writer_carrier(out), e);

	for (size_t head = 0; status == 0 && head < o->alibi.heads; head++) {
		status = window_values(o, head, 0, o->cols, row.elem, row.data, e);
		for (size_t r = 0; status == 0 && r < o->rows; r++)
			status = pe_writer_put(out, row.data, 1, e);
	}
	pe_matrix_free(&row);
	return status;
}

static int
write_bias(const struct opts *o, struct pe_writer *out, struct pe_error *e)
{
	const struct pe_window w = {
	    .heads = o->alibi.heads,
	    .rows = o->rows,
	    .cols = o->cols,
	    .first = o->query_start,
	    .values = window_values,
	    .context = o,
	};

	return o->form == PE_ALIBI_ROW ? write_row_form(o, out, e) : pe_window_write(&w, out, e);
}

int
main(int argc, char **argv)
{
	struct pe_error e;
	struct cli cli;
	size_t rows = 1;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	if (o.rows > 0 && !pe_num_size(o.alibi.heads, o.rows, 1, &rows))
		cli_refuse("-n: %zu heads x %zu rows overflows", o.alibi.heads, o.rows);
	struct pe_writer *out = open_output(&cli, o.rows > 0 ? o.cols : o.alibi.heads, rows);
	if ((o.rows > 0 ? write_bias(&o, out, &e) : write_slopes(&o, out, &e)) ||
	    pe_writer_close(out, &e))
		cli_die(&e);
	cli_end(&cli);
	return 0;
}
