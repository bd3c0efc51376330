/* rawio - rows without a header: elements one after the other, in either byte order. */
#include "rawio.h"

#include <stdlib.h>
#include <string.h>

#include "num.h"

struct raw {
	struct pe_raw_block block;
	size_t size;   /* bytes of a value */
	size_t width;  /* bytes of a row */
	uint64_t done; /* rows handed out */
	bool ended;    /* the input was checked to its end */
	bool plain;    /* values are handed out as they are in the file */
	void *scratch; /* one row, for each step of conversion */
};

bool
pe_raw_swapped(bool big_endian)
{
	const union {
		uint16_t word;
		unsigned char byte[2];
	} probe = {.word = 1};

	return big_endian == (probe.byte[0] == 1);
}

void
pe_raw_swap(void *values, size_t n, size_t size)
{
	unsigned char *v = values;

	for (size_t i = 0; i < n; i++, v += size)
		for (size_t a = 0, b = size - 1; a < b; a++, b--) {
			const unsigned char byte = v[a];
			v[a] = v[b];
			v[b] = byte;
		}
}

/* ---- before the first row ---- */

/* The input's end where its size is known: no work is begun on a file that is cut. */
static int
fail_cut(const struct pe_source *s, uint64_t offset, size_t left, struct pe_error *e)
{
	const struct raw *r = s->state;
	const size_t whole = left / r->size, odd = left % r->size;

	if (odd != 0)
		return pe_fail(e, PE_FAULT_DATA, "%s: byte %llu: value ends after %zu of %zu bytes",
			       s->input.name, (unsigned long long)(offset + whole * r->size), odd,
			       r->size);
	return pe_fail(e, PE_FAULT_DATA, "%s: byte %llu: row ends after %zu of %zu values",
		       s->input.name, (unsigned long long)offset, whole, r->block.cols);
}

static int
fail_short(const struct pe_source *s, uint64_t have, struct pe_error *e)
{
	const struct raw *r = s->state;

	return pe_fail(e, PE_FAULT_DATA, "%s: data end after %llu of %llu bytes", s->input.name,
		       (unsigned long long)have,
		       (unsigned long long)(r->block.rows * (uint64_t)r->width));
}

static int
fail_behind(const struct pe_source *s, uint64_t have, struct pe_error *e)
{
	const struct raw *r = s->state;

	if (have < r->block.behind)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: data end %llu bytes before their end by the header",
			       s->input.name, (unsigned long long)(r->block.behind - have));
	return pe_fail(e, PE_FAULT_DATA, "%s: data go on after the %llu bytes of its shape",
		       s->input.name,
		       (unsigned long long)(r->block.rows * (uint64_t)r->width + r->block.behind));
}

static int
check_size(const struct pe_source *s, struct pe_error *e)
{
	const struct raw *r = s->state;
	const off_t unread = pe_input_size(&s->input);
	size_t total;

	if (r->block.counted &&
	    (r->block.rows > SIZE_MAX || !pe_num_size((size_t)r->block.rows, r->width, 1, &total)))
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: %llu rows x %zu columns x %zu bytes overflows", s->input.name,
			       (unsigned long long)r->block.rows, r->block.cols, r->size);
	if (unread < 0)
		return 0;
	const uint64_t have = (uint64_t)unread + pe_buffer_size(&s->buffer);
	if (!r->block.counted)
		return have % r->width == 0
			   ? 0
			   : fail_cut(s, s->buffer.offset + have / r->width * r->width,
				      (size_t)(have % r->width), e);
	if (have < total)
		return fail_short(s, have, e);
	return have - total == r->block.behind ? 0 : fail_behind(s, have - total, e);
}

/* Where no size is known, the first row itself shows that the width is no lie, before anyone
 * makes room for it. */
static int
check_first_row(struct pe_source *s, struct pe_error *e)
{
	const struct raw *r = s->state;

	if (pe_input_size(&s->input) >= 0 || (r->block.counted && r->block.rows == 0))
		return 0;
	if (pe_buffer_need(&s->buffer, r->width, e))
		return -1;
	const size_t have = pe_buffer_size(&s->buffer);
	if (have >= r->width || (have == 0 && !r->block.counted))
		return 0;
	return r->block.counted ? fail_short(s, have, e) : fail_cut(s, s->buffer.offset, have, e);
}

int
pe_raw_begin(struct pe_source *s, const struct pe_raw_block *block, struct pe_error *e)
{
	struct raw *r = calloc(1, sizeof *r);
	size_t bytes;

	s->state = r;
	if (r == NULL)
		return pe_fail_memory(e);
	r->block = *block;
	r->size = pe_elem_size(block->elem);
	if (pe_source_width(s, block->cols, e))
		return -1;
	if (!pe_num_size(block->cols, r->size, 1, &r->width) ||
	    !pe_num_size(block->cols, 8, 1, &bytes))
		return pe_fail(e, PE_FAULT_DATA, "%s: %zu columns x %zu bytes overflows",
			       s->input.name, block->cols, r->size);
	if (s->elem == PE_ELEM_NONE)
		s->elem = block->elem;
	if (s->carrier == PE_ELEM_NONE)
		s->carrier = s->elem;
	s->rows = block->counted && block->rows <= INT64_MAX ? (int64_t)block->rows : -1;
	r->plain = s->carrier == block->elem && s->elem == block->elem;
	return check_size(s, e) || check_first_row(s, e) ? -1 : 0;
}

static int
raw_open(struct pe_source *s, struct pe_error *e)
{
	const struct pe_raw_block block = {
	    .elem = s->elem, .big_endian = s->big_endian, .cols = s->cols};

	if (s->cols == 0)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "%s: a raw stream does not tell its width: give -d", s->input.name);
	if (pe_raw_begin(s, &block, e) || pe_buffer_need(&s->buffer, 1, e))
		return -1;
	return pe_buffer_size(&s->buffer) == 0 ? pe_source_empty(s, e) : 0;
}

/* ---- rows ---- */

/* Whole rows of the block's own values straight to the caller's memory: what lies in the buffer,
 * else by read(2). Bytes, 0 at the end. */
static ssize_t
read_straight(struct pe_source *s, void *rows, size_t size, struct pe_error *e)
{
	const struct raw *r = s->state;
	size_t have = 0;

	while (have < r->width) {
		const ssize_t got = pe_buffer_read(&s->buffer, (char *)rows + have, size - have, e);
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	const size_t odd = have % r->width;
	if (odd > 0 && pe_buffer_put_back(&s->buffer, (char *)rows + have - odd, odd, e))
		return -1;
	return (ssize_t)(have - odd);
}

/* The same by way of the buffer: few bytes at a time would cost a system call each. */
static ssize_t
read_buffered(struct pe_source *s, void *rows, size_t size, struct pe_error *e)
{
	const struct raw *r = s->state;

	if (pe_buffer_need(&s->buffer, r->width, e))
		return -1;
	const size_t held = pe_buffer_size(&s->buffer) / r->width * r->width;
	const size_t n = held < size ? held : size;
	memcpy(rows, pe_buffer_bytes(&s->buffer), n);
	pe_buffer_use(&s->buffer, n);
	return (ssize_t)n;
}

/* At most max rows as the file has them, in this machine's byte order; 0 at the end. */
static ssize_t
read_values(struct pe_source *s, void *rows, size_t max, struct pe_error *e)
{
	const struct raw *r = s->state;
	size_t size;

	if (!pe_num_size(max, r->width, 1, &size))
		size = PTRDIFF_MAX / r->width * r->width;
	const ssize_t got = size >= PE_IO_BLOCK / 2 ? read_straight(s, rows, size, e)
						    : read_buffered(s, rows, size, e);
	if (got > 0 && pe_raw_swapped(r->block.big_endian))
		pe_raw_swap(rows, (size_t)got / r->size, r->size);
	return got < 0 ? -1 : got / (ssize_t)r->width;
}

/* Where in a column the value of a row lies: the row's index is taken apart with the last leading
 * dimension varying fastest, and put together with the first one doing so. */
static size_t
place_in_column(const struct pe_raw_block *block, uint64_t row)
{
	uint64_t place = 0;

	for (size_t k = block->leading; k-- > 0;) {
		uint64_t stride = 1;
		for (size_t j = 0; j < k; j++)
			stride *= block->dims[j];
		place += row % block->dims[k] * stride;
		row /= block->dims[k];
	}
	return (size_t)(block->leading > 0 ? place : row);
}

/* Column after column: rows lie across the whole of it. */
static ssize_t
gather_values(struct pe_source *s, void *rows, size_t max, struct pe_error *e)
{
	const struct raw *r = s->state;
	const size_t total = (size_t)r->block.rows * r->width;

	if (pe_buffer_need(&s->buffer, total, e))
		return -1;
	if (pe_buffer_size(&s->buffer) < total)
		return fail_short(s, pe_buffer_size(&s->buffer), e);
	const size_t column = (size_t)r->block.rows * r->size;
	for (size_t i = 0; i < max; i++) {
		const unsigned char *from =
		    pe_buffer_bytes(&s->buffer) + place_in_column(&r->block, r->done + i) * r->size;
		char *to = (char *)rows + i * r->width;
		for (size_t c = 0; c < r->block.cols; c++)
			memcpy(to + c * r->size, from + c * column, r->size);
	}
	if (pe_raw_swapped(r->block.big_endian))
		pe_raw_swap(rows, max * r->block.cols, r->size);
	return (ssize_t)max;
}

static ssize_t
file_rows(struct pe_source *s, void *rows, size_t max, struct pe_error *e)
{
	struct raw *r = s->state;

	return r->block.column_major ? gather_values(s, rows, max, e)
				     : read_values(s, rows, max, e);
}

/* Rows converted by way of a block of the file's own values. */
static ssize_t
read_converted(struct pe_source *s, void *rows, size_t max, struct pe_error *e)
{
	struct raw *r = s->state;
	const size_t width = r->block.cols * 8; /* of any element */
	const size_t fit = width < PE_IO_BLOCK ? PE_IO_BLOCK / width : 1;

	if (r->scratch == NULL) {
		r->scratch = malloc(2 * fit * width);
		if (r->scratch == NULL)
			return pe_fail_memory(e);
	}
	const ssize_t n = file_rows(s, r->scratch, max < fit ? max : fit, e);
	if (n <= 0)
		return n;
	const size_t values = (size_t)n * r->block.cols;
	const void *from = r->scratch;
	if (s->elem != r->block.elem) {
		void *as = (char *)r->scratch + fit * width;
		if (pe_convert_rows(s->input.name, r->done, r->block.cols, s->elem, as,
				    r->block.elem, from, values, e))
			return -1;
		from = as;
	}
	if (pe_convert_rows(s->input.name, r->done, r->block.cols, s->carrier, rows, s->elem, from,
			    values, e))
		return -1;
	return n;
}

/* No whole row is left: is that how it should be? */
static ssize_t
check_end(struct pe_source *s, struct pe_error *e)
{
	const struct raw *r = s->state;
	const size_t left = pe_buffer_size(&s->buffer);

	if (r->block.counted)
		return fail_short(s, r->done * r->width + left, e);
	return left > 0 ? fail_cut(s, s->buffer.offset, left, e) : 0;
}

/* The block is done: what is behind it must be there, and no more. */
static ssize_t
check_behind(struct pe_source *s, struct pe_error *e)
{
	struct raw *r = s->state;

	if (r->block.column_major)
		pe_buffer_use(&s->buffer, (size_t)r->block.rows * r->width);
	const int64_t skipped = pe_buffer_skip(&s->buffer, r->block.behind, e);
	if (skipped < 0)
		return -1;
	if ((uint64_t)skipped < r->block.behind)
		return fail_behind(s, (uint64_t)skipped, e);
	if (pe_buffer_need(&s->buffer, 1, e))
		return -1;
	if (pe_buffer_size(&s->buffer) > 0)
		return fail_behind(s, r->block.behind + 1, e);
	r->ended = true;
	return 0;
}

ssize_t
pe_raw_read(struct pe_source *s, void *rows, size_t max, struct pe_error *e)
{
	struct raw *r = s->state;

	if (r->block.counted) {
		if (r->done == r->block.rows)
			return r->ended ? 0 : check_behind(s, e);
		if (max > r->block.rows - r->done)
			max = (size_t)(r->block.rows - r->done);
	}
	const ssize_t n = r->plain ? file_rows(s, rows, max, e) : read_converted(s, rows, max, e);
	if (n == 0)
		return check_end(s, e);
	if (n > 0)
		r->done += (uint64_t)n;
	return n;
}

bool
pe_raw_holds_row(const struct pe_source *s)
{
	const struct raw *r = s->state;

	return pe_buffer_size(&s->buffer) >= r->width;
}

void
pe_raw_close(struct pe_source *s)
{
	struct raw *r = s->state;

	if (r != NULL)
		free(r->scratch);
	free(r);
	s->state = NULL;
}

const struct pe_backend pe_raw_backend = {raw_open, pe_raw_read, pe_raw_holds_row, pe_raw_close};
