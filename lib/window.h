/* window - matrices that know the offset alone, written without ever being held.
 *
 * Row m of such a (Toeplitz) matrix is a window that slides over one vector by offset n - m: TQ
 * + TK - 1 values make TQ x TK. The matrices of several heads are stacked, head 0 first. */
#ifndef PE_WINDOW_H
#define PE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"
#include "stream.h"

/* Values of one head for the offsets lo, lo + 1, ..., lo + n - 1, as elem. */
typedef int pe_window_values(const void *context, size_t head, int64_t lo, size_t n,
			     enum pe_elem elem, void *values, struct pe_error *e);

struct pe_window {
	size_t heads;
	/* TQ, TK: query positions first .. first + TQ - 1, key positions 0 .. TK - 1 */
	size_t rows, cols;
	int64_t first;
	pe_window_values *values;
	const void *context;
	/* What a [CLS] token at position 0 sees (Ke et al. 2021, TUPE): its whole row, and
	 * column 0 of the other rows; one value per head, as elem of the writer. NULL: nothing
	 * special. */
	const void *cls_row, *cls_column;
};

/* Writes heads * rows rows of cols values in the writer's carrier. Memory: 64 Ki + cols values. */
int pe_window_write(const struct pe_window *window, struct pe_writer *out, struct pe_error *e);

#endif
