/* cli_help - what --help and --version print. */
#include "cli_help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
print(const char *text)
{
	if (fputs(text, stdout) == EOF)
		cli_fail("<stdout>: %s", strerror(errno));
}

static _Noreturn void
finish_print(void)
{
	if (fflush(stdout) == EOF || close(STDOUT_FILENO) != 0)
		cli_fail("<stdout>: %s", strerror(errno));
	exit(0);
}

static void
print_option(const struct cli_option *o)
{
	enum { HELP_COLUMN = 32 };
	char left[96];

	(void)snprintf(
	    left, sizeof left, "  %s%s%s%s%s", o->key < 128 ? cli_spelling(o->key) : "   ",
	    o->name == NULL ? "" : (o->key < 128 ? ", " : " "), o->name == NULL ? "" : o->name,
	    o->arg == NULL ? "" : " ", o->arg == NULL ? "" : o->arg);
	print(left);
	if (strlen(left) + 2 > HELP_COLUMN) {
		print("\n");
		left[0] = '\0';
	}
	for (size_t i = strlen(left); i < HELP_COLUMN; i++)
		print(" ");
	print(o->help);
	print("\n");
}

void
cli_print_help(const struct cli_command *program)
{
	const struct cli_option *o;
	const char *line = program->synopsis;

	while (line != NULL) {
		const char *end = strchr(line, '\n');
		const int length = end != NULL ? (int)(end - line) : (int)strlen(line);
		char usage[512];

		(void)snprintf(usage, sizeof usage, "%s %s%s%.*s\n",
			       line == program->synopsis ? "usage:" : "      ", program->name,
			       length > 0 ? " " : "", length, line);
		print(usage);
		line = end != NULL ? end + 1 : NULL;
	}
	print(program->summary);
	print("\n\n");
	for (size_t k = 0; (o = cli_option_at(program, k)) != NULL; k++)
		print_option(o);
	finish_print();
}

void
cli_print_version(const struct cli_command *program)
{
	print(program->name);
	print(" (posenc) " POSENC_VERSION "\n");
	finish_print();
}
