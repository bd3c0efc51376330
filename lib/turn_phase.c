/* turn_phase - positions times steps in fixed point, modulo one turn.
 *
 * A product of a position and a step is a whole number of units; what is above one turn is
 * dropped, which is the exact reduction that a far position needs (Payne and Hanek 1983 keep the
 * same window of bits). */
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

/* +-x 2^exponent for x < 2^53 and 2^exponent in the normal range. x is taken for signed, because
 * SSE2 converts nothing else. */
static inline double
scaled(uint64_t x, int exponent, uint64_t negative)
{
	const uint64_t bits = (uint64_t)(1023 + exponent) << 52 | negative << 63;
	double power;

	memcpy(&power, &bits, sizeof power);
	return (double)(int64_t)x * power;
}

/* Words above and below a cut, shifted left by 0 .. 63 bits. */
static inline uint64_t
shifted(uint64_t upper, uint64_t lower, int bits)
{
	return upper << bits | lower >> 1 >> (63 - bits);
}

/* A binary fraction of five words, most significant first. By value: where it lies in registers,
 * nothing waits for memory. */
struct fraction {
	uint64_t a, b, c, d, e;
};

/* The value of a fraction, cut after 106 bits. */
static inline void
to_wide(struct fraction f, uint64_t negative, double *high, double *low)
{
	int exponent = -53;

	for (; f.a == 0; exponent -= 64) {
		if ((f.b | f.c | f.d | f.e) == 0) {
			*high = *low = 0;
			return;
		}
		f = (struct fraction){f.b, f.c, f.d, f.e, 0};
	}
	const int z = leading_zeros(f.a);
	const uint64_t upper = shifted(f.a, f.b, z), lower = shifted(f.b, f.c, z);

	exponent -= z;
	*high = scaled(upper >> 11, exponent, negative);
	*low = scaled((upper & 0x7ff) << 42 | lower >> 22, exponent - 53, negative);
}

/* Takes the nearest entry of the table off a fraction of a turn, and negates all if asked. What
 * is less than the entry is complemented, one unit of the last word short of negated. True if
 * nothing is left. */
static inline bool
put(struct pe_turn_phase *phase, size_t lane, struct fraction f, uint64_t negative)
{
	const uint64_t half = UINT64_C(1) << (63 - CELL_BITS);
	const uint64_t raised = f.a + half, left = (raised & (2 * half - 1)) - half;
	const uint64_t below = left >> 63, flip = (uint64_t)0 - below;
	const double *entry = pe_turn_table[raised >> (64 - CELL_BITS)];

	to_wide((struct fraction){left ^ flip, f.b ^ flip, f.c ^ flip, f.d ^ flip, f.e ^ flip},
		below ^ negative, &phase->high[lane], &phase->low[lane]);
	phase->entry[0][lane] = negative ? -entry[0] : entry[0];
	phase->entry[1][lane] = negative ? -entry[1] : entry[1];
	phase->entry[2][lane] = entry[2];
	phase->entry[3][lane] = entry[3];
	return (left | f.b | f.c | f.d | f.e) == 0;
}

/* Shifts a fraction by -8 .. 128 bits to the left; what passes the point is dropped. */
static void
shift_words(uint64_t word[WORDS], int left)
{
	const uint64_t from[WORDS + 3] = {0, word[0], word[1], word[2], word[3], word[4]};
	const size_t whole = (size_t)(left + 64) / 64; /* 0 below 0 */
	const int bits = (left + 64) % 64;

	for (size_t k = 0; k < WORDS; k++)
		word[k] = shifted(from[k + whole], from[k + whole + 1], bits);
}

/* The general case. The product has 320 bits, the point of a turn stands `point` bits above its
 * end. Left of the point is dropped; a product that lies below the first cell needs no table and
 * keeps all of its bits. */
static bool
set_general(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
	    struct pe_turn_position position)
{
	const int point = 192 + step->shift - position.exponent;
	const uint64_t negative = position.negative != step->negative;
	uint64_t word[WORDS], carry = 0;

	for (size_t k = 4; k > 0; k--)
		word[k] = multiply(position.digits, step->word[k - 1], &carry);
	word[0] = carry;
	if (point <= 64 * WORDS + CELL_BITS)
		shift_words(word, 64 * WORDS - point);
	const struct fraction f = {word[0], word[1], word[2], word[3], word[4]};
	if (point <= 64 * WORDS + CELL_BITS)
		return put(phase, lane, f, negative);
	to_wide(f, negative, &phase->high[lane], &phase->low[lane]);
	const bool none = phase->high[lane] == 0;
	phase->high[lane] = ldexp(phase->high[lane], 64 * WORDS - point);
	phase->low[lane] = ldexp(phase->low[lane], 64 * WORDS - point);
	for (size_t k = 0; k < 4; k++)
		phase->entry[k][lane] = pe_turn_table[0][k];
	return none;
}

/* A step of usual size, and a whole position: the fraction of a turn is three words of the product. */
static inline bool
set_whole(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
	  struct pe_turn_position position)
{
	uint64_t carry = 0;
	const uint64_t c = multiply(position.digits, step->word[3], &carry);
	const uint64_t b = multiply(position.digits, step->word[2], &carry);
	const uint64_t a = multiply(position.digits, step->word[1], &carry);

	return put(phase, lane, (struct fraction){a, b, c, 0, 0},
		   position.negative != step->negative);
}

/* A step of usual size, and a position of a word before and a word behind the point. */
static inline bool
set_mixed(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
	  struct pe_turn_position position)
{
	uint64_t behind = 0, before = 0;
	const uint64_t d = multiply(position.part, step->word[3], &behind);
	const uint64_t c = multiply(position.part, step->word[2], &behind);
	const uint64_t b = multiply(position.part, step->word[1], &behind);
	const uint64_t a = multiply(position.part, step->word[0], &behind);
	const uint64_t wc = multiply(position.whole, step->word[3], &before) + c;
	before += wc < c;
	const uint64_t wb = multiply(position.whole, step->word[2], &before) + b;
	before += wb < b;
	const uint64_t wa = multiply(position.whole, step->word[1], &before) + a;

	return put(phase, lane, (struct fraction){wa, wb, wc, d, 0},
		   position.negative != step->negative);
}

static inline bool
set(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
    struct pe_turn_position position)
{
	if (step->shift != 0 || position.exponent < -64)
		return set_general(phase, lane, step, position);
	return position.exponent == 0 ? set_whole(phase, lane, step, position)
				      : set_mixed(phase, lane, step, position);
}

bool
pe_turn_phase_set(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
		  struct pe_turn_position position)
{
	const bool none = set(phase, lane, step, position);

	return position.digits == 0 || (none && step->exact);
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
		(void)set(phase, i, &step[i], position);
	pe_turn_phase_pad(phase, n);
}

/* trailing zeros of x > 0 */
static inline int
trailing_zeros(uint64_t x)
{
	return 63 - leading_zeros(x & ((uint64_t)0 - x));
}

struct pe_turn_position
pe_turn_position_of(double x)
{
	struct pe_turn_position position = {.negative = x < 0};
	uint64_t bits;

	if (x == 0)
		return position;
	memcpy(&bits, &x, sizeof bits);
	const int raw = (int)(bits >> 52 & 0x7ff), biased = raw > 0 ? raw : 1;
	const uint64_t digits = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(raw > 0) << 52;
	const int exponent = biased - 1075, zeros = trailing_zeros(digits);

	if (exponent >= 0) { /* |x| < 2^63: at most 10 */
		position.digits = digits << exponent;
		return position;
	}
	const int cut = zeros < -exponent ? zeros : -exponent;
	position.digits = digits >> cut;
	position.exponent = exponent + cut;
	if (position.exponent < 0 && position.exponent >= -63) {
		position.whole = position.digits >> -position.exponent;
		position.part = position.digits << (64 + position.exponent);
	} else if (position.exponent == -64) {
		position.part = position.digits;
	}
	return position;
}

struct pe_turn_position
pe_turn_position_of_integer(int64_t x)
{
	return (struct pe_turn_position){
	    .digits = x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x,
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
