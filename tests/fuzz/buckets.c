/* Laws of T5's buckets for any setting: total on int64, within range, not decreasing in the
 * distance. */
#include "fuzz.h"

#include "t5.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint16_t buckets;
	int64_t far, offset;
	struct pe_error e;
	struct pe_t5 plan;

	if (size < 1 + sizeof buckets + sizeof far + sizeof offset)
		return 0;
	memcpy(&buckets, data + 1, sizeof buckets);
	memcpy(&far, data + 3, sizeof far);
	memcpy(&offset, data + 11, sizeof offset);
	const bool both = data[0] % 2 == 1;
	if (pe_t5_init(&plan, buckets % 512, far >> (data[0] / 2 % 64), both, &e) != 0) {
		fuzz_message(&e);
		return 0;
	}
	const size_t bucket = pe_t5_bucket(&plan, offset);
	DEMAND(bucket < plan.num_buckets);
	if (!both && offset >= 0)
		DEMAND(bucket == 0);
	if (offset < 0 && offset > INT64_MIN)
		DEMAND(pe_t5_bucket(&plan, offset - 1) >= bucket);
	if (offset >= 0 && offset < INT64_MAX)
		DEMAND(pe_t5_bucket(&plan, offset + 1) >= bucket || (!both && bucket == 0));
	int64_t lo, hi;
	DEMAND(pe_t5_range(&plan, bucket, &lo, &hi));
	DEMAND(lo <= offset && offset <= hi);
	pe_t5_free(&plan);
	return 0;
}
