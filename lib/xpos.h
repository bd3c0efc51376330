/* xpos - the growth of xPos: what multiplies a rotated query or key by its position (Sun et al.
 * 2023, "A Length-Extrapolatable Transformer"; spacing and defaults as in its authors'
 * torchscale).
 *
 * Pair i of P takes, at position t, the factor zeta_i^((t - centre) / base) in a query and its
 * inverse in a key, with
 *     zeta_i = (2i/d + 0.4) / 1.4,  d = 2P, which is (5i + 2P) / (7P), from 2/7 up to below 1.
 * In the product of a query at m and a key at n the centre cancels: zeta_i^((m - n) / base)
 * stays, which fades with the distance to the past and grows without bound into the future. The
 * centre only decides how large the factors of the rows themselves get. */
#ifndef PE_XPOS_H
#define PE_XPOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpfr.h>

#include "elem.h"
#include "error.h"

enum pe_xpos_role {
	PE_XPOS_NONE, /* no factor */
	PE_XPOS_QUERY,
	PE_XPOS_KEY, /* the inverse of a query's */
};

struct pe_xpos_spec {
	enum pe_xpos_role role;
	size_t pairs;   /* P, 1 .. 2^40 */
	double base;    /* positions, finite and at least 1; the paper's code has 512 */
	int64_t centre; /* position whose factor is 1, within +-2^53 */
};

struct pe_xpos; /* opaque plan: read-only after init, may be shared by threads */

/* PE_FAULT_ARGUMENT where the base cannot be. */
int pe_xpos_init(struct pe_xpos **plan, const struct pe_xpos_spec *spec, struct pe_error *e);
void pe_xpos_free(struct pe_xpos *plan); /* NULL is allowed */

/* True where all factors at the position lie well within the range of elem (f64 or f32),
 * 2^+-1000 or 2^+-120: no farther from the centre than PE_XPOS_REACH_F64 or _F32 times the base. */
enum { PE_XPOS_REACH_F64 = 552, PE_XPOS_REACH_F32 = 66 };
bool pe_xpos_reaches(const struct pe_xpos_spec *spec, enum pe_elem elem, double position);

/* The factor of pair i at any position within +-2^53, relative error below 2^-p where p is the
 * precision of x. */
void pe_xpos_factor(const struct pe_xpos *plan, size_t i, double position, mpfr_ptr x);

/* The same as an unevaluated sum of two doubles, high part first: relative error below 2^-98.
 * False, and nothing is written, where it lies beyond 2^+-400. Quick at whole positions less
 * than 2^20 from the centre. */
bool pe_xpos_factor_wide(const struct pe_xpos *plan, size_t i, double position, double x[2]);

#endif
