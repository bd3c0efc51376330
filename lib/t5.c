/* t5 - relative-position buckets. */
#include "t5.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>

/* With e = max_exact, D = max_distance and N logarithmic buckets, distance n has reached bucket
 * e + k iff n >= e (D/e)^(k/N), that is n^N >= D^k e^(N-k). */
struct spacing {
	uint64_t exact, distance;
	size_t logs;
};

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void
set_u64(mpz_t z, uint64_t x)
{
	mpz_import(z, 1, 1, sizeof x, 0, 0, &x);
}

/* n^N >= D^k e^(N-k), in integers, with k/N in lowest terms so that the powers stay small. */
static bool
reaches(const struct spacing *s, size_t k, uint64_t n)
{
	const uint64_t common = gcd(k, s->logs);
	const unsigned long whole = (unsigned long)(s->logs / common),
			    part = (unsigned long)(k / common);
	mpz_t left, right, power;
	bool yes;

	mpz_inits(left, right, power, (mpz_ptr)NULL);
	set_u64(left, n);
	mpz_pow_ui(left, left, whole);
	set_u64(right, s->distance);
	mpz_pow_ui(right, right, part);
	set_u64(power, s->exact);
	mpz_pow_ui(power, power, whole - part);
	mpz_mul(right, right, power);
	yes = mpz_cmp(left, right) >= 0;
	mpz_clears(left, right, power, (mpz_ptr)NULL);
	return yes;
}

/* The least integer at or above e (D/e)^(k/N), taken from MPFR to 2^-64; where an integer lies
 * within 2^-40 of the value, which only a tie or a freak does, the integers above decide. */
static uint64_t
edge_of(const struct spacing *s, size_t k)
{
	enum {
		PRECISION = 160
	}; /* 63 bits before the point, 30 lost to a power with an exponent below 1 */
	mpfr_t x, power, nearest;
	uint64_t edge;
	mpz_t whole;

	mpfr_inits2(PRECISION, x, power, nearest, (mpfr_ptr)NULL);
	mpz_init(whole);
	set_u64(whole, s->distance);
	mpfr_set_z(x, whole, MPFR_RNDN);
	set_u64(whole, s->exact);
	mpfr_div_z(x, x, whole, MPFR_RNDN);
	mpfr_set_ui(power, (unsigned long)k, MPFR_RNDN);
	mpfr_div_ui(power, power, (unsigned long)s->logs, MPFR_RNDN);
	mpfr_pow(x, x, power, MPFR_RNDN);
	mpfr_mul_z(x, x, whole, MPFR_RNDN);
	mpfr_rint(nearest, x, MPFR_RNDN);
	mpfr_get_z(whole, nearest, MPFR_RNDN);
	edge = 0;
	mpz_export(&edge, NULL, 1, sizeof edge, 0, 0, whole);
	mpfr_sub(x, x, nearest, MPFR_RNDN);
	if (mpfr_cmp_d(x, 0x1p-40) > 0 || (mpfr_cmp_d(x, -0x1p-40) >= 0 && !reaches(s, k, edge)))
		edge++;
	mpfr_clears(x, power, nearest, (mpfr_ptr)NULL);
	mpz_clear(whole);
	return edge;
}

static int
check(size_t num_buckets, int64_t max_distance, bool bidirectional, struct pe_error *e)
{
	const size_t least = bidirectional ? 4 : 2;

	if (num_buckets < least)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "num-buckets: must be at least %zu when %s: '%zu'", least,
			       bidirectional ? "bidirectional" : "causal", num_buckets);
	if (num_buckets > PE_T5_BUCKETS_MAX)
		return pe_fail(e, PE_FAULT_ARGUMENT, "num-buckets: must be at most %zu: '%zu'",
			       PE_T5_BUCKETS_MAX, num_buckets);
	const int64_t exact = (int64_t)(bidirectional ? num_buckets / 2 : num_buckets) / 2;
	if (max_distance <= exact)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "max-distance: must be at least %lld with %zu %s buckets: '%lld'",
			       (long long)exact + 1, num_buckets,
			       bidirectional ? "bidirectional" : "causal", (long long)max_distance);
	return 0;
}

int
pe_t5_init(struct pe_t5 *plan, size_t num_buckets, int64_t max_distance, bool bidirectional,
	   struct pe_error *e)
{
	*plan = (struct pe_t5){
	    .num_buckets = num_buckets,
	    .direction = bidirectional ? num_buckets / 2 : num_buckets,
	    .max_distance = max_distance,
	    .bidirectional = bidirectional,
	};
	if (check(num_buckets, max_distance, bidirectional, e))
		return -1;
	const size_t exact = plan->direction / 2;
	const struct spacing s = {exact, (uint64_t)max_distance, plan->direction - exact};
	plan->edge = malloc(plan->direction * sizeof *plan->edge);
	if (plan->edge == NULL)
		return pe_fail_memory(e);
	for (size_t b = 0; b <= exact; b++)
		plan->edge[b] = (int64_t)b;
	for (size_t k = 1; k < s.logs; k++)
		plan->edge[exact + k] = (int64_t)edge_of(&s, k);
	mpfr_free_cache();
	return 0;
}

void
pe_t5_free(struct pe_t5 *plan)
{
	free(plan->edge);
	plan->edge = NULL;
}

/* The last bucket of a direction whose edge the distance reaches. */
static size_t
direction_bucket(const struct pe_t5 *plan, uint64_t distance)
{
	size_t low = plan->direction / 2,
	       high = plan->direction; /* edge[low] <= distance < edge[high] */

	if (distance < low)
		return (size_t)distance;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		if ((uint64_t)plan->edge[middle] <= distance)
			low = middle;
		else
			high = middle;
	}
	return low;
}

size_t
pe_t5_bucket(const struct pe_t5 *plan, int64_t offset)
{
	if (offset > 0)
		return plan->bidirectional
			   ? plan->direction + direction_bucket(plan, (uint64_t)offset)
			   : 0;
	return direction_bucket(plan, 0 - (uint64_t)offset);
}

void
pe_t5_buckets(const struct pe_t5 *plan, int64_t lo, size_t n, int64_t *bucket)
{
	for (size_t i = 0; i < n; i++)
		bucket[i] = (int64_t)pe_t5_bucket(plan, lo + (int64_t)i);
}

void
pe_t5_bias(const struct pe_t5 *plan, const struct pe_matrix *table, size_t head, int64_t lo,
	   size_t n, double *bias)
{
	const double *column = pe_matrix_f64(table) + head;

	for (size_t i = 0; i < n; i++)
		bias[i] = column[pe_t5_bucket(plan, lo + (int64_t)i) * table->cols];
}

bool
pe_t5_range(const struct pe_t5 *plan, size_t bucket, int64_t *lo, int64_t *hi)
{
	const bool right = bucket >= plan->direction;
	const size_t b = right ? bucket - plan->direction : bucket;

	if (b >= plan->direction || (right && (b == 0 || !plan->bidirectional)))
		return false; /* an odd count's last, and distance 0 to the right */
	const bool last = b + 1 == plan->direction;
	const int64_t nearest = plan->edge[b];
	const int64_t farthest = last ? INT64_MAX : plan->edge[b + 1] - 1;
	if (farthest < nearest)
		return false;
	*lo = right ? nearest : last ? INT64_MIN : -farthest;
	*hi = right ? farthest : -nearest;
	if (b == 0 && !plan->bidirectional)
		*hi = INT64_MAX; /* every key to the right */
	return true;
}
