/* failures: from each allocation, each read and each write of a room on, all of them fail. The
 * call says why and returns -1, and what it had taken is given back. The torture of the commands
 * sees messages and statuses alone; a block that is lost on the way to them is seen here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

#include <stdlib.h>

#if defined(__GLIBC__) && !defined(SANITIZED) && !defined(__SANITIZE_ADDRESS__)

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <gmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <jansson.h>

#include "attend.h"
#include "carray.h"
#include "config.h"
#include "convention.h"
#include "fourier.h"
#include "io.h"
#include "matrix.h"
#include "picture.h"
#include "project.h"
#include "rope.h"
#include "safetensors.h"
#include "shift.h"
#include "similarity.h"
#include "sinusoid.h"
#include "stack.h"
#include "stream.h"
#include "t5.h"
#include "untied.h"
#include "window.h"
#include "xpos.h"

/* ---- the calls ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static atomic_long live; /* blocks that are held */

enum call { ALLOCATION, READ, WRITE, CALLS };
static atomic_long left[CALLS] = {LONG_MAX, LONG_MAX,
				  LONG_MAX}; /* that succeed before all others fail */
static const int errors[CALLS] = {ENOMEM, EIO, ENOSPC};

static bool
fails(enum call call)
{
	if (atomic_load(&left[call]) == LONG_MAX || atomic_fetch_sub(&left[call], 1) > 0)
		return false;
	errno = errors[call];
	return true;
}

/* Few bytes at a time, so that a matrix of some bytes is read and written in many places. */
enum { PIECE = 7 };

ssize_t
read(int fd, void *to, size_t size)
{
	return fails(READ) ? -1 : syscall(SYS_read, fd, to, size < PIECE ? size : PIECE);
}

ssize_t
write(int fd, const void *from, size_t size)
{
	return fails(WRITE) ? -1 : syscall(SYS_write, fd, from, size);
}

static void *
count(void *block)
{
	if (block != NULL)
		atomic_fetch_add(&live, 1);
	return block;
}

void *
malloc(size_t size)
{
	return fails(ALLOCATION) ? NULL : count(__libc_malloc(size));
}

void *
calloc(size_t n, size_t size)
{
	return fails(ALLOCATION) ? NULL : count(__libc_calloc(n, size));
}

void *
realloc(void *old, size_t size)
{
	if (fails(ALLOCATION))
		return NULL;
	return old == NULL ? count(__libc_malloc(size)) : __libc_realloc(old, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return fails(ALLOCATION) ? NULL : count(__libc_memalign(alignment, size));
}

void
free(void *block)
{
	if (block != NULL)
		atomic_fetch_sub(&live, 1);
	__libc_free(block);
}

/* GMP ends the process where it has no memory (the commands tell it how); jansson's want of it
 * is told as a fault of the text. Neither is ours: theirs do not fail here, and are not counted,
 * for MPFR keeps constants. */
static void *
gmp_realloc(void *old, size_t old_size, size_t size)
{
	(void)old_size;
	return __libc_realloc(old, size);
}

static void
gmp_free(void *block, size_t size)
{
	(void)size;
	__libc_free(block);
}

static int
set_up_libraries(void **unused)
{
	(void)unused;
	mp_set_memory_functions(__libc_malloc, gmp_realloc, gmp_free);
	json_set_alloc_funcs(__libc_malloc, __libc_free);
	return 0;
}

/* ---- each of a job's calls ---- */

typedef int job(const char *path, struct pe_error *e);

/* The room of files says it as the system does, with the file's name before it. */
static bool
says_why(enum call call, const struct pe_error *e)
{
	static const char *const words[CALLS] = {": Cannot allocate memory", ": Input/output error",
						 ": No space left on device"};

	if (call == ALLOCATION && e->fault == PE_FAULT_MEMORY)
		return strcmp(e->text, "out of memory") == 0;
	return e->fault == PE_FAULT_IO && strstr(e->text, words[call]) != NULL;
}

/* Runs the job with none, one, two ... of the calls until they are enough: how many that takes. */
static long
fewest(job *run, const char *path, enum call call)
{
	struct pe_error e;

	for (long n = 0;; n++) {
		const long held = atomic_load(&live);

		memset(&e, 0, sizeof e);
		atomic_store(&left[call], n);
		const int status = run(path, &e);
		const bool enough = atomic_exchange(&left[call], LONG_MAX) >= 0;
		if (status != (enough ? 0 : -1) || !(enough || says_why(call, &e)))
			fail_msg("call %d, %ld for %s: status %d: %s", call, n, path, status,
				 e.text);
		assert_int_equal(atomic_load(&live), held);
		if (enough)
			return n;
	}
}

static void
each_fails(job *run, const char *path, long allocations)
{
	struct pe_error e;

	if (run(path, &e)) /* what is kept for good is had by now */
		fail_msg("%s", e.text);
	assert_true(fewest(run, path, ALLOCATION) >= allocations);
	(void)fewest(run, path, READ);
	(void)fewest(run, path, WRITE);
}

/* ---- files ---- */

static char folder[] = "/tmp/posenc-failures-XXXXXX";
static char path_of[64];

static const char *
made(const char *name, const void *bytes, size_t size)
{
	(void)snprintf(path_of, sizeof path_of, "%s/%s", folder, name);
	FILE *f = fopen(path_of, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return path_of;
}

static const char *
made_text(const char *name, const char *text)
{
	return made(name, text, strlen(text));
}

static int
make_folder(void **state)
{
	return mkdtemp(folder) == NULL ? -1 : set_up_libraries(state);
}

static int
remove_folder(void **unused)
{
	static const char *const names[] = {"x.csv", "x.txt",         "x.f32",  "x.npy", "y.csv",
					    "y.npy", "m.safetensors", "c.json", "bare"};

	(void)unused;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		(void)snprintf(path_of, sizeof path_of, "%s/%s", folder, names[i]);
		(void)unlink(path_of);
	}
	return rmdir(folder);
}

/* ---- reading ---- */

static int
read_matrix(const char *path, struct pe_error *e)
{
	const char *dot = strrchr(path, '.');
	const struct pe_reader_spec spec = {
	    .path = path,
	    .header = dot != NULL && strcmp(dot, ".csv") == 0,
	    .cols = 2,
	    .carrier = PE_F64,
	};
	struct pe_matrix m;

	if (pe_matrix_read(&m, &spec, e))
		return -1;
	assert_int_equal(m.rows, 2);
	assert_true(pe_matrix_f64(&m)[3] == 4);
	pe_matrix_free(&m);
	return 0;
}

static const float values[4] = {1, 2, 3, 4};

/* The same matrix with its columns one after the other. */
static size_t
npy_by_columns(char *file)
{
	static const float columns[4] = {1, 3, 2, 4};
	static const char dict[] =
	    "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }           \n";

	memcpy(file, "\x93NUMPY\1\0", 8);
	file[8] = sizeof dict - 1;
	file[9] = 0;
	memcpy(file + 10, dict, sizeof dict - 1);
	memcpy(file + 10 + sizeof dict - 1, columns, sizeof columns);
	return 10 + sizeof dict - 1 + sizeof columns;
}

static size_t
checkpoint(char *file)
{
	static const char header[] =
	    "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}";

	memset(file, 0, 8);
	file[0] = sizeof header - 1;
	memcpy(file + 8, header, sizeof header - 1);
	memcpy(file + 8 + sizeof header - 1, values, sizeof values);
	return 8 + sizeof header - 1 + sizeof values;
}

static void
rows_read(void **unused)
{
	char file[256];

	(void)unused;
	each_fails(read_matrix, made_text("x.csv", "a,\"b\"\n1,\"2\"\n3,4\n"), 7);
	each_fails(read_matrix, made_text("x.txt", "1\t\"2\"\n3 4\n"), 5);
	each_fails(read_matrix, made("x.f32", values, sizeof values), 5);
	each_fails(read_matrix, made("x.npy", file, npy_by_columns(file)), 5);
	each_fails(read_matrix, made("bare", file, npy_by_columns(file)), 5);
	each_fails(read_matrix, made("m.safetensors", file, checkpoint(file)), 6);
	(void)snprintf(path_of, sizeof path_of, "%s/m.safetensors:w", folder);
	each_fails(read_matrix, path_of, 7);
}

static int
read_stack(const char *path, struct pe_error *e)
{
	const struct pe_reader_spec part = {.path = path, .cols = 2};
	const struct pe_reader_spec specs[] = {part, part};
	struct pe_stack *stack;
	struct pe_matrix m;

	if (pe_stack_open(&stack, specs, 2, (struct pe_slice){.from = 1, .open = true}, e))
		return -1;
	const int status = pe_stack_all(stack, &m, e);
	pe_stack_close(stack);
	if (status == 0)
		assert_int_equal(m.rows, 3);
	if (status == 0)
		pe_matrix_free(&m);
	return status;
}

static void
inputs_stacked(void **unused)
{
	(void)unused;
	each_fails(read_stack, made("x.f32", values, sizeof values), 8);
}

static int
list_tensors(const char *path, struct pe_error *e)
{
	struct pe_checkpoint c;
	const int status = pe_checkpoint_open(&c, path, e);

	pe_checkpoint_free(&c);
	return status;
}

static int
read_config(const char *path, struct pe_error *e)
{
	struct pe_config c;

	if (pe_config_read(&c, path, NULL, e))
		return -1;
	assert_int_equal(c.section_count, 2);
	pe_config_free(&c);
	return 0;
}

static void
headers_and_configurations(void **unused)
{
	char file[256];

	(void)unused;
	each_fails(list_tensors, made("m.safetensors", file, checkpoint(file)), 5);
	each_fails(read_config,
		   made_text("c.json", "{\"max_position_embeddings\": 16, \"rope_scaling\": {"
				       "\"rope_type\": \"longrope\", \"short_factor\": [1, 1],"
				       "\"long_factor\": [2, 2], \"factor\": 2,"
				       "\"mrope_section\": [1, 1]}}"),
		   6);
}

/* ---- writing ---- */

static int
write_matrix(const char *path, struct pe_error *e)
{
	static const char *const names[] = {"a", "b"};
	const bool text = strstr(path, ".csv") != NULL, known = strcmp(path, "/dev/null") != 0;
	const struct pe_writer_spec spec = {
	    .path = path,
	    .format = {.container = text ? PE_CSV : PE_NPY},
	    .stamp = text ? "posenc" : NULL,
	    .names = text ? names : NULL,
	    .cols = 2,
	    .rows = known && !text ? 1 : -1,
	    .carrier = PE_F32,
	};
	struct pe_writer *w;

	if (pe_writer_open(&w, &spec, e))
		return -1;
	if (pe_writer_put(w, values, 1, e)) {
		pe_writer_abandon(w);
		return -1;
	}
	return pe_writer_close(w, e);
}

/* So many rows that a held block grows. */
static int
hold_rows(const char *path, struct pe_error *e)
{
	enum { ROWS = 20000 };
	static const float rows[2 * ROWS];
	const struct pe_writer_spec spec = {.path = path,
					    .format = {.container = PE_NPY, .elem = PE_F64},
					    .cols = 2,
					    .rows = -1,
					    .carrier = PE_F32};
	struct pe_writer *w;

	if (pe_writer_open(&w, &spec, e))
		return -1;
	if (pe_writer_put(w, rows, ROWS, e)) {
		pe_writer_abandon(w);
		return -1;
	}
	return pe_writer_close(w, e);
}

static int
write_picture(const char *path, struct pe_error *e)
{
	const struct pe_picture p = {.zoom = 1, .low = 0, .high = 1};
	double x[2] = {0, 1};
	const struct pe_matrix m = {.rows = 1, .cols = 2, .elem = PE_F64, .data = x};
	struct pe_output out;

	if (pe_output_open(&out, path, NULL, e))
		return -1;
	const int status = pe_picture_write(&p, &m, &out, e);
	pe_output_abandon(&out);
	return status;
}

static int
write_array(const char *path, struct pe_error *e)
{
	enum { ROWS = 2000 };
	static double x[ROWS];
	const struct pe_matrix m = {.rows = ROWS, .cols = 1, .elem = PE_F64, .data = x};
	struct pe_output out;

	x[0] = (double)INFINITY;
	if (pe_output_open(&out, path, NULL, e))
		return -1;
	const int status = pe_carray_write(&m, "x", 0, "*/", &out, e);
	pe_output_abandon(&out);
	return status;
}

static int
grow_matrix(const char *unused, struct pe_error *e)
{
	struct pe_matrix m = {.cols = 2, .elem = PE_F64};
	size_t capacity = 0;

	(void)unused;
	const int status =
	    pe_matrix_resize(&m, 3, &capacity, e) || pe_matrix_resize(&m, 30, &capacity, e) ? -1
											    : 0;
	pe_matrix_free(&m);
	return status;
}

static int
offsets_as_values(const void *context, size_t head, int64_t lo, size_t n, enum pe_elem elem,
		  void *to, struct pe_error *e)
{
	(void)context;
	(void)head;
	(void)e;
	assert_int_equal(elem, PE_F64);
	for (size_t i = 0; i < n; i++)
		((double *)to)[i] = (double)(lo + (int64_t)i);
	return 0;
}

static int
write_window(const char *path, struct pe_error *e)
{
	enum { SIDE = 300 }; /* more than a block of text */
	const struct pe_window window = {
	    .heads = 1, .rows = SIDE, .cols = SIDE, .values = offsets_as_values};
	const struct pe_writer_spec spec = {
	    .path = path, .cols = SIDE, .rows = SIDE, .carrier = PE_F64};
	struct pe_writer *w;

	if (pe_writer_open(&w, &spec, e))
		return -1;
	if (pe_window_write(&window, w, e)) {
		pe_writer_abandon(w);
		return -1;
	}
	return pe_writer_close(w, e);
}

static void
rows_written(void **unused)
{
	(void)unused;
	(void)snprintf(path_of, sizeof path_of, "%s/y.csv", folder);
	each_fails(write_matrix, path_of, 6);
	each_fails(write_window, path_of, 6);
	(void)snprintf(path_of, sizeof path_of, "%s/y.npy", folder);
	each_fails(write_matrix, path_of, 6);
	each_fails(write_matrix, "/dev/null", 6);
	each_fails(hold_rows, "/dev/null", 7);
	each_fails(write_picture, "/dev/null", 2);
	each_fails(write_array, "/dev/null", 1);
	each_fails(grow_matrix, NULL, 2);
}

/* ---- plans ---- */

static const struct pe_convention paper = PE_CONVENTION_PAPER;

static int
plan_sinusoid(const char *unused, struct pe_error *e)
{
	struct pe_sinusoid *s;

	(void)unused;
	if (pe_sinusoid_init(&s, &paper, 8, e))
		return -1;
	pe_sinusoid_free(s);
	return 0;
}

static int
plan_grid(const char *unused, struct pe_error *e)
{
	struct pe_grid *g;

	(void)unused;
	if (pe_grid_init(&g, &paper, 2, 3, 8, e))
		return -1;
	pe_grid_free(g);
	return 0;
}

static int
plan_shift(const char *unused, struct pe_error *e)
{
	struct pe_shift *s;

	(void)unused;
	if (pe_shift_init(&s, &paper, 8, 1, PE_F64, e))
		return -1;
	pe_shift_free(s);
	return 0;
}

static int
plan_rope(const char *unused, struct pe_error *e)
{
	static const double divisors[4] = {1, 2, 3, 4};
	static const unsigned char axis[4] = {0, 1, 0, 1};
	struct pe_rope_spec spec = {
	    .head_dim = 8,
	    .rotary_dim = 8,
	    .freq = {.pairs = 4, .base = 10000, .half = 4},
	    .scaling = pe_scaling_make(PE_SCALING_LONGROPE),
	    .axes = 2,
	    .axis = axis,
	};
	struct pe_rope *p;

	(void)unused;
	spec.scaling.divisors = divisors;
	if (pe_scaling_set(&spec.scaling, "", pe_scaling_key("factor"), 2, e) ||
	    pe_scaling_set(&spec.scaling, "", pe_scaling_key("original"), 16, e))
		return -1;
	if (pe_rope_init(&p, &spec, e))
		return -1;
	pe_rope_free(p);
	return 0;
}

static int
plan_xpos(const char *unused, struct pe_error *e)
{
	const struct pe_xpos_spec spec = {PE_XPOS_QUERY, 4, 512, 0};
	struct pe_xpos *p;

	(void)unused;
	if (pe_xpos_init(&p, &spec, e))
		return -1;
	pe_xpos_free(p);
	return 0;
}

static int
plan_similarity(const char *unused, struct pe_error *e)
{
	struct pe_similarity_plan *p;
	double x[4] = {1, 2, 3, 4};
	struct pe_matrix table = {.rows = 2, .cols = 2, .elem = PE_F64, .data = x};
	struct pe_spread spreads[3];
	struct pe_likeness l;

	(void)unused;
	if (pe_similarity_init(&p, &paper, 8, e))
		return -1;
	pe_similarity_free(p);
	if (pe_likeness_init(&l, &table, PE_METRIC_COSINE, e))
		return -1;
	const int status = pe_likeness_by_offset(&l, spreads, e);
	pe_likeness_free(&l);
	return status;
}

static int
plan_features(const char *unused, struct pe_error *e)
{
	static const double matrix[6] = {1, 2, 3, 4, 5, 6};
	const struct pe_bands_spec bands = {.dims = 2, .bands = 3, .input = true};
	const struct pe_fourier_spec spec = {
	    .dims = 3, .features = 2, .matrix = matrix, .log = true};
	struct pe_bands *b;
	struct pe_fourier *f;

	(void)unused;
	if (pe_bands_init(&b, &bands, e))
		return -1;
	pe_bands_free(b);
	if (pe_fourier_init(&f, &spec, e))
		return -1;
	pe_fourier_free(f);
	return 0;
}

static int
plan_biases(const char *unused, struct pe_error *e)
{
	double x[4] = {1, 2, 3, 4};
	const struct pe_matrix table = {.rows = 2, .cols = 2, .elem = PE_F64, .data = x};
	struct pe_t5 t5;
	struct pe_untied untied;

	(void)unused;
	if (pe_t5_init(&t5, 8, 16, true, e))
		return -1;
	pe_t5_free(&t5);
	if (pe_untied_init(&untied, &table, &table, 1, false, e))
		return -1;
	pe_untied_free(&untied);
	return 0;
}

static int
attend(const char *unused, struct pe_error *e)
{
	double x[4] = {1, 0, 0, 1}, out[4];
	const struct pe_matrix w = {.rows = 2, .cols = 2, .elem = PE_F64, .data = x};
	struct pe_project p;

	(void)unused;
	if (pe_project_init(&p, &w, PE_F64, 1, e))
		return -1;
	int status = pe_project_rows(&p, x, 2, out, e);
	pe_project_free(&p);
	if (status == 0)
		status = pe_attend_by_heads(PE_F64, out, 2, 2, 1, e);
	return status;
}

static int
name_columns(const char *unused, struct pe_error *e)
{
	static const char *const prefixes[] = {""};
	struct pe_columns columns;

	(void)unused;
	if (pe_convention_columns(&paper, 4, &columns, e))
		return -1;
	char **names = pe_convention_names(&columns, prefixes, 1);
	if (names == NULL)
		return pe_fail_memory(e);
	assert_string_equal(names[3], "c1");
	free(names);
	return 0;
}

static void
plans_made(void **unused)
{
	(void)unused;
	each_fails(plan_sinusoid, NULL, 2);
	each_fails(plan_grid, NULL, 4);
	each_fails(plan_shift, NULL, 2);
	each_fails(plan_rope, NULL, 5);
	each_fails(plan_xpos, NULL, 2);
	each_fails(plan_similarity, NULL, 4);
	each_fails(plan_features, NULL, 6);
	each_fails(plan_biases, NULL, 3);
	each_fails(attend, NULL, 5);
	each_fails(name_columns, NULL, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_read),
	    cmocka_unit_test(inputs_stacked),
	    cmocka_unit_test(headers_and_configurations),
	    cmocka_unit_test(rows_written),
	    cmocka_unit_test(plans_made),
	};

	return cmocka_run_group_tests_name("failures", tests, make_folder, remove_folder);
}

#else

int
main(void)
{
	return 0; /* the allocator is glibc's to be told from, and no sanitizer's */
}

#endif
