/* decimal: every function against the C library or against a search, the tables against GMP.
 *
 *     decimal            the quick run
 *     decimal VALUES     only numbers at random, that many (a million takes some four seconds) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>
#include <mpfr.h>

#include "decimal.h"
#include "decimal_core.h"
#include "decimal_kernel.h"

enum { DIGITS_OF_ANY = 770 }; /* no double has more significant ones */

/* ---- numbers at random, the same in each run ---- */

static uint64_t
next(uint64_t *state) /* splitmix64 */
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t
below(uint64_t *state, uint64_t limit)
{
	return next(state) % limit;
}

static uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static double
double_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static uint32_t
bits_of_float(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static float
float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Any finite double: all bits, few significant bits, sizes of a table, short decimals, whole
 * numbers. */
static double
any_double(uint64_t *state)
{
	for (;;) {
		uint64_t bits = next(state);
		double x;
		switch (below(state, 6)) {
		case 0: bits &= ~((UINT64_C(1) << below(state, 53)) - 1); break;
		case 1:
			bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (990 + below(state, 80)) << 52;
			break;
		case 2:
			x = (double)(int64_t)(bits >> below(state, 64));
			bits = bits_of(x / pow(10, (double)below(state, 23)));
			break;
		case 3: bits = bits_of((double)((int64_t)bits >> below(state, 64))); break;
		default: break;
		}
		x = double_of(bits);
		if (isfinite(x))
			return x;
	}
}

/* ---- text in and out ---- */

/* A piece of text in memory of its very size: a sanitizer sees a read past its end. */
struct text {
	char *bytes, *end;
};

static struct text
text_of(const char *s)
{
	const size_t size = strlen(s);
	char *const bytes = malloc(size + (size == 0));

	assert_non_null(bytes);
	memcpy(bytes, s, size);
	return (struct text){bytes, bytes + size};
}

/* What a writer wrote, after a look at the bytes that it must leave alone. */
struct written {
	char text[PE_DECIMAL_MAX + 9];
};

#define WRITTEN(call)                                                     \
	__extension__({                                                   \
		struct written w;                                         \
		char *const to = w.text;                                  \
		memset(to, '~', sizeof w.text);                           \
		const size_t size = (call);                               \
		assert_true(size < PE_DECIMAL_MAX);                       \
		assert_memory_equal(to + PE_DECIMAL_MAX, "~~~~~~~~~", 9); \
		to[size] = '\0';                                          \
		w;                                                        \
	})

static struct written
shortest(double x)
{
	return WRITTEN(pe_decimal_write_f64(to, x));
}

static struct written
shortest_float(float x)
{
	return WRITTEN(pe_decimal_write_f32(to, x));
}

/* All of s is one number, which is x; the same bits, so that -0 is told from 0. */
static void
assert_reads(const char *s, double x)
{
	const struct text t = text_of(s);
	const char *behind;
	double value;

	assert_int_equal(pe_decimal_read_f64(t.bytes, t.end, &value, &behind),
			 isinf(x) && strpbrk(s, "iI") == NULL ? PE_DECIMAL_OVERFLOW
							      : PE_DECIMAL_OK);
	assert_ptr_equal(behind, t.end);
	if (bits_of(value) != bits_of(x))
		fail_msg("'%s' is %a, read as %a", s, x, value);
	free(t.bytes);
}

static void
assert_reads_float(const char *s, float x)
{
	const struct text t = text_of(s);
	const char *behind;
	float value;

	assert_int_equal(pe_decimal_read_f32(t.bytes, t.end, &value, &behind),
			 isinf(x) && strpbrk(s, "iI") == NULL ? PE_DECIMAL_OVERFLOW
							      : PE_DECIMAL_OK);
	assert_ptr_equal(behind, t.end);
	if (bits_of_float(value) != bits_of_float(x))
		fail_msg("'%s' is %a, read as %a", s, (double)x, (double)value);
	free(t.bytes);
}

/* ---- an independent way to the shortest digits ---- */

typedef bool reads_back(const char *text, double x);

static bool
is_double(const char *text, double x)
{
	return strtod(text, NULL) == x;
}

static bool
is_float(const char *text, double x)
{
	return strtof(text, NULL) == (float)x;
}

/* Few digits and a half's midpoint are either the same or far apart: the way over a double does
 * no harm. */
static bool
is_f16(const char *text, double x)
{
	return pe_f16_round(strtod(text, NULL)) == pe_f16_round(x);
}

static bool
is_bf16(const char *text, double x)
{
	return pe_bf16_round(strtod(text, NULL)) == pe_bf16_round(x);
}

/* digits 10^power as text that any reader takes */
struct candidate {
	uint64_t digits;
	int power;
	bool good;
};

static struct candidate
candidate(uint64_t digits, int power, double x, reads_back *same)
{
	char text[64];

	(void)snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, power);
	return (struct candidate){digits, power, same(text, x)};
}

/* The shortest by trying every length, both neighbours of each; x > 0. */
static struct candidate
search(double x, reads_back *same)
{
	char all[DIGITS_OF_ANY + 40];
	uint64_t digits = 0;

	(void)snprintf(all, sizeof all, "%.*e", DIGITS_OF_ANY, x); /* exact */
	const int exponent = atoi(strchr(all, 'e') + 1);
	char *const rest = all + 1; /* the first digit joins those behind the point */
	rest[0] = all[0];
	for (int length = 1;; length++) {
		digits = digits * 10 + (uint64_t)(rest[length - 1] - '0');
		const char *const tail = rest + length;
		const struct candidate low = candidate(digits, exponent - length + 1, x, same);
		const struct candidate high = candidate(digits + 1, exponent - length + 1, x, same);
		if (!low.good && !high.good)
			continue;
		if (low.good != high.good)
			return low.good ? low : high;
		if (*tail != '5')
			return *tail < '5' ? low : high;
		if (tail[1 + strspn(tail + 1, "0")] != 'e')
			return high;
		return digits % 2 == 0 ? low : high;
	}
}

/* The text of a candidate by the rule of the header. */
static void
lay_out(struct candidate c, char *to, size_t size)
{
	char digits[32];

	while (c.digits % 10 == 0) {
		c.digits /= 10;
		c.power++;
	}
	const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)c.digits);
	const int point = length + c.power;
	if (point > 16 || point < -3)
		(void)snprintf(to, size, "%c%s%se%+03d", digits[0], length > 1 ? "." : "",
			       digits + 1, point - 1);
	else if (point <= 0)
		(void)snprintf(to, size, "0.%.*s%s", -point, "000", digits);
	else if (c.power >= 0)
		(void)snprintf(to, size, "%s%.*s", digits, c.power, "0000000000000000");
	else
		(void)snprintf(to, size, "%.*s.%s", point, digits, digits + point);
}

static void
assert_shortest(const char *text, double x, reads_back *same)
{
	char due[64];

	lay_out(search(x, same), due, sizeof due);
	assert_string_equal(text, due);
}

/* ---- tables ---- */

static void
powers_of_ten(void **state)
{
	mpz_t power, scaled, unit;

	(void)state;
	mpz_inits(power, scaled, unit, (mpz_ptr)NULL);
	for (int q = PE_POWER10_LEAST; q <= PE_POWER10_MOST; q++) {
		/* floor(10^q 2^shift) = high 2^64 + low */
		const int shift = 127 - pe_log2_of_power10(q);
		uint64_t words[2] = {0, 0};
		size_t count;
		mpz_ui_pow_ui(power, 10, (unsigned long)abs(q));
		mpz_set_ui(unit, 1);
		if (shift >= 0)
			mpz_mul_2exp(q < 0 ? unit : power, q < 0 ? unit : power,
				     (mp_bitcnt_t)shift);
		else
			mpz_mul_2exp(unit, unit, (mp_bitcnt_t)-shift);
		mpz_fdiv_q(scaled, q < 0 ? unit : power, q < 0 ? power : unit);
		assert_int_equal(mpz_sizeinbase(scaled, 2), 128);
		mpz_export(words, &count, -1, sizeof *words, 0, 0, scaled);
		assert_true(pe_power10(q).low == words[0] && pe_power10(q).high == words[1]);
	}
	mpz_clears(power, scaled, unit, (mpz_ptr)NULL);
}

/* ---- writing ---- */

static void
shapes(void **state)
{
	static const struct {
		double x;
		const char *text;
	} cases[] = {
	    {0, "0"},
	    {-0.0, "-0"},
	    {1, "1"},
	    {-1, "-1"},
	    {0.1, "0.1"},
	    {1.0 / 3, "0.3333333333333333"},
	    {-2.0 / 3, "-0.6666666666666666"},
	    {10, "10"},
	    {1.5, "1.5"},
	    {123456.789, "123456.789"},
	    {123456789.125, "123456789.125"},
	    {12345678.9, "12345678.9"},
	    {1e15, "1000000000000000"},
	    {9999999999999998, "9999999999999998"},
	    {1e16, "1e+16"},
	    {1.5e16, "1.5e+16"},
	    {-1.2345678901234568e17, "-1.2345678901234568e+17"},
	    {1e-4, "0.0001"},
	    {-1.2345678901234567e-4, "-0.00012345678901234567"},
	    {1e-5, "1e-05"},
	    {9.999e-5, "9.999e-05"},
	    {1e100, "1e+100"},
	    {1e-100, "1e-100"},
	    {INFINITY, "inf"},
	    {-INFINITY, "-inf"},
	    {NAN, "nan"},
	    {-NAN, "nan"},
	    /* hard ones: ends of the range, intervals that are lopsided or decide by their ends */
	    {5e-324, "5e-324"},
	    {1e-323, "1e-323"},
	    {1.5e-323, "1.5e-323"},
	    {2.2250738585072009e-308, "2.225073858507201e-308"},
	    {2.2250738585072014e-308, "2.2250738585072014e-308"},
	    {2.2250738585072011e-308, "2.225073858507201e-308"},
	    {1.7976931348623157e308, "1.7976931348623157e+308"},
	    {9007199254740991, "9007199254740991"},
	    {9007199254740992, "9007199254740992"},
	    {9007199254740994, "9007199254740994"},
	    {18014398509481984, "1.8014398509481984e+16"},
	    {1e22, "1e+22"},
	    {1e23, "1e+23"},
	    {8.41e21, "8.41e+21"},
	    {2.0e22, "2e+22"},
	    {9.5e-8, "9.5e-08"},
	    {2e-44, "2e-44"},
	    {4.35, "4.35"},
	    {4.349999999999999, "4.349999999999999"},
	    {281474976710656.125, "281474976710656.1"},
	    {2251799813685248.5, "2251799813685248.5"},
	    {4.4501477170144023e-308, "4.4501477170144023e-308"},
	    {9.0608011534336e15, "9060801153433600"},
	    {4.708356024711512e18, "4.708356024711512e+18"},
	    {9.409340012568248e18, "9.409340012568248e+18"},
	    {5.764607523034235e39, "5.764607523034235e+39"},
	    {1.152921504606847e40, "1.152921504606847e+40"},
	    {2.305843009213694e40, "2.305843009213694e+40"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(shortest(cases[i].x).text, cases[i].text);
}

static void
shapes_of_float(void **state)
{
	static const struct {
		float x;
		const char *text;
	} cases[] = {
	    {0, "0"},
	    {-0.0f, "-0"},
	    {0.1f, "0.1"},
	    {16777216, "16777216"},
	    {33554432, "33554432"},
	    {33554436, "33554436"},
	    {1e15f, "1000000000000000"},
	    {9.5367e15f, "9536700000000000"},
	    {1e16f, "1e+16"},
	    {1e-45f, "1e-45"},
	    {3e-45f, "3e-45"},
	    {1.1754942e-38f, "1.1754942e-38"},
	    {1.17549435e-38f, "1.1754944e-38"},
	    {3.4028234664e38f, "3.4028235e+38"},
	    {8589973504.0f, "8589974000"}, /* both it and 8589973000 round to it; it is nearer */
	    {8589934592.0f, "8589935000"},
	    {1.9310392e-38f, "1.9310392e-38"},
	    {4.7223665e21f, "4.7223665e+21"},
	    {-INFINITY, "-inf"},
	    {-NAN, "nan"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(shortest_float(cases[i].x).text, cases[i].text);
	assert_string_equal(WRITTEN(pe_decimal_write_f16(to, 0x7bff)).text,
			    "65500"); /* as 65488 .. 65520 */
	assert_string_equal(WRITTEN(pe_decimal_write_f16(to, 0x0001)).text, "6e-08");
	assert_string_equal(WRITTEN(pe_decimal_write_f16(to, 0x8000)).text, "-0");
	assert_string_equal(WRITTEN(pe_decimal_write_bf16(to, 0x3dcd)).text, "0.1");
	assert_string_equal(WRITTEN(pe_decimal_write_bf16(to, 0xff80)).text, "-inf");
}

static void
all_halves(void **state)
{
	(void)state;
	for (uint16_t bits = 1; bits < 0x7c00; bits++)
		assert_shortest(WRITTEN(pe_decimal_write_f16(to, bits)).text, pe_f16_value(bits),
				is_f16);
	for (uint16_t bits = 1; bits < 0x7f80; bits++)
		assert_shortest(WRITTEN(pe_decimal_write_bf16(to, bits)).text, pe_bf16_value(bits),
				is_bf16);
}

static void
shortest_by_search(void **state)
{
	uint64_t seed = 1;

	(void)state;
	/* every power of two, where the interval is lopsided, and the numbers beside it */
	for (uint64_t exponent = 0; exponent < 0x7ff; exponent++)
		for (uint64_t bits = exponent << 52, i = 0; i < 3; i++)
			if (bits + i > 1)
				assert_shortest(shortest(double_of(bits + i - 1)).text,
						double_of(bits + i - 1), is_double);
	for (uint32_t exponent = 0; exponent < 0xff; exponent++)
		for (uint32_t bits = exponent << 23, i = 0; i < 3; i++)
			if (bits + i > 1)
				assert_shortest(shortest_float(float_of(bits + i - 1)).text,
						(double)float_of(bits + i - 1), is_float);
	for (int i = 0; i < 20000; i++) {
		const double x = fabs(any_double(&seed));
		const float narrow = (float)x;
		if (x > 0)
			assert_shortest(shortest(x).text, x, is_double);
		if (narrow > 0 && isfinite(narrow))
			assert_shortest(shortest_float(narrow).text, (double)narrow, is_float);
	}
}

/* ---- rows ---- */

enum { MOST_ROW = 200 };

/* Rows by every kernel are what their numbers are one by one, and no byte of a row more is
 * touched. */
static void
assert_rows(const double *x, size_t rows, size_t cols)
{
	enum { EACH = PE_DECIMAL_MAX + 1, GUARD = 8 };
	static const char guard[GUARD + 1] = "~~~~~~~~";
	const struct pe_decimal_kernel *kernel;
	const size_t n = rows * cols;
	char *const due = malloc(n * EACH + 1), *const row = malloc(n * EACH + GUARD);
	float narrow[MOST_ROW];

	assert_true(due != NULL && row != NULL && n <= MOST_ROW);
	for (size_t i = 0; i < n; i++)
		narrow[i] = (float)x[i];
	for (int f32 = 0; f32 < 2; f32++) {
		size_t size = 0;
		for (size_t i = 0; i < n; i++) {
			size += f32 ? pe_decimal_write_f32(due + size, narrow[i])
				    : pe_decimal_write_f64(due + size, x[i]);
			due[size++] = (i + 1) % cols == 0 ? '\n' : ';';
		}
		for (size_t k = 0; (kernel = pe_decimal_kernel_at(k)) != NULL; k++) {
			if (!kernel->runs())
				continue;
			memset(row, '~', n * EACH + GUARD);
			assert_int_equal(f32 ? kernel->write_f32(row, ';', narrow, rows, cols)
					     : kernel->write_f64(row, ';', x, rows, cols),
					 size);
			for (size_t at = 0; at < size; at++)
				if (row[at] != due[at])
					fail_msg("%s, f%d, %zu numbers: '%.60s', not '%.60s'",
						 kernel->name, f32 ? 32 : 64, n, row + at,
						 due + at);
			assert_memory_equal(row + n * EACH, guard, GUARD);
		}
		assert_int_equal(f32 ? pe_decimal_write_rows_f32(row, ';', narrow, rows, cols)
				     : pe_decimal_write_rows_f64(row, ';', x, rows, cols),
				 size);
		assert_memory_equal(row, due, size);
	}
	free(due);
	free(row);
}

/* As one row, and as rows of one number and of several. */
static void
assert_row(const double *x, size_t n)
{
	assert_rows(x, n > 0, n);
	assert_rows(x, n, 1);
	assert_rows(x, n / 3, 3);
	assert_rows(x, n / 70, 70);
}

/* Numbers gathered to rows. */
struct numbers {
	double x[MOST_ROW];
	size_t n;
};

static void
gather(struct numbers *row, double x)
{
	row->x[row->n++] = x;
	if (row->n == MOST_ROW) {
		assert_row(row->x, row->n);
		row->n = 0;
	}
}

/* x, its neighbours as a double, and as a float; with both signs. */
static void
gather_beside(struct numbers *row, double x)
{
	const float y = (float)x;

	for (int sign = -1; sign <= 1; sign += 2) {
		gather(row, sign * x);
		gather(row, sign * nextafter(x, 0));
		gather(row, sign * nextafter(x, INFINITY));
		gather(row, sign * (double)nextafterf(y, 0));
		gather(row, sign * (double)nextafterf(y, INFINITY));
	}
}

static void
rows_of_any_length(void **state)
{
	uint64_t seed = 7;
	double x[MOST_ROW] = {0};

	(void)state;
	for (size_t n = 0; n <= MOST_ROW; n++) {
		for (size_t i = 0; i < n; i++)
			x[i] = any_double(&seed);
		assert_row(x, n);
		for (size_t i = 0; i < n; i++)
			x[i] = sin((double)(n * i));
		assert_row(x, n);
		for (size_t i = 0; i < n; i++) /* the longest */
			x[i] = -1.2345678901234567e-304;
		assert_row(x, n);
	}
}

static void
rows_of_every_kind(void **state)
{
	struct numbers row = {.n = 0};
	uint64_t seed = 8;

	(void)state;
	for (int power = -324; power <= 309; power++)
		for (int digit = 1; digit < 10; digit++) {
			char text[32];
			(void)snprintf(text, sizeof text, "%de%d", digit, power);
			gather_beside(&row, strtod(text, NULL));
		}
	for (int exponent = -1075; exponent < 1024; exponent++) {
		gather_beside(&row, ldexp(1, exponent));
		gather_beside(&row, ldexp((double)(below(&seed, 64) + 64), exponent - 6));
	}
	for (int i = 0; i < 20000; i++) {
		const double whole = (double)(next(&seed) >> below(&seed, 64));
		gather(&row, whole);
		gather(&row, -whole / (double)(UINT64_C(1) << below(&seed, 40))); /* many a tie */
		gather(&row, whole / pow(10, (double)below(&seed, 23)));
		gather(&row, double_of(next(&seed)));       /* nan, inf */
		gather(&row, double_of(next(&seed) >> 12)); /* subnormal */
		gather(&row, (double)float_of((uint32_t)next(&seed)));
		gather(&row, (double)pe_f16_value((uint16_t)next(&seed)));
		gather(&row, cos((double)i / 7));
		gather(&row, i % 3 == 0 ? 0 : i % 3 == 1 ? -0.0 : 1);
	}
	assert_row(row.x, row.n);
}

/* ---- so many digits ---- */

static void
assert_digits(double x, int digits)
{
	char due[64];
	struct candidate c = {0};

	(void)snprintf(due, sizeof due, "%.*e", digits - 1, fabs(x));
	char *const mark = strchr(due, 'e');
	for (const char *s = due; s < mark; s++)
		if (*s != '.')
			c.digits = c.digits * 10 + (uint64_t)(*s - '0');
	c.power = atoi(mark + 1) - digits + 1;
	char text[64];
	lay_out(c, text + 1, sizeof text - 1);
	text[0] = '-';
	assert_string_equal(WRITTEN(pe_decimal_write_digits(to, x, digits)).text, text + (x > 0));
}

static void
digits_and_ties(void **state)
{
	static const double hard[] = {0.5,    1.5,  2.5,    0.125,  0.375,   9.5,    99.5,
				      999.5,  0.25, 0.75,   1e23,   1e22,    5e-324, 1.25,
				      8.5,    95,   250,    35,     12345,   1234.5, 0.045,
				      4.5e15, 1e16, 999999, 9.9995, 0x1p-20, 0x3p60};
	uint64_t seed = 2;

	(void)state;
	for (int digits = 1; digits <= 17; digits++) {
		for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
			assert_digits(hard[i], digits);
		assert_string_equal(WRITTEN(pe_decimal_write_digits(to, -0.0, digits)).text, "-0");
		assert_string_equal(WRITTEN(pe_decimal_write_digits(to, -INFINITY, digits)).text,
				    "-inf");
		assert_string_equal(WRITTEN(pe_decimal_write_digits(to, NAN, digits)).text, "nan");
	}
	for (int i = 0; i < 100000; i++) {
		const double x = any_double(&seed);
		if (x != 0)
			assert_digits(x, 1 + (int)below(&seed, 17));
		/* odd numbers of a small power of two: their last digit is a 5, half of them a
		 * tie */
		const double tie = (double)(below(&seed, 1000000) * 2 + 1) /
				   (double)(UINT64_C(1) << below(&seed, 30));
		assert_digits(tie, 1 + (int)below(&seed, 17));
	}
	assert_string_equal(WRITTEN(pe_decimal_write_digits(to, 12345, 2)).text, "12000");
}

static void
every_element(void **state)
{
	static const double f64[2] = {0, 1.0 / 3};
	static const float f32[2] = {0, 1.0f / 3};
	static const uint16_t f16[2] = {0, 0x3555}, bf16[2] = {0, 0x3eab};
	static const int64_t i64[2] = {0, INT64_MIN};
	static const int32_t i32[2] = {0, -333333};
	static const struct {
		enum pe_elem elem;
		const void *values;
		const char *shortest, *digits;
	} cases[] = {
	    {PE_F64, f64, "0.3333333333333333", "0.33333333"},
	    {PE_F32, f32, "0.33333334", "0.33333334"},
	    {PE_F16, f16, "0.3333", "0.33325195"},
	    {PE_BF16, bf16, "0.334", "0.33398438"},
	    {PE_I64, i64, "-9223372036854775808", "-9223372036854775808"},
	    {PE_I32, i32, "-333333", "-333333"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_string_equal(
		    WRITTEN(pe_decimal_write(to, cases[i].elem, cases[i].values, 1, 0)).text,
		    cases[i].shortest);
		assert_string_equal(
		    WRITTEN(pe_decimal_write(to, cases[i].elem, cases[i].values, 1, 8)).text,
		    cases[i].digits);
	}
}

/* ---- reading ---- */

static void
words_and_ends(void **state)
{
	static const struct {
		const char *text;
		enum pe_decimal status;
		size_t used;
		double x;
	} cases[] = {
	    {"", PE_DECIMAL_NONE, 0, 0},
	    {"-", PE_DECIMAL_NONE, 0, 0},
	    {"+", PE_DECIMAL_NONE, 0, 0},
	    {".", PE_DECIMAL_NONE, 0, 0},
	    {"-.", PE_DECIMAL_NONE, 0, 0},
	    {".e5", PE_DECIMAL_NONE, 0, 0},
	    {"e5", PE_DECIMAL_NONE, 0, 0},
	    {" 1", PE_DECIMAL_NONE, 0, 0},
	    {"--1", PE_DECIMAL_NONE, 0, 0},
	    {"+-1", PE_DECIMAL_NONE, 0, 0},
	    {"x1", PE_DECIMAL_NONE, 0, 0},
	    {"in", PE_DECIMAL_NONE, 0, 0},
	    {"na", PE_DECIMAL_NONE, 0, 0},
	    {"\xef\xbc\x91", PE_DECIMAL_NONE, 0, 0},
	    {"5.", PE_DECIMAL_OK, 2, 5},
	    {".5", PE_DECIMAL_OK, 2, 0.5},
	    {"-.5", PE_DECIMAL_OK, 3, -0.5},
	    {"+7", PE_DECIMAL_OK, 2, 7},
	    {"1..2", PE_DECIMAL_OK, 2, 1},
	    {"1.2.3", PE_DECIMAL_OK, 3, 1.2},
	    {"1_000", PE_DECIMAL_OK, 1, 1},
	    {"0,5", PE_DECIMAL_OK, 1, 0},
	    {"1e", PE_DECIMAL_OK, 1, 1},
	    {"1e+", PE_DECIMAL_OK, 1, 1},
	    {"1e-x", PE_DECIMAL_OK, 1, 1},
	    {"1e5", PE_DECIMAL_OK, 3, 1e5},
	    {"1E+5 ", PE_DECIMAL_OK, 4, 1e5},
	    {"1e5.5", PE_DECIMAL_OK, 3, 1e5},
	    {"1p5", PE_DECIMAL_OK, 1, 1},
	    {"00000000000000000000000000000000001", PE_DECIMAL_OK, 35, 1},
	    {"-0", PE_DECIMAL_OK, 2, -0.0},
	    {"-0.000e9", PE_DECIMAL_OK, 8, -0.0},
	    {"0x", PE_DECIMAL_OK, 1, 0},
	    {"-0x", PE_DECIMAL_OK, 2, -0.0},
	    {"0xg", PE_DECIMAL_OK, 1, 0},
	    {"0x.", PE_DECIMAL_OK, 1, 0},
	    {"0x.p1", PE_DECIMAL_OK, 1, 0},
	    {"0x1p", PE_DECIMAL_OK, 3, 1},
	    {"0x1p+", PE_DECIMAL_OK, 3, 1},
	    {"0x1.8P1,", PE_DECIMAL_OK, 7, 3},
	    {"-0X.8p-1", PE_DECIMAL_OK, 8, -0.25},
	    {"0x1.2.3", PE_DECIMAL_OK, 5, 1.125},
	    {"00x1", PE_DECIMAL_OK, 2, 0},
	    {"inf", PE_DECIMAL_OK, 3, INFINITY},
	    {"-INFINITY", PE_DECIMAL_OK, 9, -INFINITY},
	    {"+Infinit", PE_DECIMAL_OK, 4, INFINITY},
	    {"infinity0", PE_DECIMAL_OK, 8, INFINITY},
	    {"1e400", PE_DECIMAL_OVERFLOW, 5, INFINITY},
	    {"-1e400,", PE_DECIMAL_OVERFLOW, 6, -INFINITY},
	    {"0x1p1024", PE_DECIMAL_OVERFLOW, 8, INFINITY},
	    {"1e-400", PE_DECIMAL_OK, 6, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct text t = text_of(cases[i].text);
		const char *behind;
		double value = 0;
		float narrow = 0;
		if (pe_decimal_read_f64(t.bytes, t.end, &value, &behind) != cases[i].status ||
		    (size_t)(behind - t.bytes) != cases[i].used ||
		    (cases[i].status != PE_DECIMAL_NONE && bits_of(value) != bits_of(cases[i].x)))
			fail_msg("'%s'", cases[i].text);
		if (pe_decimal_read_f32(t.bytes, t.end, &narrow, &behind) != cases[i].status ||
		    (size_t)(behind - t.bytes) != cases[i].used ||
		    (cases[i].status != PE_DECIMAL_NONE &&
		     bits_of_float(narrow) != bits_of_float((float)cases[i].x)))
			fail_msg("'%s' as a float", cases[i].text);
		free(t.bytes);
	}
}

static void
nan_in_any_case(void **state)
{
	static const char *const words[] = {"nan", "NaN", "-NAN", "+nan", "nan(1)", "nano"};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const struct text t = text_of(words[i]);
		const size_t used = (words[i][0] | 0x20) == 'n' ? 3 : 4;
		const char *behind;
		double value = 0;
		float narrow = 0;
		assert_int_equal(pe_decimal_read_f64(t.bytes, t.end, &value, &behind),
				 PE_DECIMAL_OK);
		assert_true(isnan(value) && behind == t.bytes + used);
		assert_int_equal(pe_decimal_read_f32(t.bytes, t.end, &narrow, &behind),
				 PE_DECIMAL_OK);
		assert_true(isnan(narrow) && behind == t.bytes + used);
		free(t.bytes);
	}
}

static void
hard_decimals(void **state)
{
	static const char *const texts[] = {
	    "9007199254740993",
	    "9007199254740993.0000000000000000000000000000000000000000000000000000000000000001",
	    "9007199254740992.9999999999999999999999999999999999999999999999999999999999999999",
	    "9007199254740995",
	    "1e23",
	    "8.41e21",
	    "8.5e21",
	    "1.7976931348623157e308",
	    "1.7976931348623158e308",
	    "1.797693134862315807e308",
	    "1.797693134862315808e308",
	    "1.7976931348623159e308",
	    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664"
	    "9017977587207"
	    "09633028641669288791094655554785194040263065748867150582068190890200070838367627385484"
	    "5817711531764"
	    "47573027006985557136695962284291481986083493647529271907416844436551070434271155969950"
	    "8093042880",
	    "2.2250738585072011e-308",
	    "2.2250738585072012e-308",
	    "2.2250738585072014e-308",
	    "4.9406564584124654e-324",
	    "2.4703282292062327208e-324",
	    "2.4703282292062327209e-324",
	    "2.47032822920623272088284396434110686182e-324",
	    "2.47032822920623272088284396434110686183e-324",
	    "7.4109846876186981626e-324",
	    "7.4109846876186981627e-324",
	    "3e-324",
	    "2e-324",
	    "0.000000000000000000000000000000000000000000000000000000000000001e63",
	    "100000000000000000000000000000000000000000000000000000000000000e-62",
	    "6929495644600919.5",
	    "3.7455744005952583e15",
	    "2.2222222222222223e16",
	    "5e-20",
	    "67e14",
	    "985e15",
	    "7693e-42",
	    "6254e-34",
	    "459926601011e15",
	    "5091e-4",
	    "33.0e-297",
	    "6.8e-300",
	    "123456789012345678901234567890",
	    "1e19",
	    "18446744073709551615",
	    "18446744073709551616",
	    "99999999999999999999",
	    "0.1e-6553",
	    "1.00000005960464477539062499",
	    "1.000000059604644775390625",
	    "1.00000005960464477539062501",
	    "1.00000017881393432617187500000000000000000000000000000000001",
	    "16777217",
	    "16777219",
	    "3.4028235677973366e38",
	    "3.4028235677973365e38",
	    "3.4028235677973367e38",
	    "340282356779733661637539395458142568448",
	    "340282356779733661637539395458142568447",
	    "7.006492321624085e-46",
	    "7.006492321624086e-46",
	    "7.0064923216240853546186479164495806564013097093825788587853e-46",
	    "7.0064923216240853546186479164495806564013097093825788587854e-46",
	    "1.1754943157898258998483097641290060955707622747724341e-38",
	    "1.17549428072575120156e-38",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_reads(texts[i], strtod(texts[i], NULL));
		assert_reads_float(texts[i], strtof(texts[i], NULL));
	}
}

/* m 2^q digit by digit, which is half way between two floats, and hairs beside it. */
static void
assert_reads_around(uint64_t m, int q)
{
	mpz_t number, factor;

	mpz_inits(number, factor, (mpz_ptr)NULL);
	mpz_set_ui(number, m);
	mpz_ui_pow_ui(factor, q < 0 ? 5 : 2, (unsigned long)abs(q));
	mpz_mul(number, number, factor); /* times 10^q where q < 0 */
	for (int places = 0; places <= 60; places += 20) {
		mpz_ui_pow_ui(factor, 10, (unsigned long)places);
		mpz_mul(factor, factor, number);
		mpz_sub_ui(factor, factor, 1);
		for (int hair = -1; hair <= 1; hair++) {
			char text[1200];
			const int size = gmp_snprintf(text, sizeof text, "%Zde%d", factor,
						      (q < 0 ? q : 0) - places);
			assert_in_range(size, 1, sizeof text - 1);
			assert_reads(text, strtod(text, NULL));
			assert_reads_float(text, strtof(text, NULL));
			mpz_add_ui(factor, factor, 1);
		}
	}
	mpz_clears(number, factor, (mpz_ptr)NULL);
}

static void
midpoints(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		const uint64_t c = next(&seed) >> 11;
		assert_reads_around(c | 1,
				    (int)below(&seed, 2098) - 1126); /* above and within f64 */
		assert_reads_around(c >> 29 | 1, (int)below(&seed, 300) - 170);
		assert_reads_around((c >> below(&seed, 53)) | 1, -1075); /* subnormal ones */
		assert_reads_around((c >> 29 >> below(&seed, 23)) | 1, -150);
	}
	assert_reads_around(1, -1075);
	assert_reads_around(1, -150);
	assert_reads_around(1, -1076);
	assert_reads_around(1, -151);
	assert_reads_around((UINT64_C(1) << 54) - 1, 970);
	assert_reads_around((UINT64_C(1) << 25) - 1, 103);
}

/* Digits, points and exponents at random; many longer than what a product can hold. */
static void
assert_reads_any(uint64_t *seed)
{
	char text[120], *to = text;
	const uint64_t length = 1 + below(seed, below(seed, 4) == 0 ? 60 : 20);
	const uint64_t point = below(seed, 2 * length);
	const uint64_t kind = below(seed, 8);

	if (below(seed, 4) == 0)
		*to++ = "+-"[below(seed, 2)];
	for (uint64_t i = 0; i < length; i++) {
		if (i == point)
			*to++ = '.';
		*to++ = (char)('0' + (kind == 0 ? 0 : kind == 1 ? 9 : below(seed, 10)));
	}
	*to = '\0';
	if (below(seed, 2) == 0)
		(void)sprintf(to, "%c%s%d", "eE"[below(seed, 2)], below(seed, 2) ? "" : "-",
			      (int)below(seed, below(seed, 2) ? 45 : 345));
	assert_reads(text, strtod(text, NULL));
	assert_reads_float(text, strtof(text, NULL));
}

/* Not against strtod: glibc's rounds some subnormal ones wrongly (0x0.80f11e11f0bcacp-1022). */
static void
assert_reads_hexadecimal(uint64_t *seed)
{
	mpfr_t exact;
	char text[120], *to = text;
	const uint64_t length = 1 + below(seed, 30), point = below(seed, 2 * length);

	to += sprintf(to, "%s0%c", below(seed, 2) ? "-" : "", "xX"[below(seed, 2)]);
	for (uint64_t i = 0; i < length; i++) {
		if (i == point)
			*to++ = '.';
		*to++ = "0123456789abcdefABCDEF08"[below(seed, below(seed, 3) ? 24 : 2)];
	}
	*to = '\0';
	if (below(seed, 3))
		(void)sprintf(to, "p%d", (int)below(seed, 2400) - 1200);
	mpfr_init2(exact, 128);
	assert_int_equal(mpfr_set_str(exact, text, 0, MPFR_RNDN), 0);
	assert_reads(text, mpfr_get_d(exact, MPFR_RNDN));
	assert_reads_float(text, mpfr_get_flt(exact, MPFR_RNDN));
	mpfr_clear(exact);
}

static void
any_spelling(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 300000; i++)
		assert_reads_any(&seed);
	for (int i = 0; i < 100000; i++)
		assert_reads_hexadecimal(&seed);
}

/* ---- rows read ---- */

/* A field as files have it, most of them short; blanks may stand before it. */
static void
any_field(uint64_t *state, char *to, size_t size)
{
	const double x = any_double(state), table = sin((double)below(state, 100000));
	const char *const blanks = below(state, 30) == 0 ? "  " : "";
	char *const end = to + pe_decimal_write_f64(to, x);

	switch (below(state, 14)) {
	case 9: (void)snprintf(to, size, "%.*e", (int)below(state, 19), x); break;
	case 10:
		(void)snprintf(to, size, "%.*e", (int)below(state, 10),
			       table * pow(10, (double)below(state, 90) - 50));
		break;
	case 0: *end = '\0'; break;
	case 1: to[pe_decimal_write_f32(to, (float)table)] = '\0'; break;
	case 2: (void)snprintf(to, size, "%s%.*f", blanks, (int)below(state, 20), table); break;
	case 3: (void)snprintf(to, size, "%s%.*g", blanks, (int)below(state, 21), x); break;
	case 4: (void)snprintf(to, size, "%s%lld", blanks, (long long)below(state, 1000)); break;
	case 5: (void)snprintf(to, size, "%.*f", (int)below(state, 31), table * 1000); break;
	case 6: /* the middle between two floats, or near it */
		(void)snprintf(to, size, "%.*f", 7 + (int)below(state, 20),
			       (double)(2 * below(state, 1 << 24) + 1) / (1 << 25));
		break;
	case 7: (void)snprintf(to, size, "%0*d.%d", 1 + (int)below(state, 28), 7, 25); break;
	case 8: (void)snprintf(to, size, "%llu", (unsigned long long)next(state)); break;
	default: to[pe_decimal_write_f64(to, table)] = '\0';
	}
}

/* What is a number and what is none, where a kernel must look twice. */
/* clang-format off */
static const char *const odd_fields[] = {
    "0", "-0", "5.", ".5", "-.5", "-5.", "1e5", "1e-5", "1E+5", "+1", "nan", "inf", "-inf",
    "0x1.8p3", "00.5", "1e400", "9007199254740993", "16777217", "18446744073709551616",
    "0.0000000000000000000000000001", "000000000000000000000000000000000000000.5",
    "0.000000000000000000000000000000000000000000000001", "0.12345678901234567890123456789012",
    "100000000000000000000000000.5", "1000000000000000000000000000005", "9000000000000000000",
    "8999999999999999999", "900000000.000000000001", "123456789012345678901234567890",
    "", "-", ".", "-.", "1.2.3", "1-2", "--1", "1;2", "1:2", "abc", "1/2", "0.5x", "\3771",
    "1\xff", "1\"", "1.0e", "0.5,,0.5", "e5", "1e", "1e-", "1e+", "1e--5", "1e5e5", "1e5.", "-e1",
    "1e1234", "1e0005", "1e-0005", "1e39", "-1e39", "3.4028236e38", "3.4028235e38", "1e-46", "1e308",
    "1.7976931348623159e308", "4.9e-324", "1e-400", "1.e5", ".e5", "12345678901234567890e-10",
};
/* clang-format on */

/* Reads n fields as csvio does: a kernel as far as it comes, one number by the function for one,
 * and so on; and the same by that function alone. `text` ends with a line end and more. */
static void
assert_row_reads(const char *text, char separator, size_t n, bool f32)
{
	const struct pe_decimal_kernel *kernel;
	const struct text t = text_of(text);
	const size_t size = f32 ? sizeof(float) : sizeof(double);
	double due[MOST_ROW], row[MOST_ROW + 1];
	const char *ends[MOST_ROW], *s = t.bytes;
	size_t good = 0; /* numbers before the first that is none */

	for (; good < n; good++) {
		void *const to = (char *)due + good * size;
		while (*s == ' ')
			s++;
		if ((f32 ? pe_decimal_read_f32(s, t.end, to, ends + good)
			 : pe_decimal_read_f64(s, t.end, to, ends + good)) != PE_DECIMAL_OK)
			break;
		s = ends[good] + 1;
		if (*ends[good] != separator) {
			good++;
			break;
		}
	}
	for (size_t k = 0; (kernel = pe_decimal_kernel_at(k)) != NULL; k++) {
		size_t done = 0;
		s = t.bytes;
		for (row[n] = 42; kernel->runs() && done < good; done++) {
			const char *behind;
			void *const to = (char *)row + done * size;
			const size_t got = f32 ? kernel->read_f32(t.bytes, s, t.end, separator, to,
								  n - done, &behind)
					       : kernel->read_f64(t.bytes, s, t.end, separator, to,
								  n - done, &behind);
			assert_true(got <= good - done);
			done += got;
			assert_ptr_equal(behind, got == 0 ? s : ends[done - 1]);
			if (done == good)
				break;
			s = done > 0 ? ends[done - 1] + 1 : t.bytes;
			while (*s == ' ')
				s++;
			void *const next_one = (char *)row + done * size;
			if (f32)
				(void)pe_decimal_read_f32(s, t.end, next_one, &behind);
			else
				(void)pe_decimal_read_f64(s, t.end, next_one, &behind);
			s = behind + 1;
		}
		assert_true(row[n] == 42);
		if (kernel->runs() && memcmp(row, due, good * size) != 0)
			fail_msg("%s, f%d: '%s'", kernel->name, f32 ? 32 : 64, text);
	}
	free(t.bytes);
}

static void
rows_read(void **state)
{
	enum { MOST = 64, ODD = sizeof odd_fields / sizeof *odd_fields };
	char text[MOST * 420 + 80], field[420];
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 40000; i++) {
		const size_t n = 1 + below(&seed, MOST);
		const char separator = ",\t "[below(&seed, 3)];
		char *to = text;
		for (size_t j = 0; j < n; j++) {
			if (below(&seed, 60) == 0)
				(void)strcpy(field, odd_fields[below(&seed, ODD)]);
			else
				any_field(&seed, field, sizeof field);
			to = stpcpy(to, field);
			*to++ = j + 1 < n ? separator : '\n';
		}
		/* without what follows, the last fields are too close to the end */
		memset(to, '1', 80);
		to[below(&seed, 2) == 0 ? 0 : 79] = '\0';
		assert_row_reads(text, separator, n, i & 1);
	}
}

static void
very_long(void **state)
{
	enum { LENGTH = 20000 };
	char *const text = malloc(LENGTH + 40);
	/* digit, how often, what follows; read as doubles and floats */
	static const struct {
		const char *before;
		char digit;
		int count;
		const char *behind;
	} cases[] = {
	    {"0.", '0', 10000, "123456789e10001"},
	    {"0.", '0', LENGTH, "1"},
	    {"", '9', LENGTH, "e-19999"},
	    {"1.", '0', LENGTH, "1"},
	    {"1.5", '3', LENGTH, "e-7"},
	    {"", '0', LENGTH, ".1"},
	    {"1", '0', 10000, "e-10000"},
	    {"9007199254740993.", '0', 10000, "1"},
	    {"9007199254740993.", '0', 10000, ""},
	    {"9007199254740992.", '9', 10000, ""},
	    {"1.000000059604644775390625", '0', 10000, "1"},
	    {"1.00000005960464477539062", '4', 10000, ""},
	};

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *to = stpcpy(text, cases[i].before);
		memset(to, cases[i].digit, (size_t)cases[i].count);
		strcpy(to + cases[i].count, cases[i].behind);
		assert_reads(text, strtod(text, NULL));
		assert_reads_float(text, strtof(text, NULL));
	}
	free(text);
}

static void
absurd_exponents(void **state)
{
	(void)state;
	assert_reads("1e99999999999999999999", INFINITY);
	assert_reads("-1e99999999999999999999", -INFINITY);
	assert_reads("1e-99999999999999999999", 0);
	assert_reads("-1e-99999999999999999999", -0.0);
	assert_reads("0e99999999999999999999", 0);
	assert_reads("0.000e-99999999999999999999", 0);
	assert_reads("1e9223372036854775807", INFINITY);
	assert_reads("1e-9223372036854775808", 0);
	assert_reads("1e18446744073709551616", INFINITY); /* not 1e0 */
	assert_reads("1e4294967296", INFINITY);
	assert_reads("0x1p99999999999999999999", INFINITY);
	assert_reads("0x1p-99999999999999999999", 0);
	assert_reads("0x0p99999999999999999999", 0);
	assert_reads("0x.00000000000000000000000001p100", 0x1p-4);
	assert_reads_float("1e99999999999999999999", INFINITY);
	assert_reads_float("1e39", INFINITY);
	assert_reads_float("-1e-99999999999999999999", -0.0f);
}

/* ---- there and back, and the C library's view ---- */

static void
assert_goes_round(double x)
{
	const struct written w = shortest(x);
	const float narrow = (float)x;
	char long_way[64];

	(void)snprintf(long_way, sizeof long_way, "%.17g", x);
	assert_true(bits_of(strtod(w.text, NULL)) == bits_of(x));
	assert_reads(w.text, x);
	assert_reads(long_way, x);
	assert_reads_float(long_way, strtof(long_way, NULL));
	if (!isfinite(narrow))
		return;
	const struct written f = shortest_float(narrow);
	assert_true(bits_of_float(strtof(f.text, NULL)) == bits_of_float(narrow));
	assert_reads_float(f.text, narrow);
}

static unsigned long rounds = 1000000;

static void
round_trips(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned long i = 0; i < rounds; i++)
		assert_goes_round(any_double(&seed));
}

/* Every place where a text may end, in memory that ends there too. */
static void
cut_texts(void **state)
{
	static const char *const texts[] = {"-1234567890.0123456789e-12", "0.8414709848078965",
					    "0x1.921fb54442d18p+1", "infinity",
					    "1234567890123456789012"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t size = 0; size <= strlen(texts[i]); size++) {
			char part[40];
			(void)snprintf(part, sizeof part, "%.*s", (int)size, texts[i]);
			char *due;
			const double x = strtod(part, &due);
			const struct text t = text_of(part);
			const char *behind;
			double value = 0;
			(void)pe_decimal_read_f64(t.bytes, t.end, &value, &behind);
			assert_int_equal(behind - t.bytes, due - part);
			assert_true(bits_of(value) == bits_of(x) || due == part);
			free(t.bytes);
		}
}

/* ---- whole numbers ---- */

static void
integers(void **state)
{
	static const struct {
		const char *text;
		enum pe_decimal status;
		int64_t x;
		int left; /* bytes that are not the number's */
	} cases[] = {
	    {"0", PE_DECIMAL_OK, 0, 0},
	    {"-0", PE_DECIMAL_OK, 0, 0},
	    {"+12", PE_DECIMAL_OK, 12, 0},
	    {"1e3", PE_DECIMAL_OK, 1000, 0},
	    {"4.0", PE_DECIMAL_OK, 4, 0},
	    {"-4.", PE_DECIMAL_OK, -4, 0},
	    {"1.25e2", PE_DECIMAL_OK, 125, 0},
	    {"1.25e1", PE_DECIMAL_NONE, 0, 0},
	    {"9223372036854775807", PE_DECIMAL_OK, INT64_MAX, 0},
	    {"-9223372036854775807", PE_DECIMAL_OK, -INT64_MAX, 0},
	    {"-9223372036854775808", PE_DECIMAL_OK, INT64_MIN, 0},
	    {"9223372036854775808", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"-9223372036854775809", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"18446744073709551617", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"1e18", PE_DECIMAL_OK, 1000000000000000000, 0},
	    {"1e19", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"1e99999999999999999999", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"0e99999999999999999999", PE_DECIMAL_OK, 0, 0},
	    {"1e-99999999999999999999", PE_DECIMAL_NONE, 0, 0},
	    {"92233720368547758070e-1", PE_DECIMAL_OK, INT64_MAX, 0},
	    {"922337203685477580700000000000e-11", PE_DECIMAL_OK, INT64_MAX, 0},
	    {"0.0000000000000000000000000000000009e34", PE_DECIMAL_OK, 9, 0},
	    {"7.0000000000000000000000000000000000", PE_DECIMAL_OK, 7, 0},
	    {"7.0000000000000000000000000000000001", PE_DECIMAL_NONE, 0, 0},
	    {"9223372036854775807.0000000000000001", PE_DECIMAL_NONE, 0, 0},
	    {"9223372036854775808.5", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"12345678901234567890123e-3", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"0.5", PE_DECIMAL_NONE, 0, 0},
	    {"1e-1", PE_DECIMAL_NONE, 0, 0},
	    {"0x10", PE_DECIMAL_OK, 16, 0},
	    {"-0x8000000000000000", PE_DECIMAL_OK, INT64_MIN, 0},
	    {"0x7fffffffffffffff", PE_DECIMAL_OK, INT64_MAX, 0},
	    {"0x8000000000000000", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"0x7fffffffffffffff.00000p0", PE_DECIMAL_OK, INT64_MAX, 0},
	    {"0x1.8p1", PE_DECIMAL_OK, 3, 0},
	    {"0x1.8p0", PE_DECIMAL_NONE, 0, 0},
	    {"0x1p-70", PE_DECIMAL_NONE, 0, 0},
	    {"0x123456789abcdef012p-8", PE_DECIMAL_NONE, 0, 0},
	    {"0x123456789abcdef00p-4", PE_DECIMAL_OK, 0x123456789abcdef0, 0},
	    {"0x1p63", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"0x1p64", PE_DECIMAL_OVERFLOW, 0, 0},
	    {"0x10000000000000008p-3", PE_DECIMAL_OK, (INT64_C(1) << 61) + 1, 0},
	    {"0x1000000000000000fp-3", PE_DECIMAL_NONE, 0, 0},
	    {"-0x80000000000000008p-4", PE_DECIMAL_NONE, 0, 0},
	    {"0x800000000000000000000p-21", PE_DECIMAL_OK, INT64_C(1) << 62, 0},
	    {"0x0p9999", PE_DECIMAL_OK, 0, 0},
	    {"nan", PE_DECIMAL_NONE, 0, 0},
	    {"-infinity", PE_DECIMAL_NONE, 0, 0},
	    {"0x", PE_DECIMAL_OK, 0, 1},
	    {"12abc", PE_DECIMAL_OK, 12, 3},
	    {"", PE_DECIMAL_NONE, 0, 0},
	    {"-", PE_DECIMAL_NONE, 0, 1},
	    {"abc", PE_DECIMAL_NONE, 0, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct text t = text_of(cases[i].text);
		const char *behind;
		int64_t x = 0;
		if (pe_decimal_read_i64(t.bytes, t.end, &x, &behind) != cases[i].status ||
		    t.end - behind != cases[i].left || x != cases[i].x)
			fail_msg("'%s'", cases[i].text);
		free(t.bytes);
	}
}

static void
integers_go_round(void **state)
{
	uint64_t seed = 6, power = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		int64_t x = (int64_t)next(&seed) >> below(&seed, 64);
		if (i < 19 * 6) { /* -1 .. 1 beside powers of ten, and their negatives */
			x = (int64_t)power + i % 3 - 1;
			x = i % 6 < 3 ? x : -x;
			power *= i % 6 == 5 ? 10 : 1;
		}
		char due[32];
		(void)snprintf(due, sizeof due, "%lld", (long long)x);
		assert_string_equal(WRITTEN(pe_decimal_write_i64(to, x)).text, due);
		const struct text t = text_of(due);
		const char *behind;
		int64_t value;
		assert_int_equal(pe_decimal_read_i64(t.bytes, t.end, &value, &behind),
				 PE_DECIMAL_OK);
		assert_true(value == x && behind == t.end);
		free(t.bytes);
	}
	assert_string_equal(WRITTEN(pe_decimal_write_i64(to, INT64_MIN)).text,
			    "-9223372036854775808");
	assert_string_equal(WRITTEN(pe_decimal_write_i64(to, INT64_MAX)).text,
			    "9223372036854775807");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest quick[] = {
	    cmocka_unit_test(powers_of_ten),      cmocka_unit_test(shapes),
	    cmocka_unit_test(shapes_of_float),    cmocka_unit_test(all_halves),
	    cmocka_unit_test(shortest_by_search), cmocka_unit_test(digits_and_ties),
	    cmocka_unit_test(every_element),      cmocka_unit_test(words_and_ends),
	    cmocka_unit_test(nan_in_any_case),    cmocka_unit_test(hard_decimals),
	    cmocka_unit_test(midpoints),          cmocka_unit_test(any_spelling),
	    cmocka_unit_test(very_long),          cmocka_unit_test(absurd_exponents),
	    cmocka_unit_test(round_trips),        cmocka_unit_test(cut_texts),
	    cmocka_unit_test(integers),           cmocka_unit_test(integers_go_round),
	    cmocka_unit_test(rows_of_any_length), cmocka_unit_test(rows_of_every_kind),
	    cmocka_unit_test(rows_read),
	};
	const struct CMUnitTest random_only[] = {cmocka_unit_test(round_trips)};

	if (argc < 2)
		return cmocka_run_group_tests(quick, NULL, NULL);
	rounds = strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(random_only, NULL, NULL);
}
