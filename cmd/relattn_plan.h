/* relattn_plan - where the position schemes meet attention: what each adds, in the form that
 * attend takes.
 *
 * T5, ALiBi and --rel-bias become one vector by offset, --shaw-k, --shaw-v and --huang vectors
 * that meet the query and the weights, --rope turns rows, --pos appends columns to q and k. */
#ifndef RELATTN_PLAN_H
#define RELATTN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attend.h"
#include "matrix.h"
#include "relattn_inputs.h"
#include "relattn_options.h"
#include "relvec.h"
#include "rope.h"
#include "t5.h"
#include "untied.h"

/* Bias by offset of all heads, for the query positions under way and some to come. */
struct offset_window {
	struct pe_matrix values, apart; /* heads x offsets */
	int64_t first;                  /* offset of column 0 */
	int64_t position;               /* the first query position that it was made for */
	bool made;
};

struct plan {
	const struct options *o;
	enum pe_elem elem;
	size_t keys;
	size_t content;  /* columns of a head's query that take part, 0: none */
	size_t dim;      /* with untied positions appended */
	int64_t start;   /* position of the first query */
	struct pe_t5 t5; /* num_buckets 0: none */
	struct pe_relvec rel_bias;
	struct pe_matrix slopes;      /* f64, one for each head; no data: none */
	struct rope_setup turn;       /* what --rope says, */
	struct pe_rope_spec rotation; /* of a head's columns, */
	struct pe_rope *rope[2]; /* and the plans by role, one where both turn alike; NULL: none */
	struct pe_matrix rope_scratch;
	struct pe_untied untied; /* width 0: none */
	struct pe_matrix relative_vectors[2], value_vectors;
	struct pe_attend_relative relatives[2], relative_value;
	size_t relative_count;
	struct pe_matrix key, value; /* as attend borrows them */
	struct pe_attend *attend;
	enum pe_attend_matrix matrix; /* which one --emit asks for, where it does */
	struct offset_window window;
};

/* The schemes, from their tables alone: called before rows are read. */
void plan_schemes(struct plan *p, struct inputs *in, struct cli *cli, const struct options *o);

/* What needs the rows: takes the stores of keys and values over, turns keys, appends positions.
 * start is the position of the first query. */
void plan_attention(struct plan *p, struct inputs *in, struct store *key, struct store *value,
		    size_t keys, int64_t start);
void plan_free(struct plan *p);

/* Turns content rows of that role, queries or keys, in place, the first of them at that
 * position; heads side by side. */
void plan_turn(const struct plan *p, enum role role, void *rows, size_t n, size_t heads,
	       int64_t position);

/* n queries with their positions' features: content (n x heads * content columns, may be NULL
 * where that is 0) into `out`, n x heads * dim. Positions outside the table end the command. */
void plan_assemble(const struct plan *p, const struct inputs *in, const void *content, size_t n,
		   int64_t position, void *out);

/* How many of n rows from that position on may share a call. */
size_t plan_cut(const struct plan *p, int64_t position, size_t n);

/* A call for n rows at that position, offsets filled in. */
struct pe_attend_rows plan_call(struct plan *p, struct inputs *in, const void *query, size_t n,
				int64_t position);

#endif
