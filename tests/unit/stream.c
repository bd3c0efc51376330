/* stream: what no command asks for: a format by the suffix with an element beside it, rows put by the block, and a
 * matrix that overflows where its width alone does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix.h"
#include "stream.h"

static void
suffix_and_element(void **unused)
{
	struct pe_writer_spec spec = {.path = "x.npy", .format = {.elem = PE_F32}};

	(void)unused;
	assert_int_equal(pe_writer_format(&spec).container, PE_NPY);
	assert_int_equal(pe_writer_elem(&spec), PE_F32);
	spec.format.elem = PE_ELEM_NONE;
	assert_int_equal(pe_writer_elem(&spec), PE_F64);
	spec.path = "x";
	assert_int_equal(pe_writer_format(&spec).container, PE_CSV);
}

/* Rows that fill a block by themselves go straight to the file, behind what was put before. */
static void
rows_by_the_block(void **unused)
{
	enum { ROWS = 40000 };
	static double rows[ROWS];
	char path[] = "/tmp/posenc-stream-XXXXXX.f64";
	const int fd = mkstemps(path, 4);
	const struct pe_writer_spec spec = {
	    .path = path, .format = {.container = PE_RAW, .elem = PE_F64}, .cols = 1, .rows = -1};
	const struct pe_reader_spec back = {.path = path, .cols = 1};
	struct pe_matrix m;
	struct pe_writer *w;
	struct pe_error e;

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	for (int i = 0; i < ROWS; i++)
		rows[i] = i;
	assert_int_equal(pe_writer_open(&w, &spec, &e), 0);
	assert_int_equal(pe_writer_put(w, rows, 3, &e), 0);
	assert_int_equal(pe_writer_put(w, rows + 3, ROWS - 3, &e), 0);
	assert_int_equal(pe_writer_close(w, &e), 0);
	assert_int_equal(pe_matrix_read(&m, &back, &e), 0);
	assert_int_equal(m.rows, ROWS);
	assert_memory_equal(m.data, rows, sizeof rows);
	pe_matrix_free(&m);
	assert_int_equal(unlink(path), 0);
}

static void
widths_that_overflow(void **unused)
{
	const struct pe_reader_spec spec = {.path = "/dev/null",
					    .format = {.container = PE_RAW, .elem = PE_F64},
					    .cols = SIZE_MAX / 4};
	struct pe_matrix m;
	struct pe_error e;
	char due[128];

	(void)unused;
	assert_int_equal(pe_matrix_read(&m, &spec, &e), -1);
	(void)snprintf(due, sizeof due, "/dev/null: %zu columns x 8 bytes overflows", spec.cols);
	assert_string_equal(e.text, due);
	assert_int_equal(e.fault, PE_FAULT_DATA);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(suffix_and_element),
	    cmocka_unit_test(rows_by_the_block),
	    cmocka_unit_test(widths_that_overflow),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
