/* decimal_v3 - decimal's kernel for x86-64-v3: AVX2. */
#include "cpu.h"
#include "decimal_kernel.h"

#if defined(__AVX2__) && defined(__x86_64__)
#define LANES 4
#include "decimal_lanes.h"

INLINE vec
widen(const float *from)
{
	return (vec)_mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)from));
}

INLINE vec
times(vec a, vec b)
{
	return (vec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

INLINE vec16
times_high(vec16 a, vec16 b)
{
	return (vec16)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
}

INLINE vec
sum_bytes(vec a)
{
	return (vec)_mm256_sad_epu8((__m256i)a, _mm256_setzero_si256());
}

const struct pe_decimal_kernel pe_decimal_v3 = {
    .name = "v3",
    .runs = pe_cpu_has_v3,
    .write_f32 = write_f32,
    .write_f64 = write_f64,
    .read_f32 = pe_decimal_read_f32_v3,
    .read_f64 = pe_decimal_read_f64_v3,
};
#endif
