/* num - strict numbers from text, and sizes that cannot wrap. */
#include "num.h"

#include <math.h>
#include <string.h>

#include "decimal.h"

int
pe_num_int64(const char *place, const char *text, int64_t *value, struct pe_error *e)
{
	const bool negative = text[0] == '-';
	const char *s = text + (text[0] == '-' || text[0] == '+');
	uint64_t magnitude = 0;
	const uint64_t limit = (uint64_t)INT64_MAX + negative;

	if (*s == '\0')
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: not an integer: '%s'", place,
			       pe_quote(text).text);
	for (; *s != '\0'; s++) {
		const uint64_t digit = (uint64_t)(*s - '0');
		if (*s < '0' || *s > '9')
			return pe_fail(e, PE_FAULT_ARGUMENT, "%s: not an integer: '%s'", place,
				       pe_quote(text).text);
		if (magnitude > (limit - digit) / 10)
			return pe_fail(e, PE_FAULT_ARGUMENT, "%s: beyond 64 bits: '%s'", place,
				       pe_quote(text).text);
		magnitude = magnitude * 10 + digit;
	}
	*value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 0;
}

int
pe_num_double(const char *place, const char *text, double *value, struct pe_error *e)
{
	const char *const end = text + strlen(text);
	const char *behind;
	const enum pe_decimal read = pe_decimal_read_f64(text, end, value, &behind);

	if (read == PE_DECIMAL_NONE || behind != end)
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: not a number: '%s'", place,
			       pe_quote(text).text);
	if (read == PE_DECIMAL_OVERFLOW || !isfinite(*value))
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: must be finite: '%s'", place,
			       pe_quote(text).text);
	return 0;
}

static int
count_from(int64_t least, const char *place, const char *text, size_t *value, struct pe_error *e)
{
	int64_t n;

	if (pe_num_int64(place, text, &n, e))
		return -1;
	if (n < least)
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: must %s: '%s'", place,
			       least > 0 ? "be positive" : "not be negative", pe_quote(text).text);
	if ((uint64_t)n > PE_COUNT_MAX)
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: beyond 2^40: '%s'", place,
			       pe_quote(text).text);
	*value = (size_t)n;
	return 0;
}

int
pe_num_positive(const char *place, const char *text, size_t *value, struct pe_error *e)
{
	return count_from(1, place, text, value, e);
}

int
pe_num_count(const char *place, const char *text, size_t *value, struct pe_error *e)
{
	return count_from(0, place, text, value, e);
}

static bool
multiply(size_t a, size_t b, size_t *product)
{
	if (a != 0 && b > PTRDIFF_MAX / a)
		return false;
	*product = a * b;
	return true;
}

bool
pe_num_size(size_t a, size_t b, size_t c, size_t *product)
{
	size_t ab;

	return multiply(a, b, &ab) && multiply(ab, c, product);
}

int
pe_num_matrix_size(size_t rows, size_t cols, size_t element, size_t *bytes, struct pe_error *e)
{
	if (!pe_num_size(rows, cols, element, bytes))
		return pe_fail(e, PE_FAULT_MEMORY, "%zu rows x %zu columns x %zu bytes overflows",
			       rows, cols, element);
	return 0;
}
