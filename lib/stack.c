/* stack - several inputs as one matrix, their rows one after the other, of which a range is taken. */
#include "stack.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "num.h"

struct part {
	struct pe_reader_spec spec;
	struct pe_reader *reader; /* NULL while it is closed until its turn */
};

struct pe_stack {
	struct part *parts;
	size_t count, at; /* at: the part under way */
	struct pe_slice range;
	uint64_t row; /* of all inputs, next to be read */
	size_t cols;
	enum pe_elem elem, carrier;
	int64_t rows;      /* of all inputs, -1: not known */
	size_t block_rows; /* that these two have room for: */
	void *unconverted, *skipped;
};

static int
fail_past_end(const struct pe_stack *s, uint64_t row, uint64_t rows, struct pe_error *e)
{
	const char *name = s->count > 1 || s->parts[0].reader == NULL
			       ? "the input"
			       : pe_reader_name(s->parts[0].reader);

	if (rows == 0)
		return pe_fail(e, PE_FAULT_DATA, "row %llu: %s has no rows",
			       (unsigned long long)row, name);
	return pe_fail(e, PE_FAULT_DATA, "row %llu: %s has rows 0..%llu", (unsigned long long)row,
		       name, (unsigned long long)(rows - 1));
}

/* The range against the number of all rows. */
static int
check_range(const struct pe_stack *s, uint64_t rows, struct pe_error *e)
{
	const uint64_t last = s->range.open ? s->range.from : s->range.to - 1;

	if (s->range.open && s->range.from == 0) /* no range at all: no rows will do */
		return 0;
	return last < rows ? 0 : fail_past_end(s, last, rows, e);
}

static int
open_part(struct pe_stack *s, struct part *part, struct pe_error *e)
{
	if (part->spec.cols == 0)
		part->spec.cols = s->cols;
	if (pe_reader_open(&part->reader, &part->spec, e))
		return -1;
	if (s->cols == 0)
		s->cols = pe_reader_cols(part->reader);
	return 0;
}

static void
close_part(struct part *part)
{
	pe_reader_close(part->reader);
	part->reader = NULL;
}

static int
probe(struct pe_stack *s, struct pe_error *e)
{
	for (size_t i = 0; i < s->count; i++) {
		struct part *part = &s->parts[i];

		if (open_part(s, part, e))
			return -1;
		s->elem = pe_elem_widest(s->elem, pe_reader_elem(part->reader));
		const int64_t rows = pe_reader_rows(part->reader);
		s->rows =
		    s->rows < 0 || rows < 0 || rows > INT64_MAX - s->rows ? -1 : s->rows + rows;
		if (i > 0 && pe_reader_is_file(part->reader))
			close_part(part);
	}
	return 0;
}

static int
begin(struct pe_stack *s, struct pe_error *e)
{
	size_t row;

	s->carrier = s->elem;
	for (size_t i = 0; i < s->count; i++)
		if (s->parts[i].spec.carrier != PE_ELEM_NONE)
			s->carrier = s->parts[i].spec.carrier;
	if (!pe_num_size(s->cols, 8, 1, &row))
		return pe_fail_memory(e);
	s->block_rows = row > 0 && row < PE_IO_BLOCK ? PE_IO_BLOCK / row : 1;
	s->unconverted = malloc(s->block_rows * row + 1);
	s->skipped = malloc(s->block_rows * row + 1);
	if (s->unconverted == NULL || s->skipped == NULL)
		return pe_fail_memory(e);
	return s->rows >= 0 ? check_range(s, (uint64_t)s->rows, e) : 0;
}

int
pe_stack_open(struct pe_stack **stack, const struct pe_reader_spec *specs, size_t count,
	      struct pe_slice rows, struct pe_error *e)
{
	struct pe_stack *s = calloc(1, sizeof *s);

	*stack = NULL;
	if (s == NULL)
		return pe_fail_memory(e);
	s->range = rows;
	s->count = count;
	s->parts = calloc(count, sizeof *s->parts);
	for (size_t i = 0; s->parts != NULL && i < count; i++)
		s->parts[i].spec = specs[i];
	if (s->parts == NULL ? pe_fail_memory(e) : (probe(s, e) || begin(s, e))) {
		pe_stack_close(s);
		return -1;
	}
	*stack = s;
	return 0;
}

void
pe_stack_close(struct pe_stack *stack)
{
	if (stack == NULL)
		return;
	for (size_t i = 0; stack->parts != NULL && i < stack->count; i++)
		close_part(&stack->parts[i]);
	free(stack->parts);
	free(stack->unconverted);
	free(stack->skipped);
	free(stack);
}

size_t
pe_stack_cols(const struct pe_stack *stack)
{
	return stack->cols;
}

enum pe_elem
pe_stack_elem(const struct pe_stack *stack)
{
	return stack->elem;
}

enum pe_elem
pe_stack_carrier(const struct pe_stack *stack)
{
	return stack->carrier;
}

int64_t
pe_stack_rows(const struct pe_stack *stack)
{
	const struct pe_slice *range = &stack->range;

	if (!range->open)
		return (int64_t)(range->to - range->from);
	return stack->rows < 0 ? -1 : stack->rows - (int64_t)range->from;
}

const char *const *
pe_stack_names(const struct pe_stack *stack)
{
	return stack->parts[0].reader != NULL ? pe_reader_names(stack->parts[0].reader) : NULL;
}

/* The rows of the part under way, converted to the carrier. */
static ssize_t
read_part(struct pe_stack *s, void *rows, size_t max, struct pe_error *e)
{
	struct part *part = &s->parts[s->at];
	const enum pe_elem elem = pe_reader_carrier(part->reader);

	if (elem == s->carrier)
		return pe_reader_read(part->reader, rows, max, e);
	if (max > s->block_rows)
		max = s->block_rows;
	const ssize_t n = pe_reader_read(part->reader, s->unconverted, max, e);
	/* the carrier holds every value of every input */
	if (n > 0)
		(void)pe_elem_convert(s->carrier, rows, elem, s->unconverted, (size_t)n * s->cols);
	return n;
}

/* The next rows of all inputs, whatever the range. */
static ssize_t
read_any(struct pe_stack *s, void *rows, size_t max, struct pe_error *e)
{
	for (; s->at < s->count; s->at++) {
		struct part *part = &s->parts[s->at];

		if (part->reader == NULL && open_part(s, part, e))
			return -1;
		const ssize_t n = read_part(s, rows, max, e);
		if (n > 0)
			s->row += (uint64_t)n;
		if (n != 0)
			return n;
		if (s->at > 0) /* the first one's names are still asked for */
			close_part(part);
	}
	return 0;
}

static int
skip(struct pe_stack *s, struct pe_error *e)
{
	while (s->row < s->range.from) {
		const uint64_t left = s->range.from - s->row;
		const ssize_t n =
		    read_any(s, s->skipped, left < s->block_rows ? (size_t)left : s->block_rows, e);

		if (n <= 0)
			return (int)n;
	}
	return 0;
}

ssize_t
pe_stack_read(struct pe_stack *stack, void *rows, size_t max, struct pe_error *e)
{
	const struct pe_slice *range = &stack->range;

	if (skip(stack, e))
		return -1;
	if (!range->open) {
		const uint64_t left = range->to - stack->row;
		if (left == 0)
			return 0;
		max = left < max ? (size_t)left : max;
	}
	const ssize_t n = read_any(stack, rows, max, e);
	return n != 0 ? n : check_range(stack, stack->row, e);
}

bool
pe_stack_waits(const struct pe_stack *stack)
{
	const struct pe_reader *reader =
	    stack->at < stack->count ? stack->parts[stack->at].reader : NULL;

	return reader != NULL && pe_reader_waits(reader);
}

static ssize_t
read_more(void *stack, void *rows, size_t max, struct pe_error *e)
{
	return pe_stack_read(stack, rows, max, e);
}

int
pe_stack_all(struct pe_stack *stack, struct pe_matrix *m, struct pe_error *e)
{
	*m = (struct pe_matrix){.cols = stack->cols, .elem = stack->carrier};
	return pe_rows_gather(m, read_more, stack, 0, e);
}
