/* cli_rows - from the common options to readers, writers and the loops between them. Faults end
 * the program. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"
#include "error.h"
#include "stream.h"

/* What a filter does to a block: rows of the reader's carrier in, as many rows of the writer's
 * carrier out; first is the number of the block's first row. At the end of the input it is
 * called once more, with rows 0, to object while the output can still be dropped. Returns -1
 * with *e filled where the data is at fault. */
typedef int cli_filter_rows(void *context, uint64_t first, size_t rows, const void *in, void *out,
			    struct pe_error *e);

/* Specs prefilled from the common options: the rows (-f, -d, --header-in), a side table (by
 * suffix, magic, else csv; a raw one has the width that is due), and the output, with its
 * container found out. Naming standard input twice is refused, and so are -p, --header-out and
 * --stamp for output that is no text, and output of more bytes than can be addressed. */
struct pe_reader_spec cli_reader(struct cli *cli, const char *path);
struct pe_reader_spec cli_side_table(struct cli *cli, const char *path, size_t cols);
struct pe_writer_spec cli_writer(struct cli *cli, size_t cols, int64_t rows);
/* Refuses standard input named twice among these paths (NULL: none): before anything is read
 * that could wait or be at fault. */
void cli_check_stdin(const char *const *paths, size_t count);
/* Refuses --header-in beside a -f that names no text; for commands whose every input -f governs. */
void cli_check_header(const struct cli *cli);
/* Refuses rows x columns of 8 bytes that cannot be addressed, as cli_writer does, before a plan
 * is made for them. */
void cli_check_size(uint64_t rows, size_t cols);
/* For outputs that a command opens itself (pe_output_open): a temporary file is gone when a
 * signal ends the program. */
void cli_watch(const char *temporary);
/* -p, --header-out and --stamp are refused for output that is no text. */
void cli_check_text(const struct cli *cli, bool text);
/* The stamp's text where --stamp asks for it, else NULL; freed by cli_end. */
const char *cli_stamp(struct cli *cli);
/* The header line for cli_writer's spec: names (a filter passes its input's on), or x0, x1, ...
 * where they are NULL; NULL without --header-out. What is made here is freed by cli_end. */
const char *const *cli_header(struct cli *cli, const char *const *names, size_t cols);
/* Opens or ends the command; a writer's opening starts the progress. */
struct pe_reader *cli_open_reader(const struct pe_reader_spec *spec);
struct pe_writer *cli_open_writer(struct cli *cli, const struct pe_writer_spec *spec);
/* Makes that many rows, block by block, in the writer's own memory, with progress, and completes
 * the output. The rows function is called as a filter's is, with in NULL; once more with rows 0
 * at the end. Closes and frees out. */
void cli_make(struct cli *cli, struct pe_writer *out, uint64_t count, cli_filter_rows *rows,
	      void *context);
/* Passes every row of in through the rows function, block by block, flushing whenever it would
 * wait for more input, with progress, and completes the output. Closes and frees both. */
void cli_filter(struct cli *cli, struct pe_reader *in, struct pe_writer *out, cli_filter_rows *rows,
		void *context);

/* Progress of long work: a line on stderr every second with --progress, and one at SIGUSR1.
 * Start before the first row; then call with the rows done so far, as often as you like. */
void cli_progress_start(struct cli *cli);
void cli_progress(struct cli *cli, uint64_t rows);

#endif
