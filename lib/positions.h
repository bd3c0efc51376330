/* positions - where the rows of a table stand: evenly spaced whole numbers, or a list of any
 * numbers.
 *
 * A position is exact in a double up to 2^53 in magnitude, and no table goes beyond. */
#ifndef PE_POSITIONS_H
#define PE_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define PE_ENDLESS UINT64_MAX /* a count of rows without end */

struct pe_positions {
	int64_t first, step; /* row r stands at first + r * step, unless there is a list */
	const double *list;  /* row r stands at list[r]; borrowed */
	size_t listed;       /* length of the list */
};

/* Position of row r < pe_positions_rows. */
double pe_positions_at(const struct pe_positions *p, uint64_t row);

/* How many rows there are before the list ends or a position lies beyond +-2^53: the rows of index
 * 0 .. result - 1 are good. PE_ENDLESS with step 0. */
uint64_t pe_positions_rows(const struct pe_positions *p);

/* Checks that every number of the list is finite and within +-2^53; whole: without a fraction,
 * too. name is the list's, for the message: "NAME: row R: what: 'number'", rows counted from 0.
 * PE_FAULT_DATA. Of M-RoPE a row has several positions: cols. */
int pe_positions_check_rows(const double *list, size_t rows, size_t cols, const char *name,
			    bool whole, struct pe_error *e);

#endif
