/* rope_options - the option group that says which rotary embedding. */
#include "rope_options.h"
#include "cli_rows.h"
#include "cli_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"

static double
xpos_base(int key, const char *arg)
{
	const double base = cli_positive_number(key, arg);

	if (base < 1)
		cli_refuse("%s: must be at least 1: '%s'", cli_spelling(key), arg);
	return base;
}

bool
rope_option(struct rope_options *o, int key, const char *arg)
{
	static const char *const pairings[] = {"interleaved", "halves", "adjacent", NULL};
	const struct rope_keys *k = o->keys;

	if (key == k->base)
		o->base = cli_positive_number(key, arg);
	else if (key == k->pairs)
		o->pairing =
		    cli_choice(key, arg, pairings) == 1 ? PE_PAIR_HALVES : PE_PAIR_INTERLEAVED;
	else if (key == k->rotary_dim)
		o->rotary_dim = cli_positive(key, arg);
	else if (key == k->freq_dim)
		o->freq_dim = cli_positive(key, arg);
	else if (key == k->scaling)
		o->scaling = arg;
	else if (key == k->config)
		o->config = arg;
	else if (key == k->layer_kind)
		o->layer_kind = arg;
	else if (key == k->xpos_base)
		o->xpos_base = xpos_base(key, arg);
	else
		return false;
	if (key == k->rotary_dim && o->rotary_dim % 2 != 0)
		cli_refuse("%s: must be even: '%s'", cli_spelling(key), arg);
	return true;
}

/* ---- KIND:KEY=V,... ---- */

/* One KEY=V: where its parts begin and end. */
struct item {
	const char *key, *value, *end;
};

static struct item
split_item(const char *place, const char *text)
{
	const struct item item = {
	    .key = text,
	    .value = text + strcspn(text, "=,"),
	    .end = text + strcspn(text, ","),
	};

	if (*item.value != '=')
		cli_refuse("%s: not KEY=VALUE: '%s'", place,
			   pe_quote_bytes(text, (size_t)(item.end - text)).text);
	return item;
}

static bool
is_key(const struct item *item, const char *name)
{
	const size_t length = (size_t)(item->value - item->key);

	return strlen(name) == length && memcmp(item->key, name, length) == 0;
}

/* A string of its own for an item's value; lives as long as the command. */
static char *
value_of(const struct item *item)
{
	const size_t length = (size_t)(item->end - item->value) - 1;
	char *text = malloc(length + 1);

	if (text == NULL)
		cli_fail("out of memory");
	memcpy(text, item->value + 1, length);
	text[length] = '\0';
	return text;
}

static _Noreturn void
refuse_key(const struct rope_setup *s, const struct item *item)
{
	const enum pe_scaling_kind kind = s->scaling.kind;
	char list[256];
	size_t used = 0;

	list[0] = '\0';
	for (const struct pe_scaling_key *k = pe_scaling_keys(); k->name != NULL; k++)
		if (k->kinds >> kind & 1)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
						 used > 0 ? ", " : "", k->name);
	cli_refuse("%s: %s takes %s%s: '%s'", s->place, pe_scaling_name(kind), list,
		   kind == PE_SCALING_LONGROPE ? ", factors, list" : "",
		   pe_quote_bytes(item->key, (size_t)(item->value - item->key)).text);
}

static void
set_text(const struct rope_setup *s, char **to, const struct item *item)
{
	if (*to != NULL)
		cli_refuse("%s: %.*s is given twice", s->place, (int)(item->value - item->key),
			   item->key);
	*to = value_of(item);
}

static void
set_number(struct rope_setup *s, const struct item *item)
{
	const struct pe_scaling_key *key = pe_scaling_keys();
	struct pe_error e;
	char place[96];
	double value;

	while (key->name != NULL && !(is_key(item, key->name) && key->kinds >> s->scaling.kind & 1))
		key++;
	if (key->name == NULL)
		refuse_key(s, item);
	char *text = value_of(item);
	(void)snprintf(place, sizeof place, "%s: %s", s->place, key->name);
	if (pe_num_double(place, text, &value, &e) ||
	    pe_scaling_set(&s->scaling, s->place, key, value, &e))
		cli_die(&e);
	free(text);
}

static void
parse_scaling(struct rope_setup *s, const char *text)
{
	const size_t length = strcspn(text, ":");
	enum pe_scaling_kind kind;

	if (!pe_scaling_find(text, length, &kind))
		cli_refuse("%s: must be one of " PE_SCALING_NAMES ": '%s'", s->place,
			   pe_quote_bytes(text, length).text);
	s->scaling = pe_scaling_make(kind);
	for (const char *rest = text + length; *rest != '\0';) { /* at the colon, then at a comma */
		const struct item item = split_item(s->place, rest + 1);

		if (kind == PE_SCALING_LONGROPE && is_key(&item, "factors"))
			set_text(s, &s->factors_path, &item);
		else if (kind == PE_SCALING_LONGROPE && is_key(&item, "list"))
			set_text(s, &s->list, &item);
		else
			set_number(s, &item);
		rest = item.end;
	}
}

/* ---- what is in force ---- */

/* The line's scaling, with what it leaves out taken from the file's where both are of a kind. */
static void
lay_over(struct pe_scaling *line, const struct pe_scaling *file)
{
	struct pe_error e;

	if (line->kind != file->kind)
		return;
	for (const struct pe_scaling_key *k = pe_scaling_keys(); k->name != NULL; k++) {
		double value;

		if (pe_scaling_has(line, k) || !pe_scaling_has(file, k))
			continue;
		memcpy(&value, (const char *)file + k->offset, sizeof value);
		if (pe_scaling_set(line, "", k, value, &e))
			cli_die(&e);
	}
}

/* Is the scaling, as it stands, config.json's word alone? */
static bool
from_config(const struct rope_setup *s)
{
	return s->config.name != NULL && s->options->scaling == NULL;
}

static double
base_of(const struct rope_setup *s)
{
	const double base = s->options->base;

	return base != 0 ? base : s->config.name != NULL ? s->config.base : 10000;
}

static int
check_scaling(const struct rope_setup *s, const struct pe_freq *freq, struct pe_error *e)
{
	const int status = pe_scaling_check(&s->scaling, freq, s->place, from_config(s), e);

	if (status && from_config(s))
		e->fault = PE_FAULT_DATA;
	return status;
}

/* Which of longrope's lists: the one named, else by the length against the trained one. */
static int
choose_list(struct rope_setup *s, struct pe_error *e)
{
	const struct pe_scaling_key *length = pe_scaling_key("length");

	if (s->list == NULL) {
		if (!pe_scaling_has(&s->scaling, length))
			return pe_fail(e, PE_FAULT_ARGUMENT, "%s: longrope needs list or length",
				       s->place);
		s->list_in_force =
		    s->scaling.length > s->scaling.original ? PE_CONFIG_LONG : PE_CONFIG_SHORT;
		return 0;
	}
	if (s->length_on_line)
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: length has no effect beside list",
			       s->place);
	if (strcmp(s->list, "short") != 0 && strcmp(s->list, "long") != 0)
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: list must be short or long: '%s'",
			       s->place, pe_quote(s->list).text);
	s->list_in_force = strcmp(s->list, "long") == 0 ? PE_CONFIG_LONG : PE_CONFIG_SHORT;
	return 0;
}

/* What can be said before the head size is known: a bad line is then refused before any input is
 * read. */
static void
check_early(struct rope_setup *s)
{
	const struct rope_options *o = s->options;
	const size_t dim = o->freq_dim != 0 ? o->freq_dim : o->rotary_dim;
	const struct pe_freq freq = {
	    .base = base_of(s), .half = dim != 0 ? (double)dim / 2 : 2, /* enough for every kind */
	};
	struct pe_error e;

	if (check_scaling(s, &freq, &e))
		cli_die(&e);
	if (s->scaling.kind != PE_SCALING_LONGROPE)
		return;
	if (choose_list(s, &e))
		cli_die(&e);
	if (s->factors_path == NULL && s->config.lists[s->list_in_force].divisors == NULL)
		cli_refuse("%s: longrope needs factors", s->place);
}

static void
read_config(struct rope_setup *s, struct cli *cli, const struct rope_options *o)
{
	struct pe_error e;

	if (pe_config_read(&s->config, cli_side_table(cli, o->config, 0).path, o->layer_kind, &e))
		cli_die(&e);
	if (o->scaling != NULL) {
		lay_over(&s->scaling, &s->config.scaling);
		return;
	}
	s->scaling = s->config.scaling;
	s->place = s->config.name;
}

void
rope_setup(struct rope_setup *s, struct cli *cli, const struct rope_options *o)
{
	*s = (struct rope_setup){
	    .options = o,
	    .scaling = pe_scaling_make(PE_SCALING_NONE),
	    .place = cli_spelling(o->keys->scaling),
	};
	if (o->layer_kind != NULL && o->config == NULL)
		cli_refuse("%s: has no effect without %s", cli_spelling(o->keys->layer_kind),
			   cli_spelling(o->keys->config));
	if (o->scaling != NULL)
		parse_scaling(s, o->scaling);
	if (s->factors_path != NULL)
		s->factors_in = cli_side_table(cli, s->factors_path, 0);
	s->length_on_line = pe_scaling_has(&s->scaling, pe_scaling_key("length"));
	if (o->config != NULL)
		read_config(s, cli, o);
	check_early(s);
}

void
rope_setup_free(struct rope_setup *s)
{
	pe_config_free(&s->config);
	pe_matrix_free(&s->factors);
	free(s->factors_path);
	free(s->list);
}

size_t
rope_head_dim(const struct rope_setup *s)
{
	return s->config.head_dim;
}

static int
read_factors(struct rope_setup *s, size_t pairs, struct pe_error *e)
{
	struct pe_reader_spec spec = s->factors_in;

	spec.cols = pairs;
	spec.carrier = PE_F64;
	if (pe_matrix_read(&s->factors, &spec, e))
		return -1;
	if (s->factors.rows != 2)
		return pe_fail(e, PE_FAULT_DATA, "%s: longrope has a short and a long row, not %zu",
			       pe_quote_path(s->factors_path).text, s->factors.rows);
	for (size_t i = 0; i < 2 * pairs; i++)
		if (!(pe_matrix_f64(&s->factors)[i] > 0))
			return pe_fail(e, PE_FAULT_DATA,
				       "%s: row %zu, column %zu: must be positive: '%.15g'",
				       pe_quote_path(s->factors_path).text, i / pairs,
				       i % pairs + 1, pe_matrix_f64(&s->factors)[i]);
	return 0;
}

static int
take_divisors(struct rope_setup *s, size_t pairs, struct pe_error *e)
{
	const int list = s->list_in_force;

	if (s->factors_path != NULL) {
		if (read_factors(s, pairs, e))
			return -1;
		s->scaling.divisors = pe_matrix_f64(&s->factors) + (size_t)list * pairs;
		return 0;
	}
	if (s->config.lists[list].count != pairs)
		return pe_fail(e, PE_FAULT_DATA, "%s: %s_factor: %zu numbers for %zu pairs",
			       s->config.name, list == PE_CONFIG_LONG ? "long" : "short",
			       s->config.lists[list].count, pairs);
	s->scaling.divisors = s->config.lists[list].divisors;
	if (s->scaling.attention == 0)
		s->scaling.attention = s->config.lists[list].attention;
	return 0;
}

static int
rotary_dim(const struct rope_setup *s, const char *place, enum pe_fault fault, size_t head_dim,
	   size_t *dim, struct pe_error *e)
{
	const struct rope_options *o = s->options;
	const bool by_config = o->rotary_dim == 0 && s->config.name != NULL;

	*dim = o->rotary_dim != 0 ? o->rotary_dim
	       : by_config        ? pe_config_rotary_dim(&s->config, head_dim)
				  : head_dim;
	if (*dim > head_dim)
		return pe_fail(e, by_config ? PE_FAULT_DATA : PE_FAULT_ARGUMENT,
			       "%s: beyond the %zu columns of a head: '%zu'",
			       by_config ? s->config.name : cli_spelling(o->keys->rotary_dim),
			       head_dim, *dim);
	if (*dim == head_dim && *dim % 2 != 0)
		return pe_fail(e, fault, "%s: must be even: '%zu'", place, *dim);
	if (*dim % 2 != 0 || *dim == 0)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: of %zu columns an even number must rotate: '%zu'",
			       s->config.name, head_dim, *dim);
	return 0;
}

int
rope_spec(struct rope_setup *s, const char *place, enum pe_fault fault, size_t head_dim,
	  struct pe_rope_spec *spec, struct pe_error *e)
{
	const struct rope_options *o = s->options;
	const bool proportional = s->config.proportional;
	size_t rotary;

	if (rotary_dim(s, place, fault, head_dim, &rotary, e))
		return -1;
	const size_t freq_dim = o->freq_dim != 0 ? o->freq_dim : proportional ? head_dim : rotary;
	const struct pe_freq freq = {
	    .pairs = rotary / 2,
	    .base = base_of(s),
	    .half = (double)freq_dim / 2,
	};
	if (check_scaling(s, &freq, e))
		return -1;
	if (s->scaling.kind == PE_SCALING_LONGROPE && take_divisors(s, freq.pairs, e))
		return -1;
	*spec = (struct pe_rope_spec){
	    .head_dim = head_dim,
	    .rotary_dim = rotary,
	    .reach = proportional ? head_dim / 2 : 0,
	    .pairing = o->pairing,
	    .freq = freq,
	    .scaling = s->scaling,
	    .axes = 1,
	    .xpos = {.role = o->xpos,
		     .base = o->xpos_base != 0 ? o->xpos_base : 512,
		     .centre = o->xpos_centre},
	};
	return 0;
}
