/* table - the rows that pe-table hands out, whatever they are made of: sinusoids along a line or
 * on a grid, or a learned table; before them a row of zeros for a [CLS] token, among them rows
 * of zeros for padding. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elem.h"
#include "cli_rows.h"
#include "error.h"
#include "learned.h"
#include "positions.h"
#include "sinusoid.h"
#include "stream.h"
#include "table_options.h"

struct table {
	size_t dim;
	struct pe_positions at; /* of a line or a learned table; of a grid: the cells' numbers */
	uint64_t count;         /* rows without the [CLS] row; PE_ENDLESS */
	bool cls;               /* row 0 is zeros, the others follow */
	bool pads;              /* the row of position `pad` is zeros */
	int64_t pad;
	/* one of them makes the rows */
	struct pe_sinusoid *line;
	struct pe_grid *grid;
	struct pe_learned learned; /* where learned.table is not NULL */
	bool odd;       /* learned values as doubles: rounded to odd, for a narrower output */
	double largest; /* no sinusoid exceeds it: the gain */
	/* what is read */
	struct pe_reader *rows;         /* those that --add adds to */
	struct pe_reader *learned_file; /* open as long as its names are needed */
	struct pe_matrix positions, learned_rows;
};

/* Opens what the options name and plans the rows; every fault of positions and tables that can
 * be known before the first row ends the command here. */
void table_open(struct cli *cli, const struct table_options *o, struct table *t);
void table_close(struct table *t); /* but for t->rows, which cli_filter closes */

/* Rows that can be had, the [CLS] row included. */
uint64_t table_rows(const struct table *t);

/* Rows from .. from + n - 1, all below table_rows. elem is the output's float element, or the
 * learned table's own where it is plain and elem says so, or f64. Fails, as data, on a learned
 * position past the table and on a value beyond the element. */
int table_fill(const struct table *t, uint64_t from, size_t n, enum pe_elem elem, void *out,
	       struct pe_error *e);

#endif
