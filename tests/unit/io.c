/* io: what a shell cannot make happen: a system without unnamed files, a write that moves
 * nothing, a disk that tells of its failure at fsync, at close or at rename. The calls are
 * caught here, on their way to the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifdef __linux__

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"

#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

/* ---- the calls ---- */

static struct {
	int nothing; /* so many writes move nothing */
	int fsync_error, close_error, rename_error;
	int no_unnamed;
} faults;

static int
failing(int error)
{
	errno = error;
	return -1;
}

int
open(const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (faults.no_unnamed && (flags & O_TMPFILE) == O_TMPFILE)
		return failing(EOPNOTSUPP);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t
write(int fd, const void *from, size_t size)
{
	if (faults.nothing > 0) {
		faults.nothing--;
		return 0;
	}
	return syscall(SYS_write, fd, from, size);
}

int
fsync(int fd)
{
	return faults.fsync_error ? failing(faults.fsync_error) : (int)syscall(SYS_fsync, fd);
}

int
close(int fd)
{
	const int error = faults.close_error;
	const int failed = (int)syscall(SYS_close, fd);

	faults.close_error = 0; /* the first alone */
	return error ? failing(error) : failed;
}

int
rename(const char *from, const char *to)
{
	return faults.rename_error ? failing(faults.rename_error)
				   : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- the tests ---- */

static char folder[] = "/tmp/posenc-io-XXXXXX";
static char target[64];
static char watched[128]; /* what the watch was told last */
static int told;

static void
watch(const char *temporary)
{
	(void)snprintf(watched, sizeof watched, "%s", temporary != NULL ? temporary : "");
	told++;
}

static int
make_folder(void **unused)
{
	(void)unused;
	if (mkdtemp(folder) == NULL)
		return -1;
	(void)snprintf(target, sizeof target, "%s/file", folder);
	return 0;
}

static int
remove_folder(void **unused)
{
	(void)unused;
	(void)unlink(target);
	return rmdir(folder);
}

static int
reset(void **unused)
{
	(void)unused;
	memset(&faults, 0, sizeof faults);
	told = 0;
	(void)unlink(target);
	return 0;
}

static int
count_files(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n - 2; /* . and .. */
}

static void
assert_holds(const char *text)
{
	char got[64] = "";
	FILE *f = fopen(target, "r");

	assert_non_null(f);
	(void)fread(got, 1, sizeof got - 1, f);
	(void)fclose(f);
	assert_string_equal(got, text);
}

static void
make_old(void)
{
	FILE *f = fopen(target, "w");

	assert_non_null(f);
	(void)fputs("old", f);
	(void)fclose(f);
	assert_int_equal(chmod(target, 0604), 0);
}

static int
write_new(struct pe_output *out, struct pe_error *e)
{
	return pe_output_open(out, target, watch, e) || pe_output_write(out, "new", 3, e) ? -1 : 0;
}

/* Both ways of making a file: without a name, and with a temporary one. */
static void
whole_or_nothing(void **unused)
{
	struct pe_output out;
	struct pe_error e;
	struct stat st;

	(void)unused;
	for (int named = 0; named < 2; named++) {
		faults.no_unnamed = named;
		make_old();
		assert_int_equal(write_new(&out, &e), 0);
		assert_int_equal(out.temporary != NULL, named);
		assert_int_equal(count_files(), 1 + named);
		assert_holds("old");
		pe_output_abandon(&out);
		assert_int_equal(count_files(), 1);
		assert_holds("old");

		assert_int_equal(write_new(&out, &e), 0);
		assert_true(pe_output_patchable(&out));
		assert_int_equal(pe_output_write_at(&out, 1, "o", 1, &e), 0);
		assert_int_equal(pe_output_commit(&out, &e), 0);
		pe_output_abandon(&out);
		assert_int_equal(count_files(), 1);
		assert_holds("now");
		assert_int_equal(stat(target, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0604);
		assert_int_equal(unlink(target), 0);
	}
}

/* Someone else's file has the name of the first temporary: it stays, and another name is taken. */
static void
names_that_are_taken(void **unused)
{
	char taken[128];
	struct pe_output out;
	struct pe_error e;

	(void)unused;
	(void)snprintf(taken, sizeof taken, "%s/.posenc-%ld-0.tmp", folder, (long)getpid());
	for (int named = 0; named < 2; named++) {
		faults.no_unnamed = named;
		make_old();
		FILE *f = fopen(taken, "w");
		assert_non_null(f);
		(void)fclose(f);
		assert_int_equal(write_new(&out, &e), 0);
		assert_int_equal(pe_output_commit(&out, &e), 0);
		pe_output_abandon(&out);
		assert_holds("new");
		assert_int_equal(count_files(), 2);
		assert_int_equal(unlink(taken), 0);
	}
}

static void
watch_is_told(void **unused)
{
	struct pe_output out;
	struct pe_error e;

	(void)unused;
	faults.no_unnamed = 1;
	assert_int_equal(write_new(&out, &e), 0);
	assert_int_equal(told, 1);
	assert_string_equal(watched, out.temporary);
	assert_int_equal(pe_output_commit(&out, &e), 0);
	assert_int_equal(told, 2);
	assert_string_equal(watched, "");
	pe_output_abandon(&out);
	assert_int_equal(told, 2);
}

/* A failure at the end: told, the old file stands, nothing is left beside it. */
static void
assert_commit_fails(const char *what)
{
	for (int named = 0; named < 2; named++) {
		struct pe_output out;
		struct pe_error e;
		char due[160];

		faults.no_unnamed = named;
		make_old();
		const int close_error = faults.close_error;
		faults.close_error = 0;
		assert_int_equal(write_new(&out, &e), 0);
		faults.close_error = close_error;
		assert_int_equal(pe_output_commit(&out, &e), -1);
		faults.close_error = 0;
		pe_output_abandon(&out);
		(void)snprintf(due, sizeof due, "%s: %s", target, what);
		assert_string_equal(e.text, due);
		assert_int_equal(e.fault, PE_FAULT_IO);
		assert_holds("old");
		assert_int_equal(count_files(), 1);
		faults.close_error = close_error;
	}
}

static void
failure_at_fsync(void **unused)
{
	(void)unused;
	faults.fsync_error = EIO;
	assert_commit_fails("Input/output error");
}

static void
failure_at_close(void **unused)
{
	(void)unused;
	faults.close_error = EDQUOT;
	assert_commit_fails("Disk quota exceeded");
}

static void
failure_at_rename(void **unused)
{
	(void)unused;
	faults.rename_error = EACCES;
	assert_commit_fails("Permission denied");
}

/* A file system that has nothing to synchronise is no failure. */
static void
nothing_to_synchronise(void **unused)
{
	struct pe_output out;
	struct pe_error e;

	(void)unused;
	faults.fsync_error = EINVAL;
	assert_int_equal(write_new(&out, &e), 0);
	assert_int_equal(pe_output_commit(&out, &e), 0);
	pe_output_abandon(&out);
	assert_holds("new");
}

static void
writes_that_move_nothing(void **unused)
{
	struct pe_output out;
	struct pe_error e;
	char due[160];

	(void)unused;
	faults.nothing = 1;
	assert_int_equal(write_new(&out, &e), 0);
	assert_int_equal(pe_output_commit(&out, &e), 0);
	pe_output_abandon(&out);
	assert_holds("new");

	faults.nothing = 2;
	assert_int_equal(write_new(&out, &e), -1);
	pe_output_abandon(&out);
	(void)snprintf(due, sizeof due, "%s: Input/output error", target);
	assert_string_equal(e.text, due);
	assert_holds("new");
}

/* ---- descriptors that are not ready ---- */

enum { MUCH = 1 << 20 };

/* A child that passes bytes on through the FIFO, some milliseconds late, and tells how many by
 * its status. */
static pid_t
start_slow(const char *fifo, bool reads)
{
	const pid_t child = fork();

	if (child != 0)
		return child;
	static char bytes[MUCH];
	const int fd = open(fifo, reads ? O_RDONLY : O_WRONLY);
	size_t done = 0;
	ssize_t got = 1;
	while (fd >= 0 && got > 0 && done < MUCH) {
		(void)usleep(2000);
		got = reads ? read(fd, bytes + done, MUCH - done)
			    : (ssize_t)syscall(SYS_write, fd, bytes + done,
					       MUCH - done < 100000 ? MUCH - done : 100000);
		done += got > 0 ? (size_t)got : 0;
	}
	_exit(done == MUCH ? 0 : 1);
}

static void
assert_child_done(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
waits_for_a_slow_reader(void **unused)
{
	static char bytes[MUCH];
	struct pe_output out;
	struct pe_error e;

	(void)unused;
	assert_int_equal(mkfifo(target, 0600), 0);
	const pid_t child = start_slow(target, true);
	assert_int_equal(pe_output_open(&out, target, NULL, &e), 0);
	assert_int_equal(fcntl(out.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(pe_output_write(&out, bytes, MUCH, &e), 0);
	assert_int_equal(pe_output_commit(&out, &e), 0);
	pe_output_abandon(&out);
	assert_child_done(child);
}

static void
waits_for_a_slow_writer(void **unused)
{
	static char bytes[MUCH];
	struct pe_input in;
	struct pe_error e;
	ssize_t got;
	size_t done = 0;

	(void)unused;
	assert_int_equal(mkfifo(target, 0600), 0);
	const pid_t child = start_slow(target, false);
	assert_int_equal(pe_input_open(&in, target, &e), 0);
	assert_int_equal(fcntl(in.fd, F_SETFL, O_NONBLOCK), 0);
	while ((got = pe_input_read(&in, bytes, MUCH, &e)) > 0)
		done += (size_t)got;
	assert_int_equal(got, 0);
	assert_int_equal(done, MUCH);
	assert_int_equal(pe_input_close(&in, &e), 0);
	assert_child_done(child);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(whole_or_nothing, reset),
	    cmocka_unit_test_setup(names_that_are_taken, reset),
	    cmocka_unit_test_setup(watch_is_told, reset),
	    cmocka_unit_test_setup(failure_at_fsync, reset),
	    cmocka_unit_test_setup(failure_at_close, reset),
	    cmocka_unit_test_setup(failure_at_rename, reset),
	    cmocka_unit_test_setup(nothing_to_synchronise, reset),
	    cmocka_unit_test_setup(writes_that_move_nothing, reset),
	    cmocka_unit_test_setup(waits_for_a_slow_reader, reset),
	    cmocka_unit_test_setup(waits_for_a_slow_writer, reset),
	};

	return cmocka_run_group_tests_name("io", tests, make_folder, remove_folder);
}

#else

int
main(void)
{
	return 0; /* the calls are caught by Linux's numbers */
}

#endif
