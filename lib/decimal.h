/* decimal - shortest text <-> binary floats, exact both ways, in no locale but C's.
 *
 * Writing: the shortest digits that read back to the same value of the element; of equally short
 * ones the nearest to it, then the one whose last digit is even. Laid out as Python's repr does,
 * less a trailing ".0": plain from 1e-4 up to below 1e16, else "1e-05", "1.5e+16"; "-0", "nan"
 * (without a sign), "inf", "-inf". With digits N (1..17): correctly rounded to N significant
 * digits, ties to even, trailing zeros dropped, the same layout.
 * Reading: decimal and hexadecimal floats of any length, correctly rounded once to the element,
 * ties to even.
 *
 * No text is NUL-terminated; nothing allocates; nothing fails but as said. Sources and error
 * bounds stand in decimal_write.c, decimal_lanes.h and decimal_read.c. */
#ifndef PE_DECIMAL_H
#define PE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "elem.h"

#define PE_DECIMAL_MAX 40 /* bytes that a writer may touch from `to` on */

/* Write at `to`, which has PE_DECIMAL_MAX bytes; return how many are the text. */
size_t pe_decimal_write_f64(char *to, double x);
size_t pe_decimal_write_f32(char *to, float x);
size_t pe_decimal_write_i64(char *to, int64_t x);
/* shortest digits that tell the value from its neighbours in f16 or bf16; bits as in elem */
size_t pe_decimal_write_f16(char *to, uint16_t bits);
size_t pe_decimal_write_bf16(char *to, uint16_t bits);
size_t pe_decimal_write_digits(char *to, double x, int digits);
/* values[i] of any element: its shortest digits, or, where digits is not 0 and it is no integer,
 * so many. */
size_t pe_decimal_write(char *to, enum pe_elem elem, const void *values, size_t i, int digits);

/* Rows of numbers, a separator behind each of them, or a newline where a row ends; `to` has
 * rows cols (PE_DECIMAL_MAX + 1) bytes. Several times as fast as one by one. */
size_t pe_decimal_write_rows_f64(char *to, char separator, const double *x, size_t rows,
				 size_t cols);
size_t pe_decimal_write_rows_f32(char *to, char separator, const float *x, size_t rows,
				 size_t cols);

/* What reading a number came to. */
enum pe_decimal {
	PE_DECIMAL_OK,
	PE_DECIMAL_NONE,     /* the text does not begin with a number */
	PE_DECIMAL_OVERFLOW, /* a finite number beyond the largest one of the element */
};

/* Reads the number that [text, end) begins with (no blanks before it), stores it and the first
 * byte behind it. Accepted: optional sign, digits with optional point (at least one digit),
 * optional exponent; 0x hex float with optional p exponent; nan, inf, infinity in any case. An
 * underflow is the nearest subnormal or zero, an overflow stores the infinity. The bytes need not
 * be NUL-terminated and none at `end` is touched. */
enum pe_decimal pe_decimal_read_f64(const char *text, const char *end, double *value,
				    const char **behind);
enum pe_decimal pe_decimal_read_f32(const char *text, const char *end, float *value,
				    const char **behind);

/* Up to n numbers, each behind the first one after a separator and perhaps blanks: stores them and
 * what is behind the last of them, and returns how many. Stops at whatever is not as plain as
 * that, or for its own reasons; what comes next is for the functions above. All of row[] may be
 * overwritten. All from `begin`, which is at or before text, to `end` may be read: numbers close
 * to either come slower, or not at all. */
size_t pe_decimal_read_row_f64(const char *begin, const char *text, const char *end, char separator,
			       double *row, size_t n, const char **behind);
size_t pe_decimal_read_row_f32(const char *begin, const char *text, const char *end, char separator,
			       float *row, size_t n, const char **behind);

/* A whole number: any such text whose value is an integer within int64 ("1e3" and
 * "4.0" are). PE_DECIMAL_OVERFLOW where the part before the point is beyond int64; else
 * PE_DECIMAL_NONE, with *behind past the number, for a fraction, and so for nan and inf. Stores
 * nothing then. */
enum pe_decimal pe_decimal_read_i64(const char *text, const char *end, int64_t *value,
				    const char **behind);

#endif
