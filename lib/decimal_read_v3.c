/* decimal_read_v3 - rows of bare numbers, for x86-64 with AVX2.
 *
 * First the ends of fields are looked for, by 64 bytes; then each field's digits come by one load
 * of the 32 bytes that end with it, whatever their number. No branch depends on that, on signs or
 * on places of points; an exponent costs one. A field of another kind is left to the functions for
 * one number. */
#include "decimal_kernel.h"

#if defined(__AVX2__) && defined(__x86_64__)
#include <immintrin.h>

#include "decimal_core.h"

/* Code for what is rare stands aside: between that of the usual numbers it costs a third. */
#define RARE(condition) __builtin_expect(condition, 0)

enum {
	WIDTH = 32,       /* bytes of a load */
	STEP = 2 * WIDTH, /* bytes that are searched together */
	FIELDS = 64,      /* that are found before the first is read */
};

/* WIDTH + n is where to load a mask of the last n bytes from. */
static const _Alignas(64) unsigned char masks[2 * WIDTH] = {
    [WIDTH] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255,           255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

INLINE __m256i
load(const void *from)
{
	return _mm256_loadu_si256((const __m256i *)from);
}

/* Bits where a byte is a comma or below '+', as are blanks, line ends, and all beyond ASCII: no
 * number has one of these within. */
INLINE uint32_t
find_half(const char *s)
{
	const __m256i text = load(s);
	const __m256i low = _mm256_cmpgt_epi8(_mm256_set1_epi8('+'), text);

	return (uint32_t)_mm256_movemask_epi8(
	    _mm256_or_si256(low, _mm256_cmpeq_epi8(text, _mm256_set1_epi8(','))));
}

INLINE uint64_t
find_ends(const char *s)
{
	return find_half(s) | (uint64_t)find_half(s + WIDTH) << WIDTH;
}

/* Where the next fields end, at least `most` of them unless [s, end) is shorter; their number. */
INLINE size_t
list_ends(const char *s, const char *end, const char *ends[FIELDS + STEP], size_t most)
{
	size_t n = 0;

	for (; n < most && end - s >= STEP; s += STEP) {
		uint64_t found = find_ends(s);
		const size_t count = (size_t)_mm_popcnt_u64(found);
		/* eight at a time, perhaps more than there are: a loop of so many turns as there
		 * are fields would end by surprise */
		for (size_t i = 0; i < count; i += 8)
			for (size_t j = i; j < i + 8; j++, found &= found - 1)
				ends[n + j] = s + _tzcnt_u64(found);
		n += count;
	}
	return n;
}

/* Bits where the last WIDTH bytes before `end` are c, as far back as s; 1 to WIDTH bytes. */
INLINE uint32_t
places_of(char c, const char *s, const char *end)
{
	const __m256i same = _mm256_cmpeq_epi8(load(end - WIDTH), _mm256_set1_epi8(c));

	return (uint32_t)_mm256_movemask_epi8(same) & UINT32_MAX << (WIDTH - (end - s));
}

/* (-1)^negative w 10^ten */
struct number {
	uint64_t w;
	int ten;
	uint32_t negative;
};

/* A sign, perhaps, and digits with or without a point, 1 to WIDTH - 1 bytes; false if they are
 * anything else. WIDTH + 1 bytes before their end can be read. */
INLINE bool
read_digits(const char *s, const char *end, struct number *number)
{
	const size_t size = (size_t)(end - s);
	/* not by a comparison: setcc would wait for the rest of its register, and so each number for
	 * the one before */
	const uint64_t negative = (((unsigned char)*s ^ UINT64_C(0x2d)) - 1) >> 63;

	/* the digits before the point, if any, move to where it stood */
	const uint32_t points = places_of('.', s, end);
	const unsigned behind = _lzcnt_u32(points); /* 32 without a point */
	const size_t digits = size - (points != 0) - negative;
	const __m256i text = load(end - WIDTH), before = load(end - WIDTH - 1);
	const __m256i joined = _mm256_blendv_epi8(before, text, load(masks + behind));
	const __m256i ones =
	    _mm256_and_si256(_mm256_sub_epi8(joined, _mm256_set1_epi8('0')), load(masks + digits));
	const __m256i wrong = _mm256_subs_epu8(ones, _mm256_set1_epi8(9));

	const __m256i twos = _mm256_maddubs_epi16(ones, _mm256_set1_epi16(10 + (1 << 8)));
	const __m256i fours = _mm256_madd_epi16(twos, _mm256_set1_epi32(100 + (1 << 16)));
	const __m256i packed = _mm256_packus_epi32(fours, fours);
	const __m256i eights = _mm256_madd_epi16(packed, _mm256_set1_epi32(10000 + (1 << 16)));
	const uint64_t upper = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(eights));
	const uint64_t lower = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(eights, 1));

	number->w = (upper >> 32) * 10000000000000000 + (uint32_t)lower * UINT64_C(100000000) +
		    (lower >> 32);
	number->ten = -(int)(behind % WIDTH);
	number->negative = (uint32_t)negative;
	/* w is below 9 10^18 */
	return digits > 0 && _mm256_testz_si256(wrong, wrong) && (uint32_t)upper == 0 &&
	       upper >> 32 < 900;
}

/* What is behind the e of an exponent: a sign, perhaps, and up to three digits. */
INLINE bool
read_exponent(const char *s, const char *end, int *exponent)
{
	const bool negative = s < end && *s == '-';
	int e = 0;

	s += s < end && (*s == '-' || *s == '+');
	if (s == end || end - s > 3)
		return false;
	for (; s < end; s++) {
		if ((unsigned)(*s - '0') > 9)
			return false;
		e = 10 * e + (*s - '0');
	}
	*exponent = negative ? -e : e;
	return true;
}

/* A number; false if it is no usual one. All from begin on can be read. */
INLINE bool
read_decimal(const char *begin, const char *s, const char *end, struct number *number)
{
	int exponent = 0;

	if (end - begin <= WIDTH || (size_t)(end - s) - 1 > WIDTH - 2)
		return false;
	const uint32_t marks = places_of('e', s, end);
	if (RARE(marks != 0)) {
		const char *const behind = end - _lzcnt_u32(marks);
		if (!read_exponent(behind, end, &exponent))
			return false;
		end = behind - 1;
		if (end == s || end - begin <= WIDTH)
			return false;
	}
	const bool good = read_digits(s, end, number);
	number->ten += exponent;
	return good;
}

/* w 10^ten as a float, false where this cannot tell. By a double, where that is wrong by less than
 * 3 of its units (w rounded, and the quotient): what is nearer than that to the middle between two
 * floats is left. */
INLINE bool
round_f32(uint64_t w, int ten, uint32_t *bits)
{
	static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
					1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const uint64_t half = UINT64_C(1) << 28, doubt = 4;
	uint64_t wide;

	if (RARE((unsigned)-ten > 22)) {
		const bool told = pe_nearest_quickly(PE_BINARY32, w, ten, &wide);
		*bits = (uint32_t)wide;
		return told && wide < pe_binary_infinity(PE_BINARY32);
	}
	const double x = (double)(int64_t)w / powers[-ten];
	const float rounded = (float)x;
	memcpy(&wide, &x, sizeof wide);
	memcpy(bits, &rounded, sizeof *bits);
	return (wide - half + doubt) % (2 * half) >= 2 * doubt;
}

INLINE bool
round_f64(uint64_t w, int ten, uint64_t *bits)
{
	return pe_nearest_quickly(PE_BINARY64, w, ten, bits) &&
	       *bits < pe_binary_infinity(PE_BINARY64);
}

/* One field; all from begin to limit can be read. */
INLINE bool
read_field(const char *begin, const char *s, const char *end, const char *limit, enum pe_elem elem,
	   void *value)
{
	const char *behind = s;
	struct number x;
	uint64_t wide;
	uint32_t narrow;

	if (elem == PE_F32 && read_decimal(begin, s, end, &x) && round_f32(x.w, x.ten, &narrow)) {
		narrow |= x.negative << 31;
		memcpy(value, &narrow, sizeof narrow);
		return true;
	}
	if (elem == PE_F64 && read_decimal(begin, s, end, &x) && round_f64(x.w, x.ten, &wide)) {
		wide |= (uint64_t)x.negative << 63;
		memcpy(value, &wide, sizeof wide);
		return true;
	}
	const enum pe_decimal status = elem == PE_F32
					   ? pe_decimal_read_f32(s, limit, value, &behind)
					   : pe_decimal_read_f64(s, limit, value, &behind);
	return status == PE_DECIMAL_OK && behind == end;
}

INLINE size_t
read_row(const char *begin, const char *text, const char *end, char separator, enum pe_elem elem,
	 void *row, size_t n, const char **behind)
{
	const size_t size = elem == PE_F32 ? sizeof(float) : sizeof(double);
	const char *ends[FIELDS + STEP + 8];
	char *to = row;
	size_t done = 0;

	*behind = text;
	while (done < n) {
		const size_t found =
		    list_ends(text, end, ends, n - done < FIELDS ? n - done : FIELDS);
		if (found == 0)
			break;
		for (size_t i = 0; i < found && done < n; text = ends[i++] + 1) {
			if (ends[i] == text && *text == ' ') /* before a number */
				continue;
			if (!read_field(begin, text, ends[i], end, elem, to))
				return done;
			done++;
			to += size;
			*behind = ends[i];
			if (*ends[i] != separator)
				return done;
		}
	}
	return done;
}

size_t
pe_decimal_read_f32_v3(const char *begin, const char *text, const char *end, char separator,
		       float *row, size_t n, const char **behind)
{
	return read_row(begin, text, end, separator, PE_F32, row, n, behind);
}

size_t
pe_decimal_read_f64_v3(const char *begin, const char *text, const char *end, char separator,
		       double *row, size_t n, const char **behind)
{
	return read_row(begin, text, end, separator, PE_F64, row, n, behind);
}
#endif
