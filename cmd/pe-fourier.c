/* pe-fourier - coordinates to Fourier features. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "fourier.h"

enum { NERF = CLI_KEY, NO_INPUT, LINEAR_BANDS, PI, MATRIX, LOG, FLIP, NO_2PI };

static const struct cli_option options[] = {
    {NERF, "--nerf", "L", "x; then sines, then cosines of 2^k x, for k = 0 .. L-1"},
    {NO_INPUT, "--no-input", NULL, "leave x out"},
    {LINEAR_BANDS, "--linear-bands", NULL, "factors evenly spaced from 1 to 2^(L-1)"},
    {PI, "--pi", NULL, "of 2^k pi x, as the paper has it"},
    {MATRIX, "--matrix", CLI_FILE,
     "sines, then cosines of 2 pi B x; B has a row for each frequency"},
    {LOG, "--log", NULL, "of the logarithm of x"},
    {FLIP, "--flip", NULL, "cosines first"},
    {NO_2PI, "--no-2pi", NULL, "of B x, not 2 pi B x"},
    {0},
};

static const struct cli_command command = {
    .name = "pe-fourier",
    .summary = "Rows of coordinates become rows of Fourier features.",
    .synopsis = "--nerf L [--no-input] [--linear-bands] [--pi] [FILE]\n"
		"--matrix FILE [--log] [--flip] [--no-2pi] [FILE]",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

struct opts {
	size_t bands;       /* --nerf; 0: not given */
	const char *matrix; /* file of B, NULL: not given */
	const char *file;   /* of the coordinates, NULL: standard input */
	bool input, linear, pi, log, flip, radians;
	int of_bands, of_matrix; /* an option given that belongs to that kind alone; 0: none */
};

/* One of the two kinds. */
struct job {
	struct pe_bands *bands;
	struct pe_fourier *fourier;
	struct pe_matrix matrix;
	size_t dims, width;
	enum pe_elem elem;
	const char *input;
};

/* ---- the command line ---- */

static void
check(const struct opts *o)
{
	if (o->bands != 0 && o->matrix != NULL)
		cli_refuse("--nerf: cannot stand beside --matrix");
	if (o->bands == 0 && o->matrix == NULL)
		cli_refuse("--nerf or --matrix: one of the two must be given (see --help)");
	if (o->bands == 0 && o->of_bands != 0)
		cli_conflict(o->of_bands, MATRIX);
	if (o->bands != 0 && o->of_matrix != 0)
		cli_conflict(o->of_matrix, NERF);
	if (o->bands > PE_BANDS_MAX)
		cli_refuse("--nerf: more than %d: '%zu'", PE_BANDS_MAX, o->bands);
}

static struct opts
parse(struct cli *cli)
{
	struct opts o = {.input = true};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case NERF: o.bands = cli_positive(key, arg); break;
		case MATRIX: o.matrix = arg; break;
		case NO_INPUT:
			o.input = false;
			o.of_bands = key;
			break;
		case LINEAR_BANDS:
			o.linear = true;
			o.of_bands = key;
			break;
		case PI:
			o.pi = true;
			o.of_bands = key;
			break;
		case LOG:
			o.log = true;
			o.of_matrix = key;
			break;
		case FLIP:
			o.flip = true;
			o.of_matrix = key;
			break;
		case NO_2PI:
			o.radians = true;
			o.of_matrix = key;
			break;
		}
	check(&o);
	o.file = cli_optional_operand(cli);
	const char *const paths[] = {o.matrix, o.file != NULL ? o.file : "-"};
	cli_check_stdin(paths, 2);
	if (o.matrix == NULL)
		cli_check_header(cli);
	return o;
}

/* ---- plan ---- */

static void
plan_bands(struct job *job, const struct opts *o)
{
	const struct pe_bands_spec spec = {
	    .dims = job->dims,
	    .bands = o->bands,
	    .input = o->input,
	    .linear = o->linear,
	    .pi = o->pi,
	};
	struct pe_error e;

	if (pe_bands_init(&job->bands, &spec, &e))
		cli_die(&e);
	job->width = pe_bands_width(job->bands);
}

static void
plan_matrix(struct job *job, struct cli *cli, const struct opts *o)
{
	struct pe_reader_spec side = cli_side_table(cli, o->matrix, job->dims);
	struct pe_error e;

	side.carrier = PE_F64;
	if (pe_matrix_read(&job->matrix, &side, &e))
		cli_die(&e);
	if (job->matrix.rows == 0)
		cli_fail("%s: has no rows", pe_quote_path(o->matrix).text);
	for (size_t i = 0; i < job->matrix.rows * job->matrix.cols; i++)
		if (!isfinite(pe_matrix_f64(&job->matrix)[i]))
			cli_fail("%s: row %zu, column %zu: a frequency must be finite: '%g'",
				 pe_quote_path(o->matrix).text, i / job->dims, i % job->dims + 1,
				 pe_matrix_f64(&job->matrix)[i]);
	const struct pe_fourier_spec spec = {
	    .dims = job->dims,
	    .features = job->matrix.rows,
	    .matrix = pe_matrix_f64(&job->matrix),
	    .radians = o->radians,
	    .log = o->log,
	    .cosine_first = o->flip,
	};
	if (pe_fourier_init(&job->fourier, &spec, &e))
		cli_die(&e);
	job->width = 2 * spec.features;
}

/* ---- names ---- */

enum { NAME_BYTES = 64 };

/* Of the feature in that column: "s3_x1" is the sine of band 3 of the input's column x1, "s3"
 * that of the third row of B. */
static void
name_feature(char *to, const struct job *job, const struct opts *o, const char *const *names,
	     size_t column)
{
	if (o->matrix != NULL) {
		const bool second = column >= job->width / 2;
		(void)snprintf(to, NAME_BYTES, "%c%zu", second != o->flip ? 'c' : 's',
			       column % (job->width / 2));
		return;
	}
	const size_t j = column % job->dims;
	const size_t group = column / job->dims - (o->input ? 1 : 0);
	char own[24];

	(void)snprintf(own, sizeof own, "x%zu", j);
	(void)snprintf(to, NAME_BYTES, "%c%zu_%.32s", group % 2 != 0 ? 'c' : 's', group / 2,
		       names != NULL ? names[j] : own);
}

/* The input's names (x0, x1, ... where it has none), then those of the features; NULL without
 * --header-out. */
static char *
make_names(const struct job *job, const struct cli *cli, const struct opts *o,
	   const char *const *names, const char ***list)
{
	const size_t inputs = o->input && o->matrix == NULL ? job->dims : 0;

	*list = NULL;
	if (!cli->common.header_out)
		return NULL;
	*list = calloc(job->width, sizeof **list);
	char *text = calloc(job->width, NAME_BYTES);
	if (*list == NULL || text == NULL)
		cli_fail("out of memory");
	for (size_t c = 0; c < job->width; c++) {
		char *name = text + c * NAME_BYTES;
		(*list)[c] = name;
		if (c >= inputs)
			name_feature(name, job, o, names, c);
		else if (names != NULL)
			(*list)[c] = names[c];
		else
			(void)snprintf(name, NAME_BYTES, "x%zu", c);
	}
	return text;
}

/* ---- rows ---- */

static int
make_rows(void *context, uint64_t first, size_t rows, const void *in, void *out, struct pe_error *e)
{
	const struct job *job = context;
	struct pe_error why;

	if (job->fourier != NULL) {
		pe_fourier_rows(job->fourier, in, rows, job->elem, out);
		return 0;
	}
	if (pe_bands_rows(job->bands, first, in, rows, job->elem, out, &why) == 0)
		return 0;
	return pe_fail(e, why.fault, "%s: %s", job->input, why.text);
}

int
main(int argc, char **argv)
{
	struct cli cli;
	struct job job = {0};
	struct pe_reader *in;
	struct pe_writer *out;
	struct pe_error e;
	const char **names;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	struct pe_reader_spec source = cli_reader(&cli, o.file);
	source.carrier = PE_F64;
	if (pe_reader_open(&in, &source, &e))
		cli_die(&e);
	job.dims = pe_reader_cols(in);
	job.input = pe_reader_name(in);
	if (o.matrix != NULL)
		plan_matrix(&job, &cli, &o);
	else
		plan_bands(&job, &o);
	struct pe_writer_spec target = cli_writer(&cli, job.width, pe_reader_rows(in));
	target.natural = pe_elem_is_integer(pe_reader_elem(in)) ? PE_F64 : pe_reader_elem(in);
	job.elem = pe_writer_elem(&target);
	if (pe_elem_is_integer(job.elem))
		job.elem = PE_F64;
	target.carrier = job.elem;
	char *text = make_names(&job, &cli, &o, pe_reader_names(in), &names);
	target.names = cli_header(&cli, names, job.width);
	if (pe_writer_open(&out, &target, &e))
		cli_die(&e);
	cli_filter(&cli, in, out, make_rows, &job);
	free(text);
	free(names);
	pe_bands_free(job.bands);
	pe_fourier_free(job.fourier);
	pe_matrix_free(&job.matrix);
	cli_end(&cli);
	return 0;
}
