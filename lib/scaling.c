/* scaling - how RoPE's frequencies are changed so that a model reads beyond its trained length. */
#include "scaling.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { GUARD = 64 }; /* bits that pay for what the few operations of a formula lose */

static const char *const names[] = {"default", "linear", "ntk",     "dynamic",
				    "yarn",    "llama3", "longrope"};
enum { KINDS = sizeof names / sizeof names[0] };

#define BIT(kind) (1u << PE_SCALING_##kind)
#define AT(member) offsetof(struct pe_scaling, member)
#define HAVE_FACTOR (BIT(LINEAR) | BIT(DYNAMIC) | BIT(YARN) | BIT(LLAMA3) | BIT(LONGROPE))
#define HAVE_ORIGINAL (BIT(DYNAMIC) | BIT(YARN) | BIT(LLAMA3) | BIT(LONGROPE))
#define HAVE_LENGTH (BIT(DYNAMIC) | BIT(LONGROPE))

static const struct pe_scaling_key keys[] = {
    {"factor", "factor", HAVE_FACTOR, HAVE_FACTOR, AT(factor)},
    {"original", "original_max_position_embeddings", HAVE_ORIGINAL, HAVE_ORIGINAL, AT(original)},
    {"length", "max_position_embeddings", HAVE_LENGTH, BIT(DYNAMIC), AT(length)},
    {"alpha", "alpha", BIT(NTK), BIT(NTK), AT(alpha)},
    {"beta-fast", "beta_fast", BIT(YARN), 0, AT(beta_fast)},
    {"beta-slow", "beta_slow", BIT(YARN), 0, AT(beta_slow)},
    {"attention-factor", "attention_factor", BIT(YARN) | BIT(LONGROPE), 0, AT(attention)},
    {"mscale", "mscale", BIT(YARN), 0, AT(mscale)},
    {"mscale-all-dim", "mscale_all_dim", BIT(YARN), 0, AT(mscale_all_dim)},
    {"truncate", "truncate", BIT(YARN), 0, AT(truncate)},
    {"low", "low_freq_factor", BIT(LLAMA3), 0, AT(low)},
    {"high", "high_freq_factor", BIT(LLAMA3), 0, AT(high)},
    {0},
};

const struct pe_scaling_key *
pe_scaling_keys(void)
{
	return keys;
}

const struct pe_scaling_key *
pe_scaling_key(const char *name)
{
	const struct pe_scaling_key *key = keys;

	while (strcmp(key->name, name) != 0)
		key++;
	return key;
}

bool
pe_scaling_has(const struct pe_scaling *s, const struct pe_scaling_key *key)
{
	return (s->given >> (key - keys) & 1) != 0;
}

const char *
pe_scaling_name(enum pe_scaling_kind kind)
{
	return names[kind];
}

bool
pe_scaling_find(const char *name, size_t length, enum pe_scaling_kind *kind)
{
	for (int k = PE_SCALING_LINEAR; k < KINDS; k++)
		if (strlen(names[k]) == length && memcmp(names[k], name, length) == 0) {
			*kind = (enum pe_scaling_kind)k;
			return true;
		}
	return false;
}

struct pe_scaling
pe_scaling_make(enum pe_scaling_kind kind)
{
	return (struct pe_scaling){.kind = kind,
				   .beta_fast = 32,
				   .beta_slow = 1,
				   .mscale = 1,
				   .truncate = 1,
				   .low = 1,
				   .high = 4};
}

int
pe_scaling_set(struct pe_scaling *s, const char *place, const struct pe_scaling_key *key,
	       double value, struct pe_error *e)
{
	if (pe_scaling_has(s, key))
		return pe_fail(e, PE_FAULT_ARGUMENT, "%s: %s is given twice", place, key->name);
	s->given |= 1u << (key - keys);
	memcpy((char *)s + key->offset, &value, sizeof value);
	return 0;
}

/* ---- checks ---- */

struct checking {
	const struct pe_scaling *s;
	const char *place;
	bool json;
	struct pe_error *e;
};

static const struct pe_scaling_key *
key_at(size_t offset)
{
	const struct pe_scaling_key *k = keys;

	while (k->offset != offset)
		k++;
	return k;
}

static const char *
spelled(const struct checking *c, size_t offset)
{
	return c->json ? key_at(offset)->json : key_at(offset)->name;
}

static bool
is_given(const struct checking *c, size_t offset)
{
	return pe_scaling_has(c->s, key_at(offset));
}

static int
check_required(const struct checking *c)
{
	for (const struct pe_scaling_key *k = keys; k->name != NULL; k++)
		if ((k->required >> c->s->kind & 1) && !pe_scaling_has(c->s, k))
			return pe_fail(c->e, PE_FAULT_ARGUMENT, "%s: %s needs %s", c->place,
				       names[c->s->kind], c->json ? k->json : k->name);
	return 0;
}

/* Those that multiply or divide must be positive; the two weights of yarn may be 0. */
static int
check_ranges(const struct checking *c)
{
	for (const struct pe_scaling_key *k = keys; k->name != NULL; k++) {
		double value;

		if (!pe_scaling_has(c->s, k))
			continue;
		memcpy(&value, (const char *)c->s + k->offset, sizeof value);
		const bool may_be_zero = k->offset == AT(mscale) ||
					 k->offset == AT(mscale_all_dim) ||
					 k->offset == AT(truncate);
		if (!isfinite(value) || value < 0 || (value == 0 && !may_be_zero))
			return pe_fail(c->e, PE_FAULT_ARGUMENT, "%s: %s must be %s: '%.15g'",
				       c->place, c->json ? k->json : k->name,
				       may_be_zero ? "0 or more" : "positive", value);
	}
	if (c->s->truncate != 0 && c->s->truncate != 1)
		return pe_fail(c->e, PE_FAULT_ARGUMENT, "%s: truncate must be 0 or 1: '%.15g'",
			       c->place, c->s->truncate);
	return 0;
}

static int
check_above(const struct checking *c, size_t more, double larger, size_t less, double smaller)
{
	if (larger > smaller)
		return 0;
	return pe_fail(c->e, PE_FAULT_ARGUMENT, "%s: %s must be above %s: '%.15g' and '%.15g'",
		       c->place, spelled(c, more), spelled(c, less), larger, smaller);
}

static int
check_contradictions(const struct checking *c)
{
	if (!is_given(c, AT(attention)))
		return 0;
	if (is_given(c, AT(mscale)) || is_given(c, AT(mscale_all_dim)))
		return pe_fail(c->e, PE_FAULT_ARGUMENT,
			       "%s: %s has no effect beside attention-factor", c->place,
			       is_given(c, AT(mscale)) ? "mscale" : "mscale-all-dim");
	return 0;
}

int
pe_scaling_check(const struct pe_scaling *s, const struct pe_freq *f, const char *place, bool json,
		 struct pe_error *e)
{
	const struct checking c = {s, place, json, e};
	const char *name = names[s->kind];

	if (check_required(&c) || check_ranges(&c) || check_contradictions(&c))
		return -1;
	switch (s->kind) {
	case PE_SCALING_NTK:
	case PE_SCALING_DYNAMIC:
		if (f->half < 2)
			return pe_fail(e, PE_FAULT_ARGUMENT, "%s: %s needs two pairs at least",
				       place, name);
		return 0;
	case PE_SCALING_YARN:
		if (f->base <= 1)
			return pe_fail(e, PE_FAULT_ARGUMENT,
				       "%s: yarn needs a base above 1: '%.15g'", place, f->base);
		return check_above(&c, AT(beta_fast), s->beta_fast, AT(beta_slow), s->beta_slow);
	case PE_SCALING_LLAMA3: return check_above(&c, AT(high), s->high, AT(low), s->low);
	case PE_SCALING_LONGROPE:
		if (s->attention == 0 && s->factor > 1 && s->original <= 1)
			return pe_fail(e, PE_FAULT_ARGUMENT, "%s: %s must be above 1: '%.15g'",
				       place, spelled(&c, AT(original)), s->original);
		return 0;
	default: return 0;
	}
}

/* ---- formulas ---- */

/* What ntk and dynamic multiply the base by, less its exponent; 1 for the others. */
static void
stretch(const struct pe_scaling *s, mpfr_ptr x)
{
	mpfr_set_ui(x, 1, MPFR_RNDN);
	if (s->kind == PE_SCALING_NTK) {
		mpfr_set_d(x, s->alpha, MPFR_RNDN);
	} else if (s->kind == PE_SCALING_DYNAMIC && s->length > s->original) {
		/* f L/L0 - (f - 1) = 1 + f (L - L0)/L0: a sum of positive numbers loses nothing */
		mpfr_set_d(x, s->length, MPFR_RNDN);
		mpfr_sub_d(x, x, s->original, MPFR_RNDN);
		mpfr_mul_d(x, x, s->factor, MPFR_RNDN);
		mpfr_div_d(x, x, s->original, MPFR_RNDN);
		mpfr_add_ui(x, x, 1, MPFR_RNDN);
	}
}

void
pe_scaling_base(const struct pe_scaling *s, const struct pe_freq *f, mpfr_ptr x)
{
	mpfr_t factor, exponent;

	/* ln factor < 710 and exponent <= 2: 12 bits of the guard are lost in the power */
	mpfr_inits2(mpfr_get_prec(x) + GUARD, factor, exponent, (mpfr_ptr)NULL);
	stretch(s, factor);
	if (mpfr_cmp_ui(factor, 1) == 0) {
		mpfr_set_d(x, f->base, MPFR_RNDN);
	} else {
		/* F/(F - 2) = half/(half - 1) */
		mpfr_set_d(exponent, f->half, MPFR_RNDN);
		mpfr_sub_ui(exponent, exponent, 1, MPFR_RNDN);
		mpfr_d_div(exponent, f->half, exponent, MPFR_RNDN);
		mpfr_pow(factor, factor, exponent, MPFR_RNDN);
		mpfr_mul_d(x, factor, f->base, MPFR_RNDN);
	}
	mpfr_clears(factor, exponent, (mpfr_ptr)NULL);
}

/* omega *= factor^(-i/(half - 1)), which is (b factor^(half/(half - 1)))^(-i/half) with the
 * base's part taken out. */
static void
stretch_omega(const struct pe_scaling *s, const struct pe_freq *f, size_t i, mpfr_ptr omega)
{
	mpfr_t factor, exponent;

	mpfr_inits2(mpfr_get_prec(omega), factor, exponent, (mpfr_ptr)NULL);
	stretch(s, factor);
	mpfr_set_d(exponent, f->half, MPFR_RNDN);
	mpfr_ui_sub(exponent, 1, exponent, MPFR_RNDN);
	mpfr_ui_div(exponent, (unsigned long)i, exponent, MPFR_RNDN);
	mpfr_pow(factor, factor, exponent, MPFR_RNDN);
	mpfr_mul(omega, omega, factor, MPFR_RNDN);
	mpfr_clears(factor, exponent, (mpfr_ptr)NULL);
}

/* The pair, as a real number, that turns `turns` times within L0: half ln(L0/(2 pi turns)) / ln b. */
static void
pair_of_turns(const struct pe_scaling *s, const struct pe_freq *f, double turns, mpfr_ptr pair)
{
	mpfr_t log_base;

	mpfr_init2(log_base, mpfr_get_prec(pair));
	mpfr_const_pi(pair, MPFR_RNDN);
	mpfr_mul_2ui(pair, pair, 1, MPFR_RNDN);
	mpfr_mul_d(pair, pair, turns, MPFR_RNDN);
	mpfr_d_div(pair, s->original, pair, MPFR_RNDN);
	mpfr_log(pair, pair, MPFR_RNDN);
	mpfr_mul_d(pair, pair, f->half, MPFR_RNDN);
	mpfr_set_d(log_base, f->base, MPFR_RNDN);
	mpfr_log(log_base, log_base, MPFR_RNDN);
	mpfr_div(pair, pair, log_base, MPFR_RNDN);
	mpfr_clear(log_base);
}

/* yarn's g_i. L0/(2 pi turns) is transcendental, so an end of the ramp is never a whole number
 * by itself; where it is rounded to one, 128 bits tell which. */
static void
ramp(const struct pe_scaling *s, const struct pe_freq *f, size_t i, mpfr_ptr g)
{
	const double last = 2 * f->half - 1;
	mpfr_t low, high;

	mpfr_inits2(s->truncate != 0 ? 128 : mpfr_get_prec(g), low, high, (mpfr_ptr)NULL);
	pair_of_turns(s, f, s->beta_fast, low);
	pair_of_turns(s, f, s->beta_slow, high);
	if (s->truncate != 0) {
		mpfr_floor(low, low);
		mpfr_ceil(high, high);
	}
	if (mpfr_sgn(low) < 0)
		mpfr_set_zero(low, 1);
	if (mpfr_cmp_d(high, last) > 0)
		mpfr_set_d(high, last, MPFR_RNDN);
	mpfr_ui_sub(g, (unsigned long)i, low, MPFR_RNDN);
	mpfr_sub(high, high, low, MPFR_RNDN);
	if (mpfr_zero_p(high)) { /* the reference widens an empty ramp by 0.001 */
		mpfr_set_ui(high, 1, MPFR_RNDN);
		mpfr_div_ui(high, high, 1000, MPFR_RNDN);
	}
	mpfr_div(g, g, high, MPFR_RNDN);
	if (mpfr_sgn(g) < 0)
		mpfr_set_zero(g, 1);
	if (mpfr_cmp_ui(g, 1) > 0)
		mpfr_set_ui(g, 1, MPFR_RNDN);
	mpfr_clears(low, high, (mpfr_ptr)NULL);
}

/* omega *= g / factor + (1 - g), g in 0..1: both terms are positive. */
static void
blend(mpfr_ptr omega, mpfr_ptr g, double factor)
{
	mpfr_t kept;

	mpfr_init2(kept, mpfr_get_prec(omega));
	mpfr_ui_sub(kept, 1, g, MPFR_RNDN);
	mpfr_div_d(g, g, factor, MPFR_RNDN);
	mpfr_add(kept, kept, g, MPFR_RNDN);
	mpfr_mul(omega, omega, kept, MPFR_RNDN);
	mpfr_clear(kept);
}

/* llama3's share of the divided frequency: 1 where the wavelength is above L0/low, 0 below
 * L0/high, and (high - L0/wavelength)/(high - low) between, so a clamp says it all. */
static void
share(const struct pe_scaling *s, mpfr_srcptr omega, mpfr_ptr g)
{
	mpfr_t turns;

	mpfr_init2(turns, mpfr_get_prec(g));
	mpfr_const_pi(turns, MPFR_RNDN);
	mpfr_mul_2ui(turns, turns, 1, MPFR_RNDN);
	mpfr_div(turns, omega, turns, MPFR_RNDN);
	mpfr_mul_d(turns, turns, s->original, MPFR_RNDN);
	mpfr_d_sub(g, s->high, turns, MPFR_RNDN);
	mpfr_set_d(turns, s->high, MPFR_RNDN);
	mpfr_sub_d(turns, turns, s->low, MPFR_RNDN);
	mpfr_div(g, g, turns, MPFR_RNDN);
	if (mpfr_sgn(g) < 0)
		mpfr_set_zero(g, 1);
	if (mpfr_cmp_ui(g, 1) > 0)
		mpfr_set_ui(g, 1, MPFR_RNDN);
	mpfr_clear(turns);
}

void
pe_scaling_omega(const struct pe_scaling *s, const struct pe_freq *f, size_t i, mpfr_ptr x)
{
	struct pe_freq plain = *f;
	mpfr_t omega, g;

	plain.round = PE_ELEM_NONE;
	mpfr_inits2(mpfr_get_prec(x) + GUARD, omega, g, (mpfr_ptr)NULL);
	pe_freq_omega(&plain, i, omega);
	switch (s->kind) {
	case PE_SCALING_NONE: break;
	case PE_SCALING_LINEAR: mpfr_div_d(omega, omega, s->factor, MPFR_RNDN); break;
	case PE_SCALING_NTK:
	case PE_SCALING_DYNAMIC: stretch_omega(s, f, i, omega); break;
	case PE_SCALING_YARN:
		ramp(s, f, i, g);
		blend(omega, g, s->factor);
		break;
	case PE_SCALING_LLAMA3:
		share(s, omega, g);
		blend(omega, g, s->factor);
		break;
	case PE_SCALING_LONGROPE: mpfr_div_d(omega, omega, s->divisors[i], MPFR_RNDN); break;
	}
	pe_freq_round(f->round, omega);
	mpfr_set(x, omega, MPFR_RNDN);
	mpfr_clears(omega, g, (mpfr_ptr)NULL);
}

/* yarn's 0.1 mscale ln f + 1, and 1 for f <= 1. */
static void
yarn_gain(double factor, double mscale, mpfr_ptr x)
{
	mpfr_set_ui(x, 0, MPFR_RNDN);
	if (factor > 1) {
		mpfr_set_d(x, factor, MPFR_RNDN);
		mpfr_log(x, x, MPFR_RNDN);
		mpfr_mul_d(x, x, mscale, MPFR_RNDN);
		mpfr_div_ui(x, x, 10, MPFR_RNDN);
	}
	mpfr_add_ui(x, x, 1, MPFR_RNDN);
}

void
pe_scaling_gain(const struct pe_scaling *s, mpfr_ptr x)
{
	mpfr_t gain, below;

	mpfr_inits2(mpfr_get_prec(x) + GUARD, gain, below, (mpfr_ptr)NULL);
	mpfr_set_ui(gain, 1, MPFR_RNDN);
	if (s->attention != 0) {
		mpfr_set_d(gain, s->attention, MPFR_RNDN);
	} else if (s->kind == PE_SCALING_YARN) {
		yarn_gain(s->factor, s->mscale, gain);
		yarn_gain(s->factor, s->mscale_all_dim, below);
		mpfr_div(gain, gain, below, MPFR_RNDN);
	} else if (s->kind == PE_SCALING_LONGROPE && s->factor > 1) {
		mpfr_set_d(gain, s->factor, MPFR_RNDN);
		mpfr_log(gain, gain, MPFR_RNDN);
		mpfr_set_d(below, s->original, MPFR_RNDN);
		mpfr_log(below, below, MPFR_RNDN);
		mpfr_div(gain, gain, below, MPFR_RNDN);
		mpfr_add_ui(gain, gain, 1, MPFR_RNDN);
		mpfr_sqrt(gain, gain, MPFR_RNDN);
	}
	mpfr_set(x, gain, MPFR_RNDN);
	mpfr_clears(gain, below, (mpfr_ptr)NULL);
}
