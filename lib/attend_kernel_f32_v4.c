/* attend_kernel_f32_v4 - attention in f32 for AVX-512. */
#include "attend_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT 32
#define VECTOR_BYTES 64
#define REGISTERS 32
#define FUSED(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SPLAT(x) _mm512_set1_ps(x)
#define MAX(a, b) _mm512_max_ps(a, b)
#define MAX_ACROSS(x) _mm512_reduce_max_ps(x)
#define SQUARES(p, n)                                                                      \
	_mm512_insertf32x4(                                                                \
	    _mm512_insertf32x4(_mm512_insertf32x4(_mm512_castps128_ps512(_mm_loadu_ps(p)), \
						  _mm_loadu_ps((p) + (n)), 1),             \
			       _mm_loadu_ps((p) + 2 * (n)), 2),                            \
	    _mm_loadu_ps((p) + 3 * (n)), 3)
#define LOW(a, b) _mm512_unpacklo_ps(a, b)
#define HIGH(a, b) _mm512_unpackhi_ps(a, b)
#define LOW_PAIRS(a, b) ((vec)_mm512_unpacklo_pd((__m512d)(a), (__m512d)(b)))
#define HIGH_PAIRS(a, b) ((vec)_mm512_unpackhi_pd((__m512d)(a), (__m512d)(b)))
#define LOOK_UP(table, i) ((bits)_mm512_permutexvar_epi32((__m512i)(i), _mm512_loadu_si512(table)))
#define KERNEL pe_attend_kernel_f32_v4

#include "attend_kernel.inc.h"

#endif
