/* t5 - every edge against the defining inequality, in big integers, over a sweep of settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gmp.h>

#include "t5.h"

/* distance^N >= D^k E^(N-k), without reduction. */
static int
reaches(uint64_t distance, uint64_t exact, uint64_t farthest, unsigned long logs, unsigned long k)
{
	mpz_t left, right, power;
	int yes;

	mpz_inits(left, right, power, (mpz_ptr)NULL);
	mpz_ui_pow_ui(left, distance, logs);
	mpz_ui_pow_ui(right, farthest, k);
	mpz_ui_pow_ui(power, exact, logs - k);
	mpz_mul(right, right, power);
	yes = mpz_cmp(left, right) >= 0;
	mpz_clears(left, right, power, (mpz_ptr)NULL);
	return yes;
}

static void
check_setting(size_t buckets, int64_t farthest, bool bidirectional)
{
	struct pe_t5 plan;
	struct pe_error e;

	assert_int_equal(pe_t5_init(&plan, buckets, farthest, bidirectional, &e), 0);
	const size_t exact = plan.direction / 2, logs = plan.direction - exact;
	for (size_t b = 0; b <= exact; b++)
		assert_int_equal(plan.edge[b], b);
	for (size_t k = 1; k < logs; k++) {
		const uint64_t edge = (uint64_t)plan.edge[exact + k];
		assert_true(reaches(edge, exact, (uint64_t)farthest, logs, k));
		assert_false(reaches(edge - 1, exact, (uint64_t)farthest, logs, k));
	}
	pe_t5_free(&plan);
}

static void
edges_keep_the_inequality(void **state)
{
	static const int64_t farthest[] = {20,  64,  100,  128,  160,    243,
					   256, 320, 1000, 2048, 131072, INT64_MAX};

	(void)state;
	for (size_t buckets = 4; buckets <= 66; buckets++)
		for (size_t i = 0; i < sizeof farthest / sizeof *farthest; i++)
			for (int both = 0; both < 2; both++)
				if (farthest[i] > (int64_t)(both ? buckets / 2 : buckets) / 2)
					check_setting(buckets, farthest[i], both);
}

static void
many_buckets_stay_exact(void **state)
{
	(void)state;
	check_setting(2000, 3125, true);
	check_setting(513, 6561, false);
}

static void
ranges_hold_what_the_bucket_says(void **state)
{
	struct pe_t5 plan;
	struct pe_error e;
	int64_t lo, hi, met = 0;

	(void)state;
	assert_int_equal(pe_t5_init(&plan, 33, 40, true, &e), 0);
	for (size_t b = 0; b < 33; b++) {
		if (!pe_t5_range(&plan, b, &lo, &hi))
			continue;
		assert_int_equal(pe_t5_bucket(&plan, lo), b);
		assert_int_equal(pe_t5_bucket(&plan, hi), b);
		met++;
	}
	assert_int_equal(met, 31); /* bucket 16 and the odd last one are unused */
	pe_t5_free(&plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(edges_keep_the_inequality),
	    cmocka_unit_test(many_buckets_stay_exact),
	    cmocka_unit_test(ranges_hold_what_the_bucket_says),
	};

	return cmocka_run_group_tests_name("t5", tests, NULL, NULL);
}
