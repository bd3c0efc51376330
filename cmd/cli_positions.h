/* cli_positions - positions from a file: any numbers, one for each row of a table. */
#ifndef CLI_POSITIONS_H
#define CLI_POSITIONS_H

#include "cli.h"
#include "matrix.h"

/* Reads one column, or an array of rank 1, whole into an f64 matrix of one column, and checks
 * every number (whole: no fraction). key names the option; path's format is told by its suffix
 * or magic, unless format says more. */
void cli_read_positions(struct cli *cli, int key, const char *path, struct pe_format format,
			bool whole, struct pe_matrix *positions);
/* The same for rows of several positions: cols columns, or one that stands for all of them. */
void cli_read_position_columns(struct cli *cli, int key, const char *path, struct pe_format format,
			       size_t cols, struct pe_matrix *positions);

#endif
