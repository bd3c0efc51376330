/* alibi - linear biases. */
#include "alibi.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <mpfr.h>

#include "round.h"

/* A slope is 2^-x with x = max_bias * p / q. Where x is an integer it is exact in any precision;
 * elsewhere it is irrational, and so is its product with a distance of at most 53 bits: 192 bits
 * leave more than 80 to decide the rounding to 53, a chance of failure below 2^-60 over all
 * values that can be asked for. */
enum { PRECISION = 192 };

int
pe_alibi_check(const struct pe_alibi *a, struct pe_error *e)
{
	if (a->heads == 0)
		return pe_fail(e, PE_FAULT_ARGUMENT, "heads must be positive: '0'");
	if (!(a->max_bias > 0) || !isfinite(a->max_bias))
		return pe_fail(e, PE_FAULT_ARGUMENT, "max-bias must be positive and finite: '%g'",
			       a->max_bias);
	return 0;
}

/* slope = 2^(-max_bias (h + 1) / n), n the power of two that the head's place belongs to. */
static void
slope_of(const struct pe_alibi *a, size_t head, mpfr_ptr slope)
{
	size_t below = 1;

	while (below <= a->heads / 2)
		below *= 2;
	const size_t over = head < below ? below : 2 * below; /* heads beyond a power of two */
	const size_t step = head < below ? head + 1 : 2 * (head - below) + 1;
	mpfr_set_d(slope, a->max_bias, MPFR_RNDN);
	mpfr_mul_ui(slope, slope, (unsigned long)step, MPFR_RNDN);
	mpfr_div_ui(slope, slope, (unsigned long)over, MPFR_RNDN); /* exact: a power of two */
	mpfr_neg(slope, slope, MPFR_RNDN);
	mpfr_exp2(slope, slope, MPFR_RNDN);
}

void
pe_alibi_slopes(const struct pe_alibi *a, enum pe_elem elem, void *slopes)
{
	mpfr_t slope;

	mpfr_init2(slope, PRECISION);
	for (size_t h = 0; h < a->heads; h++) {
		slope_of(a, h, slope);
		pe_round_store(elem, slopes, h, slope);
	}
	mpfr_clear(slope);
	mpfr_free_cache();
}

/* Of the float elements only f16 ends below the largest slope times 2^53. */
static bool
overflows(enum pe_elem elem, const void *bias, size_t i, mpfr_srcptr x)
{
	return elem == PE_F16 && mpfr_number_p(x) &&
	       isinf(pe_f16_value(((const uint16_t *)bias)[i]));
}

int
pe_alibi_bias(const struct pe_alibi *a, enum pe_alibi_form form, size_t head, int64_t lo, size_t n,
	      enum pe_elem elem, void *bias, struct pe_error *e)
{
	mpfr_t slope, x;
	int status = 0;

	mpfr_inits2(PRECISION, slope, x, (mpfr_ptr)NULL);
	slope_of(a, head, slope);
	for (size_t i = 0; i < n && status == 0; i++) {
		const int64_t offset = lo + (int64_t)i;

		if (form == PE_ALIBI_CAUSAL && offset > 0) {
			mpfr_set_inf(x, -1);
		} else {
			const double factor =
			    form == PE_ALIBI_ROW ? (double)offset : -fabs((double)offset);
			mpfr_mul_d(x, slope, factor + 0.0,
				   MPFR_RNDN); /* + 0.0: distance 0 gives 0, not -0 */
		}
		pe_round_store(elem, bias, i, x);
		if (overflows(elem, bias, i, x))
			status = pe_fail(e, PE_FAULT_DATA, "%s %lld, head %zu: bias overflows %s",
					 form == PE_ALIBI_ROW ? "position" : "offset",
					 (long long)offset, head, pe_elem_name(elem));
	}
	mpfr_clears(slope, x, (mpfr_ptr)NULL);
	mpfr_free_cache();
	return status;
}

void
pe_alibi_slope_bias(double slope, int64_t lo, size_t n, double *bias)
{
	for (size_t i = 0; i < n; i++)
		bias[i] = 0.0 - slope * fabs((double)(lo + (int64_t)i));
}
