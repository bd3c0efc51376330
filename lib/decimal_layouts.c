/* decimal_layouts - where the characters of a number come from, for kernels that shuffle them. */
#include "decimal_layouts.h"

/* Character j of a number without an exponent, its point behind `point` digits, is digit DIGIT,
 * or, where that is negative, CONSTANT. Of its sign, j = -1. */
#define LEAD(point) ((point) > 0 ? 0 : 2 - (point)) /* of "0.000" */
#define DIGIT(point, j) \
	((point) <= 0 || (j) < (point) ? (j)-LEAD(point) : (j) == (point) ? -1 : (j)-1)
#define CONSTANT(j, point) ((j) < 0 ? '-' : (j) == ((point) > 0 ? (point) : 1) ? '.' : '0')

/* where the digit is, the first one being byte `first` and the next ones below; 0x80: nowhere */
#define SOURCE(j, point, first)                                      \
	((j) < 0 || DIGIT(point, j) < 0 || DIGIT(point, j) > (first) \
	     ? 0x80                                                  \
	     : ((first)-DIGIT(point, j)) & 31)
/* so many characters come of `count` digits, the last of which is not 0 */
#define LENGTH(count, point, sign) \
	((sign) +                  \
	 ((point) > 0 && (count) <= (point) ? (point) : (count) + LEAD(point) + ((point) > 0)))

#define FOUR(m, j, ...)                                                        \
	m((j), __VA_ARGS__), m((j) + 1, __VA_ARGS__), m((j) + 2, __VA_ARGS__), \
	    m((j) + 3, __VA_ARGS__)
#define SIXTEEN(m, j, ...)                                                                     \
	FOUR(m, j, __VA_ARGS__), FOUR(m, (j) + 4, __VA_ARGS__), FOUR(m, (j) + 8, __VA_ARGS__), \
	    FOUR(m, (j) + 12, __VA_ARGS__)
#define LAYOUT(point, sign)                                                          \
	{                                                                            \
		.f32 = {SIXTEEN(SOURCE, -(sign), point, 8)},                         \
		.f64 = {SIXTEEN(SOURCE, -(sign), point, 15)},                        \
		.f64_rest = {SIXTEEN(SOURCE, 16 - (sign), point, 16)},               \
		.text = {SIXTEEN(CONSTANT, -(sign), point),                          \
			 SIXTEEN(CONSTANT, 16 - (sign), point)},                     \
		.length = {SIXTEEN(LENGTH, 0, point, sign), LENGTH(16, point, sign), \
			   LENGTH(17, point, sign)},                                 \
	}
#define BOTH(point) LAYOUT(point, 0), LAYOUT(point, 1)

const struct pe_decimal_layout
    pe_decimal_layouts[2 * (PE_DECIMAL_MOST_POINT - PE_DECIMAL_LEAST_POINT + 2)] = {
	BOTH(-3), BOTH(-2), BOTH(-1), BOTH(0),  BOTH(1),  BOTH(2),  BOTH(3),
	BOTH(4),  BOTH(5),  BOTH(6),  BOTH(7),  BOTH(8),  BOTH(9),  BOTH(10),
	BOTH(11), BOTH(12), BOTH(13), BOTH(14), BOTH(15), BOTH(16), BOTH(1),
};
