/* picture - a matrix as an image in netpbm's binary formats, a cell a square of pixels.
 *
 * P6 (ppm): white at 0, towards red above it and blue below, full at the ends of the range. P5
 * (pgm): black at the low end to white at the high one. Values beyond the range take its ends;
 * nan is mid-grey. Levels are rounded to nearest, halves up. */
#ifndef PE_PICTURE_H
#define PE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "io.h"
#include "matrix.h"

struct pe_picture {
	bool colour;      /* P6, else P5 */
	size_t zoom;      /* pixels of a cell's side, at least 1 */
	double low, high; /* the range, low < high */
};

/* The range that shows all finite values: colour -max|x| .. max|x|, grey min .. max. Where that
 * is empty (one value, none) it is 0 .. 1 around or above it, so that 0 is white and a constant
 * is black. */
void pe_picture_fit(struct pe_picture *p, const struct pe_matrix *m);

/* Writes header and pixels; m is f64 and has at least one cell. */
int pe_picture_write(const struct pe_picture *p, const struct pe_matrix *m, struct pe_output *out,
		     struct pe_error *e);

#endif
