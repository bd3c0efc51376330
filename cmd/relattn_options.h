/* relattn_options - the command line of relattn as one plain struct, checked for what goes
 * together. */
#ifndef RELATTN_OPTIONS_H
#define RELATTN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"
#include "rope_options.h"

/* What is written. */
enum emit {
	EMIT_OUTPUT,  /* TQ rows of heads * d_v */
	EMIT_WEIGHTS, /* the three matrices: heads * TQ rows of TK, head 0 first */
	EMIT_LOGITS,
	EMIT_BIAS, /* logits less scale * q . k */
	EMIT_LSE,  /* TQ rows of heads */
	EMIT_TERMS /* four matrices of logits, instead of attention */
};

/* The three kinds of rows. */
enum role { ROLE_QUERY, ROLE_KEY, ROLE_VALUE, ROLES };

/* Where the rows come from: distinct inputs, and for each role which of them fills it. */
struct sources {
	const char *path[ROLES]; /* NULL or "-": standard input */
	size_t count;
	size_t of[ROLES];
	bool needed[ROLES]; /* what is to be written reads it */
};

struct options {
	struct sources sources;
	const char *projection[ROLES]; /* --wq --wk --wv */
	const char *wo, *bilinear;
	const char *t5, *rel_bias, *alibi_slopes, *shaw_k, *shaw_v, *huang, *bias;
	const char *pos, *pos_wq, *pos_wk;
	const char *terms;
	size_t heads, kv_heads;
	size_t value_width; /* --dv; 0: as the keys' */
	size_t window;      /* 0: none */
	size_t rows, cols;  /* -n; 0: not given */
	size_t jobs;        /* 0: all cores */
	size_t max_memory;  /* bytes; 0: no limit */
	int64_t query_start;
	int64_t max_distance;
	double scale, bias_scale, max_bias;
	enum emit emit;
	enum pe_elem compute; /* PE_ELEM_NONE: by the inputs */
	bool causal, alibi, rope, cls, scaled, starts_at_end, t5_past;
	struct rope_options turn; /* what --rope turns by */
};

/* Parses, refuses what does not go together, and resolves who fills which role. */
struct options parse_options(struct cli *cli, int argc, char **argv);

#endif
