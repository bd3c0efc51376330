/* decimal_rows - rows of floats as text, by the best kernel that the machine has. */
#include "decimal_kernel.h"

/* ---- one number after the other ---- */

static size_t
write_f32(char *to, char separator, const float *x, size_t n)
{
	char *at = to;

	for (size_t i = 0; i < n; i++) {
		at += pe_decimal_write_f32(at, x[i]);
		*at++ = separator;
	}
	return (size_t)(at - to);
}

static size_t
write_f64(char *to, char separator, const double *x, size_t n)
{
	char *at = to;

	for (size_t i = 0; i < n; i++) {
		at += pe_decimal_write_f64(at, x[i]);
		*at++ = separator;
	}
	return (size_t)(at - to);
}

static bool
always(void)
{
	return true;
}

const struct pe_decimal_kernel pe_decimal_base = {"base", always, write_f32, write_f64};

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
pe_decimal_write_row_f32(char *to, char separator, const float *x, size_t n)
{
	return kernel_for(n)->write_f32(to, separator, x, n);
}

size_t
pe_decimal_write_row_f64(char *to, char separator, const double *x, size_t n)
{
	return kernel_for(n)->write_f64(to, separator, x, n);
}
