/* npyio - NumPy's array files, format versions 1.0 to 3.0 (NEP 1; numpy/lib/format.py).
 *
 * Reads f2 f4 f8 i4 i8 in either byte order, C and Fortran order. Rank 0 or 1 is one row;
 * leading dimensions of rank 3 and more are flattened into rows. The header is a Python dict
 * literal with exactly the keys descr, fortran_order and shape: nothing of it is evaluated. */
#ifndef PE_NPYIO_H
#define PE_NPYIO_H

#include <stdint.h>

#include "backend.h"

#define PE_NPY_MAGIC "\x93NUMPY"
#define PE_NPY_MAGIC_SIZE 6

extern const struct pe_backend pe_npy_backend;

/* The header of a 2-D array in this machine's byte order, always of this size, so that the row
 * count can be put in when it is known. */
#define PE_NPY_HEADER 128
/* f64 f32 f16 i64 i32: numpy has no bf16. */
bool pe_npy_has(enum pe_elem elem);
void pe_npy_header(char header[PE_NPY_HEADER], enum pe_elem elem, uint64_t rows, size_t cols);

#endif
