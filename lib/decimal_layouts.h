/* decimal_layouts - where the characters of a number come from, for kernels that shuffle them. */
#ifndef PE_DECIMAL_LAYOUTS_H
#define PE_DECIMAL_LAYOUTS_H

/* A number whose point is behind `point` digits stands without an exponent if point is one of
 * these; else as if point were 1, with the exponent point - 1. */
enum {
	PE_DECIMAL_LEAST_POINT = -3,
	PE_DECIMAL_MOST_POINT = 16,
};

/* How up to 17 digits, as bytes 0 to 9, become characters: a shuffle brings each to its place, or
 * nothing where its byte is 0x80; then comes what is in `text`, by "or". */
struct pe_decimal_layout {
	/* characters 0 to 15, of digits in bytes 8, 7, ... 0, and in bytes 15, 14, ... 0 */
	_Alignas(128) unsigned char f32[16];
	unsigned char f64[16];
	unsigned char f64_rest[16]; /* characters from 16 on, of digits 9 to 16 in bytes 7 to 0 */
	unsigned char text[32];
	unsigned char length[18]; /* of all characters, where so many digits are not cut off */
};

/* 2 (point - PE_DECIMAL_LEAST_POINT), one more with a sign; the last two are those of numbers with
 * an exponent. */
extern const struct pe_decimal_layout
    pe_decimal_layouts[2 * (PE_DECIMAL_MOST_POINT - PE_DECIMAL_LEAST_POINT + 2)];

#endif
