/* diagnose - which convention turns one position table into another.
 *
 * Two questions are asked in turn. Is B a rearrangement of A: columns paired otherwise (also
 * head by head), sine and cosine exchanged, signs, a transpose, rows that start one or two
 * later, one factor on all values? The one with the fewest changes is named. If none is: are
 * both sinusoidal tables, and with which layout, base, frequency shift, start, position scale
 * and gain? These are measured from the angles, and what differs is named.
 *
 * Small differences of precision do not hide a convention: tolerance says how close is the same. */
#ifndef PE_DIAGNOSE_H
#define PE_DIAGNOSE_H

#include <stdbool.h>

#include "error.h"
#include "matrix.h"

struct pe_diagnosis {
	bool found;
	char text[512]; /* "interleaved -> halves, sine <-> cosine", or why nothing can be said */
};

/* a and b are f64 and have cells. tolerance >= 0, on |difference| of cells; < 0: a thousandth of
 * B's largest value, which float32 angles keep up to positions of some thousands, and where that
 * finds nothing a hundredth, which bf16 keeps. */
void pe_diagnose(const struct pe_matrix *a, const struct pe_matrix *b, double tolerance,
		 struct pe_diagnosis *d);

#endif
