/* csvio: one matrix in a thousand spellings reads as the same bits, whichever path its lines
 * take, and the blocks that they arrive in make no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

enum { ROWS = 7, COLS = 5, SPELLINGS = 1000 };

static uint64_t
draw(uint64_t *state) /* xorshift64* (Vigna 2016) */
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t
below(uint64_t *state, size_t n)
{
	return (size_t)(draw(state) >> 11) % n;
}

static void
make_matrix(uint64_t *state, double *x)
{
	static const double special[] = {0.0,  -0.0,     1e-320,   5e-324, 1.7976931348623157e308,
					 1e15, 123456.0, -0x1p-14, 0.1,    (double)INFINITY};

	for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
		uint64_t bits = draw(state);
		memcpy(&x[i], &bits, sizeof bits);
		if (!isfinite(x[i]) || below(state, 3) == 0)
			x[i] = special[below(state, sizeof special / sizeof special[0])];
	}
}

/* ---- spelling ---- */

struct page {
	char text[1 << 16];
	size_t size;
};

static void
put(struct page *p, const char *text)
{
	const size_t size = strlen(text);

	assert_true(p->size + size < sizeof p->text);
	memcpy(p->text + p->size, text, size);
	p->size += size;
}

static void
put_blanks(struct page *p, uint64_t *state, char separator)
{
	static const char *const blanks[] = {"", "", "", " ", "   ", "\t", " \t"};

	put(p, blanks[below(state, separator == '\t' ? 5 : 7)]);
}

static void
put_number(struct page *p, uint64_t *state, double x)
{
	char text[64];
	static const char *const infinities[] = {"inf", "INF", "Infinity", "iNfInItY"};

	if (isinf(x)) {
		put(p, infinities[below(state, 4)]);
		return;
	}
	if (!signbit(x) && below(state, 4) == 0)
		put(p, "+");
	switch (below(state, 4)) {
	case 0: (void)snprintf(text, sizeof text, "%a", x); break;
	case 1: (void)snprintf(text, sizeof text, "%.25e", x); break;
	case 2: (void)snprintf(text, sizeof text, "%.17g", x); break;
	default: (void)snprintf(text, sizeof text, "%.16E", x); break;
	}
	put(p, text);
}

static void
put_cell(struct page *p, uint64_t *state, char separator, double x)
{
	const bool quoted = below(state, 12) == 0;

	put_blanks(p, state, separator);
	put(p, quoted ? "\"" : "");
	if (quoted)
		put_blanks(p, state, separator);
	put_number(p, state, x);
	if (quoted)
		put_blanks(p, state, separator);
	put(p, quoted ? "\"" : "");
	put_blanks(p, state, separator);
}

static void
put_line_end(struct page *p, uint64_t *state)
{
	static const char *const ends[] = {"\n", "\n", "\r\n", "\r"};
	static const char *const between[] = {"", "", "", "# a, \"comment\n", "\n", " \r\n", "#\r"};

	put(p, ends[below(state, 4)]);
	put(p, between[below(state, 7)]);
}

static void
spell(struct page *p, uint64_t *state, const char *separator, const double *x)
{
	static const char *const runs[] = {" ", "  ", "\t", " \t "};

	p->size = 0;
	if (below(state, 4) == 0)
		put(p, "\xef\xbb\xbf");
	for (size_t r = 0; r < ROWS; r++) {
		for (size_t c = 0; c < COLS; c++) {
			put_cell(p, state, *separator, x[r * COLS + c]);
			if (c + 1 < COLS)
				put(p, *separator == ' ' ? runs[below(state, 4)] : separator);
		}
		if (r + 1 < ROWS || below(state, 2) == 0)
			put_line_end(p, state);
	}
}

/* ---- reading ---- */

/* What is in the page, by way of a pipe, in pieces of `piece` bytes, at most `max` rows a call. */
static void
read_back(const struct page *p, enum pe_container container, enum pe_elem carrier, void *rows,
	  size_t max)
{
	char path[32];
	int ends[2];
	struct pe_error e;
	struct pe_reader *r;
	size_t n = 0;
	ssize_t got;

	assert_int_equal(pipe(ends), 0); /* a page fits a pipe */
	assert_int_equal(write(ends[1], p->text, p->size), p->size);
	assert_int_equal(close(ends[1]), 0);
	(void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	const struct pe_reader_spec spec = {
	    .path = path, .format = {.container = container}, .carrier = carrier};
	if (pe_reader_open(&r, &spec, &e))
		fail_msg("%s in: %.*s", e.text, (int)p->size, p->text);
	assert_int_equal(pe_reader_cols(r), COLS);
	const size_t width = COLS * pe_elem_size(carrier);
	while ((got = pe_reader_read(r, (char *)rows + n * width, max < ROWS - n ? max : ROWS - n,
				     &e)) > 0)
		n += (size_t)got;
	if (got < 0)
		fail_msg("%s in: %.*s", e.text, (int)p->size, p->text);
	assert_int_equal(n, ROWS);
	char none[8 * COLS];
	assert_int_equal(pe_reader_read(r, none, 1, &e), 0);
	pe_reader_close(r);
	assert_int_equal(close(ends[0]), 0);
}

static void
spellings(void **unused)
{
	static const struct {
		enum pe_container container;
		const char *separator;
	} kinds[] = {{PE_CSV, ","}, {PE_TSV, "\t"}, {PE_TXT, " "}};
	static struct page page;
	double x[ROWS * COLS], y[ROWS * COLS];
	uint64_t state = 20170612;

	(void)unused;
	for (int i = 0; i < SPELLINGS; i++) {
		make_matrix(&state, x);
		spell(&page, &state, kinds[i % 3].separator, x);
		memset(y, 0x55, sizeof y);
		read_back(&page, kinds[i % 3].container, PE_F64, y, 1 + below(&state, ROWS));
		if (memcmp(x, y, sizeof x) != 0)
			fail_msg("other bits in: %.*s", (int)page.size, page.text);
	}
}

/* An f32 carrier reads the same numbers: here each spelling is far closer to x than x is to a
 * tie of two floats. */
static void
single_precision(void **unused)
{
	static struct page page;
	double x[ROWS * COLS];
	float y[ROWS * COLS];
	uint64_t state = 7;

	(void)unused;
	for (int i = 0; i < SPELLINGS / 10; i++) {
		for (size_t k = 0; k < (size_t)ROWS * COLS; k++)
			x[k] = (double)(int64_t)draw(&state) * 0x1p-40;
		spell(&page, &state, ",", x);
		read_back(&page, PE_CSV, PE_F32, y, ROWS);
		for (size_t k = 0; k < (size_t)ROWS * COLS; k++)
			assert_true(y[k] == (float)x[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spellings),
	    cmocka_unit_test(single_precision),
	};

	return cmocka_run_group_tests_name("csvio", tests, NULL, NULL);
}
