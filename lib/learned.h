/* learned - rows of a table that was trained, not computed: read row t, or say where the table
 * ends.
 *
 * BERT and GPT-2 hold one row per position; RoBERTa's begin at row 2 (row_offset). A table can
 * be stretched to more or fewer rows by linear interpolation, as vision transformers are moved
 * to another resolution (Dosovitskiy et al. 2021, section 3.2). */
#ifndef PE_LEARNED_H
#define PE_LEARNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"
#include "matrix.h"
#include "positions.h"

enum pe_align {
	PE_ALIGN_CENTERS, /* row j reads (j + 1/2) R/T - 1/2: pixels with their centres at halves */
	PE_ALIGN_CORNERS, /* row j reads j (R - 1)/(T - 1): first and last rows stay */
};

struct pe_learned {
	const struct pe_matrix *table;
	const char *name;   /* of the table, for messages */
	int64_t row_offset; /* position t reads row t + row_offset; within +-2^53 */
	size_t stretch;     /* rows that the table is resampled to first; 0: as it is */
	enum pe_align align;
	double gain; /* multiplies values */
};

/* Rows that there are, stretched. */
size_t pe_learned_rows(const struct pe_learned *l);

/* Whether rows are handed out as they are, in the table's own element; else they are computed. */
bool pe_learned_is_plain(const struct pe_learned *l);

/* PE_FAULT_DATA where the table has no rows, PE_FAULT_ARGUMENT where the stretched sizes cannot
 * be computed with. */
int pe_learned_check(const struct pe_learned *l, struct pe_error *e);

/* Checks that rows from .. from + n - 1 of those positions (n may be PE_ENDLESS, or reach past
 * the last position) are all in the table: "position 1024: NAME has rows 0..1023" names the
 * first that is not. PE_FAULT_DATA. */
int pe_learned_find(const struct pe_learned *l, const struct pe_positions *at, uint64_t from,
		    uint64_t n, struct pe_error *e);

/* Copies checked rows, where the table is plain: n rows of the table's element. */
void pe_learned_copy(const struct pe_learned *l, const struct pe_positions *at, uint64_t from,
		     size_t n, void *out);

/* The same as doubles, plain or not. Each is the real value gain * ((1 - f) a + f b) of the
 * neighbours a and b, correctly rounded: to nearest, or, where `odd`, to odd, so that narrowing
 * it is the only rounding (Boldo and Melquiond 2008). Not finite neighbours go through as IEEE
 * 754 has it. */
void pe_learned_values(const struct pe_learned *l, const struct pe_positions *at, uint64_t from,
		       size_t n, bool odd, double *out);

#endif
