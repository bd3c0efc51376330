/* attend_kernel_f64_v3 - attention in f64 for AVX2 with FMA. */
#include "attend_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ELEMENT 64
#define VECTOR_BYTES 32
#define REGISTERS 16
#define FUSED(a, b, c) _mm256_fmadd_pd(a, b, c)
#define SPLAT(x) _mm256_set1_pd(x)
#define MAX(a, b) _mm256_max_pd(a, b)
#define SQUARES(p, n) \
	_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd((p) + (n)), 1)
#define LOW(a, b) _mm256_unpacklo_pd(a, b)
#define HIGH(a, b) _mm256_unpackhi_pd(a, b)
#define KERNEL pe_attend_kernel_f64_v3

#include "attend_kernel.inc.h"

#endif
