/* config - what a model's own config.json says about its rotary embedding.
 *
 * Reads the layouts in use: rope_theta beside a rope_scaling object whose kind is called type or
 * rope_type (Llama, Qwen, Phi-3, DeepSeek), a rope_parameters object that holds all of it, the
 * same per layer kind (Gemma 3 and 4, ModernBERT), rotary_emb_base and rotary_pct (GPT-NeoX),
 * rotary_dim (GPT-J); a text_config object goes first (multimodal models). */
#ifndef PE_CONFIG_H
#define PE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "scaling.h"

enum { PE_CONFIG_SHORT, PE_CONFIG_LONG, PE_CONFIG_LISTS };

struct pe_config {
	char *name;        /* of the file, escaped, for messages */
	double base;       /* 10000 where the file names none */
	size_t head_dim;   /* 0: not told */
	size_t rotary_dim; /* 0: by the share */
	double share;      /* of a head's columns that rotate, > 0, at most 1 */
	/* Gemma 4: F is the head size, and pairs reach over half of it, not over half the
	 * rotated part */
	bool proportional;
	struct pe_scaling scaling; /* divisors stays NULL: the caller picks a list */
	struct {                   /* longrope's lists */
		double *divisors;
		size_t count;
		double attention; /* attention factor beside this list (Phi-3.5-MoE); 0: none */
	} lists[PE_CONFIG_LISTS];
	size_t *sections; /* M-RoPE: pairs of each position column */
	size_t section_count;
	/* sections take turns pair by pair (Qwen 3 VL) instead of following each other */
	bool alternating;
};

/* Reads the file. layer_kind names one of several sets of parameters ("full_attention"), NULL
 * where there is one. A file that has several and no name for one, or a name that it does not
 * have, is PE_FAULT_ARGUMENT with the names in the text; all else that is wrong is
 * PE_FAULT_DATA, "FILE: key: what". The scaling is not yet checked: that needs the frequencies. */
int pe_config_read(struct pe_config *c, const char *path, const char *layer_kind,
		   struct pe_error *e);
void pe_config_free(struct pe_config *c); /* may be called on a zeroed struct */

/* Columns of a head of that size that rotate: rotary_dim, or the share rounded down. */
size_t pe_config_rotary_dim(const struct pe_config *c, size_t head_dim);

#endif
