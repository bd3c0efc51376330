/* skew - Huang's skewing (Music Transformer, Huang et al. 2018, section 3.4.1): from columns by
 * offset to columns by key, which is how q . e_(n-m) for all keys comes out of one matrix
 * product.
 *
 * Column c of the input is offset c - (L - 1). Row m of the output is a window of row m of the
 * input, so rows stream. Full: 2L - 1 columns in, L out. Causal: L columns in (offsets 1 - L ..
 * 0), L out, zeros where the key is to the right of the query. */
#ifndef PE_SKEW_H
#define PE_SKEW_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* L, which is both the rows due and the columns written; PE_FAULT_DATA where no L has that many
 * columns (full: an even count). */
int pe_skew_length(bool causal, size_t cols, size_t *length, struct pe_error *e);

/* Row `row` < L: from `from`, elements of `size` bytes, to `to`. */
void pe_skew_row(bool causal, size_t length, size_t row, size_t size, const void *from, void *to);

#endif
