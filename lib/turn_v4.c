/* turn_v4 - turn's kernel for x86-64-v4: AVX-512 F, BW, CD, DQ, VL. */
#include "cpu.h"
#include "turn_kernel.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>

#define LANES 8
#define HAVE_FMA 1
#include "turn_lanes.h"

INLINE vec
madd(vec a, vec b, vec c)
{
	return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

INLINE ivec
mark_f64(ivec undecided, ivec upper, ivec lower)
{
	return (ivec)_mm512_ternarylogic_epi64((__m512i)undecided, (__m512i)upper, (__m512i)lower,
					       0xf6);
}

INLINE uvec
mark(uvec undecided, uvec upper, uvec lower)
{
	return (uvec)_mm256_ternarylogic_epi32((__m256i)undecided, (__m256i)upper, (__m256i)lower,
					       0xf6);
}

INLINE uvec
halve(fvec x)
{
	return (uvec)_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
}

const struct pe_turn_kernel pe_turn_v4 = KERNEL("v4", pe_cpu_has_v4);
#endif
