/* csvio - rows as text: separated by commas, tabs or blanks. */
#include "csvio.h"

#include <csv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "num.h"

struct csv {
	uint64_t line;    /* number of the line taken last, from 1 */
	bool after_cr;    /* that line ended with CR: an LF that follows belongs to it */
	uint64_t lf_at;   /* offset in the input of the next LF, */
	bool lf_found;    /* or, where it is not found, up to which there is none */
	uint64_t cr_free; /* offset up to which the line begun has no CR */
	bool any_row;     /* a row was read: a fault is no line of names any more */
	size_t row_bytes; /* of the last plain row, without its line end */

	enum pe_elem direct; /* f64, f32 or i64: what digits are converted to */
	void *first;         /* a row of the carrier, until it is handed out */
	bool holds_first;
	void *values, *as; /* where the carrier is another: a row of direct, one of s->elem */

	struct csv_parser parser; /* libcsv's */
	bool has_parser;
	char *blanks; /* txt: the line with blanks for tabs */
	size_t blanks_room;
};

/* ---- faults ---- */

static int fail_at(const struct pe_source *s, size_t column, struct pe_error *e, const char *format,
		   ...) PE_PRINTF(4, 5);

static int
fail_at(const struct pe_source *s, size_t column, struct pe_error *e, const char *format, ...)
{
	const struct csv *csv = s->state;
	char what[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return pe_fail(e, PE_FAULT_DATA, "%s: line %llu, column %zu: %s", s->input.name,
		       (unsigned long long)csv->line, column, what);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What a user may have meant by a field that is no number; "" if nothing comes to mind. */
static const char *
hint(const struct pe_source *s, const char *field, size_t size)
{
	const struct csv *csv = s->state;
	static const char quoted[] = " (one field, being quoted; decimals take a point)";
	static const struct {
		char byte;
		const char *text;
	} meant[] = {
	    {'#', " (a comment takes a line of its own)"},
	    {';', " (semicolons? put commas between numbers, points within)"},
	    {',', " (comma separated? use --from csv)"},
	    {'\t', " (tab separated? use --from tsv)"},
	    {' ', " (blank separated? use --from txt)"},
	};

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)field[i] < 0x20 && !is_blank(field[i]))
			return " (not text? name its format with --from)";
	for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
		if (size > 0 && field[0] < 'A' && memchr(field, meant[i].byte, size) != NULL)
			return meant[i].byte != s->separator ? meant[i].text : quoted;
	return csv->any_row || s->header ? "" : " (a line of names? use --header-in)";
}

/* ---- physical lines ---- */

static void
trim(const char **text, size_t *size)
{
	while (*size > 0 && is_blank(**text)) {
		++*text;
		--*size;
	}
	while (*size > 0 && is_blank((*text)[*size - 1]))
		--*size;
}

/* The next LF in the buffer. Its place is kept: lines may end with CR alone, and a search
 * through the whole buffer for each of them would be quadratic. */
static const char *
find_lf(struct csv *csv, const struct pe_buffer *b)
{
	const char *bytes = (const char *)pe_buffer_bytes(b);

	if (csv->lf_at < b->offset) {
		csv->lf_at = b->offset;
		csv->lf_found = false;
	}
	if (!csv->lf_found) {
		const char *from = bytes + (csv->lf_at - b->offset);
		const char *end = bytes + pe_buffer_size(b);
		const char *lf = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
		csv->lf_found = lf != NULL;
		csv->lf_at = b->offset + (uint64_t)((lf != NULL ? lf : end) - bytes);
	}
	return csv->lf_found ? bytes + (csv->lf_at - b->offset) : NULL;
}

/* Where the line that the buffer begins with ends: at its LF or CR, or with the input; NULL if
 * that is not here yet. */
static const char *
find_end(struct csv *csv, const struct pe_buffer *b)
{
	const char *bytes = (const char *)pe_buffer_bytes(b), *end = bytes + pe_buffer_size(b);
	const char *lf = find_lf(csv, b), *stop = lf != NULL ? lf : end;
	const char *from =
	    bytes + (csv->cr_free > b->offset ? (size_t)(csv->cr_free - b->offset) : 0);
	const char *cr = from < stop ? memchr(from, '\r', (size_t)(stop - from)) : NULL;

	csv->cr_free = b->offset + (uint64_t)((cr != NULL ? cr : stop) - bytes);
	if (cr != NULL)
		return cr;
	return lf != NULL || (b->ended && end > bytes) ? stop : NULL;
}

static void
skip_lf_of_crlf(struct csv *csv, struct pe_buffer *b)
{
	if (!csv->after_cr || pe_buffer_size(b) == 0)
		return;
	csv->after_cr = false;
	if (*pe_buffer_bytes(b) == '\n')
		pe_buffer_use(b, 1);
}

struct line {
	const char *text, *end;
};

/* The next line, if it is here whole. It stays where it is until the buffer is filled again. */
static bool
take_line(struct pe_source *s, struct line *line)
{
	struct csv *csv = s->state;
	struct pe_buffer *b = &s->buffer;

	skip_lf_of_crlf(csv, b);
	const char *end = find_end(csv, b);
	if (end == NULL)
		return false;
	line->text = (const char *)pe_buffer_bytes(b);
	line->end = end;
	const bool terminated = end < line->text + pe_buffer_size(b);
	csv->after_cr = terminated && *end == '\r';
	csv->line++;
	pe_buffer_use(b, (size_t)(end - line->text) + terminated);
	return true;
}

static bool
is_separator(const struct pe_source *s, char c)
{
	return c == s->separator || (s->separator == ' ' && c == '\t');
}

/* A line may be of any length, a field may not: without this a stream with no newline in it, or
 * a quote that never closes, would be read to its end. */
static int
check_field(struct pe_source *s, struct pe_error *e)
{
	struct csv *csv = s->state;
	const char *bytes = (const char *)pe_buffer_bytes(&s->buffer);
	const size_t size = pe_buffer_size(&s->buffer);
	size_t field = 0, column = 1;

	while (field < size && field <= PE_CSV_FIELD_MAX &&
	       !is_separator(s, bytes[size - 1 - field]))
		field++;
	if (field <= PE_CSV_FIELD_MAX)
		return 0;
	for (size_t i = 0; i + field < size; i++)
		column += is_separator(s, bytes[i]);
	csv->line++;
	return fail_at(s, column, e, "a field of more than %zu bytes (a quote that never closes?)",
		       PE_CSV_FIELD_MAX);
}

/* Lines that hold no row: blank ones and comments. */
static bool
is_skipped(const struct pe_source *s, const struct line *line)
{
	const char *p = line->text;

	if (p < line->end && *p == '#')
		return true;
	while (p < line->end && is_blank(*p) && (*p != s->separator || s->separator == ' '))
		p++;
	return p == line->end;
}

/* The next line that may be a row: 1, or 0 at the end, -1 on failure; without `wait` 0 as well
 * where no whole line is here. */
static int
next_line(struct pe_source *s, struct line *line, bool wait, struct pe_error *e)
{
	for (;;) {
		if (take_line(s, line)) {
			if (!is_skipped(s, line))
				return 1;
			continue;
		}
		if (!wait || s->buffer.ended)
			return 0;
		if (pe_buffer_fill(&s->buffer, e) < 0 || check_field(s, e))
			return -1;
	}
}

/* ---- a line through libcsv ---- */

/* What becomes of the fields of a line. The first fault is kept until the line's end, where it
 * is known whether the field was the last. */
struct fields {
	const struct pe_source *s;
	void *row;    /* values to be stored; NULL: none */
	char **names; /* names to be stored; NULL: none */
	size_t count;
	size_t wrong; /* column of the first fault, 0: none */
	char what[448];
	bool memory;
};

static bool read_value(enum pe_elem direct, const char *text, const char *end, void *row, size_t i,
		       const char **behind);
static void explain(struct fields *f, const char *text, size_t size);

static void
on_value(struct fields *f, const char *text, size_t size)
{
	const struct csv *csv = f->s->state;
	const char *behind;

	trim(&text, &size);
	if (f->wrong != 0 || (f->count > f->s->cols && size > 0))
		return;
	if (size == 0 ||
	    !read_value(csv->direct, text, text + size, f->row, f->count - 1, &behind) ||
	    behind != text + size)
		explain(f, text, size);
}

static void
on_name(struct fields *f, const char *text, size_t size)
{
	if (f->count > f->s->cols)
		return;
	char *name = malloc(size + 1);
	if (name == NULL) {
		f->memory = true;
		return;
	}
	memcpy(name, text, size);
	name[size] = '\0';
	f->names[f->count - 1] = name;
}

/* libcsv's callbacks return nothing and may come after a fault. */
static void
on_field(void *field, size_t size, void *context)
{
	struct fields *f = context;

	if (field == NULL) { /* empty and not quoted: between two blanks of a txt line nothing */
		if (f->s->separator == ' ')
			return;
		field = (void *)"";
	}
	f->count++;
	if (f->row != NULL)
		on_value(f, field, size);
	else if (f->names != NULL)
		on_name(f, field, size);
}

static void
on_row(int terminator, void *context)
{
	(void)terminator;
	(void)context;
}

static int
no_blank(unsigned char c)
{
	(void)c;
	return 0;
}

static void *
grow_field(void *old, size_t size)
{
	enum { BLOCK = 128 }; /* libcsv asks for so much more than the field has */

	return size <= PE_CSV_FIELD_MAX + BLOCK ? realloc(old, size) : NULL;
}

static int
init_parser(const struct pe_source *s, struct csv *csv, struct pe_error *e)
{
	if (csv_init(&csv->parser,
		     CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL | CSV_EMPTY_IS_NULL) != 0)
		return pe_fail_memory(e);
	csv->has_parser = true;
	csv_set_delim(&csv->parser, (unsigned char)s->separator);
	csv_set_realloc_func(&csv->parser, grow_field);
	if (s->separator == ' ')
		csv_set_space_func(&csv->parser, no_blank);
	return 0;
}

/* libcsv knows one separator: in a txt line tabs become blanks. */
static int
blank_tabs(struct csv *csv, struct line *line, struct pe_error *e)
{
	const size_t size = (size_t)(line->end - line->text);

	if (size > csv->blanks_room) {
		char *room = realloc(csv->blanks, size);
		if (room == NULL)
			return pe_fail_memory(e);
		csv->blanks = room;
		csv->blanks_room = size;
	}
	for (size_t i = 0; i < size; i++)
		csv->blanks[i] = line->text[i] == '\t' ? ' ' : line->text[i];
	*line = (struct line){csv->blanks, csv->blanks + size};
	return 0;
}

/* libcsv has one word for a field that is too long for grow_field and for no memory. */
static int
fail_parse(const struct fields *f, struct csv_parser *parser, struct pe_error *e)
{
	const int error = csv_error(parser);

	if (error == CSV_ENOMEM && csv_get_buffer_size(parser) < PE_CSV_FIELD_MAX)
		return pe_fail_memory(e);
	if (error == CSV_ENOMEM || error == CSV_ETOOBIG)
		return fail_at(f->s, f->count + 1, e, "a field of more than %zu bytes",
			       PE_CSV_FIELD_MAX);
	return fail_at(f->s, f->count + 1, e, "text beside a quoted field");
}

/* Splits the line into fields. After a fault csv_fini would still deliver the broken row: it is
 * not called then. */
static int
split(struct pe_source *s, struct line line, struct fields *f, struct pe_error *e)
{
	struct csv *csv = s->state;

	if (!csv->has_parser && init_parser(s, csv, e))
		return -1;
	if (s->separator == ' ' && blank_tabs(csv, &line, e))
		return -1;
	const size_t size = (size_t)(line.end - line.text);
	if (memchr(line.text, '\0', size) != NULL) { /* libcsv would pass it on */
		size_t column = 1;
		for (const char *p = line.text; *p != '\0'; p++)
			column += is_separator(s, *p);
		return fail_at(s, column, e, "NUL byte (not text? name its format with --from)");
	}
	if (csv_parse(&csv->parser, line.text, size, on_field, on_row, f) != size)
		return fail_parse(f, &csv->parser, e);
	if (csv_fini(&csv->parser, on_field, on_row, f) != 0)
		return fail_at(s, f->count + 1, e, "quote is not closed");
	return f->memory ? pe_fail_memory(e) : 0;
}

static int
check_count(const struct pe_source *s, size_t count, struct pe_error *e)
{
	if (count == s->cols)
		return 0;
	return fail_at(s, (count < s->cols ? count : s->cols) + 1, e,
		       "row has %zu column%s, %zu %s due", count, count == 1 ? "" : "s", s->cols,
		       s->cols == 1 ? "is" : "are");
}

/* ---- values ---- */

/* One field: false if it does not begin with a number of the type. */
typedef bool read_field(const char *text, const char *end, void *row, size_t i,
			const char **behind);

static bool
read_f64(const char *text, const char *end, void *row, size_t i, const char **behind)
{
	return pe_decimal_read_f64(text, end, (double *)row + i, behind) == PE_DECIMAL_OK;
}

static bool
read_f32(const char *text, const char *end, void *row, size_t i, const char **behind)
{
	return pe_decimal_read_f32(text, end, (float *)row + i, behind) == PE_DECIMAL_OK;
}

static bool
read_i64(const char *text, const char *end, void *row, size_t i, const char **behind)
{
	return pe_decimal_read_i64(text, end, (int64_t *)row + i, behind) == PE_DECIMAL_OK;
}

static bool
read_value(enum pe_elem direct, const char *text, const char *end, void *row, size_t i,
	   const char **behind)
{
	read_field *const read = direct == PE_F32   ? read_f32
				 : direct == PE_I64 ? read_i64
						    : read_f64;

	return read(text, end, row, i, behind);
}

static enum pe_elem
direct_element(const struct pe_source *s)
{
	const enum pe_elem elem = s->elem != PE_ELEM_NONE ? s->elem : s->carrier;

	if (pe_elem_is_integer(elem))
		return PE_I64;
	return elem == PE_F32 ? PE_F32 : PE_F64;
}

/* The same text, asked again why it is no value. */
static enum pe_decimal
reason(enum pe_elem direct, const char *text, const char *end, const char **behind)
{
	union {
		double f64;
		float f32;
		int64_t i64;
	} value;

	switch (direct) {
	case PE_F32: return pe_decimal_read_f32(text, end, &value.f32, behind);
	case PE_I64: return pe_decimal_read_i64(text, end, &value.i64, behind);
	default: return pe_decimal_read_f64(text, end, &value.f64, behind);
	}
}

static void
explain(struct fields *f, const char *text, size_t size)
{
	const struct csv *csv = f->s->state;
	const char *const end = text + size, *behind = text;
	enum pe_decimal why = PE_DECIMAL_NONE;
	double value;

	f->wrong = f->count;
	if (size == 0) {
		(void)snprintf(f->what, sizeof f->what, "empty field");
		return;
	}
	why = reason(csv->direct, text, end, &behind);
	if (why == PE_DECIMAL_OVERFLOW && behind == end)
		(void)snprintf(f->what, sizeof f->what, "overflows %s: '%s'",
			       pe_elem_name(csv->direct), pe_quote_bytes(text, size).text);
	else if (csv->direct == PE_I64 &&
		 pe_decimal_read_f64(text, end, &value, &behind) != PE_DECIMAL_NONE &&
		 behind == end)
		(void)snprintf(f->what, sizeof f->what, "not an integer: '%s'",
			       pe_quote_bytes(text, size).text);
	else
		(void)snprintf(f->what, sizeof f->what, "not a number: '%s'%s",
			       pe_quote_bytes(text, size).text, hint(f->s, text, size));
}

/* A row that is no plain list of numbers. */
static int
read_odd_row(struct pe_source *s, struct line line, void *row, struct pe_error *e)
{
	struct fields f = {.s = s, .row = row};

	if (split(s, line, &f, e))
		return -1;
	if (f.wrong == 0)
		return check_count(s, f.count, e);
	const bool trailing =
	    f.wrong == f.count && f.count > 1 && strcmp(f.what, "empty field") == 0;
	return fail_at(s, f.wrong, e, "%s%s", f.what,
		       !trailing              ? ""
		       : s->separator == ','  ? " (trailing comma?)"
		       : s->separator == '\t' ? " (trailing tab?)"
					      : "");
}

static inline const char *
skip_blanks(const char *p, const char *end, char separator)
{
	while (p < end && (*p == ' ' || (*p == '\t' && separator != '\t')))
		p++;
	return p;
}

/* Several fields that hold nothing but numbers, from p on; how many. */
typedef size_t read_fields(const char *begin, const char *p, const char *limit, char separator,
			   void *row, size_t i, size_t n, const char **behind);

static size_t
read_fields_f64(const char *begin, const char *p, const char *limit, char separator, void *row,
		size_t i, size_t n, const char **behind)
{
	return pe_decimal_read_row_f64(begin, p, limit, separator, (double *)row + i, n, behind);
}

static size_t
read_fields_f32(const char *begin, const char *p, const char *limit, char separator, void *row,
		size_t i, size_t n, const char **behind)
{
	return pe_decimal_read_row_f32(begin, p, limit, separator, (float *)row + i, n, behind);
}

/* A row of bare numbers from p on: where it ends, at `limit` or at a line end; NULL if it is
 * anything else. Inlined into the three below, so that no field costs a choice or an indirect
 * call. */
static inline const char *
plain_row(const struct pe_source *s, const char *p, const char *limit, void *row, read_field *read,
	  read_fields *read_several)
{
	enum { SEVERAL = 4 }; /* where fewer came, more are not tried in this row */
	const char separator = s->separator, *const begin = (const char *)s->buffer.data;
	const size_t cols = s->cols;
	const char *behind;
	bool tries = read_several != NULL && cols > 1;

	for (size_t i = 0;;) {
		size_t got = 0;
		if (tries) {
			got = read_several(begin, p, limit, separator, row, i, cols - i, &behind);
			tries = got >= SEVERAL;
		}
		if (got == 0) {
			p = skip_blanks(p, limit, separator);
			if (!read(p, limit, row, i, &behind))
				return NULL;
			got = 1;
		}
		p = skip_blanks(behind, limit, separator);
		i += got;
		if (i == cols)
			return p == limit || *p == '\n' || *p == '\r' ? p : NULL;
		if (p == limit || (separator == ' ' ? p == behind : *p++ != separator))
			return NULL;
	}
}

static const char *
read_plain_row(const struct pe_source *s, const char *p, const char *limit, void *row)
{
	const struct csv *csv = s->state;

	switch (csv->direct) {
	case PE_F32: return plain_row(s, p, limit, row, read_f32, read_fields_f32);
	case PE_I64: return plain_row(s, p, limit, row, read_i64, NULL);
	default: return plain_row(s, p, limit, row, read_f64, read_fields_f64);
	}
}

/* Takes a plain row that the buffer begins with, without looking for its end first. A buffer
 * that ends within the row is left to next_line, and not even tried where it is shorter than the
 * row before. */
static bool
take_plain_row(struct pe_source *s, void *row)
{
	struct csv *csv = s->state;

	skip_lf_of_crlf(csv, &s->buffer);
	const size_t size = pe_buffer_size(&s->buffer);
	if (size <= csv->row_bytes)
		return false;
	const char *text = (const char *)pe_buffer_bytes(&s->buffer);
	const char *end = read_plain_row(s, text, text + size, row);
	if (end == NULL || end == text + size)
		return false;
	csv->row_bytes = (size_t)(end - text);
	csv->after_cr = *end == '\r';
	csv->line++;
	pe_buffer_use(&s->buffer, csv->row_bytes + 1);
	return true;
}

static int
convert_row(struct pe_source *s, enum pe_elem to, void *dst, enum pe_elem from, const void *src,
	    struct pe_error *e)
{
	const struct csv *csv = s->state;
	const size_t fit = pe_elem_convert(to, dst, from, src, s->cols);
	char place[512];

	if (fit == s->cols)
		return 0;
	(void)snprintf(place, sizeof place, "%s: line %llu, column %zu", s->input.name,
		       (unsigned long long)csv->line, fit + 1);
	return pe_convert_fail(place, to, from, src, fit, e);
}

static int
read_line(struct pe_source *s, struct line line, void *row, struct pe_error *e)
{
	if (read_plain_row(s, line.text, line.end, row) == line.end)
		return 0;
	return read_odd_row(s, line, row, e);
}

/* Where digits are converted to: the row itself, or a place on the way to the carrier. */
static void *
values_for(const struct pe_source *s, void *row)
{
	const struct csv *csv = s->state;

	return csv->values != NULL ? csv->values : row;
}

static int
complete_row(struct pe_source *s, void *row, struct pe_error *e)
{
	struct csv *csv = s->state;

	csv->any_row = true;
	if (csv->values == NULL)
		return 0;
	if (convert_row(s, s->elem, csv->as, csv->direct, csv->values, e))
		return -1;
	return convert_row(s, s->carrier, row, s->elem, csv->as, e);
}

/* The next row, of the carrier: 1, 0 or -1 as next_line. */
static int
next_row(struct pe_source *s, void *row, bool wait, struct pe_error *e)
{
	struct line line;

	if (!take_plain_row(s, values_for(s, row))) {
		const int got = next_line(s, &line, wait, e);
		if (got <= 0)
			return got;
		if (read_line(s, line, values_for(s, row), e))
			return -1;
	}
	return complete_row(s, row, e) ? -1 : 1;
}

/* ---- open, read, close ---- */

static int
refuse_binary(const struct pe_source *s, struct pe_error *e)
{
	static const struct {
		const char *magic;
		size_t size;
		const char *what;
	} kinds[] = {
	    {"\xff\xfe", 2, "UTF-16 text: convert it to UTF-8"},
	    {"\xfe\xff", 2, "UTF-16 text: convert it to UTF-8"},
	    {"\x1f\x8b", 2, "gzip data: decompress it first"},
	    {"PK\3\4", 4, "a zip archive (.npz, .pt?): extract it first"},
	    {"\xfd"
	     "7zXZ",
	     5, "xz data: decompress it first"},
	    {"\x28\xb5\x2f\xfd", 4, "zstd data: decompress it first"},
	    {"BZh", 3, "bzip2 data: decompress it first"},
	    {"\x89HDF", 4, "an HDF5 file, which is not read"},
	    {"\x93NUMPY", 6, "an npy file: use --from npy"},
	};
	const unsigned char *b = pe_buffer_bytes(&s->buffer);
	const size_t size = pe_buffer_size(&s->buffer);

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (size >= kinds[i].size && memcmp(b, kinds[i].magic, kinds[i].size) == 0)
			return pe_fail(e, PE_FAULT_DATA, "%s: %s", s->input.name, kinds[i].what);
	if (size >= 4 && ((b[0] == 0 && b[1] != 0 && b[2] == 0 && b[3] != 0) ||
			  (b[0] != 0 && b[1] == 0 && b[2] != 0 && b[3] == 0)))
		return pe_fail(e, PE_FAULT_DATA, "%s: UTF-16 text: convert it to UTF-8",
			       s->input.name);
	return 0;
}

static int
skip_byte_order_mark(struct pe_source *s, struct pe_error *e)
{
	static const char mark[3] = "\xef\xbb\xbf";
	struct pe_buffer *b = &s->buffer;

	if (pe_buffer_need(b, 1, e))
		return -1;
	if (pe_buffer_size(b) == 0 || *pe_buffer_bytes(b) != (unsigned char)mark[0])
		return 0; /* nothing more is asked for: the first line may be shorter than a mark */
	if (pe_buffer_need(b, sizeof mark, e))
		return -1;
	if (pe_buffer_size(b) >= sizeof mark && memcmp(pe_buffer_bytes(b), mark, sizeof mark) == 0)
		pe_buffer_use(b, sizeof mark);
	return 0;
}

/* How many fields the line has; the width of the rows where none is due. */
static int
count_fields(struct pe_source *s, struct line line, struct pe_error *e)
{
	struct fields f = {.s = s};

	if (split(s, line, &f, e))
		return -1;
	if (s->cols == 0)
		s->cols = f.count;
	return 0;
}

static int
read_names(struct pe_source *s, struct pe_error *e)
{
	struct fields f = {.s = s};
	struct line line;

	const int got = next_line(s, &line, true, e);
	if (got <= 0)
		return got;
	if (count_fields(s, line, e))
		return -1;
	s->names = calloc(s->cols, sizeof *s->names);
	if (s->names == NULL)
		return pe_fail_memory(e);
	f.names = s->names;
	return split(s, line, &f, e) || check_count(s, f.count, e) ? -1 : 0;
}

static int
allocate_rows(struct pe_source *s, struct pe_error *e)
{
	struct csv *csv = s->state;
	size_t bytes;

	if (!pe_num_size(s->cols, 8, 1, &bytes))
		return pe_fail_memory(e);
	csv->first = malloc(bytes);
	const bool direct = s->elem == csv->direct && s->carrier == csv->direct;
	if (!direct) {
		csv->values = malloc(bytes);
		csv->as = malloc(bytes);
	}
	return csv->first == NULL || (!direct && (csv->values == NULL || csv->as == NULL))
		   ? pe_fail_memory(e)
		   : 0;
}

static int
csv_open(struct pe_source *s, struct pe_error *e)
{
	struct csv *csv = calloc(1, sizeof *csv);
	struct line line;

	s->state = csv;
	if (csv == NULL)
		return pe_fail_memory(e);
	csv->direct = direct_element(s);
	if (s->elem == PE_ELEM_NONE)
		s->elem = csv->direct;
	if (s->carrier == PE_ELEM_NONE)
		s->carrier = s->elem;
	s->rows = -1;
	if (skip_byte_order_mark(s, e) || refuse_binary(s, e) || (s->header && read_names(s, e)))
		return -1;
	const int got = next_line(s, &line, true, e);
	if (got < 0)
		return -1;
	if (got == 0)
		return pe_source_empty(s, e);
	if (count_fields(s, line, e) || allocate_rows(s, e) ||
	    read_line(s, line, values_for(s, csv->first), e) || complete_row(s, csv->first, e))
		return -1;
	csv->holds_first = true;
	return 0;
}

static ssize_t
csv_read(struct pe_source *s, void *rows, size_t max, struct pe_error *e)
{
	struct csv *csv = s->state;
	const size_t width = s->cols * pe_elem_size(s->carrier);
	size_t n = 0;

	if (csv->holds_first) {
		memcpy(rows, csv->first, width);
		csv->holds_first = false;
		n = 1;
	}
	for (; n < max; n++) {
		const int got = next_row(s, (char *)rows + n * width, n == 0, e);
		if (got < 0)
			return -1;
		if (got == 0)
			break;
	}
	return (ssize_t)n;
}

static bool
csv_holds_row(const struct pe_source *s)
{
	const struct csv *csv = s->state;
	const char *bytes = (const char *)pe_buffer_bytes(&s->buffer);
	const size_t size = pe_buffer_size(&s->buffer);

	if (csv->holds_first)
		return true;
	/* the LF of a CRLF is no line; a comment alone is taken for a row, which costs one wait
	 * too early at worst */
	const size_t skip = csv->after_cr && size > 0 && bytes[0] == '\n';
	return size > skip && (memchr(bytes + skip, '\n', size - skip) != NULL ||
			       memchr(bytes + skip, '\r', size - skip) != NULL);
}

static void
csv_close(struct pe_source *s)
{
	struct csv *csv = s->state;

	if (csv != NULL) {
		if (csv->has_parser)
			csv_free(&csv->parser);
		free(csv->first);
		free(csv->values);
		free(csv->as);
		free(csv->blanks);
	}
	free(csv);
	s->state = NULL;
}

const struct pe_backend pe_csv_backend = {csv_open, csv_read, csv_holds_row, csv_close};

/* ---- writing ---- */

bool
pe_csv_row_max(size_t cols, size_t *bytes)
{
	return pe_num_size(cols, PE_DECIMAL_MAX + 1, 1, bytes);
}

size_t
pe_csv_write_rows(char *to, const struct pe_csv_format *format, enum pe_elem elem, const void *rows,
		  size_t n, size_t cols)
{
	char *at = to;

	if (elem == PE_F64 && format->digits == 0)
		return pe_decimal_write_rows_f64(to, format->separator, rows, n, cols);
	if (elem == PE_F32 && format->digits == 0)
		return pe_decimal_write_rows_f32(to, format->separator, rows, n, cols);
	for (size_t i = 0, row = 0; row < n; row++, at[-1] = '\n')
		for (size_t end = i + cols; i < end; i++) {
			at += pe_decimal_write(at, elem, rows, i, format->digits);
			*at++ = format->separator;
		}
	return (size_t)(at - to);
}

/* A name that would not come back as it is: one with a separator, a quote, a line end, blanks
 * around it, a # in front of the line, or nothing at all. */
static bool
needs_quotes(const char *name, char separator, bool leads)
{
	const size_t size = strlen(name);

	if (size == 0 || (leads && name[0] == '#') || is_blank(name[0]) ||
	    is_blank(name[size - 1]) || strpbrk(name, "\"\r\n") != NULL)
		return true;
	return strchr(name, separator) != NULL || (separator == ' ' && strchr(name, '\t') != NULL);
}

static size_t
put_byte(char *to, size_t used, char byte)
{
	if (to != NULL)
		to[used] = byte;
	return used + 1;
}

size_t
pe_csv_write_names(char *to, char separator, const char *const *names, size_t cols)
{
	size_t used = 0;

	for (size_t i = 0; i < cols; i++) {
		const bool quoted = needs_quotes(names[i], separator, i == 0);
		if (quoted)
			used = put_byte(to, used, '"');
		for (const char *p = names[i]; *p != '\0'; p++) {
			if (*p == '"')
				used = put_byte(to, used, '"');
			used = put_byte(to, used, *p == '\n' || *p == '\r' ? ' ' : *p);
		}
		if (quoted)
			used = put_byte(to, used, '"');
		used = put_byte(to, used, i + 1 < cols ? separator : '\n');
	}
	return used;
}
