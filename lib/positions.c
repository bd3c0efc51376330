/* positions - where the rows of a table stand. */
#include "positions.h"

#include <math.h>

#include "num.h"

double
pe_positions_at(const struct pe_positions *p, uint64_t row)
{
	/* wraps as unsigned numbers do, back to what fits */
	return p->list != NULL ? p->list[row]
			       : (double)(int64_t)((uint64_t)p->first + row * (uint64_t)p->step);
}

uint64_t
pe_positions_rows(const struct pe_positions *p)
{
	if (p->list != NULL)
		return p->listed;
	if (p->first > PE_POSITION_MAX || p->first < -PE_POSITION_MAX)
		return 0;
	if (p->step == 0)
		return PE_ENDLESS;
	const uint64_t room =
	    (uint64_t)(p->step > 0 ? PE_POSITION_MAX - p->first : p->first + PE_POSITION_MAX);
	const uint64_t stride = p->step > 0 ? (uint64_t)p->step : 0 - (uint64_t)p->step;
	return room / stride + 1;
}

int
pe_positions_check_rows(const double *list, size_t rows, size_t cols, const char *name, bool whole,
			struct pe_error *e)
{
	for (size_t i = 0; i < rows * cols; i++) {
		const double t = list[i];
		const char *fault = NULL;

		if (!isfinite(t))
			fault = "a position must be finite";
		else if (fabs(t) > (double)PE_POSITION_MAX)
			fault = "position beyond 2^53";
		else if (whole && t != trunc(t))
			fault = "a position in a learned table must be whole";
		if (fault != NULL)
			return pe_fail(e, PE_FAULT_DATA, "%s: row %zu: %s: '%.17g'", name, i / cols,
				       fault, t);
	}
	return 0;
}
