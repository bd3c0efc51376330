/* turn_phase - positions times steps in fixed point, modulo one turn.
 *
 * A product of a position and a step is a whole number of units; what is above one turn is dropped, which
 * is the exact reduction that a far position needs (Payne and Hanek 1983 keep the same window of bits). */
#include "turn_kernel.h"

#include <math.h>
#include <string.h>

/* word[] of a product and of a fraction: most significant first. */
enum { WORDS = 5, CELL_BITS = 8 };

/* a * b + *carry; the upper half becomes the next carry. */
static inline uint64_t
multiply(uint64_t a, uint64_t b, uint64_t *carry)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 twice;
	const twice product = (twice)a * b + *carry;

	*carry = (uint64_t)(product >> 64);
	return (uint64_t)product;
#else
	const uint64_t low = UINT32_MAX;
	const uint64_t ll = (a & low) * (b & low), lh = (a & low) * (b >> 32),
		       hl = (a >> 32) * (b & low), hh = (a >> 32) * (b >> 32);
	const uint64_t middle = (ll >> 32) + (lh & low) + (hl & low);
	const uint64_t product = middle << 32 | (ll & low), sum = product + *carry;

	*carry = hh + (lh >> 32) + (hl >> 32) + (middle >> 32) + (sum < product);
	return sum;
#endif
}

/* x 2^exponent for 2^exponent in the normal range. */
static inline double
scaled(uint64_t x, int exponent)
{
	const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
	double power;

	memcpy(&power, &bits, sizeof power);
	return (double)x * power;
}

/* leading zeros of x > 0 */
static inline int
leading_zeros(uint64_t x)
{
#ifdef __GNUC__
	return __builtin_clzll(x);
#else
	int n = 0;
	for (; !(x >> 63); x <<= 1)
		n++;
	return n;
#endif
}

/* The value of word[0 .. n-1] as a binary fraction times 2^-shift, cut after 106 bits. */
static inline void
to_wide(const uint64_t *word, size_t n, int shift, double *high, double *low)
{
	size_t k = 0;

	while (k < n && word[k] == 0)
		k++;
	*high = *low = 0;
	if (k == n)
		return;
	const int z = leading_zeros(word[k]);
	const uint64_t second = k + 1 < n ? word[k + 1] : 0, third = k + 2 < n ? word[k + 2] : 0;
	const uint64_t upper = z == 0 ? word[k] : word[k] << z | second >> (64 - z);
	const uint64_t lower = z == 0 ? second : second << z | third >> (64 - z);
	const int exponent = -53 - z - 64 * (int)k;

	*high = scaled(upper >> 11, exponent);
	*low = scaled((upper & 0x7ff) << 42 | lower >> 22, exponent - 53);
	if (shift > 0) {
		*high = ldexp(*high, -shift);
		*low = ldexp(*low, -shift);
	}
}

/* Takes the nearest entry of the table off the fraction of a turn in word[], and negates all if asked. What stays
 * negative is complemented, one unit of the last word short of negated. True if nothing is left. */
static inline bool
put(struct pe_turn_phase *phase, size_t lane, uint64_t *word, size_t n, bool negative)
{
	const uint64_t half = UINT64_C(1) << (63 - CELL_BITS);
	const uint64_t raised = word[0] + half;
	const uint64_t entry = raised >> (64 - CELL_BITS);
	uint64_t any = 0, sign;
	double high, low;

	word[0] = (raised & (2 * half - 1)) - half;
	sign = (uint64_t)0 - (word[0] >> 63);
	for (size_t k = 0; k < n; k++) {
		any |= word[k];
		word[k] ^= sign;
	}
	to_wide(word, n, 0, &high, &low);
	const bool flip = (sign & 1) != negative;
	const double *value = pe_turn_table[entry];
	phase->high[lane] = flip ? -high : high;
	phase->low[lane] = flip ? -low : low;
	phase->entry[0][lane] = negative ? -value[0] : value[0];
	phase->entry[1][lane] = negative ? -value[1] : value[1];
	phase->entry[2][lane] = value[2];
	phase->entry[3][lane] = value[3];
	return any == 0;
}

/* The fraction of a turn at a whole position: the part of the product below one turn. */
static inline void
whole_turns(uint64_t word[3], const struct pe_turn_step *step, uint64_t whole)
{
	uint64_t carry = 0;

	for (size_t k = 3; k > 0; k--)
		word[k - 1] = multiply(whole, step->word[k], &carry);
}

/* Shifts a fraction by bits, to the left (what passes the point is dropped) or to the right. */
static void
shift_words(uint64_t word[WORDS], int left)
{
	uint64_t from[3 * WORDS] = {0};

	memcpy(from + WORDS, word, WORDS * sizeof *word);
	const size_t whole = (size_t)(left + 64 * WORDS) / 64;
	const int bits = (left + 64 * WORDS) % 64;
	for (size_t k = 0; k < WORDS; k++) {
		const uint64_t next = k + whole + 1 < 3 * WORDS ? from[k + whole + 1] : 0;
		word[k] =
		    bits == 0 ? from[k + whole] : from[k + whole] << bits | next >> (64 - bits);
	}
}

/* The general case. The product has 320 bits, the point of a turn stands `point` bits above its end. Left of the point is
 * dropped; a product that lies below the first cell needs no table and keeps all of its bits. */
static bool
set_general(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
	    struct pe_turn_position position)
{
	const int point = 192 + step->shift - position.exponent;
	const bool negative = position.negative != step->negative;
	uint64_t word[WORDS], carry = 0;

	for (size_t k = 4; k > 0; k--)
		word[k] = multiply(position.whole, step->word[k - 1], &carry);
	word[0] = carry;
	if (point >= 64 * WORDS + CELL_BITS + 1) {
		double high, low;
		to_wide(word, WORDS, point - 64 * WORDS, &high, &low);
		phase->high[lane] = negative ? -high : high;
		phase->low[lane] = negative ? -low : low;
		for (size_t k = 0; k < 4; k++)
			phase->entry[k][lane] = pe_turn_table[0][k];
		return !(word[0] | word[1] | word[2] | word[3] | word[4]);
	}
	shift_words(word, 64 * WORDS - point);
	return put(phase, lane, word, WORDS, negative);
}

bool
pe_turn_phase_set(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
		  struct pe_turn_position position)
{
	uint64_t word[3];

	bool none;

	if (position.exponent != 0 || step->shift != 0) {
		none = set_general(phase, lane, step, position);
	} else {
		whole_turns(word, step, position.whole);
		none = put(phase, lane, word, 3, position.negative != step->negative);
	}
	return position.whole == 0 || (none && step->exact);
}

void
pe_turn_phase_pad(struct pe_turn_phase *phase, size_t n)
{
	for (; n % 8 != 0; n++) {
		phase->high[n] = phase->low[n] = 0;
		for (size_t k = 0; k < 4; k++)
			phase->entry[k][n] = pe_turn_table[0][k];
	}
}

void
pe_turn_phases(struct pe_turn_phase *phase, const struct pe_turn_step *step, size_t n,
	       struct pe_turn_position position)
{
	for (size_t i = 0; i < n; i++)
		(void)pe_turn_phase_set(phase, i, &step[i], position);
	pe_turn_phase_pad(phase, n);
}

struct pe_turn_position
pe_turn_position_of(double x)
{
	struct pe_turn_position position = {.negative = x < 0};

	if (x == 0)
		return position;
	position.whole = (uint64_t)ldexp(frexp(fabs(x), &position.exponent), 53);
	position.exponent -= 53;
	for (; position.exponent > 0; position.exponent--) /* |x| < 2^63: at most 10 times */
		position.whole <<= 1;
	for (; position.exponent < 0 && !(position.whole & 1); position.exponent++)
		position.whole >>= 1;
	return position;
}

struct pe_turn_position
pe_turn_position_of_integer(int64_t x)
{
	return (struct pe_turn_position){
	    .whole = x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x,
	    .negative = x < 0,
	};
}

bool
pe_turn_step_set(struct pe_turn_step *step, mpfr_srcptr x, bool exact)
{
	mpfr_t word, rest;

	*step = (struct pe_turn_step){.negative = mpfr_signbit(x), .exact = exact};
	if (mpfr_zero_p(x))
		return true;
	if (!mpfr_number_p(x) || mpfr_get_exp(x) > 63)
		return false;
	if (mpfr_get_exp(x) < -54) /* x = 0.1... 2^exp lies below 2^-54 from exp -54 on */
		step->shift = (int)(-54 - mpfr_get_exp(x));
	mpfr_init2(rest, mpfr_get_prec(x));
	mpfr_init2(word, 64);
	mpfr_abs(rest, x, MPFR_RNDN);
	mpfr_mul_2si(rest, rest, step->shift, MPFR_RNDN);
	for (size_t k = 0; k < 4; k++) { /* whole words are taken off exactly */
		mpfr_rint(word, rest, MPFR_RNDZ);
		step->word[k] = mpfr_get_uj(word, MPFR_RNDZ);
		mpfr_sub(rest, rest, word, MPFR_RNDN);
		mpfr_mul_2ui(rest, rest, 64, MPFR_RNDN);
	}
	step->exact = exact && mpfr_zero_p(rest);
	mpfr_clears(word, rest, (mpfr_ptr)NULL);
	return true;
}
