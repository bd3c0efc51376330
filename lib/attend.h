/* attend - softmax attention of streamed query rows over keys and values that are held whole.
 *
 *     out_m = sum_n w_mn v_n,   w_m = softmax_n(scale * q_m . k_n + terms)          (Vaswani et al. 2017, 3.2.1)
 *
 * It knows no position scheme. What a scheme adds to the logit of query position m and key
 * position n comes as
 *   - a vector by offset n - m for each head (T5, ALiBi, clipped scalars),
 *   - vectors a by offset that meet the query: scale * q_m . a_(n-m) (Shaw et al. 2018; Huang et al. 2018),
 *   - rows of a matrix, one for each query row (any bias, masks of -inf);
 * and to the output, sum_n w_mn b_(n-m) for vectors b by offset (Shaw et al. 2018, equation 3).
 * A second product, as of untied positions (Ke et al. 2021), is more columns of q and k.
 *
 * Key n has position n = 0 .. keys - 1; query rows have any positions, negative ones too. No T x
 * T matrix ever exists: a call takes memory for one tile of query rows a thread
 * (pe_attend_memory), never for a row of logits.
 *
 * Same bytes: a row's result depends on the row, its position, its terms, the keys and the
 * values alone; not on the threads, nor on which rows share a call. It may depend on the
 * instruction set of the machine.
 *
 * Arithmetic is that of the element; u = 2^-24 (f32) or 2^-53 (f64). Products are summed in
 * chains of fused steps (unfused on x86-64 without FMA): 8 columns of a dot product and 16
 * weighted values where there are 32 vector registers (AVX-512, NEON), else 16 and 32. Chains are
 * summed in turn, those of each half of the columns and of each block of 128 keys by themselves,
 * then four blocks by themselves. Terms are added one by one to the second half of the dot product,
 * and exponentials take both halves as they are: no rounded logit stands between. e^x is within
 * 2u; sums are rescaled by powers of two alone. So a logit s is off by less than a few u |s|, and
 * that is what an output is off by, relative to the largest of its row. Measured against the
 * exact output, 10^5 rows over 64 to 4096 keys, d = 64, f32 with 32 registers: data uniform in +-1
 * 1e-7 on average, 3e-7 at worst; normal data of deviation 1, where logits pass 5, 1.6e-7, 7e-7 at
 * worst. With 16 registers a quarter more, unfused a third more. f64: 2^-29 of that. Weights below
 * 2^-126 (f32), 2^-1022 (f64) of their row's largest are 0.
 *
 * IEEE: nan passes; a q.k beyond the range is +-inf; a softmax over +inf is nan; a key at -inf
 * adds nothing, even where its value is nan; a query without a key at more than -inf gives
 * zeros, weights 0 and lse -inf. */
#ifndef PE_ATTEND_H
#define PE_ATTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"

/* Vectors by offset: vector r belongs to offset first + r. */
struct pe_attend_relative {
	const void
	    *vectors;  /* count x width: width of one head, or all query heads' side by side */
	size_t count;  /* at least 1 */
	int64_t first; /* within +-2^53 */
	bool per_head; /* all heads' side by side, not shared by them */
	bool clip;     /* offsets beyond take the nearest end's vector; else they get none */
};

/* What stays the same for all query rows. The arrays are borrowed until pe_attend_free, row
 * after row of `elem`. */
struct pe_attend_spec {
	enum pe_elem elem;      /* PE_F32 or PE_F64: of every array here and of the arithmetic */
	size_t heads, kv_heads; /* query head h reads kv head floor(h * kv_heads / heads) */
	size_t dim, value_dim;  /* width of a head of query and key, of value: d_head, d_v */
	size_t keys;            /* may be 0 */
	const void *key;        /* keys x kv_heads * dim; NULL: only PE_ATTEND_BIAS is asked */
	const void *value;      /* keys x kv_heads * value_dim; NULL: no output is asked */
	bool by_heads;          /* both went through pe_attend_by_heads */
	double scale;           /* multiplies q.k and q.a */
	bool causal;            /* only keys n <= m */
	int64_t window;         /* only keys |n - m| < window; 0: all */
	const struct pe_attend_relative
	    *relative;    /* dim wide, they meet the query; all are added */
	size_t relatives; /* how many, at most PE_ATTEND_RELATIVES */
	const struct pe_attend_relative *relative_value; /* value_dim wide; NULL: none */
	size_t threads;                                  /* at most; 0: one for each core */
};

#define PE_ATTEND_RELATIVES 4

/* Rows of `heads` parts side by side, each `width` wide, are laid out anew, in place: in every 128
 * rows, those of the first head, then those of the second. So keys and values of many heads are
 * met where they lie together, which is faster by a few of a hundred; the results are the same
 * bytes. Fails only for want of memory for 128 rows. */
int pe_attend_by_heads(enum pe_elem elem, void *data, size_t rows, size_t heads, size_t width,
		       struct pe_error *e);

struct pe_attend; /* opaque; read-only after init */

/* Copies the spec, not the arrays. Refuses (PE_FAULT_ARGUMENT) an element, a width or a count
 * that cannot be. */
int pe_attend_init(struct pe_attend **plan, const struct pe_attend_spec *spec, struct pe_error *e);
void pe_attend_free(struct pe_attend *plan); /* NULL is allowed */

/* Bias by offset: values[h * count + i] belongs to query head h and offset first + i. */
struct pe_attend_offsets {
	const void *values; /* heads x count, NULL: none */
	int64_t first;
	/* must reach all offsets n - m of the call's rows and all keys, masked ones too */
	size_t count;
};

/* A call's query rows; row r has position `position + r` (within +-2^53). */
struct pe_attend_rows {
	/* rows x heads * dim; NULL for PE_ATTEND_BIAS without relative vectors */
	const void *query;
	size_t rows;
	int64_t position;
	/* the query heads that are asked for: head .. head + heads - 1; 0, 0: all */
	size_t head, heads;
	struct pe_attend_offsets offsets;
	/* taken instead where the query or the key has position 0: a [CLS] token */
	struct pe_attend_offsets apart;
	/* rows x keys, NULL: none; heads asked for x rows x keys where bias_per_head */
	const void *bias;
	bool bias_per_head;
};

/* Output and log-sum-exp. out: rows x spec.heads * value_dim, lse: rows x spec.heads, either may
 * be NULL. Of heads that are not asked for nothing is written. Fails only for want of memory. */
int pe_attend_output(const struct pe_attend *plan, const struct pe_attend_rows *rows, void *out,
		     void *lse, struct pe_error *e);

enum pe_attend_matrix {
	PE_ATTEND_WEIGHTS, /* softmaxed; 0 where masked */
	PE_ATTEND_LOGITS,  /* all terms, -inf where masked */
	PE_ATTEND_BIAS,    /* the logits less scale * q.k */
};

/* The matrix of one head (rows->head; rows->heads is not read, a per-head bias is that head's):
 * out is rows x keys. */
int pe_attend_matrix(const struct pe_attend *plan, const struct pe_attend_rows *rows,
		     enum pe_attend_matrix kind, void *out, struct pe_error *e);

/* Query rows in a call that keep all threads busy at full speed; fewer and more work too. */
size_t pe_attend_batch(const struct pe_attend *plan);

/* Bytes that a call takes at most, beside the caller's arrays. */
size_t pe_attend_memory(const struct pe_attend_spec *spec);

#endif
