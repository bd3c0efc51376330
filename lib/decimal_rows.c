/* decimal_rows - rows of floats as text and back, by the best kernel that the machine has. */
#include "decimal_kernel.h"

/* ---- one number after the other ---- */

static size_t
write_f32(char *to, char separator, const float *x, size_t rows, size_t cols)
{
	char *at = to;

	for (; rows > 0; rows--, at[-1] = '\n')
		for (size_t i = 0; i < cols; i++) {
			at += pe_decimal_write_f32(at, *x++);
			*at++ = separator;
		}
	return (size_t)(at - to);
}

static size_t
write_f64(char *to, char separator, const double *x, size_t rows, size_t cols)
{
	char *at = to;

	for (; rows > 0; rows--, at[-1] = '\n')
		for (size_t i = 0; i < cols; i++) {
			at += pe_decimal_write_f64(at, *x++);
			*at++ = separator;
		}
	return (size_t)(at - to);
}

/* Steps over the separator before number i; false where none is. */
static bool
next_number(const char **s, const char *end, char separator, size_t i)
{
	if (i == 0)
		return true;
	return *s < end && *(*s)++ == separator;
}

static size_t
read_f32(const char *begin, const char *text, const char *end, char separator, float *row, size_t n,
	 const char **behind)
{
	const char *s = *behind = text;
	size_t i = 0;

	(void)begin;
	for (; i < n && next_number(&s, end, separator, i); i++, s = *behind) {
		const char *past;
		if (pe_decimal_read_f32(s, end, row + i, &past) != PE_DECIMAL_OK)
			break;
		*behind = past;
	}
	return i;
}

static size_t
read_f64(const char *begin, const char *text, const char *end, char separator, double *row,
	 size_t n, const char **behind)
{
	const char *s = *behind = text;
	size_t i = 0;

	(void)begin;
	for (; i < n && next_number(&s, end, separator, i); i++, s = *behind) {
		const char *past;
		if (pe_decimal_read_f64(s, end, row + i, &past) != PE_DECIMAL_OK)
			break;
		*behind = past;
	}
	return i;
}

static bool
always(void)
{
	return true;
}

const struct pe_decimal_kernel pe_decimal_base = {
    .name = "base",
    .runs = always,
    .write_f32 = write_f32,
    .write_f64 = write_f64,
    .read_f32 = read_f32,
    .read_f64 = read_f64,
};

/* ---- the choice ---- */

const struct pe_decimal_kernel *
pe_decimal_kernel_at(size_t k)
{
#if defined(__x86_64__) || defined(__amd64__)
	static const struct pe_decimal_kernel *const kernels[] = {&pe_decimal_v4, &pe_decimal_v3,
								  &pe_decimal_base};
#else
	static const struct pe_decimal_kernel *const kernels[] = {&pe_decimal_base};
#endif
	return k < sizeof kernels / sizeof *kernels ? kernels[k] : NULL;
}

static const struct pe_decimal_kernel *
best_kernel(void)
{
	size_t k = 0;

	while (!pe_decimal_kernel_at(k)->runs())
		k++;
	return pe_decimal_kernel_at(k);
}

/* A kernel's work for one number is that for a whole vector. */
static const struct pe_decimal_kernel *
kernel_for(size_t n)
{
	enum { ENOUGH = 4 };

	return n < ENOUGH ? &pe_decimal_base : best_kernel();
}

size_t
pe_decimal_write_rows_f32(char *to, char separator, const float *x, size_t rows, size_t cols)
{
	return kernel_for(rows * cols)->write_f32(to, separator, x, rows, cols);
}

size_t
pe_decimal_write_rows_f64(char *to, char separator, const double *x, size_t rows, size_t cols)
{
	return kernel_for(rows * cols)->write_f64(to, separator, x, rows, cols);
}

size_t
pe_decimal_read_row_f32(const char *begin, const char *text, const char *end, char separator,
			float *row, size_t n, const char **behind)
{
	return best_kernel()->read_f32(begin, text, end, separator, row, n, behind);
}

size_t
pe_decimal_read_row_f64(const char *begin, const char *text, const char *end, char separator,
			double *row, size_t n, const char **behind)
{
	return best_kernel()->read_f64(begin, text, end, separator, row, n, behind);
}
