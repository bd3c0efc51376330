/* relvec - which row of a table belongs to an offset between query and key (offset = key - query).
 *
 * Clipped (Shaw, Uszkoreit, Vaswani 2018): 2K+1 rows for the offsets -K .. K, farther offsets
 * take the nearest row. Unclipped (Huang et al. 2018, Music Transformer): one row for each
 * offset there is, farther ones have none. What the rows are - key vectors, value vectors,
 * scalars of the heads - is the caller's. */
#ifndef PE_RELVEC_H
#define PE_RELVEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "matrix.h"

struct pe_relvec {
	int64_t first; /* offset of row 0; row r has offset first + r */
	size_t rows;
	bool clips; /* offsets beyond the table take its end rows; else they have none */
};

/* Offsets -K .. K in 2K+1 rows. PE_FAULT_DATA for an even count; place names the table in the
 * message. */
int pe_relvec_init_clipped(struct pe_relvec *r, const char *place, size_t rows, struct pe_error *e);

/* Offsets 1-L .. 0 in L rows (one_sided: a causal model), else 1-L .. L-1 in 2L-1 rows, an odd
 * count. */
int pe_relvec_init_unclipped(struct pe_relvec *r, const char *place, size_t rows, bool one_sided,
			     struct pe_error *e);

/* Bias by offset of one head: bias[j] = table[row of offset lo + j][head] for n offsets, 0 where
 * there is no row. table is r->rows x heads, f64; lo and lo + n lie within int64. */
void pe_relvec_bias(const struct pe_relvec *r, const struct pe_matrix *table, size_t head,
		    int64_t lo, size_t n, double *bias);

#endif
