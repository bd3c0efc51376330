/* elem - the element types of rows: names, sizes, and conversion that never loses silently.
 *
 * A row in memory is an array of one element in the machine's byte order; f16 and bf16 are bit
 * patterns in uint16_t. Byte order of files is rawio's and npyio's matter. */
#ifndef PE_ELEM_H
#define PE_ELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pe_elem {
	PE_ELEM_NONE, /* not said */
	PE_F64,
	PE_F32,
	PE_F16,  /* IEEE 754 binary16 */
	PE_BF16, /* the upper half of a binary32 */
	PE_I64,
	PE_I32,
};

size_t pe_elem_size(enum pe_elem elem);                     /* bytes: 8 4 2 2 8 4 */
const char *pe_elem_name(enum pe_elem elem);                /* "f64" ... */
bool pe_elem_is_integer(enum pe_elem elem);                 /* i64, i32 */
enum pe_elem pe_elem_find(const char *name, size_t length); /* PE_ELEM_NONE if there is none such */

/* The narrowest element that holds every value of both: f16 with bf16 gives f32. Whole numbers with
 * floats, and i64 with anything, give f64 where one is a float. */
enum pe_elem pe_elem_widest(enum pe_elem a, enum pe_elem b);

double pe_elem_largest(enum pe_elem elem); /* the largest finite value of a float type */
/* Index of the first infinity among n values of a float type; n where there is none. */
size_t pe_elem_infinity(enum pe_elem elem, const void *values, size_t n);

double pe_f16_value(uint16_t bits);
double pe_bf16_value(uint16_t bits);
uint16_t
pe_f16_round(double x); /* to nearest, ties to even, once from the double; overflow gives inf */
uint16_t pe_bf16_round(double x);

/* The double rounded to elem (a float type) and widened again; what `--round E` means. */
double pe_elem_round(enum pe_elem elem, double x);

/* Converts n values. Stops at the first one that elem `to` cannot hold (a finite value that
 * would overflow, a fraction, nan or inf where an integer is due) and returns how many were
 * converted: n means all. Rounding to a narrower float is to nearest even, once. Integers beyond
 * 2^53 rounded by a float type are no loss that is refused. */
size_t pe_elem_convert(enum pe_elem to, void *dst, enum pe_elem from, const void *src, size_t n);

#endif
