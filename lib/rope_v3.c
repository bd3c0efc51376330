/* rope_v3 - rope's innermost loop for AVX2: four doubles at a time. */
#include "rope_kernel.h"

#if defined(__AVX2__)
#include <immintrin.h>

static void
halves_f64(double *a, double *b, const double *cosine, const double *sine, size_t n)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		const __m256d x = _mm256_loadu_pd(a + i), y = _mm256_loadu_pd(b + i);
		const __m256d c = _mm256_loadu_pd(cosine + i), s = _mm256_loadu_pd(sine + i);

		_mm256_storeu_pd(a + i, _mm256_sub_pd(_mm256_mul_pd(x, c), _mm256_mul_pd(y, s)));
		_mm256_storeu_pd(b + i, _mm256_add_pd(_mm256_mul_pd(y, c), _mm256_mul_pd(x, s)));
	}
	pe_rope_kernel_base.halves_f64(a + i, b + i, cosine + i, sine + i, n - i);
}

static void
halves_f32(float *a, float *b, const double *cosine, const double *sine, size_t n)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		const __m256d x = _mm256_cvtps_pd(_mm_loadu_ps(a + i));
		const __m256d y = _mm256_cvtps_pd(_mm_loadu_ps(b + i));
		const __m256d c = _mm256_loadu_pd(cosine + i), s = _mm256_loadu_pd(sine + i);
		const __m256d first = _mm256_sub_pd(_mm256_mul_pd(x, c), _mm256_mul_pd(y, s));
		const __m256d second = _mm256_add_pd(_mm256_mul_pd(y, c), _mm256_mul_pd(x, s));

		_mm_storeu_ps(a + i, _mm256_cvtpd_ps(first));
		_mm_storeu_ps(b + i, _mm256_cvtpd_ps(second));
	}
	pe_rope_kernel_base.halves_f32(a + i, b + i, cosine + i, sine + i, n - i);
}

/* (a0, b0, a1, b1) with two cosines and sines, each spread over its pair. */
static inline __m256d
turn_two(__m256d pairs, const double *cosine, const double *sine)
{
	const __m256d c = _mm256_castpd128_pd256(_mm_loadu_pd(cosine));
	const __m256d s = _mm256_castpd128_pd256(_mm_loadu_pd(sine));
	const __m256d swapped = _mm256_permute_pd(pairs, 0x5);

	return _mm256_addsub_pd(_mm256_mul_pd(pairs, _mm256_permute4x64_pd(c, 0x50)),
				_mm256_mul_pd(swapped, _mm256_permute4x64_pd(s, 0x50)));
}

static void
interleaved_f64(double *x, const double *cosine, const double *sine, size_t n)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2)
		_mm256_storeu_pd(x + 2 * i,
				 turn_two(_mm256_loadu_pd(x + 2 * i), cosine + i, sine + i));
	pe_rope_kernel_base.interleaved_f64(x + 2 * i, cosine + i, sine + i, n - i);
}

static void
interleaved_f32(float *x, const double *cosine, const double *sine, size_t n)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2) {
		const __m256d pairs = _mm256_cvtps_pd(_mm_loadu_ps(x + 2 * i));
		_mm_storeu_ps(x + 2 * i, _mm256_cvtpd_ps(turn_two(pairs, cosine + i, sine + i)));
	}
	pe_rope_kernel_base.interleaved_f32(x + 2 * i, cosine + i, sine + i, n - i);
}

const struct pe_rope_kernel pe_rope_kernel_v3 = {
    .halves_f64 = halves_f64,
    .halves_f32 = halves_f32,
    .interleaved_f64 = interleaved_f64,
    .interleaved_f32 = interleaved_f32,
};
#endif
