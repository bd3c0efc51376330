/* safetensors - checkpoints: named tensors behind a JSON header. */
#include "safetensors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "io.h"
#include "rawio.h"

enum { LENGTH = 8, HEADER_MAX = 100000000, NAMES_TOLD = 5 };

/* Types of the format, in bits; those of less than a byte are packed. */
static const struct type {
	const char *name;
	enum pe_elem elem;
	unsigned bits;
} types[] = {
    {"F64", PE_F64, 64},          {"F32", PE_F32, 32},          {"F16", PE_F16, 16},
    {"BF16", PE_BF16, 16},        {"I64", PE_I64, 64},          {"I32", PE_I32, 32},
    {"BOOL", PE_ELEM_NONE, 8},    {"U8", PE_ELEM_NONE, 8},      {"I8", PE_ELEM_NONE, 8},
    {"U16", PE_ELEM_NONE, 16},    {"I16", PE_ELEM_NONE, 16},    {"U32", PE_ELEM_NONE, 32},
    {"U64", PE_ELEM_NONE, 64},    {"C64", PE_ELEM_NONE, 64},    {"F8_E4M3", PE_ELEM_NONE, 8},
    {"F8_E5M2", PE_ELEM_NONE, 8}, {"F8_E8M0", PE_ELEM_NONE, 8}, {"F6_E2M3", PE_ELEM_NONE, 6},
    {"F6_E3M2", PE_ELEM_NONE, 6}, {"F4", PE_ELEM_NONE, 4},
};

static const struct type *
find_type(const char *name)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
}

/* ---- one entry of the header ---- */

static bool
multiply(uint64_t a, uint64_t b, uint64_t *product)
{
	if (a != 0 && b > INT64_MAX / a)
		return false;
	*product = a * b;
	return true;
}

/* A whole number that is not negative, as JSON integers are written: 1.0 and 1e3 are none. */
static bool
get_count(const json_t *value, uint64_t *count)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*count = (uint64_t)json_integer_value(value);
	return true;
}

static int
read_shape(struct pe_tensor *t, const json_t *shape, const char *place, struct pe_error *e)
{
	const struct pe_quoted name = pe_quote(t->name);

	if (!json_is_array(shape))
		return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': no shape", place, name.text);
	t->rank = json_array_size(shape);
	t->shape = calloc(t->rank > 0 ? t->rank : 1, sizeof *t->shape);
	if (t->shape == NULL)
		return pe_fail_memory(e);
	t->elements = 1;
	for (size_t i = 0; i < t->rank; i++) {
		if (!get_count(json_array_get(shape, i), &t->shape[i]))
			return pe_fail(e, PE_FAULT_DATA,
				       "%s: tensor '%s': dimension %zu is no whole number", place,
				       name.text, i);
		if (!multiply(t->elements, t->shape[i], &t->elements))
			return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': shape overflows", place,
				       name.text);
	}
	return 0;
}

static int
read_offsets(struct pe_tensor *t, const json_t *offsets, const char *place, struct pe_error *e)
{
	if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
	    !get_count(json_array_get(offsets, 0), &t->begin) ||
	    !get_count(json_array_get(offsets, 1), &t->end) || t->end < t->begin)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: tensor '%s': data_offsets are no two whole numbers in order",
			       place, pe_quote(t->name).text);
	return 0;
}

static int
check_bytes(const struct pe_tensor *t, unsigned bits, const char *place, struct pe_error *e)
{
	const struct pe_quoted name = pe_quote(t->name);
	uint64_t total;

	if (!multiply(t->elements, bits, &total))
		return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': shape overflows", place,
			       name.text);
	if (total % 8 != 0 || total / 8 != t->end - t->begin)
		return pe_fail(
		    e, PE_FAULT_DATA,
		    "%s: tensor '%s': %llu elements of %s take %llu bytes, data_offsets hold %llu",
		    place, name.text, (unsigned long long)t->elements, t->type,
		    (unsigned long long)((total + 7) / 8), (unsigned long long)(t->end - t->begin));
	return 0;
}

static int
read_tensor(struct pe_tensor *t, const char *name, const json_t *entry, const char *place,
	    struct pe_error *e)
{
	const char *dtype = json_string_value(json_object_get(entry, "dtype"));
	const struct type *type = dtype != NULL ? find_type(dtype) : NULL;

	t->name = strdup(name);
	if (t->name == NULL)
		return pe_fail_memory(e);
	if (dtype == NULL)
		return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': no dtype", place,
			       pe_quote(name).text);
	if (type == NULL)
		return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': unknown dtype: '%s'", place,
			       pe_quote(name).text, pe_quote(dtype).text);
	t->type = type->name;
	t->elem = type->elem;
	if (json_object_size(entry) != 3)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: tensor '%s': keys beside dtype, shape and data_offsets", place,
			       pe_quote(name).text);
	if (read_shape(t, json_object_get(entry, "shape"), place, e) ||
	    read_offsets(t, json_object_get(entry, "data_offsets"), place, e))
		return -1;
	return check_bytes(t, type->bits, place, e);
}

static int
check_metadata(const json_t *metadata, const char *place, struct pe_error *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(metadata))
		return pe_fail(e, PE_FAULT_DATA, "%s: __metadata__ is no object", place);
	json_object_foreach ((json_t *)metadata, key, value)
		if (!json_is_string(value))
			return pe_fail(e, PE_FAULT_DATA, "%s: __metadata__: no text: '%s'", place,
				       pe_quote(key).text);
	return 0;
}

/* ---- the header ---- */

static int
by_data(const void *a, const void *b)
{
	const struct pe_tensor *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* No hole, no overlap, from 0 on. */
static int
check_order(struct pe_checkpoint *c, const char *place, struct pe_error *e)
{
	if (c->count > 0)
		qsort(c->tensors, c->count, sizeof *c->tensors, by_data);
	for (size_t i = 0; i < c->count; i++) {
		const struct pe_tensor *t = &c->tensors[i];

		if (t->begin != c->bytes)
			return pe_fail(
			    e, PE_FAULT_DATA, "%s: tensor '%s': data begin at %llu, %s %llu", place,
			    pe_quote(t->name).text, (unsigned long long)t->begin,
			    t->begin > c->bytes ? "behind a hole from" : "inside data that end at",
			    (unsigned long long)c->bytes);
		c->bytes = t->end;
	}
	return 0;
}

static int
read_entries(struct pe_checkpoint *c, const json_t *root, const char *place, struct pe_error *e)
{
	const char *name;
	json_t *entry;

	c->tensors = calloc(json_object_size(root) + 1, sizeof *c->tensors);
	if (c->tensors == NULL)
		return pe_fail_memory(e);
	json_object_foreach ((json_t *)root, name, entry) {
		if (strcmp(name, "__metadata__") == 0) {
			if (check_metadata(entry, place, e))
				return -1;
			continue;
		}
		if (!json_is_object(entry))
			return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': no object", place,
				       pe_quote(name).text);
		c->count++;
		if (read_tensor(&c->tensors[c->count - 1], name, entry, place, e))
			return -1;
	}
	return check_order(c, place, e);
}

static int
parse_header(struct pe_checkpoint *c, const char *json, size_t size, const char *place,
	     struct pe_error *e)
{
	json_error_t why;
	json_t *root;
	int status;

	if (size == 0 || json[0] != '{')
		return pe_fail(e, PE_FAULT_DATA, "%s: header does not begin with '{'", place);
	root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &why);
	if (root == NULL)
		return pe_fail(e, PE_FAULT_DATA, "%s: header: byte %d: %s", place,
			       why.position + LENGTH, pe_quote(why.text).text);
	status = read_entries(c, root, place, e);
	json_decref(root);
	return status;
}

/* Bytes of the input from the buffer's first on, where it is a regular file. */
static bool
known_size(const struct pe_source *s, uint64_t *size)
{
	const off_t unread = pe_input_size(&s->input);

	if (unread < 0)
		return false;
	*size = (uint64_t)unread + pe_buffer_size(&s->buffer);
	return true;
}

static int
read_length(struct pe_source *s, uint64_t *length, struct pe_error *e)
{
	uint64_t have;

	if (pe_buffer_need(&s->buffer, LENGTH, e))
		return -1;
	if (pe_buffer_size(&s->buffer) < LENGTH)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: ends after %zu of the 8 bytes of its header's length",
			       s->input.name, pe_buffer_size(&s->buffer));
	*length = 0;
	for (int i = LENGTH; i-- > 0;)
		*length = *length << 8 | pe_buffer_bytes(&s->buffer)[i];
	pe_buffer_use(&s->buffer, LENGTH);
	if (*length > HEADER_MAX)
		return pe_fail(e, PE_FAULT_DATA, "%s: header of %llu bytes is longer than %d",
			       s->input.name, (unsigned long long)*length, HEADER_MAX);
	if (known_size(s, &have) && *length > have)
		return pe_fail(
		    e, PE_FAULT_DATA, "%s: header of %llu bytes in a file that has %llu more",
		    s->input.name, (unsigned long long)*length, (unsigned long long)have);
	return 0;
}

static int
check_file(const struct pe_checkpoint *c, const struct pe_source *s, struct pe_error *e)
{
	uint64_t have;

	if (known_size(s, &have) && have != c->bytes)
		return pe_fail(
		    e, PE_FAULT_DATA, "%s: has %llu bytes of data, its header tells of %llu",
		    s->input.name, (unsigned long long)have, (unsigned long long)c->bytes);
	return 0;
}

int
pe_checkpoint_read(struct pe_checkpoint *c, struct pe_source *s, struct pe_error *e)
{
	uint64_t length = 0;

	*c = (struct pe_checkpoint){0};
	if (read_length(s, &length, e) || pe_buffer_need(&s->buffer, (size_t)length, e))
		return -1;
	if (pe_buffer_size(&s->buffer) < length)
		return pe_fail(e, PE_FAULT_DATA, "%s: ends after %zu of %llu bytes of its header",
			       s->input.name, pe_buffer_size(&s->buffer),
			       (unsigned long long)length);
	if (parse_header(c, (const char *)pe_buffer_bytes(&s->buffer), (size_t)length,
			 s->input.name, e))
		return -1;
	pe_buffer_use(&s->buffer, (size_t)length);
	return check_file(c, s, e);
}

void
pe_checkpoint_free(struct pe_checkpoint *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->tensors[i].name);
		free(c->tensors[i].shape);
	}
	free(c->tensors);
	*c = (struct pe_checkpoint){0};
}

/* ---- the tensor that is asked for ---- */

/* Steps that turn one name into the other, each a letter put in, taken out or changed
 * (Levenshtein 1966). */
static size_t
distance(const char *a, const char *b)
{
	enum { LONGEST = 255 };
	const size_t n = strnlen(b, LONGEST);
	size_t row[LONGEST + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			const size_t change = diagonal + (a[i - 1] != b[j - 1]);
			const size_t near = row[j] < row[j - 1] ? row[j] : row[j - 1];

			diagonal = row[j];
			row[j] = change < near + 1 ? change : near + 1;
		}
	}
	return row[n];
}

/* A name that holds the wanted one, or is held by it, is nearer than any that is spelled alike. */
static size_t
farness(const char *name, const char *wanted)
{
	if (wanted == NULL)
		return 0;
	if (strstr(name, wanted) != NULL || strstr(wanted, name) != NULL)
		return 0;
	return 1 + distance(wanted, name);
}

/* The nearest names, nearest first, at most NAMES_TOLD, and how many more there are. */
static void
list_names(const struct pe_checkpoint *c, const char *wanted, char *text, size_t room)
{
	size_t told[NAMES_TOLD], far[NAMES_TOLD], n = 0, used = 0;

	for (size_t i = 0; i < c->count; i++) {
		const size_t f = farness(c->tensors[i].name, wanted);
		size_t at;

		if (n == NAMES_TOLD && f >= far[n - 1])
			continue;
		for (at = n < NAMES_TOLD ? n++ : n - 1; at > 0 && far[at - 1] > f; at--) {
			far[at] = far[at - 1];
			told[at] = told[at - 1];
		}
		far[at] = f;
		told[at] = i;
	}
	text[0] = '\0';
	for (size_t k = 0; k < n && used < room; k++)
		used += (size_t)snprintf(text + used, room - used, "%s'%s'", k > 0 ? ", " : "",
					 pe_quote(c->tensors[told[k]].name).text);
	if (c->count > n && used < room)
		(void)snprintf(text + used, room - used, " and %zu more", c->count - n);
}

static const struct pe_tensor *
find_tensor(const struct pe_checkpoint *c, const struct pe_source *s, struct pe_error *e)
{
	char names[512];

	if (c->count == 0) {
		(void)pe_fail(e, PE_FAULT_DATA, "%s: holds no tensor", s->input.name);
		return NULL;
	}
	if (s->tensor == NULL && c->count == 1)
		return &c->tensors[0];
	for (size_t i = 0; s->tensor != NULL && i < c->count; i++)
		if (strcmp(c->tensors[i].name, s->tensor) == 0)
			return &c->tensors[i];
	list_names(c, s->tensor, names, sizeof names);
	if (s->tensor == NULL)
		(void)pe_fail(e, PE_FAULT_DATA,
			      "%s: holds several tensors, name one as FILE:TENSOR: %s",
			      s->input.name, names);
	else
		(void)pe_fail(e, PE_FAULT_DATA, "%s: no tensor '%s', there are: %s", s->input.name,
			      pe_quote(s->tensor).text, names);
	return NULL;
}

static int
describe(const struct pe_tensor *t, const struct pe_source *s, struct pe_raw_block *block,
	 struct pe_error *e)
{
	if (t->elem == PE_ELEM_NONE)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: tensor '%s': %s is not read, only F64 F32 F16 BF16 I64 I32",
			       s->input.name, pe_quote(t->name).text, t->type);
	const uint64_t cols = t->rank == 0 ? 1 : t->shape[t->rank - 1];
	if (cols == 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: tensor '%s': has no columns", s->input.name,
			       pe_quote(t->name).text);
	*block = (struct pe_raw_block){
	    .elem = t->elem,
	    .counted = true,
	    .rows = t->elements / cols,
	    .cols = (size_t)cols,
	};
	return 0;
}

static int
open_tensor(struct pe_source *s, const struct pe_checkpoint *c, struct pe_error *e)
{
	const struct pe_tensor *t = find_tensor(c, s, e);
	struct pe_raw_block block;

	if (t == NULL || describe(t, s, &block, e))
		return -1;
	block.behind = c->bytes - t->end;
	const int64_t skipped = pe_buffer_skip(&s->buffer, t->begin, e);
	if (skipped < 0)
		return -1;
	if ((uint64_t)skipped < t->begin)
		return pe_fail(e, PE_FAULT_DATA, "%s: ends before the data of the tensor '%s'",
			       s->input.name, pe_quote(t->name).text);
	return pe_raw_begin(s, &block, e);
}

static int
safetensors_open(struct pe_source *s, struct pe_error *e)
{
	struct pe_checkpoint c;
	int failed = pe_checkpoint_read(&c, s, e);

	if (!failed)
		failed = open_tensor(s, &c, e);
	pe_checkpoint_free(&c);
	return failed;
}

const struct pe_backend pe_safetensors_backend = {safetensors_open, pe_raw_read, pe_raw_holds_row,
						  pe_raw_close};

/* ---- lists ---- */

static int
check_to_end(struct pe_source *s, const struct pe_checkpoint *c, struct pe_error *e)
{
	const int64_t skipped = pe_buffer_skip(&s->buffer, c->bytes, e);

	if (skipped < 0 || pe_buffer_need(&s->buffer, 1, e))
		return -1;
	if ((uint64_t)skipped != c->bytes || pe_buffer_size(&s->buffer) > 0)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: has %s than the %llu bytes of data its header tells of",
			       s->input.name, (uint64_t)skipped < c->bytes ? "less" : "more",
			       (unsigned long long)c->bytes);
	return 0;
}

int
pe_checkpoint_open(struct pe_checkpoint *c, const char *path, struct pe_error *e)
{
	struct pe_source s = {0};

	*c = (struct pe_checkpoint){0};
	if (pe_input_open(&s.input, path, e))
		return -1;
	pe_buffer_init(&s.buffer, &s.input);
	int failed = pe_checkpoint_read(c, &s, e);
	if (!failed)
		failed = check_to_end(&s, c, e);
	pe_buffer_free(&s.buffer);
	if (failed)
		(void)pe_input_close(&s.input, &(struct pe_error){0});
	else
		failed = pe_input_close(&s.input, e);
	return failed;
}

/* ---- writing ---- */

/* The name as a JSON string, allocated by jansson. */
static char *
quoted_name(const char *name)
{
	json_t *string = json_string(name);
	char *text = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	json_decref(string);
	return text;
}

char *
pe_safetensors_header(const char *name, enum pe_elem elem, uint64_t rows, size_t cols, size_t *size)
{
	static const char shape[] =
	    "{%s:{\"dtype\":\"%s\",\"shape\":[%llu,%zu],\"data_offsets\":[0,%llu]}}";
	enum { NUMBERS = 3 * 20, ALIGNMENT = 8 };
	char *text = quoted_name(name), *header = NULL;
	size_t i = 0;

	while (types[i].elem != elem)
		i++;
	if (text != NULL) {
		/* Room for any count, so that it can be put in when it is known. */
		const size_t room = strlen(text) + sizeof shape + NUMBERS;
		*size = (LENGTH + room + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		header = malloc(*size + 1);
	}
	if (header != NULL) {
		const size_t length = *size - LENGTH;
		const uint64_t bytes = rows * cols * pe_elem_size(elem);
		int used = snprintf(header + LENGTH, length + 1, shape, text, types[i].name,
				    (unsigned long long)rows, cols, (unsigned long long)bytes);

		memset(header + LENGTH + used, ' ', length - (size_t)used);
		for (int k = 0; k < LENGTH; k++)
			header[k] = (char)((uint64_t)length >> 8 * k & 0xff);
	}
	free(text);
	return header;
}
