/* attend_kernel_f32_v3 - attention in f32 for AVX2 with FMA. */
#include "attend_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT 32
#define VECTOR_BYTES 32
#define REGISTERS 16
#define FUSED(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SPLAT(x) _mm256_set1_ps(x)
#define MAX(a, b) _mm256_max_ps(a, b)
#define SQUARES(p, n) \
	_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps((p) + (n)), 1)
#define LOW(a, b) _mm256_unpacklo_ps(a, b)
#define HIGH(a, b) _mm256_unpackhi_ps(a, b)
#define LOW_PAIRS(a, b) ((vec)_mm256_unpacklo_pd((__m256d)(a), (__m256d)(b)))
#define HIGH_PAIRS(a, b) ((vec)_mm256_unpackhi_pd((__m256d)(a), (__m256d)(b)))
#define KERNEL pe_attend_kernel_f32_v3

#include "attend_kernel.inc.h"

#endif
