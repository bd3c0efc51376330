/* relattn_inputs - what relattn reads: rows of Q, K and V and side tables, and their shapes.
 *
 * Rows stream through lanes: a lane belongs to one of Q, K, V and multiplies its rows by the
 * projections asked for. Whatever does not fit together is said, and the command ended, before
 * anything is written. */
#ifndef RELATTN_INPUTS_H
#define RELATTN_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"
#include "matrix.h"
#include "project.h"
#include "relattn_memory.h"
#include "relattn_options.h"
#include "stream.h"

/* One of the inputs that rows come from. */
struct input {
	struct pe_reader *reader; /* NULL: nothing reads it */
	const char *name;
	size_t cols;
	enum pe_elem elem;
};

/* A side table: f64, no data where its option is absent. */
struct table {
	struct pe_matrix values;
	struct pe_quoted name;
};

enum { LANE_STEPS = 2 };

/* Rows of one role on their way in. */
struct lane {
	const struct input *input;
	struct table *steps[LANE_STEPS]; /* what they are multiplied by; values go to projects */
	struct pe_project projects[LANE_STEPS];
	size_t count;     /* of steps */
	size_t cols;      /* of a row afterwards */
	const char *name; /* what gives it that width: the last step, else the input */
	struct pe_matrix scratch[LANE_STEPS];
};

struct inputs {
	struct budget budget;
	struct input rows[ROLES];
	struct lane lanes[ROLES]; /* input NULL where the role is not read */
	struct table projection[ROLES], bilinear, wo;
	struct table t5, rel_bias, slopes, shaw_k, shaw_v, huang, pos, pos_wq, pos_wk, terms;
	struct pe_reader *bias; /* NULL: none */
	enum pe_elem elem;      /* of the arithmetic: PE_F64 or PE_F32 */
	enum pe_elem natural;   /* the widest of all inputs; NONE: there is none */
	bool wide;              /* one of them holds more than an f32 */
	size_t head_dim;        /* 0: no queries are read */
	size_t value_dim;       /* 0: no values are read */
};

/* Opens rows, reads side tables, checks shapes, settles the arithmetic, prepares the lanes. */
void inputs_open(struct inputs *in, struct cli *cli, const struct options *o);
void inputs_free(struct inputs *in);

/* Opens --bias, whose rows are as wide as there are keys. */
void inputs_open_bias(struct inputs *in, struct cli *cli, const struct options *o, size_t keys);

/* Rows of an input that a block holds. */
size_t input_block(const struct input *input);

/* True where rows pass the lane as they are. */
bool lane_is_straight(const struct lane *l, const struct inputs *in);

/* n rows as the input holds them, the first of them its row `first`, through the lane into
 * `out`, n x cols of in->elem. */
void lane_rows(struct lane *l, const struct inputs *in, const void *raw, size_t n, uint64_t first,
	       void *out);

/* Begins the store of each lane that the input fills: with room for all rows, where their number
 * is known. */
void inputs_make_room(struct inputs *in, const struct input *input, struct store stores[ROLES]);

/* Reads the input to its end through these lanes into their stores. */
void inputs_read(struct inputs *in, const struct input *input, struct store stores[ROLES]);

#endif
