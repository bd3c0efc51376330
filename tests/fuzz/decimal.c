/* Text to number as the C library reads it, and every double and float through its shortest text
 * and back. */
#include "fuzz.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "decimal.h"
#include "decimal_kernel.h"

/* glibc rounds some subnormal hex floats wrongly: strtod of 0x0.80f11e11f0bcacp-1022 drops the c. */
static bool
strtod_is_right(const char *text, double x, double least_normal)
{
	return strpbrk(text, "xX") == NULL || !(fabs(x) < 2 * least_normal);
}

/* strtod accepts what decimal does and more (nan with a payload); where both read all, the bits
 * agree. */
static void
as_the_c_library(const char *text, size_t size)
{
	char terminated[512];
	const char *behind;
	char *end;
	double ours;
	float ours32;

	if (size >= sizeof terminated || memchr(text, '\0', size) != NULL)
		return;
	memcpy(terminated, text, size);
	terminated[size] = '\0';
	const enum pe_decimal came = pe_decimal_read_f64(text, text + size, &ours, &behind);
	if (came == PE_DECIMAL_NONE)
		return;
	const double theirs = strtod(terminated, &end);
	if (end - terminated != behind - text)
		return;
	if (came == PE_DECIMAL_OVERFLOW)
		DEMAND(isinf(theirs));
	else if (strtod_is_right(terminated, theirs, DBL_MIN))
		DEMAND(memcmp(&ours, &theirs, sizeof ours) == 0 || (isnan(ours) && isnan(theirs)));
	if (pe_decimal_read_f32(text, text + size, &ours32, &behind) == PE_DECIMAL_OK) {
		const float theirs32 = strtof(terminated, &end);
		DEMAND(memcmp(&ours32, &theirs32, sizeof ours32) == 0 ||
		       (isnan(ours32) && isnan(theirs32)) ||
		       !strtod_is_right(terminated, (double)theirs32, (double)FLT_MIN));
	}
}

static void
round_trip(const uint8_t *data, size_t size)
{
	char text[PE_DECIMAL_MAX];
	const char *behind;
	double x, back;
	float y, back32;

	if (size < sizeof x)
		return;
	memcpy(&x, data, sizeof x);
	memcpy(&y, data, sizeof y);
	size_t length = pe_decimal_write_f64(text, x);
	DEMAND(length > 0 && length <= PE_DECIMAL_MAX);
	DEMAND(pe_decimal_read_f64(text, text + length, &back, &behind) == PE_DECIMAL_OK);
	DEMAND(behind == text + length);
	DEMAND(memcmp(&x, &back, sizeof x) == 0 || (isnan(x) && isnan(back)));
	length = pe_decimal_write_f32(text, y);
	DEMAND(pe_decimal_read_f32(text, text + length, &back32, &behind) == PE_DECIMAL_OK);
	DEMAND(memcmp(&y, &back32, sizeof y) == 0 || (isnan(y) && isnan(back32)));
	for (int digits = 1; digits <= 17; digits += 8)
		DEMAND(pe_decimal_write_digits(text, x, digits) <= PE_DECIMAL_MAX);
}

enum { COLUMNS = 40 };

/* Rows by each kernel are what their numbers are one by one. */
static void
rows_written(const uint8_t *data, size_t size)
{
	const struct pe_decimal_kernel *kernel;
	double x[COLUMNS];
	char row[COLUMNS * (PE_DECIMAL_MAX + 1)], one[PE_DECIMAL_MAX];
	const size_t n = size / sizeof *x < COLUMNS ? size / sizeof *x : COLUMNS;

	memcpy(x, data, n * sizeof *x);
	for (size_t k = 0; (kernel = pe_decimal_kernel_at(k)) != NULL; k++) {
		if (!kernel->runs())
			continue;
		const char *s = row, *const end = row + kernel->write_f64(row, ',', x, n > 0, n);
		for (size_t i = 0; i < n; i++) {
			const size_t length = pe_decimal_write_f64(one, x[i]);
			DEMAND((size_t)(end - s) > length && memcmp(s, one, length) == 0);
			s += length;
			DEMAND(*s++ == (i + 1 < n ? ',' : '\n'));
		}
		DEMAND(s == end);
	}
}

static void
rows_read(const char *text, size_t size)
{
	const struct pe_decimal_kernel *kernel;
	const char *const end = text + size, *behind, *past;
	double x[COLUMNS], y;

	for (size_t k = 0; (kernel = pe_decimal_kernel_at(k)) != NULL; k++) {
		if (!kernel->runs())
			continue;
		const size_t got = kernel->read_f64(text, text, end, ',', x, COLUMNS, &behind);
		const char *s = past = text;
		for (size_t i = 0; i < got; i++, s = past + 1) {
			DEMAND(i == 0 || *past == ',');
			while (*s == ' ')
				s++;
			DEMAND(pe_decimal_read_f64(s, end, &y, &past) == PE_DECIMAL_OK);
			DEMAND(memcmp(x + i, &y, sizeof y) == 0);
		}
		DEMAND(behind == past);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_the_c_library((const char *)data, size);
	round_trip(data, size);
	rows_written(data, size);
	rows_read((const char *)data, size);
	return 0;
}
