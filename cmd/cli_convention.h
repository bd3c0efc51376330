/* cli_convention - the option group that says which convention a table of sinusoids follows.
 *
 * A command puts CLI_CONVENTION_OPTIONS into its option table and hands every key it does not
 * know to cli_convention_option. A preset lays its values below those of the line, wherever it
 * stands. */
#ifndef CLI_CONVENTION_H
#define CLI_CONVENTION_H

#include "cli.h"
#include "convention.h"

/* Keys of the group; a command's own begin at CLI_CONVENTION_END. */
enum {
	CLI_LAYOUT = CLI_KEY + 64,
	CLI_FLIP,
	CLI_NO_FLIP,
	CLI_FREQ_SHIFT,
	CLI_POS_SCALE,
	CLI_PRESET,
	CLI_ODD,
	CLI_ROUND,
	CLI_GRID_ORDER,
	CLI_GRID_START,
	CLI_GRID_NORMALIZE,
	CLI_NO_GRID_NORMALIZE,
	CLI_CONVENTION_END,
};

#define CLI_PRESETS \
	"paper|t2t|fairseq|ddpm|guided-diffusion|diffusers|gpt-j|x-transformers|mae|detr"

/* What says where a sinusoid stands and how fast it turns. */
#define CLI_CONVENTION_OPTIONS                                                                     \
	{'b', "--base", "BASE", "base of the frequencies (10000)"},                                \
	    {CLI_LAYOUT, "--layout", "interleaved|halves",                                         \
	     "s,c,s,c... or all sines, then all cosines; adjacent is interleaved"},                \
	    {CLI_FLIP, "--flip", NULL, "cosine first"},                                            \
	    {CLI_NO_FLIP, "--no-flip", NULL, "sine first, whatever the preset"},                   \
	    {CLI_FREQ_SHIFT, "--freq-shift", "S", "frequencies base^(-i/(d/2 - S)) (0)"},          \
	    {CLI_POS_SCALE, "--pos-scale", "S", "multiply positions by S (1)"},                    \
	{                                                                                          \
		CLI_PRESET, "--preset", CLI_PRESETS, "the options of a code base; others override" \
	}
#define CLI_GAIN_OPTION                                              \
	{                                                            \
		'g', "--gain", "GAIN", "multiply values by GAIN (1)" \
	}

/* What was given, the last word of each; zero at first. */
struct cli_convention {
	struct cli_convention_word {
		int key; /* 0: not given */
		const char *arg;
	} words[CLI_CONVENTION_END - CLI_LAYOUT + 2];
};

/* True where the key is of the group ('b', 'g', CLI_LAYOUT ...), and then it is taken in. */
bool cli_convention_option(struct cli_convention *c, int key, const char *arg);

/* The preset with everything that was given laid over it. */
struct pe_convention cli_convention_finish(const struct cli_convention *c);

/* The header line for a table's columns, "s0,c0,..."; of a grid, those of both coordinates. NULL
 * without --header-out. */
const char *const *cli_convention_names(struct cli *cli, const struct pe_convention *c, size_t dim,
					bool grid);

/* "freq:E,angle:E", either or both, into the elements; NONE where it is not named. */
void cli_round(int key, const char *arg, enum pe_elem *freq, enum pe_elem *angle);

#endif
