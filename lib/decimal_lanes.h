/* decimal_lanes - rows of floats as text, many at a time; for x86-64 with AVX2 and more.
 *
 * A kernel file defines LANES (doubles in a vector), includes this, and defines the four
 * functions below. Vectors are those of gcc and clang.
 *
 * Numbers go through in blocks. First the digits of each, and the place of its point, are found
 * in vectors, by the arithmetic of shortest_quickly in decimal_write.c; what that leaves open, and
 * the rare kinds of floats, are left to the functions for one number. Then a shuffle puts each
 * number's characters where they belong. No branch depends on digits, signs or places of points. */
#include <immintrin.h>

#include "decimal_core.h"
#include "decimal_kernel.h"
#include "decimal_layouts.h"

/* Enough of them that their steps overlap, few enough for the nearest cache. */
enum { BLOCK = 64 };

#define VECTOR(type, count) __attribute__((vector_size((count) * sizeof(type)))) type

typedef VECTOR(uint64_t, LANES) vec;
typedef VECTOR(int64_t, LANES) ivec;
typedef VECTOR(double, LANES) dvec;
typedef VECTOR(uint32_t, 2 * LANES) vec32;
typedef VECTOR(uint16_t, 4 * LANES) vec16;

INLINE vec widen(const float *from);       /* the bits of LANES of them */
INLINE vec times(vec a, vec b);            /* of the lower halves of each lane */
INLINE vec16 times_high(vec16 a, vec16 b); /* the upper half of each product */
INLINE vec sum_bytes(vec a);               /* of each lane */

INLINE vec
load(const void *from)
{
	vec v;

	memcpy(&v, from, sizeof v);
	return v;
}

INLINE void
save(uint64_t *to, vec v)
{
	memcpy(to, &v, sizeof v);
}

INLINE vec
all(uint64_t x)
{
	return (vec){0} + x;
}

INLINE vec
either(ivec mask, vec a, vec b)
{
	return ((vec)mask & a) | (~(vec)mask & b);
}

/* ---- a block of numbers ---- */

/* What is known of each: step by step, as the functions below come to it. */
struct block {
	_Alignas(64) uint64_t bits[BLOCK]; /* zeros where a vector goes on behind the numbers */
	/* by choose_power: n is EXPONENT_BIAS more than the exponent of the power of ten that the
	 * number is multiplied by, shift as in shortest_quickly */
	uint64_t n[BLOCK], shift[BLOCK];
	uint64_t power[2][BLOCK]; /* its upper and its lower half */
	/* by shorten: the digits as a number, the last eight beside those before (f64 alone) */
	uint64_t upper[BLOCK], lower[BLOCK];
	uint64_t open[BLOCK]; /* all ones where this is no number for a kernel, else 0 */
	/* by spell: digits as bytes 0 to 9, the last one lowest, and what becomes of them */
	uint64_t digits[3][BLOCK], fate[BLOCK];
};
enum { EXPONENT_BIAS = 512 };

INLINE vec
magnitude_of(const struct block *b, size_t i, struct pe_binary f)
{
	return load(b->bits + i) & ((UINT64_C(1) << (f.fraction + f.exponent)) - 1);
}

/* The first two steps: n, shift and the power. */
INLINE void
choose_power(struct block *b, size_t i, struct pe_binary f)
{
	enum { LOG2_BIAS = 2048 }; /* both biases keep logarithms positive */
	const uint64_t bias = (uint64_t)(1 - pe_binary_least(f));
	const vec magnitude = magnitude_of(b, i, f), exponent = magnitude >> f.fraction;
	const ivec below = (magnitude & ((UINT64_C(1) << f.fraction) - 1)) == 0;
	const vec k = (times(exponent, all(1262611)) - ((vec)below & 524031) +
		       (((uint64_t)EXPONENT_BIAS << 22) - bias * 1262611)) >>
		      22;
	const vec n = 2 * EXPONENT_BIAS - k;
	const vec log2 = (times(n, all(1741647)) +
			  (((uint64_t)LOG2_BIAS << 19) - (uint64_t)EXPONENT_BIAS * 1741647)) >>
			 19;
	save(b->n + i, n);
	save(b->shift + i, exponent + log2 - (bias + LOG2_BIAS - 1));
}

/* Single loads: a gather makes the same ones, and is much slower on some processors. */
INLINE void
load_powers(struct block *b, size_t n, struct pe_binary f)
{
	for (size_t i = 0; i < n; i++) {
		const struct pe_uint128 *const power =
		    pe_powers10 + (b->n[i] - (EXPONENT_BIAS + PE_POWER10_LEAST));
		b->power[0][i] = power->high;
		if (f.fraction >= 24)
			b->power[1][i] = power->low;
	}
}

/* ---- digits as numbers ---- */

/* 0 for zero, whose digits need no other care. */
INLINE vec
significand_of(vec magnitude, struct pe_binary f)
{
	const vec hidden = all(UINT64_C(1) << f.fraction);

	return ((magnitude & (hidden - 1)) | hidden) & ~(vec)(magnitude == 0);
}

/* Neither zero nor what the kernels can write: not finite, subnormal, the least normal number, or
 * uncertain. */
INLINE ivec
left_open(vec magnitude, ivec uncertain, struct pe_binary f)
{
	const ivec exponent = (ivec)(magnitude >> f.fraction);

	return (uncertain | (exponent < 2) | (exponent > (1 << f.exponent) - 2)) &
	       ~(ivec)(magnitude == 0);
}

/* A number times its power of ten: whole + fraction 2^-32, and less than 4 2^-32 more; nothing
 * more where `exact`. */
struct product {
	vec odd, last; /* of the whole number: its last bit, its last digit */
	vec fraction;
	ivec exact;
};

/* Borders of the rounding interval against the product. */
struct choice {
	ivec ten_down, ten_up; /* the multiple of ten below, above is in the interval */
	ivec up;               /* of the whole numbers below and above, the one above is due */
	ivec uncertain;        /* all this */
};

/* As shortest_quickly, but with distances in 10^k 2^-32, wrong by less than DOUBT; with ties, to
 * even, where they are known; and with powers of two, whose interval begins at half the distance,
 * so that the whole number below may be nearer but outside. */
INLINE struct choice
choose(const struct block *b, size_t i, struct product x, ivec below)
{
	enum { DOUBT = 8 };
	const vec reach = load(b->power[0] + i) >> (33 - load(b->shift + i));
	const ivec half = (ivec)all(UINT64_C(1) << 31);
	const ivec up = (ivec)reach, down = (ivec)(reach >> ((vec)below & 1));
	const ivec fraction = (ivec)x.fraction, behind = (ivec)(x.last << 32 | x.fraction);
	const ivec ahead = (ivec)all(UINT64_C(10) << 32) - behind;
#define NEAR(a, b) (((vec)((a) - (b) + DOUBT) >> 4) == 0)
	return (struct choice){
	    .ten_down = behind < down,
	    .ten_up = ahead < up,
	    .up = (fraction + (ivec)x.odd > half) | (fraction > down),
	    .uncertain =
		NEAR(behind, down) | NEAR(ahead, up) | ((NEAR(fraction, half) | below) & ~x.exact),
	};
#undef NEAR
}

/* Where the power of ten is exact in 64 bits. */
INLINE ivec
exact_power(const struct block *b, size_t i)
{
	const ivec n = (ivec)load(b->n + i);

	return (n > EXPONENT_BIAS - 1) & (n < EXPONENT_BIAS + 28);
}

/* 7 to 9 digits into b->upper, or 0 */
INLINE void
shorten_f32(struct block *b, size_t i)
{
	const struct pe_binary f = PE_BINARY32;
	const vec magnitude = magnitude_of(b, i, f);
	const vec g = load(b->power[0] + i), lower = all(UINT32_MAX);
	const vec c = significand_of(magnitude, f) << load(b->shift + i);
	const ivec below = (magnitude & 0x7fffff) == 0;

	/* c < 2^28 times the upper 64 bits of the power, all above 2^-32: less than that is cut
	 * off, and less than 2^-36 lost by what the power lacks */
	const vec low = times(c, g), sum = times(c, g >> 32) + (low >> 32), whole = sum >> 32;
	const vec ten = times(times(whole, all(0xcccccccd)) >> 35, all(10));
	const struct product x = {
	    .odd = whole & 1,
	    .last = whole - ten,
	    .fraction = sum & lower,
	    .exact = ((low & lower) == 0) & exact_power(b, i),
	};
	const struct choice is = choose(b, i, x, below);
	save(b->upper + i, either(is.ten_down | is.ten_up, ten + ((vec)is.ten_up & 10),
				  whole + ((vec)is.up & 1)));
	save(b->open + i, (vec)left_open(magnitude, is.uncertain, f));
}

/* x / 10^8 and the rest, x < 2^60. The quotient is that of x / 2^8 by 5^8, two whole numbers that a
 * double holds; rounded to nearest, it is the right one or one more. */
INLINE vec
divide_by_1e8(vec x, vec *rest)
{
	const vec magic = all(UINT64_C(0x4330000000000000)); /* 2^52 */
	const dvec shifted = (dvec)(x >> 8 | magic) - (dvec)magic;
	const vec nearest = (vec)(shifted * (1 / 390625.0) + (dvec)magic) ^ magic;
	const ivec r = (ivec)(x - times(nearest, all(100000000)));
	const ivec beyond = r < 0;

	*rest = (vec)r + ((vec)beyond & 100000000);
	return nearest + (vec)beyond;
}

/* 16 or 17 digits, or 0 */
INLINE void
shorten_f64(struct block *b, size_t i)
{
	const struct pe_binary f = PE_BINARY64;
	const vec magnitude = magnitude_of(b, i, f);
	const vec g = load(b->power[0] + i), h = g >> 32, lower = all(UINT32_MAX);
	const vec c = significand_of(magnitude, f) << load(b->shift + i), d = c >> 32;
	const ivec below = (magnitude & ((UINT64_C(1) << 52) - 1)) == 0;

	/* c < 2^57 times the upper 96 bits of the power, all above 2^-32: less than that is cut
	 * off in three places, and less than 2^-38 lost by what the power lacks */
	const vec low = times(c, g), inner = times(d, g), outer = times(c, h);
	const vec middle = (inner & lower) + (outer & lower) + (low >> 32) +
			   (times(d, load(b->power[1] + i) >> 32) >> 32);
	const vec whole = times(d, h) + (inner >> 32) + (outer >> 32) + (middle >> 32);
	vec rest;
	const vec upper = divide_by_1e8(whole, &rest);
	const vec ten = times(times(rest, all(0xcccccccd)) >> 35, all(10));
	const struct product x = {
	    .odd = rest & 1,
	    .last = rest - ten,
	    .fraction = middle & lower,
	    .exact = ((low & lower) == 0) & exact_power(b, i),
	};
	const struct choice is = choose(b, i, x, below);
	const vec chosen =
	    either(is.ten_down | is.ten_up, ten + ((vec)is.ten_up & 10), rest + ((vec)is.up & 1));
	const ivec carry = (ivec)chosen > 99999999;
	save(b->upper + i, upper - (vec)carry);
	save(b->lower + i, chosen & ~(vec)carry);
	save(b->open + i, (vec)left_open(magnitude, is.uncertain, f));
}

/* ---- digits as characters ---- */

/* The eight digits of each x < 10^8 as bytes 0 .. 9, the last one lowest. At each step q is the
 * quotient by a power p of ten: adding q (2^bits - p) turns a lane of twice so many bits into q
 * above the rest. */
INLINE vec
eight_digits(vec x)
{
	const vec16 by_100 = (vec16)all(5243 * UINT64_C(0x0001000100010001));
	const vec16 by_10 = (vec16)all(6554 * UINT64_C(0x0001000100010001));
	const vec q = times(x, all(0xd1b71759)) >> 45;
	const vec fours = x + times(q, all((UINT64_C(1) << 32) - 10000));
	const vec32 twos = (vec32)fours + (vec32)(times_high((vec16)fours, by_100) >> 3) * 65436;
	return (vec)((vec16)twos + times_high((vec16)twos, by_10) * 246);
}

/* How many of eight such digits are zeros at the end. */
INLINE vec
zeros_at_end(vec digits)
{
	/* ones below the lowest one: they reach the top bit in bytes of zeros only */
	return sum_bytes((~digits & (digits - 1)) >> 7 & 0x0101010101010101);
}

/* A number's fate, in bits. */
enum {
	FIRST = 0,   /* f32: the first digit */
	COUNT = 8,   /* of digits, without the zeros at the end */
	LAYOUT = 16, /* its number */
	POINT = 48,  /* 16 bits: behind so many digits, signed */
};
#define SCIENTIFIC (UINT64_C(1) << 40) /* an exponent follows */
#define OPEN (UINT64_C(2) << 40)       /* all this is void */

INLINE vec
lay_out(vec count, ivec point, vec sign, ivec open)
{
	const ivec plain =
	    (point > PE_DECIMAL_LEAST_POINT - 1) & (point < PE_DECIMAL_MOST_POINT + 1);
	const vec beyond = all(PE_DECIMAL_MOST_POINT - PE_DECIMAL_LEAST_POINT + 1);

	return count << COUNT |
	       (2 * either(plain, (vec)(point - PE_DECIMAL_LEAST_POINT), beyond) | sign) << LAYOUT |
	       (~(vec)plain & SCIENTIFIC) | ((vec)open & OPEN) | (vec)point << POINT;
}

INLINE void
spell_f32(struct block *b, size_t i)
{
	const vec bits = load(b->bits + i), d = load(b->upper + i);
	const ivec zero = (bits & 0x7fffffff) == 0;
	const ivec seven = (ivec)d < 10000000, less = (ivec)d < 100000000;

	const vec nine = times(d, ((vec)seven & 90) + ((vec)less & 9) + 1);
	const vec first = times(nine, all(0x55e63b89)) >> 57; /* nine / 10^8 */
	const vec eight = eight_digits(nine - times(first, all(100000000)));
	const ivec point = (ivec)either(
	    zero, all(1), (EXPONENT_BIAS + 9) - load(b->n + i) + (vec)seven + (vec)less);
	/* behind a sign and 16 digits more than 16 characters are due */
	const ivec open = (ivec)load(b->open + i) | (point == 16);
	save(b->digits[0] + i, eight);
	save(b->fate + i,
	     first << FIRST | lay_out(9 - zeros_at_end(eight), point, bits >> 31, open));
}

INLINE void
spell_f64(struct block *b, size_t i)
{
	const vec bits = load(b->bits + i);
	const vec upper = load(b->upper + i), lower = load(b->lower + i);
	const ivec zero = bits << 1 == 0, less = (ivec)upper < 100000000;

	/* times ten where there are 16 digits */
	const vec factor = ((vec)less & 9) + 1, tail = times(lower, factor);
	const vec carry = times(tail, all(0x55e63b89)) >> 57;
	const vec nine = times(upper, factor) + carry;
	const vec first = times(nine, all(0x55e63b89)) >> 57;
	const vec last = eight_digits(tail - times(carry, all(100000000)));
	const vec eight = eight_digits(nine - times(first, all(100000000)));
	const vec zeros = zeros_at_end(last) + (zeros_at_end(eight) & (vec)(last == 0));
	const ivec point =
	    (ivec)either(zero, all(1), (EXPONENT_BIAS + 17) - load(b->n + i) + (vec)less);
	save(b->digits[0] + i, last >> 8 | eight << 56);
	save(b->digits[1] + i, eight >> 8 | first << 56);
	save(b->digits[2] + i, last);
	save(b->fate + i, lay_out(17 - zeros, point, bits >> 63, (ivec)load(b->open + i)));
}

/* ---- rows ---- */

/* Numbers into the block, and zeros behind them up to a whole vector. */
INLINE void
take(struct block *b, enum pe_elem elem, const void *x, size_t n)
{
	const float *const f32 = x;
	const double *const f64 = x;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		save(b->bits + i, elem == PE_F32 ? widen(f32 + i) : load(f64 + i));
	if (i == n)
		return;
	save(b->bits + i, all(0));
	for (; i < n; i++) {
		uint32_t narrow;
		if (elem == PE_F64) {
			memcpy(b->bits + i, f64 + i, sizeof *f64);
			continue;
		}
		memcpy(&narrow, f32 + i, sizeof narrow);
		b->bits[i] = narrow;
	}
}

/* The characters that `shuffle` makes of the digits, beside those of `text`. */
INLINE void
put_sixteen(char *to, __m128i digits, const unsigned char *shuffle, const unsigned char *text)
{
	const __m128i from = _mm_load_si128((const __m128i *)(const void *)shuffle);
	const __m128i beside = _mm_load_si128((const __m128i *)(const void *)text);

	_mm_storeu_si128((__m128i *)(void *)to,
			 _mm_or_si128(_mm_shuffle_epi8(digits, from), beside));
}

/* One number that is not left open; up to 32 bytes behind `to` are touched. */
INLINE char *
put(char *to, enum pe_elem elem, const struct block *b, size_t i)
{
	const uint64_t fate = b->fate[i];
	const struct pe_decimal_layout *const l = pe_decimal_layouts + (fate >> LAYOUT & 255);

	if (elem == PE_F32) {
		put_sixteen(to, _mm_set_epi64x((int64_t)fate, (int64_t)b->digits[0][i]), l->f32,
			    l->text);
	} else {
		put_sixteen(to, _mm_set_epi64x((int64_t)b->digits[1][i], (int64_t)b->digits[0][i]),
			    l->f64, l->text);
		put_sixteen(to + 16, _mm_cvtsi64_si128((int64_t)b->digits[2][i]), l->f64_rest,
			    l->text + 16);
	}
	to += l->length[fate >> COUNT & 255];
	return fate & SCIENTIFIC ? pe_put_exponent(to, (int)((int64_t)fate >> POINT) - 1) : to;
}

INLINE size_t
write_rows(char *to, enum pe_elem elem, char separator, const void *numbers, size_t rows,
	   size_t cols)
{
	const struct pe_binary f = elem == PE_F32 ? PE_BINARY32 : PE_BINARY64;
	const char *x = numbers;
	char *at = to;
	size_t left = cols; /* in the row */
	struct block b;

	for (size_t some, n = rows * cols; n > 0; n -= some, x += some * (elem == PE_F32 ? 4 : 8)) {
		some = n < BLOCK ? n : BLOCK;
		take(&b, elem, x, some);
		for (size_t i = 0; i < some; i += LANES)
			choose_power(&b, i, f);
		load_powers(&b, some, f);
		for (size_t i = 0; i < some; i += LANES)
			elem == PE_F32 ? shorten_f32(&b, i) : shorten_f64(&b, i);
		for (size_t i = 0; i < some; i += LANES)
			elem == PE_F32 ? spell_f32(&b, i) : spell_f64(&b, i);
		for (size_t i = 0; i < some; i++) {
			if (__builtin_expect((b.fate[i] & OPEN) != 0, 0))
				at += pe_decimal_write(at, elem, x, i, 0);
			else
				at = put(at, elem, &b, i);
			left--;
			*at++ = left > 0 ? separator : '\n';
			left = left > 0 ? left : cols;
		}
	}
	return (size_t)(at - to);
}

static size_t
write_f32(char *to, char separator, const float *x, size_t rows, size_t cols)
{
	return write_rows(to, PE_F32, separator, x, rows, cols);
}

static size_t
write_f64(char *to, char separator, const double *x, size_t rows, size_t cols)
{
	return write_rows(to, PE_F64, separator, x, rows, cols);
}
