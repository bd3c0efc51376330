/* sinusoid - rows of the sinusoidal position table, along a line and on a grid.
 *
 * Every value is the real formula's (convention.h) rounded once to the element of the rows. Any
 * split of the rows into calls gives the same bytes. Memory is the plan, O(dim). */
#ifndef PE_SINUSOID_H
#define PE_SINUSOID_H

#include <stddef.h>
#include <stdint.h>

#include "convention.h"
#include "elem.h"
#include "error.h"
#include "positions.h"

struct pe_sinusoid; /* opaque plan: read-only after init */

/* A table of dim columns, dim >= 1. PE_FAULT_ARGUMENT where the convention and dim do not go
 * together. */
int pe_sinusoid_init(struct pe_sinusoid **s, const struct pe_convention *c, size_t dim,
		     struct pe_error *e);
void pe_sinusoid_free(struct pe_sinusoid *s);

/* Rows from .. from + n - 1 of the table whose rows stand at those positions; from + n must not
 * exceed pe_positions_rows. elem is f64, f32, f16 or bf16; out has n rows of dim elements. */
void pe_sinusoid_rows(const struct pe_sinusoid *s, const struct pe_positions *at, uint64_t from,
		      size_t n, enum pe_elem elem, void *out);

/* A grid of height x width cells, one row of dim columns each, cell (y, x) in row y * width + x.
 * One half of the columns is the table of y, the other that of x, each dim / 2 wide (He et al.
 * 2022, Carion et al. 2020). */
struct pe_grid;

/* dim must be even; coordinates must stay within +-2^53, and end above 0 where they are normalised. */
int pe_grid_init(struct pe_grid **g, const struct pe_convention *c, size_t height, size_t width,
		 size_t dim, struct pe_error *e);
void pe_grid_free(struct pe_grid *g);

/* Cells from .. from + n - 1, from + n <= height * width. */
void pe_grid_rows(const struct pe_grid *g, uint64_t from, size_t n, enum pe_elem elem, void *out);

/* Frequencies from .. from + n - 1: rows of three doubles, the pair's index, omega, and the
 * wavelength 2 pi / omega in positions. Each is rounded once: to nearest, or, where `odd`, to
 * odd, so that narrowing it is the only rounding (Boldo and Melquiond 2008). */
void pe_sinusoid_freqs(const struct pe_freq *f, size_t from, size_t n, bool odd, double *out);

#endif
