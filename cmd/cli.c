/* cli - the command line that every command of posenc shares: the common options, and operands. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <gmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_help.h"
#include "cli_values.h"

/* Opens a closed descriptor 0..2 on the null device the wrong way round, so that no file opened
 * later takes its number and its use fails with EBADF, as it would have. */
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

	while (cli_option_at(cli->command, count) != NULL)
		count++;
	cli->longs = calloc(count + 1, sizeof *cli->longs);
	cli->shorts = malloc(2 * count + 2);
	if (cli->longs == NULL || cli->shorts == NULL)
		cli_fail("out of memory");
	cli->shorts[letters++] = ':'; /* a missing argument is ours to report */
	for (size_t k = 0, n = 0; (o = cli_option_at(cli->command, k)) != NULL; k++) {
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

	cli_use(command);
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

/* Is it "--name=value"? Then optopt may be the letter of a long option that takes none. */
static bool
long_with_value(const struct cli *cli)
{
	const char *word = optind > 0 ? cli->argv[optind - 1] : "";

	return strncmp(word, "--", 2) == 0 && strchr(word, '=') != NULL;
}

/* The word of the command line that getopt_long has just refused. */
static const char *
refused_word(const struct cli *cli)
{
	static char letter[3] = "-?";

	if (optopt > 0 && optopt < 128 && !long_with_value(cli)) {
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
		for (size_t k = 0; (o = cli_option_at(cli->command, k)) != NULL; k++) {
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
	case 'h': cli_print_help(cli->command);
	case CLI_KEY_VERSION: cli_print_version(cli->command);
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
	case CLI_KEY_HEADER_IN: common->header_in = true; return true;
	case CLI_KEY_HEADER_OUT: common->header_out = true; return true;
	case CLI_KEY_STAMP: common->stamp = true; return true;
	case CLI_KEY_PROGRESS: common->progress = true; return true;
	default: return false;
	}
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
		if (key == -1 || !cli_is_common(cli->command, key))
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
