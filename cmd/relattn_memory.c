/* relattn_memory - matrices that are counted against --max-memory, and those that grow while
 * rows arrive. */
#include "relattn_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "num.h"

/* Of rows to come no more than this is taken before they are read. */
#define AT_ONCE ((size_t)64 << 20)

void
die_if(int failed, const struct pe_error *e)
{
	if (failed)
		cli_die(e);
}

void
budget_take(struct budget *b, const char *what, size_t rows, size_t cols, size_t size)
{
	struct pe_error e;
	size_t bytes;

	die_if(pe_num_matrix_size(rows, cols, size, &bytes, &e), &e);
	if (b->limit != 0 && bytes > b->limit - b->used)
		cli_fail("--max-memory: %s needs %zu bytes, %zu of %zu are left", what, bytes,
			 b->limit - b->used, b->limit);
	b->used += bytes;
}

void
budget_matrix(struct budget *b, const char *what, size_t rows, size_t cols, enum pe_elem elem,
	      struct pe_matrix *m)
{
	struct pe_error e;

	budget_take(b, what, rows, cols, pe_elem_size(elem));
	die_if(pe_matrix_init(m, rows, cols, elem, &e), &e);
}

void
budget_release(struct budget *b, struct pe_matrix *m)
{
	b->used -= m->rows * m->cols * pe_elem_size(m->elem);
	free(m->data);
	m->data = NULL;
}

static void
set_capacity(struct store *s, struct budget *b, const char *what, size_t rows)
{
	const size_t size = pe_elem_size(s->rows.elem);
	struct pe_error e;
	size_t bytes;

	budget_take(b, what, rows - s->capacity, s->rows.cols, size);
	die_if(pe_num_matrix_size(rows, s->rows.cols, size, &bytes, &e), &e);
	void *data = realloc(s->rows.data, bytes);
	if (data == NULL)
		cli_fail("out of memory");
	s->rows.data = data;
	s->capacity = rows;
}

/* Has the system make the pages of rows that a file is known to hold: hundreds in one go cost it
 * less than one at a time. Where it cannot, they come as they are written. */
static void
take_pages(const struct store *s)
{
#if defined(MADV_POPULATE_WRITE)
	const size_t bytes = s->capacity * s->rows.cols * pe_elem_size(s->rows.elem),
		     page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t gap = (page - (uintptr_t)s->rows.data % page) % page,
		     sure = bytes < AT_ONCE ? bytes : AT_ONCE;

	if (sure > gap)
		(void)madvise((char *)s->rows.data + gap, (sure - gap) / page * page,
			      MADV_POPULATE_WRITE);
#else
	(void)s;
#endif
}

void
store_begin(struct store *s, struct budget *b, const char *what, size_t cols, enum pe_elem elem,
	    int64_t expected)
{
	*s = (struct store){.rows = {.cols = cols, .elem = elem}};
	if (expected <= 0)
		return;
	set_capacity(s, b, what, (size_t)expected + 1); /* the end is found without growing */
	take_pages(s);
}

void *
store_extend(struct store *s, struct budget *b, const char *what, size_t more)
{
	const size_t begin = s->rows.rows, end = begin + more;
	const size_t half_more = s->capacity + s->capacity / 2;

	if (end > s->capacity)
		set_capacity(s, b, what, end > half_more ? end : half_more);
	s->rows.rows = end;
	return pe_matrix_row(&s->rows, begin);
}

void
store_trim(struct store *s, struct budget *b)
{
	const size_t row = s->rows.cols * pe_elem_size(s->rows.elem);
	void *data = s->rows.rows > 0 ? realloc(s->rows.data, s->rows.rows * row) : NULL;

	if (data == NULL)
		return;
	b->used -= (s->capacity - s->rows.rows) * row;
	s->rows.data = data;
	s->capacity = s->rows.rows;
}
