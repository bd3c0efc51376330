/* cli_help - what --help and --version print, made from a command's option table. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli_table.h"

/* To standard output; then the program ends, with status 1 where it could not be written. */
_Noreturn void cli_print_help(const struct cli_command *command);
_Noreturn void cli_print_version(const struct cli_command *command);

#endif
