/* pe-cat - convert, stack, cut, transpose, re-pair and skew matrices; look into checkpoints;
 * pictures. */
#include <string.h>

#include "carray.h"
#include "cat.h"
#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "num.h"

enum {
	KEY_ROWS = CLI_KEY,
	KEY_COLS,
	KEY_TRANSPOSE,
	KEY_PAIRS,
	KEY_ALONG,
	KEY_SKEW,
	KEY_LIST,
	KEY_RANGE,
	KEY_ZOOM,
	KEY_NAME,
};

static const struct cli_option options[] = {
    {KEY_ROWS, "--rows", "A:B", "rows A to B - 1 alone, counted from 0; A or B may be left out"},
    {KEY_COLS, "--cols", "A:B", "columns A to B - 1 alone, likewise"},
    {KEY_PAIRS, "--pairs", "interleaved:halves|halves:interleaved",
     "move columns from one pair layout to the other"},
    {'H', "--heads", "N", "with --pairs: heads side by side, each moved for itself (1)"},
    {KEY_ALONG, "--along", "cols|rows",
     "with --pairs: what is moved; rows for weights stored out x in (cols)"},
    {KEY_SKEW, "--skew", "full|causal",
     "columns by offset to columns by key, as in the Music Transformer"},
    {KEY_TRANSPOSE, "--transpose", NULL, "columns become rows, after all else"},
    {KEY_LIST, "--list", NULL,
     "list the tensors of a .safetensors file: name, type, shape, elements"},
    {KEY_RANGE, "--range", "LO:HI", "-t ppm and pgm: values that take the ends of the scale"},
    {KEY_ZOOM, "--zoom", "N", "-t ppm and pgm: pixels of a cell's side (1)"},
    {KEY_NAME, "--name", "NAME", "-t c and safetensors: name of the array or tensor (table)"},
    {0},
};

static const struct cli_command command = {
    .name = "pe-cat",
    .summary = "Convert, stack, cut, re-pair, skew and transpose matrices, and look into "
	       "checkpoints. -t also takes "
	       "c, safetensors, ppm and pgm.",
    .synopsis = "[--rows A:B] [--cols A:B] [--pairs FROM:TO [-H N] [--along cols|rows]] "
		"[--transpose] [FILE...]\n"
		"[--rows A:B] [--cols A:B] --skew full|causal [FILE...]\n"
		"--list FILE.safetensors\n"
		"-t ppm|pgm [--range LO:HI] [--zoom N] [FILE...]\n"
		"-t c|safetensors [--name NAME] [FILE...]",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
    .kinds = (const char *const[]){"c", "safetensors", "ppm", "pgm", NULL},
};

struct opts {
	struct cat_opts cat;
	bool list, heads, along, zoomed; /* given */
};

/* ---- option values ---- */

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

static bool
parse_pairs(int key, const char *arg)
{
	static const char *const moves[] = {"interleaved:halves", "adjacent:halves",
					    "halves:interleaved", "halves:adjacent", NULL};

	return cli_choice(key, arg, moves) < 2;
}

static void
parse_range(int key, const char *arg, struct pe_picture *picture)
{
	const char *colon = strchr(arg, ':');
	char low[64];
	struct pe_error e;

	if (colon == NULL || (size_t)(colon - arg) >= sizeof low)
		cli_refuse("%s: must be LO:HI: '%s'", cli_spelling(key), pe_quote(arg).text);
	memcpy(low, arg, (size_t)(colon - arg));
	low[colon - arg] = '\0';
	if (pe_num_double(cli_spelling(key), low, &picture->low, &e) ||
	    pe_num_double(cli_spelling(key), colon + 1, &picture->high, &e))
		cli_die(&e);
	if (!(picture->low < picture->high))
		cli_refuse("%s: empty range: '%s'", cli_spelling(key), pe_quote(arg).text);
}

static size_t
parse_zoom(int key, const char *arg)
{
	const size_t zoom = cli_positive(key, arg);

	if (zoom > 65536)
		cli_refuse("%s: must be at most 65536: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	return zoom;
}

/* ---- what goes with what ---- */

static void
check_kind(const struct cli *cli, const struct opts *o)
{
	const char *kind = cli->common.kind != NULL ? cli->common.kind : "";
	const bool array = strcmp(kind, "c") == 0;
	const bool picture = strcmp(kind, "ppm") == 0 || strcmp(kind, "pgm") == 0;
	const enum pe_elem elem = cli->common.to.elem;

	if (!picture && (o->cat.ranged || o->zoomed))
		cli_refuse("%s: has no effect without -t ppm or pgm",
			   cli_spelling(o->cat.ranged ? KEY_RANGE : KEY_ZOOM));
	if (!array && strcmp(kind, "safetensors") != 0 && o->cat.name != NULL)
		cli_refuse("--name: has no effect without -t c or safetensors");
	if (array && o->cat.name != NULL && !pe_carray_name(o->cat.name))
		cli_refuse("--name: no C identifier: '%s'", pe_quote(o->cat.name).text);
	if (array && elem != PE_ELEM_NONE && elem != PE_F64 && elem != PE_F32)
		cli_refuse("-t: a C array is of f64 or f32: '%s'", pe_elem_name(elem));
	if (picture && elem != PE_ELEM_NONE)
		cli_refuse("-t: a picture has no element: '%s'", pe_elem_name(elem));
	if (array && cli->common.header_out)
		cli_refuse("--header-out: has no effect beside -t c");
	if (picture)
		cli_check_text(cli, false);
}

static void
check(const struct cli *cli, const struct opts *o)
{
	if (!o->cat.pairs && (o->heads || o->along))
		cli_refuse("%s: has no effect without --pairs",
			   cli_spelling(o->heads ? 'H' : KEY_ALONG));
	if (o->cat.skew != SKEW_NONE && o->cat.pairs)
		cli_conflict(KEY_SKEW, KEY_PAIRS);
	check_kind(cli, o);
	if (!o->list)
		return;
	const struct cat_opts *c = &o->cat;
	if (!c->rows.open || !c->cols.open || c->rows.from > 0 || c->cols.from > 0 ||
	    c->transpose || c->pairs || c->skew != SKEW_NONE || cli->common.kind != NULL ||
	    cli->common.to.container != PE_AUTO || cli->common.from.container != PE_AUTO ||
	    cli->common.header_in)
		cli_refuse("--list: takes no other option but -o");
	cli_check_text(cli, false);
	if (cli_operands(cli) != 1)
		cli_refuse("--list: takes one file");
}

static struct opts
parse(struct cli *cli)
{
	static const char *const alongs[] = {"cols", "rows", NULL}, *const skews[] = {
									"full", "causal", NULL};
	struct opts o = {
	    .cat = {.rows.open = true, .cols.open = true, .heads = 1, .picture.zoom = 1}};
	struct cat_opts *c = &o.cat;
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case KEY_ROWS: c->rows = parse_slice(key, arg); break;
		case KEY_COLS: c->cols = parse_slice(key, arg); break;
		case KEY_TRANSPOSE: c->transpose = true; break;
		case KEY_PAIRS:
			c->pairs = true;
			c->to_halves = parse_pairs(key, arg);
			break;
		case 'H':
			o.heads = true;
			c->heads = cli_positive(key, arg);
			break;
		case KEY_ALONG:
			o.along = true;
			c->along_rows = cli_choice(key, arg, alongs) == 1;
			break;
		case KEY_SKEW:
			c->skew = cli_choice(key, arg, skews) == 0 ? SKEW_FULL : SKEW_CAUSAL;
			break;
		case KEY_LIST: o.list = true; break;
		case KEY_RANGE:
			c->ranged = true;
			parse_range(key, arg, &c->picture);
			break;
		case KEY_ZOOM:
			o.zoomed = true;
			c->picture.zoom = parse_zoom(key, arg);
			break;
		case KEY_NAME: c->name = arg; break;
		}
	check(cli, &o);
	return o;
}

int
main(int argc, char **argv)
{
	struct cli cli;

	cli_start(&cli, &command, argc, argv);
	const struct opts o = parse(&cli);
	cli_progress_start(&cli);
	if (o.list)
		cat_list(&cli, cli_operand(&cli, 0));
	else
		cat_matrix(&cli, &o.cat);
	cli_end(&cli);
	return 0;
}
