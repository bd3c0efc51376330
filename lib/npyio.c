/* npyio - NumPy's array files, format versions 1.0 to 3.0. */
#include "npyio.h"

#include <stdio.h>
#include <string.h>

#include "num.h"
#include "rawio.h"

enum { HEADER_MAX = 65536 }; /* bytes; numpy's own limit is 10000 */

static const struct {
	enum pe_elem elem;
	char code[3];
} types[] = {{PE_F64, "f8"}, {PE_F32, "f4"}, {PE_F16, "f2"}, {PE_I64, "i8"}, {PE_I32, "i4"}};
enum { TYPES = sizeof types / sizeof types[0] };

static const char *
type_code(enum pe_elem elem)
{
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].elem == elem)
			return types[i].code;
	return NULL;
}

/* ---- the dict literal ---- */

struct cursor {
	const char *at, *end;
	const char *file;
	struct pe_error *e;
};

static int
fail_header(const struct cursor *c, const char *what)
{
	return pe_fail(c->e, PE_FAULT_DATA, "%s: npy header: %s", c->file, what);
}

static void
skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'))
		c->at++;
}

/* Takes the byte if it is the next one that is no blank. */
static bool
take(struct cursor *c, char byte)
{
	skip_blanks(c);
	if (c->at >= c->end || *c->at != byte)
		return false;
	c->at++;
	return true;
}

static bool
take_word(struct cursor *c, const char *word)
{
	const size_t length = strlen(word);

	skip_blanks(c);
	if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
		return false;
	c->at += length;
	return true;
}

/* A string in single or double quotes; nothing numpy writes here needs an escape. */
static bool
take_string(struct cursor *c, const char **text, size_t *length)
{
	skip_blanks(c);
	if (c->at >= c->end || (*c->at != '\'' && *c->at != '"'))
		return false;
	const char quote = *c->at++;
	const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
	if (close == NULL || memchr(c->at, '\\', (size_t)(close - c->at)) != NULL)
		return false;
	*text = c->at;
	*length = (size_t)(close - c->at);
	c->at = close + 1;
	return true;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
take_size(struct cursor *c, uint64_t *value)
{
	skip_blanks(c);
	if (c->at >= c->end || !is_digit(*c->at))
		return false;
	if (*c->at == '0' && c->end - c->at > 1 && is_digit(c->at[1]))
		return false;
	for (*value = 0; c->at < c->end && is_digit(*c->at); c->at++) {
		const uint64_t digit = (uint64_t)(*c->at - '0');
		if (*value > (UINT64_MAX - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return true;
}

struct header {
	bool has_descr, has_order, has_shape;
	struct pe_raw_block block;
	size_t rank;
	uint64_t dims[PE_RAW_RANK_MAX];
};

static int
parse_descr(struct cursor *c, struct header *h)
{
	const char *text;
	size_t length;

	if (!take_string(c, &text, &length))
		return fail_header(
		    c, "descr is no plain type: only arrays of f2 f4 f8 i4 i8 are read");
	h->block.big_endian = length > 0 && text[0] == '>';
	if (length == 3 && (text[0] == '<' || text[0] == '>'))
		for (size_t i = 0; i < TYPES; i++)
			if (memcmp(text + 1, types[i].code, 2) == 0)
				h->block.elem = types[i].elem;
	if (h->block.elem == PE_ELEM_NONE)
		return pe_fail(c->e, PE_FAULT_DATA,
			       "%s: npy header: type is not one of f2 f4 f8 i4 i8: '%s'", c->file,
			       pe_quote_bytes(text, length).text);
	return 0;
}

static int
parse_order(struct cursor *c, struct header *h)
{
	if (take_word(c, "True"))
		h->block.column_major = true;
	else if (!take_word(c, "False"))
		return fail_header(c, "fortran_order is neither True nor False");
	return 0;
}

static int
parse_shape(struct cursor *c, struct header *h)
{
	bool comma = true;

	if (!take(c, '('))
		return fail_header(c, "shape is no tuple");
	while (!take(c, ')')) {
		if (!comma || h->rank == PE_RAW_RANK_MAX || !take_size(c, &h->dims[h->rank]))
			return fail_header(c, "shape is no tuple of sizes");
		h->rank++;
		comma = take(c, ',');
	}
	if (h->rank == 1 && !comma) /* (3) is a number in Python */
		return fail_header(c, "shape is no tuple of sizes");
	return 0;
}

static int
parse_item(struct cursor *c, struct header *h)
{
	static const struct {
		const char *key;
		int (*parse)(struct cursor *, struct header *);
	} items[] = {
	    {"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};
	bool *const seen[] = {&h->has_descr, &h->has_order, &h->has_shape};
	const char *key;
	size_t length;

	if (!take_string(c, &key, &length) || !take(c, ':'))
		return fail_header(c, "not a dict of keys and values");
	for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
		if (strlen(items[i].key) != length || memcmp(items[i].key, key, length) != 0)
			continue;
		if (*seen[i])
			return pe_fail(c->e, PE_FAULT_DATA, "%s: npy header: key given twice: '%s'",
				       c->file, items[i].key);
		*seen[i] = true;
		return items[i].parse(c, h);
	}
	return pe_fail(c->e, PE_FAULT_DATA, "%s: npy header: unknown key: '%s'", c->file,
		       pe_quote_bytes(key, length).text);
}

static int
parse_dict(struct cursor *c, struct header *h)
{
	bool comma = true;

	if (!take(c, '{'))
		return fail_header(c, "not a dict of keys and values");
	while (!take(c, '}')) {
		if (!comma)
			return fail_header(c, "not a dict of keys and values");
		if (parse_item(c, h))
			return -1;
		comma = take(c, ',');
	}
	skip_blanks(c);
	if (c->at != c->end)
		return fail_header(c, "something follows the dict");
	if (!h->has_descr || !h->has_order || !h->has_shape)
		return pe_fail(c->e, PE_FAULT_DATA, "%s: npy header: key is missing: '%s'", c->file,
			       !h->has_descr   ? "descr"
			       : !h->has_order ? "fortran_order"
					       : "shape");
	return 0;
}

/* Rows and columns of the shape. */
static int
flatten(const struct cursor *c, struct header *h)
{
	uint64_t rows = 1, cols = h->rank > 0 ? h->dims[h->rank - 1] : 1;

	for (size_t k = 0; k + 1 < h->rank; k++) {
		if (h->dims[k] != 0 && rows > UINT64_MAX / h->dims[k])
			return fail_header(c, "shape overflows");
		rows *= h->dims[k];
	}
	if (cols > SIZE_MAX)
		return fail_header(c, "shape overflows");
	h->block.rows = rows;
	h->block.cols = (size_t)cols;
	h->block.counted = true;
	/* one row, or one column, lies the same in both orders */
	h->block.column_major = h->block.column_major && h->rank > 1;
	h->block.leading = h->rank > 0 ? h->rank - 1 : 0;
	memcpy(h->block.dims, h->dims, sizeof h->block.dims);
	return 0;
}

/* ---- the file ---- */

/* Bytes before the dict and of the dict, from the first 10 or 12 bytes. */
static int
measure(struct pe_source *s, size_t *before, size_t *length, struct pe_error *e)
{
	const unsigned char *b;

	if (pe_buffer_need(&s->buffer, 12, e))
		return -1;
	b = pe_buffer_bytes(&s->buffer);
	if (pe_buffer_size(&s->buffer) == 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: empty input (was it also the output?)",
			       s->input.name);
	if (pe_buffer_size(&s->buffer) < 12 || memcmp(b, PE_NPY_MAGIC, PE_NPY_MAGIC_SIZE) != 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: not an npy file", s->input.name);
	if (b[6] < 1 || b[6] > 3 || b[7] != 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: npy version is not 1.0, 2.0 or 3.0: '%d.%d'",
			       s->input.name, b[6], b[7]);
	*before = b[6] == 1 ? 10 : 12;
	*length = b[8] | (size_t)b[9] << 8;
	if (b[6] > 1)
		*length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
	if (*length > HEADER_MAX)
		return pe_fail(e, PE_FAULT_DATA, "%s: npy header: more than %d bytes: '%zu'",
			       s->input.name, HEADER_MAX, *length);
	return 0;
}

static int
npy_open(struct pe_source *s, struct pe_error *e)
{
	struct header h = {0};
	size_t before = 0, length = 0;

	if (measure(s, &before, &length, e) || pe_buffer_need(&s->buffer, before + length, e))
		return -1;
	if (pe_buffer_size(&s->buffer) < before + length)
		return pe_fail(e, PE_FAULT_DATA, "%s: npy header: ends after %zu of %zu bytes",
			       s->input.name, pe_buffer_size(&s->buffer) - before, length);
	const char *text = (const char *)pe_buffer_bytes(&s->buffer) + before;
	struct cursor c = {.at = text, .end = text + length, .file = s->input.name, .e = e};
	if (parse_dict(&c, &h) || flatten(&c, &h))
		return -1;
	if (s->rows_optional && h.rank == 1 && h.block.cols == 0) { /* a list without an item */
		h.block.rows = 0;
		h.block.cols = 1;
	}
	pe_buffer_use(&s->buffer, before + length);
	return pe_raw_begin(s, &h.block, e);
}

const struct pe_backend pe_npy_backend = {npy_open, pe_raw_read, pe_raw_holds_row, pe_raw_close};

/* ---- writing ---- */

bool
pe_npy_has(enum pe_elem elem)
{
	return type_code(elem) != NULL;
}

void
pe_npy_header(char header[PE_NPY_HEADER], enum pe_elem elem, uint64_t rows, size_t cols)
{
	enum { BEFORE = 10, LENGTH = PE_NPY_HEADER - BEFORE };
	char dict[PE_NPY_HEADER + 1];

	const int used = snprintf(
	    dict, sizeof dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%llu, %zu), }",
	    pe_raw_swapped(false) ? '>' : '<', type_code(elem), (unsigned long long)rows, cols);
	memcpy(header, PE_NPY_MAGIC "\1\0", 8);
	header[8] = LENGTH;
	header[9] = 0;
	memset(header + BEFORE, ' ', LENGTH);
	memcpy(header + BEFORE, dict, (size_t)used);
	header[PE_NPY_HEADER - 1] = '\n';
}
