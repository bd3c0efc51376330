/* stack - several inputs as one matrix, their rows one after the other, of which a range is taken.
 *
 * All inputs are opened before the first row is read, so that widths that differ and files that
 * are not there are told first. Regular files are closed again until their turn comes: any
 * number of them goes. */
#ifndef PE_STACK_H
#define PE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "stream.h"

/* Indices from 0, `to` left out. */
struct pe_slice {
	uint64_t from, to;
	bool open; /* there is no `to`: up to the end */
};

struct pe_stack; /* opaque */

/* The specs' strings must outlive the stack. Their width, where 0, is that of the first; their
 * carrier, where NONE, the narrowest element that holds every input's values. rows must lie
 * within the inputs: where these tell how many they have, that is checked here, else when they
 * end. */
int pe_stack_open(struct pe_stack **stack, const struct pe_reader_spec *specs, size_t count,
		  struct pe_slice rows, struct pe_error *e);
void pe_stack_close(struct pe_stack *stack); /* NULL is allowed */

size_t pe_stack_cols(const struct pe_stack *stack);
enum pe_elem pe_stack_elem(const struct pe_stack *stack); /* the narrowest that holds all values */
enum pe_elem pe_stack_carrier(const struct pe_stack *stack);
int64_t pe_stack_rows(const struct pe_stack *stack); /* of the range, -1 where nothing tells */
const char *const *pe_stack_names(const struct pe_stack *stack); /* the first input's, or NULL */

/* As pe_reader_read and pe_reader_waits. Reads no row behind the range. */
ssize_t pe_stack_read(struct pe_stack *stack, void *rows, size_t max, struct pe_error *e);
bool pe_stack_waits(const struct pe_stack *stack);
/* All rows that are left. */
int pe_stack_all(struct pe_stack *stack, struct pe_matrix *m, struct pe_error *e);

#endif
