/* table_options - what a pe-table command line says. */
#include "table_options.h"
#include "cli_values.h"

#include <string.h>

#include "num.h"

static const struct cli_option options[] = {
    {'n', "--count", "COUNT", "rows; inf: without end"},
    {'s', "--start", "START", "position of the first row (0)"},
    {KEY_STEP, "--step", "STEP", "from one row's position to the next (1)"},
    {KEY_POSITIONS, "--positions", CLI_FILE, "positions, any numbers, one for each row"},
    {KEY_GRID, "--grid", "HxW", "2-D table, one row for each cell, row-major"},
    {KEY_LEARNED, "--learned", CLI_FILE, "rows of this table instead of sinusoids"},
    {KEY_ROW_OFFSET, "--row-offset", "R", "position t reads row t + R of the learned table (0)"},
    {KEY_STRETCH, "--stretch", "T", "resample the learned table to T rows, linearly"},
    {KEY_ALIGN, "--align", "centers|corners", "what stays in place when stretched (centers)"},
    {KEY_ADD, "--add", NULL, "filter: add the table to the rows of the input"},
    {KEY_EMBED_SCALE, "--embed-scale", "X|sqrt", "multiply the input's rows first; sqrt: by √d"},
    {KEY_FREQS, "--freqs", NULL, "pair, frequency, wavelength, one row per pair"},
    CLI_CONVENTION_OPTIONS,
    CLI_GAIN_OPTION,
    {CLI_ODD, "--odd", "drop|zero|error", "an odd width: lone last value, zero column, refused"},
    {KEY_ZERO_ROW, "--zero-row", "R", "the row of position R becomes zeros"},
    {KEY_CLS, "--cls", NULL, "put a row of zeros first"},
    {CLI_GRID_ORDER, "--grid-order", "hw|wh",
     "what fills the first half: row or column index (hw)"},
    {CLI_GRID_START, "--grid-start", "N", "coordinate of the first row and column (0)"},
    {CLI_GRID_NORMALIZE, "--grid-normalize", NULL, "coordinates become c/(last + 1e-6)·2π"},
    {CLI_NO_GRID_NORMALIZE, "--no-grid-normalize", NULL, "coordinates as they are"},
    {CLI_ROUND, "--round", "freq:E,angle:E",
     "round frequency, angle to element E first, as a code base does"},
    {0},
};

const struct cli_command table_command = {
    .name = "pe-table",
    .summary = "Prints a position table, one row per position.",
    .synopsis = "-n COUNT -d DIM [-s START] [--step STEP] [-b BASE] [convention options]\n"
		"-d DIM --positions FILE [convention options]\n"
		"--grid HxW -d DIM [convention options]\n"
		"--learned FILE (-n COUNT [-s START] [--step STEP] | --positions FILE)\n"
		"--add [--embed-scale X|sqrt] [options of the table] [FILE]\n"
		"--freqs -d DIM [convention options]",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

static uint64_t
count(int key, const char *arg)
{
	return strcmp(arg, "inf") == 0 ? PE_ENDLESS : cli_count(key, arg);
}

static void
take(struct table_options *o, int key, const char *arg)
{
	static const char *const aligns[] = {"centers", "corners", NULL};

	switch (key) {
	case 'n': o->count = count(key, arg); break;
	case 's': o->start = cli_position(key, arg); break;
	case KEY_STEP: o->step = cli_integer(key, arg); break;
	case KEY_POSITIONS: o->positions = arg; break;
	case KEY_GRID: cli_shape(key, arg, &o->height, &o->width); break;
	case KEY_LEARNED: o->learned = arg; break;
	case KEY_ROW_OFFSET: o->row_offset = cli_position(key, arg); break;
	case KEY_STRETCH: o->stretch = cli_positive(key, arg); break;
	case KEY_ALIGN: o->align = (enum pe_align)cli_choice(key, arg, aligns); break;
	case KEY_EMBED_SCALE:
		o->embed_root = strcmp(arg, "sqrt") == 0;
		o->embed_scale = o->embed_root ? 1 : cli_number(key, arg);
		break;
	case KEY_ZERO_ROW: o->zero_row = cli_position(key, arg); break;
	default: (void)cli_convention_option(&o->words, key, arg);
	}
}

/* The first option has no effect beside the second. */
static const int clashes[][2] = {
    {'n', KEY_POSITIONS},
    {'s', KEY_POSITIONS},
    {KEY_STEP, KEY_POSITIONS},
    {KEY_GRID, KEY_POSITIONS},
    {'n', KEY_GRID},
    {'s', KEY_GRID},
    {KEY_STEP, KEY_GRID},
    {'n', KEY_ADD},
    {KEY_GRID, KEY_LEARNED},
    {'b', KEY_LEARNED},
    {CLI_LAYOUT, KEY_LEARNED},
    {CLI_FLIP, KEY_LEARNED},
    {CLI_NO_FLIP, KEY_LEARNED},
    {CLI_FREQ_SHIFT, KEY_LEARNED},
    {CLI_POS_SCALE, KEY_LEARNED},
    {CLI_PRESET, KEY_LEARNED},
    {CLI_ODD, KEY_LEARNED},
    {CLI_ROUND, KEY_LEARNED},
    {'n', KEY_FREQS},
    {'s', KEY_FREQS},
    {KEY_STEP, KEY_FREQS},
    {KEY_POSITIONS, KEY_FREQS},
    {KEY_GRID, KEY_FREQS},
    {KEY_LEARNED, KEY_FREQS},
    {KEY_ADD, KEY_FREQS},
    {KEY_ZERO_ROW, KEY_FREQS},
    {KEY_CLS, KEY_FREQS},
    {CLI_FLIP, KEY_FREQS},
    {CLI_NO_FLIP, KEY_FREQS},
    {CLI_POS_SCALE, KEY_FREQS},
    {'g', KEY_FREQS},
};

/* The first option has no effect without the second. */
static const int needs[][2] = {
    {KEY_ROW_OFFSET, KEY_LEARNED},  {KEY_STRETCH, KEY_LEARNED},        {KEY_ALIGN, KEY_STRETCH},
    {KEY_EMBED_SCALE, KEY_ADD},     {CLI_GRID_ORDER, KEY_GRID},        {CLI_GRID_START, KEY_GRID},
    {CLI_GRID_NORMALIZE, KEY_GRID}, {CLI_NO_GRID_NORMALIZE, KEY_GRID},
};

/* More bytes than can be addressed are no table, whatever is piped away of it. */
static void
check_size(const struct table_options *o, size_t dim)
{
	const bool grid = o->given[KEY_GRID];
	size_t bytes;

	if (grid && !pe_num_size(o->height, o->width, dim * sizeof(double), &bytes))
		cli_refuse("--grid: %zu x %zu cells x %zu columns x 8 bytes overflows", o->height,
			   o->width, dim);
	if (!grid && o->count != PE_ENDLESS &&
	    !pe_num_size((size_t)o->count, dim, sizeof(double), &bytes))
		cli_refuse("-n: %zu rows x %zu columns x 8 bytes overflows", (size_t)o->count, dim);
}

/* dim is 0 where an input will tell it. */
static void
check_columns(const struct table_options *o, size_t dim)
{
	const struct pe_convention *c = &o->convention;

	if (c->odd == PE_ODD_DROP && c->layout == PE_LAYOUT_HALVES)
		cli_refuse("--odd: interleaved columns alone drop a value: 'drop'");
	if (o->given[KEY_GRID] && c->odd == PE_ODD_ERROR && dim % 4 != 0)
		cli_refuse("-d: must be a multiple of 4: '%zu'", dim);
	if (dim % 2 != 0 && (c->odd == PE_ODD_ERROR || o->given[KEY_GRID]))
		cli_refuse("-d: must be even: '%zu'", dim);
}

static void
check_options(const struct table_options *o, const struct cli *cli)
{
	const bool *given = o->given;
	const bool reads = given[KEY_ADD] || o->positions != NULL;

	for (size_t i = 0; i < sizeof clashes / sizeof clashes[0]; i++)
		if (given[clashes[i][0]] && given[clashes[i][1]])
			cli_conflict(clashes[i][0], clashes[i][1]);
	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
		if (given[needs[i][0]] && !given[needs[i][1]])
			cli_refuse("%s: has no effect without %s", cli_spelling(needs[i][0]),
				   cli_spelling(needs[i][1]));
	if (given[KEY_FREQS] && o->convention.round_angle != PE_ELEM_NONE)
		cli_refuse("--round: angle has no effect beside --freqs");
	if (!reads && cli->common.from.container != PE_AUTO)
		cli_refuse("-f: has no effect without --add or --positions");
	if (!reads && o->learned == NULL && cli->common.header_in)
		cli_refuse("--header-in: has no effect, nothing is read");
	if (!given[KEY_ADD] && cli_operands(cli) > 0)
		cli_refuse("extra operand, rows are read with --add: '%s'",
			   pe_quote(cli_operand(cli, 0)).text);
	if (!given['n'] && !reads && !given[KEY_GRID] && !given[KEY_FREQS])
		cli_missing('n');
	if (cli->common.dim == 0 && o->learned == NULL && !given[KEY_ADD])
		cli_missing('d');
	check_size(o, cli->common.dim);
	check_columns(o, cli->common.dim);
}

struct table_options
table_options(struct cli *cli)
{
	struct table_options o = {.count = PE_ENDLESS, .step = 1, .embed_scale = 1};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;) {
		o.given[key] = true;
		take(&o, key, arg);
	}
	o.convention = cli_convention_finish(&o.words);
	check_options(&o, cli);
	o.input = cli_optional_operand(cli);
	return o;
}
