/* cli_convention - the option group that says which convention a table of sinusoids follows. */
#include "cli_convention.h"
#include "cli_values.h"

#include <string.h>

static enum pe_layout
layout(int key, const char *arg)
{
	static const char *const names[] = {"interleaved", "halves", "adjacent", NULL};

	return cli_choice(key, arg, names) == 1 ? PE_LAYOUT_HALVES : PE_LAYOUT_INTERLEAVED;
}

static enum pe_odd
odd(int key, const char *arg)
{
	static const char *const names[] = {"drop", "zero", "error", NULL};
	static const enum pe_odd values[] = {PE_ODD_DROP, PE_ODD_ZERO, PE_ODD_ERROR};

	return values[cli_choice(key, arg, names)];
}

static enum pe_grid_order
grid_order(int key, const char *arg)
{
	static const char *const names[] = {"hw", "wh", NULL};

	return cli_choice(key, arg, names) == 1 ? PE_GRID_WH : PE_GRID_HW;
}

void
cli_round(int key, const char *arg, enum pe_elem *freq, enum pe_elem *angle)
{
	const char *rest = arg;

	*freq = *angle = PE_ELEM_NONE;
	for (;;) {
		const size_t length = strcspn(rest, ",");
		const size_t what = strcspn(rest, ":,");
		enum pe_elem *to = what == 4 && memcmp(rest, "freq", 4) == 0    ? freq
				   : what == 5 && memcmp(rest, "angle", 5) == 0 ? angle
										: NULL;
		const enum pe_elem elem =
		    what < length ? pe_elem_find(rest + what + 1, length - what - 1) : PE_ELEM_NONE;

		if (to == NULL || elem == PE_ELEM_NONE || pe_elem_is_integer(elem))
			cli_refuse("%s: must be freq:E, angle:E or both with a comma, E one of "
				   "f64, f32, f16, bf16: '%s'",
				   cli_spelling(key), pe_quote(arg).text);
		*to = elem;
		if (rest[length] == '\0')
			return;
		rest += length + 1;
	}
}

/* One option's word into the convention; false where it is none of the group, or the preset. */
static bool
apply(struct pe_convention *c, int key, const char *arg)
{
	switch (key) {
	case 'b': c->base = cli_positive_number(key, arg); return true;
	case 'g':
		c->gain = cli_number(key, arg);
		c->gain_root = false;
		return true;
	case CLI_LAYOUT: c->layout = layout(key, arg); return true;
	case CLI_FLIP:
	case CLI_NO_FLIP: c->flip = key == CLI_FLIP; return true;
	case CLI_FREQ_SHIFT: c->freq_shift = cli_number(key, arg); return true;
	case CLI_POS_SCALE: c->pos_scale = cli_number(key, arg); return true;
	case CLI_ODD: c->odd = odd(key, arg); return true;
	case CLI_ROUND: cli_round(key, arg, &c->round_freq, &c->round_angle); return true;
	case CLI_GRID_ORDER: c->grid_order = grid_order(key, arg); return true;
	case CLI_GRID_START: c->grid_start = cli_position(key, arg); return true;
	case CLI_GRID_NORMALIZE:
	case CLI_NO_GRID_NORMALIZE: c->grid_normalize = key == CLI_GRID_NORMALIZE; return true;
	default: return false;
	}
}

/* An option and its opposite are one word: the last of them holds. */
static size_t
slot(int key)
{
	switch (key) {
	case 'b': return 0;
	case 'g': return 1;
	case CLI_NO_FLIP: return slot(CLI_FLIP);
	case CLI_NO_GRID_NORMALIZE: return slot(CLI_GRID_NORMALIZE);
	default: return (size_t)(key - CLI_LAYOUT) + 2;
	}
}

bool
cli_convention_option(struct cli_convention *c, int key, const char *arg)
{
	struct pe_convention scratch;

	if (key == CLI_PRESET)
		(void)cli_choice(key, arg, pe_convention_presets());
	else if (!apply(&scratch, key, arg))
		return false;
	c->words[slot(key)] = (struct cli_convention_word){.key = key, .arg = arg};
	return true;
}

struct pe_convention
cli_convention_finish(const struct cli_convention *c)
{
	const struct cli_convention_word *preset = &c->words[slot(CLI_PRESET)];
	struct pe_convention whole = PE_CONVENTION_PAPER;

	if (preset->key != 0)
		(void)pe_convention_preset(preset->arg, &whole);
	for (size_t i = 0; i < sizeof c->words / sizeof c->words[0]; i++)
		(void)apply(&whole, c->words[i].key, c->words[i].arg);
	return whole;
}

const char *const *
cli_convention_names(struct cli *cli, const struct pe_convention *c, size_t dim, bool grid)
{
	static const char *const line[] = {""}, *const hw[] = {"h", "w"}, *const wh[] = {"w", "h"};
	const size_t groups = grid ? 2 : 1;
	const char *const *prefixes = !grid ? line : c->grid_order == PE_GRID_HW ? hw : wh;
	struct pe_columns columns;
	struct pe_error e;

	if (!cli->common.header_out)
		return NULL;
	if (pe_convention_columns(c, dim / groups, &columns, &e))
		cli_die(&e);
	cli->header = pe_convention_names(&columns, prefixes, groups);
	if (cli->header == NULL)
		cli_fail("out of memory");
	return (const char *const *)cli->header;
}
