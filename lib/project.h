/* project - rows times a matrix: y = x W, W stored in x out, so that column j of W makes output j.
 *
 * The projections of attention (Vaswani et al. 2017, section 3.2.2), and the bilinear form q W
 * k^T, which is the dot product of the projected row q W with k. y_j is the score of x against
 * column j of W as attend computes scores: its kernels, its arithmetic and error bound, and as
 * there a row's result depends on the row alone. */
#ifndef PE_PROJECT_H
#define PE_PROJECT_H

#include <stddef.h>

#include "attend.h"
#include "error.h"
#include "matrix.h"

/* Read-only after init. */
struct pe_project {
	struct pe_matrix columns; /* W transposed, in the element of the rows */
	struct pe_attend *scores;
};

/* w is f64; values are rounded to elem, PE_F64 or PE_F32, and w is not needed afterwards. */
int pe_project_init(struct pe_project *p, const struct pe_matrix *w, enum pe_elem elem,
		    size_t threads, struct pe_error *e);
void pe_project_free(struct pe_project *p); /* may be called on a zeroed struct */

/* x: rows x columns.cols, y: rows x columns.rows, of the element. They do not overlap. */
int pe_project_rows(const struct pe_project *p, const void *x, size_t rows, void *y,
		    struct pe_error *e);

#endif
