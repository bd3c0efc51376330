/* table_options - what a pe-table command line says. */
#ifndef TABLE_OPTIONS_H
#define TABLE_OPTIONS_H

#include "cli.h"
#include "cli_convention.h"
#include "learned.h"
#include "positions.h"

enum {
	KEY_STEP = CLI_KEY,
	KEY_POSITIONS,
	KEY_GRID,
	KEY_LEARNED,
	KEY_ROW_OFFSET,
	KEY_STRETCH,
	KEY_ALIGN,
	KEY_ADD,
	KEY_EMBED_SCALE,
	KEY_FREQS,
	KEY_ZERO_ROW,
	KEY_CLS,
};

struct table_options {
	bool given[CLI_CONVENTION_END]; /* by key */
	struct cli_convention words;
	struct pe_convention convention;
	uint64_t count; /* -n; PE_ENDLESS where it is not given */
	int64_t start, step;
	int64_t row_offset, zero_row;
	size_t height, width; /* --grid */
	size_t stretch;
	enum pe_align align;
	bool embed_root;    /* --embed-scale sqrt */
	double embed_scale; /* any other */
	const char *positions, *learned, *input;
};

extern const struct cli_command table_command;

/* Reads the line; what cannot be meant is refused here, before anything is opened. */
struct table_options table_options(struct cli *cli);

#endif
