/* decimal - shortest text <-> binary floats. This version leans on the C library. */
#include "decimal.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lays out significant digits (no leading or trailing zeros but for "0") times 10^(point - count). */
static size_t
lay_out(char *to, bool negative, const char *digits, int count, int point)
{
	char *s = to;

	if (negative)
		*s++ = '-';
	if (point > 16 || point < -3) { /* value >= 1e16 or < 1e-4 */
		*s++ = digits[0];
		if (count > 1) {
			*s++ = '.';
			memcpy(s, digits + 1, (size_t)count - 1);
			s += count - 1;
		}
		const int exponent = point - 1;
		s += sprintf(s, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
	} else if (point <= 0) {
		*s++ = '0';
		*s++ = '.';
		for (int i = point; i < 0; i++)
			*s++ = '0';
		memcpy(s, digits, (size_t)count);
		s += count;
	} else {
		for (int i = 0; i < point; i++)
			*s++ = i < count ? digits[i] : '0';
		if (count > point) {
			*s++ = '.';
			memcpy(s, digits + point, (size_t)(count - point));
			s += count - point;
		}
	}
	return (size_t)(s - to);
}

static size_t
special(char *to, double x)
{
	const char *text = isnan(x) ? "nan"
			   : x == 0 ? (signbit(x) ? "-0" : "0")
			   : x > 0  ? "inf"
				    : "-inf";
	const size_t length = strlen(text);

	memcpy(to, text, length);
	return length;
}

size_t
pe_decimal_write_digits(char *to, double x, int digits)
{
	char text[40], run[20];
	int count = 0, exponent;

	if (!isfinite(x) || x == 0)
		return special(to, x);
	(void)snprintf(text, sizeof text, "%.*e", digits - 1, fabs(x));
	char *mark = strchr(text, 'e');
	exponent = atoi(mark + 1);
	for (char *s = text; s < mark; s++)
		if (*s != '.')
			run[count++] = *s;
	while (count > 1 && run[count - 1] == '0')
		count--;
	return lay_out(to, x < 0, run, count, exponent + 1);
}

size_t
pe_decimal_write_f64(char *to, double x)
{
	for (int digits = 1; digits < 17; digits++) {
		char text[40];
		if (isfinite(x) &&
		    (snprintf(text, sizeof text, "%.*e", digits - 1, x), strtod(text, NULL) == x))
			return pe_decimal_write_digits(to, x, digits);
	}
	return pe_decimal_write_digits(to, x, 17);
}

size_t
pe_decimal_write_f32(char *to, float x)
{
	for (int digits = 1; digits < 9; digits++) {
		char text[40];
		if (isfinite(x) && (snprintf(text, sizeof text, "%.*e", digits - 1, (double)x),
				    strtof(text, NULL) == x))
			return pe_decimal_write_digits(to, (double)x, digits);
	}
	return pe_decimal_write_digits(to, (double)x, 9);
}

static size_t
write_half(char *to, double x, uint16_t bits, uint16_t (*round)(double))
{
	for (int digits = 1; digits < 9; digits++) {
		char text[40];
		if (isfinite(x) && (snprintf(text, sizeof text, "%.*e", digits - 1, x),
				    round(strtod(text, NULL)) == bits))
			return pe_decimal_write_digits(to, x, digits);
	}
	return pe_decimal_write_digits(to, x, 9);
}

size_t
pe_decimal_write_f16(char *to, uint16_t bits)
{
	return write_half(to, pe_f16_value(bits), bits, pe_f16_round);
}

size_t
pe_decimal_write_bf16(char *to, uint16_t bits)
{
	return write_half(to, pe_bf16_value(bits), bits, pe_bf16_round);
}

size_t
pe_decimal_write_i64(char *to, int64_t x)
{
	return (size_t)sprintf(to, "%lld", (long long)x);
}

/* The number at the front of the text, as a string that strtod understands. */
static size_t
front(const char *text, const char *end, char *copy, size_t room)
{
	size_t n = 0;

	while (
	    text + n < end && n + 1 < room &&
	    (strchr("+-.0123456789abcdefxpABCDEFXPinftyINFTY", text[n]) != NULL && text[n] != '\0'))
		n++;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return n;
}

enum pe_decimal
pe_decimal_read_f64(const char *text, const char *end, double *value, const char **behind)
{
	char copy[512], *stop;

	*behind = text;
	front(text, end, copy, sizeof copy);
	errno = 0;
	*value = strtod(copy, &stop);
	if (stop == copy)
		return PE_DECIMAL_NONE;
	*behind = text + (stop - copy);
	return errno == ERANGE && isinf(*value) ? PE_DECIMAL_OVERFLOW : PE_DECIMAL_OK;
}

enum pe_decimal
pe_decimal_read_f32(const char *text, const char *end, float *value, const char **behind)
{
	char copy[512], *stop;

	*behind = text;
	front(text, end, copy, sizeof copy);
	errno = 0;
	*value = strtof(copy, &stop);
	if (stop == copy)
		return PE_DECIMAL_NONE;
	*behind = text + (stop - copy);
	return errno == ERANGE && isinf(*value) ? PE_DECIMAL_OVERFLOW : PE_DECIMAL_OK;
}

enum pe_decimal
pe_decimal_read_i64(const char *text, const char *end, int64_t *value, const char **behind)
{
	char copy[512], *stop;
	double x;

	*behind = text;
	front(text, end, copy, sizeof copy);
	errno = 0;
	*value = strtoll(copy, &stop, 10);
	if (stop != copy && *stop == '\0') {
		*behind = text + (stop - copy);
		return errno == ERANGE ? PE_DECIMAL_OVERFLOW : PE_DECIMAL_OK;
	}
	if (pe_decimal_read_f64(text, end, &x, behind) != PE_DECIMAL_OK || x != trunc(x))
		return PE_DECIMAL_NONE;
	if (!(x >= -0x1p63 && x < 0x1p63))
		return PE_DECIMAL_OVERFLOW;
	*value = (int64_t)x;
	return PE_DECIMAL_OK;
}
