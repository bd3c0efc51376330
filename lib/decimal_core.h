/* decimal_core - what the two halves of decimal, writing and reading, stand on. Not for other
 * rooms.
 *
 * Binary formats as numbers, 64 x 64 -> 128 bit products, powers of ten, and an exact comparison
 * for the few cases that a product of 192 bits leaves open. */
#ifndef PE_DECIMAL_CORE_H
#define PE_DECIMAL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Functions of a constant format fold only where they are inlined; what is rare stays outside. */
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* A binary format: |x| = significand 2^q, significand < 2^(fraction + 1), q >= pe_binary_least. */
struct pe_binary {
	int fraction; /* bits behind the leading one */
	int exponent; /* bits of the exponent field */
};
#define PE_BINARY64 ((struct pe_binary){52, 11})
#define PE_BINARY32 ((struct pe_binary){23, 8})
#define PE_BINARY16 ((struct pe_binary){10, 5})
#define PE_BFLOAT16 ((struct pe_binary){7, 8})

/* q of the subnormal numbers, whose significand counts the smallest one */
static inline int
pe_binary_least(struct pe_binary f)
{
	return 2 - (1 << (f.exponent - 1)) - f.fraction;
}

/* The bits of infinity; finite magnitudes are below. */
static inline uint64_t
pe_binary_infinity(struct pe_binary f)
{
	return ((UINT64_C(1) << f.exponent) - 1) << f.fraction;
}

struct pe_uint128 {
	uint64_t high, low;
};

static inline struct pe_uint128
pe_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	const wide p = (wide)a * b;
	return (struct pe_uint128){(uint64_t)(p >> 64), (uint64_t)p};
#else
	const uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
	const uint64_t inner = a1 * b0 + (a0 * b0 >> 32); /* both sums are below 2^64 */
	const uint64_t outer = a0 * b1 + (uint32_t)inner;
	return (struct pe_uint128){a1 * b1 + (inner >> 32) + (outer >> 32), a * b};
#endif
}

/* The upper 128 of the 192 bits of a * b. */
static inline struct pe_uint128
pe_product_top(uint64_t a, struct pe_uint128 b)
{
	const struct pe_uint128 upper = pe_product(a, b.high), lower = pe_product(a, b.low);
	const uint64_t low = upper.low + lower.high;
	return (struct pe_uint128){upper.high + (low < upper.low), low};
}

static inline int
pe_leading_zeros(uint64_t x) /* of x > 0 */
{
	return __builtin_clzll(x);
}

static inline int
pe_trailing_zeros(uint64_t x) /* of x > 0 */
{
	return __builtin_ctzll(x);
}

/* Floors of logarithms, exact for the exponents that occur (decimal_powers.py proves them). A right
 * shift of a negative number rounds down with every compiler that knows __builtin_clzll. */
static inline int
pe_log10_of_power2(int q)
{
	return q * 1262611 >> 22;
}

static inline int
pe_log10_of_3_4_power2(int q) /* of 3/4 2^q */
{
	return (q * 1262611 - 524031) >> 22;
}

static inline int
pe_log2_of_power10(int q)
{
	return q * 1741647 >> 19;
}

/* 10^q = (p + d) 2^(pe_log2_of_power10(q) - 127) where p has 128 bits, the topmost set, and
 * 0 <= d < 1; d = 0 just for 0 <= q <= 55. */
enum {
	PE_POWER10_LEAST = -342,
	PE_POWER10_MOST = 340,
	PE_POWER10_EXACT = 55,
};
extern const struct pe_uint128 pe_powers10[PE_POWER10_MOST - PE_POWER10_LEAST + 1];

static inline struct pe_uint128
pe_power10(int q)
{
	return pe_powers10[q - PE_POWER10_LEAST];
}

/* 10^q for q = 0 .. 19 */
extern const uint64_t pe_small_powers10[20];

/* Eight characters as a number whose lowest byte is the first of them. */
static inline uint64_t
pe_turn_bytes(uint64_t x)
{
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(x);
#else
	return x;
#endif
}

static inline uint64_t
pe_load_8(const char *from)
{
	uint64_t x;

	memcpy(&x, from, sizeof x);
	return pe_turn_bytes(x);
}

static inline void
pe_store_8(char *to, uint64_t x)
{
	x = pe_turn_bytes(x);
	memcpy(to, &x, sizeof x);
}

/* A whole number below 2^PE_NATURAL_BITS: 801 digits times 2 or 5 to what a float may need. */
enum {
	PE_NATURAL_DIGITS = 800,
	PE_NATURAL_BITS = 3072,
	PE_NATURAL_LIMBS = PE_NATURAL_BITS / 32,
};
struct pe_natural {
	int limbs; /* in use */
	uint32_t limb[PE_NATURAL_LIMBS];
};

void pe_natural_set(struct pe_natural *n, uint64_t x);
/* n = n factor + term */
void pe_natural_multiply_add(struct pe_natural *n, uint32_t factor, uint32_t term);

/* The sign of a 10^p - b 2^q, a > 0, b > 0, exactly. Overwrites a. The two must agree to a few
 * leading bits, lie within the doubles' range, and a have at most PE_NATURAL_DIGITS + 1 digits:
 * then neither of the whole numbers compared reaches 2700 bits. */
int pe_natural_compare(struct pe_natural *a, int p, uint64_t b, int q);

/* Magnitude bits of the float with significand m, one more if `up`, in units of 2^q. */
INLINE uint64_t
pe_assemble(struct pe_binary f, uint64_t m, bool up, int q)
{
	/* the hidden bit is one step of the exponent; a carry out of m is right too */
	const uint64_t bits = ((uint64_t)(q - pe_binary_least(f)) << f.fraction) + m + up;

	return bits < pe_binary_infinity(f) ? bits : pe_binary_infinity(f);
}

/* Magnitude bits of the float nearest to w 10^ten, for 0 and normal numbers; false where half the
 * product cannot tell. */
INLINE bool
pe_nearest_quickly(struct pe_binary f, uint64_t w, int64_t ten, uint64_t *bits)
{
	*bits = 0;
	if (w == 0 || (uint64_t)(ten + 300) > 600)
		return w == 0;
	/* the number is (p + d) 2^q with 0 <= d < 2: one for the lower half of the power of ten,
	 * one for that of the product */
	const int zeros = pe_leading_zeros(w);
	const uint64_t p = pe_product(w << zeros, pe_power10((int)ten).high).high;
	const int q = pe_log2_of_power10((int)ten) - zeros + 1;
	const int drop = 62 - f.fraction + (int)(p >> 63);
	const uint64_t half = UINT64_C(1) << (drop - 1), below = p & (2 * half - 1);

	*bits = pe_assemble(f, p >> drop, below >= half, q + drop);
	return q + drop >= pe_binary_least(f) && half - below > 2;
}

/* e-05, e+16, e-100; returns what is behind it */
INLINE char *
pe_put_exponent(char *to, int exponent)
{
	const int e = exponent < 0 ? -exponent : exponent;

	*to++ = 'e';
	*to++ = exponent < 0 ? '-' : '+';
	if (e >= 100)
		*to++ = (char)('0' + e / 100);
	*to++ = (char)('0' + e / 10 % 10);
	*to++ = (char)('0' + e % 10);
	return to;
}

#endif
