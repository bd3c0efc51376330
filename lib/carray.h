/* carray - a matrix as a C array, for firmware that has no file to read.
 *
 * "static const double NAME[rows][cols] = { ... };", or float: every number is a constant that
 * the compiler reads back to the same bits. nan and inf are NAN and INFINITY; then the text
 * includes <math.h>. */
#ifndef PE_CARRAY_H
#define PE_CARRAY_H

#include <stdbool.h>

#include "error.h"
#include "io.h"
#include "matrix.h"

/* True if name is a C identifier and no keyword of C11. */
bool pe_carray_name(const char *name);

/* m is f64 or f32 and has at least one cell. digits: 0 shortest, else significant digits.
 * comment, if not NULL, is the first line. */
int pe_carray_write(const struct pe_matrix *m, const char *name, int digits, const char *comment,
		    struct pe_output *out, struct pe_error *e);

#endif
