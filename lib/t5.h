/* t5 - relative-position buckets (Raffel et al. 2020, section 2.1 and its reference code).
 *
 * An offset n - m (key minus query) falls into a bucket: distances below max_exact have one
 * each, farther ones share buckets that widen geometrically up to max_distance, all beyond share
 * the last. Bidirectional plans (an encoder) halve the buckets, the upper half for keys to the
 * right; causal ones (a decoder) count every key to the right as distance 0.
 *
 * The rule floor(log(distance / max_exact) / log(max_distance / max_exact) * N) is decided in
 * exact integers, so a distance that lies on an edge is never one bucket low, as it is at places
 * in floating point. */
#ifndef PE_T5_H
#define PE_T5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "matrix.h"

/* The most buckets that a plan may have: 64 MiB of edges. */
#define PE_T5_BUCKETS_MAX ((size_t)1 << 23)

/* Read-only after init. */
struct pe_t5 {
	size_t num_buckets; /* as asked for */
	size_t direction;   /* buckets of one direction: num_buckets, or half of it, rounded down */
	int64_t max_distance;
	bool bidirectional;
	/* [direction]: the least distance that reaches bucket b; not decreasing, so of equal
	 * ones the last is meant */
	int64_t *edge;
};

/* PE_FAULT_ARGUMENT where no logarithmic part is left: fewer than 4 buckets (causal: 2), or
 * max_distance not above the exact part; the text names the smallest that works. An odd count
 * loses its last bucket when bidirectional. */
int pe_t5_init(struct pe_t5 *plan, size_t num_buckets, int64_t max_distance, bool bidirectional,
	       struct pe_error *e);
void pe_t5_free(struct pe_t5 *plan);

/* 0 .. num_buckets - 1, for any offset; not decreasing in the distance. */
size_t pe_t5_bucket(const struct pe_t5 *plan, int64_t offset);

/* Buckets of the offsets lo, lo + 1, ..., lo + n - 1. */
void pe_t5_buckets(const struct pe_t5 *plan, int64_t lo, size_t n, int64_t *bucket);

/* Bias by offset of one head: table[bucket][head] for the same offsets. table is f64,
 * num_buckets (or more) x heads. */
void pe_t5_bias(const struct pe_t5 *plan, const struct pe_matrix *table, size_t head, int64_t lo,
		size_t n, double *bias);

/* The offsets that fall into a bucket, [*lo, *hi]; INT64_MIN and INT64_MAX where it has no end.
 * false: none does. */
bool pe_t5_range(const struct pe_t5 *plan, size_t bucket, int64_t *lo, int64_t *hi);

#endif
