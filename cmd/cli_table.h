/* cli_table - the options of a command, and the messages that name them.
 *
 * A command states its options once, in a table; getopt_long's arrays, --help, the shell
 * completions and the names in messages all follow from it. Every function that tells of a fault
 * prints one line, "TOOL: PLACE: what: 'text'", and ends the program: status 2 for the command
 * line, 1 for data and system. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

#ifndef POSENC_VERSION
#define POSENC_VERSION "unknown"
#endif

struct cli_option {
	int key;          /* its letter, or a value from CLI_KEY on where there is none */
	const char *name; /* "--long", NULL where there is a letter alone */
	/* What follows it in --help: "N", "FILE", "interleaved|halves" (choices complete in a
	 * shell); NULL: nothing. */
	const char *arg;
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
	/* Output that is no rows: names for -t, which are suffixes of -o too, ended by NULL;
	 * NULL: none. */
	const char *const *kinds;
};

/* Common options that have no letter: keys below CLI_KEY and above any character. */
enum {
	CLI_KEY_HEADER_IN = 200,
	CLI_KEY_HEADER_OUT,
	CLI_KEY_STAMP,
	CLI_KEY_PROGRESS,
	CLI_KEY_VERSION,
};

/* The command whose name and options messages tell; once, at the start. */
void cli_use(const struct cli_command *command);

/* The k-th option of a command: its own first, then the common ones that it has; NULL past the
 * last. */
const struct cli_option *cli_option_at(const struct cli_command *command, size_t k);

/* True if the key is a common option that the command has; it may use the letter of one that it
 * lacks for something else. */
bool cli_is_common(const struct cli_command *command, int key);

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

#endif
