/* relattn_options - the command line of relattn as one plain struct, checked for what goes
 * together. */
#include "relattn_options.h"
#include "cli_rows.h"
#include "cli_values.h"

#include <string.h>

#include "num.h"

enum {
	KV_HEADS = CLI_KEY,
	WQ,
	WK,
	WV,
	WO,
	DV,
	WINDOW,
	SCALE,
	BIAS_SCALE,
	QUERY_START,
	T5,
	MAX_DISTANCE,
	T5_DIRECTION,
	REL_BIAS,
	ALIBI,
	ALIBI_SLOPES,
	MAX_BIAS,
	SHAW_K,
	SHAW_V,
	HUANG,
	ROPE,
	BASE,
	PAIRS,
	ROTARY_DIM,
	FREQ_DIM,
	SCALING,
	CONFIG,
	LAYER_KIND,
	XPOS,
	XPOS_BASE,
	POS,
	POS_WQ,
	POS_WK,
	CLS,
	BIAS,
	TERMS,
	EMIT,
	COMPUTE,
	MAX_MEMORY,
	KEYS
};

enum { JOBS_MOST = 1024 }; /* more threads are no use, and each has memory of its own */

static const struct cli_option option_table[] = {
    {'Q', "--query", CLI_FILE, "rows of the queries"},
    {'K', "--key", CLI_FILE, "rows of the keys (the queries' where unnamed)"},
    {'V', "--value", CLI_FILE, "rows of the values (the keys' where unnamed)"},
    {DV, "--dv", "N", "width of a row of V (as K's)"},
    {'H', "--heads", "N", "heads, side by side in a row (1)"},
    {KV_HEADS, "--kv-heads", "G", "heads of K and V; query head h takes number h*G/H (as -H)"},
    {WQ, "--wq", CLI_FILE, "multiply rows of Q by this matrix, in x out"},
    {WK, "--wk", CLI_FILE, "multiply rows of K"},
    {WV, "--wv", CLI_FILE, "multiply rows of V"},
    {WO, "--wo", CLI_FILE, "multiply rows of the output"},
    {'W', "--bilinear", CLI_FILE, "scores are q W k instead of q k, with one head"},
    {'c', "--causal", NULL, "keys up to the query's position only"},
    {WINDOW, "--window", "W", "keys nearer than W positions only"},
    {SCALE, "--scale", "S", "factor of the scores (1/sqrt of the head's width)"},
    {BIAS_SCALE, "--bias-scale", "S", "factor of --t5, --alibi, --rel-bias and --bias (1)"},
    {QUERY_START, "--query-start", "S|end",
     "position of the first query; end: the last query meets the last key (0)"},
    {T5, "--t5", CLI_FILE, "T5's bias, a table of buckets x heads"},
    {MAX_DISTANCE, "--max-distance", "N",
     "distance from which on T5's offsets share a bucket (128)"},
    {T5_DIRECTION, "--t5-direction", "both|past",
     "T5's buckets for both sides or the past (past with -c)"},
    {REL_BIAS, "--rel-bias", CLI_FILE, "bias by clipped offset, a table of 2K+1 x heads"},
    {ALIBI, "--alibi", NULL, "linear bias, -slope times distance"},
    {ALIBI_SLOPES, "--alibi-slopes", CLI_FILE, "slopes of your own, one for each head"},
    {MAX_BIAS, "--max-bias", "B", "exponent of the least slope, 2^-B (8)"},
    {SHAW_K, "--shaw-k", CLI_FILE, "vectors added to the keys by clipped offset, 2K+1 rows"},
    {SHAW_V, "--shaw-v", CLI_FILE, "vectors added to the values by clipped offset, 2K+1 rows"},
    {HUANG, "--huang", CLI_FILE, "vectors added to the keys by offset, L rows with -c, else 2L-1"},
    {ROPE, "--rope", NULL, "rotate queries and keys by their position"},
    {BASE, "--rope-base", "B", "base of the rotation's frequencies (10000)"},
    {PAIRS, "--rope-pairs", ROPE_PAIRS, "columns that make a pair (interleaved)"},
    {ROTARY_DIM, "--rotary-dim", "R", "rotate the first R columns of a head (all)"},
    {FREQ_DIM, "--rope-freq-dim", "F", "width that spaces the frequencies (the rotated one)"},
    {SCALING, "--rope-scaling", ROPE_SCALING, "linear, ntk, dynamic, yarn, llama3 or longrope"},
    {CONFIG, "--config", CLI_FILE, "take the rotation from a model's config.json"},
    {LAYER_KIND, "--layer-kind", "NAME", "which layers' rotation of --config"},
    {XPOS, "--xpos", NULL, "let scores fade with the distance to the past, as xPos does"},
    {XPOS_BASE, "--xpos-base", "S",
     "positions in which a pair changes by its whole rate, 2/7 to 1 (512)"},
    {POS, "--pos", CLI_FILE, "untied positions (TUPE), one row for each"},
    {POS_WQ, "--pos-wq", CLI_FILE, "their projection as queries"},
    {POS_WK, "--pos-wk", CLI_FILE, "their projection as keys"},
    {CLS, "--cls", NULL, "position 0 is a [CLS] token, untied from the others"},
    {BIAS, "--bias", CLI_FILE, "a matrix added to the logits, TQ or heads*TQ rows of TK"},
    {TERMS, "--terms", CLI_FILE, "write the four terms of the score of rows and these positions"},
    {EMIT, "--emit", "output|weights|logits|bias|lse", "what to write (output)"},
    {'n', "--count", "TQ[xTK]", "queries and keys of --emit bias without inputs"},
    {COMPUTE, "--compute", "f64|f32", "arithmetic (f32 where every input is f32 or narrower)"},
    {'j', "--jobs", "N", "threads (all cores)"},
    {MAX_MEMORY, "--max-memory", "BYTES[K|M|G]", "refuse what would need more"},
    {0},
};

static const struct cli_command command = {
    .name = "relattn",
    .summary = "Attention with relative positions inside, in memory that grows with rows, not "
	       "their square.",
    .synopsis = "[-Q FILE] [-K FILE] [-V FILE] [-H N] [-c] [position options] [--emit WHAT] [X]\n"
		"[options] --emit bias -n TQ[xTK]\n"
		"--terms P [-W FILE] [X]",
    .options = option_table,
    .common = CLI_IN | CLI_DIM | CLI_OUT | CLI_PROGRESS,
};

/* Which options were given, by key. */
struct given {
	bool key[KEYS];
};

/* ---- what goes together ---- */

struct pair {
	int key, other;
};

static void
check_needs(const struct given *given)
{
	static const struct pair idle[] = {
	    {MAX_DISTANCE, T5}, {T5_DIRECTION, T5}, {ALIBI_SLOPES, ALIBI}, {MAX_BIAS, ALIBI},
	    {BASE, ROPE},       {PAIRS, ROPE},      {ROTARY_DIM, ROPE},    {FREQ_DIM, ROPE},
	    {SCALING, ROPE},    {CONFIG, ROPE},     {LAYER_KIND, CONFIG},  {XPOS, ROPE},
	    {XPOS_BASE, XPOS},  {POS_WQ, POS},      {POS_WK, POS},
	};

	for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
		if (given->key[idle[i].key] && !given->key[idle[i].other])
			cli_refuse("%s: has no effect without %s", cli_spelling(idle[i].key),
				   cli_spelling(idle[i].other));
	if (given->key[POS] && !given->key[POS_WQ])
		cli_missing(POS_WQ);
	if (given->key[POS] && !given->key[POS_WK])
		cli_missing(POS_WK);
	if (given->key[CLS] && !given->key[T5] && !given->key[POS])
		cli_refuse("--cls: has no effect without --t5 or --pos");
	if (given->key[BIAS_SCALE] && !given->key[T5] && !given->key[ALIBI] &&
	    !given->key[REL_BIAS] && !given->key[BIAS])
		cli_refuse(
		    "--bias-scale: has no effect without --t5, --alibi, --rel-bias or --bias");
}

static void
check_conflicts(const struct given *given)
{
	static const struct pair idle[] = {
	    {MAX_BIAS, ALIBI_SLOPES},
	    {'K', TERMS},
	    {'V', TERMS},
	    {DV, TERMS},
	    {'H', TERMS},
	    {KV_HEADS, TERMS},
	    {WV, TERMS},
	    {WO, TERMS},
	    {'c', TERMS},
	    {WINDOW, TERMS},
	    {QUERY_START, TERMS},
	    {T5, TERMS},
	    {REL_BIAS, TERMS},
	    {ALIBI, TERMS},
	    {SHAW_K, TERMS},
	    {SHAW_V, TERMS},
	    {HUANG, TERMS},
	    {ROPE, TERMS},
	    {POS, TERMS},
	    {BIAS, TERMS},
	    {EMIT, TERMS},
	    {'n', TERMS},
	};

	for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
		if (given->key[idle[i].key] && given->key[idle[i].other])
			cli_conflict(idle[i].key, idle[i].other);
}

static void
check_values(const struct options *o, const struct given *given)
{
	const int relative = given->key[SHAW_K] ? SHAW_K : HUANG;

	/* The scores would know how far the query is from the centre. */
	if (given->key[XPOS] && given->key[relative])
		cli_refuse("--xpos: does not go with %s, whose vectors meet the query alone",
			   cli_spelling(relative));
	if (given->key['n'] && o->emit != EMIT_BIAS)
		cli_refuse("-n: has no effect without --emit bias");
	if (o->bilinear != NULL && o->heads != 1)
		cli_refuse("-W: takes one head: '-H %zu'", o->heads);
	if (o->kv_heads > o->heads)
		cli_refuse("--kv-heads: must be at most the %zu heads of -H: '%zu'", o->heads,
			   o->kv_heads);
}

/* Options that name a side table: where its path goes. */
static const char **
table_of(struct options *o, int key)
{
	switch (key) {
	case WQ: return &o->projection[ROLE_QUERY];
	case WK: return &o->projection[ROLE_KEY];
	case WV: return &o->projection[ROLE_VALUE];
	case WO: return &o->wo;
	case 'W': return &o->bilinear;
	case T5: return &o->t5;
	case REL_BIAS: return &o->rel_bias;
	case ALIBI_SLOPES: return &o->alibi_slopes;
	case SHAW_K: return &o->shaw_k;
	case SHAW_V: return &o->shaw_v;
	case HUANG: return &o->huang;
	case POS: return &o->pos;
	case POS_WQ: return &o->pos_wq;
	case POS_WK: return &o->pos_wk;
	case BIAS: return &o->bias;
	case TERMS: return &o->terms;
	default: return NULL;
	}
}

/* ---- who fills which role ---- */

static size_t
add_source(struct sources *s, const char *path)
{
	s->path[s->count] = path;
	return s->count++;
}

/* The operand fills every role that is not named. Without it the first of Q, K, V that is
 * unnamed takes after the one before it, and Q, if it is read at all, stdin. */
static void
resolve_sources(struct options *o, const char *const named[ROLES], const char *operand)
{
	struct sources *s = &o->sources;
	const bool reads_query = o->shaw_k != NULL || o->huang != NULL;
	const bool sized = o->rows != 0;
	size_t from_operand = ROLES; /* not a source yet */

	if (operand != NULL && o->terms != NULL && named[ROLE_QUERY] != NULL)
		cli_refuse("extra operand, -Q is named: '%s'", pe_quote(operand).text);
	s->needed[ROLE_QUERY] = o->emit != EMIT_BIAS || reads_query || !sized;
	s->needed[ROLE_KEY] = o->emit != EMIT_BIAS || !sized;
	s->needed[ROLE_VALUE] = o->emit == EMIT_OUTPUT;
	for (size_t role = 0; role < ROLES; role++) {
		if (named[role] != NULL) {
			s->of[role] = add_source(s, named[role]);
		} else if (operand != NULL) {
			if (from_operand == ROLES)
				from_operand = add_source(s, operand);
			s->of[role] = from_operand;
		} else if (role > 0) {
			s->of[role] = s->of[role - 1];
		} else if (s->needed[ROLE_QUERY]) {
			s->of[role] = add_source(s, "-");
		}
	}
	if (operand != NULL && from_operand == ROLES)
		cli_refuse("extra operand, -Q, -K and -V are all named: '%s'",
			   pe_quote(operand).text);
}

/* Before anything is read from it. */
static void
check_stdin(struct options *o)
{
	const struct sources *s = &o->sources;
	size_t times = 0;

	for (size_t i = 0; i < s->count; i++)
		times += strcmp(s->path[i], "-") == 0;
	for (int key = 0; key < KEYS; key++) {
		const char **table = table_of(o, key);
		times += table != NULL && *table != NULL && strcmp(*table, "-") == 0;
	}
	times += o->turn.config != NULL && strcmp(o->turn.config, "-") == 0;
	if (times > 1)
		cli_refuse("standard input is named twice: '-'");
}

/* ---- parsing ---- */

static size_t
parse_bytes(int key, const char *arg)
{
	static const char units[] = "KMG";
	char digits[24];
	struct pe_error e;
	const size_t length = strspn(arg, "0123456789");
	const char *unit = arg[length] != '\0' ? strchr(units, arg[length]) : NULL;
	const size_t factor = unit != NULL ? (size_t)1 << 10 * (unit - units + 1) : 1;
	int64_t count;
	size_t bytes;

	if (length >= sizeof digits ||
	    (unit == NULL ? arg[length] != '\0' : unit[0] != '\0' && arg[length + 1] != '\0'))
		goto refuse;
	memcpy(digits, arg, length);
	digits[length] = '\0';
	if (pe_num_int64(cli_spelling(key), digits, &count, &e) || count == 0 ||
	    !pe_num_size((size_t)count, factor, 1, &bytes))
		goto refuse;
	return bytes;
refuse:
	cli_refuse("%s: must be positive BYTES, or BYTES with K, M or G: '%s'", cli_spelling(key),
		   pe_quote(arg).text);
}

static const struct rope_keys rope_keys = {
    .base = BASE,
    .pairs = PAIRS,
    .rotary_dim = ROTARY_DIM,
    .freq_dim = FREQ_DIM,
    .scaling = SCALING,
    .config = CONFIG,
    .layer_kind = LAYER_KIND,
    .xpos_base = XPOS_BASE,
};

/* Options with a number, a word or nothing. */
static void
parse_value(struct options *o, int key, const char *arg)
{
	static const char *const emits[] = {"output", "weights", "logits", "bias", "lse", NULL};
	static const char *const directions[] = {"both", "past", NULL};
	static const char *const elements[] = {"f64", "f32", NULL};

	switch (key) {
	case 'H': o->heads = cli_positive(key, arg); break;
	case KV_HEADS: o->kv_heads = cli_positive(key, arg); break;
	case DV: o->value_width = cli_positive(key, arg); break;
	case 'c': o->causal = true; break;
	case WINDOW: o->window = cli_positive(key, arg); break;
	case SCALE: o->scale = cli_number(key, arg); break;
	case BIAS_SCALE: o->bias_scale = cli_number(key, arg); break;
	case QUERY_START: o->query_start = cli_query_start(key, arg, &o->starts_at_end); break;
	case MAX_DISTANCE: o->max_distance = cli_integer(key, arg); break;
	case T5_DIRECTION: o->t5_past = cli_choice(key, arg, directions) == 1; break;
	case ALIBI: o->alibi = true; break;
	case ROPE: o->rope = true; break;
	case XPOS: o->turn.xpos = PE_XPOS_QUERY; break;
	case MAX_BIAS: o->max_bias = cli_positive_number(key, arg); break;
	case CLS: o->cls = true; break;
	case EMIT: o->emit = (enum emit)cli_choice(key, arg, emits); break;
	case 'n':
		cli_shape(key, arg, &o->rows, &o->cols);
		cli_check_size(o->rows, o->cols);
		break;
	case COMPUTE: o->compute = cli_choice(key, arg, elements) == 0 ? PE_F64 : PE_F32; break;
	case 'j': o->jobs = cli_positive(key, arg); break;
	case MAX_MEMORY: o->max_memory = parse_bytes(key, arg); break;
	}
}

static int
role_of(int key)
{
	return key == 'Q' ? ROLE_QUERY : key == 'K' ? ROLE_KEY : key == 'V' ? ROLE_VALUE : ROLES;
}

struct options
parse_options(struct cli *cli, int argc, char **argv)
{
	struct options o = {
	    .heads = 1,
	    .bias_scale = 1,
	    .max_bias = 8,
	    .max_distance = 128,
	    .turn = {.keys = &rope_keys},
	};
	struct given given = {{false}};
	const char *named[ROLES] = {NULL}, *arg;

	cli_start(cli, &command, argc, argv);
	for (int key; (key = cli_next(cli, &arg)) != -1;) {
		given.key[key] = true;
		if (role_of(key) != ROLES)
			named[role_of(key)] = arg;
		else if (table_of(&o, key) != NULL)
			*table_of(&o, key) = arg;
		else if (!rope_option(&o.turn, key, arg))
			parse_value(&o, key, arg);
	}
	if (!given.key[KV_HEADS])
		o.kv_heads = o.heads;
	if (!given.key[T5_DIRECTION])
		o.t5_past = o.causal;
	if (o.jobs > JOBS_MOST)
		o.jobs = JOBS_MOST;
	if (o.terms != NULL)
		o.emit = EMIT_TERMS;
	o.scaled = given.key[SCALE];
	check_needs(&given);
	check_conflicts(&given);
	check_values(&o, &given);
	resolve_sources(&o, named, cli_optional_operand(cli));
	check_stdin(&o);
	return o;
}
