/* pe-cat - convert, stack, cut and transpose matrices. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "matrix.h"
#include "num.h"
#include "stack.h"
#include "stream.h"

enum { KEY_ROWS = CLI_KEY, KEY_COLS, KEY_TRANSPOSE };

static const struct cli_option options[] = {
    {KEY_ROWS, "--rows", "A:B", "rows A to B - 1 alone, counted from 0; A or B may be left out"},
    {KEY_COLS, "--cols", "A:B", "columns A to B - 1 alone, likewise"},
    {KEY_TRANSPOSE, "--transpose", NULL, "columns become rows, after all cutting"},
    {0},
};

static const struct cli_command command = {
    .name = "pe-cat",
    .summary = "Convert, stack, cut and transpose matrices.",
    .synopsis =
	"[--rows A:B] [--cols A:B] [--transpose] [-f FORMAT] [-t FORMAT] [-o FILE] [FILE...]",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

struct opts {
	struct pe_slice rows, cols;
	bool transpose;
};

/* ---- the command line ---- */

static uint64_t
parse_index(int key, const char *arg, const char *text, size_t length)
{
	char digits[32];
	struct pe_error e;
	size_t value;

	if (length >= sizeof digits)
		goto refuse;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (pe_num_count(cli_spelling(key), digits, &value, &e) == 0)
		return value;
refuse:
	cli_refuse("%s: must be A:B, counted from 0: '%s'", cli_spelling(key), pe_quote(arg).text);
}

static struct pe_slice
parse_slice(int key, const char *arg)
{
	const char *colon = strchr(arg, ':');
	struct pe_slice slice = {.open = colon != NULL && colon[1] == '\0'};

	if (colon == NULL)
		cli_refuse("%s: must be A:B, counted from 0: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	if (colon > arg)
		slice.from = parse_index(key, arg, arg, (size_t)(colon - arg));
	if (!slice.open) {
		slice.to = parse_index(key, arg, colon + 1, strlen(colon + 1));
		if (slice.to <= slice.from)
			cli_refuse("%s: empty range: '%s'", cli_spelling(key), pe_quote(arg).text);
	}
	return slice;
}

static struct opts
parse(struct cli *cli)
{
	struct opts o = {.rows.open = true, .cols.open = true};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case KEY_ROWS: o.rows = parse_slice(key, arg); break;
		case KEY_COLS: o.cols = parse_slice(key, arg); break;
		case KEY_TRANSPOSE: o.transpose = true; break;
		}
	return o;
}

/* ---- the plan ---- */

/* What is to be written: the columns from .. from + cols - 1 of the stacked rows. */
struct plan {
	struct pe_stack *in;
	size_t from, cols;
	struct pe_writer_spec out;
};

/* The element asked for is read at once: an f32 is rounded once from its text, an i64 comes exact. */
static enum pe_elem
carrier_of(const struct cli *cli)
{
	const struct pe_writer_spec out = {.path = cli->common.output, .format = cli->common.to};

	return pe_writer_format(&out).elem;
}

static struct pe_stack *
open_inputs(struct cli *cli, const struct opts *o)
{
	const int operands = cli_operands(cli);
	const size_t count = operands > 0 ? (size_t)operands : 1;
	struct pe_reader_spec *specs = calloc(count, sizeof *specs);
	struct pe_stack *in;
	struct pe_error e;

	if (specs == NULL)
		cli_fail("out of memory");
	for (size_t i = 0; i < count; i++) {
		specs[i] = cli_reader(cli, cli_operand(cli, (int)i));
		specs[i].carrier = carrier_of(cli);
	}
	if (pe_stack_open(&in, specs, count, o->rows, &e))
		cli_die(&e);
	free(specs);
	return in;
}

static void
cut_columns(struct plan *plan, struct pe_slice cols)
{
	const size_t width = pe_stack_cols(plan->in);
	const uint64_t last = cols.open ? cols.from : cols.to - 1;

	if (last >= width)
		cli_fail("column %llu: rows have columns 0..%zu", (unsigned long long)last,
			 width - 1);
	plan->from = (size_t)cols.from;
	plan->cols = (cols.open ? width : (size_t)cols.to) - plan->from;
}

static struct plan
make_plan(struct cli *cli, const struct opts *o)
{
	/* what is wrong with the output's options is told before an input is opened */
	(void)cli_writer(cli, 1, -1);
	struct plan plan = {.in = open_inputs(cli, o)};
	const char *const *names = pe_stack_names(plan.in);

	cut_columns(&plan, o->cols);
	plan.out = cli_writer(cli, plan.cols, pe_stack_rows(plan.in));
	plan.out.carrier = pe_stack_carrier(plan.in);
	plan.out.natural = pe_stack_elem(plan.in);
	if (!o->transpose)
		plan.out.names =
		    cli_header(cli, names != NULL ? names + plan.from : NULL, plan.cols);
	return plan;
}

/* ---- rows ---- */

/* Rows of the input's width become rows of the output's, in place. */
static void
keep_columns(const struct plan *plan, char *rows, size_t n)
{
	const size_t size = pe_elem_size(pe_stack_carrier(plan->in));
	const size_t width = pe_stack_cols(plan->in) * size, kept = plan->cols * size;

	for (size_t i = 0; i < n; i++)
		memmove(rows + i * kept, rows + i * width + plan->from * size, kept);
}

static void
copy_rows(struct cli *cli, const struct plan *plan)
{
	const size_t width = pe_stack_cols(plan->in) * 8;
	const size_t most = width < PE_IO_BLOCK ? PE_IO_BLOCK / width : 1;
	struct pe_writer *out;
	struct pe_matrix block;
	struct pe_error e;
	uint64_t done = 0;
	ssize_t n = 0;

	if (pe_writer_open(&out, &plan->out, &e) ||
	    pe_matrix_init(&block, most, pe_stack_cols(plan->in), pe_stack_carrier(plan->in), &e))
		cli_die(&e);
	do {
		if (pe_stack_waits(plan->in) && pe_writer_flush(out, &e))
			cli_die(&e);
		size_t room = most;
		void *to = plan->cols < block.cols ? block.data : pe_writer_room(out, room, &room);
		n = pe_stack_read(plan->in, to, room, &e);
		if (n < 0)
			cli_die(&e);
		if (to != block.data) {
			n = pe_writer_filled(out, (size_t)n, &e) ? -1 : n;
		} else {
			keep_columns(plan, to, (size_t)n);
			n = pe_writer_put(out, to, (size_t)n, &e) ? -1 : n;
		}
		if (n < 0)
			cli_die(&e);
		done += (uint64_t)n;
		cli_progress(cli, done);
	} while (n > 0);
	pe_matrix_free(&block);
	if (pe_writer_close(out, &e))
		cli_die(&e);
}

static void
transpose(struct cli *cli, const struct plan *plan)
{
	struct pe_writer_spec spec = plan->out;
	struct pe_writer *out;
	struct pe_matrix all;
	struct pe_error e;

	if (pe_stack_all(plan->in, &all, &e))
		cli_die(&e);
	if (all.rows == 0)
		cli_fail("no rows to transpose");
	spec.cols = all.rows;
	spec.rows = (int64_t)plan->cols;
	spec.names = cli_header(cli, NULL, all.rows);
	if (pe_writer_open(&out, &spec, &e))
		cli_die(&e);
	for (size_t done = 0, n; done < plan->cols; done += n) {
		void *to = pe_writer_room(out, plan->cols - done, &n);
		pe_matrix_columns(&all, plan->from + done, n, to);
		if (pe_writer_filled(out, n, &e))
			cli_die(&e);
		cli_progress(cli, done);
	}
	pe_matrix_free(&all);
	if (pe_writer_close(out, &e))
		cli_die(&e);
}

int
main(int argc, char **argv)
{
	struct cli cli;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	const struct plan plan = make_plan(&cli, &o);
	cli_progress_start(&cli);
	if (o.transpose)
		transpose(&cli, &plan);
	else
		copy_rows(&cli, &plan);
	pe_stack_close(plan.in);
	cli_end(&cli);
	return 0;
}
