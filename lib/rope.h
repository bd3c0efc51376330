/* rope - rotary position embedding: pairs of a row's columns turn by position times frequency.
 *
 * A row holds heads of head_dim columns, head h from column h * head_dim on. Of each head the
 * first rotary_dim columns form pairs (a, b); at position t pair i becomes, with angle = t *
 * omega_i and gain g,
 *     a' = g (a cos angle - b sin angle),  b' = g (b cos angle + a sin angle)
 * so the product of a rotated query and a rotated key knows the offset only (Su et al. 2021,
 * section 3.2.2). With xPos g is the gain times the pair's factor at t (xpos.h), and that still
 * holds of a query's row and a key's.
 *
 * Cosine and sine are those of turn: the real formula rounded once. Rotation is double
 * arithmetic, also for f32 rows, which are rounded once more at the end: |error| <= 5 * 2^-53 *
 * g * hypot(a, b), plus half an ulp for f32. Results depend on the row and its position alone,
 * never on how rows were split into calls. With xPos the caller keeps positions within
 * pe_xpos_reaches, where values may not overflow. */
#ifndef PE_ROPE_H
#define PE_ROPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"
#include "freq.h"
#include "scaling.h"
#include "xpos.h"

enum pe_pairing {
	PE_PAIR_INTERLEAVED, /* (2i, 2i + 1): Su et al., Meta's Llama, GPT-J */
	PE_PAIR_HALVES,      /* (i, i + reach): GPT-NeoX, Hugging Face */
};

struct pe_rope_spec {
	size_t head_dim;
	size_t rotary_dim; /* even, 2 .. head_dim */
	/* halves: from a pair's first column to its second; 0: rotary_dim / 2. Gemma 4 pairs
	 * over head_dim / 2 */
	size_t reach;
	enum pe_pairing pairing;
	struct pe_freq freq; /* pairs = rotary_dim / 2; half = F/2 */
	struct pe_scaling scaling;
	enum pe_elem angle; /* round angles to this element first; PE_ELEM_NONE: exact */
	bool inverse; /* turn the other way and divide by the attention factor and by xPos's */
	struct pe_xpos_spec xpos; /* role NONE: plain rotation; pairs is set by init */
	/* position columns, 1 .. 255: M-RoPE (Wang et al. 2024, section 2.1) gives time, height,
	 * width */
	size_t axes;
	const unsigned char *axis; /* which of them pair i takes; may be NULL where axes is 1 */
};

struct pe_rope; /* opaque plan: read-only after init, may be shared by threads */

/* PE_FAULT_ARGUMENT where frequencies and scaling do not go together, or xPos has no such base.
 * Keeps no pointer of the spec. */
int pe_rope_init(struct pe_rope **plan, const struct pe_rope_spec *spec, struct pe_error *e);
void pe_rope_free(struct pe_rope *plan); /* NULL is allowed */
size_t pe_rope_pairs(const struct pe_rope *plan);

/* Doubles of scratch space that a rotation needs: one piece for each thread. */
size_t pe_rope_scratch(const struct pe_rope *plan);

/* Rotates rows of heads * head_dim columns in place; elem is f64 or f32. Row r stands at
 * position first + r, in every axis; positions lie within +-2^53 (checked by the caller). */
void pe_rope_rotate(const struct pe_rope *plan, int64_t first, size_t rows, size_t heads,
		    enum pe_elem elem, void *data, double *scratch);
/* Row r stands at positions[r * axes ..], finite and within +-2^53, fractions too. */
void pe_rope_rotate_at(const struct pe_rope *plan, const double *positions, size_t rows,
		       size_t heads, enum pe_elem elem, void *data, double *scratch);

/* The tables, each value rounded once to elem (f64, f32, f16, bf16): pairs columns of cosines,
 * then pairs columns of sines, or one of the two. */
enum { PE_ROPE_COSINES = 1, PE_ROPE_SINES = 2 };
void pe_rope_table(const struct pe_rope *plan, unsigned what, int64_t first, size_t rows,
		   enum pe_elem elem, void *out);
void pe_rope_table_at(const struct pe_rope *plan, unsigned what, const double *positions,
		      size_t rows, enum pe_elem elem, void *out);

/* What the plan works with, each value rounded once to elem: pairs frequencies, pairs
 * wavelengths 2 pi / omega, and one base (ntk and dynamic change it). */
void pe_rope_omegas(const struct pe_rope *plan, enum pe_elem elem, void *out);
void pe_rope_wavelengths(const struct pe_rope *plan, enum pe_elem elem, void *out);
void pe_rope_base(const struct pe_rope *plan, enum pe_elem elem, void *out);
/* The attention factor, rounded to f64; with inverse it divides. */
double pe_rope_gain(const struct pe_rope *plan);

#endif
