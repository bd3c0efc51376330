/* pe-shift - the matrix that shifts a position's row by k, or its action on a stream of rows. */
#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "cli_convention.h"
#include "num.h"
#include "shift.h"

enum { KEY_APPLY = CLI_KEY };

static const struct cli_option options[] = {
    {'k', "--shift", "K", "by how many positions, any number"},
    {KEY_APPLY, "--apply", NULL, "filter: every row p of position t becomes the row of t + K"},
    CLI_CONVENTION_OPTIONS,
    CLI_GAIN_OPTION,
    {0},
};

static const struct cli_command command = {
    .name = "pe-shift",
    .summary = "Prints the matrix GAIN·M_k that shifts a sinusoidal position by k, or applies it.",
    .synopsis = "-k K -d DIM [-b BASE] [-g GAIN] [convention options]\n"
		"-k K --apply [-b BASE] [-g GAIN] [convention options] [FILE]",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

struct opts {
	double shift;
	bool shifts; /* -k was given */
	bool apply;
	struct pe_convention convention;
	const char *input;
};

static void
check_options(const struct opts *o, const struct cli *cli)
{
	if (!o->shifts)
		cli_missing('k');
	if (o->shift > (double)PE_POSITION_MAX || o->shift < -(double)PE_POSITION_MAX)
		cli_refuse("-k: beyond 2^53, where positions are exact: '%.17g'", o->shift);
	if (cli->common.dim % 2 != 0)
		cli_refuse("-d: must be even: '%zu'", cli->common.dim);
	cli_check_header(cli);
	if (o->apply)
		return;
	if (cli->common.dim == 0)
		cli_missing('d');
	if (cli->common.from.container != PE_AUTO)
		cli_refuse("-f: has no effect without --apply");
	if (cli->common.header_in)
		cli_refuse("--header-in: has no effect without --apply");
	if (o->input != NULL)
		cli_refuse("extra operand, rows are read with --apply: '%s'",
			   pe_quote(o->input).text);
}

static struct opts
parse(struct cli *cli)
{
	struct cli_convention words = {0};
	struct opts o = {0};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;) {
		switch (key) {
		case 'k':
			o.shift = cli_number(key, arg);
			o.shifts = true;
			break;
		case KEY_APPLY: o.apply = true; break;
		default: (void)cli_convention_option(&words, key, arg);
		}
	}
	o.convention = cli_convention_finish(&words);
	o.convention.gain_root = false; /* a preset's gain is of its table, not of the shift */
	o.input = cli_optional_operand(cli);
	check_options(&o, cli);
	return o;
}

static struct pe_shift *
plan(const struct opts *o, size_t dim, enum pe_elem elem)
{
	struct pe_shift *shift;
	struct pe_error e;

	if (pe_shift_init(&shift, &o->convention, dim, o->shift, elem, &e))
		cli_die(&e);
	return shift;
}

/* ---- GAIN * M_k ---- */

static int
make_rows(void *context, uint64_t first, size_t n, const void *in, void *out, struct pe_error *e)
{
	(void)in;
	(void)e;
	pe_shift_rows(context, (size_t)first, n, out);
	return 0;
}

static void
make_matrix(struct cli *cli, const struct opts *o)
{
	const size_t dim = cli->common.dim;
	struct pe_writer_spec spec = cli_writer(cli, dim, (int64_t)dim);
	const enum pe_elem due = pe_writer_elem(&spec);

	spec.names = cli_convention_names(cli, &o->convention, dim, false);
	spec.carrier = pe_elem_is_integer(due) ? PE_F64 : due;
	struct pe_shift *shift = plan(o, dim, spec.carrier);
	cli_make(cli, cli_open_writer(cli, &spec), dim, make_rows, shift);
	pe_shift_free(shift);
}

/* ---- --apply ---- */

static int
apply_rows(void *context, uint64_t first, size_t n, const void *in, void *out, struct pe_error *e)
{
	(void)first;
	(void)e;
	pe_shift_apply(context, n, in, out);
	return 0;
}

static void
apply(struct cli *cli, const struct opts *o)
{
	struct pe_reader_spec rows = cli_reader(cli, o->input);

	rows.carrier = PE_F64;
	struct pe_reader *in = cli_open_reader(&rows);
	const size_t dim = pe_reader_cols(in);
	const enum pe_elem own = pe_reader_elem(in);
	if (dim % 2 != 0)
		cli_fail("%s: the number of columns must be even: '%zu'", pe_reader_name(in), dim);
	struct pe_shift *shift = plan(o, dim, PE_F64);
	struct pe_writer_spec spec = cli_writer(cli, dim, pe_reader_rows(in));
	spec.names = cli_header(cli, pe_reader_names(in), dim);
	spec.carrier = PE_F64;
	spec.natural = pe_elem_is_integer(own) ? PE_F64 : own;
	cli_filter(cli, in, cli_open_writer(cli, &spec), apply_rows, shift);
	pe_shift_free(shift);
}

int
main(int argc, char **argv)
{
	struct cli cli;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	if (o.apply)
		apply(&cli, &o);
	else
		make_matrix(&cli, &o);
	cli_end(&cli);
	return 0;
}
