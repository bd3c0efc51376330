/* pe-rope - rotate query or key rows by their position; its tables and frequencies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_rows.h"
#include "cli_values.h"
#include "cli_convention.h"
#include "cli_positions.h"
#include "decimal.h"
#include "num.h"
#include "positions.h"
#include "rope.h"
#include "rope_options.h"

enum {
	PAIRS = CLI_KEY,
	ROTARY_DIM,
	FREQ_DIM,
	SCALING,
	CONFIG,
	LAYER_KIND,
	POSITIONS,
	SECTIONS,
	XPOS,
	XPOS_BASE,
	XPOS_CENTRE,
	INVERSE,
	ROUND,
	EMIT,
	VERBOSE,
};

static const struct rope_keys rope_keys = {
    .base = 'b',
    .pairs = PAIRS,
    .rotary_dim = ROTARY_DIM,
    .freq_dim = FREQ_DIM,
    .scaling = SCALING,
    .config = CONFIG,
    .layer_kind = LAYER_KIND,
    .xpos_base = XPOS_BASE,
};

static const struct cli_option options[] = {
    {'H', "--heads", "N", "heads in a row, each DIM/N wide (1, or as --config tells)"},
    {'b', "--base", "BASE", "base of the frequencies (10000)"},
    {'s', "--start", "S", "position of the first row (0)"},
    {POSITIONS, "--positions", CLI_FILE, "positions, one row each; with --sections a column each"},
    {'n', "--count", "N|inf", "rows of a table"},
    {PAIRS, "--pairs", ROPE_PAIRS, "columns (2i, 2i+1) or (i, i + d/2) turn together"},
    {ROTARY_DIM, "--rotary-dim", "R", "turn the first R columns of a head alone (all)"},
    {FREQ_DIM, "--freq-dim", "F", "frequencies base^(-2i/F) (the rotary dim)"},
    {INVERSE, "--inverse", NULL, "turn back"},
    {SECTIONS, "--sections", "A,B,...", "pairs that follow each column of --positions"},
    {XPOS, "--xpos", "query|key", "let rows shrink or grow with their position as xPos does"},
    {XPOS_BASE, "--xpos-base", "S",
     "positions in which a pair changes by its whole rate, 2/7 to 1 (512)"},
    {XPOS_CENTRE, "--xpos-centre", "C", "position whose row keeps its size (0)"},
    {SCALING, "--scaling", ROPE_SCALING,
     "change the frequencies: linear, ntk, dynamic, yarn, llama3, longrope"},
    {CONFIG, "--config", CLI_FILE, "take what a model's config.json says"},
    {LAYER_KIND, "--layer-kind", "NAME", "which of its kinds of layers"},
    {ROUND, "--round", "freq:E,angle:E", "round frequency or angle to element E first"},
    {EMIT, "--emit", "cos|sin|cos-sin|freqs|waves|base", "write a table instead"},
    {VERBOSE, "--verbose", NULL, "tell what was derived on standard error"},
    {0},
};

static const struct cli_command command = {
    .name = "pe-rope",
    .summary = "Rotates each head of each row by its position (RoPE), or writes the tables for it.",
    .synopsis = "[-d DIM] [-H HEADS] [-b BASE] [-s START | --positions FILE] [FILE]\n"
		"--emit cos|sin|cos-sin (-n COUNT [-s START] | --positions FILE) -d DIM\n"
		"--emit freqs|waves|base -d DIM",
    .options = options,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

enum emit { EMIT_NOTHING, EMIT_COS, EMIT_SIN, EMIT_COS_SIN, EMIT_FREQS, EMIT_WAVES, EMIT_BASE };

struct opts {
	struct rope_options rope;
	enum emit emit;
	size_t heads;          /* 0: not given */
	int64_t start;         /* position of the first row */
	uint64_t count;        /* rows of a table */
	const char *positions; /* file, NULL: count from start */
	size_t *sections;      /* pairs of each position column */
	size_t section_count;
	enum pe_elem round_freq, round_angle;
	bool started, counted, inverse, verbose, centred;
};

/* What stands ready when rows begin to flow. */
struct job {
	struct pe_rope *rope;
	size_t heads, width;
	uint64_t most;           /* rows from the start on whose positions are allowed, */
	const char *outside;     /* and what the others are */
	struct pe_matrix listed; /* positions from a file, a column for each axis */
	double *scratch;
};

#define FAR "farther than 552 times --xpos-base from --xpos-centre"
_Static_assert(PE_XPOS_REACH_F64 == 552, "FAR tells it");

/* ---- the command line ---- */

static void
parse_sections(struct opts *o, const char *arg)
{
	size_t room = 1;

	for (const char *s = arg; *s != '\0'; s++)
		room += *s == ',';
	free(o->sections);
	o->sections = calloc(room, sizeof *o->sections);
	char *text = strdup(arg);
	if (o->sections == NULL || text == NULL)
		cli_fail("out of memory");
	char *item = text;
	for (o->section_count = 0; o->section_count < room; o->section_count++) {
		const size_t length = strcspn(item, ",");
		item[length] = '\0';
		o->sections[o->section_count] = cli_count(SECTIONS, item);
		item += length + 1;
	}
	free(text);
	if (o->section_count > UINT8_MAX)
		cli_refuse("--sections: more than 255: '%zu'", o->section_count);
}

/* Frequencies and the base know no positions, and so neither direction nor angle. dim is 0 where
 * it is not told. */
static void
check_emit(const struct opts *o, size_t dim)
{
	static const char *const names[] = {
	    [EMIT_FREQS] = "freqs", [EMIT_WAVES] = "waves", [EMIT_BASE] = "base"};

	if (o->emit < EMIT_FREQS) {
		if (o->emit != EMIT_NOTHING && !o->counted && o->positions == NULL)
			cli_missing('n');
		if (o->counted && o->count != PE_ENDLESS)
			cli_check_size(o->count, dim);
		return;
	}
	const int idle = o->counted             ? 'n'
			 : o->started           ? 's'
			 : o->positions != NULL ? POSITIONS
			 : o->inverse           ? INVERSE
			 : o->rope.xpos         ? XPOS
			 : o->round_angle       ? ROUND
						: 0;
	if (idle != 0)
		cli_refuse("%s: has no effect beside --emit %s", cli_spelling(idle),
			   names[o->emit]);
	if (o->emit == EMIT_BASE && o->round_freq != PE_ELEM_NONE)
		cli_refuse("--round: has no effect beside --emit base");
}

static void
check_xpos(const struct opts *o)
{
	const int idle = o->rope.xpos_base != 0 ? XPOS_BASE : XPOS_CENTRE;

	if (o->rope.xpos == PE_XPOS_NONE && (o->centred || idle == XPOS_BASE))
		cli_refuse("%s: has no effect without --xpos", cli_spelling(idle));
}

static void
check(const struct cli *cli, const struct opts *o)
{
	if (o->positions != NULL && (o->started || o->counted))
		cli_conflict(o->started ? 's' : 'n', POSITIONS);
	const char *const paths[] = {
	    o->positions,
	    o->rope.config,
	    o->emit != EMIT_NOTHING  ? NULL
	    : cli_operands(cli) == 0 ? "-"
				     : cli_operand(cli, 0),
	};
	cli_check_stdin(paths, sizeof paths / sizeof paths[0]);
	if (o->counted && o->emit == EMIT_NOTHING)
		cli_refuse("-n: has no effect without --emit");
	check_emit(o, cli->common.dim);
	check_xpos(o);
	if (o->sections != NULL && o->positions == NULL)
		cli_refuse("--sections: has no effect without --positions");
	if (o->emit != EMIT_NOTHING && cli_operands(cli) > 0)
		cli_refuse("extra operand: '%s'", pe_quote(cli_operand(cli, 0)).text);
	if (o->emit != EMIT_NOTHING && o->positions == NULL &&
	    cli->common.from.container != PE_AUTO)
		cli_conflict('f', EMIT);
	if (o->emit != EMIT_NOTHING && o->positions == NULL && o->rope.scaling == NULL &&
	    cli->common.header_in)
		cli_refuse("--header-in: has no effect, nothing is read");
}

static uint64_t
row_count(const char *arg)
{
	return strcmp(arg, "inf") == 0 ? PE_ENDLESS : cli_count('n', arg);
}

static void
parse(struct cli *cli, struct opts *o)
{
	static const char *const emits[] = {"cos",   "sin",  "cos-sin", "freqs",
					    "waves", "base", NULL};
	static const char *const roles[] = {"query", "key", NULL};
	const char *arg;

	for (int key; (key = cli_next(cli, &arg)) != -1;)
		switch (key) {
		case 'H': o->heads = cli_positive(key, arg); break;
		case 's':
			o->start = cli_position(key, arg);
			o->started = true;
			break;
		case 'n':
			o->count = row_count(arg);
			o->counted = true;
			break;
		case POSITIONS: o->positions = arg; break;
		case SECTIONS: parse_sections(o, arg); break;
		case XPOS:
			o->rope.xpos =
			    cli_choice(key, arg, roles) == 0 ? PE_XPOS_QUERY : PE_XPOS_KEY;
			break;
		case XPOS_CENTRE:
			o->rope.xpos_centre = cli_position(key, arg);
			o->centred = true;
			break;
		case INVERSE: o->inverse = true; break;
		case ROUND: cli_round(key, arg, &o->round_freq, &o->round_angle); break;
		case EMIT: o->emit = (enum emit)(cli_choice(key, arg, emits) + 1); break;
		case VERBOSE: o->verbose = true; break;
		default: (void)rope_option(&o->rope, key, arg);
		}
	check(cli, o);
}

/* ---- plan ---- */

/* Head size and count of a row of that width; place says what told the width. */
static size_t
split_row(const struct opts *o, const struct rope_setup *setup, const char *place, size_t width,
	  size_t *heads, struct pe_error *e)
{
	const size_t told = rope_head_dim(setup);

	*heads = o->heads != 0 ? o->heads : 1;
	if (o->heads == 0 && told != 0) {
		if (width % told != 0) {
			(void)pe_fail(e, PE_FAULT_ARGUMENT,
				      "%s: no multiple of the %zu columns of a head: '%zu'", place,
				      told, width);
			return 0;
		}
		*heads = width / told;
	}
	if (width % *heads != 0) {
		(void)pe_fail(e, PE_FAULT_ARGUMENT, "%s: no multiple of %zu heads: '%zu'", place,
			      *heads, width);
		return 0;
	}
	return width / *heads;
}

/* axis[i]: the position column of pair i. Sections follow each other, or take turns: pair 3k + 1
 * is of section 1 as long as that has pairs left, and what no other section takes is of section
 * 0 (Qwen 3 VL). */
static unsigned char *
make_axes(const size_t *sections, size_t count, bool alternating, size_t pairs)
{
	unsigned char *axis = calloc(pairs, 1);
	size_t i = 0;

	if (axis == NULL)
		cli_fail("out of memory");
	for (size_t k = 0; !alternating && k < count; k++)
		for (size_t n = 0; n < sections[k]; n++)
			axis[i++] = (unsigned char)k;
	for (i = 0; alternating && i < pairs; i++)
		if (i / count < sections[i % count])
			axis[i] = (unsigned char)(i % count);
	return axis;
}

static size_t
sum_of(const size_t *sections, size_t count)
{
	size_t sum = 0; /* 255 counts below 2^40 do not wrap */

	for (size_t k = 0; k < count; k++)
		sum += sections[k];
	return sum;
}

/* The position columns: as many as --sections or config.json name, one where neither does or the
 * file has one, or no row. */
static unsigned char *
take_sections(const struct opts *o, const struct rope_setup *setup, size_t position_columns,
	      struct pe_rope_spec *spec)
{
	const bool own = o->sections != NULL;
	const size_t *sections = own ? o->sections : setup->config.sections;
	const size_t count = own ? o->section_count : setup->config.section_count;

	if (position_columns <= 1)
		return NULL;
	if (sum_of(sections, count) != spec->freq.pairs)
		cli_fail("%s: mrope_section: must sum to %zu, the pairs of a head: '%zu'",
			 setup->config.name, spec->freq.pairs, sum_of(sections, count));
	spec->axes = count;
	return make_axes(sections, count, !own && setup->config.alternating, spec->freq.pairs);
}

static void
read_positions(struct cli *cli, const struct opts *o, const struct rope_setup *setup,
	       struct pe_matrix *listed)
{
	const struct pe_format none = {.container = PE_AUTO};
	const size_t columns = o->sections != NULL               ? o->section_count
			       : setup->config.section_count > 0 ? setup->config.section_count
								 : 1;

	cli_read_position_columns(cli, POSITIONS, o->positions,
				  o->emit == EMIT_NOTHING ? none : cli->common.from, columns,
				  listed);
	if (o->sections != NULL && listed->cols != columns && listed->rows > 0)
		cli_fail("%s: must have %zu columns, one for each section, not %zu",
			 pe_quote_path(o->positions).text, columns, listed->cols);
}

static const char *
shortest(char to[PE_DECIMAL_MAX + 1], double x)
{
	to[pe_decimal_write_f64(to, x)] = '\0';
	return to;
}

/* How far positions may go, and that the listed ones go no farther: as long as they are exact,
 * and xPos's factors are doubles. */
static void
set_reach(struct job *job, const struct opts *o, const struct pe_xpos_spec *xpos)
{
	const struct pe_positions at = {.first = o->start, .step = 1};
	const double most =
	    floor((double)xpos->centre + PE_XPOS_REACH_F64 * xpos->base) - (double)o->start + 1;
	const struct pe_matrix *listed = &job->listed;
	char text[PE_DECIMAL_MAX + 1];

	job->most = pe_positions_rows(&at);
	job->outside = "beyond 2^53";
	if (xpos->role == PE_XPOS_NONE)
		return;
	for (size_t k = 0; k < listed->rows * listed->cols; k++)
		if (!pe_xpos_reaches(xpos, PE_F64, pe_matrix_f64(listed)[k]))
			cli_fail("%s: row %zu: position " FAR ": '%s'", pe_quote(o->positions).text,
				 k / listed->cols, shortest(text, pe_matrix_f64(listed)[k]));
	if (most < (double)job->most) {
		job->outside = FAR;
		job->most = pe_xpos_reaches(xpos, PE_F64, (double)o->start) ? (uint64_t)most : 0;
	}
}

/* Two lines: the embedding, and the scaling's parameters as they are in force. */
static void
tell(const struct opts *o, const struct job *job, const struct rope_setup *setup,
     const struct pe_rope_spec *spec)
{
	const struct pe_scaling *scaling = &spec->scaling;
	char base[PE_DECIMAL_MAX + 1], gain[PE_DECIMAL_MAX + 1], line[512];
	size_t used = 0;
	double effective;

	pe_rope_base(job->rope, PE_F64, &effective);
	cli_note("heads=%zu head-dim=%zu rotary-dim=%zu freq-dim=%zu pairs=%s base=%s "
		 "attention-factor=%s position-columns=%zu",
		 job->heads, spec->head_dim, spec->rotary_dim, (size_t)(2 * spec->freq.half),
		 o->rope.pairing == PE_PAIR_HALVES ? "halves" : "interleaved",
		 shortest(base, effective), shortest(gain, pe_rope_gain(job->rope)), spec->axes);
	if (spec->xpos.role != PE_XPOS_NONE)
		cli_note("xpos=%s base=%s centre=%lld",
			 spec->xpos.role == PE_XPOS_QUERY ? "query" : "key",
			 shortest(base, spec->xpos.base), (long long)spec->xpos.centre);
	if (scaling->kind == PE_SCALING_NONE)
		return;
	for (const struct pe_scaling_key *k = pe_scaling_keys(); k->name != NULL; k++) {
		double value;

		memcpy(&value, (const char *)scaling + k->offset, sizeof value);
		if ((k->kinds >> scaling->kind & 1) && value != 0)
			used +=
			    (size_t)snprintf(line + used, sizeof line - used, "%s%s=%s",
					     used > 0 ? "," : "", k->name, shortest(base, value));
	}
	cli_note("scaling=%s:%s%s", pe_scaling_name(scaling->kind), line,
		 scaling->kind != PE_SCALING_LONGROPE     ? ""
		 : setup->list_in_force == PE_CONFIG_LONG ? ",list=long"
							  : ",list=short");
}

/* A row of that width as rotary embedding; place says what told the width, and whose fault it is
 * where it does not fit. */
static void
plan(struct job *job, struct cli *cli, const struct opts *o, struct rope_setup *setup,
     const char *place, size_t width, enum pe_fault fault)
{
	char head[512];
	struct pe_rope_spec spec;
	struct pe_error e;
	const size_t head_dim = split_row(o, setup, place, width, &job->heads, &e);

	if (head_dim == 0) {
		e.fault = fault;
		cli_die(&e);
	}
	(void)snprintf(head, sizeof head,
		       head_dim < width || fault == PE_FAULT_DATA ? "%s: a head's columns" : "%s",
		       place);
	if (rope_spec(setup, head, fault, head_dim, &spec, &e))
		cli_die(&e);
	if (o->sections != NULL && sum_of(o->sections, o->section_count) != spec.freq.pairs)
		cli_refuse("--sections: must sum to %zu, the pairs of a head: '%zu'",
			   spec.freq.pairs, sum_of(o->sections, o->section_count));
	if (o->positions != NULL)
		read_positions(cli, o, setup, &job->listed);
	unsigned char *axis =
	    take_sections(o, setup, job->listed.rows > 0 ? job->listed.cols : 1, &spec);
	spec.axis = axis;
	spec.inverse = o->inverse;
	spec.freq.round = o->round_freq;
	spec.angle = o->round_angle;
	if (pe_rope_init(&job->rope, &spec, &e))
		cli_die(&e);
	free(axis);
	set_reach(job, o, &spec.xpos);
	if (o->verbose)
		tell(o, job, setup, &spec);
}

static void
finish(struct job *job)
{
	pe_rope_free(job->rope);
	pe_matrix_free(&job->listed);
	free(job->scratch);
}

/* ---- rows ---- */

struct rows {
	const struct job *job;
	const struct opts *o;
	const char *input;
	size_t width;
	enum pe_elem from, to; /* of the rows in and out: to is f64, or f32 where both are that */
};

/* True where all n values are finite: 0 times any other is nan, and stays so in a sum. */
static bool
all_finite(const float *x, size_t n)
{
	typedef float four __attribute__((vector_size(4 * sizeof(float))));
	four sum[4] = {{0}}, v[4];
	float total = 0;
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		memcpy(v, x + i, sizeof v);
		for (int k = 0; k < 4; k++)
			sum[k] += v[k] * 0;
	}
	for (; i < n; i++)
		total += x[i] * 0;
	for (int k = 0; k < 4; k++)
		total += sum[k][0] + sum[k][1] + sum[k][2] + sum[k][3];
	return !isnan(total);
}

/* Double arithmetic may end beyond f32 where the row did not: a data fault, as for every other
 * narrowing. */
static int
check_narrowed(const struct rows *c, uint64_t first, size_t rows, const float *in, const float *out,
	       struct pe_error *e)
{
	if (all_finite(out, rows * c->width))
		return 0;
	for (size_t r = 0; r < rows; r++, in += c->width, out += c->width) {
		size_t beyond = 0;

		if (!all_finite(in, c->width))
			continue;
		while (beyond < c->width && !isinf(out[beyond]))
			beyond++;
		if (beyond < c->width)
			return pe_fail(e, PE_FAULT_DATA,
				       "%s: row %llu, column %zu: overflows f32 when turned",
				       c->input, (unsigned long long)(first + r), beyond + 1);
	}
	return 0;
}

/* The row whose position is missing, or does not exist, or 0 rows at the end. */
static int
check_positions(const struct rows *c, uint64_t first, size_t rows, struct pe_error *e)
{
	const size_t listed = c->job->listed.rows;

	if (c->o->positions != NULL && (rows > 0 ? first + rows > listed : first != listed))
		return pe_fail(e, PE_FAULT_DATA, "%s: %zu positions for %s%llu rows of %s",
			       pe_quote_path(c->o->positions).text, listed,
			       rows > 0 ? "at least " : "", (unsigned long long)(first + rows),
			       c->input);
	if (c->o->positions == NULL && first + rows > c->job->most)
		return pe_fail(e, PE_FAULT_DATA, "%s: row %llu: position %s", c->input,
			       (unsigned long long)c->job->most, c->job->outside);
	return 0;
}

static int
rotate(void *context, uint64_t first, size_t rows, const void *in, void *out, struct pe_error *e)
{
	const struct rows *c = context;
	const struct job *job = c->job;
	const struct pe_matrix *listed = &job->listed;

	if (check_positions(c, first, rows, e))
		return -1;
	if (rows == 0)
		return 0;
	(void)pe_elem_convert(c->to, out, c->from, in, rows * c->width); /* widens, or copies */
	if (c->o->positions != NULL)
		pe_rope_rotate_at(job->rope, pe_matrix_f64(listed) + first * listed->cols, rows,
				  job->heads, c->to, out, job->scratch);
	else
		pe_rope_rotate(job->rope, c->o->start + (int64_t)first, rows, job->heads, c->to,
			       out, job->scratch);
	return c->to == PE_F32 ? check_narrowed(c, first, rows, in, out, e) : 0;
}

static void
rotate_rows(struct cli *cli, const struct opts *o, struct rope_setup *setup)
{
	const char *path = cli_optional_operand(cli);
	struct pe_reader_spec source = cli_reader(cli, path);
	struct job job = {0};
	struct pe_reader *in;
	struct pe_writer *out;
	struct pe_error e;

	/* A width that the line tells is planned for before any input is read, so that a bad
	 * line is refused as one. */
	if (source.cols != 0)
		plan(&job, cli, o, setup, "-d", source.cols, PE_FAULT_ARGUMENT);
	if (pe_reader_open(&in, &source, &e))
		cli_die(&e);
	const size_t width = pe_reader_cols(in);
	if (source.cols == 0)
		plan(&job, cli, o, setup, pe_reader_name(in), width, PE_FAULT_DATA);
	job.scratch = calloc(pe_rope_scratch(job.rope), sizeof *job.scratch);
	if (job.scratch == NULL)
		cli_fail("out of memory");
	if (o->positions != NULL && pe_reader_rows(in) >= 0 &&
	    (uint64_t)pe_reader_rows(in) != job.listed.rows)
		cli_fail("%s: %zu positions for %lld rows of %s", pe_quote_path(o->positions).text,
			 job.listed.rows, (long long)pe_reader_rows(in), pe_reader_name(in));
	struct pe_writer_spec target = cli_writer(cli, width, pe_reader_rows(in));
	target.natural = pe_elem_is_integer(pe_reader_elem(in)) ? PE_F64 : pe_reader_elem(in);
	struct rows rows = {
	    .job = &job,
	    .o = o,
	    .input = pe_reader_name(in),
	    .width = width,
	    .from = pe_reader_carrier(in),
	    .to = PE_F64,
	};
	if (rows.from == PE_F32 && pe_writer_elem(&target) == PE_F32)
		rows.to = PE_F32;
	target.carrier = rows.to;
	target.names = cli_header(cli, pe_reader_names(in), width);
	if (pe_writer_open(&out, &target, &e))
		cli_die(&e);
	cli_filter(cli, in, out, rotate, &rows);
	finish(&job);
}

/* ---- tables ---- */

static size_t
table_width(const struct opts *o, size_t pairs)
{
	return o->emit == EMIT_BASE ? 1 : o->emit == EMIT_COS_SIN ? 2 * pairs : pairs;
}

/* "c0", "c1", ... for each letter, or one name. One block of memory. */
static const char **
make_names(const struct opts *o, size_t pairs)
{
	enum { NAME_BYTES = 32 };
	static const char *const words[][2] = {
	    [EMIT_COS] = {"c"},
	    [EMIT_SIN] = {"s"},
	    [EMIT_COS_SIN] = {"c", "s"},
	    [EMIT_FREQS] = {"omega"},
	    [EMIT_WAVES] = {"wavelength"},
	    [EMIT_BASE] = {"base"},
	};
	const size_t count = table_width(o, pairs);
	const char **names = calloc(count, sizeof *names + NAME_BYTES);

	if (names == NULL)
		cli_fail("out of memory");
	char *text = (char *)(names + count);
	for (size_t k = 0; k < count; k++, text += NAME_BYTES) {
		const char *word = words[o->emit][k / pairs];
		if (o->emit == EMIT_BASE)
			(void)snprintf(text, NAME_BYTES, "%s", word);
		else
			(void)snprintf(text, NAME_BYTES, "%s%zu", word, k % pairs);
		names[k] = text;
	}
	return names;
}

/* Rows of the table; one without end goes as far as positions are exact. */
static uint64_t
table_rows(const struct opts *o, const struct job *job)
{
	if (o->emit >= EMIT_FREQS)
		return 1;
	if (o->positions != NULL)
		return job->listed.rows;
	if (o->count == PE_ENDLESS)
		return job->most;
	if (o->count > job->most)
		cli_refuse("-n: positions %s: '%llu'", job->outside, (unsigned long long)o->count);
	return o->count;
}

static void
fill(const struct job *job, const struct opts *o, uint64_t first, size_t rows, enum pe_elem elem,
     void *to)
{
	static const unsigned what[] = {
	    [EMIT_COS] = PE_ROPE_COSINES,
	    [EMIT_SIN] = PE_ROPE_SINES,
	    [EMIT_COS_SIN] = PE_ROPE_COSINES | PE_ROPE_SINES,
	};

	if (o->emit == EMIT_FREQS)
		pe_rope_omegas(job->rope, elem, to);
	else if (o->emit == EMIT_WAVES)
		pe_rope_wavelengths(job->rope, elem, to);
	else if (o->emit == EMIT_BASE)
		pe_rope_base(job->rope, elem, to);
	else if (o->positions != NULL)
		pe_rope_table_at(job->rope, what[o->emit],
				 pe_matrix_f64(&job->listed) + first * job->listed.cols, rows, elem,
				 to);
	else
		pe_rope_table(job->rope, what[o->emit], o->start + (int64_t)first, rows, elem, to);
}

static void
write_rows(struct cli *cli, const struct opts *o, const struct job *job, struct pe_writer *out,
	   uint64_t rows)
{
	enum { MOST_ROWS = 4096 };
	struct pe_error e;
	size_t n;

	cli_progress_start(cli);
	for (uint64_t done = 0; done < rows; done += n) {
		const uint64_t left = rows - done;
		void *to = pe_writer_room(out, left < MOST_ROWS ? (size_t)left : MOST_ROWS, &n);
		fill(job, o, done, n, pe_writer_carrier(out), to);
		if (pe_writer_filled(out, n, &e))
			cli_die(&e);
		cli_progress(cli, done + n);
	}
}

static void
write_table(struct cli *cli, const struct opts *o, struct rope_setup *setup)
{
	const bool told = cli->common.dim != 0;
	const size_t width = told ? cli->common.dim : rope_head_dim(setup);
	struct job job = {0};
	struct pe_writer *out;
	struct pe_error e;

	if (width == 0)
		cli_missing('d');
	plan(&job, cli, o, setup, told ? "-d" : setup->config.name, width,
	     told ? PE_FAULT_ARGUMENT : PE_FAULT_DATA);
	const char **names = cli->common.header_out ? make_names(o, pe_rope_pairs(job.rope)) : NULL;
	const size_t cols = table_width(o, pe_rope_pairs(job.rope));
	const uint64_t rows = table_rows(o, &job);
	const bool endless = o->counted && o->count == PE_ENDLESS;
	struct pe_writer_spec target = cli_writer(cli, cols, endless ? -1 : (int64_t)rows);
	if (endless && (target.format.container == PE_NPY ||
			(target.format.container == PE_AUTO && target.path != NULL &&
			 pe_format_of_path(target.path).container == PE_NPY)))
		cli_refuse("-n: npy needs the number of rows first: 'inf'");
	target.names = cli_header(cli, names, cols);
	if (pe_elem_is_integer(pe_writer_elem(&target)))
		target.carrier = PE_F64;
	if (pe_writer_open(&out, &target, &e))
		cli_die(&e);
	write_rows(cli, o, &job, out, rows);
	if (endless && pe_writer_flush(out, &e))
		cli_die(&e);
	if (endless)
		cli_fail("row %llu: position %s", (unsigned long long)rows, job.outside);
	if (pe_writer_close(out, &e))
		cli_die(&e);
	free(names);
	finish(&job);
}

int
main(int argc, char **argv)
{
	struct opts o = {.rope.keys = &rope_keys};
	struct rope_setup setup;
	struct cli cli;

	cli_start(&cli, &command, argc, argv);
	parse(&cli, &o);
	rope_setup(&setup, &cli, &o.rope);
	if (o.emit == EMIT_NOTHING)
		rotate_rows(&cli, &o, &setup);
	else
		write_table(&cli, &o, &setup);
	rope_setup_free(&setup);
	free(o.sections);
	cli_end(&cli);
	return 0;
}
