/* scaling - how RoPE's frequencies are changed so that a model reads beyond its trained length.
 *
 * With omega_i = b^(-2i/F), F the frequency dimension, f the factor, L0 the trained length:
 * linear    omega_i / f                                  (Chen et al. 2023, position interpolation)
 * ntk       b becomes b * alpha^(F/(F-2))                 (NTK-aware interpolation, bloc97 2023)
 * dynamic   the same with alpha = f L/L0 - (f - 1) where L > L0, else unchanged
 * yarn      omega_i (g_i / f + 1 - g_i), g_i a ramp from 0 to 1 between the pairs that turn beta_fast and beta_slow
 *           times within L0; values times 0.1 ln f + 1    (Peng et al. 2023, sections 3.2 and 3.4)
 * llama3    omega_i / f for wavelengths above L0/low, unchanged below L0/high, a blend between (Llama 3.1, model code)
 * longrope  omega_i / divisor_i; values times sqrt(1 + ln f / ln L0) (Ding et al. 2024)
 *
 * The results are real numbers at any precision asked for; nothing is rounded on the way but
 * where freq.round says so. */
#ifndef PE_SCALING_H
#define PE_SCALING_H

#include <stdbool.h>
#include <stddef.h>
#include <mpfr.h>

#include "error.h"
#include "freq.h"

enum pe_scaling_kind {
	PE_SCALING_NONE,
	PE_SCALING_LINEAR,
	PE_SCALING_NTK,
	PE_SCALING_DYNAMIC,
	PE_SCALING_YARN,
	PE_SCALING_LLAMA3,
	PE_SCALING_LONGROPE,
};

struct pe_scaling {
	enum pe_scaling_kind kind;
	double factor;               /* f, > 0 */
	double original;             /* L0, positions */
	double length;               /* L, positions: dynamic, and longrope's choice of a list */
	double alpha;                /* ntk */
	double beta_fast, beta_slow; /* yarn: turns within L0 */
	/* yarn: weights of ln f above and below the attention factor's fraction line */
	double mscale, mscale_all_dim;
	double attention; /* yarn, longrope: the attention factor itself; 0: by the formula */
	double truncate; /* yarn: 1 rounds the ramp's ends outwards to whole pairs, 0 leaves them */
	double low, high;       /* llama3 */
	const double *divisors; /* longrope: one for each pair, > 0 */
	unsigned given;         /* bit k: the k-th key of pe_scaling_keys was set */
};

/* A parameter by its two names: in our options, and in a model's config.json. */
struct pe_scaling_key {
	const char *name, *json;
	unsigned kinds, required; /* bit k: kind k has it, needs it */
	size_t offset;            /* of a double in struct pe_scaling */
};

/* All of them, ended by a NULL name; the one of that name, which there must be; whether it was set. */
const struct pe_scaling_key *pe_scaling_keys(void);
const struct pe_scaling_key *pe_scaling_key(const char *name);
bool pe_scaling_has(const struct pe_scaling *s, const struct pe_scaling_key *key);

/* The kind so named ("yarn"), false if there is none; the name; all names as "linear, ntk, ..."
 * for messages. */
bool pe_scaling_find(const char *name, size_t length, enum pe_scaling_kind *kind);
const char *pe_scaling_name(enum pe_scaling_kind kind);
#define PE_SCALING_NAMES "linear, ntk, dynamic, yarn, llama3, longrope"

/* The kind with the papers' defaults: beta 32 and 1, mscale 1 and 0, low 1, high 4. */
struct pe_scaling pe_scaling_make(enum pe_scaling_kind kind);

/* Sets the key and marks it as given. place begins the message where it is given twice. */
int pe_scaling_set(struct pe_scaling *s, const char *place, const struct pe_scaling_key *key,
		   double value, struct pe_error *e);

/* PE_FAULT_ARGUMENT where a required key was not given, a value is out of its range, two keys
 * contradict each other, or the kind cannot act on these frequencies. json: names keys as
 * config.json does. */
int pe_scaling_check(const struct pe_scaling *s, const struct pe_freq *f, const char *place,
		     bool json, struct pe_error *e);

/* Each within 2^-(p - 4) relative, p the precision of x. f gives base, F/2 = half, and the
 * rounding of omega, which comes last. */
void pe_scaling_omega(const struct pe_scaling *s, const struct pe_freq *f, size_t i, mpfr_ptr x);
/* The base in force: f->base but for ntk and dynamic. */
void pe_scaling_base(const struct pe_scaling *s, const struct pe_freq *f, mpfr_ptr x);
/* The attention factor, which multiplies cosine and sine once; 1 for kinds that have none. */
void pe_scaling_gain(const struct pe_scaling *s, mpfr_ptr x);

#endif
