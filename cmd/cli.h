/* cli - what every command of posenc shares: its option table, number options, usage, messages.
 *
 * A command states its options once, in a table; getopt_long's arrays, --help and the shell
 * completions all follow from it. The options common to all (INTERFACE "Common to all") are parsed
 * here; the command switches on the keys of its own. Every function that finds a fault prints one
 * line, "TOOL: PLACE: what: 'text'", and exits: 2 for the command line, 1 for data and system. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "error.h"
#include "stream.h"

struct option; /* getopt.h */

struct cli_option {
	int key;          /* its letter, or a value from CLI_KEY on where there is none */
	const char *name; /* "--long", NULL where there is a letter alone */
	const char *
	    arg; /* what follows it in --help: "N", "FILE", "interleaved|halves" (choices complete in a shell); NULL: nothing */
	const char *help; /* one line */
};

#define CLI_KEY 256
#define CLI_FILE "FILE" /* an arg spelled so completes to file names */

/* Which common options a command has. */
enum {
	CLI_IN = 1,       /* -f --from, --header-in */
	CLI_DIM = 2,      /* -d --dim */
	CLI_OUT = 4,      /* -t --to, -o --output, -p --digits, --header-out, --stamp */
	CLI_PROGRESS = 8, /* --progress */
};

struct cli_command {
	const char *name;                 /* "pe-table" */
	const char *summary;              /* one line: what it does */
	const char *synopsis;             /* usage lines without the name, separated by newlines */
	const struct cli_option *options; /* ended by {0} */
	unsigned common;                  /* CLI_IN | ... */
	int trouble;                      /* status for data and system faults where it is not 1 */
	/* Output that is no rows: names for -t, which are suffixes of -o too, ended by NULL; NULL: none. */
	const char *const *kinds;
};

struct cli_common {
	struct pe_format from, to; /* container PE_AUTO where not given */
	const char *kind;   /* one of the command's kinds, NULL: rows; an element stands in `to` */
	const char *output; /* NULL: stdout */
	size_t dim;         /* 0: not given */
	int digits;         /* 0: shortest */
	bool header_in, header_out, stamp, progress;
};

/* The command line under way; lives on main's stack. */
struct cli {
	const struct cli_command *command;
	int argc;
	char **argv;
	struct cli_common common;
	struct option *longs; /* getopt_long's view of the table */
	char *shorts;
	bool stdin_claimed;
	char *stamp;                 /* text of --stamp, once made */
	char **header;               /* names of --header-out, where they were made here */
	struct timespec began, told; /* progress */
};

/* What a filter does to a block: rows of the reader's carrier in, as many rows of the writer's carrier out; first
 * is the number of the block's first row. At the end of the input it is called once more, with rows 0, to object while
 * the output can still be dropped. Returns -1 with *e filled where the data is at fault. */
typedef int cli_filter_rows(void *context, uint64_t first, size_t rows, const void *in, void *out,
			    struct pe_error *e);

/* Call first in main: remembers the program's name, takes POSIXLY_CORRECT away (operands may stand anywhere), makes
 * descriptors 0..2 safe where they are closed, ignores SIGXFSZ (a file size limit is then a write that fails). */
void cli_start(struct cli *cli, const struct cli_command *command, int argc, char **argv);

/* Next of the command's own options: its key, with *arg set (NULL where it takes none); -1 at the end.
 * The common ones, --help and --version are done inside. */
int cli_next(struct cli *cli, const char **arg);
/* Then the operands: how many, which. */
int cli_operands(const struct cli *cli);
const char *cli_operand(const struct cli *cli, int i);
/* The one operand allowed; NULL where there is none; more are refused. */
const char *cli_optional_operand(const struct cli *cli);
void cli_end(struct cli *cli); /* frees */

/* Option values; the key names the option in the message. */
size_t cli_positive(int key, const char *arg); /* 1 .. 2^40 */
size_t cli_count(int key, const char *arg);    /* 0 .. 2^40 */
int64_t cli_integer(int key, const char *arg);
int64_t cli_position(int key, const char *arg); /* within +-2^53 */
double cli_number(int key, const char *arg);    /* finite */
double cli_positive_number(int key, const char *arg);
/* Index of arg in a NULL-ended list; "must be one of a, b, c: 'x'" otherwise. */
int cli_choice(int key, const char *arg, const char *const *choices);
/* LO:HI[:STEP] with LO <= HI, STEP > 0 (1 where absent). */
void cli_range(int key, const char *arg, int64_t *lo, int64_t *hi, int64_t *step);
/* "8" (square) or "3x9", both positive. */
void cli_shape(int key, const char *arg, size_t *rows, size_t *cols);

/* A position, or "end": then *at_end is set and the caller knows where that is. */
int64_t cli_query_start(int key, const char *arg, bool *at_end);

/* How the user spells an option: "-d", "--freq-shift". */
const char *cli_spelling(int key);

/* A usage fault: one line, status 2. */
_Noreturn void cli_refuse(const char *format, ...) PE_PRINTF(1, 2);
/* An option that would have no effect beside the other, and one that is due. */
_Noreturn void cli_conflict(int key, int other);
_Noreturn void cli_missing(int key);
/* Reports a library's failure: status 2 for PE_FAULT_ARGUMENT, else 1 (or the command's trouble). */
_Noreturn void cli_die(const struct pe_error *e);
/* A data fault found by a command: status 1. */
_Noreturn void cli_fail(const char *format, ...) PE_PRINTF(1, 2);
/* A note to stderr (--verbose, hints); the command goes on. */
void cli_note(const char *format, ...) PE_PRINTF(1, 2);

/* Specs prefilled from the common options: the rows (-f, -d, --header-in), a side table (by suffix, magic,
 * else csv; a raw one has the width that is due), and the output, with its container found out. Naming standard input twice
 * is refused, and so are -p, --header-out and --stamp for output that is no text. */
struct pe_reader_spec cli_reader(struct cli *cli, const char *path);
struct pe_reader_spec cli_side_table(struct cli *cli, const char *path, size_t cols);
struct pe_writer_spec cli_writer(struct cli *cli, size_t cols, int64_t rows);
/* For outputs that a command opens itself (pe_output_open): a temporary file is gone when a signal ends the program. */
void cli_watch(const char *temporary);
/* -p, --header-out and --stamp are refused for output that is no text. */
void cli_check_text(const struct cli *cli, bool text);
/* The stamp's text where --stamp asks for it, else NULL; freed by cli_end. */
const char *cli_stamp(struct cli *cli);
/* The header line for cli_writer's spec: names (a filter passes its input's on), or x0, x1, ... where they are
 * NULL; NULL without --header-out. What is made here is freed by cli_end. */
const char *const *cli_header(struct cli *cli, const char *const *names, size_t cols);
/* Opens or ends the command; a writer's opening starts the progress. */
struct pe_reader *cli_open_reader(const struct pe_reader_spec *spec);
struct pe_writer *cli_open_writer(struct cli *cli, const struct pe_writer_spec *spec);
/* Makes that many rows, block by block, in the writer's own memory, with progress, and completes the output. The rows function is
 * called as a filter's is, with in NULL; once more with rows 0 at the end. Closes and frees out. */
void cli_make(struct cli *cli, struct pe_writer *out, uint64_t count, cli_filter_rows *rows,
	      void *context);
/* Passes every row of in through the rows function, block by block, flushing whenever it would wait for more input, with progress,
 * and completes the output. Closes and frees both. */
void cli_filter(struct cli *cli, struct pe_reader *in, struct pe_writer *out, cli_filter_rows *rows,
		void *context);

/* Progress of long work: a line on stderr every second with --progress, and one at SIGUSR1. Start before
 * the first row; then call with the rows done so far, as often as you like. */
void cli_progress_start(struct cli *cli);
void cli_progress(struct cli *cli, uint64_t rows);

#endif
