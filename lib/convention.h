/* convention - how a code base writes the sinusoidal table: which column holds what, which
 * frequencies, what scales positions and values.
 *
 * The formula is one (Vaswani et al. 2017, section 3.5): pair i at position t is
 *     gain * sin(pos_scale * t * omega_i),  gain * cos(pos_scale * t * omega_i),  omega_i = base^(-i / D).
 * The paper interleaves the pairs; tensor2tensor, fairseq, DDPM and most later code put all
 * sines first and all cosines behind them. D is d/2 - freq_shift for interleaved columns and
 * floor(d/2) - freq_shift for halves. Everything that works on such rows (tables, shifts,
 * similarities) reads its columns here. */
#ifndef PE_CONVENTION_H
#define PE_CONVENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "error.h"
#include "freq.h"
#include "turn.h"

enum pe_layout {
	PE_LAYOUT_INTERLEAVED, /* s0 c0 s1 c1 ... */
	PE_LAYOUT_HALVES,      /* s0 s1 ... c0 c1 ... */
};

/* What an odd width does. */
enum pe_odd {
	PE_ODD_DEFAULT, /* drop for interleaved, zero for halves */
	PE_ODD_DROP,    /* the last pair has no second member; interleaved only */
	PE_ODD_ZERO,    /* floor(d/2) pairs and a column of zeros at the end */
	PE_ODD_ERROR,   /* refused */
};

/* Which coordinate of a grid's cell fills the first half of the columns. */
enum pe_grid_order {
	PE_GRID_HW, /* the row index */
	PE_GRID_WH, /* the column index */
};

struct pe_convention {
	double base;
	enum pe_layout layout;
	bool flip; /* cosine before sine */
	double freq_shift;
	double pos_scale;
	double gain;
	bool gain_root; /* values are divided by the square root of the width as well */
	enum pe_odd odd;
	enum pe_elem round_freq, round_angle; /* rounded to that element first; NONE: exact */
	/* tables of grids */
	enum pe_grid_order grid_order;
	int64_t grid_start;  /* coordinate of the first row and column */
	bool grid_normalize; /* coordinates c become c / (last + 1e-6) * 2 pi */
};

/* The paper's own; every preset starts from it. */
#define PE_CONVENTION_PAPER                              \
	{                                                \
		.base = 10000, .pos_scale = 1, .gain = 1 \
	}

/* Names of the presets, ended by NULL, and what one of them stands for; false if there is none
 * such. */
const char *const *pe_convention_presets(void);
bool pe_convention_preset(const char *name, struct pe_convention *c);

/* Where the values of a row stand. */
struct pe_columns {
	size_t dim;                   /* width of the row */
	size_t pairs;                 /* frequencies, the one without a second member included */
	struct pe_turn_layout layout; /* layout.row is dim */
	bool zero_column;             /* the last column holds zeros */
};

/* What one column holds. */
struct pe_column {
	enum pe_column_kind { PE_COLUMN_SINE, PE_COLUMN_COSINE, PE_COLUMN_ZERO } kind;
	size_t pair;
};
struct pe_column pe_convention_column(const struct pe_columns *columns, size_t column);

/* PE_FAULT_ARGUMENT where the width and the convention do not go together. dim >= 1. */
int pe_convention_columns(const struct pe_convention *c, size_t dim, struct pe_columns *columns,
			  struct pe_error *e);

/* The spacing rule for a row of those columns. */
struct pe_freq pe_convention_freq(const struct pe_convention *c, const struct pe_columns *columns);

/* The engine for those columns. Lives where it was initialised: the engine keeps its address. */
struct pe_convention_turn {
	struct pe_freq freq;
	double pos_scale, gain;
	size_t root; /* gain is divided by its square root; 0: is not */
	double last; /* positions are coordinates of an axis that ends here, normalised; 0: plain */
	struct pe_turn *turn; /* NULL where there is no pair */
};
int pe_convention_turn_init(struct pe_convention_turn *t, const struct pe_convention *c,
			    const struct pe_columns *columns, double last, struct pe_error *e);
void pe_convention_turn_free(struct pe_convention_turn *t);

/* Names of the columns: "s0", "c0", ..., "z" for the column of zeros. The k-th prefix stands
 * before the names of the k-th group of dim columns ("h", "w" for a grid, "" for a line). One
 * block of memory for free(); NULL: no memory. */
char **pe_convention_names(const struct pe_columns *columns, const char *const *prefixes,
			   size_t groups);

#endif
