/* cli_table - the options of a command, and the messages that name them. */
#include "cli_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program's name and option table, for messages: set once by cli_use, never changed. */
static const struct cli_command *program;

static const struct {
	unsigned group;
	struct cli_option option;
} common_options[] = {
    {CLI_IN,
     {'f', "--from", "FORMAT",
      "format of the input: csv tsv txt npy f64 f32 f16 bf16 i32 i64 f64be f32be"}},
    {CLI_IN, {CLI_KEY_HEADER_IN, "--header-in", NULL, "the first line of text input is names"}},
    {CLI_DIM, {'d', "--dim", "N", "width of a row"}},
    {CLI_OUT,
     {'t', "--to", "FORMAT",
      "format of the output: csv tsv txt npy f64 f32 f16 bf16 i32 i64 f64be f32be; csv:f32, "
      "npy:f32 name the element"}},
    {CLI_OUT,
     {'o', "--output", CLI_FILE, "write FILE, all or nothing, instead of standard output"}},
    {CLI_OUT, {'p', "--digits", "N", "text with N significant digits, 1 to 17"}},
    {CLI_OUT,
     {CLI_KEY_HEADER_OUT, "--header-out", NULL, "begin text output with the columns' names"}},
    {CLI_OUT,
     {CLI_KEY_STAMP, "--stamp", NULL, "begin text output with a # line: command and version"}},
    {CLI_PROGRESS,
     {CLI_KEY_PROGRESS, "--progress", NULL, "tell rows done and rate on standard error"}},
    {0, {'h', "--help", NULL, "print this and exit"}},
    {0, {CLI_KEY_VERSION, "--version", NULL, "print the version and exit"}},
};
enum { COMMON_OPTIONS = sizeof common_options / sizeof common_options[0] };

static bool
common_applies(const struct cli_command *command, size_t i)
{
	return common_options[i].group == 0 || (command->common & common_options[i].group) != 0;
}

/* The k-th option of the command: its own first, then the common ones it has; NULL past the last. */
const struct cli_option *
cli_option_at(const struct cli_command *command, size_t k)
{
	size_t own = 0;

	while (command->options[own].key != 0) {
		if (own == k)
			return &command->options[own];
		own++;
	}
	k -= own;
	for (size_t i = 0; i < COMMON_OPTIONS; i++)
		if (common_applies(command, i) && k-- == 0)
			return &common_options[i].option;
	return NULL;
}

/* A command may use a common option's letter for something else where it lacks that group. */
bool
cli_is_common(const struct cli_command *command, int key)
{
	for (size_t i = 0; i < COMMON_OPTIONS; i++)
		if (common_options[i].option.key == key)
			return common_applies(command, i);
	return false;
}

void
cli_use(const struct cli_command *command)
{
	program = command;
}

/* ---- messages ---- */

static void
say(const char *format, va_list args)
{
	/* One write, so that lines of several processes do not mix. */
	char line[2048];
	size_t used = (size_t)snprintf(line, sizeof line, "%s: ", program->name);
	const int text = vsnprintf(line + used, sizeof line - 1 - used, format, args);

	if (text > 0)
		used += (size_t)text;
	if (used > sizeof line - 2)
		used = sizeof line - 2;
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0)
		return; /* nobody is listening: the status still tells */
}

void
cli_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void
cli_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(2);
}

static int
trouble(void)
{
	return program->trouble != 0 ? program->trouble : 1;
}

void
cli_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(trouble());
}

void
cli_die(const struct pe_error *e)
{
	cli_note("%s", e->text);
	exit(e->fault == PE_FAULT_ARGUMENT ? 2 : trouble());
}

const char *
cli_spelling(int key)
{
	static const char letters[] =
	    "-a\0-b\0-c\0-d\0-e\0-f\0-g\0-h\0-i\0-j\0-k\0-l\0-m\0-n\0-o\0-p\0-q\0-r\0"
	    "-s\0-t\0-u\0-v\0-w\0-x\0-y\0-z\0-A\0-B\0-C\0-D\0-E\0-F\0-G\0-H\0-I\0-J\0"
	    "-K\0-L\0-M\0-N\0-O\0-P\0-Q\0-R\0-S\0-T\0-U\0-V\0-W\0-X\0-Y\0-Z";
	const struct cli_option *o;

	for (size_t i = 0; i + 1 < sizeof letters; i += 3)
		if (letters[i + 1] == key)
			return letters + i;
	for (size_t k = 0; (o = cli_option_at(program, k)) != NULL; k++)
		if (o->key == key)
			return o->name;
	return "?";
}

void
cli_conflict(int key, int other)
{
	cli_refuse("%s: has no effect beside %s", cli_spelling(key), cli_spelling(other));
}

void
cli_missing(int key)
{
	cli_refuse("%s: must be given (see --help)", cli_spelling(key));
}
