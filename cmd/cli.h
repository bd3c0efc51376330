/* cli - the command line that every command of posenc shares: the common options are parsed
 * here, the command switches on the keys of its own. What is wrong with it ends the program with
 * one line and status 2. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cli_table.h"
#include "stream.h"

struct option; /* getopt.h */

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

/* Call first in main: remembers the program's name, takes POSIXLY_CORRECT away (operands may
 * stand anywhere), makes descriptors 0..2 safe where they are closed, ignores SIGXFSZ (a file
 * size limit is then a write that fails). */
void cli_start(struct cli *cli, const struct cli_command *command, int argc, char **argv);

/* Next of the command's own options: its key, with *arg set (NULL where it takes none); -1 at
 * the end. The common ones, --help and --version are done inside. */
int cli_next(struct cli *cli, const char **arg);
/* Then the operands: how many, which. */
int cli_operands(const struct cli *cli);
const char *cli_operand(const struct cli *cli, int i);
/* The one operand allowed; NULL where there is none; more are refused. */
const char *cli_optional_operand(const struct cli *cli);
void cli_end(struct cli *cli); /* frees */

#endif
