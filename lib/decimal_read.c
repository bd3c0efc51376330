/* decimal_read - text as binary floats and whole numbers.
 *
 * A decimal times a 128-bit power of ten tells the nearest float but for ties and near ties
 * (Daniel Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51,
 * 2021); those are decided by whole numbers of any size. */
#include "decimal.h"

#include "decimal_core.h"

/* Exponents as they stand in the text stop growing here; no text has as many digits. */
#define EXPONENT_LIMIT INT64_C(100000000000000000)

/* A decimal number as it stands. */
struct spelling {
	const char *first, *last; /* its digits, perhaps with a point among them */
	int64_t digits;           /* how many; if more than 19, without the zeros in front */
	uint64_t whole;           /* what they are as a whole number, modulo 2^64 */
	int64_t unit;             /* the power of ten that this is multiplied by */
};

/* Its value: (w + d) 10^q, where d = 0 unless `more`, and then 0 < d < 1. */
struct decimal {
	uint64_t w; /* up to 19 digits */
	int64_t q;
	bool more;
};

/* (m + d) 2^q, where d = 0 unless `more`, and then 0 < d < 1 and m has all 64 bits. */
struct hexadecimal {
	uint64_t m;
	int64_t q;
	bool more;
};

static inline bool
is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* ---- runs of digits ---- */

/* The fewer than eight bytes at s, zeros behind them. `begin` is the start of what may be read. */
static uint64_t
load_last(const char *begin, const char *s, const char *end)
{
	const ptrdiff_t left = end - s;
	uint64_t x = 0;

	if (end - begin >= 8)
		return left > 0 ? pe_load_8(end - 8) >> 8 * (8 - left) : 0;
	for (ptrdiff_t i = left; i-- > 0;)
		x = x << 8 | (unsigned char)s[i];
	return x;
}

/* The number of eight digits, each a byte 0 .. 9, the first one lowest: neighbours are joined to
 * pairs, pairs of pairs, and those two. */
static inline uint32_t
join_digits(uint64_t ones)
{
	const uint64_t twos = ones * 10 + (ones >> 8), mask = UINT64_C(0x000000ff000000ff);

	return (uint32_t)(((twos & mask) * (100 + (UINT64_C(1000000) << 32)) +
			   (twos >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
			  32);
}

/* Appends the digits at s to *w, modulo 2^64, and returns what is behind them. */
INLINE const char *
read_digits(const char *begin, const char *s, const char *end, uint64_t *w)
{
	for (;;) {
		const uint64_t text = end - s >= 8 ? pe_load_8(s) : load_last(begin, s, end);
		const uint64_t ones = text ^ UINT64_C(0x3030303030303030);
		/* the top bit of every byte that is no digit; no sum carries into the next byte */
		const uint64_t others =
		    (((ones & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7676767676767676)) |
		     ones) &
		    UINT64_C(0x8080808080808080);
		if (others != 0) {
			/* the digits move to the end of the word, so that zeros come in front of
			 * them; in two steps because there may be none */
			const int count = pe_trailing_zeros(others) >> 3;
			*w = *w * pe_small_powers10[count] +
			     join_digits(ones << 8 << (56 - 8 * count));
			return s + count;
		}
		*w = *w * 100000000 + join_digits(ones);
		s += 8;
	}
}

/* An optional exponent behind its mark ('e' or 'p'); s stays where there is none. */
static const char *
read_exponent(const char *s, const char *end, char mark, int64_t *exponent)
{
	const char *t = s + 1;
	int64_t e = 0;

	*exponent = 0;
	if (s == end || lower(*s) != mark || t == end)
		return s;
	const bool negative = *t == '-';
	t += *t == '-' || *t == '+';
	if (t == end || !is_digit(*t))
		return s;
	for (; t < end && is_digit(*t); t++)
		if (e < EXPONENT_LIMIT)
			e = e * 10 + (*t - '0');
	*exponent = negative ? -e : e;
	return t;
}

/* Digits, point, exponent from s on; returns what is behind them, NULL where no digit is. */
INLINE const char *
read_decimal(const char *s, const char *end, struct spelling *number)
{
	const char *const first = s;
	uint64_t whole = 0;
	int64_t unit = 0, exponent;

	if (end - s >= 2 && is_digit(s[0]) && s[1] == '.') /* most numbers of a table */
		whole = (uint64_t)(*s++ - '0');
	else
		s = read_digits(first, s, end, &whole);
	int64_t digits = s - first;
	if (s < end && *s == '.') {
		const char *const fraction = s + 1;
		s = read_digits(first, fraction, end, &whole);
		unit = fraction - s;
		digits -= unit;
	}
	if (digits == 0)
		return NULL;
	if (digits > 19)
		for (const char *t = first; t < s && (*t == '0' || *t == '.'); t++)
			digits -= *t == '0';
	const char *const last = s;
	if (s < end && (*s | 0x20) == 'e') {
		s = read_exponent(s, end, 'e', &exponent);
		unit += exponent;
	}
	*number = (struct spelling){first, last, digits, whole, unit};
	return s;
}

static struct decimal
value_of(const struct spelling *number)
{
	struct decimal d = {.q = number->unit};

	if (number->digits <= 19) {
		d.w = number->whole;
		return d;
	}
	for (const char *s = number->first; s < number->last; s++) {
		if (!is_digit(*s))
			continue;
		if (d.w < pe_small_powers10[18]) {
			d.w = d.w * 10 + (uint64_t)(*s - '0');
			continue;
		}
		d.q++;
		d.more |= *s != '0';
	}
	return d;
}

/* ---- the nearest float ---- */

/* The sign of the decimal less m 2^q; see pe_natural_compare. */
static int
compare_exactly(const struct spelling *number, uint64_t m, int q)
{
	struct pe_natural n;
	int64_t kept = 0, behind = 0;
	bool more = false;

	n.limbs = 0;
	for (const char *s = number->first; s < number->last; s++) {
		if (!is_digit(*s) || (kept == 0 && *s == '0'))
			continue;
		if (kept == PE_NATURAL_DIGITS) {
			behind++;
			more |= *s != '0';
			continue;
		}
		kept++;
		pe_natural_multiply_add(&n, 10, (uint32_t)(*s - '0'));
	}
	if (more) /* no midpoint between floats has so many digits: any digit here stands for all */
		pe_natural_multiply_add(&n, 10, 1);
	return pe_natural_compare(&n, (int)(number->unit + behind - more), m, q);
}

/* How many lower bits of a significand of 64, topmost set, in units of 2^q, go beyond the format. */
static inline int
excess(struct pe_binary f, int q)
{
	const int normal = 63 - f.fraction, subnormal = pe_binary_least(f) - q;

	return normal > subnormal ? normal : subnormal;
}

/* Magnitude bits of the float nearest to the number; infinity's if it is beyond the largest. */
static uint64_t
nearest(struct pe_binary f, const struct spelling *number)
{
	const struct decimal d = value_of(number);

	if (d.w == 0 || d.q < PE_POWER10_LEAST) /* below 10^19 10^-343 */
		return 0;
	if (d.q > 308)
		return pe_binary_infinity(f);
	const int ten = (int)d.q;
	int zeros = pe_leading_zeros(d.w);
	struct pe_uint128 p = pe_product_top(d.w << zeros, pe_power10(ten));
	if (p.high >> 63 == 0) {
		p = (struct pe_uint128){p.high << 1 | p.low >> 63, p.low << 1};
		zeros++;
	}
	const int q = pe_log2_of_power10(ten) - zeros + 1; /* d is p.high 2^q and a little more */
	const int drop = excess(f, q);
	if (drop > 65)
		return 0;
	/* from 64 bits on nothing is left; the midpoint's own bit may be the 65th */
	const uint64_t kept = drop < 64 ? p.high >> drop : 0;
	const uint64_t below = drop < 64 ? p.high & ((UINT64_C(1) << drop) - 1) : p.high;
	const uint64_t half = drop < 65 ? UINT64_C(1) << (drop - 1) : 0;
	bool up = drop < 65 && below >= half;
	/* A tie is left open if it is this little above: the product lacks less than 2^-62 of the
	 * unit of p.high; and what d has beyond w, less than a unit of w >= 10^18 that has up to
	 * 4 leading zeros, is less than 2^5 of it. */
	const uint64_t gap = half - below - (p.low != 0);
	if (gap < (d.more ? 33 : 0) || (gap == (d.more ? 33 : 0) && 0 - p.low <= 8)) {
		const int sign = compare_exactly(number, 2 * kept + 1, q + drop - 1);
		up = sign > 0 || (sign == 0 && (kept & 1));
	}
	return pe_assemble(f, kept, up, q + drop);
}

/* ---- hexadecimal floats ---- */

static int
hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Digits, point, exponent from s on, behind the 0x; NULL where no digit is. */
static const char *
read_hexadecimal(const char *s, const char *end, struct hexadecimal *h)
{
	bool any = false, point = false;
	int64_t exponent;

	*h = (struct hexadecimal){0};
	for (; s < end; s++) {
		if (*s == '.' && !point) {
			point = true;
			continue;
		}
		const int digit = hex_digit(*s);
		if (digit < 0)
			break;
		any = true;
		for (int bit = 3; bit >= 0; bit--) {
			const uint64_t b = (uint64_t)digit >> bit & 1;
			if (h->m >> 63 == 0) {
				h->m = h->m << 1 | b;
				h->q -= point;
			} else {
				h->more |= b != 0;
				h->q += !point;
			}
		}
	}
	if (!any)
		return NULL;
	s = read_exponent(s, end, 'p', &exponent);
	h->q += exponent;
	return s;
}

static uint64_t
nearest_hexadecimal(struct pe_binary f, const struct hexadecimal *h)
{
	if (h->m == 0)
		return 0;
	const int zeros = pe_leading_zeros(h->m);
	const uint64_t m = h->m << zeros;
	const int64_t exponent = h->q - zeros;
	if (exponent > 1024)
		return pe_binary_infinity(f);
	if (exponent < pe_binary_least(f) - 65)
		return 0;
	const int q = (int)exponent, drop = excess(f, q);
	const uint64_t kept = drop < 64 ? m >> drop : 0;
	const uint64_t below = drop < 64 ? m & ((UINT64_C(1) << drop) - 1) : m;
	const uint64_t half = UINT64_C(1) << (drop - 1) % 64;
	const bool up = drop < 65 && (below > half || (below == half && (h->more || (kept & 1))));
	return pe_assemble(f, kept, up, q + drop);
}

/* ---- words and spellings ---- */

/* Behind the word (lower case) if the text begins with it, else NULL. */
static const char *
skip_word(const char *s, const char *end, const char *word)
{
	for (; *word != '\0'; word++, s++)
		if (s == end || lower(*s) != *word)
			return NULL;
	return s;
}

INLINE const char *
skip_sign(const char *s, const char *end)
{
	return s + (s < end && (*s == '-' || *s == '+'));
}

static inline bool
is_hexadecimal(const char *s, const char *end)
{
	return end - s >= 3 && s[0] == '0' && (s[1] | 0x20) == 'x';
}

/* Magnitude bits of what [s, end) begins with; *behind stays where that is no number. */
static enum pe_decimal
read_magnitude(struct pe_binary f, const char *s, const char *end, uint64_t *bits,
	       const char **behind)
{
	struct spelling number;
	struct hexadecimal h;
	const char *t;

	*bits = pe_binary_infinity(f);
	if (is_hexadecimal(s, end) && (t = read_hexadecimal(s + 2, end, &h)) != NULL) {
		*behind = t;
		*bits = nearest_hexadecimal(f, &h);
	} else if ((t = read_decimal(s, end, &number)) != NULL) { /* "0x" is a zero and an x */
		*behind = t;
		*bits = nearest(f, &number);
	} else if ((t = skip_word(s, end, "infinity")) != NULL ||
		   (t = skip_word(s, end, "inf")) != NULL) {
		*behind = t;
		return PE_DECIMAL_OK;
	} else if ((t = skip_word(s, end, "nan")) != NULL) {
		*behind = t;
		*bits |= UINT64_C(1) << (f.fraction - 1);
		return PE_DECIMAL_OK;
	} else {
		*bits = 0;
		return PE_DECIMAL_NONE;
	}
	return *bits == pe_binary_infinity(f) ? PE_DECIMAL_OVERFLOW : PE_DECIMAL_OK;
}

static NOINLINE enum pe_decimal
read_any(struct pe_binary f, const char *text, const char *end, uint64_t *bits, const char **behind)
{
	const char *const s = skip_sign(text, end);

	*behind = text;
	const enum pe_decimal status = read_magnitude(f, s, end, bits, behind);
	*bits |= (uint64_t)(s > text && *text == '-') << (f.fraction + f.exponent);
	return status;
}

/* The float that [text, end) begins with, as bits. */
INLINE enum pe_decimal
read_binary(struct pe_binary f, const char *text, const char *end, uint64_t *bits,
	    const char **behind)
{
	const char *const s = skip_sign(text, end);
	struct spelling number;
	uint64_t magnitude;

	const char *const t = read_decimal(s, end, &number);
	if (t == NULL || number.digits > 19 || (number.whole == 0 && is_hexadecimal(s, end)) ||
	    !pe_nearest_quickly(f, number.whole, number.unit, &magnitude) ||
	    magnitude == pe_binary_infinity(f))
		return read_any(f, text, end, bits, behind);
	*behind = t;
	*bits = magnitude | (uint64_t)(*text == '-') << (f.fraction + f.exponent);
	return PE_DECIMAL_OK;
}

enum pe_decimal
pe_decimal_read_f64(const char *text, const char *end, double *value, const char **behind)
{
	uint64_t bits;
	const enum pe_decimal status = read_binary(PE_BINARY64, text, end, &bits, behind);

	memcpy(value, &bits, sizeof *value);
	return status;
}

enum pe_decimal
pe_decimal_read_f32(const char *text, const char *end, float *value, const char **behind)
{
	uint64_t bits;
	const enum pe_decimal status = read_binary(PE_BINARY32, text, end, &bits, behind);
	const uint32_t narrow = (uint32_t)bits;

	memcpy(value, &narrow, sizeof *value);
	return status;
}

/* ---- whole numbers ---- */

/* The whole part of a number's magnitude. */
struct whole {
	uint64_t magnitude;
	bool beyond;   /* 2^64 and more */
	bool fraction; /* something is behind the point */
};

static struct whole
whole_of_decimal(struct decimal d)
{
	if (d.w == 0)
		return (struct whole){0};
	if (d.q > 19)
		return (struct whole){.beyond = true};
	if (d.q < -19)
		return (struct whole){.fraction = true};
	const uint64_t power = pe_small_powers10[d.q < 0 ? -d.q : d.q];
	if (d.q < 0)
		return (struct whole){d.w / power, false, d.more || d.w % power != 0};
	const struct pe_uint128 p = pe_product(d.w, power);
	return (struct whole){p.low, p.high != 0 || (d.more && d.q > 0), d.more};
}

static struct whole
whole_of_hexadecimal(const struct hexadecimal *h)
{
	if (h->m == 0)
		return (struct whole){0};
	if (h->q > pe_leading_zeros(h->m))
		return (struct whole){.beyond = true};
	if (h->q >= 0)
		return (struct whole){h->m << h->q, false, h->more};
	if (h->q <= -64)
		return (struct whole){.fraction = true};
	const uint64_t m = h->m >> -h->q;
	return (struct whole){m, false, h->more || m << -h->q != h->m};
}

enum pe_decimal
pe_decimal_read_i64(const char *text, const char *end, int64_t *value, const char **behind)
{
	const char *const s = skip_sign(text, end);
	const bool negative = s > text && *text == '-';
	struct whole n;
	struct hexadecimal h;
	struct spelling number;
	const char *t;

	*behind = text;
	if (is_hexadecimal(s, end) && (t = read_hexadecimal(s + 2, end, &h)) != NULL) {
		n = whole_of_hexadecimal(&h);
	} else if ((t = read_decimal(s, end, &number)) != NULL) {
		n = whole_of_decimal(value_of(&number));
	} else {
		uint64_t bits;
		(void)read_magnitude(PE_BINARY64, s, end, &bits, behind); /* past nan, inf */
		return PE_DECIMAL_NONE;
	}
	*behind = t;
	if (n.beyond || n.magnitude > (uint64_t)INT64_MAX + negative)
		return PE_DECIMAL_OVERFLOW;
	if (n.fraction)
		return PE_DECIMAL_NONE;
	if (n.magnitude > INT64_MAX) /* has no negative to convert and negate */
		*value = INT64_MIN;
	else
		*value = negative ? -(int64_t)n.magnitude : (int64_t)n.magnitude;
	return PE_DECIMAL_OK;
}
