/* skew - from columns by offset to columns by key. */
#include "skew.h"

#include <string.h>

int
pe_skew_length(bool causal, size_t cols, size_t *length, struct pe_error *e)
{
	if (!causal && cols % 2 == 0)
		return pe_fail(e, PE_FAULT_DATA,
			       "a full skew takes 2L - 1 columns, an odd count: '%zu'", cols);
	*length = causal ? cols : (cols + 1) / 2;
	return 0;
}

void
pe_skew_row(bool causal, size_t length, size_t row, size_t size, const void *from, void *to)
{
	const size_t kept = causal ? row + 1 : length;

	memcpy(to, (const char *)from + (length - 1 - row) * size, kept * size);
	memset((char *)to + kept * size, 0, (length - kept) * size);
}
