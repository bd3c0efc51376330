/* cli - what every command of posenc shares: its option table, number options, usage, messages. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <gmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "matrix.h"
#include "num.h"

#ifndef POSENC_VERSION
#define POSENC_VERSION "0.1.0"
#endif

/* The program's name and option table, for messages: set once by cli_start, never changed. */
static const struct cli_command *program;

/* Common options that have no letter; below CLI_KEY and above any character. */
enum { KEY_HEADER_IN = 200, KEY_HEADER_OUT, KEY_STAMP, KEY_PROGRESS, KEY_VERSION };

static const struct {
	unsigned group;
	struct cli_option option;
} common_options[] = {
    {CLI_IN,
     {'f', "--from", "FORMAT",
      "format of the input: csv tsv txt npy f64 f32 f16 bf16 i32 i64 f64be f32be"}},
    {CLI_IN, {KEY_HEADER_IN, "--header-in", NULL, "the first line of text input is names"}},
    {CLI_DIM, {'d', "--dim", "N", "width of a row"}},
    {CLI_OUT,
     {'t', "--to", "FORMAT",
      "format of the output: csv tsv txt npy f64 f32 f16 bf16 i32 i64 f64be f32be; csv:f32, "
      "npy:f32 name the element"}},
    {CLI_OUT,
     {'o', "--output", CLI_FILE, "write FILE, all or nothing, instead of standard output"}},
    {CLI_OUT, {'p', "--digits", "N", "text with N significant digits, 1 to 17"}},
    {CLI_OUT, {KEY_HEADER_OUT, "--header-out", NULL, "begin text output with the columns' names"}},
    {CLI_OUT, {KEY_STAMP, "--stamp", NULL, "begin text output with a # line: command and version"}},
    {CLI_PROGRESS, {KEY_PROGRESS, "--progress", NULL, "tell rows done and rate on standard error"}},
    {0, {'h', "--help", NULL, "print this and exit"}},
    {0, {KEY_VERSION, "--version", NULL, "print the version and exit"}},
};
enum { COMMON_OPTIONS = sizeof common_options / sizeof common_options[0] };

static bool
common_applies(const struct cli_command *command, size_t i)
{
	return common_options[i].group == 0 || (command->common & common_options[i].group) != 0;
}

/* The k-th option of the command: its own first, then the common ones it has; NULL past the last. */
static const struct cli_option *
option_at(const struct cli_command *command, size_t k)
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
	for (size_t k = 0; (o = option_at(program, k)) != NULL; k++)
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

/* ---- --help, --version ---- */

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

static _Noreturn void
print_help(void)
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
	for (size_t k = 0; (o = option_at(program, k)) != NULL; k++)
		print_option(o);
	finish_print();
}

static _Noreturn void
print_version(void)
{
	print(program->name);
	print(" (posenc) " POSENC_VERSION "\n");
	finish_print();
}

/* ---- the command line ---- */

/* Opens a closed descriptor 0..2 on the null device the wrong way round, so that no file opened later
 * takes its number and its use fails with EBADF, as it would have. */
static void
guard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* GMP and MPFR would abort where memory runs out. */
static void *
allocate_or_fail(size_t size)
{
	void *block = malloc(size);

	if (block == NULL)
		cli_fail("out of memory");
	return block;
}

static void *
reallocate_or_fail(void *old, size_t old_size, size_t size)
{
	void *block = realloc(old, size);

	(void)old_size;
	if (block == NULL)
		cli_fail("out of memory");
	return block;
}

static void
list_options(struct cli *cli)
{
	size_t count = 0, letters = 0;
	const struct cli_option *o;

	while (option_at(cli->command, count) != NULL)
		count++;
	cli->longs = calloc(count + 1, sizeof *cli->longs);
	cli->shorts = malloc(2 * count + 2);
	if (cli->longs == NULL || cli->shorts == NULL)
		cli_fail("out of memory");
	cli->shorts[letters++] = ':'; /* a missing argument is ours to report */
	for (size_t k = 0, n = 0; (o = option_at(cli->command, k)) != NULL; k++) {
		if (o->key < 128) {
			cli->shorts[letters++] = (char)o->key;
			if (o->arg != NULL)
				cli->shorts[letters++] = ':';
		}
		if (o->name != NULL)
			cli->longs[n++] = (struct option){
			    .name = o->name + 2,
			    .has_arg = o->arg != NULL ? required_argument : no_argument,
			    .val = o->key,
			};
	}
	cli->shorts[letters] = '\0';
}

void
cli_start(struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
	static char *nothing[] = {NULL, NULL};

	program = command;
	guard_descriptors();
	(void)unsetenv("POSIXLY_CORRECT");
	(void)signal(SIGXFSZ, SIG_IGN);
	*cli = (struct cli){.command = command, .argc = argc, .argv = argv};
	if (argc < 1) { /* execve allows it; getopt does not */
		cli->argc = 1;
		cli->argv = nothing;
	}
	mp_set_memory_functions(allocate_or_fail, reallocate_or_fail, NULL);
	list_options(cli);
	opterr = 0;
}

void
cli_end(struct cli *cli)
{
	free(cli->longs);
	free(cli->shorts);
	free(cli->stamp);
	free(cli->header);
}

/* The word of the command line that getopt_long has just refused. */
static const char *
refused_word(const struct cli *cli)
{
	static char letter[3] = "-?";

	if (optopt > 0 && optopt < 128) {
		letter[1] = (char)optopt;
		return letter;
	}
	return optind > 0 ? cli->argv[optind - 1] : "";
}

static _Noreturn void
refuse_option(const struct cli *cli)
{
	const char *word = refused_word(cli);
	const size_t length = strcspn(word, "=");
	size_t matches = 0;
	const struct cli_option *o;

	if (strncmp(word, "--", 2) == 0)
		for (size_t k = 0; (o = option_at(cli->command, k)) != NULL; k++) {
			if (o->name == NULL || strncmp(o->name, word, length) != 0)
				continue;
			if (o->name[length] == '\0' || optopt == o->key)
				cli_refuse("%s: takes no value: '%s'", o->name,
					   pe_quote(word + length).text);
			matches++;
		}
	if (matches > 1)
		cli_refuse("ambiguous option: '%s'", pe_quote_bytes(word, length).text);
	cli_refuse("unknown option (see --help): '%s'", pe_quote_bytes(word, length).text);
}

static _Noreturn void
refuse_format(const struct cli_command *command, int key, const char *arg)
{
	char kinds[128] = "";
	size_t used = 0;

	for (size_t i = 0; key == 't' && command->kinds != NULL && command->kinds[i] != NULL; i++)
		used +=
		    (size_t)snprintf(kinds + used, sizeof kinds - used, ", %s", command->kinds[i]);
	cli_refuse(
	    "%s: unknown format, must be one of csv, tsv, txt, npy, f64, f32, f16, bf16, i32, i64, "
	    "f64be, f32be%s, or csv:ELEMENT, npy:ELEMENT: '%s'",
	    cli_spelling(key), kinds, pe_quote(arg).text);
}

/* A kind with or without ":ELEMENT"; false if it is none. */
static bool
parse_kind(const struct cli_command *command, const char *arg, struct cli_common *common)
{
	const size_t length = strcspn(arg, ":");

	for (size_t i = 0; command->kinds != NULL && command->kinds[i] != NULL; i++) {
		if (strlen(command->kinds[i]) != length ||
		    memcmp(command->kinds[i], arg, length) != 0)
			continue;
		if (!pe_format_parse(command->kinds[i],
				     &common->to)) /* safetensors is rows with a header */
			common->to = (struct pe_format){.container = PE_AUTO};
		if (arg[length] == ':')
			common->to.elem = pe_elem_find(arg + length + 1, strlen(arg + length + 1));
		common->kind = command->kinds[i];
		return arg[length] == '\0' || common->to.elem != PE_ELEM_NONE;
	}
	return false;
}

static struct pe_format
parse_format(struct cli *cli, int key, const char *arg)
{
	struct pe_format format;

	if (strcmp(arg, "auto") == 0)
		return (struct pe_format){.container = PE_AUTO};
	if (!pe_format_parse(arg, &format) || (key == 't' && format.container == PE_SAFETENSORS))
		refuse_format(cli->command, key, arg);
	return format;
}

static void
parse_output_format(struct cli *cli, const char *arg)
{
	cli->common.kind = NULL;
	if (!parse_kind(cli->command, arg, &cli->common))
		cli->common.to = parse_format(cli, 't', arg);
}

/* The suffix of -o names a kind where -t names nothing. */
static void
settle_kind(struct cli *cli)
{
	const char *suffix = cli->common.output != NULL ? strrchr(cli->common.output, '.') : NULL;

	if (suffix != NULL && cli->common.kind == NULL && cli->common.to.container == PE_AUTO)
		(void)parse_kind(cli->command, suffix + 1, &cli->common);
}

static bool
parse_common(struct cli *cli, int key, const char *arg)
{
	struct cli_common *common = &cli->common;

	switch (key) {
	case 'h': print_help();
	case KEY_VERSION: print_version();
	case 'f': common->from = parse_format(cli, key, arg); return true;
	case 't': parse_output_format(cli, arg); return true;
	case 'o': common->output = strcmp(arg, "-") == 0 ? NULL : arg; return true;
	case 'd': common->dim = cli_positive(key, arg); return true;
	case 'p': {
		const int64_t digits = cli_integer(key, arg);
		if (digits < 1 || digits > 17)
			cli_refuse("-p: must be 1 to 17: '%s'", pe_quote(arg).text);
		common->digits = (int)digits;
		return true;
	}
	case KEY_HEADER_IN: common->header_in = true; return true;
	case KEY_HEADER_OUT: common->header_out = true; return true;
	case KEY_STAMP: common->stamp = true; return true;
	case KEY_PROGRESS: common->progress = true; return true;
	default: return false;
	}
}

/* A command may use a common option's letter for something else where it lacks that group. */
static bool
is_common(const struct cli *cli, int key)
{
	for (size_t i = 0; i < COMMON_OPTIONS; i++)
		if (common_options[i].option.key == key)
			return common_applies(cli->command, i);
	return false;
}

int
cli_next(struct cli *cli, const char **arg)
{
	for (;;) {
		const int key = getopt_long(cli->argc, cli->argv, cli->shorts, cli->longs, NULL);

		*arg = optarg;
		if (key == ':')
			cli_refuse("%s: needs a value", refused_word(cli));
		if (key == '?')
			refuse_option(cli);
		if (key == -1)
			settle_kind(cli);
		if (key == -1 || !is_common(cli, key))
			return key;
		parse_common(cli, key, optarg);
	}
}

int
cli_operands(const struct cli *cli)
{
	return cli->argc - optind;
}

const char *
cli_operand(const struct cli *cli, int i)
{
	return i < cli_operands(cli) ? cli->argv[optind + i] : NULL;
}

const char *
cli_optional_operand(const struct cli *cli)
{
	if (cli_operands(cli) > 1)
		cli_refuse("extra operand: '%s'", pe_quote(cli_operand(cli, 1)).text);
	return cli_operand(cli, 0);
}

/* ---- option values ---- */

static void
check(int failed, const struct pe_error *e)
{
	if (failed)
		cli_die(e);
}

size_t
cli_positive(int key, const char *arg)
{
	struct pe_error e;
	size_t value;

	check(pe_num_positive(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

size_t
cli_count(int key, const char *arg)
{
	struct pe_error e;
	size_t value;

	check(pe_num_count(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

int64_t
cli_integer(int key, const char *arg)
{
	struct pe_error e;
	int64_t value;

	check(pe_num_int64(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

int64_t
cli_position(int key, const char *arg)
{
	const int64_t value = cli_integer(key, arg);

	if (value < -PE_POSITION_MAX || value > PE_POSITION_MAX)
		cli_refuse("%s: beyond 2^53, where positions are exact: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	return value;
}

int64_t
cli_query_start(int key, const char *arg, bool *at_end)
{
	*at_end = strcmp(arg, "end") == 0;
	return *at_end ? 0 : cli_position(key, arg);
}

double
cli_number(int key, const char *arg)
{
	struct pe_error e;
	double value;

	check(pe_num_double(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

double
cli_positive_number(int key, const char *arg)
{
	const double value = cli_number(key, arg);

	if (!(value > 0))
		cli_refuse("%s: must be positive: '%s'", cli_spelling(key), pe_quote(arg).text);
	return value;
}

int
cli_choice(int key, const char *arg, const char *const *choices)
{
	char list[512];
	size_t used = 0;

	for (int i = 0; choices[i] != NULL; i++)
		if (strcmp(arg, choices[i]) == 0)
			return i;
	list[0] = '\0';
	for (int i = 0; choices[i] != NULL && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
					 choices[i]);
	cli_refuse("%s: must be one of %s: '%s'", cli_spelling(key), list, pe_quote(arg).text);
}

/* The piece of text up to the separator or the end, as a string of its own; moves *text behind it. */
static bool
piece(const char **text, char separator, char *to, size_t room)
{
	const char *end = strchr(*text, separator);
	const size_t length = end != NULL ? (size_t)(end - *text) : strlen(*text);

	if (length >= room)
		return false;
	memcpy(to, *text, length);
	to[length] = '\0';
	*text = end != NULL ? end + 1 : NULL;
	return true;
}

void
cli_range(int key, const char *arg, int64_t *lo, int64_t *hi, int64_t *step)
{
	int64_t *const values[] = {lo, hi, step};
	const char *rest = arg;
	struct pe_error e;
	char text[32];
	int n = 0;

	*step = 1;
	while (rest != NULL && n < 3) {
		if (!piece(&rest, ':', text, sizeof text) ||
		    pe_num_int64(cli_spelling(key), text, values[n], &e) != 0)
			break;
		n++;
	}
	if (n < 2 || rest != NULL)
		cli_refuse("%s: must be LO:HI or LO:HI:STEP: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	if (*step < 1)
		cli_refuse("%s: step must be positive: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	if (*lo > *hi)
		cli_refuse("%s: empty range: '%s'", cli_spelling(key), pe_quote(arg).text);
}

void
cli_shape(int key, const char *arg, size_t *rows, size_t *cols)
{
	const char *rest = arg;
	struct pe_error e;
	char text[32];

	if (!piece(&rest, 'x', text, sizeof text) ||
	    pe_num_positive(cli_spelling(key), text, rows, &e) != 0)
		goto refuse;
	*cols = *rows;
	if (rest != NULL && pe_num_positive(cli_spelling(key), rest, cols, &e) != 0)
		goto refuse;
	return;
refuse:
	cli_refuse("%s: must be a count or ROWSxCOLS, both positive: '%s'", cli_spelling(key),
		   pe_quote(arg).text);
}

/* ---- a temporary output file ---- */

/* Its name while it has one: a handler can reach nothing that is not at file scope. */
static const char *volatile temporary;

static void
remove_temporary(void)
{
	if (temporary != NULL)
		(void)unlink(temporary);
	temporary = NULL;
}

static void
remove_and_die(int signal_number)
{
	remove_temporary();
	(void)signal(signal_number, SIG_DFL);
	(void)raise(signal_number);
}

/* Only systems without unnamed files come here. What the parent ignores (nohup) stays ignored. */
void
cli_watch(const char *name)
{
	static const int deadly[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
	static bool prepared; /* once is enough */

	temporary = name;
	if (prepared)
		return;
	prepared = true;
	(void)atexit(remove_temporary);
	for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
		if (signal(deadly[i], remove_and_die) == SIG_IGN)
			(void)signal(deadly[i], SIG_IGN);
}

/* ---- specs ---- */

static void
claim_stdin(struct cli *cli, const char *path)
{
	if (path != NULL && strcmp(path, "-") != 0)
		return;
	if (cli->stdin_claimed)
		cli_refuse("standard input is named twice: '-'");
	cli->stdin_claimed = true;
}

struct pe_reader_spec
cli_reader(struct cli *cli, const char *path)
{
	claim_stdin(cli, path);
	return (struct pe_reader_spec){
	    .path = path,
	    .format = cli->common.from,
	    .header = cli->common.header_in,
	    .cols = cli->common.dim,
	};
}

struct pe_reader_spec
cli_side_table(struct cli *cli, const char *path, size_t cols)
{
	claim_stdin(cli, path);
	return (struct pe_reader_spec){.path = path, .header = cli->common.header_in, .cols = cols};
}

/* "posenc 0.1.0: pe-table -n 3 -d 4", quoted as for a shell, so that the line can be run again. */
const char *
cli_stamp(struct cli *cli)
{
	if (!cli->common.stamp || cli->stamp != NULL)
		return cli->stamp;
	size_t size = 64 + strlen(program->name), used;

	for (int i = 1; i < cli->argc; i++)
		size += 4 * strlen(cli->argv[i]) + 3;
	char *text = malloc(size);
	if (text == NULL)
		cli_fail("out of memory");
	used = (size_t)snprintf(text, size, "posenc " POSENC_VERSION ": %s", program->name);
	for (int i = 1; i < cli->argc; i++) {
		const char *word = cli->argv[i];
		const bool plain =
		    word[0] != '\0' &&
		    word[strspn(word,
				"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				"-_=+,./:@%^")] == '\0';
		text[used++] = ' ';
		if (!plain)
			text[used++] = '\'';
		for (; *word != '\0'; word++) {
			if (*word == '\'') {
				memcpy(text + used, "'\\''", 4);
				used += 4;
			} else {
				text[used++] =
				    (unsigned char)*word < 0x20 || *word == 0x7f ? '?' : *word;
			}
		}
		if (!plain)
			text[used++] = '\'';
	}
	text[used] = '\0';
	cli->stamp = text;
	return text;
}

/* Suffixes that promise something else than rows; pe-cat knows them and asks before it comes here. */
static void
refuse_suffix(const char *path)
{
	static const char *const foreign[] = {".ppm", ".pgm", ".c", ".safetensors"};
	const size_t length = path != NULL ? strlen(path) : 0;

	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
		const size_t size = strlen(foreign[i]);
		if (length > size && strcmp(path + length - size, foreign[i]) == 0)
			cli_refuse("-o: only pe-cat writes %s (-t names a format): '%s'",
				   foreign[i], pe_quote(path).text);
	}
}

/* -t, or what the suffix of -o tells, or csv. */
static struct pe_format
output_format(const struct cli_common *common)
{
	struct pe_format format = common->to;

	if (format.container == PE_AUTO)
		refuse_suffix(common->output);
	if (format.container == PE_AUTO && common->output != NULL)
		format = pe_format_of_path(common->output);
	if (format.container == PE_AUTO)
		format.container = PE_CSV;
	return format;
}

void
cli_check_text(const struct cli *cli, bool text)
{
	const struct cli_common *common = &cli->common;

	if (!text && (common->digits != 0 || common->header_out || common->stamp))
		cli_refuse("%s: has no effect: the output is no text", common->digits != 0 ? "-p"
								       : common->header_out
									   ? "--header-out"
									   : "--stamp");
}

struct pe_writer_spec
cli_writer(struct cli *cli, size_t cols, int64_t rows)
{
	const struct cli_common *common = &cli->common;
	const struct pe_format format = output_format(common);

	cli_check_text(cli, pe_format_is_text(format));
	return (struct pe_writer_spec){
	    .path = common->output,
	    .format = format,
	    .digits = common->digits,
	    .stamp = cli_stamp(cli),
	    .cols = cols,
	    .rows = rows,
	    .watch = cli_watch,
	};
}

const char *const *
cli_header(struct cli *cli, const char *const *names, size_t cols)
{
	enum { LONGEST = 24 }; /* "x" and 20 digits */
	if (!cli->common.header_out || names != NULL)
		return cli->common.header_out ? names : NULL;
	char **made = malloc(cols * (sizeof *made + LONGEST));
	if (made == NULL)
		cli_fail("out of memory");
	cli->header = made;
	char *text = (char *)(made + cols);
	for (size_t i = 0; i < cols; i++) {
		made[i] = text + i * LONGEST;
		(void)snprintf(made[i], LONGEST, "x%zu", i);
	}
	return (const char *const *)made;
}

/* ---- rows through a command ---- */

struct pe_reader *
cli_open_reader(const struct pe_reader_spec *spec)
{
	struct pe_reader *in;
	struct pe_error e;

	if (pe_reader_open(&in, spec, &e))
		cli_die(&e);
	return in;
}

struct pe_writer *
cli_open_writer(struct cli *cli, const struct pe_writer_spec *spec)
{
	struct pe_writer *out;
	struct pe_error e;

	if (pe_writer_open(&out, spec, &e))
		cli_die(&e);
	cli_progress_start(cli);
	return out;
}

void
cli_make(struct cli *cli, struct pe_writer *out, uint64_t count, cli_filter_rows *rows,
	 void *context)
{
	struct pe_error e;

	for (uint64_t done = 0; done < count; cli_progress(cli, done)) {
		const uint64_t left = count - done;
		size_t n;
		void *to = pe_writer_room(out, left < SIZE_MAX ? (size_t)left : SIZE_MAX, &n);

		if (rows(context, done, n, NULL, to, &e) || pe_writer_filled(out, n, &e))
			cli_die(&e);
		done += n;
	}
	/* what there is goes out before an objection to the end */
	if (pe_writer_flush(out, &e) || rows(context, count, 0, NULL, NULL, &e) ||
	    pe_writer_close(out, &e))
		cli_die(&e);
}

/* Rows for a block: as many as keep the input's and the output's share within some 64 KiB. */
static size_t
block_rows(const struct pe_reader *in)
{
	const size_t width = pe_reader_cols(in) * pe_elem_size(pe_reader_carrier(in));
	const size_t rows = width > 0 ? 65536 / width : 1;

	return rows > 0 ? rows : 1;
}

void
cli_filter(struct cli *cli, struct pe_reader *in, struct pe_writer *out, cli_filter_rows *rows,
	   void *context)
{
	const size_t most = block_rows(in);
	struct pe_matrix block;
	struct pe_error e;
	uint64_t done = 0;
	ssize_t n = 0;

	if (pe_matrix_init(&block, most, pe_reader_cols(in), pe_reader_carrier(in), &e))
		cli_die(&e);
	for (;; done += (uint64_t)n) {
		size_t room;

		if (pe_reader_waits(in) && pe_writer_flush(out, &e))
			cli_die(&e);
		void *to = pe_writer_room(out, most, &room);
		n = pe_reader_read(in, block.data, room, &e);
		if (n < 0)
			cli_die(&e);
		if (rows(context, done, (size_t)n, block.data, to, &e))
			cli_die(&e);
		if (n == 0)
			break;
		if (pe_writer_filled(out, (size_t)n, &e))
			cli_die(&e);
		cli_progress(cli, done);
	}
	pe_matrix_free(&block);
	if (pe_writer_close(out, &e))
		cli_die(&e);
	pe_reader_close(in);
}

/* ---- progress ---- */

static volatile sig_atomic_t asked; /* SIGUSR1 has come; a handler can reach nothing else */

static void
ask(int signal_number)
{
	(void)signal_number;
	asked = 1;
}

void
cli_progress_start(struct cli *cli)
{
	struct sigaction act = {.sa_handler = ask, .sa_flags = SA_RESTART};

	(void)sigemptyset(&act.sa_mask);
	(void)sigaction(SIGUSR1, &act, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &cli->began);
	cli->told = cli->began;
}

void
cli_progress(struct cli *cli, uint64_t rows)
{
	struct timespec now;

	if (!cli->common.progress && !asked)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (!asked && now.tv_sec - cli->told.tv_sec < 1)
		return;
	asked = 0;
	cli->told = now;
	const double seconds = (double)(now.tv_sec - cli->began.tv_sec) +
			       1e-9 * (double)(now.tv_nsec - cli->began.tv_nsec);
	cli_note("%llu rows, %.0f rows a second", (unsigned long long)rows,
		 seconds > 0 ? (double)rows / seconds : 0.0);
}
