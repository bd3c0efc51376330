/* attend_kernel - what attend's plan and its kernels share; no other room includes it.
 *
 * A kernel does one task: a tile of query rows of one head. Its text is attend_kernel.inc.h,
 * compiled by a small translation unit for each element and instruction set. Keys are met in
 * blocks of PE_ATTEND_BLOCK at fixed multiples, whatever the tile, which is why a row's bytes do
 * not depend on its neighbours. */
#ifndef PE_ATTEND_KERNEL_H
#define PE_ATTEND_KERNEL_H

#include "attend.h"

#define PE_ATTEND_BLOCK ((size_t)128) /* keys; weighted values are summed by blocks */
#define PE_ATTEND_ROWS ((size_t)6)    /* query rows of a register tile */

/* Where the parts of a thread's scratch memory begin, in bytes, and the widths of their rows, in
 * elements. */
struct pe_attend_layout {
	size_t query;     /* the tile's rows, scaled, six interleaved */
	size_t logits;    /* of six rows and a block of keys: part of the logits */
	size_t more;      /* likewise: the logits' other part, to be added to it */
	size_t weights;   /* likewise */
	size_t sums;      /* tile x value_width: weighted values lately */
	size_t totals;    /* tile x value_width: the earlier ones */
	size_t states;    /* tile: maximum and sum of each row */
	size_t panels[2]; /* dim x PE_ATTEND_BLOCK: blocks of keys, transposed, in turn */
	size_t values[2]; /* PE_ATTEND_BLOCK x value_width: their values made contiguous */
	size_t alive;     /* of six rows and a block of keys, bool: not at -inf */
	size_t rings
	    [PE_ATTEND_RELATIVES]; /* tile x ring_width: q.a of the panels of vectors near the block */
	size_t ring_width[PE_ATTEND_RELATIVES];
	size_t buckets; /* tile x bucket_width: weights by vector of relative_value */
	size_t bucket_width;
	size_t value_width; /* value_dim, rounded up to whole vectors */
	size_t bytes;
};

struct pe_attend {
	struct pe_attend_spec spec;
	struct pe_attend_relative relative[PE_ATTEND_RELATIVES], relative_value;
	const struct pe_attend_kernel *kernel;
	size_t tile; /* query rows of a task at most, a multiple of PE_ATTEND_ROWS */
	struct pe_attend_layout layout;
};

/* False where the values' rows are whole vectors side by side. */
static inline bool
pe_attend_copies_values(const struct pe_attend *p)
{
	return p->spec.value_dim != p->layout.value_width ||
	       (p->spec.kv_heads > 1 && !p->spec.by_heads);
}

/* A tile: rows row .. row + count - 1 of a call, one query head. */
struct pe_attend_task {
	const struct pe_attend *plan;
	const struct pe_attend_rows *rows;
	size_t head;
	const void *bias; /* of this head, the call's first row; NULL: none */
	size_t row, count;
};

struct pe_attend_kernel {
	size_t lanes; /* elements of a vector */
	size_t panel; /* keys of a register tile */
	/* scratch: plan->layout.bytes, aligned to 64. Outputs as in attend.h, from the call's
	 * first row on. */
	void (*output)(const struct pe_attend_task *task, void *scratch, void *out, void *lse);
	void (*matrix)(const struct pe_attend_task *task, enum pe_attend_matrix kind, void *scratch,
		       void *out);
};

extern const struct pe_attend_kernel pe_attend_kernel_f32, pe_attend_kernel_f64;
#if defined(__x86_64__)
/* AVX2 and FMA; AVX-512 F, BW, DQ, VL */
extern const struct pe_attend_kernel pe_attend_kernel_f32_v3, pe_attend_kernel_f64_v3;
extern const struct pe_attend_kernel pe_attend_kernel_f32_v4, pe_attend_kernel_f64_v4;
#endif

/* The kernels of an element that this machine can run, the widest first; NULL beyond the last. */
const struct pe_attend_kernel *pe_attend_kernel_usable(enum pe_elem elem, size_t i);

/* Makes a fresh plan use another kernel: for tests. */
int pe_attend_use(struct pe_attend *plan, const struct pe_attend_kernel *kernel,
		  struct pe_error *e);

#endif
