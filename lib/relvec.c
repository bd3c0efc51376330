/* relvec - which row of a table belongs to an offset between query and key. */
#include "relvec.h"

static int
refuse_even(const char *place, size_t rows, const char *due, struct pe_error *e)
{
	return pe_fail(e, PE_FAULT_DATA, "%s: has %zu rows, an odd count is due (%s)", place, rows,
		       due);
}

int
pe_relvec_init_clipped(struct pe_relvec *r, const char *place, size_t rows, struct pe_error *e)
{
	if (rows % 2 == 0)
		return refuse_even(place, rows, "2K+1: offsets -K to K", e);
	*r = (struct pe_relvec){.first = -(int64_t)(rows / 2), .rows = rows, .clips = true};
	return 0;
}

int
pe_relvec_init_unclipped(struct pe_relvec *r, const char *place, size_t rows, bool one_sided,
			 struct pe_error *e)
{
	if (!one_sided && rows % 2 == 0)
		return refuse_even(place, rows, "2L-1: offsets 1-L to L-1", e);
	*r = (struct pe_relvec){
	    .first = -(int64_t)(one_sided ? rows - 1 : rows / 2),
	    .rows = rows,
	};
	return 0;
}

/* How many of the n whole numbers from lo on lie below the limit. */
static size_t
count_below(int64_t lo, size_t n, int64_t limit)
{
	if (limit <= lo)
		return 0;
	const uint64_t below = (uint64_t)limit - (uint64_t)lo;
	return below < n ? (size_t)below : n;
}

void
pe_relvec_bias(const struct pe_relvec *r, const struct pe_matrix *table, size_t head, int64_t lo,
	       size_t n, double *bias)
{
	const double *column = pe_matrix_f64(table) + head;
	const double least = r->clips ? column[0] : 0;
	const double most = r->clips ? column[(r->rows - 1) * table->cols] : 0;
	const size_t below = count_below(lo, n, r->first);
	const size_t reached = count_below(lo, n, r->first + (int64_t)r->rows);

	for (size_t j = 0; j < below; j++)
		bias[j] = least;
	for (size_t j = below; j < reached; j++)
		bias[j] = column[(size_t)(lo + (int64_t)j - r->first) * table->cols];
	for (size_t j = reached; j < n; j++)
		bias[j] = most;
}
