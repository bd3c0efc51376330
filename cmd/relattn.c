/* relattn - attention with relative positions inside, query rows in, output rows out. */
#include "backend.h"
#include "cli.h"
#include "cli_rows.h"
#include "num.h"
#include "relattn_inputs.h"
#include "relattn_options.h"
#include "relattn_plan.h"

/* Rows of T x T that a call fills take no more than this, nor more than an eighth of --max-memory. */
enum { MATRIX_BYTES = 4 * 1024 * 1024 };

/* Queries on their way to attend: from an input by blocks, from memory, or none where only their
 * number counts. */
struct queries {
	struct lane *lane; /* NULL: no rows are read */
	struct store held; /* projected and turned, where `whole` */
	bool whole;
	int64_t due;   /* rows there are, -1: as many as come */
	int64_t given; /* rows handed out */
	struct pe_matrix raw, content, ready;
};

/* Rows of --bias on their way: one for each query, or one for each query of each head. */
struct bias_rows {
	struct pe_reader *reader; /* NULL: there is none */
	const char *name;
	struct pe_matrix raw, ready;
	/* one for each query, where other heads may need them again and a pipe brings them */
	struct store kept;
	bool keeps;     /* rows go there as they come */
	bool by_head;   /* there are rows for each head */
	bool shared;    /* there are not, and the rows have all been seen */
	size_t peeked;  /* rows at the start of raw that are to come next */
	uint64_t given; /* rows handed out */
};

struct job {
	struct cli *cli;
	const struct options *o;
	struct inputs in;
	struct plan plans[2]; /* the second for the other keys of --terms */
	struct plan *plan;    /* the one under way */
	struct queries queries;
	struct bias_rows bias;
	size_t batch; /* most query rows of a call */
	struct pe_writer *out;
	struct pe_project project; /* --wo */
	struct pe_matrix results, projected;
	uint64_t written;
};

/* ---- queries ---- */

static bool
writes_rows(const struct options *o)
{
	return o->emit == EMIT_OUTPUT || o->emit == EMIT_LSE;
}

/* max, but no more than are left; left < 0: nobody knows. */
static size_t
at_most(size_t max, int64_t left)
{
	return left >= 0 && (uint64_t)left < max ? (size_t)left : max;
}

/* How many query rows share a call: no more than there are, and than a part of T x T takes
 * little memory; where their number is known, no last call with a few. */
static void
set_batch(struct job *job)
{
	const struct budget *b = &job->in.budget;
	const size_t row = job->plan->keys * pe_elem_size(job->in.elem);
	size_t batch = pe_attend_batch(job->plan->attend), bytes = MATRIX_BYTES;

	batch = at_most(batch, job->queries.due);
	if (b->limit != 0 && bytes > b->limit / 8)
		bytes = b->limit / 8;
	if (row > 0 && (!writes_rows(job->o) || job->o->bias != NULL) && batch > bytes / row)
		batch = bytes / row;
	if (batch > 0 && job->queries.due > 0) {
		const size_t due = (size_t)job->queries.due,
			     calls = due / batch + (due % batch > 0);

		batch = due / calls + (due % calls > 0);
	}
	job->batch = batch > 0 ? batch : 1;
}

/* Queries are read whole where their input fills another role too, where their number has to be
 * known first, and where heads take turns. */
static bool
holds_queries(const struct job *job)
{
	const struct options *o = job->o;
	const struct input *input = job->queries.lane->input;

	for (size_t role = ROLE_KEY; role < ROLES; role++)
		if (job->in.lanes[role].input == input)
			return true;
	if (o->heads > 1 && (o->bias != NULL || !writes_rows(o)))
		return true;
	return o->starts_at_end && o->rows == 0 && pe_reader_rows(input->reader) < 0;
}

/* Room for the blocks that queries pass through. */
static void
prepare_queries(struct job *job)
{
	struct queries *q = &job->queries;
	const struct plan *p = job->plan;
	const size_t heads = job->o->heads;

	if (q->lane != NULL && !q->whole) {
		const struct input *input = q->lane->input;

		if (!lane_is_straight(q->lane, &job->in))
			budget_matrix(&job->in.budget, input->name, job->batch, input->cols,
				      input->elem, &q->raw);
		budget_matrix(&job->in.budget, input->name, job->batch, q->lane->cols, p->elem,
			      &q->content);
	}
	if (p->untied.width > 0)
		budget_matrix(&job->in.budget, "queries", job->batch, heads * p->dim, p->elem,
			      &q->ready);
}

/* n positions from the first one on, which is no farther out than 2^53 itself. */
static void
check_positions(int64_t first, int64_t n)
{
	if (n > 0 && n - 1 > PE_POSITION_MAX - first)
		cli_fail("position %lld: beyond 2^53, where positions are exact",
			 (long long)(PE_POSITION_MAX + 1));
}

/* The next rows of the input, up to max, projected and turned. What is written so far goes out
 * before it would wait for the first of them; it does not wait for more. */
static size_t
read_queries(struct job *job, size_t max, int64_t position)
{
	struct queries *q = &job->queries;
	struct pe_reader *r = q->lane->input->reader;
	const struct pe_matrix *raw = q->raw.data != NULL ? &q->raw : &q->content;
	struct pe_error e;
	size_t n = 0;
	ssize_t got;

	if (pe_reader_waits(r))
		die_if(pe_writer_flush(job->out, &e), &e);
	do {
		got = pe_reader_read(r, pe_matrix_row(raw, n), max - n, &e);
		die_if(got < 0, &e);
		n += (size_t)got;
	} while (got > 0 && n < max && !pe_reader_waits(r));
	check_positions(position, (int64_t)n);
	if (n == 0 || job->plan->content == 0)
		return n;
	if (raw == &q->raw)
		lane_rows(q->lane, &job->in, q->raw.data, n, (uint64_t)q->given, q->content.data);
	plan_turn(job->plan, ROLE_QUERY, q->content.data, n, job->o->heads, position);
	return n;
}

static _Noreturn void
fail_count(const struct job *job, int64_t rows)
{
	const long long due = (long long)job->queries.due;

	cli_fail("%s: has %s%lld rows, -n says %lld", job->queries.lane->input->name,
		 rows > due ? "more than " : "", rows > due ? due : (long long)rows, due);
}

/* Up to max queries: sets their address, NULL where attend needs none, and the first one's
 * position. 0 at the end. */
static size_t
next_queries(struct job *job, size_t max, const void **query, int64_t *position)
{
	struct queries *q = &job->queries;
	const struct plan *p = job->plan;
	const void *content = q->content.data;
	size_t n;

	*position = p->start + q->given;
	n = plan_cut(p, *position, max);
	if (q->lane == NULL || q->whole)
		n = at_most(n, q->due - q->given);
	else
		n = read_queries(job, n, *position);
	if (q->whole)
		content = pe_matrix_row(&q->held.rows, (size_t)q->given);
	q->given += (int64_t)n;
	if (q->due >= 0 && (q->given > q->due || (n == 0 && q->given < q->due)))
		fail_count(job, q->given);
	*query = p->content > 0 ? content : NULL;
	if (n > 0 && p->untied.width > 0) {
		plan_assemble(p, &job->in, content, n, *position, q->ready.data);
		*query = q->ready.data;
	}
	return n;
}

/* ---- rows of --bias ---- */

static void
prepare_bias(struct job *job)
{
	struct bias_rows *b = &job->bias;
	const struct options *o = job->o;
	const int64_t due = job->queries.due;

	inputs_open_bias(&job->in, job->cli, o, job->plan->keys);
	b->reader = job->in.bias;
	if (b->reader == NULL)
		return;
	b->name = pe_reader_name(b->reader);
	const int64_t rows = pe_reader_rows(b->reader);
	b->by_head = o->heads > 1 && rows > 0 && (uint64_t)rows % o->heads == 0 &&
		     rows / (int64_t)o->heads == due;
	if (rows >= 0 && due >= 0 && rows != due && !b->by_head)
		cli_fail("%s: has %lld rows, queries are %lld", b->name, (long long)rows,
			 (long long)due);
	b->keeps = o->heads > 1 && !writes_rows(o) && !b->by_head && !pe_reader_is_file(b->reader);
	store_begin(&b->kept, &job->in.budget, b->name, job->plan->keys, job->plan->elem,
		    b->keeps ? due : -1);
	budget_matrix(&job->in.budget, b->name, job->batch, job->plan->keys,
		      pe_reader_carrier(b->reader), &b->raw);
	budget_matrix(&job->in.budget, b->name, job->batch, job->plan->keys, job->plan->elem,
		      &b->ready);
}

/* Fills raw up to n rows; fewer only at the end of the input. */
static size_t
fill_raw(struct bias_rows *b, size_t n)
{
	size_t have = b->peeked;
	struct pe_error e;

	while (have < n) {
		const ssize_t got =
		    pe_reader_read(b->reader, pe_matrix_row(&b->raw, have), n - have, &e);
		die_if(got < 0, &e);
		if (got == 0)
			break;
		have += (size_t)got;
	}
	b->peeked = 0;
	return have;
}

static void
multiply(enum pe_elem elem, void *values, size_t n, double factor)
{
	if (factor == 1)
		return;
	for (size_t i = 0; i < n; i++)
		if (elem == PE_F32)
			((float *)values)[i] = (float)(factor * (double)((float *)values)[i]);
		else
			((double *)values)[i] *= factor;
}

/* The next n rows, times --bias-scale; NULL where there is no --bias. */
static const void *
next_bias(struct job *job, size_t n)
{
	struct bias_rows *b = &job->bias;
	const size_t cols = job->plan->keys;
	struct pe_error e;

	if (b->reader == NULL)
		return NULL;
	if (b->keeps && b->shared) {
		b->given += n;
		return pe_matrix_row(&b->kept.rows, (size_t)b->given - n);
	}
	if (pe_reader_waits(b->reader))
		die_if(pe_writer_flush(job->out, &e), &e);
	const size_t have = fill_raw(b, n);
	if (have < n)
		cli_fail("%s: has %llu rows, queries are %s%lld", b->name,
			 (unsigned long long)b->given + have,
			 job->queries.due < 0 ? "at least " : "",
			 (long long)(job->queries.due < 0 ? job->queries.given : job->queries.due));
	void *to = b->keeps ? store_extend(&b->kept, &job->in.budget, b->name, n) : b->ready.data;
	die_if(pe_convert_rows(b->name, b->given, cols, job->plan->elem, to, b->raw.elem,
			       b->raw.data, n * cols, &e),
	       &e);
	multiply(job->plan->elem, to, n * cols, job->o->bias_scale);
	b->given += n;
	return to;
}

static bool
bias_has_more(struct bias_rows *b)
{
	if (b->reader == NULL || (b->keeps && b->shared))
		return false;
	b->peeked = fill_raw(b, 1);
	return b->peeked > 0;
}

static void
expect_bias_end(struct job *job)
{
	if (bias_has_more(&job->bias))
		cli_fail("%s: has more than %llu rows, queries are %lld", job->bias.name,
			 (unsigned long long)job->bias.given, (long long)job->queries.given);
}

/* After the queries have passed for the first time, and heads are several: a bias that is over
 * is one for all heads. */
static bool
bias_is_by_head(struct job *job)
{
	struct bias_rows *b = &job->bias;

	if (b->reader == NULL)
		return false;
	b->by_head |= bias_has_more(b);
	b->shared = !b->by_head;
	if (b->by_head)
		pe_matrix_free(&b->kept.rows);
	b->keeps &= b->shared;
	return b->by_head;
}

/* The next head begins: rows that all share are read again, from memory or the file. */
static void
rewind_bias(struct job *job)
{
	struct bias_rows *b = &job->bias;

	if (!b->shared)
		return;
	b->given = 0;
	if (b->keeps)
		return;
	pe_reader_close(b->reader);
	job->in.bias = NULL;
	inputs_open_bias(&job->in, job->cli, job->o, job->plan->keys);
	b->reader = job->in.bias;
	b->name = pe_reader_name(b->reader);
}

/* ---- output ---- */

static const char *const *
output_names(const struct job *job)
{
	const struct lane *v = &job->in.lanes[ROLE_VALUE];

	if (job->o->emit != EMIT_OUTPUT || v->count > 0 || job->o->wo != NULL ||
	    job->o->kv_heads != job->o->heads)
		return NULL;
	return pe_reader_names(v->input->reader);
}

static void
open_output(struct job *job, size_t cols, size_t matrices)
{
	const int64_t due = job->queries.due;
	struct pe_writer_spec spec;
	struct pe_error e;
	size_t rows = 0;

	if (due >= 0)
		die_if(pe_num_matrix_size((size_t)due, matrices, 1, &rows, &e), &e);
	spec = cli_writer(job->cli, cols, due < 0 ? -1 : (int64_t)rows);
	spec.natural = job->in.natural;
	spec.carrier = job->plan->elem;
	spec.names = cli_header(job->cli, output_names(job), cols);
	budget_take(&job->in.budget, "output", 1, PE_WRITE_BLOCK, 1);
	job->out = cli_open_writer(job->cli, &spec);
}

static void
put(struct job *job, const void *rows, size_t n)
{
	struct pe_error e;

	die_if(pe_writer_put(job->out, rows, n, &e), &e);
	job->written += n;
	cli_progress(job->cli, job->written);
}

/* n rows of output, through --wo. */
static void
put_output(struct job *job, const void *rows, size_t n)
{
	struct pe_error e;

	if (job->project.scores != NULL) {
		die_if(pe_project_rows(&job->project, rows, n, job->projected.data, &e), &e);
		rows = job->projected.data;
	}
	put(job, rows, n);
}

/* ---- output and lse: a row for each query ---- */

static size_t
prepare_rows(struct job *job, size_t rows)
{
	const struct options *o = job->o;
	const bool lse = o->emit == EMIT_LSE;
	const size_t width = lse ? o->heads : o->heads * job->in.value_dim;
	struct table *wo = &job->in.wo;
	struct pe_error e;

	budget_matrix(&job->in.budget, "output", rows, width, job->plan->elem, &job->results);
	if (lse || o->wo == NULL)
		return width;
	budget_take(&job->in.budget, wo->name.text, wo->values.rows, wo->values.cols,
		    pe_elem_size(job->plan->elem));
	die_if(pe_project_init(&job->project, &wo->values, job->plan->elem, o->jobs, &e), &e);
	budget_release(&job->in.budget, &wo->values);
	budget_matrix(&job->in.budget, "output", job->batch, wo->values.cols, job->plan->elem,
		      &job->projected);
	return wo->values.cols;
}

/* All queries for some heads; rows go out batch by batch, or stay in the results where other
 * heads are still to come. */
static void
attend_rows(struct job *job, size_t head, size_t heads, bool stay)
{
	const void *query;
	int64_t position;
	struct pe_error e;
	size_t n;

	job->queries.given = 0;
	while ((n = next_queries(job, job->batch, &query, &position)) > 0) {
		struct pe_attend_rows call = plan_call(job->plan, &job->in, query, n, position);
		void *to = pe_matrix_row(&job->results, stay ? (size_t)job->queries.given - n : 0);
		const bool lse = job->o->emit == EMIT_LSE;

		call.head = head;
		call.heads = heads;
		call.bias = next_bias(job, n);
		die_if(pe_attend_output(job->plan->attend, &call, lse ? NULL : to, lse ? to : NULL,
					&e),
		       &e);
		if (!stay)
			put_output(job, to, n);
	}
}

static void
write_rows(struct job *job)
{
	const size_t heads = job->o->heads;
	const bool stay = job->bias.reader != NULL && heads > 1;
	const size_t rows = stay ? (size_t)job->queries.due : job->batch;

	open_output(job, prepare_rows(job, rows), 1);
	attend_rows(job, 0, job->bias.by_head ? 1 : heads, stay);
	if (stay && bias_is_by_head(job))
		for (size_t h = 1; h < heads; h++)
			attend_rows(job, h, 1, true);
	expect_bias_end(job);
	for (size_t m = 0, n; stay && m < rows; m += n) {
		n = at_most(job->batch, (int64_t)(rows - m));
		put_output(job, pe_matrix_row(&job->results, m), n);
	}
}

/* ---- weights, logits, bias: a matrix for each head ---- */

static void
write_matrix(struct job *job, size_t head)
{
	const void *query;
	int64_t position;
	struct pe_error e;
	size_t n;

	job->queries.given = 0;
	rewind_bias(job);
	while ((n = next_queries(job, job->batch, &query, &position)) > 0) {
		struct pe_attend_rows call = plan_call(job->plan, &job->in, query, n, position);

		call.head = head;
		call.heads = 1;
		call.bias = next_bias(job, n);
		die_if(pe_attend_matrix(job->plan->attend, &call, job->plan->matrix,
					job->results.data, &e),
		       &e);
		put(job, job->results.data, n);
	}
}

static void
write_matrices(struct job *job)
{
	const size_t heads = job->o->heads, keys = job->plan->keys;

	if (keys == 0)
		cli_fail("%s: has no rows, so the matrix has no columns",
			 job->in.lanes[ROLE_KEY].input->name);
	budget_matrix(&job->in.budget, "matrix rows", job->batch, keys, job->plan->elem,
		      &job->results);
	open_output(job, keys, heads);
	for (size_t h = 0; h < heads; h++) {
		write_matrix(job, h);
		if (h == 0 && heads > 1)
			(void)bias_is_by_head(job);
	}
	expect_bias_end(job);
}

/* ---- the four terms (Dai et al. 2019, section 3.3, first equation) ---- */

/* The positions of --terms through a lane, as if they were rows of its input. */
static void
pass_positions(struct job *job, struct lane *l, struct store *to)
{
	const struct table *t = &job->in.terms;
	struct input positions = *l->input;
	struct lane lane = *l;

	positions.name = t->name.text;
	positions.elem = t->values.elem;
	lane.input = &positions;
	store_begin(to, &job->in.budget, t->name.text, l->cols, job->in.elem, -1);
	lane_rows(&lane, &job->in, t->values.data, t->values.rows, 0,
		  store_extend(to, &job->in.budget, t->name.text, t->values.rows));
}

static void
read_terms(struct job *job, struct store query[2], struct store key[2])
{
	const struct input *input = job->in.lanes[ROLE_QUERY].input;
	struct store stores[ROLES] = {{.capacity = 0}};
	const size_t rows = job->in.terms.values.rows;

	inputs_make_room(&job->in, input, stores);
	inputs_read(&job->in, input, stores);
	query[0] = stores[ROLE_QUERY];
	key[0] = stores[ROLE_KEY];
	if (query[0].rows.rows != rows)
		cli_fail("%s: has %zu rows, %s has %zu", job->in.terms.name.text, rows, input->name,
			 query[0].rows.rows);
	pass_positions(job, &job->in.lanes[ROLE_QUERY], &query[1]);
	pass_positions(job, &job->in.lanes[ROLE_KEY], &key[1]);
}

/* Content, then position, as query, with content, then position, as key. */
static void
write_terms(struct job *job)
{
	struct store query[2] = {{.capacity = 0}}, key[2] = {{.capacity = 0}},
		     none = {.capacity = 0};

	read_terms(job, query, key);
	job->queries.due = (int64_t)query[0].rows.rows;
	job->queries.whole = true;
	plan_schemes(&job->plans[1], &job->in, job->cli, job->o);
	for (size_t k = 0; k < 2; k++)
		plan_attention(&job->plans[k], &job->in, &key[k], &none, query[0].rows.rows, 0);
	set_batch(job);
	budget_matrix(&job->in.budget, "matrix rows", job->batch, job->plan->keys, job->in.elem,
		      &job->results);
	open_output(job, job->plan->keys, 4);
	for (size_t i = 0; i < 4; i++) {
		job->queries.held = query[i / 2];
		job->plan = &job->plans[i % 2];
		write_matrix(job, 0);
	}
	pe_matrix_free(&query[0].rows); /* the other is the last that was held */
}

/* ---- attention ---- */

/* The inputs that K, V and held queries come from, each once, the keys' first; returns how many. */
static size_t
inputs_to_read(const struct job *job, const struct input *inputs[ROLES])
{
	static const enum role order[] = {ROLE_KEY, ROLE_VALUE, ROLE_QUERY};
	size_t count = 0;

	for (size_t i = 0; i < ROLES; i++) {
		const struct input *input = job->in.lanes[order[i]].input;
		bool needed = input != NULL && (order[i] != ROLE_QUERY || job->queries.whole);

		for (size_t k = 0; k < count; k++)
			needed &= inputs[k] != input;
		if (needed)
			inputs[count++] = input;
	}
	return count;
}

static void
read_rows(struct job *job, struct store stores[ROLES])
{
	const struct lane *k = &job->in.lanes[ROLE_KEY], *v = &job->in.lanes[ROLE_VALUE];
	const struct input *inputs[ROLES];
	const size_t count = inputs_to_read(job, inputs);

	/* all memory that can be known of is asked for before the first row is read */
	for (size_t i = 0; i < count; i++)
		inputs_make_room(&job->in, inputs[i], stores);
	for (size_t i = 0; i < count; i++)
		inputs_read(&job->in, inputs[i], stores);
	if (v->input != NULL && stores[ROLE_VALUE].rows.rows != stores[ROLE_KEY].rows.rows)
		cli_fail("%s: has %zu rows, %s has %zu", v->input->name,
			 stores[ROLE_VALUE].rows.rows, k->input->name, stores[ROLE_KEY].rows.rows);
}

/* How many queries there are, if it can be known before they have all been read. */
static int64_t
count_queries(const struct job *job, const struct store *held)
{
	if (job->o->rows > 0)
		return (int64_t)job->o->rows;
	if (job->queries.whole)
		return (int64_t)held->rows.rows;
	return pe_reader_rows(job->queries.lane->input->reader);
}

static void
write_attention(struct job *job)
{
	const struct options *o = job->o;
	struct store stores[ROLES] = {{.capacity = 0}};
	struct queries *q = &job->queries;
	int64_t start = o->query_start;

	q->lane = o->sources.needed[ROLE_QUERY] ? &job->in.lanes[ROLE_QUERY] : NULL;
	q->whole = q->lane != NULL && holds_queries(job);
	read_rows(job, stores);
	const size_t keys = o->sources.needed[ROLE_KEY] ? stores[ROLE_KEY].rows.rows : o->cols;
	q->held = stores[ROLE_QUERY];
	q->due = count_queries(job, &q->held);
	if (q->whole && q->due != (int64_t)q->held.rows.rows)
		fail_count(job, (int64_t)q->held.rows.rows);
	if (o->starts_at_end)
		start = (int64_t)keys - q->due;
	check_positions(start, q->due);
	plan_attention(job->plan, &job->in, &stores[ROLE_KEY], &stores[ROLE_VALUE], keys, start);
	if (q->whole && job->plan->content > 0)
		plan_turn(job->plan, ROLE_QUERY, q->held.rows.data, q->held.rows.rows, o->heads,
			  start);
	set_batch(job);
	prepare_queries(job);
	prepare_bias(job);
	if (writes_rows(o))
		write_rows(job);
	else
		write_matrices(job);
}

static void
finish(struct job *job)
{
	struct pe_error e;

	die_if(pe_writer_close(job->out, &e), &e);
	inputs_free(&job->in);
	plan_free(&job->plans[0]);
	plan_free(&job->plans[1]);
	pe_project_free(&job->project);
	pe_matrix_free(&job->queries.held.rows);
	pe_matrix_free(&job->queries.raw);
	pe_matrix_free(&job->queries.content);
	pe_matrix_free(&job->queries.ready);
	pe_matrix_free(&job->bias.raw);
	pe_matrix_free(&job->bias.ready);
	pe_matrix_free(&job->bias.kept.rows);
	pe_matrix_free(&job->results);
	pe_matrix_free(&job->projected);
	cli_end(job->cli);
}

int
main(int argc, char **argv)
{
	struct cli cli;
	const struct options o = parse_options(&cli, argc, argv);
	struct job job = {.cli = &cli, .o = &o, .plan = &job.plans[0]};

	inputs_open(&job.in, &cli, &o);
	plan_schemes(job.plan, &job.in, &cli, &o);
	if (o.emit == EMIT_TERMS)
		write_terms(&job);
	else
		write_attention(&job);
	finish(&job);
	return 0;
}
