/* compare - by how much two matrices differ, cell by cell, and where.
 *
 * A cell is equal if its values are the same (-0 and 0 are), or if any one limit given holds:
 *   |a - b| <= abs,  |a - b| / |a| <= rel,  at most ulp representable numbers of the element apart.
 * A nan, and an infinity, is infinitely far from anything but itself; nan equals nan only if
 * that is asked for. All results come in one pass over rows that need not be kept. */
#ifndef PE_COMPARE_H
#define PE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"

struct pe_limits {
	double abs, rel; /* < 0: not given */
	int64_t ulp;     /* likewise */
	bool nan_equal;
};

/* A cell and its two values, each of the element compared in. */
struct pe_cell {
	bool found;
	uint64_t row;
	size_t col;
	unsigned char a[8], b[8];
};

struct pe_compare {
	struct pe_limits limits;
	/* of the rows: f64 f32 f16 bf16, or i64, which is compared exactly; its ulps are those
	 * of f64 */
	enum pe_elem elem;
	size_t cols;

	uint64_t rows;      /* compared so far */
	uint64_t differing; /* cells that are not equal */
	double max_abs, max_rel;
	uint64_t max_ulp;
	bool ulp_infinite; /* then max_ulp is beyond any number */
	/* the first that differs; the first of the largest |a - b| of all cells */
	struct pe_cell first, worst;
};

/* Zeroed but for limits, elem and cols before the first call. Takes the next n rows of both. */
void pe_compare_rows(struct pe_compare *c, const void *a, const void *b, size_t n);

/* How many numbers of the element lie between two, plus one; 0 for equal ones and for -0 and 0.
 * Neither may be nan. */
uint64_t pe_ulps(enum pe_elem elem, const void *a, const void *b);

#endif
