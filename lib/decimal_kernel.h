/* decimal_kernel - rows of floats as text and back, one instruction set at a time. Not for other rooms but
 * for the unit test and the benchmark, which force a kernel.
 *
 * All kernels write the same bytes, and read the same values: those of the functions for one
 * number. Reading, they may stop at different places. */
#ifndef PE_DECIMAL_KERNEL_H
#define PE_DECIMAL_KERNEL_H

#include <stdbool.h>

#include "decimal.h"

struct pe_decimal_kernel {
	const char *name;
	bool (*runs)(void); /* does this machine have the instructions? */

	/* as pe_decimal_write_rows_f32 and so on */
	size_t (*write_f32)(char *to, char separator, const float *x, size_t rows, size_t cols);
	size_t (*write_f64)(char *to, char separator, const double *x, size_t rows, size_t cols);
	size_t (*read_f32)(const char *begin, const char *text, const char *end, char separator,
			   float *row, size_t n, const char **behind);
	size_t (*read_f64)(const char *begin, const char *text, const char *end, char separator,
			   double *row, size_t n, const char **behind);
};

/* v3 and v4 exist on x86-64 alone. */
extern const struct pe_decimal_kernel pe_decimal_base, pe_decimal_v3, pe_decimal_v4;

/* Kernel number k, best first, of those built in: NULL behind the last. A machine may lack what
 * the first ones need. */
const struct pe_decimal_kernel *pe_decimal_kernel_at(size_t k);

/* v3 and v4 share these. */
size_t pe_decimal_read_f32_v3(const char *begin, const char *text, const char *end, char separator,
			      float *row, size_t n, const char **behind);
size_t pe_decimal_read_f64_v3(const char *begin, const char *text, const char *end, char separator,
			      double *row, size_t n, const char **behind);

#endif
