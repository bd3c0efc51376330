/* cat - what pe-cat does with a matrix. */
#include "cat.h"
#include "cli_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carray.h"
#include "io.h"
#include "matrix.h"
#include "num.h"
#include "pairing.h"
#include "safetensors.h"
#include "skew.h"
#include "stream.h"

/* ---- the plan ---- */

/* An output row, of cols elements, is gathered from an input row: column c comes from source[c],
 * or, where source is NULL, the columns from, from + 1, ... are taken as they stand. A skew
 * slides a window over those. */
struct plan {
	const struct cat_opts *opts;
	struct pe_stack *in;
	size_t size; /* bytes of an element of the carrier */
	size_t from;
	size_t *source;
	size_t length; /* --skew: rows and columns */
	size_t cols;
};

/* The element asked for is read at once: an f32 is rounded once from its text, an i64 comes exact. */
static enum pe_elem
carrier_of(const struct cli *cli)
{
	const struct pe_writer_spec out = {.path = cli->common.output, .format = cli->common.to};

	if (cli->common.kind != NULL && cli->common.to.container == PE_AUTO) /* c, ppm, pgm */
		return cli->common.to.elem != PE_ELEM_NONE ? cli->common.to.elem : PE_F64;
	return pe_writer_format(&out).elem;
}

static struct pe_stack *
open_inputs(struct cli *cli, const struct cat_opts *o)
{
	const int operands = cli_operands(cli);
	const size_t count = operands > 0 ? (size_t)operands : 1;
	struct pe_reader_spec *specs = calloc(count, sizeof *specs);
	struct pe_stack *in;
	struct pe_error e;

	if (specs == NULL)
		cli_fail("out of memory");
	cli_check_header(cli);
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

/* The width of a head, where heads of an even width make up n columns or rows. */
static size_t
head_width(size_t n, size_t heads, const char *what)
{
	if (n % heads != 0 || n / heads % 2 != 0)
		cli_fail("--pairs: %zu %s are not %zu head%s of an even width", n, what, heads,
			 heads > 1 ? "s" : "");
	return n / heads;
}

static void
pair_columns(struct plan *plan)
{
	const size_t dim = head_width(plan->cols, plan->opts->heads, "columns");

	plan->source = malloc(plan->cols * sizeof *plan->source);
	if (plan->source == NULL)
		cli_fail("out of memory");
	for (size_t c = 0; c < plan->cols; c++)
		plan->source[c] = plan->from + pe_pairing_source(plan->opts->to_halves, dim, c);
}

static void
skew_columns(struct plan *plan)
{
	const int64_t rows = pe_stack_rows(plan->in);
	struct pe_error e;

	if (pe_skew_length(plan->opts->skew == SKEW_CAUSAL, plan->cols, &plan->length, &e))
		cli_die(&e);
	if (rows >= 0 && (uint64_t)rows != plan->length)
		cli_fail("--skew: %zu columns take %zu rows: '%lld'", plan->cols, plan->length,
			 (long long)rows);
	plan->cols = plan->length;
}

static void
make_plan(struct plan *plan, struct cli *cli, const struct cat_opts *o)
{
	*plan = (struct plan){.opts = o, .in = open_inputs(cli, o)};
	plan->size = pe_elem_size(pe_stack_carrier(plan->in));
	cut_columns(plan, o->cols);
	if (o->pairs && !o->along_rows)
		pair_columns(plan);
	if (o->skew != SKEW_NONE)
		skew_columns(plan);
}

/* True where a row is written as it was read. */
static bool
plain(const struct plan *plan)
{
	return plan->opts->skew == SKEW_NONE && plan->source == NULL &&
	       plan->cols == pe_stack_cols(plan->in);
}

static void
gather_row(const struct plan *plan, uint64_t row, const char *from, char *to)
{
	const size_t size = plan->size;

	if (plan->opts->skew != SKEW_NONE) {
		pe_skew_row(plan->opts->skew == SKEW_CAUSAL, plan->length, (size_t)row, size,
			    from + plan->from * size, to);
		return;
	}
	if (plan->source == NULL) {
		memcpy(to, from + plan->from * size, plan->cols * size);
		return;
	}
	for (size_t c = 0; c < plan->cols; c++)
		memcpy(to + c * size, from + plan->source[c] * size, size);
}

/* ---- rows that stream ---- */

static struct pe_writer_spec
output_spec(struct cli *cli, const struct plan *plan, size_t cols, int64_t rows)
{
	struct pe_writer_spec spec = cli_writer(cli, cols, rows);

	spec.carrier = pe_stack_carrier(plan->in);
	spec.natural = pe_stack_elem(plan->in);
	spec.tensor = plan->opts->name != NULL ? plan->opts->name : "table";
	return spec;
}

/* The columns' names, where they still name them. */
static const char *const *
names_of(struct cli *cli, const struct plan *plan)
{
	const char *const *names = pe_stack_names(plan->in);

	if (names != NULL && plan->opts->skew == SKEW_NONE && plan->source == NULL)
		names += plan->from;
	else
		names = NULL;
	return cli_header(cli, names, plan->cols);
}

/* Rows first, first + 1, ... of the output; -1 with a fault told. */
static ssize_t
next_rows(const struct plan *plan, uint64_t first, char *block, char *to, size_t max,
	  struct pe_error *e)
{
	const size_t width = pe_stack_cols(plan->in) * plan->size;
	const ssize_t n = pe_stack_read(plan->in, plain(plan) ? to : block, max, e);

	if (plan->opts->skew != SKEW_NONE &&
	    (n == 0 ? first != plan->length : n > 0 && first + (uint64_t)n > plan->length))
		return pe_fail(e, PE_FAULT_DATA, "--skew: %zu rows are due, %s come", plan->length,
			       n == 0 ? "fewer" : "more");
	for (ssize_t r = 0; !plain(plan) && r < n; r++)
		gather_row(plan, first + (uint64_t)r, block + (size_t)r * width,
			   to + (size_t)r * plan->cols * plan->size);
	return n;
}

static void
stream_rows(struct cli *cli, const struct plan *plan)
{
	const size_t width = pe_stack_cols(plan->in) * 8;
	const size_t most = width < PE_IO_BLOCK ? PE_IO_BLOCK / width : 1;
	struct pe_writer_spec spec = output_spec(cli, plan, plan->cols, pe_stack_rows(plan->in));
	struct pe_writer *out;
	struct pe_matrix block;
	struct pe_error e;
	uint64_t done = 0;
	ssize_t n = 0;

	spec.names = names_of(cli, plan);
	if (pe_writer_open(&out, &spec, &e) ||
	    pe_matrix_init(&block, plain(plan) ? 0 : most, pe_stack_cols(plan->in),
			   pe_stack_carrier(plan->in), &e))
		cli_die(&e);
	do {
		size_t room;

		if (pe_stack_waits(plan->in) && pe_writer_flush(out, &e))
			cli_die(&e);
		void *to = pe_writer_room(out, most, &room);
		n = next_rows(plan, done, block.data, to, room, &e);
		if (n < 0 || pe_writer_filled(out, (size_t)n, &e))
			cli_die(&e);
		done += (uint64_t)n;
		cli_progress(cli, done);
	} while (n > 0);
	pe_matrix_free(&block);
	if (pe_writer_close(out, &e))
		cli_die(&e);
}

/* ---- the whole matrix ---- */

static void
gather_all(const struct plan *plan, struct pe_matrix *m)
{
	struct pe_matrix all;
	struct pe_error e;

	if (pe_stack_all(plan->in, &all, &e))
		cli_die(&e);
	if (all.rows == 0)
		cli_fail(plan->opts->transpose ? "no rows to transpose" : "no rows");
	if (plan->opts->skew != SKEW_NONE && all.rows != plan->length)
		cli_fail("--skew: %zu rows are due: '%zu'", plan->length, all.rows);
	if (plain(plan) && !plan->opts->along_rows) {
		*m = all;
		return;
	}
	if (pe_matrix_init(m, all.rows, plan->cols, all.elem, &e))
		cli_die(&e);
	const size_t dim =
	    plan->opts->along_rows ? head_width(all.rows, plan->opts->heads, "rows") : 0;
	for (size_t r = 0; r < all.rows; r++) {
		const size_t from =
		    plan->opts->along_rows ? pe_pairing_source(plan->opts->to_halves, dim, r) : r;
		gather_row(plan, r, pe_matrix_row(&all, from), pe_matrix_row(m, r));
	}
	pe_matrix_free(&all);
}

static void
transpose(struct pe_matrix *m)
{
	struct pe_matrix turned;
	struct pe_error e;

	if (pe_matrix_init(&turned, m->cols, m->rows, m->elem, &e))
		cli_die(&e);
	pe_matrix_columns(m, 0, m->cols, turned.data);
	pe_matrix_free(m);
	*m = turned;
}

static void
write_rows(struct cli *cli, const struct plan *plan, const struct pe_matrix *m)
{
	struct pe_writer_spec spec = output_spec(cli, plan, m->cols, (int64_t)m->rows);
	struct pe_writer *out;
	struct pe_error e;

	spec.names = plan->opts->transpose ? cli_header(cli, NULL, m->cols) : names_of(cli, plan);
	if (pe_writer_open(&out, &spec, &e) || pe_writer_put(out, m->data, m->rows, &e) ||
	    pe_writer_close(out, &e))
		cli_die(&e);
}

/* c, ppm, pgm */
static void
write_kind(struct cli *cli, const struct cat_opts *o, const struct pe_matrix *m)
{
	const bool array = strcmp(cli->common.kind, "c") == 0;
	struct pe_picture picture = o->picture;
	struct pe_output out;
	struct pe_error e;
	int failed;

	picture.colour = strcmp(cli->common.kind, "ppm") == 0;
	if (!array && !o->ranged)
		pe_picture_fit(&picture, m);
	failed = pe_output_open(&out, cli->common.output, cli_watch, &e);
	if (!failed)
		failed = array ? pe_carray_write(m, o->name != NULL ? o->name : "table",
						 cli->common.digits, cli_stamp(cli), &out, &e)
			       : pe_picture_write(&picture, m, &out, &e);
	if (!failed)
		failed = pe_output_commit(&out, &e);
	pe_output_abandon(&out);
	if (failed)
		cli_die(&e);
}

void
cat_matrix(struct cli *cli, const struct cat_opts *o)
{
	const bool kind = cli->common.kind != NULL && cli->common.to.container == PE_AUTO;
	struct pe_matrix m;
	struct plan plan;

	if (!kind) /* what is wrong with the output's options is told before an input is opened */
		(void)cli_writer(cli, 1, -1);
	make_plan(&plan, cli, o);
	if (!kind && !o->transpose && !o->along_rows) {
		stream_rows(cli, &plan);
	} else {
		gather_all(&plan, &m);
		if (o->transpose)
			transpose(&m);
		if (kind)
			write_kind(cli, o, &m);
		else
			write_rows(cli, &plan, &m);
		pe_matrix_free(&m);
	}
	pe_stack_close(plan.in);
	free(plan.source);
}

/* ---- --list ---- */

/* "NAME<tab>F32<tab>1024x768<tab>786432", allocated; NULL: no memory. */
static char *
describe(const struct pe_tensor *t)
{
	enum { NUMBER = 21 }; /* of a shape: 20 digits and an x */
	char *name = pe_escape(t->name);
	const size_t room = (name != NULL ? strlen(name) : 0) + t->rank * NUMBER + 64;
	char *line = name != NULL ? malloc(room) : NULL;

	if (line != NULL) {
		size_t used = (size_t)snprintf(line, room, "%s\t%s\t%s", name, t->type,
					       t->rank == 0 ? "scalar" : "");
		for (size_t i = 0; i < t->rank; i++)
			used += (size_t)snprintf(line + used, room - used, "%s%llu",
						 i > 0 ? "x" : "", (unsigned long long)t->shape[i]);
		(void)snprintf(line + used, room - used, "\t%llu\n",
			       (unsigned long long)t->elements);
	}
	free(name);
	return line;
}

static int
list_tensor(const struct pe_tensor *t, struct pe_output *out, struct pe_error *e)
{
	char *line = describe(t);
	const int failed =
	    line == NULL ? pe_fail_memory(e) : pe_output_write(out, line, strlen(line), e);

	free(line);
	return failed;
}

void
cat_list(struct cli *cli, const char *path)
{
	struct pe_checkpoint checkpoint;
	struct pe_output out;
	struct pe_error e;
	int failed;

	if (pe_checkpoint_open(&checkpoint, path, &e) ||
	    pe_output_open(&out, cli->common.output, cli_watch, &e))
		cli_die(&e);
	failed = 0;
	for (size_t i = 0; !failed && i < checkpoint.count; i++)
		failed = list_tensor(&checkpoint.tensors[i], &out, &e);
	if (!failed)
		failed = pe_output_commit(&out, &e);
	pe_output_abandon(&out);
	pe_checkpoint_free(&checkpoint);
	if (failed)
		cli_die(&e);
}
