/* cli_values - the values of options, checked. What does not fit ends the program with one line
 * and status 2. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Option values; the key names the option in the message. */
size_t cli_positive(int key, const char *arg); /* 1 .. 2^40 */
size_t cli_count(int key, const char *arg);    /* 0 .. 2^40 */
int64_t cli_integer(int key, const char *arg);
int64_t cli_position(int key, const char *arg); /* within +-2^53 */
double cli_number(int key, const char *arg);    /* finite */
double cli_positive_number(int key, const char *arg);
/* Index of arg in a NULL-ended list; "must be one of a, b, c: 'x'" otherwise. */
int cli_choice(int key, const char *arg, const char *const *choices);
/* LO:HI[:STEP] with LO <= HI, STEP > 0 (1 where absent). */
void cli_range(int key, const char *arg, int64_t *lo, int64_t *hi, int64_t *step);
/* "8" (square) or "3x9", both positive. */
void cli_shape(int key, const char *arg, size_t *rows, size_t *cols);

/* A position, or "end": then *at_end is set and the caller knows where that is. */
int64_t cli_query_start(int key, const char *arg, bool *at_end);

#endif
