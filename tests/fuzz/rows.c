/* Any bytes as rows of any format: refused with one line, or read; and what was read is written
 * and read back to the same bits. The first byte picks the format and whether a header is due,
 * the second the width. */
#include "fuzz.h"

#include <math.h>

#include "stream.h"

static const struct {
	const char *format, *suffix;
} kinds[] = {
    {"csv", ".csv"}, {"tsv", ".tsv"}, {"txt", ".txt"},  {"npy", ".npy"},
    {"f64", ".f64"}, {"f32", ".f32"}, {"f16", ".f16"},  {"bf16", ".bf16"},
    {"i32", ".i32"}, {"i64", ".i64"}, {"f64be", ""},    {"f32be", ""},
    {"csv:f32", ""}, {"csv:i64", ""}, {"csv:bf16", ""}, {"auto", ".safetensors"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool
same_value(enum pe_elem elem, const void *a, const void *b)
{
	if (memcmp(a, b, pe_elem_size(elem)) == 0)
		return true;
	double x, y; /* the payload of a nan is not kept in text */
	DEMAND(pe_elem_convert(PE_F64, &x, elem, a, 1) == 1);
	DEMAND(pe_elem_convert(PE_F64, &y, elem, b, 1) == 1);
	return isnan(x) && isnan(y);
}

static void
write_and_read_back(const struct pe_matrix *m, struct pe_format format)
{
	char path[64];
	struct pe_error e;
	struct pe_writer *w;
	struct pe_matrix back = {0};
	const struct pe_writer_spec out = {
	    .path = fuzz_path(path, ".back"),
	    .format = format,
	    .natural = m->elem,
	    .cols = m->cols,
	    .rows = (int64_t)m->rows,
	    .carrier = m->elem,
	};
	const struct pe_reader_spec in = {
	    .path = path, .format = format, .cols = m->cols, .carrier = m->elem};

	DEMAND(pe_writer_open(&w, &out, &e) == 0);
	if (pe_writer_put(w, m->data, m->rows, &e) != 0) { /* csv:i64 of a fraction */
		fuzz_message(&e);
		pe_writer_abandon(w);
		return;
	}
	DEMAND(pe_writer_close(w, &e) == 0);
	DEMAND(pe_matrix_read(&back, &in, &e) == 0);
	DEMAND(back.rows == m->rows && back.cols == m->cols);
	for (size_t i = 0; i < m->rows * m->cols && format.elem == PE_ELEM_NONE; i++)
		DEMAND(same_value(m->elem, (char *)m->data + i * pe_elem_size(m->elem),
				  (char *)back.data + i * pe_elem_size(m->elem)));
	pe_matrix_free(&back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct pe_error e;
	struct pe_matrix m = {0};
	struct pe_reader_spec spec = {.path = path};

	if (size < 2)
		return 0;
	const size_t kind = data[0] % KINDS;
	spec.header = data[0] >= 0x80;
	spec.cols = data[1] % 8;
	if (strcmp(kinds[kind].format, "auto") != 0)
		DEMAND(pe_format_parse(kinds[kind].format, &spec.format));
	fuzz_file(fuzz_path(path, kinds[kind].suffix), data + 2, size - 2);
	if (pe_matrix_read(&m, &spec, &e) != 0) {
		fuzz_message(&e);
	} else if (m.rows > 0 && m.cols > 0 && !spec.header && spec.format.container != PE_AUTO) {
		write_and_read_back(&m, spec.format);
	}
	pe_matrix_free(&m);
	return 0;
}
