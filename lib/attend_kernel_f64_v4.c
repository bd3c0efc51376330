/* attend_kernel_f64_v4 - attention in f64 for AVX-512. */
#include "attend_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT 64
#define VECTOR_BYTES 64
#define REGISTERS 32
#define FUSED(a, b, c) _mm512_fmadd_pd(a, b, c)
#define SPLAT(x) _mm512_set1_pd(x)
#define MAX(a, b) _mm512_max_pd(a, b)
#define MAX_ACROSS(x) _mm512_reduce_max_pd(x)
#define SQUARES(p, n)                                                                      \
	_mm512_insertf64x2(                                                                \
	    _mm512_insertf64x2(_mm512_insertf64x2(_mm512_castpd128_pd512(_mm_loadu_pd(p)), \
						  _mm_loadu_pd((p) + (n)), 1),             \
			       _mm_loadu_pd((p) + 2 * (n)), 2),                            \
	    _mm_loadu_pd((p) + 3 * (n)), 3)
#define LOW(a, b) _mm512_unpacklo_pd(a, b)
#define HIGH(a, b) _mm512_unpackhi_pd(a, b)
#define LOOK_UP(table, i)                                                         \
	((bits)_mm512_permutex2var_epi64(_mm512_loadu_si512(table), (__m512i)(i), \
					 _mm512_loadu_si512((table) + 8)))
#define KERNEL pe_attend_kernel_f64_v4

#include "attend_kernel.inc.h"

#endif
