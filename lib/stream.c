/* stream - matrices as rows: a format chosen once, then blocks of rows in and out. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "csvio.h"
#include "npyio.h"
#include "num.h"
#include "rawio.h"
#include "safetensors.h"

/* ---- formats ---- */

static const struct {
	const char *name;
	enum pe_container container;
	char separator; /* of text */
	bool takes_elem;
	const struct pe_backend *backend; /* reads it */
} containers[] = {
    {"csv", PE_CSV, ',', true, &pe_csv_backend},
    {"tsv", PE_TSV, '\t', true, &pe_csv_backend},
    {"txt", PE_TXT, ' ', true, &pe_csv_backend},
    {"npy", PE_NPY, 0, true, &pe_npy_backend},
    {"safetensors", PE_SAFETENSORS, 0, true, &pe_safetensors_backend},
    {"", PE_RAW, 0, false, &pe_raw_backend},
};
enum { CONTAINERS = sizeof containers / sizeof containers[0] };

static size_t
container_index(enum pe_container container)
{
	for (size_t i = 0; i < CONTAINERS; i++)
		if (containers[i].container == container)
			return i;
	return 0; /* nothing said: csv */
}

static bool
parse_raw(const char *text, size_t length, struct pe_format *format)
{
	format->container = PE_RAW;
	format->big_endian = length == 5 && memcmp(text + 3, "be", 2) == 0;
	format->elem = pe_elem_find(text, format->big_endian ? 3 : length);
	if (format->big_endian)
		return format->elem == PE_F64 || format->elem == PE_F32;
	return format->elem != PE_ELEM_NONE;
}

bool
pe_format_parse(const char *text, struct pe_format *format)
{
	const size_t length = strcspn(text, ":");

	*format = (struct pe_format){.container = PE_AUTO};
	for (size_t i = 0; i < CONTAINERS; i++) {
		if (strlen(containers[i].name) != length || length == 0 ||
		    memcmp(containers[i].name, text, length) != 0)
			continue;
		format->container = containers[i].container;
		if (text[length] == '\0')
			return true;
		format->elem = pe_elem_find(text + length + 1, strlen(text + length + 1));
		return containers[i].takes_elem && format->elem != PE_ELEM_NONE &&
		       (format->container != PE_NPY || pe_npy_has(format->elem));
	}
	return text[length] == '\0' && parse_raw(text, length, format);
}

/* Behind ".safetensors:" in a path that names a tensor, else NULL. */
static const char *
tensor_of_path(const char *path)
{
	static const char mark[] = ".safetensors:";
	const char *at = strstr(path, mark);

	return at != NULL ? at + sizeof mark - 1 : NULL;
}

struct pe_format
pe_format_of_path(const char *path)
{
	struct pe_format format = {.container = PE_AUTO};

	if (path == NULL)
		return format;
	if (tensor_of_path(path) != NULL)
		return (struct pe_format){.container = PE_SAFETENSORS};
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	if (dot == NULL || strchr(dot, ':') != NULL || !pe_format_parse(dot + 1, &format))
		return (struct pe_format){.container = PE_AUTO};
	return format;
}

char
pe_format_separator(struct pe_format format)
{
	return containers[container_index(format.container)].separator;
}

bool
pe_format_is_text(struct pe_format format)
{
	return format.container != PE_AUTO && pe_format_separator(format) != 0;
}

/* ---- reading ---- */

struct pe_reader {
	struct pe_source source;
	const struct pe_backend *backend;
	bool text, opened;
};

/* Where neither the user nor the suffix tells: npy by its magic, else csv. No more bytes are
 * waited for than look like the magic. */
static int
sniff(struct pe_source *s, struct pe_format *format, struct pe_error *e)
{
	size_t n = 1;

	do {
		if (pe_buffer_need(&s->buffer, n, e))
			return -1;
	} while (pe_buffer_size(&s->buffer) >= n && n < PE_NPY_MAGIC_SIZE &&
		 memcmp(pe_buffer_bytes(&s->buffer), PE_NPY_MAGIC, n) == 0 && n++);
	const bool npy = pe_buffer_size(&s->buffer) >= PE_NPY_MAGIC_SIZE &&
			 memcmp(pe_buffer_bytes(&s->buffer), PE_NPY_MAGIC, PE_NPY_MAGIC_SIZE) == 0;
	format->container = npy ? PE_NPY : PE_CSV;
	return 0;
}

static int
open_input(struct pe_source *s, const char *path, struct pe_error *e)
{
	const char *tensor = path != NULL ? tensor_of_path(path) : NULL;
	char *file = NULL;

	if (tensor != NULL) {
		const size_t length = (size_t)(tensor - path) - 1;
		file = malloc(length + 1);
		if (file == NULL)
			return pe_fail_memory(e);
		memcpy(file, path, length);
		file[length] = '\0';
		s->tensor = tensor;
	}
	const int failed = pe_input_open(&s->input, file != NULL ? file : path, e);
	free(file);
	return failed;
}

static int
open_reader(struct pe_reader *r, const struct pe_reader_spec *spec, struct pe_error *e)
{
	struct pe_source *s = &r->source;
	struct pe_format format = spec->format;

	*s = (struct pe_source){.input = {.fd = -1}};
	if (format.container == PE_AUTO)
		format.container = pe_format_of_path(spec->path).container;
	if (format.container == PE_RAW && format.elem == PE_ELEM_NONE)
		format = pe_format_of_path(spec->path);
	if (open_input(s, spec->path, e))
		return -1;
	pe_buffer_init(&s->buffer, &s->input);
	if (format.container == PE_AUTO && sniff(s, &format, e))
		return -1;
	s->elem = format.elem;
	s->big_endian = format.big_endian;
	s->carrier = spec->carrier;
	s->header = spec->header;
	s->rows_optional = spec->rows_optional;
	s->separator = pe_format_separator(format);
	s->cols = spec->cols;
	s->rows = -1;
	r->text = pe_format_is_text(format);
	r->backend = containers[container_index(format.container)].backend;
	r->opened = true;
	return r->backend->open(s, e);
}

int
pe_reader_open(struct pe_reader **reader, const struct pe_reader_spec *spec, struct pe_error *e)
{
	struct pe_reader *r = calloc(1, sizeof *r);

	*reader = NULL;
	if (r == NULL)
		return pe_fail_memory(e);
	if (open_reader(r, spec, e)) {
		pe_reader_close(r);
		return -1;
	}
	*reader = r;
	return 0;
}

bool
pe_reader_is_file(const struct pe_reader *r)
{
	return r->source.input.owned && pe_input_size(&r->source.input) >= 0;
}

size_t
pe_reader_cols(const struct pe_reader *r)
{
	return r->source.cols;
}

enum pe_elem
pe_reader_elem(const struct pe_reader *r)
{
	return r->source.elem;
}

bool
pe_reader_is_text(const struct pe_reader *r)
{
	return r->text;
}

enum pe_elem
pe_reader_carrier(const struct pe_reader *r)
{
	return r->source.carrier;
}

int64_t
pe_reader_rows(const struct pe_reader *r)
{
	return r->source.rows;
}

int64_t
pe_reader_expects(const struct pe_reader *r)
{
	const struct pe_source *s = &r->source;

	if (!pe_reader_is_file(r) || s->rows >= 0 || r->backend != &pe_raw_backend)
		return pe_reader_is_file(r) ? s->rows : -1;
	const uint64_t bytes = pe_buffer_size(&s->buffer) + (uint64_t)pe_input_size(&s->input);
	return (int64_t)(bytes / (s->cols * pe_elem_size(s->elem)));
}

const char *
pe_reader_name(const struct pe_reader *r)
{
	return r->source.input.name;
}

const char *const *
pe_reader_names(const struct pe_reader *r)
{
	return (const char *const *)r->source.names;
}

ssize_t
pe_reader_read(struct pe_reader *r, void *rows, size_t max, struct pe_error *e)
{
	return max > 0 ? r->backend->read(&r->source, rows, max, e) : 0;
}

bool
pe_reader_waits(const struct pe_reader *r)
{
	return !r->source.buffer.ended && !r->backend->holds_row(&r->source) &&
	       !pe_input_ready(&r->source.input);
}

static ssize_t
read_more(void *reader, void *rows, size_t max, struct pe_error *e)
{
	return pe_reader_read(reader, rows, max, e);
}

int
pe_reader_all(struct pe_reader *r, struct pe_matrix *m, struct pe_error *e)
{
	/* a header's word counts where the file is as large as it says, which the backend has
	 * checked */
	const bool sure = r->source.rows > 0 && pe_reader_is_file(r);

	*m = (struct pe_matrix){.cols = r->source.cols, .elem = r->source.carrier};
	if (m->cols == 0) /* no rows, and that is allowed */
		return 0;
	return pe_rows_gather(m, read_more, r, sure ? (size_t)r->source.rows : 0, e);
}

void
pe_reader_close(struct pe_reader *r)
{
	struct pe_error unused; /* what there was to read has been read */

	if (r == NULL)
		return;
	if (r->opened)
		r->backend->close(&r->source);
	for (size_t i = 0; r->source.names != NULL && i < r->source.cols; i++)
		free(r->source.names[i]);
	free(r->source.names);
	pe_buffer_free(&r->source.buffer);
	(void)pe_input_close(&r->source.input, &unused);
	free(r);
}

int
pe_matrix_read(struct pe_matrix *m, const struct pe_reader_spec *spec, struct pe_error *e)
{
	struct pe_reader *r;

	if (pe_reader_open(&r, spec, e))
		return -1;
	const int failed = pe_reader_all(r, m, e);
	pe_reader_close(r);
	return failed;
}

/* ---- writing ---- */

struct pe_writer {
	struct pe_output output;
	struct pe_format format; /* container and element resolved */
	enum pe_elem carrier;
	size_t cols;
	const char *tensor; /* safetensors: its name */
	int64_t rows_due;   /* what a header says, -1: not known before the end */
	uint64_t rows;      /* put so far */
	bool held;          /* a header to a pipe, rows unknown: the whole of it stays in block */

	/* Bytes on their way out: whole rows. Between two calls there is always room for one more. */
	char *block;
	size_t used, room;
	size_t out_row; /* bytes of a row at most (text), or exactly */
	bool straight;  /* the block's bytes are rows of the carrier: they are filled in place */

	void *staged; /* rows of the carrier that pe_writer_room hands out, unless straight */
	size_t staged_rows;
	void *converted; /* one row of the element written, where the carrier is another */
	struct pe_csv_format text;
};

struct pe_format
pe_writer_format(const struct pe_writer_spec *spec)
{
	struct pe_format format = spec->format;

	if (format.container == PE_AUTO) {
		format = pe_format_of_path(spec->path);
		if (format.container == PE_AUTO)
			format.container = PE_CSV;
		if (spec->format.elem != PE_ELEM_NONE)
			format.elem = spec->format.elem;
	}
	return format;
}

/* Text prints whole numbers as they are and any float as the f64 that it is. */
static enum pe_elem
text_element(enum pe_elem carrier)
{
	return pe_elem_is_integer(carrier) ? carrier : PE_F64;
}

enum pe_elem
pe_writer_elem(const struct pe_writer_spec *spec)
{
	const struct pe_format format = pe_writer_format(spec);

	if (format.elem != PE_ELEM_NONE)
		return format.elem;
	if (pe_format_is_text(format))
		return text_element(spec->carrier);
	if (format.container == PE_NPY && spec->natural == PE_BF16)
		return PE_F32; /* npy has no bf16, and f32 holds every one */
	return spec->natural != PE_ELEM_NONE ? spec->natural : PE_F64;
}

enum pe_elem
pe_writer_carrier(const struct pe_writer *w)
{
	return w->carrier;
}

/* Makes room for `more` bytes behind the used ones: no more than that, so that blocks of a file
 * with a header are as large as others, unless all of the file gathers in the block. */
static int
reserve(struct pe_writer *w, size_t more, struct pe_error *e)
{
	if (w->room - w->used >= more)
		return 0;
	if (more > PTRDIFF_MAX / 2 - w->used)
		return pe_fail_memory(e);
	const size_t due = w->used + more, half_again = w->room + w->room / 2;
	const size_t room = w->held && half_again > due ? half_again : due;
	char *block = realloc(w->block, room);
	if (block == NULL)
		return pe_fail_memory(e);
	w->block = block;
	w->room = room;
	return 0;
}

/* What the block has room for behind what it begins with. Text may end a row behind its end. */
static size_t
block_size(const struct pe_writer *w)
{
	return w->out_row < PE_WRITE_BLOCK && !pe_format_is_text(w->format)
		   ? PE_WRITE_BLOCK
		   : PE_WRITE_BLOCK + w->out_row;
}

/* The block begins a page: rows that are filled in place are stored by whole lines, which an odd
 * beginning makes a sixth slower. */
static int
allocate_block(struct pe_writer *w, struct pe_error *e)
{
	const size_t page = 4096;

	w->room = block_size(w); /* no wrap: a row is no longer than PTRDIFF_MAX */
	w->block = aligned_alloc(page, (w->room + page - 1) / page * page);
	return w->block != NULL ? 0 : pe_fail_memory(e);
}

static int
write_block(struct pe_writer *w, struct pe_error *e)
{
	const size_t size = w->used;

	if (w->held || size == 0)
		return 0;
	w->used = 0;
	return pe_output_write(&w->output, w->block, size, e);
}

static int
begin_text(struct pe_writer *w, const struct pe_writer_spec *spec, struct pe_error *e)
{
	if (spec->stamp != NULL) {
		const size_t size = strlen(spec->stamp) + 3;
		if (reserve(w, size, e))
			return -1;
		memcpy(w->block + w->used, "# ", 2);
		memcpy(w->block + w->used + 2, spec->stamp, size - 3);
		w->used += size;
		w->block[w->used - 1] = '\n';
	}
	if (spec->names != NULL) {
		const char separator = w->text.separator;
		if (reserve(w, pe_csv_write_names(NULL, separator, spec->names, w->cols), e))
			return -1;
		w->used += pe_csv_write_names(w->block + w->used, separator, spec->names, w->cols);
	}
	return 0;
}

/* npy and safetensors say their row count first. */
static bool
headed(const struct pe_writer *w)
{
	return w->format.container == PE_NPY || w->format.container == PE_SAFETENSORS;
}

/* The header for that many rows, of the same size whatever their number. Allocated; NULL: no
 * memory. */
static char *
make_header(const struct pe_writer *w, uint64_t rows, size_t *size)
{
	if (w->format.container == PE_SAFETENSORS)
		return pe_safetensors_header(w->tensor, w->format.elem, rows, w->cols, size);
	char *header = malloc(PE_NPY_HEADER);
	if (header != NULL)
		pe_npy_header(header, w->format.elem, rows, w->cols);
	*size = PE_NPY_HEADER;
	return header;
}

static int
begin_headed(struct pe_writer *w, const struct pe_writer_spec *spec, struct pe_error *e)
{
	size_t size;

	w->rows_due = spec->rows;
	w->tensor = spec->tensor;
	char *header = make_header(w, spec->rows < 0 ? 0 : (uint64_t)spec->rows, &size);
	if (header == NULL)
		return pe_fail_memory(e);
	const int failed = reserve(w, size, e);
	if (!failed) {
		memcpy(w->block, header, size);
		w->used = size;
	}
	free(header);
	return failed;
}

static bool
swaps(const struct pe_writer *w)
{
	return w->format.container == PE_RAW && pe_raw_swapped(w->format.big_endian);
}

static int
allocate_writer(struct pe_writer *w, bool rows_unknown, struct pe_error *e)
{
	const bool text = pe_format_is_text(w->format);
	const size_t width = pe_elem_size(w->carrier);
	size_t row, converted;

	if (text ? !pe_csv_row_max(w->cols, &w->out_row)
		 : !pe_num_size(w->cols, pe_elem_size(w->format.elem), 1, &w->out_row))
		return pe_fail_memory(e);
	if (!pe_num_size(w->cols, width, 1, &row) || !pe_num_size(w->cols, 8, 1, &converted))
		return pe_fail_memory(e);
	w->held = headed(w) && rows_unknown && !pe_output_patchable(&w->output);
	w->straight = !text && w->carrier == w->format.elem && !swaps(w) && !w->held;
	if (w->straight)
		return 0;
	w->staged_rows = row < PE_IO_BLOCK ? PE_IO_BLOCK / row : 1;
	w->staged = malloc(w->staged_rows * row);
	w->converted = malloc(converted);
	return w->staged != NULL && w->converted != NULL ? 0 : pe_fail_memory(e);
}

static int
check_spec(const struct pe_writer_spec *spec, struct pe_format format, struct pe_error *e)
{
	if (spec->cols == 0)
		return pe_fail(e, PE_FAULT_DATA, "a matrix without columns cannot be written");
	if (format.container == PE_NPY && !pe_npy_has(format.elem))
		return pe_fail(e, PE_FAULT_ARGUMENT, "npy has no element '%s'",
			       pe_elem_name(format.elem));
	return 0;
}

static int
open_writer(struct pe_writer *w, const struct pe_writer_spec *spec, struct pe_error *e)
{
	w->output.fd = -1;
	w->format = pe_writer_format(spec);
	w->format.elem = pe_writer_elem(spec);
	w->carrier = spec->carrier != PE_ELEM_NONE ? spec->carrier : w->format.elem;
	w->cols = spec->cols;
	w->rows_due = -1;
	w->text = (struct pe_csv_format){pe_format_separator(w->format), spec->digits};
	if (check_spec(spec, w->format, e) ||
	    pe_output_open(&w->output, spec->path, spec->watch, e) ||
	    allocate_writer(w, spec->rows < 0, e))
		return -1;
	if (allocate_block(w, e) || (pe_format_is_text(w->format) && begin_text(w, spec, e)))
		return -1;
	if (headed(w) && begin_headed(w, spec, e))
		return -1;
	return reserve(w, block_size(w), e);
}

int
pe_writer_open(struct pe_writer **writer, const struct pe_writer_spec *spec, struct pe_error *e)
{
	struct pe_writer *w = calloc(1, sizeof *w);

	*writer = NULL;
	if (w == NULL)
		return pe_fail_memory(e);
	if (open_writer(w, spec, e)) {
		pe_writer_abandon(w);
		return -1;
	}
	*writer = w;
	return 0;
}

void *
pe_writer_room(struct pe_writer *w, size_t want, size_t *room)
{
	size_t rows = w->staged_rows;
	void *at = w->staged;

	if (w->straight) {
		rows = (w->room - w->used) / w->out_row;
		at = w->block + w->used;
	}
	*room = rows < want ? rows : want;
	return at;
}

/* Rows into the block, in the element and byte order of the file: as many as there is room for if
 * they are text and need no conversion, else one. There is room for one; n > 0. How many, 0 if they
 * cannot be converted. */
static size_t
put_rows(struct pe_writer *w, const void *rows, size_t n, struct pe_error *e)
{
	const enum pe_elem elem = w->format.elem;
	const bool text = pe_format_is_text(w->format);
	const size_t room = (w->room - w->used) / w->out_row;
	const size_t some = !text || w->carrier != elem ? 1 : n < room ? n : room;
	char *to = w->block + w->used;

	if (w->carrier != elem) {
		if (pe_convert_rows(w->output.name, w->rows, w->cols, elem, w->converted,
				    w->carrier, rows, w->cols, e))
			return 0;
		rows = w->converted;
	}
	if (text) {
		w->used += pe_csv_write_rows(to, &w->text, elem, rows, some, w->cols);
		return some;
	}
	memcpy(to, rows, w->out_row);
	if (swaps(w))
		pe_raw_swap(to, w->cols, pe_elem_size(elem));
	w->used += w->out_row;
	return some;
}

/* Room for one row more. */
static int
make_way(struct pe_writer *w, struct pe_error *e)
{
	if (w->room - w->used >= w->out_row)
		return 0;
	return w->held ? reserve(w, w->out_row, e) : write_block(w, e);
}

int
pe_writer_put(struct pe_writer *w, const void *rows, size_t n, struct pe_error *e)
{
	const char *row = rows;
	const size_t width = w->cols * pe_elem_size(w->carrier);

	if (w->straight && n * width >= PE_IO_BLOCK) { /* large enough as it is */
		w->rows += n;
		return write_block(w, e) || pe_output_write(&w->output, rows, n * width, e) ? -1
											    : 0;
	}
	while (n > 0) {
		const size_t some = put_rows(w, row, n, e);
		if (some == 0 || make_way(w, e))
			return -1;
		w->rows += some;
		n -= some;
		row += some * width;
	}
	return 0;
}

int
pe_writer_filled(struct pe_writer *w, size_t n, struct pe_error *e)
{
	if (!w->straight)
		return pe_writer_put(w, w->staged, n, e);
	w->used += n * w->out_row;
	w->rows += n;
	return make_way(w, e);
}

int
pe_writer_flush(struct pe_writer *w, struct pe_error *e)
{
	return write_block(w, e);
}

/* The row count into the header, where it was not known. */
static int
complete_header(struct pe_writer *w, struct pe_error *e)
{
	size_t size;
	int failed = 0;

	if (w->rows_due >= 0 && (uint64_t)w->rows_due != w->rows)
		return pe_fail(e, PE_FAULT_DATA, "%s: %llu rows came, %lld were announced",
			       w->output.name, (unsigned long long)w->rows, (long long)w->rows_due);
	if (w->rows_due >= 0)
		return 0;
	char *header = make_header(w, w->rows, &size);
	if (header == NULL)
		return pe_fail_memory(e);
	if (w->held) {
		memcpy(w->block, header, size);
		w->held = false;
		failed = write_block(w, e);
	} else {
		failed = pe_output_write_at(&w->output, 0, header, size, e);
	}
	free(header);
	return failed;
}

int
pe_writer_close(struct pe_writer *w, struct pe_error *e)
{
	int failed = write_block(w, e);

	if (!failed && headed(w))
		failed = complete_header(w, e);
	if (!failed)
		failed = pe_output_commit(&w->output, e);
	pe_writer_abandon(w);
	return failed;
}

void
pe_writer_abandon(struct pe_writer *w)
{
	if (w == NULL)
		return;
	pe_output_abandon(&w->output);
	free(w->block);
	free(w->staged);
	free(w->converted);
	free(w);
}
