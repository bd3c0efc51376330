/* relattn_plan - where the position schemes meet attention: what each adds, in the form that
 * attend takes. */
#include "relattn_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alibi.h"
#include "backend.h"

enum { AHEAD_LEAST = 256 };

/* ---- schemes ---- */

static void
plan_t5(struct plan *p, const struct inputs *in)
{
	const size_t rows = in->t5.values.rows, apart = p->o->cls ? 1 : 0;
	struct pe_error e;

	if (in->t5.values.data == NULL)
		return;
	die_if(pe_t5_init(&p->t5, rows - apart, p->o->max_distance, !p->o->t5_past, &e), &e);
}

static void
plan_slopes(struct plan *p, struct inputs *in)
{
	const struct pe_alibi rule = {.heads = p->o->heads, .max_bias = p->o->max_bias};

	if (!p->o->alibi)
		return;
	budget_matrix(&in->budget, "--alibi", 1, p->o->heads, PE_F64, &p->slopes);
	if (in->slopes.values.data != NULL)
		memcpy(p->slopes.data, in->slopes.values.data, p->o->heads * sizeof(double));
	else
		pe_alibi_slopes(&rule, PE_F64, p->slopes.data);
}

/* The table's rows rounded to the element, each head's vector padded with zeros to dim columns;
 * they take the table's place. */
static struct pe_attend_relative
pad_vectors(struct plan *p, struct inputs *in, struct table *t, const struct pe_relvec *rows,
	    size_t width, size_t dim, struct pe_matrix *to)
{
	const size_t heads = t->values.cols / width, size = pe_elem_size(p->elem);
	struct pe_matrix row;
	struct pe_error e;

	budget_matrix(&in->budget, t->name.text, 1, t->values.cols, p->elem, &row);
	budget_matrix(&in->budget, t->name.text, t->values.rows, heads * dim, p->elem, to);
	for (size_t r = 0; r < t->values.rows; r++) {
		die_if(pe_convert_rows(t->name.text, r, row.cols, p->elem, row.data, PE_F64,
				       pe_matrix_row(&t->values, r), row.cols, &e),
		       &e);
		for (size_t h = 0; h < heads; h++)
			memcpy((char *)pe_matrix_row(to, r) + h * dim * size,
			       (char *)row.data + h * width * size, width * size);
	}
	budget_release(&in->budget, &row);
	budget_release(&in->budget, &t->values);
	return (struct pe_attend_relative){
	    .vectors = to->data,
	    .count = t->values.rows,
	    .first = rows->first,
	    .per_head = heads > 1,
	    .clip = rows->clips,
	};
}

static void
add_relative(struct plan *p, struct inputs *in, struct table *t, const struct pe_relvec *rows)
{
	const size_t i = p->relative_count++;

	p->relatives[i] = pad_vectors(p, in, t, rows, p->content, p->dim, &p->relative_vectors[i]);
}

static void
plan_relatives(struct plan *p, struct inputs *in)
{
	struct pe_relvec rows;
	struct pe_error e;

	if (in->shaw_k.values.data != NULL) {
		die_if(
		    pe_relvec_init_clipped(&rows, in->shaw_k.name.text, in->shaw_k.values.rows, &e),
		    &e);
		add_relative(p, in, &in->shaw_k, &rows);
	}
	if (in->huang.values.data != NULL) {
		die_if(pe_relvec_init_unclipped(&rows, in->huang.name.text, in->huang.values.rows,
						p->o->causal, &e),
		       &e);
		add_relative(p, in, &in->huang, &rows);
	}
	if (in->shaw_v.values.data != NULL) {
		die_if(
		    pe_relvec_init_clipped(&rows, in->shaw_v.name.text, in->shaw_v.values.rows, &e),
		    &e);
		p->relative_value = pad_vectors(p, in, &in->shaw_v, &rows, in->value_dim,
						in->value_dim, &p->value_vectors);
	}
}

static void
plan_rope(struct plan *p, struct inputs *in, struct cli *cli)
{
	struct pe_error e;
	char head[512];

	if (!p->o->rope || p->content == 0)
		return;
	rope_setup(&p->turn, cli, &p->o->turn);
	(void)snprintf(head, sizeof head, "%s: a head's columns", in->lanes[ROLE_QUERY].name);
	die_if(rope_spec(&p->turn, head, PE_FAULT_DATA, p->content, &p->rotation, &e) ||
		   pe_rope_init(&p->rope[ROLE_QUERY], &p->rotation, &e),
	       &e);
	p->rope[ROLE_KEY] = p->rope[ROLE_QUERY];
	budget_matrix(&in->budget, "--rope", 1, pe_rope_scratch(p->rope[ROLE_QUERY]), PE_F64,
		      &p->rope_scratch);
}

/* xPos's factors stay smallest about the middle of the keys. Scores do not know where that is. */
static void
centre_rope(struct plan *p)
{
	struct pe_xpos_spec *xpos = &p->rotation.xpos;
	struct pe_error e;

	if (p->rope[ROLE_QUERY] == NULL || xpos->role == PE_XPOS_NONE)
		return;
	pe_rope_free(p->rope[ROLE_QUERY]);
	xpos->centre = (int64_t)(p->keys / 2);
	for (enum role role = ROLE_QUERY; role <= ROLE_KEY; role++) {
		xpos->role = role == ROLE_QUERY ? PE_XPOS_QUERY : PE_XPOS_KEY;
		die_if(pe_rope_init(&p->rope[role], &p->rotation, &e), &e);
	}
}

/* Rows of P through one of its projections. */
static void
project_positions(struct plan *p, struct inputs *in, struct table *by, struct pe_matrix *to)
{
	const struct pe_matrix *from = &in->pos.values;
	struct pe_project project;
	struct pe_matrix rows;
	struct pe_error e;

	budget_matrix(&in->budget, in->pos.name.text, from->rows, from->cols, p->elem, &rows);
	budget_matrix(&in->budget, in->pos.name.text, from->rows, by->values.cols, p->elem, to);
	budget_take(&in->budget, by->name.text, by->values.rows, by->values.cols,
		    pe_elem_size(p->elem));
	die_if(pe_convert_rows(in->pos.name.text, 0, from->cols, p->elem, rows.data, PE_F64,
			       from->data, from->rows * from->cols, &e) ||
		   pe_project_init(&project, &by->values, p->elem, p->o->jobs, &e) ||
		   pe_project_rows(&project, rows.data, rows.rows, to->data, &e),
	       &e);
	pe_project_free(&project);
	in->budget.used -= by->values.rows * by->values.cols * pe_elem_size(p->elem);
	budget_release(&in->budget, &rows);
	budget_release(&in->budget, &by->values);
}

static void
plan_untied(struct plan *p, struct inputs *in)
{
	struct pe_matrix query, key;
	struct pe_error e;

	if (in->pos.values.data == NULL)
		return;
	project_positions(p, in, &in->pos_wq, &query);
	project_positions(p, in, &in->pos_wk, &key);
	budget_take(&in->budget, in->pos.name.text, 2 * query.rows, query.cols,
		    pe_elem_size(p->elem));
	die_if(pe_untied_init(&p->untied, &query, &key, p->o->heads, p->o->cls, &e), &e);
	budget_release(&in->budget, &query);
	budget_release(&in->budget, &key);
	budget_release(&in->budget, &in->pos.values);
}

void
plan_schemes(struct plan *p, struct inputs *in, struct cli *cli, const struct options *o)
{
	struct pe_error e;

	*p = (struct plan){.o = o, .elem = in->elem};
	plan_t5(p, in);
	plan_slopes(p, in);
	if (in->rel_bias.values.data != NULL)
		die_if(pe_relvec_init_clipped(&p->rel_bias, in->rel_bias.name.text,
					      in->rel_bias.values.rows, &e),
		       &e);
	plan_untied(p, in);
	/* For the bias alone the query counts only where relative vectors meet it. */
	if (o->emit != EMIT_BIAS || in->shaw_k.values.data != NULL || in->huang.values.data != NULL)
		p->content = in->head_dim;
	p->dim = p->content + p->untied.width;
	plan_relatives(p, in);
	plan_rope(p, in, cli);
}

/* ---- rows ---- */

static void
check_reach(const struct plan *p, int64_t position)
{
	const bool f32 = p->elem == PE_F32;

	if (!pe_xpos_reaches(&p->rotation.xpos, p->elem, (double)position))
		cli_fail(
		    "position %lld: farther than %d times --xpos-base from key %lld, the middle%s",
		    (long long)position, f32 ? PE_XPOS_REACH_F32 : PE_XPOS_REACH_F64,
		    (long long)p->rotation.xpos.centre,
		    f32 ? " (--compute f64 reaches farther)" : "");
}

void
plan_turn(const struct plan *p, enum role role, void *rows, size_t n, size_t heads,
	  int64_t position)
{
	if (p->rope[role] == NULL || n == 0)
		return;
	check_reach(p, position);
	check_reach(p, position + (int64_t)n - 1);
	pe_rope_rotate(p->rope[role], position, n, heads, p->elem, rows, p->rope_scratch.data);
}

/* Lays content (from_heads side by side, NULL: zeros) and features together, head by head. */
static void
append_features(const struct plan *p, const char *content, size_t from_heads, const char *features,
		char *out)
{
	const size_t size = pe_elem_size(p->elem), heads = p->o->heads;
	const size_t inner = p->content * size, more = p->untied.width * size;

	for (size_t h = 0; h < heads; h++, out += inner + more) {
		if (content != NULL)
			memcpy(out, content + h * from_heads / heads * inner, inner);
		else
			memset(out, 0, inner);
		memcpy(out + inner, features + h * more, more);
	}
}

static void
check_position(const struct plan *p, const struct inputs *in, int64_t position)
{
	if (position < 0 || (uint64_t)position >= p->untied.positions)
		cli_fail("position %lld: %s has %s 0..%zu", (long long)position, in->pos.name.text,
			 p->o->cls ? "positions" : "rows", p->untied.positions - 1);
}

void
plan_assemble(const struct plan *p, const struct inputs *in, const void *content, size_t n,
	      int64_t position, void *out)
{
	const size_t size = pe_elem_size(p->elem), heads = p->o->heads;
	const char *from = p->content > 0 ? content : NULL;

	check_position(p, in, position);
	check_position(p, in, position + (int64_t)n - 1);
	for (size_t r = 0; r < n; r++) {
		append_features(p, from, heads,
				pe_matrix_row(&p->untied.query, (size_t)position + r),
				(char *)out + r * heads * p->dim * size);
		if (from != NULL)
			from += heads * p->content * size;
	}
}

/* Keys with features take a row of their own for each query head. The bias alone leaves the
 * content out. */
static void
append_keys(struct plan *p, struct inputs *in, struct store *key)
{
	const size_t kv_heads = p->o->kv_heads;
	struct pe_matrix all;

	if (p->keys > 0)
		check_position(p, in, (int64_t)p->keys - 1);
	budget_matrix(&in->budget, in->pos.name.text, p->keys, p->o->heads * p->dim, p->elem, &all);
	for (size_t n = 0; n < p->keys; n++)
		append_features(p, p->o->emit == EMIT_BIAS ? NULL : pe_matrix_row(&key->rows, n),
				kv_heads, pe_matrix_row(&p->untied.key, n), pe_matrix_row(&all, n));
	budget_release(&in->budget, &key->rows);
	key->rows = all;
}

/* Values for each query head, where keys have a row for each. */
static void
repeat_values(struct plan *p, struct inputs *in, struct store *value)
{
	const size_t heads = p->o->heads, kv_heads = p->o->kv_heads;
	const size_t bytes = in->value_dim * pe_elem_size(p->elem);
	struct pe_matrix all;

	if (value->rows.data == NULL || heads == kv_heads)
		return;
	budget_matrix(&in->budget, in->lanes[ROLE_VALUE].name, p->keys, heads * in->value_dim,
		      p->elem, &all);
	for (size_t n = 0; n < p->keys; n++)
		for (size_t h = 0; h < heads; h++)
			memcpy((char *)pe_matrix_row(&all, n) + h * bytes,
			       (char *)pe_matrix_row(&value->rows, n) +
				   h * kv_heads / heads * bytes,
			       bytes);
	budget_release(&in->budget, &value->rows);
	value->rows = all;
}

static double
scale_of(const struct plan *p, const struct inputs *in)
{
	const size_t dim = in->head_dim != 0     ? in->head_dim
			   : p->untied.width > 0 ? in->pos_wq.values.cols / p->o->heads
						 : 1;

	if (p->o->scaled)
		return p->o->scale;
	if (p->o->terms != NULL)
		return 1;
	return 1 / sqrt((double)dim * (p->untied.width > 0 ? 2 : 1));
}

/* What is read row by row is met head by head. The block that this takes is freed before
 * attention's own memory is asked for, which is more. */
static void
lay_by_heads(struct pe_matrix *rows, size_t count, size_t heads)
{
	struct pe_error e;

	if (rows->data != NULL)
		die_if(pe_attend_by_heads(rows->elem, rows->data, count, heads, rows->cols / heads,
					  &e),
		       &e);
}

void
plan_attention(struct plan *p, struct inputs *in, struct store *key, struct store *value,
	       size_t keys, int64_t start)
{
	const bool untied = p->untied.width > 0;
	struct pe_attend_spec spec = {
	    .elem = p->elem,
	    .heads = p->o->heads,
	    .kv_heads = untied ? p->o->heads : p->o->kv_heads,
	    .dim = p->dim > 0 ? p->dim : 1,
	    .value_dim = in->value_dim > 0 ? in->value_dim : 1,
	    .keys = keys,
	    .by_heads = true,
	    .scale = scale_of(p, in),
	    .causal = p->o->causal,
	    .window = (int64_t)p->o->window,
	    .relative = p->relatives,
	    .relatives = p->relative_count,
	    .relative_value = p->relative_value.count > 0 ? &p->relative_value : NULL,
	    .threads = p->o->jobs,
	};
	struct pe_error e;

	p->keys = keys;
	p->start = start;
	centre_rope(p);
	if (p->o->emit != EMIT_BIAS)
		plan_turn(p, ROLE_KEY, key->rows.data, keys, p->o->kv_heads, 0);
	if (untied) {
		append_keys(p, in, key);
		repeat_values(p, in, value);
	}
	p->key = key->rows;
	p->value = value->rows;
	lay_by_heads(&p->key, keys, spec.kv_heads);
	lay_by_heads(&p->value, keys, spec.kv_heads);
	*key = *value = (struct store){.capacity = 0};
	spec.key = p->o->emit != EMIT_BIAS || untied ? p->key.data : NULL;
	spec.value = p->value.data;
	p->matrix = p->o->emit == EMIT_WEIGHTS           ? PE_ATTEND_WEIGHTS
		    : p->o->emit == EMIT_BIAS && !untied ? PE_ATTEND_BIAS
							 : PE_ATTEND_LOGITS;
	die_if(pe_attend_init(&p->attend, &spec, &e), &e);
	budget_take(&in->budget, "attention", pe_attend_memory(&spec), 1, 1);
}

void
plan_free(struct plan *p)
{
	pe_attend_free(p->attend);
	if (p->rope[ROLE_KEY] != p->rope[ROLE_QUERY])
		pe_rope_free(p->rope[ROLE_KEY]);
	pe_rope_free(p->rope[ROLE_QUERY]);
	rope_setup_free(&p->turn);
	pe_t5_free(&p->t5);
	pe_untied_free(&p->untied);
	for (size_t i = 0; i < p->relative_count; i++)
		pe_matrix_free(&p->relative_vectors[i]);
	pe_matrix_free(&p->value_vectors);
	pe_matrix_free(&p->slopes);
	pe_matrix_free(&p->rope_scratch);
	pe_matrix_free(&p->key);
	pe_matrix_free(&p->value);
	pe_matrix_free(&p->window.values);
	pe_matrix_free(&p->window.apart);
}

/* ---- bias by offset ---- */

static bool
has_offsets(const struct plan *p)
{
	return p->keys > 0 &&
	       (p->t5.num_buckets > 0 || p->slopes.data != NULL || p->rel_bias.rows > 0);
}

static bool
has_apart(const struct plan *p)
{
	return p->t5.num_buckets > 0 && p->o->cls;
}

/* T5's bias where the query or the key is [CLS] (Ke et al. 2021): a [CLS] query has the bucket
 * that T5 never uses, half of them, a [CLS] key the row behind the last bucket. At position 0
 * and later offsets tell which of the two it is. */
static void
cls_bias(const struct plan *p, const struct pe_matrix *table, size_t head, int64_t position,
	 int64_t lo, size_t n, double *bias)
{
	const double *column = pe_matrix_f64(table) + head;
	const double query = column[p->t5.num_buckets / 2 * table->cols];
	const double key = column[p->t5.num_buckets * table->cols];

	for (size_t j = 0; j < n; j++)
		bias[j] = position >= 0 && lo + (int64_t)j >= 0 ? query : key;
}

/* All terms of one head for n offsets from lo on; apart: as they are beside a [CLS] token. */
static void
sum_offsets(const struct plan *p, const struct inputs *in, size_t head, bool apart, int64_t lo,
	    size_t n, double *sum, double *term)
{
	memset(sum, 0, n * sizeof *sum);
	if (apart)
		cls_bias(p, &in->t5.values, head, p->window.position, lo, n, sum);
	else if (p->t5.num_buckets > 0)
		pe_t5_bias(&p->t5, &in->t5.values, head, lo, n, sum);
	if (p->slopes.data != NULL) {
		pe_alibi_slope_bias(pe_matrix_f64(&p->slopes)[head], lo, n, term);
		for (size_t j = 0; j < n; j++)
			sum[j] += term[j];
	}
	if (p->rel_bias.rows > 0) {
		pe_relvec_bias(&p->rel_bias, &in->rel_bias.values, head, lo, n, term);
		for (size_t j = 0; j < n; j++)
			sum[j] += term[j];
	}
	for (size_t j = 0; j < n; j++)
		sum[j] *= p->o->bias_scale;
}

static void
fill_offsets(const struct plan *p, const struct inputs *in, bool apart, struct pe_matrix *to)
{
	const char *name = "bias by offset";
	struct pe_matrix scratch;
	struct pe_error e;

	die_if(pe_matrix_init(&scratch, 2, to->cols, PE_F64, &e), &e);
	for (size_t h = 0; h < to->rows; h++) {
		sum_offsets(p, in, h, apart, p->window.first, to->cols, pe_matrix_row(&scratch, 0),
			    pe_matrix_row(&scratch, 1));
		die_if(pe_convert_rows(name, h, to->cols, p->elem, pe_matrix_row(to, h), PE_F64,
				       scratch.data, to->cols, &e),
		       &e);
	}
	pe_matrix_free(&scratch);
}

/* Makes the window reach the offsets of n queries from that position on, and of some to come, so
 * that short calls do not each make it anew. */
static void
reach(struct plan *p, struct inputs *in, int64_t position, size_t n)
{
	struct offset_window *w = &p->window;
	const size_t ahead = p->keys / 4 > AHEAD_LEAST ? p->keys / 4 : AHEAD_LEAST;
	const bool crosses = w->position < 0 && position >= 0 && has_apart(p);

	if (w->made && !crosses && position >= w->position &&
	    position + (int64_t)n - 1 <= -w->first)
		return;
	const size_t rows = n > ahead ? n : ahead;
	if (w->values.cols < p->keys + rows - 1) {
		pe_matrix_free(&w->values);
		pe_matrix_free(&w->apart);
		budget_matrix(&in->budget, "bias by offset", p->o->heads, p->keys + rows - 1,
			      p->elem, &w->values);
		if (has_apart(p))
			budget_matrix(&in->budget, "bias by offset", p->o->heads,
				      p->keys + rows - 1, p->elem, &w->apart);
	}
	w->made = true;
	w->position = position;
	w->first = -(position + (int64_t)rows - 1);
	fill_offsets(p, in, false, &w->values);
	if (has_apart(p))
		fill_offsets(p, in, true, &w->apart);
}

size_t
plan_cut(const struct plan *p, int64_t position, size_t n)
{
	/* Before position 0 no query is [CLS]. */
	if (has_apart(p) && position < 0 && (uint64_t)-position < n)
		return (size_t)-position;
	return n;
}

struct pe_attend_rows
plan_call(struct plan *p, struct inputs *in, const void *query, size_t n, int64_t position)
{
	struct pe_attend_rows call = {.query = query, .rows = n, .position = position};

	if (!has_offsets(p))
		return call;
	reach(p, in, position, n);
	call.offsets = (struct pe_attend_offsets){
	    .values = p->window.values.data,
	    .first = p->window.first,
	    .count = p->window.values.cols,
	};
	if (has_apart(p)) {
		call.apart = call.offsets;
		call.apart.values = p->window.apart.data;
	}
	return call;
}
