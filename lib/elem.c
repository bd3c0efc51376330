/* elem - the element types of rows: names, sizes, and conversion that never loses silently. */
#include "elem.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const struct {
	const char *name;
	size_t size;
} elems[] = {
    [PE_ELEM_NONE] = {"", 0}, [PE_F64] = {"f64", 8}, [PE_F32] = {"f32", 4}, [PE_F16] = {"f16", 2},
    [PE_BF16] = {"bf16", 2},  [PE_I64] = {"i64", 8}, [PE_I32] = {"i32", 4},
};

size_t
pe_elem_size(enum pe_elem elem)
{
	return elems[elem].size;
}

const char *
pe_elem_name(enum pe_elem elem)
{
	return elems[elem].name;
}

bool
pe_elem_is_integer(enum pe_elem elem)
{
	return elem == PE_I64 || elem == PE_I32;
}

enum pe_elem
pe_elem_find(const char *name, size_t length)
{
	for (int i = PE_F64; i <= PE_I32; i++)
		if (strlen(elems[i].name) == length && memcmp(elems[i].name, name, length) == 0)
			return (enum pe_elem)i;
	return PE_ELEM_NONE;
}

enum pe_elem
pe_elem_widest(enum pe_elem a, enum pe_elem b)
{
	if (a == b || b == PE_ELEM_NONE)
		return a;
	if (a == PE_ELEM_NONE)
		return b;
	if (pe_elem_is_integer(a) && pe_elem_is_integer(b))
		return PE_I64;
	if (pe_elem_is_integer(a) || pe_elem_is_integer(b) || a == PE_F64 || b == PE_F64)
		return PE_F64;
	return PE_F32; /* f32 with a half, or the two halves */
}

/* ---- the two halves ---- */

/* A small binary format: how many bits follow the leading one, and the exponent of its least
 * normal number. */
struct half {
	int fraction;
	int least; /* 2^least is the smallest normal */
	uint16_t infinity;
};
static const struct half f16 = {10, -14, 0x7c00};
static const struct half bf16 = {7, -126, 0x7f80};

/* Nearest, ties to even, in integers: the double's 53-bit significand is shifted to the quantum
 * of the result, at most once rounded; a carry out of the significand runs into the exponent as
 * it should. */
static uint16_t
half_round(const struct half *h, double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
	const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);

	if (exponent == 1024 && fraction != 0)
		return (uint16_t)(sign | h->infinity | 1 << (h->fraction - 1) |
				  (uint16_t)(fraction >> (52 - h->fraction)));
	if (exponent > -h->least + 1)
		return sign | h->infinity;
	const bool subnormal = exponent < h->least;
	const int shift = 52 - h->fraction + (subnormal ? h->least - exponent : 0);
	if (shift > 54) /* below half of the smallest subnormal, double subnormals too */
		return sign;
	const uint64_t significand = fraction | UINT64_C(1) << 52;
	const uint64_t kept = significand >> shift,
		       rest = significand & ((UINT64_C(1) << shift) - 1);
	const uint64_t half = UINT64_C(1) << (shift - 1);
	uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
	if (!subnormal) /* the hidden bit counts one exponent step */
		rounded += (uint64_t)(exponent - h->least) << h->fraction;
	return rounded >= h->infinity ? sign | h->infinity : (uint16_t)(sign | rounded);
}

/* Both halves are exact in a float, and loops over these need no choice: compilers make vectors
 * of them. An f16's magnitude shifted under a float's exponent is 2^-112 of its value,
 * subnormals too. */
static inline float
f16_single(uint16_t bits)
{
	const uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13;
	const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
	const uint32_t special = (bits & 0x7c00) == 0x7c00 ? UINT32_C(0x7f800000) : 0;
	uint32_t single;
	float x;

	memcpy(&x, &magnitude, sizeof x);
	x *= 0x1p112f;
	memcpy(&single, &x, sizeof single);
	single |= special | sign;
	memcpy(&x, &single, sizeof x);
	return x;
}

static inline float
bf16_single(uint16_t bits)
{
	const uint32_t single = (uint32_t)bits << 16;
	float x;

	memcpy(&x, &single, sizeof x);
	return x;
}

double
pe_f16_value(uint16_t bits)
{
	return (double)f16_single(bits);
}

double
pe_bf16_value(uint16_t bits)
{
	return (double)bf16_single(bits);
}

uint16_t
pe_f16_round(double x)
{
	return half_round(&f16, x);
}

uint16_t
pe_bf16_round(double x)
{
	return half_round(&bf16, x);
}

/* The same from a float, without a choice that a loop would stumble over. Adding a half of the
 * quantum, less one where the last bit kept is even, rounds to nearest even; below f16's normal
 * numbers a float addition whose quantum is f16's subnormal one does it. A nan keeps its upper
 * bits, and is quiet. */
static inline uint16_t
f16_of_single(float x)
{
	static const float magic = 0.5f; /* its quantum is 2^-24 */
	uint32_t bits, small;

	memcpy(&bits, &x, sizeof bits);
	const uint32_t magnitude = bits & 0x7fffffff;
	float y;
	memcpy(&y, &magnitude, sizeof y);
	y += magic;
	memcpy(&small, &y, sizeof small);
	small -= UINT32_C(0x3f000000);
	const uint32_t normal =
	    (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
	const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
	const uint32_t half = magnitude > 0x7f800000    ? nan
			      : magnitude >= 0x477ff000 ? 0x7c00 /* 65520 and beyond */
			      : magnitude < 0x38800000  ? small
							: normal;
	return (uint16_t)(half | (bits >> 16 & 0x8000));
}

static inline uint16_t
bf16_of_single(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	const uint32_t nan = bits >> 16 | 0x40;
	const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

double
pe_elem_round(enum pe_elem elem, double x)
{
	switch (elem) {
	case PE_F32: return (float)x;
	case PE_F16: return pe_f16_value(pe_f16_round(x));
	case PE_BF16: return pe_bf16_value(pe_bf16_round(x));
	default: return x;
	}
}

/* ---- conversion ---- */

static double
load(enum pe_elem elem, const void *from, size_t i)
{
	switch (elem) {
	case PE_F64: return ((const double *)from)[i];
	case PE_F32: return (double)((const float *)from)[i];
	case PE_F16: return pe_f16_value(((const uint16_t *)from)[i]);
	case PE_BF16: return pe_bf16_value(((const uint16_t *)from)[i]);
	case PE_I64: return (double)((const int64_t *)from)[i];
	case PE_I32: return ((const int32_t *)from)[i];
	default: return 0;
	}
}

double
pe_elem_largest(enum pe_elem elem)
{
	switch (elem) {
	case PE_F32: return FLT_MAX;
	case PE_F16: return 65504;
	case PE_BF16: return 0x1.fep127;
	default: return DBL_MAX;
	}
}

size_t
pe_elem_infinity(enum pe_elem elem, const void *values, size_t n)
{
	size_t i = 0;

	while (i < n && !isinf(load(elem, values, i)))
		i++;
	return i;
}

static bool
store_float(enum pe_elem elem, void *to, size_t i, double x)
{
	switch (elem) {
	case PE_F64: ((double *)to)[i] = x; return true;
	case PE_F32: {
		const float narrow = (float)x;
		((float *)to)[i] = narrow;
		return isfinite(narrow) || !isfinite(x);
	}
	case PE_F16: {
		const uint16_t bits = pe_f16_round(x);
		((uint16_t *)to)[i] = bits;
		return (bits & 0x7fff) != f16.infinity || !isfinite(x);
	}
	case PE_BF16: {
		const uint16_t bits = pe_bf16_round(x);
		((uint16_t *)to)[i] = bits;
		return (bits & 0x7fff) != bf16.infinity || !isfinite(x);
	}
	default: return false;
	}
}

static bool
store_integer(enum pe_elem elem, void *to, size_t i, int64_t x)
{
	if (elem == PE_I64) {
		((int64_t *)to)[i] = x;
		return true;
	}
	((int32_t *)to)[i] = (int32_t)x;
	return x >= INT32_MIN && x <= INT32_MAX;
}

static bool
load_integer(enum pe_elem elem, const void *from, size_t i, int64_t *x)
{
	if (elem == PE_I64) {
		*x = ((const int64_t *)from)[i];
		return true;
	}
	if (elem == PE_I32) {
		*x = ((const int32_t *)from)[i];
		return true;
	}
	const double value = load(elem, from, i);
	if (!(value >= -0x1p63 && value < 0x1p63) || value != trunc(value))
		return false;
	*x = (int64_t)value;
	return true;
}

/* Widening, which always succeeds; false if this is none. */
static bool
widen(enum pe_elem to, void *dst, enum pe_elem from, const void *src, size_t n)
{
	double *const wide = dst;
	float *const single = dst;

	if (from == PE_F32 && to == PE_F64)
		for (size_t i = 0; i < n; i++)
			wide[i] = (double)((const float *)src)[i];
	else if (from == PE_F16 && to == PE_F64)
		for (size_t i = 0; i < n; i++)
			wide[i] = (double)f16_single(((const uint16_t *)src)[i]);
	else if (from == PE_F16 && to == PE_F32)
		for (size_t i = 0; i < n; i++)
			single[i] = f16_single(((const uint16_t *)src)[i]);
	else if (from == PE_BF16 && to == PE_F64)
		for (size_t i = 0; i < n; i++)
			wide[i] = (double)bf16_single(((const uint16_t *)src)[i]);
	else if (from == PE_BF16 && to == PE_F32)
		for (size_t i = 0; i < n; i++)
			single[i] = bf16_single(((const uint16_t *)src)[i]);
	else
		return false;
	return true;
}

/* From f32: overflow is looked for behind the loop, which then needs no way out of its middle. */
static size_t
narrow_single(enum pe_elem to, uint16_t *dst, const float *src, size_t n)
{
	const uint16_t infinity = to == PE_F16 ? f16.infinity : bf16.infinity;
	size_t fit = 0;

	if (to == PE_F16)
		for (size_t i = 0; i < n; i++)
			dst[i] = f16_of_single(src[i]);
	else
		for (size_t i = 0; i < n; i++)
			dst[i] = bf16_of_single(src[i]);
	while (fit < n && ((dst[fit] & 0x7fff) != infinity || isinf(src[fit])))
		fit++;
	return fit;
}

size_t
pe_elem_convert(enum pe_elem to, void *dst, enum pe_elem from, const void *src, size_t n)
{
	if (to == from) {
		memmove(dst, src, n * pe_elem_size(to));
		return n;
	}
	if (widen(to, dst, from, src, n))
		return n;
	if (from == PE_F32 && (to == PE_F16 || to == PE_BF16))
		return narrow_single(to, dst, src, n);
	if (to == PE_F32 && from == PE_F64) {
		for (size_t i = 0; i < n; i++) {
			const double wide = ((const double *)src)[i];
			const float narrow = (float)wide;
			((float *)dst)[i] = narrow;
			if (isinf(narrow) && !isinf(wide))
				return i;
		}
		return n;
	}
	if (pe_elem_is_integer(to)) {
		for (size_t i = 0; i < n; i++) {
			int64_t x;
			if (!load_integer(from, src, i, &x) || !store_integer(to, dst, i, x))
				return i;
		}
		return n;
	}
	for (size_t i = 0; i < n; i++) {
		/* an int64 goes to f32 at once, not through a double */
		if (to == PE_F32 && from == PE_I64)
			((float *)dst)[i] = (float)((const int64_t *)src)[i];
		else if (!store_float(to, dst, i, load(from, src, i)))
			return i;
	}
	return n;
}
