/* decimal_write - binary floats and whole numbers as text.
 *
 * Shortest digits: Raffaello Giulietti, The Schubfach way to render doubles (2020). */
#include "decimal.h"

#include <math.h>

#include "decimal_core.h"

/* digits 10^power, digits < 10^17 */
struct tens {
	uint64_t digits;
	int power;
};

/* floor(a b / 2^128), its lowest bit set where something was cut off; a < 2^60. b is a power of
 * ten that was rounded up by less than one: a product that should be whole exceeds it by less
 * than a. None that should not be whole is less than 2^61 above or less than 2^60 below a
 * multiple of 2^128: decimal_powers.py looks for the nearest one at each exponent. */
static inline uint64_t
round_to_odd(uint64_t a, struct pe_uint128 b)
{
	const struct pe_uint128 p = pe_product_top(a, b);

	return p.high | (p.low != 0 || a * b.low >= a);
}

/* Of the decimals that round to c 2^q, the shortest; of these the nearest to it, then the even
 * one. `below` tells that the next smaller float is only 2^(q-1) away.
 *
 * With 10^k <= width of the rounding interval < 10^(k+1), the interval holds a multiple of 10^k
 * and at most one of 10^(k+1). All is compared in quarters of 10^k, where what is cut off matters
 * only as "more". */
static struct tens
shortest_exactly(uint64_t c, int q, bool below)
{
	const int k = below ? pe_log10_of_3_4_power2(q) : pe_log10_of_power2(q);
	const int shift = q + pe_log2_of_power10(-k) + 1; /* 1 .. 4 */
	struct pe_uint128 g = pe_power10(-k);
	g.low += k > 0 || k < -PE_POWER10_EXACT; /* rounded up */

	const uint64_t odd = c & 1; /* an even significand takes the ends of its interval */
	const uint64_t x = round_to_odd(4 * c << shift, g);
	const uint64_t low = round_to_odd((4 * c - (below ? 1 : 2)) << shift, g) + odd;
	const uint64_t high = round_to_odd((4 * c + 2) << shift, g) - odd;
	const uint64_t s = x / 4;

	if (s >= 10) { /* below, one digit more is no longer */
		const uint64_t ten = s / 10 * 10;
		const bool down = low <= 4 * ten, up = 4 * ten + 40 <= high;
		if (down || up)
			return (struct tens){ten + (up ? 10 : 0), k};
	}
	const bool down = low <= 4 * s, up = 4 * s + 4 <= high;
	const bool nearer_up = x + (s & 1) > 4 * s + 2;
	return (struct tens){s + (down && up ? nearer_up : up), k};
}

/* The same with one product and without a branch that depends on digits, for a c of f.fraction +
 * 1 bits that is no power of two; false where it cannot tell.
 *
 * Distances are in 10^k 2^-60. They are wrong by less than 2^25: for c < 2^24 only the upper half
 * of the power of ten is used, and what it lacks times c 2^shift is below 2^28 2^-64. Whatever is
 * nearer than 2^26 to a border is left open. */
INLINE bool
shortest_quickly(struct pe_binary f, uint64_t c, int q, struct tens *d)
{
	const uint64_t unit = UINT64_C(1) << 60, doubt = UINT64_C(1) << 26;
	const int k = pe_log10_of_power2(q);
	const int shift = q + pe_log2_of_power10(-k) + 1; /* 1 .. 4 */
	const struct pe_uint128 g = pe_power10(-k);
	const struct pe_uint128 x =
	    f.fraction < 24 ? pe_product(c << shift, g.high) : pe_product_top(c << shift, g);
	const uint64_t last = f.fraction < 24 ? (uint32_t)x.high % 10 : x.high % 10;
	const uint64_t reach = g.high >> (5 - shift); /* half the interval, 0.5 to 5 units */
	const uint64_t behind = last * unit + (x.low >> 4), ahead = 10 * unit - behind;
	const uint64_t half = (x.low >> 4) - unit / 2;

	if (behind - reach + doubt < 2 * doubt || ahead - reach + doubt < 2 * doubt ||
	    half + doubt < 2 * doubt)
		return false;
	const uint64_t nearest = x.high + (x.low >> 63);
	const uint64_t ten = x.high - last + (ahead < reach ? 10 : 0);
	*d = (struct tens){behind < reach || ahead < reach ? ten : nearest, k};
	return true;
}

/* ---- digits as characters ---- */

/* The eight digits of x < 10^8 as bytes 0 .. 9, the first one lowest. */
static inline uint64_t
eight_digits(uint32_t x)
{
	const uint64_t fours = x / 10000 | (uint64_t)(x % 10000) << 32;
	const uint64_t hundreds = (fours * 5243 >> 19) & UINT64_C(0x7f0000007f); /* x / 100 */
	const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
	const uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* x / 10 */
	return tens | (twos - tens * 10) << 8;
}

#define ZEROS UINT64_C(0x3030303030303030)

static inline int
decimal_length(uint64_t x) /* of x > 0 */
{
	const int floor = (64 - pe_leading_zeros(x)) * 1233 >> 12; /* bits log10(2) */

	return floor + (x >= pe_small_powers10[floor]);
}

/* How many of eight digits are zeros at the end. The one bit that is put below them makes it
 * right for eight zeros too; above, no digit has its upper half. */
static inline int
zeros_at_end(uint64_t digits)
{
	return (pe_leading_zeros(digits << 4 | 1) + 1) >> 3;
}

/* Lays out digits of `length` places, at most `most` (9 or 17); returns what is behind them. */
INLINE char *
lay_out(char *to, struct tens d, int length, int most)
{
	const int point = length + d.power; /* the value is 0.ddd 10^point */
	const uint64_t all = d.digits * pe_small_powers10[most - length];
	/* the first digit, the next eight, and the eight behind them */
	const uint32_t nine = (uint32_t)(most > 9 ? all / 100000000 : all);
	const char first = (char)('0' + nine / 100000000);
	uint64_t a = eight_digits(nine % 100000000);
	uint64_t b = most > 9 ? eight_digits((uint32_t)(all % 100000000)) : 0;
	const int count = b != 0 ? 17 - zeros_at_end(b) : 9 - zeros_at_end(a);
	a |= ZEROS;
	b |= ZEROS;

	if (point > 16 || point < -3) {
		to[0] = first;
		to[1] = '.';
		pe_store_8(to + 2, a);
		pe_store_8(to + 10, b);
		return pe_put_exponent(to + count + (count > 1), point - 1);
	}
	if (point <= 0) {
		memcpy(to, "0.000000", 8);
		to += 2 - point;
		*to = first;
		pe_store_8(to + 1, a);
		pe_store_8(to + 9, b);
		return to + count;
	}
	to[0] = first;
	pe_store_8(to + 1, a);
	pe_store_8(to + 9, b);
	if (count <= point)
		return to + point;
	/* what is behind the point, moved there in registers: loading just stored bytes would
	 * wait */
	const int drop = 8 * (point - 1);
	to[point] = '.';
	pe_store_8(to + point + 1,
		   drop >= 64 ? b >> (drop - 64) : a >> drop | b << 1 << (63 - drop));
	pe_store_8(to + point + 9, drop >= 64 ? 0 : b >> drop);
	return to + count + 1;
}

/* ---- floats ---- */

/* Any float: also the special ones, subnormal ones, powers of two. */
static NOINLINE size_t
write_any(char *to, uint64_t bits, struct pe_binary f)
{
	const uint64_t hidden = UINT64_C(1) << f.fraction;
	const bool negative = bits >> (f.fraction + f.exponent) & 1;
	const uint64_t magnitude = bits & ((hidden << f.exponent) - 1);
	const uint64_t fraction = magnitude & (hidden - 1);
	const int exponent = (int)(magnitude >> f.fraction), least = pe_binary_least(f);
	char *s = to + negative;

	*to = '-';
	if (magnitude > pe_binary_infinity(f)) { /* neither sign nor payload of a nan is told */
		memcpy(to, "nan", 3);
		return 3;
	}
	if (magnitude == pe_binary_infinity(f)) {
		memcpy(s, "inf", 3);
		return (size_t)negative + 3;
	}
	if (magnitude == 0) {
		*s = '0';
		return (size_t)negative + 1;
	}
	const struct tens d = exponent == 0
				  ? shortest_exactly(fraction, least, false)
				  : shortest_exactly(fraction | hidden, least + exponent - 1,
						     fraction == 0 && exponent > 1);
	return (size_t)(lay_out(s, d, decimal_length(d.digits), 17) - to);
}

INLINE size_t
write_binary(char *to, uint64_t bits, struct pe_binary f)
{
	const uint64_t hidden = UINT64_C(1) << f.fraction;
	const uint64_t fraction = bits & (hidden - 1);
	const int most = (1 << f.exponent) - 2;
	const int exponent = (int)(bits >> f.fraction) & (most + 1);
	struct tens d;

	if (fraction == 0 || (unsigned)(exponent - 1) >= (unsigned)most ||
	    !shortest_quickly(f, fraction | hidden, pe_binary_least(f) + exponent - 1, &d))
		return write_any(to, bits, f);
	*to = '-';
	char *const s = to + (bits >> (f.fraction + f.exponent));
	return (size_t)(lay_out(s, d, decimal_length(d.digits), f.fraction < 24 ? 9 : 17) - to);
}

size_t
pe_decimal_write_f64(char *to, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return write_binary(to, bits, PE_BINARY64);
}

size_t
pe_decimal_write_f32(char *to, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return write_binary(to, bits, PE_BINARY32);
}

size_t
pe_decimal_write_f16(char *to, uint16_t bits)
{
	return write_binary(to, bits, PE_BINARY16);
}

size_t
pe_decimal_write_bf16(char *to, uint16_t bits)
{
	return write_binary(to, bits, PE_BFLOAT16);
}

/* m 2^q rounded to so many digits, ties to even.
 *
 * m 2^q = (h.high + d) 10^k 2^-shift, where d is h.low 2^-64 and less than 2^-63 more: a tie is
 * left open only where the cut-off bits are those of a half or that little below. */
static struct tens
round_digits(uint64_t m, int q, int digits)
{
	const int zeros = pe_leading_zeros(m);
	const uint64_t limit = pe_small_powers10[digits];
	uint64_t whole, half, fraction;
	struct pe_uint128 h;
	int k = pe_log10_of_power2(q + 63 - zeros) - digits; /* one or two too low */

	do {
		k++;
		h = pe_product_top(m << zeros, pe_power10(-k));
		const int shift = zeros - q - pe_log2_of_power10(-k) - 1; /* 1 .. 63 */
		whole = h.high >> shift;
		half = UINT64_C(1) << (shift - 1);
		fraction = h.high & (2 * half - 1);
	} while (whole >= limit);

	bool up = fraction >= half;
	if ((fraction == half && h.low == 0) || (fraction == half - 1 && h.low >= UINT64_MAX - 1)) {
		struct pe_natural tie;
		pe_natural_set(&tie, 2 * whole + 1);
		const int sign = pe_natural_compare(&tie, k, m, q + 1);
		up = sign < 0 || (sign == 0 && (whole & 1));
	}
	whole += up;
	return whole < limit ? (struct tens){whole, k} : (struct tens){1, k + digits};
}

size_t
pe_decimal_write_digits(char *to, double x, int digits)
{
	const struct pe_binary f = PE_BINARY64;
	const uint64_t hidden = UINT64_C(1) << f.fraction;
	uint64_t bits;

	if (!isfinite(x) || x == 0)
		return pe_decimal_write_f64(to, x);
	memcpy(&bits, &x, sizeof bits);
	const uint64_t fraction = bits & (hidden - 1);
	const int exponent = (int)(bits >> f.fraction & 0x7ff);
	const bool normal = exponent != 0;
	const struct tens d = round_digits(normal ? fraction | hidden : fraction,
					   pe_binary_least(f) + exponent - normal, digits);
	*to = '-';
	return (size_t)(lay_out(to + (x < 0), d, decimal_length(d.digits), 17) - to);
}

/* ---- whole numbers ---- */

size_t
pe_decimal_write_i64(char *to, int64_t x)
{
	uint64_t rest = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
	char *s = to;

	*s = '-';
	s += x < 0;
	const int length = decimal_length(rest | 1);
	int place = length;
	/* eights from the end; the first one begins with zeros, which the shift drops */
	for (; place > 8; place -= 8, rest /= 100000000)
		pe_store_8(s + place - 8, eight_digits((uint32_t)(rest % 100000000)) | ZEROS);
	/* what stands behind the head must stay */
	uint64_t head = (eight_digits((uint32_t)rest) | ZEROS) >> 8 * (8 - place);
	if (length <= 8)
		pe_store_8(s, head);
	else
		for (int i = 0; i < place; i++, head >>= 8)
			s[i] = (char)head;
	return (size_t)(s + length - to);
}

size_t
pe_decimal_write(char *to, enum pe_elem elem, const void *values, size_t i, int digits)
{
	const double *const f64 = values;
	const float *const f32 = values;
	const uint16_t *const half = values;

	switch (elem) {
	case PE_I64: return pe_decimal_write_i64(to, ((const int64_t *)values)[i]);
	case PE_I32: return pe_decimal_write_i64(to, ((const int32_t *)values)[i]);
	case PE_F64:
		return digits == 0 ? pe_decimal_write_f64(to, f64[i])
				   : pe_decimal_write_digits(to, f64[i], digits);
	case PE_F32:
		return digits == 0 ? pe_decimal_write_f32(to, f32[i])
				   : pe_decimal_write_digits(to, (double)f32[i], digits);
	case PE_F16:
		return digits == 0 ? pe_decimal_write_f16(to, half[i])
				   : pe_decimal_write_digits(to, pe_f16_value(half[i]), digits);
	case PE_BF16:
		return digits == 0 ? pe_decimal_write_bf16(to, half[i])
				   : pe_decimal_write_digits(to, pe_bf16_value(half[i]), digits);
	default: return 0;
	}
}
