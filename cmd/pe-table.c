/* pe-table - position tables, one row per position: sinusoidal in every convention, or learned. */
#include <math.h>

#include "cli.h"
#include "cli_rows.h"
#include "table.h"
#include "table_options.h"

static bool
is_narrow(enum pe_elem elem)
{
	return elem == PE_F32 || elem == PE_F16 || elem == PE_BF16;
}

/* ---- a table ---- */

/* A made table's rows are made in the element that is written; integers and computed rows of a
 * learned table are converted on the way out, which says what does not fit. */
static void
choose_element(struct table *t, struct pe_writer_spec *spec)
{
	if (t->learned.table == NULL) {
		const enum pe_elem due = pe_writer_elem(spec);

		spec->carrier = pe_elem_is_integer(due) ? PE_F64 : due;
		return;
	}
	const enum pe_elem own = t->learned.table->elem;
	if (pe_learned_is_plain(&t->learned)) {
		spec->natural = spec->carrier = own;
		return;
	}
	spec->natural = pe_elem_is_integer(own) ? PE_F64 : own;
	spec->carrier = PE_F64;
	t->odd = is_narrow(pe_writer_elem(spec));
}

struct making {
	const struct table *table;
	enum pe_elem elem;
	bool endless;
};

static int
make_rows(void *context, uint64_t first, size_t n, const void *in, void *out, struct pe_error *e)
{
	const struct making *m = context;

	(void)in;
	if (n == 0 && m->endless)
		return pe_fail(e, PE_FAULT_DATA, "row %llu: position beyond 2^53",
			       (unsigned long long)first);
	return table_fill(m->table, first, n, m->elem, out, e);
}

static void
make(struct cli *cli, const struct table_options *o, struct table *t)
{
	const uint64_t rows = table_rows(t);
	const bool endless = t->count == PE_ENDLESS;
	struct pe_writer_spec spec = cli_writer(cli, t->dim, endless ? -1 : (int64_t)rows);

	if (endless && spec.format.container == PE_NPY)
		cli_refuse("-n: npy needs the number of rows first: 'inf'");
	if (t->learned_file != NULL)
		spec.names = cli_header(cli, pe_reader_names(t->learned_file), t->dim);
	else
		spec.names = cli_convention_names(cli, &o->convention, t->dim, t->grid != NULL);
	choose_element(t, &spec);
	struct making m = {.table = t, .elem = spec.carrier, .endless = endless};
	cli_make(cli, cli_open_writer(cli, &spec), rows, make_rows, &m);
}

/* ---- --freqs ---- */

struct frequencies {
	struct pe_freq plan;
	bool odd; /* narrowed on the way out */
};

static int
make_freqs(void *context, uint64_t first, size_t n, const void *in, void *out, struct pe_error *e)
{
	const struct frequencies *f = context;

	(void)in;
	(void)e;
	pe_sinusoid_freqs(&f->plan, (size_t)first, n, f->odd, out);
	return 0;
}

static void
freqs(struct cli *cli, const struct table_options *o)
{
	static const char *const header[] = {"pair", "omega", "wavelength"};
	struct pe_columns columns;
	struct pe_error e;

	if (pe_convention_columns(&o->convention, cli->common.dim, &columns, &e))
		cli_die(&e);
	struct pe_writer_spec spec = cli_writer(cli, 3, (int64_t)columns.pairs);
	spec.names = cli_header(cli, header, 3);
	spec.carrier = PE_F64;
	struct frequencies f = {
	    .plan = pe_convention_freq(&o->convention, &columns),
	    .odd = is_narrow(pe_writer_elem(&spec)),
	};
	cli_make(cli, cli_open_writer(cli, &spec), columns.pairs, make_freqs, &f);
}

/* ---- --add ---- */

struct addition {
	const struct table *table;
	double scale;          /* of the rows that are read */
	const char *positions; /* the list's name, NULL where there is none */
};

static int
fail_short(const struct addition *a, struct pe_error *e)
{
	const unsigned long long there = table_rows(a->table);

	if (a->positions != NULL)
		return pe_fail(e, PE_FAULT_DATA, "%s: no position for row %llu", a->positions,
			       there);
	return pe_fail(e, PE_FAULT_DATA, "row %llu: %s", there,
		       a->table->grid != NULL ? "the grid has no more cells"
					      : "position beyond 2^53");
}

/* scale * x + p: p has one rounding behind it, the product gets one and the sum one. */
static int
add_rows(void *context, uint64_t first, size_t n, const void *in, void *out, struct pe_error *e)
{
	const struct addition *a = context;
	const uint64_t there = table_rows(a->table);
	const double *x = in;
	double *y = out;

	if (n == 0 && a->positions != NULL && first < there)
		return pe_fail(e, PE_FAULT_DATA, "%s: %llu positions for %llu rows", a->positions,
			       (unsigned long long)a->table->count, (unsigned long long)first);
	if (first > there || n > there - first)
		return fail_short(a, e);
	if (table_fill(a->table, first, n, PE_F64, out, e))
		return -1;
	for (size_t i = 0; i < n * a->table->dim; i++)
		y[i] += a->scale * x[i];
	return 0;
}

static void
add(struct cli *cli, const struct table_options *o, struct table *t)
{
	const struct pe_quoted_path name = pe_quote_path(o->positions != NULL ? o->positions : "");
	struct addition a = {
	    .table = t,
	    .scale = o->embed_root ? sqrt((double)t->dim) : o->embed_scale,
	    .positions = o->positions != NULL ? name.text : NULL,
	};
	const int64_t rows = pe_reader_rows(t->rows);
	struct pe_writer_spec spec = cli_writer(cli, t->dim, rows);
	struct pe_error e;

	/* a header that tells the rows lets the first fault come before the first byte */
	if (rows >= 0 && (uint64_t)rows > table_rows(t) && fail_short(&a, &e))
		cli_die(&e);
	if (rows > t->cls && t->learned.table != NULL &&
	    pe_learned_find(&t->learned, &t->at, 0, (uint64_t)rows - t->cls, &e))
		cli_die(&e);
	spec.names = cli_header(cli, pe_reader_names(t->rows), t->dim);
	spec.carrier = PE_F64;
	spec.natural = pe_elem_widest(
	    pe_reader_elem(t->rows), t->learned_file != NULL ? t->learned_rows.elem : PE_ELEM_NONE);
	if (pe_elem_is_integer(spec.natural))
		spec.natural = PE_F64;
	cli_filter(cli, t->rows, cli_open_writer(cli, &spec), add_rows, &a);
}

int
main(int argc, char **argv)
{
	struct cli cli;
	struct table table;

	cli_start(&cli, &table_command, argc, argv);
	const struct table_options o = table_options(&cli);
	if (o.given[KEY_FREQS]) {
		freqs(&cli, &o);
	} else {
		table_open(&cli, &o, &table);
		if (o.given[KEY_ADD])
			add(&cli, &o, &table);
		else
			make(&cli, &o, &table);
		table_close(&table);
	}
	cli_end(&cli);
	return 0;
}
