/* cli_positions - positions from a file. */
#include "cli_positions.h"
#include "cli_rows.h"

#include "positions.h"

/* An array of rank 1 comes as one row; text of one row is a mistake. */
static bool
is_one_column(const struct pe_reader *in, struct pe_matrix *m)
{
	if (m->cols > 1 && m->rows == 1 && !pe_reader_is_text(in)) {
		m->rows = m->cols;
		m->cols = 1;
	}
	return m->cols <= 1 || m->rows == 0;
}

static void
read_columns(struct cli *cli, int key, const char *path, struct pe_format format, size_t cols,
	     bool whole, struct pe_matrix *positions)
{
	struct pe_reader_spec spec = cli_side_table(cli, path, 0);
	struct pe_reader *in;
	struct pe_error e;

	if (format.container != PE_AUTO)
		spec.format = format;
	if (spec.format.container == PE_RAW || pe_format_of_path(path).container == PE_RAW)
		spec.cols = cols;
	spec.carrier = PE_F64;
	spec.rows_optional =
	    true; /* an array may be empty; where nothing counts rows there must be some */
	if (pe_reader_open(&in, &spec, &e) || pe_reader_all(in, positions, &e))
		cli_die(&e);
	if (positions->rows == 0 && pe_reader_rows(in) < 0)
		cli_fail("%s: empty input, positions are due", pe_reader_name(in));
	if (positions->cols != cols && !is_one_column(in, positions)) {
		if (cols == 1)
			cli_fail("%s: %s: must be one column of numbers, not %zu",
				 pe_reader_name(in), cli_spelling(key), positions->cols);
		cli_fail("%s: %s: must be %zu columns of numbers, not %zu", pe_reader_name(in),
			 cli_spelling(key), cols, positions->cols);
	}
	if (pe_positions_check_rows(pe_matrix_f64(positions), positions->rows, positions->cols,
				    pe_reader_name(in), whole, &e))
		cli_die(&e);
	pe_reader_close(in);
}

void
cli_read_positions(struct cli *cli, int key, const char *path, struct pe_format format, bool whole,
		   struct pe_matrix *positions)
{
	read_columns(cli, key, path, format, 1, whole, positions);
}

void
cli_read_position_columns(struct cli *cli, int key, const char *path, struct pe_format format,
			  size_t cols, struct pe_matrix *positions)
{
	read_columns(cli, key, path, format, cols, false, positions);
}
