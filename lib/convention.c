/* convention - how a code base writes the sinusoidal table. */
#include "convention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"

/* What each code base computes, as its functions were read and run:
 *   t2t               tensor2tensor, get_timing_signal_1d
 *   fairseq           SinusoidalPositionalEmbedding (its padding row is the caller's to name)
 *   ddpm              Ho et al. 2020, get_timestep_embedding
 *   guided-diffusion  Dhariwal and Nichol 2021, timestep_embedding
 *   diffusers         get_timestep_embedding with its own defaults
 *   gpt-j             create_sinusoidal_positions
 *   x-transformers    ScaledSinusoidalEmbedding at its start
 *   mae               He et al. 2022, get_2d_sincos_pos_embed: the first half encodes the column index
 *   detr              Carion et al. 2020, PositionEmbeddingSine: coordinates count from 1 */
static const char *const preset_names[] = {
    "paper",          "t2t", "fairseq", "ddpm", "guided-diffusion", "diffusers", "gpt-j",
    "x-transformers", "mae", "detr",    NULL,
};

const char *const *
pe_convention_presets(void)
{
	return preset_names;
}

bool
pe_convention_preset(const char *name, struct pe_convention *c)
{
	static const struct {
		const char *name;
		enum pe_layout layout;
		bool flip;
		double freq_shift;
		bool gain_root;
		enum pe_grid_order grid_order;
		int64_t grid_start;
	} presets[] = {
	    {.name = "paper"},
	    {.name = "t2t", .layout = PE_LAYOUT_HALVES, .freq_shift = 1},
	    {.name = "fairseq", .layout = PE_LAYOUT_HALVES, .freq_shift = 1},
	    {.name = "ddpm", .layout = PE_LAYOUT_HALVES, .freq_shift = 1},
	    {.name = "guided-diffusion", .layout = PE_LAYOUT_HALVES, .flip = true},
	    {.name = "diffusers", .layout = PE_LAYOUT_HALVES, .freq_shift = 1},
	    {.name = "gpt-j", .layout = PE_LAYOUT_HALVES},
	    {.name = "x-transformers", .layout = PE_LAYOUT_HALVES, .gain_root = true},
	    {.name = "mae", .layout = PE_LAYOUT_HALVES, .grid_order = PE_GRID_WH},
	    {.name = "detr", .grid_order = PE_GRID_HW, .grid_start = 1},
	};

	for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
		if (strcmp(presets[i].name, name) != 0)
			continue;
		*c = (struct pe_convention)PE_CONVENTION_PAPER;
		c->layout = presets[i].layout;
		c->flip = presets[i].flip;
		c->freq_shift = presets[i].freq_shift;
		c->gain_root = presets[i].gain_root;
		c->grid_order = presets[i].grid_order;
		c->grid_start = presets[i].grid_start;
		return true;
	}
	return false;
}

int
pe_convention_columns(const struct pe_convention *c, size_t dim, struct pe_columns *columns,
		      struct pe_error *e)
{
	const bool halves = c->layout == PE_LAYOUT_HALVES, odd = dim % 2 != 0;
	const bool drop =
	    c->odd == PE_ODD_DROP || (c->odd == PE_ODD_DEFAULT && c->layout != PE_LAYOUT_HALVES);

	if (c->odd == PE_ODD_DROP && halves)
		return pe_fail(e, PE_FAULT_ARGUMENT,
			       "an odd width drops a value of interleaved columns only");
	if (c->odd == PE_ODD_ERROR && odd)
		return pe_fail(e, PE_FAULT_ARGUMENT, "width must be even: '%zu'", dim);

	const size_t seconds = dim / 2, firsts = dim / 2 + (odd && drop);
	const size_t second = halves ? firsts : 1;
	*columns = (struct pe_columns){
	    .dim = dim,
	    .pairs = firsts,
	    .zero_column = odd && !drop,
	    .layout =
		{
		    .sine = c->flip ? second : 0,
		    .cosine = c->flip ? 0 : second,
		    .step = halves ? 1 : 2,
		    .sines = c->flip ? seconds : firsts,
		    .cosines = c->flip ? firsts : seconds,
		    .row = dim,
		},
	};
	const struct pe_freq freq = pe_convention_freq(c, columns);
	return pe_freq_check(&freq, e);
}

struct pe_column
pe_convention_column(const struct pe_columns *columns, size_t column)
{
	const struct pe_turn_layout *l = &columns->layout;
	const bool interleaved = l->step == 2;

	if (columns->zero_column && column == columns->dim - 1)
		return (struct pe_column){.kind = PE_COLUMN_ZERO};
	const bool first = interleaved ? column % 2 == 0 : column < columns->pairs;
	return (struct pe_column){
	    .kind = first == (l->sine == 0) ? PE_COLUMN_SINE : PE_COLUMN_COSINE,
	    .pair = interleaved ? column / 2 : column % columns->pairs,
	};
}

struct pe_freq
pe_convention_freq(const struct pe_convention *c, const struct pe_columns *columns)
{
	return (struct pe_freq){
	    .pairs = columns->pairs,
	    .base = c->base,
	    .half = c->layout == PE_LAYOUT_HALVES ? (double)(columns->dim / 2)
						  : (double)columns->dim / 2,
	    .shift = c->freq_shift,
	    .round = c->round_freq,
	};
}

/* ---- the engine's numbers ---- */

static void
omega(const void *context, size_t i, mpfr_ptr x)
{
	const struct pe_convention_turn *t = context;

	pe_freq_omega(&t->freq, i, x);
}

static void
omegas(const void *context, size_t first, size_t n, mpfr_t *x)
{
	const struct pe_convention_turn *t = context;

	pe_freq_omegas(&t->freq, first, n, x);
}

/* pos_scale, times 2 pi / (last + 1e-6) on a normalised axis: six roundings at 16 more bits. The
 * millionth is the formula's own and meant exactly, unlike a decimal that an option gives. */
static void
scale(const void *context, mpfr_ptr x)
{
	const struct pe_convention_turn *t = context;
	mpfr_t factor, end;

	mpfr_set_d(x, t->pos_scale, MPFR_RNDN);
	if (t->last == 0)
		return;
	mpfr_inits2(mpfr_get_prec(x) + 16, factor, end, (mpfr_ptr)NULL);
	mpfr_set_ui(end, 1, MPFR_RNDN);
	mpfr_div_ui(end, end, 1000000, MPFR_RNDN);
	mpfr_add_d(end, end, t->last, MPFR_RNDN);
	mpfr_const_pi(factor, MPFR_RNDN);
	mpfr_mul_2ui(factor, factor, 1, MPFR_RNDN);
	mpfr_mul_d(factor, factor, t->pos_scale, MPFR_RNDN);
	mpfr_div(x, factor, end, MPFR_RNDN);
	mpfr_clears(factor, end, (mpfr_ptr)NULL);
}

static void
gain(const void *context, mpfr_ptr x)
{
	const struct pe_convention_turn *t = context;

	if (t->root == 0) {
		mpfr_set_d(x, t->gain, MPFR_RNDN);
		return;
	}
	mpfr_sqrt_ui(x, (unsigned long)t->root, MPFR_RNDN);
	mpfr_d_div(x, t->gain, x, MPFR_RNDN);
}

int
pe_convention_turn_init(struct pe_convention_turn *t, const struct pe_convention *c,
			const struct pe_columns *columns, double last, struct pe_error *e)
{
	*t = (struct pe_convention_turn){
	    .freq = pe_convention_freq(c, columns),
	    .pos_scale = c->pos_scale,
	    .gain = c->gain,
	    .root = c->gain_root ? columns->dim : 0,
	    .last = last,
	};
	const struct pe_turn_source source = {
	    .pairs = columns->pairs,
	    .omega = omega,
	    .omegas = omegas,
	    .scale = t->pos_scale != 1 || t->last != 0 ? scale : NULL,
	    .gain = t->gain != 1 || t->root != 0 ? gain : NULL,
	    .context = t,
	    .angle = c->round_angle,
	};
	return columns->pairs > 0 ? pe_turn_init(&t->turn, &source, e) : 0;
}

void
pe_convention_turn_free(struct pe_convention_turn *t)
{
	pe_turn_free(t->turn);
	t->turn = NULL;
}

/* ---- names ---- */

enum { NAME_ROOM = 24 }; /* a prefix letter, a letter, up to 20 digits */

char **
pe_convention_names(const struct pe_columns *columns, const char *const *prefixes, size_t groups)
{
	size_t size;

	if (!pe_num_size(columns->dim, groups, sizeof(char *) + NAME_ROOM, &size))
		return NULL;
	char **names = malloc(size);
	if (names == NULL)
		return NULL;
	char *text = (char *)(names + groups * columns->dim);
	for (size_t g = 0; g < groups; g++) {
		for (size_t column = 0; column < columns->dim; column++) {
			const struct pe_column c = pe_convention_column(columns, column);

			names[g * columns->dim + column] = text;
			if (c.kind == PE_COLUMN_ZERO)
				(void)snprintf(text, NAME_ROOM, "%sz", prefixes[g]);
			else
				(void)snprintf(text, NAME_ROOM, "%s%c%zu", prefixes[g],
					       c.kind == PE_COLUMN_SINE ? 's' : 'c', c.pair);
			text += NAME_ROOM;
		}
	}
	return names;
}
