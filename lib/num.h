/* num - strict numbers from text, and sizes that cannot wrap.
 *
 * Options and ranges are read here; cells of a matrix are read by decimal and csvio. */
#ifndef PE_NUM_H
#define PE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* Positions are exact in a double up to this magnitude; every table refuses what lies beyond. */
#define PE_POSITION_MAX (INT64_C(1) << 53)

/* The largest count of rows or columns that an option may name. */
#define PE_COUNT_MAX (UINT64_C(1) << 40)

/* The whole of text must be the number: no blanks, no empty text. Decimal integers with an optional
 * sign; doubles as in a CSV cell (decimal rounded to nearest, hex floats exact, nan and inf are
 * refused). place names the option or file in the message: "-d". */
int pe_num_int64(const char *place, const char *text, int64_t *value, struct pe_error *e);
int pe_num_double(const char *place, const char *text, double *value, struct pe_error *e);

/* 1 .. PE_COUNT_MAX; "must be positive" otherwise. */
int pe_num_positive(const char *place, const char *text, size_t *value, struct pe_error *e);

/* 0 .. PE_COUNT_MAX. */
int pe_num_count(const char *place, const char *text, size_t *value, struct pe_error *e);

/* *product = a * b * c; false if it does not fit PTRDIFF_MAX, the largest object there can be. */
bool pe_num_size(size_t a, size_t b, size_t c, size_t *product);

/* The same, failing with "rows x columns x bytes" in the text. */
int pe_num_matrix_size(size_t rows, size_t cols, size_t element, size_t *bytes, struct pe_error *e);

#endif
