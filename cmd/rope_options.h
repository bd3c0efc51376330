/* rope_options - the option group that says which rotary embedding: base, pairs, sizes, scaling,
 * a model's config.json.
 *
 * A command hands the option's value in under the group's own numbers below, whatever it calls
 * the option, and says how it spells it through struct rope_keys: pe-rope has --scaling where
 * relattn has --rope-scaling. */
#ifndef ROPE_OPTIONS_H
#define ROPE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"
#include "config.h"
#include "matrix.h"
#include "rope.h"

#define ROPE_PAIRS "interleaved|halves|adjacent"
#define ROPE_SCALING "KIND:KEY=V,..."

/* The keys of the command's own option table. */
struct rope_keys {
	int base, pairs, rotary_dim, freq_dim, scaling, config, layer_kind, xpos_base;
};

/* As given; zero at first, but for keys. */
struct rope_options {
	const struct rope_keys *keys;
	double base;                  /* 0: not given */
	size_t rotary_dim, freq_dim;  /* 0: not given */
	const char *scaling, *config; /* NULL: not given */
	const char *layer_kind;
	enum pe_pairing pairing;
	enum pe_xpos_role xpos; /* the command's to set, as is the centre */
	double xpos_base;       /* 0: not given */
	int64_t xpos_centre;
};

/* True where the key is one of the group's, and then it is taken in. */
bool rope_option(struct rope_options *o, int key, const char *arg);

/* What the options and the files they name say; zero at first. */
struct rope_setup {
	const struct rope_options *options;
	struct pe_config config; /* name NULL: there is none */
	struct pe_scaling scaling;
	struct pe_matrix factors;         /* longrope's file */
	struct pe_reader_spec factors_in; /* how it is read, once its width is known */
	char *factors_path, *list;        /* longrope's, as given on the line */
	int list_in_force;                /* PE_CONFIG_SHORT or PE_CONFIG_LONG */
	bool length_on_line;              /* the line's scaling has a length */
	const char *place;                /* begins the messages about scaling */
};

/* Reads config.json and takes the scaling apart; whatever is wrong ends the program. */
void rope_setup(struct rope_setup *s, struct cli *cli, const struct rope_options *o);
/* The head size that config.json tells, else 0. */
size_t rope_head_dim(const struct rope_setup *s);
/* The rotary embedding of heads of head_dim columns; place names what told that number, for a
 * message, and fault whose it is where it is odd. The spec points into s; the caller adds what
 * it knows of direction, axes and rounding. PE_FAULT_ARGUMENT where sizes do not go together. */
int rope_spec(struct rope_setup *s, const char *place, enum pe_fault fault, size_t head_dim,
	      struct pe_rope_spec *spec, struct pe_error *e);
void rope_setup_free(struct rope_setup *s);

#endif
