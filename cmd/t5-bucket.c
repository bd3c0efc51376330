/* t5-bucket - T5's relative-position buckets of offsets, and the bias that a table gives each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "num.h"
#include "t5.h"
#include "window.h"

enum { NUM_BUCKETS = CLI_KEY, MAX_DISTANCE, QUERY_START, RANGE, EDGES, BIAS, CLS };

static const struct cli_option options[] = {
    {'c', "--causal", NULL, "buckets of a decoder: keys to the right count as distance 0"},
    {NUM_BUCKETS, "--num-buckets", "N", "buckets in all (32; with --bias, the table's rows)"},
    {MAX_DISTANCE, "--max-distance", "N", "distance from which on all share the last bucket (128)"},
    {'n', "--count", "TQ[xTK]", "the whole matrix, TQ query rows and TK key columns"},
    {QUERY_START, "--query-start", "S|end",
     "position of the first query row; end aligns last with last (0)"},
    {CLS, "--cls", NULL, "position 0 is a [CLS] token, as in TUPE (with -n)"},
    {RANGE, "--range", "LO:HI[:STEP]", "offsets LO to HI, each with its bucket"},
    {EDGES, "--edges", NULL, "buckets, each with its lowest and highest offset"},
    {BIAS, "--bias", CLI_FILE, "write the bias of the bucket, from a table num_buckets x heads"},
    {0},
};

static const struct cli_command command = {
    .name = "t5-bucket",
    .summary =
	"T5's relative-position buckets of offsets (key minus query position), or their biases.",
    .synopsis = "[-c] [--num-buckets N] [--max-distance N] [--bias TABLE] [FILE]\n"
		"[-c] [...] -n TQ[xTK] [--query-start S|end] [--cls]\n"
		"[-c] [...] --range LO:HI[:STEP]\n"
		"[-c] [...] --edges",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

enum mode { FILTER, MATRIX, LIST, EDGE_LIST };

struct opts {
	enum mode mode;
	bool causal, cls, counted, at_end, started;
	size_t num_buckets; /* 0: not given */
	int64_t max_distance;
	size_t rows, cols; /* -n */
	int64_t query_start;
	int64_t lo, hi, step; /* --range */
	const char *bias;
	const char *file;
};

/* What the rows are made from. */
struct plan {
	struct pe_t5 t5;
	struct pe_matrix table; /* f64, buckets x heads; no rows without --bias */
	enum pe_elem natural;   /* element of npy output that names none */
	size_t heads;           /* 1 without --bias */
	bool biased;
};

/* The key of the option that chose a mode. */
static int
mode_key(enum mode mode)
{
	static const int keys[] = {0, 'n', RANGE, EDGES};

	return keys[mode];
}

static void
set_mode(struct opts *o, enum mode mode, int key)
{
	if (o->mode != FILTER && o->mode != mode)
		cli_conflict(key, mode_key(o->mode));
	o->mode = mode;
}

/* Without a filter's input, -f governs nothing and --header-in the table alone. */
static void
check_input(const struct cli *cli, const struct opts *o)
{
	if (o->mode == FILTER)
		return;
	if (cli->common.from.container != PE_AUTO)
		cli_conflict('f', mode_key(o->mode));
	if (cli->common.header_in && o->bias == NULL)
		cli_refuse("--header-in: has no effect, nothing is read");
}

static void
check(const struct cli *cli, const struct opts *o)
{
	check_input(cli, o);
	if (o->file != NULL && o->mode != FILTER)
		cli_refuse("extra operand: '%s'", pe_quote(o->file).text);
	if (o->started && o->mode != MATRIX)
		cli_refuse("--query-start: has no effect without -n");
	if (o->cls && o->mode != MATRIX)
		cli_refuse("--cls: has no effect without -n");
	if (o->bias != NULL && o->mode == EDGE_LIST)
		cli_conflict(BIAS, EDGES);
	const char *const paths[] = {
	    o->bias,
	    o->mode != FILTER ? NULL
	    : o->file == NULL ? "-"
			      : o->file,
	};
	cli_check_stdin(paths, 2);
}

static struct opts
parse(struct cli *cli)
{
	struct opts o = {.max_distance = 128};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case 'c': o.causal = true; break;
		case NUM_BUCKETS: o.num_buckets = cli_positive(key, arg); break;
		case MAX_DISTANCE: o.max_distance = cli_integer(key, arg); break;
		case 'n':
			set_mode(&o, MATRIX, key);
			cli_shape(key, arg, &o.rows, &o.cols);
			break;
		case QUERY_START:
			o.started = true;
			o.query_start = cli_query_start(key, arg, &o.at_end);
			break;
		case CLS: o.cls = true; break;
		case RANGE:
			set_mode(&o, LIST, key);
			cli_range(key, arg, &o.lo, &o.hi, &o.step);
			break;
		case EDGES: set_mode(&o, EDGE_LIST, key); break;
		case BIAS: o.bias = arg; break;
		}
	o.file = cli_optional_operand(cli);
	check(cli, &o);
	if (o.at_end)
		o.query_start = (int64_t)o.cols - (int64_t)o.rows;
	return o;
}

static void
read_table(struct plan *p, struct opts *o, struct cli *cli, struct pe_error *e)
{
	/* A raw table tells no heads: -d does where no rows take it for themselves, and is idle
	 * for any other table. */
	const bool raw = pe_format_of_path(o->bias).container == PE_RAW;
	struct pe_reader_spec spec =
	    cli_side_table(cli, o->bias, raw && o->mode != FILTER ? cli->common.dim : 0);
	struct pe_reader *r;
	const size_t cls_rows = o->cls ? 1 : 0;

	if (raw && o->mode == FILTER)
		cli_refuse("--bias: a raw table does not tell its heads: '%s'",
			   pe_quote_path(o->bias).text);
	spec.carrier = PE_F64;
	if (pe_reader_open(&r, &spec, e) || pe_reader_all(r, &p->table, e))
		cli_die(e);
	p->natural = pe_reader_elem(r);
	p->heads = p->table.cols;
	if (o->num_buckets == 0)
		o->num_buckets = p->table.rows - cls_rows;
	if (p->table.rows != o->num_buckets + cls_rows)
		cli_fail("%s: has %zu rows, %zu buckets%s take %zu", pe_reader_name(r),
			 p->table.rows, o->num_buckets, o->cls ? " and [CLS]" : "",
			 o->num_buckets + cls_rows);
	pe_reader_close(r);
}

static void
make_plan(struct plan *p, struct opts *o, struct cli *cli)
{
	struct pe_error e;

	*p = (struct plan){.natural = PE_I64, .heads = 1, .biased = o->bias != NULL};
	if (o->bias != NULL)
		read_table(p, o, cli, &e);
	if (o->num_buckets == 0 && o->bias == NULL)
		o->num_buckets = 32;
	if (pe_t5_init(&p->t5, o->num_buckets, o->max_distance, !o->causal, &e))
		cli_die(&e);
}

/* Integers are printed as such, whatever their size; a bias as the f64 that it is. */
static struct pe_writer *
open_output(struct cli *cli, const struct plan *p, size_t cols, int64_t rows,
	    const char *const *names, enum pe_elem carrier)
{
	struct pe_writer_spec spec = cli_writer(cli, cols, rows);

	spec.natural = p->natural;
	spec.names = cli_header(cli, names, cols);
	spec.carrier = carrier;
	if (p->natural == PE_I64 && pe_format_is_text(spec.format) &&
	    spec.format.elem == PE_ELEM_NONE)
		spec.format.elem = PE_I64;
	return cli_open_writer(cli, &spec);
}

/* ---- FILE: offsets in, buckets or one group of bias columns per head out ---- */

struct filter {
	const struct plan *plan;
	size_t cols;
};

static int
map_rows(void *context, uint64_t first, size_t rows, const void *in, void *out, struct pe_error *e)
{
	const struct filter *f = context;
	const struct plan *p = f->plan;
	const int64_t *offsets = in;

	(void)first;
	(void)e;
	if (!p->biased) {
		for (size_t i = 0; i < rows * f->cols; i++)
			((int64_t *)out)[i] = (int64_t)pe_t5_bucket(&p->t5, offsets[i]);
		return 0;
	}
	double *bias = out;
	for (size_t r = 0; r < rows; r++, offsets += f->cols)
		for (size_t h = 0; h < p->heads; h++)
			for (size_t c = 0; c < f->cols; c++)
				pe_t5_bias(&p->t5, &p->table, h, offsets[c], 1, bias++);
	return 0;
}

static void
filter(struct cli *cli, const struct opts *o, const struct plan *p)
{
	struct pe_reader_spec spec = cli_reader(cli, o->file);
	struct filter f = {.plan = p};
	size_t width;

	spec.carrier = PE_I64;
	struct pe_reader *in = cli_open_reader(&spec);
	f.cols = pe_reader_cols(in);
	if (!pe_num_size(f.cols, p->heads, 1, &width))
		cli_fail("%zu columns x %zu heads overflows", f.cols, p->heads);
	struct pe_writer *out =
	    open_output(cli, p, width, pe_reader_rows(in),
			p->heads == 1 ? pe_reader_names(in) : NULL, p->biased ? PE_F64 : PE_I64);
	cli_filter(cli, in, out, map_rows, &f);
}

/* ---- -n: the whole matrix ---- */

static int
window_values(const void *context, size_t head, int64_t lo, size_t n, enum pe_elem elem,
	      void *values, struct pe_error *e)
{
	const struct plan *p = context;
	int64_t bucket[512];
	double bias[512];

	for (size_t done = 0, some; done < n; done += some) {
		char *to = (char *)values + done * pe_elem_size(elem);
		size_t converted;

		some = n - done < 512 ? n - done : 512;
		if (p->biased) {
			pe_t5_bias(&p->t5, &p->table, head, lo + (int64_t)done, some, bias);
			converted = pe_elem_convert(elem, to, PE_F64, bias, some);
		} else {
			pe_t5_buckets(&p->t5, lo + (int64_t)done, some, bucket);
			converted = pe_elem_convert(elem, to, PE_I64, bucket, some);
		}
		if (converted < some)
			return pe_fail(e, PE_FAULT_DATA, "offset %lld: does not fit %s",
				       (long long)(lo + (int64_t)(done + converted)),
				       pe_elem_name(elem));
	}
	return 0;
}

/* What the [CLS] row (entry num_buckets / 2) or column (entry num_buckets) holds for each head. */
static void *
cls_values(const struct plan *p, size_t bucket, enum pe_elem elem)
{
	struct pe_matrix values;
	struct pe_error e;

	if (pe_matrix_init(&values, 1, p->heads, elem, &e))
		cli_die(&e);
	for (size_t h = 0; h < p->heads; h++) {
		const double x = p->biased ? pe_matrix_f64(&p->table)[bucket * p->table.cols + h]
					   : (double)bucket;
		if (pe_elem_convert(elem, (char *)values.data + h * pe_elem_size(elem), PE_F64, &x,
				    1) < 1)
			cli_fail("[CLS]: does not fit %s", pe_elem_name(elem));
	}
	return values.data;
}

static void
matrix(struct cli *cli, const struct opts *o, const struct plan *p)
{
	struct pe_window w = {
	    .heads = p->heads,
	    .rows = o->rows,
	    .cols = o->cols,
	    .first = o->query_start,
	    .values = window_values,
	    .context = p,
	};
	void *row = NULL, *column = NULL;
	struct pe_error e;
	size_t rows;

	if (!pe_num_size(p->heads, o->rows, 1, &rows))
		cli_refuse("-n: %zu heads x %zu rows overflows", p->heads, o->rows);
	/* The vector by offset is made in the element written, so that a row is a copy. */
	struct pe_writer *out = open_output(cli, p, o->cols, (int64_t)rows, NULL, PE_ELEM_NONE);
	if (o->cls) {
		w.cls_row = row = cls_values(p, o->num_buckets / 2, pe_writer_carrier(out));
		w.cls_column = column = cls_values(p, o->num_buckets, pe_writer_carrier(out));
	}
	if (pe_window_write(&w, out, &e) || pe_writer_close(out, &e))
		cli_die(&e);
	free(row);
	free(column);
}

/* ---- --range, --edges ---- */

/* "offset", then "bucket", or "bias" of the one head, or "h0", "h1", ... */
static const char *const *
list_names(const struct plan *p, char (*text)[24], const char **names)
{
	names[0] = "offset";
	for (size_t h = 0; h < p->heads; h++) {
		(void)snprintf(text[h], sizeof text[h], "h%zu", h);
		names[1 + h] = p->heads > 1 ? text[h] : p->biased ? "bias" : "bucket";
	}
	return names;
}

struct list {
	const struct plan *plan;
	int64_t lo, step;
};

static int
list_rows(void *context, uint64_t first, size_t rows, const void *in, void *out, struct pe_error *e)
{
	const struct list *l = context;
	const struct plan *p = l->plan;
	int64_t *whole = out;
	double *wide = out;

	(void)in;
	(void)e;
	for (uint64_t k = first; k < first + rows; k++) {
		const int64_t offset = (int64_t)((uint64_t)l->lo + k * (uint64_t)l->step);

		if (!p->biased) {
			*whole++ = offset;
			*whole++ = (int64_t)pe_t5_bucket(&p->t5, offset);
			continue;
		}
		*wide++ = (double)offset;
		for (size_t h = 0; h < p->heads; h++)
			pe_t5_bias(&p->t5, &p->table, h, offset, 1, wide++);
	}
	return 0;
}

static void
list(struct cli *cli, const struct opts *o, const struct plan *p)
{
	const uint64_t last = ((uint64_t)o->hi - (uint64_t)o->lo) / (uint64_t)o->step;
	struct list l = {p, o->lo, o->step};
	char(*text)[24] = calloc(p->heads, sizeof *text);
	const char **names = calloc(1 + p->heads, sizeof *names);

	if (text == NULL || names == NULL)
		cli_fail("out of memory");
	if (last >= INT64_MAX)
		cli_refuse("--range: more than 2^63 offsets");
	struct pe_writer *out =
	    open_output(cli, p, 1 + p->heads, (int64_t)last + 1, list_names(p, text, names),
			p->biased ? PE_F64 : PE_I64);
	cli_make(cli, out, last + 1, list_rows, &l);
	free(text);
	free(names);
}

static void
edges(struct cli *cli, const struct plan *p)
{
	static const char *const names[] = {"bucket", "lowest", "highest"};
	struct plan as_f64 = *p; /* the ends are infinite */
	struct pe_error e;
	int64_t lo, hi, used = 0;

	as_f64.natural = PE_F64;
	for (size_t b = 0; b < p->t5.num_buckets; b++)
		used += pe_t5_range(&p->t5, b, &lo, &hi);
	struct pe_writer *out = open_output(cli, &as_f64, 3, used, names, PE_F64);
	for (size_t b = 0; b < p->t5.num_buckets; b++) {
		if (!pe_t5_range(&p->t5, b, &lo, &hi))
			continue;
		const double row[] = {
		    (double)b,
		    lo == INT64_MIN ? -(double)INFINITY : (double)lo,
		    hi == INT64_MAX ? (double)INFINITY : (double)hi,
		};
		if (pe_writer_put(out, row, 1, &e))
			cli_die(&e);
	}
	if (pe_writer_close(out, &e))
		cli_die(&e);
}

int
main(int argc, char **argv)
{
	struct cli cli;
	struct plan plan;

	cli_start(&cli, &command, argc, argv);
	struct opts o = parse(&cli);
	make_plan(&plan, &o, &cli);
	switch (o.mode) {
	case FILTER: filter(&cli, &o, &plan); break;
	case MATRIX: matrix(&cli, &o, &plan); break;
	case LIST: list(&cli, &o, &plan); break;
	case EDGE_LIST: edges(&cli, &plan); break;
	}
	pe_t5_free(&plan.t5);
	pe_matrix_free(&plan.table);
	cli_end(&cli);
	return 0;
}
