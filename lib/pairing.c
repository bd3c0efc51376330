/* pairing - columns from one pair layout to the other. */
#include "pairing.h"

size_t
pe_pairing_source(bool to_halves, size_t dim, size_t column)
{
	const size_t head = column - column % dim, at = column % dim, half = dim / 2;

	if (to_halves)
		return head + (at < half ? 2 * at : 2 * (at - half) + 1);
	return head + at / 2 + (at % 2 == 0 ? 0 : half);
}
