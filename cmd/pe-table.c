/* pe-table - position tables, one row per position: sinusoidal in every convention, or learned. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "table.h"
#include "table_options.h"

/* ---- output ---- */

static const char *const *
names(struct cli *cli, const struct table_options *o, const struct table *t, char ***made)
{
	static const char *const line[] = {""}, *const hw[] = {"h", "w"}, *const wh[] = {"w", "h"};
	const struct pe_convention *c = &o->convention;
	const size_t groups = t->grid != NULL ? 2 : 1;
	const char *const *prefixes = groups == 1 ? line : c->grid_order == PE_GRID_HW ? hw : wh;
	struct pe_columns columns;
	struct pe_error e;

	if (!cli->common.header_out)
		return NULL;
	if (t->learned_file != NULL)
		return cli_header(cli, pe_reader_names(t->learned_file), t->dim);
	if (pe_convention_columns(c, t->dim / groups, &columns, &e))
		cli_die(&e);
	*made = pe_convention_names(&columns, prefixes, groups);
	if (*made == NULL)
		cli_fail("out of memory");
	return (const char *const *)*made;
}

static bool
is_narrow(enum pe_elem elem)
{
	return elem == PE_F32 || elem == PE_F16 || elem == PE_BF16;
}

/* A made table's rows are made in the element that is written; integers and computed rows of a
 * learned table are converted on the way out, which says what does not fit. */
static void
choose_element(struct table *t, struct pe_writer_spec *spec)
{
	if (t->learned.table == NULL) {
		spec->carrier = pe_elem_is_integer(pe_writer_elem(spec)) ? PE_F64 : PE_ELEM_NONE;
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

static struct pe_writer *
open_writer(struct cli *cli, const struct pe_writer_spec *spec)
{
	struct pe_writer *out;
	struct pe_error e;

	if (pe_writer_open(&out, spec, &e))
		cli_die(&e);
	cli_progress_start(cli);
	return out;
}

static void
close_writer(struct pe_writer *out)
{
	struct pe_error e;

	if (pe_writer_close(out, &e))
		cli_die(&e);
}

static void
make_rows(struct cli *cli, const struct table_options *o, struct table *t)
{
	const uint64_t rows = table_rows(t);
	const bool endless = t->count == PE_ENDLESS;
	struct pe_writer_spec spec = cli_writer(cli, t->dim, endless ? -1 : (int64_t)rows);
	char **made = NULL;
	struct pe_error e;

	if (endless && spec.format.container == PE_NPY)
		cli_refuse("-n: npy needs the number of rows first: 'inf'");
	spec.names = names(cli, o, t, &made);
	choose_element(t, &spec);
	struct pe_writer *out = open_writer(cli, &spec);
	const enum pe_elem elem = pe_writer_carrier(out);
	for (uint64_t done = 0; done < rows; cli_progress(cli, done)) {
		const uint64_t left = rows - done;
		size_t n;
		void *to = pe_writer_room(out, left < SIZE_MAX ? (size_t)left : SIZE_MAX, &n);

		if (table_fill(t, done, n, elem, to, &e) || pe_writer_filled(out, n, &e))
			cli_die(&e);
		done += n;
	}
	if (endless) { /* what there is goes out, but the table is not whole */
		if (pe_writer_flush(out, &e))
			cli_die(&e);
		cli_fail("row %llu: position beyond 2^53", (unsigned long long)rows);
	}
	close_writer(out);
	free(made);
}

/* --freqs */
static void
make_freqs(struct cli *cli, const struct table_options *o)
{
	static const char *const header[] = {"pair", "omega", "wavelength"};
	struct pe_columns columns;
	struct pe_error e;

	if (pe_convention_columns(&o->convention, cli->common.dim, &columns, &e))
		cli_die(&e);
	const struct pe_freq freq = pe_convention_freq(&o->convention, &columns);
	struct pe_writer_spec spec = cli_writer(cli, 3, (int64_t)columns.pairs);
	spec.names = cli_header(cli, header, 3);
	spec.carrier = PE_F64;
	struct pe_writer *out = open_writer(cli, &spec);
	for (size_t done = 0, n; done < columns.pairs; done += n) {
		double *to = pe_writer_room(out, columns.pairs - done, &n);

		pe_sinusoid_freqs(&freq, done, n, is_narrow(pe_writer_elem(&spec)), to);
		if (pe_writer_filled(out, n, &e))
			cli_die(&e);
		cli_progress(cli, done);
	}
	close_writer(out);
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
	const struct pe_quoted name = pe_quote(o->positions != NULL ? o->positions : "");
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
	cli_filter(cli, t->rows, open_writer(cli, &spec), add_rows, &a);
}

int
main(int argc, char **argv)
{
	struct cli cli;
	struct table table;

	cli_start(&cli, &table_command, argc, argv);
	const struct table_options o = table_options(&cli);
	if (o.given[KEY_FREQS]) {
		make_freqs(&cli, &o);
		cli_end(&cli);
		return 0;
	}
	table_open(&cli, &o, &table);
	if (o.given[KEY_ADD])
		add(&cli, &o, &table);
	else
		make_rows(&cli, &o, &table);
	table_close(&table);
	cli_end(&cli);
	return 0;
}
