/* cat - what pe-cat does with a matrix: rows through a gather of columns, or the whole of it. */
#ifndef CAT_H
#define CAT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"
#include "picture.h"
#include "stack.h"

enum cat_skew { SKEW_NONE, SKEW_FULL, SKEW_CAUSAL };

struct cat_opts {
	struct pe_slice rows, cols;
	bool transpose;
	bool pairs, to_halves, along_rows; /* --pairs, --along */
	size_t heads;                      /* -H, 1 where not given */
	enum cat_skew skew;
	bool ranged;               /* --range: picture.low, picture.high */
	struct pe_picture picture; /* colour, zoom */
	const char *name;          /* --name, NULL: not given */
};

/* Reads the operands (or standard input), applies rows, columns, pairs, skew and transpose, in
 * this order, and writes what -t asks for. Faults end the program. */
void cat_matrix(struct cli *cli, const struct cat_opts *o);

/* --list: a line for each tensor of a checkpoint: name, type, shape, elements, with tabs between. */
void cat_list(struct cli *cli, const char *path);

#endif
