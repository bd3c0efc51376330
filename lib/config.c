/* config - what a model's own config.json says about its rotary embedding. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "io.h"
#include "num.h"

enum { FILE_MAX = 64 * 1024 * 1024, SECTIONS_MAX = 255 };

/* The file as objects, in the order in which keys are looked for; NULL ends them. */
struct source {
	const char *name;
	json_t *objects[3]; /* text_config, the root */
	json_t *params; /* rope_parameters or rope_scaling of the layer kind; NULL: plain RoPE */
	const char *within; /* its name, for messages */
	struct pe_error *e;
};

/* Values that a model's class supplies where its file is silent. */
static const struct {
	const char *model_type;
	double base, local_base;
	size_t head_dim;
} classes[] = {
    {"gemma3", 1e6, 1e4, 256},
    {"gemma3_text", 1e6, 1e4, 256},
};

/* ---- the file ---- */

static int
read_all(struct pe_input *in, char **text, size_t *size, struct pe_error *e)
{
	size_t room = 0;

	*text = NULL;
	*size = 0;
	for (;;) {
		if (*size == room) {
			if (room >= FILE_MAX)
				return pe_fail(e, PE_FAULT_DATA, "%s: longer than 64 MiB",
					       in->name);
			room = room == 0 ? 16 * 1024 : room * 2;
			char *wider = realloc(*text, room);
			if (wider == NULL)
				return pe_fail_memory(e);
			*text = wider;
		}
		const ssize_t n = pe_input_read(in, *text + *size, room - *size, e);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		*size += (size_t)n;
	}
}

static int
parse(const char *name, const char *text, size_t size, json_t **root, struct pe_error *e)
{
	json_error_t fault;

	*root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
	if (*root == NULL)
		return pe_fail(e, PE_FAULT_DATA, "%s:%d: column %d: no JSON: %s", name, fault.line,
			       fault.column, pe_quote(fault.text).text);
	if (!json_is_object(*root))
		return pe_fail(e, PE_FAULT_DATA, "%s: no JSON object", name);
	return 0;
}

static int
load(struct pe_config *c, const char *path, json_t **root, struct pe_error *e)
{
	struct pe_input in;
	char *text;
	size_t size;

	if (pe_input_open(&in, path, e))
		return -1;
	c->name = strdup(in.name);
	int status = c->name == NULL ? pe_fail_memory(e) : 0;
	if (status == 0) {
		status = read_all(&in, &text, &size, e);
		if (status == 0)
			status = parse(c->name, text, size, root, e);
		free(text);
	}
	struct pe_error second;
	if (pe_input_close(&in, status == 0 ? e : &second))
		status = -1;
	return status;
}

/* ---- values ---- */

static json_t *
present(json_t *object, const char *key)
{
	json_t *value = object != NULL ? json_object_get(object, key) : NULL;

	return value == NULL || json_is_null(value) ? NULL : value;
}

static json_t *
find(const struct source *s, const char *key)
{
	for (size_t i = 0; s->objects[i] != NULL; i++) {
		json_t *value = present(s->objects[i], key);
		if (value != NULL)
			return value;
	}
	return NULL;
}

static int
number(const struct source *s, const char *key, const json_t *value, double *to)
{
	if (json_is_boolean(value) && strcmp(key, "truncate") == 0) {
		*to = json_is_true(value);
		return 0;
	}
	if (!json_is_number(value))
		return pe_fail(s->e, PE_FAULT_DATA, "%s: %s: not a number", s->name, key);
	*to = json_number_value(value);
	return 0;
}

/* The number under the first of the keys that is there; *to stays where none is. */
static int
find_number(const struct source *s, const char *const *keys, double *to)
{
	for (; *keys != NULL; keys++) {
		const json_t *value = find(s, *keys);
		if (value != NULL)
			return number(s, *keys, value, to);
	}
	return 0;
}

static int
find_count(const struct source *s, const char *const *keys, size_t *to)
{
	double value = 0;

	if (find_number(s, keys, &value))
		return -1;
	if (value == 0)
		return 0;
	if (!(value > 0) || value != floor(value) || value > (double)PE_COUNT_MAX)
		return pe_fail(s->e, PE_FAULT_DATA, "%s: %s: must be a positive integer: '%.15g'",
			       s->name, keys[0], value);
	*to = (size_t)value;
	return 0;
}

static int
numbers(const struct source *s, const char *key, const json_t *array, double **to, size_t *count)
{
	if (!json_is_array(array) || json_array_size(array) == 0)
		return pe_fail(s->e, PE_FAULT_DATA, "%s: %s: not an array of numbers", s->name,
			       key);
	*count = json_array_size(array);
	*to = calloc(*count, sizeof **to);
	if (*to == NULL)
		return pe_fail_memory(s->e);
	for (size_t i = 0; i < *count; i++)
		if (number(s, key, json_array_get(array, i), *to + i))
			return -1;
	return 0;
}

/* ---- kinds of layers ---- */

static bool
holds_objects(json_t *object)
{
	const char *key;
	json_t *value;

	if (json_object_size(object) == 0)
		return false;
	json_object_foreach (object, key, value)
		if (!json_is_object(value))
			return false;
	return true;
}

static int
refuse_kind(const struct source *s, json_t *kinds, const char *wanted)
{
	char list[512] = "";
	size_t used = 0;
	const char *key;
	json_t *value;

	json_object_foreach (kinds, key, value)
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
						 used > 0 ? ", " : "", pe_quote(key).text);
	if (wanted == NULL)
		return pe_fail(s->e, PE_FAULT_ARGUMENT,
			       "%s: parameters differ by layer kind (--layer-kind): one of %s",
			       s->name, list);
	return pe_fail(s->e, PE_FAULT_ARGUMENT, "%s: layer kinds are %s: '%s'", s->name, list,
		       pe_quote(wanted).text);
}

static bool
lists_kind(const struct source *s, const char *kind)
{
	json_t *types = find(s, "layer_types"), *value;
	size_t i;

	json_array_foreach (types, i, value)
		if (json_is_string(value) && strcmp(json_string_value(value), kind) == 0)
			return true;
	return false;
}

/* Older files of models with two bases: the parameters stand for the layers of full attention,
 * and those of the sliding window turn by a base of their own, unscaled. */
static int
choose_by_base(struct source *s, const char *kind)
{
	json_t *kinds = json_pack("{s:{},s:{}}", "full_attention", "sliding_attention");
	int status = 0;

	if (kinds == NULL)
		return pe_fail_memory(s->e);
	if (kind == NULL || json_object_get(kinds, kind) == NULL)
		status = refuse_kind(s, kinds, kind);
	json_decref(kinds);
	if (status == 0 && strcmp(kind, "sliding_attention") == 0)
		s->params = NULL;
	return status;
}

/* Finds the parameters that are in force, of the layer kind where there are several. */
static int
choose(struct source *s, const char *kind, bool two_bases)
{
	s->within = "rope_parameters";
	s->params = find(s, s->within);
	if (s->params == NULL) {
		s->within = "rope_scaling";
		s->params = find(s, s->within);
	}
	if (s->params != NULL && !json_is_object(s->params))
		return pe_fail(s->e, PE_FAULT_DATA, "%s: %s: not an object", s->name, s->within);
	if (s->params != NULL && holds_objects(s->params)) {
		json_t *one = kind != NULL ? json_object_get(s->params, kind) : NULL;
		if (one == NULL)
			return refuse_kind(s, s->params, kind);
		s->params = one;
		return 0;
	}
	if (two_bases)
		return choose_by_base(s, kind);
	if (kind != NULL && !lists_kind(s, kind))
		return pe_fail(s->e, PE_FAULT_ARGUMENT, "%s: has no layer kinds: '%s'", s->name,
			       pe_quote(kind).text);
	return 0;
}

/* ---- base and sizes ---- */

static int
read_base(const struct source *s, const char *kind, double base, double local_base,
	  struct pe_config *c)
{
	static const char *const local[] = {"rope_local_base_freq", "local_rope_theta", NULL};
	static const char *const global[] = {"rope_theta", "global_rope_theta", "rotary_emb_base",
					     NULL};
	const json_t *own = present(s->params, "rope_theta");
	const bool sliding = kind != NULL && strcmp(kind, "sliding_attention") == 0;

	c->base = 0;
	if (own != NULL && number(s, "rope_theta", own, &c->base))
		return -1;
	if (own == NULL && sliding) {
		c->base = local_base;
		if (find_number(s, local, &c->base))
			return -1;
	}
	if (own == NULL && c->base == 0) {
		c->base = base;
		if (find_number(s, global, &c->base))
			return -1;
	}
	if (!(c->base > 0) || !isfinite(c->base))
		return pe_fail(s->e, PE_FAULT_DATA, "%s: rope_theta: must be positive: '%.15g'",
			       s->name, c->base);
	return 0;
}

static int
read_head_dim(const struct source *s, const char *kind, struct pe_config *c)
{
	static const char *const global[] = {"global_head_dim", "head_dim", NULL};
	static const char *const plain[] = {"head_dim", "qk_rope_head_dim", NULL};
	static const char *const width[] = {"hidden_size", "n_embd", "d_model", NULL};
	static const char *const heads[] = {"num_attention_heads", "n_head", "num_heads", NULL};
	const bool full = kind != NULL && strcmp(kind, "full_attention") == 0;
	const size_t of_class = c->head_dim;
	size_t columns = 0, count = 0;

	c->head_dim = 0;
	if (find_count(s, full ? global : plain, &c->head_dim))
		return -1;
	if (c->head_dim != 0)
		return 0;
	c->head_dim = of_class;
	if (c->head_dim != 0)
		return 0;
	if (find_count(s, width, &columns) || find_count(s, heads, &count))
		return -1;
	if (count == 0)
		return 0;
	if (columns % count != 0)
		return pe_fail(s->e, PE_FAULT_DATA,
			       "%s: hidden_size: no multiple of num_attention_heads %zu: '%zu'",
			       s->name, count, columns);
	c->head_dim = columns / count;
	return 0;
}

static int
read_share(const struct source *s, struct pe_config *c)
{
	static const char *const shares[] = {"partial_rotary_factor", "rotary_pct", "rope_pct",
					     NULL};
	static const char *const columns[] = {"rotary_dim", NULL};
	const json_t *own = present(s->params, "partial_rotary_factor");

	c->share = 1;
	if (own != NULL ? number(s, "partial_rotary_factor", own, &c->share)
			: find_number(s, shares, &c->share))
		return -1;
	if (!(c->share > 0) || c->share > 1)
		return pe_fail(s->e, PE_FAULT_DATA,
			       "%s: partial_rotary_factor: must be above 0, at most 1: '%.15g'",
			       s->name, c->share);
	return find_count(s, columns, &c->rotary_dim);
}

size_t
pe_config_rotary_dim(const struct pe_config *c, size_t head_dim)
{
	if (c->rotary_dim != 0)
		return c->rotary_dim;
	if (c->proportional)
		return 2 * (size_t)floor(c->share * (double)head_dim / 2);
	return (size_t)floor(c->share * (double)head_dim);
}

/* ---- scaling ---- */

/* "su" and "mrope" are older names: of longrope, and of plain RoPE with sections. */
static int
read_kind(const struct source *s, struct pe_config *c)
{
	enum pe_scaling_kind kind = PE_SCALING_NONE;
	const json_t *named = present(s->params, "rope_type");

	if (named == NULL)
		named = present(s->params, "type");
	const char *name = json_is_string(named) ? json_string_value(named) : "default";
	if (named != NULL && !json_is_string(named))
		return pe_fail(s->e, PE_FAULT_DATA, "%s: %s: rope_type: not a string", s->name,
			       s->within);
	c->proportional = strcmp(name, "proportional") == 0;
	if (strcmp(name, "su") == 0)
		kind = PE_SCALING_LONGROPE;
	else if (c->proportional)
		kind = present(s->params, "factor") != NULL ? PE_SCALING_LINEAR : PE_SCALING_NONE;
	else if (strcmp(name, "default") != 0 && strcmp(name, "mrope") != 0 &&
		 !pe_scaling_find(name, strlen(name), &kind))
		return pe_fail(s->e, PE_FAULT_DATA,
			       "%s: %s: unknown rope_type, not one of default, " PE_SCALING_NAMES
			       ", su, mrope, proportional: '%s'",
			       s->name, s->within, pe_quote(name).text);
	c->scaling = pe_scaling_make(kind);
	return 0;
}

/* Where the parameters do not hold a key: the trained length may stand beside them, or be the
 * only length there is; a length is always the model's own. llama3 must say its trained length,
 * for its files raise the other. */
static const json_t *
beside(const struct source *s, const struct pe_scaling_key *key, enum pe_scaling_kind kind)
{
	const json_t *value = NULL;

	if (strcmp(key->name, "original") == 0) {
		value = find(s, key->json);
		if (value == NULL && kind != PE_SCALING_LLAMA3)
			value = find(s, "max_position_embeddings");
	} else if (strcmp(key->name, "length") == 0) {
		value = find(s, key->json);
	}
	return value;
}

/* A file without a factor means the ratio of its two lengths (Phi-3). */
static int
derive_factor(const struct source *s, struct pe_config *c)
{
	static const char *const lengths[] = {"max_position_embeddings", NULL};
	struct pe_scaling *scaling = &c->scaling;
	double length = 0;

	if (pe_scaling_has(scaling, pe_scaling_key("factor")) ||
	    !pe_scaling_has(scaling, pe_scaling_key("original")) || scaling->original == 0 ||
	    (scaling->kind != PE_SCALING_YARN && scaling->kind != PE_SCALING_LONGROPE))
		return 0;
	if (find_number(s, lengths, &length))
		return -1;
	if (length == 0)
		return 0;
	return pe_scaling_set(scaling, s->name, pe_scaling_key("factor"),
			      length / scaling->original, s->e);
}

static int
read_keys(const struct source *s, struct pe_config *c)
{
	const bool attention = present(s->params, "attention_factor") != NULL;

	for (const struct pe_scaling_key *key = pe_scaling_keys(); key->name != NULL; key++) {
		const json_t *value = present(s->params, key->json);
		double v;

		if (!(key->kinds >> c->scaling.kind & 1))
			continue;
		/* the attention factor is what the two weights would have given */
		if (attention && strncmp(key->name, "mscale", 6) == 0)
			continue;
		if (value == NULL)
			value = beside(s, key, c->scaling.kind);
		if (value == NULL)
			continue;
		if (number(s, key->json, value, &v) ||
		    pe_scaling_set(&c->scaling, s->name, key, v, s->e))
			return -1;
	}
	return derive_factor(s, c);
}

static int
read_lists(const struct source *s, struct pe_config *c)
{
	static const char *const keys[PE_CONFIG_LISTS] = {"short_factor", "long_factor"};
	static const char *const weights[PE_CONFIG_LISTS] = {"short_mscale", "long_mscale"};

	if (c->scaling.kind != PE_SCALING_LONGROPE)
		return 0;
	for (int i = 0; i < PE_CONFIG_LISTS; i++) {
		const json_t *array = present(s->params, keys[i]);
		const json_t *weight = present(s->params, weights[i]);

		if (array == NULL)
			return pe_fail(s->e, PE_FAULT_DATA, "%s: %s: longrope needs %s", s->name,
				       s->within, keys[i]);
		if (numbers(s, keys[i], array, &c->lists[i].divisors, &c->lists[i].count))
			return -1;
		for (size_t k = 0; k < c->lists[i].count; k++)
			if (!(c->lists[i].divisors[k] > 0))
				return pe_fail(s->e, PE_FAULT_DATA,
					       "%s: %s: must be positive: '%.15g'", s->name,
					       keys[i], c->lists[i].divisors[k]);
		if (weight != NULL && number(s, weights[i], weight, &c->lists[i].attention))
			return -1;
	}
	return 0;
}

static int
read_sections(const struct source *s, struct pe_config *c)
{
	json_t *array = present(s->params, "mrope_section");

	if (array == NULL)
		return 0;
	c->alternating = json_is_true(present(s->params, "mrope_interleaved"));
	c->section_count = json_array_size(array);
	if (c->section_count == 0 || c->section_count > SECTIONS_MAX)
		return pe_fail(s->e, PE_FAULT_DATA, "%s: mrope_section: not an array of counts",
			       s->name);
	c->sections = calloc(c->section_count, sizeof *c->sections);
	if (c->sections == NULL)
		return pe_fail_memory(s->e);
	for (size_t i = 0; i < c->section_count; i++) {
		const json_t *value = json_array_get(array, i);
		const json_int_t count = json_integer_value(value);
		if (!json_is_integer(value) || count < 0 || (uint64_t)count > PE_COUNT_MAX)
			return pe_fail(s->e, PE_FAULT_DATA,
				       "%s: mrope_section: not an array of counts", s->name);
		c->sections[i] = (size_t)count;
	}
	return 0;
}

/* ---- all of it ---- */

static int
read_root(struct pe_config *c, json_t *root, const char *kind, struct pe_error *e)
{
	struct source s = {.name = c->name, .objects = {root}, .e = e};
	json_t *text = present(root, "text_config");
	double base = 10000, local_base = 0;

	if (json_is_object(text)) {
		s.objects[0] = text;
		s.objects[1] = root;
	}
	const json_t *type = find(&s, "model_type");
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		if (json_is_string(type) &&
		    strcmp(json_string_value(type), classes[i].model_type) == 0) {
			base = classes[i].base;
			local_base = classes[i].local_base;
			c->head_dim = classes[i].head_dim;
		}
	const bool two_bases = local_base != 0 || find(&s, "rope_local_base_freq") != NULL ||
			       find(&s, "local_rope_theta") != NULL;
	if (choose(&s, kind, two_bases) || read_base(&s, kind, base, local_base, c) ||
	    read_head_dim(&s, kind, c) || read_share(&s, c) || read_kind(&s, c) ||
	    read_keys(&s, c) || read_lists(&s, c) || read_sections(&s, c))
		return -1;
	return 0;
}

int
pe_config_read(struct pe_config *c, const char *path, const char *layer_kind, struct pe_error *e)
{
	json_t *root = NULL;
	int status;

	*c = (struct pe_config){0};
	status = load(c, path, &root, e);
	if (status == 0)
		status = read_root(c, root, layer_kind, e);
	json_decref(root);
	if (status)
		pe_config_free(c);
	return status;
}

void
pe_config_free(struct pe_config *c)
{
	for (int i = 0; i < PE_CONFIG_LISTS; i++)
		free(c->lists[i].divisors);
	free(c->sections);
	free(c->name);
	*c = (struct pe_config){0};
}
