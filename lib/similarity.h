/* similarity - how alike two rows are: of sinusoidal tables by offset alone, of any table row by
 * row. */
#ifndef PE_SIMILARITY_H
#define PE_SIMILARITY_H

#include <stddef.h>

#include "convention.h"
#include "error.h"
#include "matrix.h"

/* Sinusoidal rows k positions apart, gain 1 (Vaswani et al. 2017, section 3.5: the product of
 * p_t and p_(t+k) does not depend on t): dot = sum cos(omega_i k), over d/2 pairs; similarity =
 * dot / (d/2); distance = sqrt(d - 2 dot).
 *
 * Cosines and sines are exact to 2^-96 before they are added, so each result has an error of
 * half an ulp and 2^-90 at most (relative to d/2 for dot and similarity, to itself for the
 * distance, which is summed as 4 sin^2(omega_i k / 2) and so loses nothing for small offsets). */
struct pe_similarity {
	double dot, similarity, distance;
};

struct pe_similarity_plan; /* opaque; used by one thread at a time */

/* dim is even; layout and flip change nothing, the frequencies and the scale of positions count. */
int pe_similarity_init(struct pe_similarity_plan **plan, const struct pe_convention *c, size_t dim,
		       struct pe_error *e);
void pe_similarity_free(struct pe_similarity_plan *plan); /* NULL is allowed */
/* Any finite offset within +-2^53. */
struct pe_similarity pe_similarity_at(struct pe_similarity_plan *plan, double offset);

enum pe_metric {
	PE_METRIC_COSINE,
	PE_METRIC_DOT,
	PE_METRIC_DISTANCE,
};

/* Rows of a table held in memory. Double arithmetic: with S = sum |x_j y_j| over d columns, dot
 * has an error of at most (d/8 + 5) 2^-53 S; cosine of that over |x||y|, and is 1 for equal
 * rows; distance of (d/16 + 4) 2^-53 relative to itself. */
struct pe_likeness {
	const struct pe_matrix *table;
	enum pe_metric metric;
	double *squares; /* cosine: x . x of each row */
	int exponent;    /* distance: the table was scaled by 2^-exponent */
};

/* Takes an f64 table, and scales it by powers of two where that keeps squares from overflow:
 * rows for the cosine, the whole for the distance. The table must outlive the plan. */
int pe_likeness_init(struct pe_likeness *l, struct pe_matrix *table, enum pe_metric metric,
		     struct pe_error *e);
void pe_likeness_free(struct pe_likeness *l);
/* Symmetric in a and b, to the bit. */
double pe_likeness_of(const struct pe_likeness *l, size_t a, size_t b);

/* Rows first .. first + rows - 1 against all: rows of table->rows values. */
enum {
	PE_LIKENESS_BLOCK = 16
}; /* so many rows at a time keep the table from being fetched for each */
void pe_likeness_rows(const struct pe_likeness *l, size_t first, size_t rows, double *out);

/* Mean, minimum and maximum over all pairs of rows that lie so many rows apart; nan where one
 * value is. */
struct pe_spread {
	double mean, minimum, maximum;
};
/* Of offsets 0 .. table->rows - 1, one each. */
int pe_likeness_by_offset(const struct pe_likeness *l, struct pe_spread *spreads,
			  struct pe_error *e);

#endif
