/* untied - absolute positions that meet each other but not the words (TUPE: Ke, He, Liu 2021,
 * section 3.1).
 *
 * The term of query position m and key position n in head h is (P_m U_h) . (P_n V_h), where U
 * and V are the positions' own projections. It is a dot product, so it needs no T x T: whoever
 * computes q . k appends these features to q and to k, and both share one scale.
 *
 * With [CLS] at position 0 (section 3.2) two more features carry the reset: the row of position
 * 0 is p0 . p0 throughout, and column 0 of every other row is p1 . p1, where p0 and p1 are the
 * first two rows of P; P then has one row more, and row t + 1 is position t. */
#ifndef PE_UNTIED_H
#define PE_UNTIED_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "matrix.h"

/* Read-only after init: positions x heads * width a side, head h in columns h * width on. */
struct pe_untied {
	size_t heads, width, positions;
	struct pe_matrix query, key;
};

/* query is P U, key is P V, both rows of P x heads * d, of one element, PE_F64 or PE_F32, which
 * the features take. With cls P has at least 2 rows. The matrices are not needed afterwards.
 * Fails only for want of memory. */
int pe_untied_init(struct pe_untied *u, const struct pe_matrix *query, const struct pe_matrix *key,
		   size_t heads, bool cls, struct pe_error *e);
void pe_untied_free(struct pe_untied *u); /* may be called on a zeroed struct */

#endif
