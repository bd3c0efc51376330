/* rope_base - rope's innermost loop for any machine. */
#include "rope_kernel.h"

static inline double
first(double a, double b, double cosine, double sine)
{
	return a * cosine - b * sine;
}

static inline double
second(double a, double b, double cosine, double sine)
{
	return b * cosine + a * sine;
}

static void
halves_f64(double *a, double *b, const double *cosine, const double *sine, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double x = a[i], y = b[i];

		a[i] = first(x, y, cosine[i], sine[i]);
		b[i] = second(x, y, cosine[i], sine[i]);
	}
}

static void
halves_f32(float *a, float *b, const double *cosine, const double *sine, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double x = a[i], y = b[i];

		a[i] = (float)first(x, y, cosine[i], sine[i]);
		b[i] = (float)second(x, y, cosine[i], sine[i]);
	}
}

static void
interleaved_f64(double *pair, const double *cosine, const double *sine, size_t n)
{
	for (size_t i = 0; i < n; i++, pair += 2) {
		const double x = pair[0], y = pair[1];

		pair[0] = first(x, y, cosine[i], sine[i]);
		pair[1] = second(x, y, cosine[i], sine[i]);
	}
}

static void
interleaved_f32(float *pair, const double *cosine, const double *sine, size_t n)
{
	for (size_t i = 0; i < n; i++, pair += 2) {
		const double x = pair[0], y = pair[1];

		pair[0] = (float)first(x, y, cosine[i], sine[i]);
		pair[1] = (float)second(x, y, cosine[i], sine[i]);
	}
}

const struct pe_rope_kernel pe_rope_kernel_base = {
    .halves_f64 = halves_f64,
    .halves_f32 = halves_f32,
    .interleaved_f64 = interleaved_f64,
    .interleaved_f32 = interleaved_f32,
};
