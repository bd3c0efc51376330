/* decimal_v4 - decimal's kernel for x86-64-v4: AVX-512. */
#include "cpu.h"
#include "decimal_kernel.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__x86_64__)
#define LANES 8
#include "decimal_lanes.h"

INLINE vec
widen(const float *from)
{
	return (vec)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

INLINE vec
times(vec a, vec b)
{
	return (vec)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

INLINE vec16
times_high(vec16 a, vec16 b)
{
	return (vec16)_mm512_mulhi_epu16((__m512i)a, (__m512i)b);
}

INLINE vec
sum_bytes(vec a)
{
	return (vec)_mm512_sad_epu8((__m512i)a, _mm512_setzero_si512());
}

const struct pe_decimal_kernel pe_decimal_v4 = {
    .name = "v4",
    .runs = pe_cpu_has_v4,
    .write_f32 = write_f32,
    .write_f64 = write_f64,
    .read_f32 = pe_decimal_read_f32_v3,
    .read_f64 = pe_decimal_read_f64_v3,
};
#endif
