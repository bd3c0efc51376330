/* relattn_inputs - what relattn reads: rows of Q, K and V and side tables, and their shapes. */
#include "relattn_inputs.h"

#include <stdio.h>

#include "backend.h"
#include "cli_rows.h"

enum { BLOCK_BYTES = 256 * 1024, BLOCK_ROWS_LEAST = 64 };

/* ---- side tables ---- */

static void
note_elem(struct inputs *in, enum pe_elem elem)
{
	if (pe_elem_is_integer(elem))
		elem = PE_F64;
	in->natural = pe_elem_widest(in->natural, elem);
	in->wide |= elem == PE_F64;
}

static bool
is_raw(struct pe_format format, const char *path)
{
	if (format.container == PE_AUTO && path != NULL)
		format = pe_format_of_path(path);
	return format.container == PE_RAW;
}

/* The width that is due where the input cannot tell its own; elsewhere the shapes are checked
 * with better words. */
static size_t
raw_cols(const struct pe_reader_spec *spec, size_t due)
{
	return is_raw(spec->format, spec->path) ? due : 0;
}

/* Reads the table of an option; due is the width of a raw one. */
static void
read_table(struct inputs *in, struct cli *cli, const char *path, size_t due, struct table *t)
{
	struct pe_reader_spec spec;
	struct pe_reader *r;
	struct store all;
	struct pe_error e;
	ssize_t n;

	if (path == NULL)
		return;
	spec = cli_side_table(cli, path, due);
	spec.cols = raw_cols(&spec, due);
	spec.carrier = PE_F64;
	r = cli_open_reader(&spec);
	(void)snprintf(t->name.text, sizeof t->name.text, "%s", pe_reader_name(r));
	note_elem(in, pe_reader_elem(r));
	store_begin(&all, &in->budget, t->name.text, pe_reader_cols(r), PE_F64, -1);
	do {
		void *to = store_extend(&all, &in->budget, t->name.text, BLOCK_ROWS_LEAST);

		n = pe_reader_read(r, to, BLOCK_ROWS_LEAST, &e);
		die_if(n < 0, &e);
		all.rows.rows -= BLOCK_ROWS_LEAST - (size_t)n;
	} while (n > 0);
	pe_reader_close(r);
	if (all.rows.rows == 0)
		cli_fail("%s: has no rows", t->name.text);
	store_trim(&all, &in->budget);
	t->values = all.rows;
}

static void
check_cols(const struct table *t, size_t due, const char *why)
{
	if (t->values.data != NULL && t->values.cols != due)
		cli_fail("%s: has %zu columns, %s %zu", t->name.text, t->values.cols, why, due);
}

/* Vectors of one head, shared by all, or of all heads side by side. */
static void
check_vectors(const struct table *t, size_t width, size_t heads)
{
	if (t->values.data == NULL || t->values.cols == width || t->values.cols == heads * width)
		return;
	if (heads == 1)
		check_cols(t, width, "a head has");
	cli_fail("%s: has %zu columns, %zu (shared by heads) or %zu (%zu heads) are due",
		 t->name.text, t->values.cols, width, heads * width, heads);
}

/* ---- lanes ---- */

static void
open_input(struct inputs *in, struct cli *cli, const struct options *o, enum role role, size_t due)
{
	struct input *input = &in->rows[o->sources.of[role]];
	struct pe_reader_spec spec;

	if (input->reader != NULL)
		return;
	spec = cli_reader(cli, o->sources.path[o->sources.of[role]]);
	if (role != ROLE_QUERY)
		spec.cols = raw_cols(&spec, due);
	input->reader = cli_open_reader(&spec);
	input->name = pe_reader_name(input->reader);
	input->cols = pe_reader_cols(input->reader);
	input->elem = pe_reader_elem(input->reader);
	note_elem(in, input->elem);
	budget_take(&in->budget, input->name, 1, PE_IO_BLOCK, 1);
}

static void
lane_multiply(struct lane *l, struct table *by)
{
	if (by->values.data == NULL)
		return;
	if (by->values.rows != l->cols)
		cli_fail("%s: has %zu rows, rows of %s have %zu columns", by->name.text,
			 by->values.rows, l->name, l->cols);
	l->steps[l->count++] = by;
	l->cols = by->values.cols;
	l->name = by->name.text;
}

static struct lane *
begin_lane(struct inputs *in, const struct options *o, enum role role)
{
	struct lane *l = &in->lanes[role];

	l->input = &in->rows[o->sources.of[role]];
	l->cols = l->input->cols;
	l->name = l->input->name;
	lane_multiply(l, &in->projection[role]);
	return l;
}

static size_t
per_head(const struct lane *l, size_t heads)
{
	if (l->cols % heads != 0)
		cli_fail("%s: has %zu columns, which %zu heads do not divide", l->name, l->cols,
			 heads);
	return l->cols / heads;
}

static void
open_queries(struct inputs *in, struct cli *cli, const struct options *o)
{
	open_input(in, cli, o, ROLE_QUERY, 0);
	const size_t cols = in->rows[o->sources.of[ROLE_QUERY]].cols;

	read_table(in, cli, o->projection[ROLE_QUERY], cols, &in->projection[ROLE_QUERY]);
	struct lane *l = begin_lane(in, o, ROLE_QUERY);
	read_table(in, cli, o->bilinear, l->cols, &in->bilinear);
	lane_multiply(l, &in->bilinear);
	in->head_dim = per_head(l, o->heads);
}

/* K's row is G heads as wide as Q's. */
static void
open_keys(struct inputs *in, struct cli *cli, const struct options *o)
{
	const struct lane *q = &in->lanes[ROLE_QUERY];
	const size_t due = o->kv_heads * in->head_dim;

	read_table(in, cli, o->projection[ROLE_KEY], due, &in->projection[ROLE_KEY]);
	open_input(in, cli, o, ROLE_KEY,
		   o->projection[ROLE_KEY] != NULL ? in->projection[ROLE_KEY].values.rows : due);
	struct lane *k = begin_lane(in, o, ROLE_KEY);
	if (k->cols == due)
		return;
	if (o->kv_heads < o->heads)
		cli_fail(
		    "%s: has %zu columns, %zu are due (--kv-heads %zu, %zu columns a head in %s)",
		    k->name, k->cols, due, o->kv_heads, in->head_dim, q->name);
	if (k->cols < due && k->cols % in->head_dim == 0)
		cli_fail("%s: has %zu columns, %s has %zu (is it --kv-heads %zu?)", k->name,
			 k->cols, q->name, q->cols, k->cols / in->head_dim);
	cli_fail("%s: has %zu columns, %s has %zu", k->name, k->cols, q->name, q->cols);
}

static void
open_values(struct inputs *in, struct cli *cli, const struct options *o)
{
	const size_t due = o->value_width != 0 ? o->value_width : in->lanes[ROLE_KEY].cols;

	read_table(in, cli, o->projection[ROLE_VALUE], due, &in->projection[ROLE_VALUE]);
	open_input(in, cli, o, ROLE_VALUE,
		   o->value_width == 0 && o->projection[ROLE_VALUE] != NULL
		       ? in->projection[ROLE_VALUE].values.rows
		       : due);
	const struct input *input = &in->rows[o->sources.of[ROLE_VALUE]];
	if (o->value_width != 0 && input->cols != o->value_width)
		cli_fail("%s: has %zu columns, --dv says %zu", input->name, input->cols,
			 o->value_width);
	in->value_dim = per_head(begin_lane(in, o, ROLE_VALUE), o->kv_heads);
	read_table(in, cli, o->wo, o->heads * in->value_dim, &in->wo);
	if (in->wo.values.data != NULL && in->wo.values.rows != o->heads * in->value_dim)
		cli_fail("%s: has %zu rows, rows of the output have %zu columns", in->wo.name.text,
			 in->wo.values.rows, o->heads * in->value_dim);
}

/* ---- all of it ---- */

static void
read_positions(struct inputs *in, struct cli *cli, const struct options *o)
{
	const size_t wide = o->heads * in->head_dim;

	read_table(in, cli, o->pos, wide, &in->pos);
	read_table(in, cli, o->pos_wq, in->pos.values.cols, &in->pos_wq);
	read_table(in, cli, o->pos_wk, in->pos.values.cols, &in->pos_wk);
	if (o->pos == NULL)
		return;
	const struct table *by[] = {&in->pos_wq, &in->pos_wk};
	for (size_t i = 0; i < 2; i++)
		if (by[i]->values.rows != in->pos.values.cols)
			cli_fail("%s: has %zu rows, rows of %s have %zu columns", by[i]->name.text,
				 by[i]->values.rows, in->pos.name.text, in->pos.values.cols);
	if (in->pos_wk.values.cols != in->pos_wq.values.cols)
		cli_fail("%s: has %zu columns, %s has %zu", in->pos_wk.name.text,
			 in->pos_wk.values.cols, in->pos_wq.name.text, in->pos_wq.values.cols);
	if (in->pos_wq.values.cols % o->heads != 0)
		cli_fail("%s: has %zu columns, which %zu heads do not divide", in->pos_wq.name.text,
			 in->pos_wq.values.cols, o->heads);
	if (o->cls && in->pos.values.rows < 2)
		cli_fail("%s: has 1 row, with --cls row t + 1 is position t", in->pos.name.text);
}

static void
read_side_tables(struct inputs *in, struct cli *cli, const struct options *o)
{
	read_table(in, cli, o->t5, o->heads, &in->t5);
	check_cols(&in->t5, o->heads, "heads are");
	read_table(in, cli, o->rel_bias, o->heads, &in->rel_bias);
	check_cols(&in->rel_bias, o->heads, "heads are");
	read_table(in, cli, o->alibi_slopes, o->heads, &in->slopes);
	if (o->alibi_slopes != NULL && in->slopes.values.rows * in->slopes.values.cols != o->heads)
		cli_fail("%s: has %zu slopes, heads are %zu", in->slopes.name.text,
			 in->slopes.values.rows * in->slopes.values.cols, o->heads);
	if (o->sources.needed[ROLE_QUERY]) {
		read_table(in, cli, o->shaw_k, in->head_dim, &in->shaw_k);
		check_vectors(&in->shaw_k, in->head_dim, o->heads);
		read_table(in, cli, o->huang, in->head_dim, &in->huang);
		check_vectors(&in->huang, in->head_dim, o->heads);
	}
	if (o->sources.needed[ROLE_VALUE]) {
		read_table(in, cli, o->shaw_v, in->value_dim, &in->shaw_v);
		check_vectors(&in->shaw_v, in->value_dim, o->heads);
	}
	read_positions(in, cli, o);
	if (o->terms != NULL) {
		const struct lane *q = &in->lanes[ROLE_QUERY];

		read_table(in, cli, o->terms, q->input->cols, &in->terms);
		if (in->terms.values.cols != q->input->cols)
			cli_fail("%s: has %zu columns, %s has %zu", in->terms.name.text,
				 in->terms.values.cols, q->input->name, q->input->cols);
	}
}

/* Rows that --bias holds; a raw one waits until the keys are counted, its element stands in its
 * name. */
static void
open_bias_early(struct inputs *in, struct cli *cli, const struct options *o)
{
	struct pe_reader_spec spec;

	if (o->bias == NULL)
		return;
	if (is_raw((struct pe_format){.container = PE_AUTO}, o->bias)) {
		note_elem(in, pe_format_of_path(o->bias).elem);
		return;
	}
	spec = cli_side_table(cli, o->bias, 0);
	in->bias = cli_open_reader(&spec);
	note_elem(in, pe_reader_elem(in->bias));
}

void
inputs_open_bias(struct inputs *in, struct cli *cli, const struct options *o, size_t keys)
{
	struct pe_reader_spec spec;

	if (o->bias == NULL)
		return;
	if (in->bias == NULL) {
		spec = cli_side_table(cli, o->bias, keys);
		in->bias = cli_open_reader(&spec);
	}
	if (pe_reader_cols(in->bias) != keys)
		cli_fail("%s: has %zu columns, keys are %zu", pe_reader_name(in->bias),
			 pe_reader_cols(in->bias), keys);
}

size_t
input_block(const struct input *input)
{
	const size_t rows = BLOCK_BYTES / (input->cols * pe_elem_size(input->elem));

	return rows > BLOCK_ROWS_LEAST ? rows : BLOCK_ROWS_LEAST;
}

/* The projections take over what their tables held. */
static void
prepare_lane(struct inputs *in, struct lane *l, size_t threads)
{
	const size_t rows = input_block(l->input);
	struct pe_error e;

	for (size_t i = 0; i < l->count; i++) {
		struct pe_matrix *w = &l->steps[i]->values;

		budget_take(&in->budget, l->steps[i]->name.text, w->rows, w->cols,
			    pe_elem_size(in->elem));
		die_if(pe_project_init(&l->projects[i], w, in->elem, threads, &e), &e);
		budget_release(&in->budget, w);
		budget_matrix(&in->budget, l->steps[i]->name.text, rows, w->rows, in->elem,
			      &l->scratch[i]);
	}
}

void
inputs_open(struct inputs *in, struct cli *cli, const struct options *o)
{
	*in = (struct inputs){.budget = {.limit = o->max_memory}};
	if (o->sources.needed[ROLE_QUERY])
		open_queries(in, cli, o);
	if (o->sources.needed[ROLE_KEY])
		open_keys(in, cli, o);
	if (o->sources.needed[ROLE_VALUE])
		open_values(in, cli, o);
	read_side_tables(in, cli, o);
	open_bias_early(in, cli, o);
	in->elem = o->compute != PE_ELEM_NONE                ? o->compute
		   : in->wide || in->natural == PE_ELEM_NONE ? PE_F64
							     : PE_F32;
	for (size_t role = 0; role < ROLES; role++)
		if (in->lanes[role].input != NULL)
			prepare_lane(in, &in->lanes[role], o->jobs);
}

/* ---- rows through lanes ---- */

bool
lane_is_straight(const struct lane *l, const struct inputs *in)
{
	return l->count == 0 && l->input->elem == in->elem;
}

/* As many rows as the scratch space holds. */
static void
multiply_rows(struct lane *l, const struct inputs *in, const void *raw, size_t n, uint64_t first,
	      void *out)
{
	const struct input *input = l->input;
	struct pe_error e;

	die_if(pe_convert_rows(input->name, first, input->cols, in->elem, l->scratch[0].data,
			       input->elem, raw, n * input->cols, &e),
	       &e);
	for (size_t i = 0; i < l->count; i++)
		die_if(pe_project_rows(&l->projects[i], l->scratch[i].data, n,
				       i + 1 < l->count ? l->scratch[i + 1].data : out, &e),
		       &e);
}

void
lane_rows(struct lane *l, const struct inputs *in, const void *raw, size_t n, uint64_t first,
	  void *out)
{
	const struct input *input = l->input;
	const char *from = raw;
	char *to = out;
	struct pe_error e;

	if (l->count == 0)
		die_if(pe_convert_rows(input->name, first, input->cols, in->elem, out, input->elem,
				       raw, n * input->cols, &e),
		       &e);
	for (size_t done = 0, more; l->count > 0 && done < n; done += more) {
		more = n - done < l->scratch[0].rows ? n - done : l->scratch[0].rows;
		multiply_rows(l, in, from, more, first + done, to);
		from += more * input->cols * pe_elem_size(input->elem);
		to += more * l->cols * pe_elem_size(in->elem);
	}
}

/* The store that rows may be read into as they are, because one lane alone takes them and
 * changes nothing. */
static struct store *
straight_store(const struct inputs *in, const struct input *input, struct store stores[ROLES])
{
	struct store *only = NULL;

	for (size_t role = 0; role < ROLES; role++) {
		const struct lane *l = &in->lanes[role];

		if (l->input != input)
			continue;
		if (only != NULL || !lane_is_straight(l, in))
			return NULL;
		only = &stores[role];
	}
	return only;
}

static void
read_straight(struct inputs *in, const struct input *input, struct store *store)
{
	const size_t block = input_block(input);
	struct pe_error e;
	ssize_t n;

	do {
		const size_t have = store->rows.rows;
		const size_t left = store->capacity - have;
		const size_t max = left > 0 ? left : block;
		void *to = store_extend(store, &in->budget, input->name, max);

		n = pe_reader_read(input->reader, to, max, &e);
		die_if(n < 0, &e);
		store->rows.rows = have + (size_t)n;
	} while (n > 0);
}

static void
read_through_lanes(struct inputs *in, const struct input *input, struct store stores[ROLES])
{
	const size_t block = input_block(input);
	struct pe_matrix raw;
	struct pe_error e;
	uint64_t done = 0;
	ssize_t n;

	budget_matrix(&in->budget, input->name, block, input->cols, input->elem, &raw);
	while ((n = pe_reader_read(input->reader, raw.data, block, &e)) > 0) {
		for (size_t role = 0; role < ROLES; role++)
			if (in->lanes[role].input == input)
				lane_rows(&in->lanes[role], in, raw.data, (size_t)n, done,
					  store_extend(&stores[role], &in->budget, input->name,
						       (size_t)n));
		done += (uint64_t)n;
	}
	die_if(n < 0, &e);
	pe_matrix_free(&raw);
}

void
inputs_make_room(struct inputs *in, const struct input *input, struct store stores[ROLES])
{
	for (size_t role = 0; role < ROLES; role++)
		if (in->lanes[role].input == input)
			store_begin(&stores[role], &in->budget, input->name, in->lanes[role].cols,
				    in->elem, pe_reader_expects(input->reader));
}

void
inputs_read(struct inputs *in, const struct input *input, struct store stores[ROLES])
{
	struct store *straight = straight_store(in, input, stores);
	if (straight != NULL)
		read_straight(in, input, straight);
	else
		read_through_lanes(in, input, stores);
	for (size_t role = 0; role < ROLES; role++)
		if (in->lanes[role].input == input)
			store_trim(&stores[role], &in->budget);
}

static void
free_lane(struct lane *l)
{
	for (size_t i = 0; i < l->count; i++) {
		pe_project_free(&l->projects[i]);
		pe_matrix_free(&l->scratch[i]);
	}
}

void
inputs_free(struct inputs *in)
{
	struct table *tables[] = {
	    &in->projection[ROLE_QUERY],
	    &in->projection[ROLE_KEY],
	    &in->projection[ROLE_VALUE],
	    &in->bilinear,
	    &in->wo,
	    &in->t5,
	    &in->rel_bias,
	    &in->slopes,
	    &in->shaw_k,
	    &in->shaw_v,
	    &in->huang,
	    &in->pos,
	    &in->pos_wq,
	    &in->pos_wk,
	    &in->terms,
	};

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		pe_matrix_free(&tables[i]->values);
	for (size_t role = 0; role < ROLES; role++) {
		free_lane(&in->lanes[role]);
		pe_reader_close(in->rows[role].reader);
	}
	pe_reader_close(in->bias);
}
