/* io - bytes in and out: the only room that calls open, read, write, fsync, rename, close. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_TMPFILE, F_SETPIPE_SZ */
#endif
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif

static bool
is_standard(const char *path)
{
	return path == NULL || strcmp(path, "-") == 0;
}

static char *
copy_text(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static int
open_file(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Linux gives the descriptor back whatever close says, so EINTR must not lead to a second call: the
 * number may be someone else's by then. */
static int
close_file(int fd)
{
	return close(fd) == 0 || errno == EINTR || errno == EINPROGRESS ? 0 : -1;
}

static bool
would_block(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK;
}

/* Waits until fd is ready, or in a state that the next call will tell. 0, or -1 with errno. */
static int
wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return -1;
	return 0;
}

/* ---- input ---- */

int
pe_input_open(struct pe_input *in, const char *path, struct pe_error *e)
{
	const bool standard = is_standard(path);
	struct stat st;

	*in = (struct pe_input){.fd = STDIN_FILENO, .owned = !standard};
	in->name = copy_text(standard ? "<stdin>" : pe_quote_path(path).text);
	if (in->name == NULL)
		return pe_fail_memory(e);
	if (!standard)
		in->fd = open_file(path, O_RDONLY, 0);
	if (in->fd < 0 || fstat(in->fd, &st) != 0) {
		pe_fail_errno(e, "%s", in->name);
	} else if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		pe_fail_errno(e, "%s", in->name);
	} else {
		return 0;
	}
	struct pe_error unused;
	(void)pe_input_close(in, &unused);
	return -1;
}

ssize_t
pe_input_read(struct pe_input *in, void *to, size_t size, struct pe_error *e)
{
	if (size > SSIZE_MAX)
		size = SSIZE_MAX;
	for (;;) {
		const ssize_t got = read(in->fd, to, size);

		if (got >= 0)
			return got;
		if (errno == EINTR || (would_block(errno) && wait_for(in->fd, POLLIN) == 0))
			continue;
		return pe_fail_errno(e, "%s", in->name);
	}
}

int
pe_input_close(struct pe_input *in, struct pe_error *e)
{
	int failed = 0;

	if (in->owned && in->fd >= 0 && close_file(in->fd) != 0)
		failed = pe_fail_errno(e, "%s", in->name);
	free(in->name);
	*in = (struct pe_input){.fd = -1};
	return failed;
}

off_t
pe_input_size(const struct pe_input *in)
{
	struct stat st;

	if (fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return -1;
	const off_t at = lseek(in->fd, 0, SEEK_CUR);
	return at >= 0 && at <= st.st_size ? st.st_size - at : -1;
}

bool
pe_input_ready(const struct pe_input *in)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* ---- buffer ---- */

/* Files that the kernel makes up as they are read (sysfs) tell a size that means nothing, and
 * have no blocks. */
static int64_t
size_due(const struct pe_input *in)
{
	struct stat st;

	return fstat(in->fd, &st) == 0 && st.st_blocks > 0 ? pe_input_size(in) : -1;
}

void
pe_buffer_init(struct pe_buffer *b, struct pe_input *in)
{
	*b = (struct pe_buffer){.in = in, .due = size_due(in)};
}

void
pe_buffer_free(struct pe_buffer *b)
{
	free(b->data);
	*b = (struct pe_buffer){0};
}

/* Room for `more` bytes behind what is there; doubling keeps a long line's cost linear. */
static int
make_room(struct pe_buffer *b, size_t more, struct pe_error *e)
{
	size_t room = b->room;

	while (room - b->end < more) {
		if (room > PTRDIFF_MAX / 2)
			return pe_fail_memory(e);
		room = room == 0 ? PE_IO_BLOCK : 2 * room;
	}
	if (room == b->room)
		return 0;
	void *data = realloc(b->data, room);
	if (data == NULL)
		return pe_fail_memory(e);
	b->data = data;
	b->room = room;
	return 0;
}

/* One read(2) behind the `held` bytes that are buffered. */
static ssize_t
read_on(struct pe_buffer *b, void *to, size_t size, struct pe_error *e)
{
	const size_t held = pe_buffer_size(b);
	const ssize_t got = pe_input_read(b->in, to, size, e);

	if (got < 0)
		return -1;
	b->ended = got == 0;
	const uint64_t total = b->offset + held + (uint64_t)got;
	if (b->due >= 0 && total > (uint64_t)b->due)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: grows while it is read (is it also the output?)", b->in->name);
	if (b->due >= 0 && b->ended && total < (uint64_t)b->due)
		return pe_fail(e, PE_FAULT_DATA,
			       "%s: shrank from %lld to %llu bytes while it was read", b->in->name,
			       (long long)b->due, (unsigned long long)total);
	return got;
}

ssize_t
pe_buffer_fill(struct pe_buffer *b, struct pe_error *e)
{
	const size_t kept = pe_buffer_size(b);

	if (b->ended)
		return 0;
	if (b->begin > 0 && kept > 0)
		memmove(b->data, b->data + b->begin, kept);
	b->begin = 0;
	b->end = kept;
	if (make_room(b, kept > 0 ? PE_IO_BLOCK / 2 : PE_IO_BLOCK, e))
		return -1;
	const size_t space = b->room - kept;
	const ssize_t got =
	    read_on(b, b->data + kept, space < PE_IO_BLOCK ? space : PE_IO_BLOCK, e);
	if (got > 0)
		b->end += (size_t)got;
	return got;
}

ssize_t
pe_buffer_read(struct pe_buffer *b, void *to, size_t size, struct pe_error *e)
{
	const size_t held = pe_buffer_size(b);

	if (held > 0) {
		const size_t n = held < size ? held : size;
		memcpy(to, pe_buffer_bytes(b), n);
		pe_buffer_use(b, n);
		return (ssize_t)n;
	}
	if (b->ended)
		return 0;
	const ssize_t got = read_on(b, to, size, e);
	if (got > 0)
		b->offset += (size_t)got;
	return got;
}

int
pe_buffer_put_back(struct pe_buffer *b, const void *from, size_t size, struct pe_error *e)
{
	b->begin = b->end = 0;
	if (make_room(b, size, e))
		return -1;
	if (size > 0)
		memcpy(b->data, from, size);
	b->end = size;
	b->offset -= size;
	return 0;
}

/* Moves a regular file on by at most that many bytes, none where it is something else. */
static uint64_t
seek_on(struct pe_buffer *b, uint64_t bytes)
{
	const off_t left = pe_input_size(b->in);

	if (left <= 0 || bytes == 0)
		return 0;
	const off_t step = bytes < (uint64_t)left ? (off_t)bytes : left;
	if (lseek(b->in->fd, step, SEEK_CUR) < 0)
		return 0;
	b->offset += (uint64_t)step;
	return (uint64_t)step;
}

int64_t
pe_buffer_skip(struct pe_buffer *b, uint64_t bytes, struct pe_error *e)
{
	uint64_t done = 0;

	for (;;) {
		const size_t have = pe_buffer_size(b);
		const size_t step = bytes - done < have ? (size_t)(bytes - done) : have;

		pe_buffer_use(b, step);
		done += step;
		if (done < bytes)
			done += seek_on(b, bytes - done);
		if (done == bytes)
			return (int64_t)done;
		const ssize_t got = pe_buffer_fill(b, e);
		if (got < 0)
			return -1;
		if (got == 0)
			return (int64_t)done;
	}
}

int
pe_buffer_need(struct pe_buffer *b, size_t least, struct pe_error *e)
{
	while (pe_buffer_size(b) < least) {
		const ssize_t got = pe_buffer_fill(b, e);

		if (got <= 0)
			return (int)got;
	}
	return 0;
}

/* ---- output ---- */

/* The path behind a chain of symlinks, the last of which may dangle; the caller frees it. */
static char *
follow_links(const char *path)
{
	enum { LINKS_MAX = 40 };
	char *at = copy_text(path);
	char link[PATH_MAX];

	for (int i = 0; at != NULL && i < LINKS_MAX; i++) {
		const ssize_t length = readlink(at, link, sizeof link - 1);
		if (length < 0) /* no link, or nothing there: the end of the chain */
			return at;
		link[length] = '\0';
		const char *slash = strrchr(at, '/');
		const size_t folder =
		    link[0] == '/' || slash == NULL ? 0 : (size_t)(slash - at) + 1;
		char *next = malloc(folder + (size_t)length + 1);
		if (next != NULL) {
			memcpy(next, at, folder);
			memcpy(next + folder, link, (size_t)length + 1);
		}
		free(at);
		at = next;
	}
	if (at != NULL)
		errno = ELOOP;
	free(at);
	return NULL;
}

/* "FOLDER/NAME" with the folder of target; NAME "" gives the folder alone, "." where there is none. */
static char *
beside(const char *target, const char *name)
{
	const char *slash = strrchr(target, '/');
	const size_t folder = slash != NULL ? (size_t)(slash - target) + 1 : 0;
	const size_t size = folder + strlen(name) + 2;
	char *path = malloc(size);

	if (path != NULL)
		(void)snprintf(path, size, "%.*s%s", (int)folder, target,
			       folder == 0 && name[0] == '\0' ? "." : name);
	return path;
}

/* A name that no file beside target has. */
static char *
temporary_name(const char *target, unsigned attempt)
{
	char name[64];

	(void)snprintf(name, sizeof name, ".posenc-%ld-%u.tmp", (long)getpid(), attempt);
	return beside(target, name);
}

enum { ATTEMPTS = 100 };

static int
create_named(struct pe_output *out)
{
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		out->temporary = temporary_name(out->target, i);
		if (out->temporary == NULL)
			return -1;
		out->fd = open_file(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
		if (out->fd >= 0) {
			if (out->watch != NULL)
				out->watch(out->temporary);
			return 0;
		}
		free(out->temporary);
		out->temporary = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* A file without a name vanishes with the process, however that ends. It gets its name through
 * /proc. */
static int
create_unnamed(struct pe_output *out)
{
#ifdef O_TMPFILE
	char *folder = beside(out->target, "");

	if (folder == NULL)
		return -1;
	out->fd =
	    access("/proc/self/fd", X_OK) == 0 ? open_file(folder, O_TMPFILE | O_WRONLY, 0666) : -1;
	free(folder);
	return out->fd >= 0 ? 0 : -1;
#else
	(void)out;
	return -1;
#endif
}

static int
create_beside(struct pe_output *out, const char *path, const struct stat *old)
{
	out->target = follow_links(path);
	if (out->target == NULL)
		return -1;
	if (old != NULL && access(out->target, W_OK) != 0)
		return -1; /* a file that its owner protected stays as it is */
	if (create_unnamed(out) != 0 && create_named(out) != 0)
		return -1;
	return old != NULL ? fchmod(out->fd, old->st_mode & 07777) : 0;
}

static int
open_direct(struct pe_output *out, const char *path)
{
	out->fd = open_file(path, O_WRONLY, 0);
	return out->fd >= 0 ? 0 : -1;
}

/* Standard output may be closed, or open for reading alone; better told now than after long work. */
static int
check_standard(const struct pe_output *out)
{
	const int flags = fcntl(out->fd, F_GETFL);

	if (flags < 0)
		return -1;
	if ((flags & O_ACCMODE) == O_RDONLY) {
		errno = EBADF;
		return -1;
	}
	return 0;
}

int
pe_output_open(struct pe_output *out, const char *path, pe_output_watch *watch, struct pe_error *e)
{
	const bool standard = is_standard(path);
	struct stat st;
	int failed;

	*out = (struct pe_output){.fd = standard ? STDOUT_FILENO : -1, .watch = watch};
	out->owned = true; /* standard output too: only its close tells of a full network disk */
	out->name = copy_text(standard ? "<stdout>" : pe_quote_path(path).text);
	if (out->name == NULL)
		return pe_fail_memory(e);
	if (standard) {
		failed = check_standard(out);
	} else if (stat(path, &st) != 0) {
		failed = errno == ENOENT ? create_beside(out, path, NULL) : -1;
	} else if (S_ISREG(st.st_mode)) {
		failed = create_beside(out, path, &st);
	} else {
		failed = open_direct(out, path); /* EISDIR for a directory */
	}
	if (failed) {
		pe_fail_errno(e, "%s", out->name);
		pe_output_abandon(out);
		return -1;
	}
	return 0;
}

/* pwrite where at is not negative. */
static ssize_t
write_some(int fd, const char *from, size_t size, off_t at)
{
	return at < 0 ? write(fd, from, size) : pwrite(fd, from, size, at);
}

static int
write_all(struct pe_output *out, off_t at, const void *from, size_t size, struct pe_error *e)
{
	const char *next = from;
	int nothing = 0;

	while (size > 0) {
		const ssize_t done =
		    write_some(out->fd, next, size < SSIZE_MAX ? size : SSIZE_MAX, at);

		if (done > 0) {
			next += done;
			size -= (size_t)done;
			at += at < 0 ? 0 : done;
			nothing = 0;
			continue;
		}
		if (done < 0 &&
		    (errno == EINTR || (would_block(errno) && wait_for(out->fd, POLLOUT) == 0)))
			continue;
		if (done == 0) { /* POSIX leaves it open what that means: once is chance */
			if (nothing++ == 0)
				continue;
			errno = EIO;
		}
		return pe_fail_errno(e, "%s", out->name);
	}
	return 0;
}

/* A pipe of two blocks lets the reader take one while the next is made; in one of 64 KiB, as
 * Linux makes them, both sides wait for each other at every block, which costs more than the
 * copying (0.15 s against 0.05 s for 128 MiB). Only a hint: where a pipe cannot grow, because
 * the user has many, all goes on as before. */
static void
widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	const int wanted = (int)(2 * PE_WRITE_BLOCK), size = fcntl(fd, F_GETPIPE_SZ);

	if (size >= 0 && size < wanted)
		(void)fcntl(fd, F_SETPIPE_SZ, wanted);
#else
	(void)fd;
#endif
}

int
pe_output_write(struct pe_output *out, const void *from, size_t size, struct pe_error *e)
{
	if (!out->bulk && size >= PE_IO_BLOCK) {
		out->bulk = true;
		widen_pipe(out->fd);
	}
	return write_all(out, -1, from, size, e);
}

bool
pe_output_patchable(const struct pe_output *out)
{
	return out->target != NULL && out->fd >= 0;
}

int
pe_output_write_at(struct pe_output *out, off_t at, const void *from, size_t size,
		   struct pe_error *e)
{
	return write_all(out, at, from, size, e);
}

/* Gives an unnamed file a name: the target's own where that is free, else a temporary one. */
static int
give_name(struct pe_output *out)
{
	char unnamed[64];

	(void)snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", out->fd);
	if (linkat(AT_FDCWD, unnamed, AT_FDCWD, out->target, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	for (unsigned i = 0; errno == EEXIST && i < ATTEMPTS; i++) {
		char *name = temporary_name(out->target, i);
		if (name == NULL)
			return -1;
		if (linkat(AT_FDCWD, unnamed, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
			out->temporary = name;
			return 0;
		}
		free(name);
	}
	return -1;
}

static void
forget_temporary(struct pe_output *out)
{
	if (out->temporary != NULL && out->watch != NULL)
		out->watch(NULL);
	free(out->temporary);
	out->temporary = NULL;
}

/* From the temporary's name to the target's; with signals held, so that none leaves the
 * temporary behind. */
static int
take_name(struct pe_output *out)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	int failed = out->temporary == NULL ? give_name(out) : 0;
	if (!failed && out->temporary != NULL) {
		failed = rename(out->temporary, out->target);
		const int why = errno;
		if (failed)
			(void)unlink(out->temporary);
		forget_temporary(out);
		errno = why;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

static int
finish(struct pe_output *out)
{
	/* EINVAL and ENOTSUP: a file system that has nothing to synchronise. */
	if (fsync(out->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
		return -1;
	/* An unnamed file must be open while it takes its name, yet a close may still tell of a
	 * failed write (NFS, quotas): a second descriptor's close asks before the old file is
	 * gone. */
	const int second = dup(out->fd);
	if (second < 0 || close_file(second) != 0 || take_name(out) != 0)
		return -1;
	(void)close(out->fd);
	out->fd = -1;
	return 0;
}

int
pe_output_commit(struct pe_output *out, struct pe_error *e)
{
	int failed;

	if (out->target != NULL) {
		failed = finish(out);
	} else {
		failed = close_file(out->fd);
		out->fd = -1;
	}
	return failed ? pe_fail_errno(e, "%s", out->name) : 0;
}

void
pe_output_abandon(struct pe_output *out)
{
	if (out->owned && out->fd > STDERR_FILENO)
		(void)close(out->fd);
	if (out->temporary != NULL)
		(void)unlink(out->temporary);
	forget_temporary(out);
	free(out->target);
	free(out->name);
	*out = (struct pe_output){.fd = -1};
}
