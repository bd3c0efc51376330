/* turn_v3 - turn's kernel for x86-64-v3: AVX2, FMA, F16C. */
#include "cpu.h"
#include "turn_kernel.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>

#define LANES 4
#define HAVE_FMA 1
#include "turn_lanes.h"

INLINE vec
madd(vec a, vec b, vec c)
{
	return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

INLINE ivec
mark_f64(ivec undecided, ivec upper, ivec lower)
{
	return undecided | (upper ^ lower);
}

INLINE uvec
mark(uvec undecided, uvec upper, uvec lower)
{
	return undecided | (upper ^ lower);
}

INLINE uvec
halve(fvec x)
{
	return (uvec)_mm_cvtepu16_epi32(_mm_cvtps_ph((__m128)x, _MM_FROUND_TO_NEAREST_INT));
}

const struct pe_turn_kernel pe_turn_v3 = KERNEL("v3", pe_cpu_has_v3);
#endif
