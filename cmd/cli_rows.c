/* cli_rows - from the common options to readers, writers and the loops between them. */
#include "cli_rows.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "matrix.h"
#include "num.h"

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
	if (isatty(STDIN_FILENO))
		cli_note("reads standard input, which is the terminal: Ctrl-D on a line of its own "
			 "ends it");
}

void
cli_check_stdin(const char *const *paths, size_t count)
{
	size_t times = 0;

	for (size_t i = 0; i < count; i++)
		times += paths[i] != NULL && strcmp(paths[i], "-") == 0;
	if (times > 1)
		cli_refuse("standard input is named twice: '-'");
}

void
cli_check_header(const struct cli *cli)
{
	const struct pe_format from = cli->common.from;

	if (cli->common.header_in && from.container != PE_AUTO && !pe_format_is_text(from))
		cli_refuse("--header-in: has no effect beside -f: the input is no text");
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
	size_t size = 64 + strlen(cli->command->name), used;

	for (int i = 1; i < cli->argc; i++)
		size += 4 * strlen(cli->argv[i]) + 3;
	char *text = malloc(size);
	if (text == NULL)
		cli_fail("out of memory");
	used = (size_t)snprintf(text, size, "posenc " POSENC_VERSION ": %s", cli->command->name);
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

void
cli_check_size(uint64_t rows, size_t cols)
{
	size_t bytes;

	if (rows > SIZE_MAX || !pe_num_size((size_t)rows, cols, sizeof(double), &bytes))
		cli_refuse("output: %llu rows x %zu columns x 8 bytes overflows",
			   (unsigned long long)rows, cols);
}

struct pe_writer_spec
cli_writer(struct cli *cli, size_t cols, int64_t rows)
{
	const struct cli_common *common = &cli->common;
	const struct pe_format format = output_format(common);

	if (rows > 0)
		cli_check_size((uint64_t)rows, cols);
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
