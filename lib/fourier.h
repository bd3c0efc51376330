/* fourier - features of coordinates: sines and cosines of multiples of them.
 *
 * Bands (Mildenhall et al. 2020, section 5.1): x, then for k = 0 .. bands - 1 the sines of
 * omega_k x for all dims, then the cosines; omega_k = 2^k, or evenly spaced from 1 to 2^(bands -
 * 1); times pi where asked for. Matrix (Tancik et al. 2020, section 4): [sin 2 pi Bx | cos 2 pi
 * Bx], B of m rows and dims columns.
 *
 * Every feature is the real formula's value at the coordinates given, rounded once to the
 * element: products and sums of Bx are exact, and so are whole turns taken off. Coordinates are
 * any doubles; nan and inf (with log, what is not above 0 too) give nan. */
#ifndef PE_FOURIER_H
#define PE_FOURIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"

struct pe_bands_spec {
	size_t dims, bands; /* bands 1 .. PE_BANDS_MAX */
	bool input;         /* the coordinates themselves come first */
	bool linear, pi;
};

#define PE_BANDS_MAX 1000

struct pe_bands; /* opaque plan: read-only after init */

int pe_bands_init(struct pe_bands **plan, const struct pe_bands_spec *spec, struct pe_error *e);
void pe_bands_free(struct pe_bands *plan); /* NULL is allowed */
size_t pe_bands_width(const struct pe_bands *plan);
/* rows of dims coordinates at x; rows of pe_bands_width features of elem, a float type, at out.
 * Where elem cannot hold a coordinate that is passed on: PE_FAULT_DATA, "row R, column C: what:
 * 'number'", the block's first row being number first. */
int pe_bands_rows(const struct pe_bands *plan, uint64_t first, const double *x, size_t rows,
		  enum pe_elem elem, void *out, struct pe_error *e);

struct pe_fourier_spec {
	size_t dims, features; /* columns and rows of B */
	const double *matrix;  /* B; must outlive the plan */
	bool radians;          /* Bx as it is, not 2 pi Bx */
	bool log;              /* of ln x */
	bool cosine_first;
};

struct pe_fourier;

int pe_fourier_init(struct pe_fourier **plan, const struct pe_fourier_spec *spec,
		    struct pe_error *e);
void pe_fourier_free(struct pe_fourier *plan); /* NULL is allowed */
/* Rows of 2 * features; not by two threads at a time. */
void pe_fourier_rows(struct pe_fourier *plan, const double *x, size_t rows, enum pe_elem elem,
		     void *out);

#endif
