/* io - bytes in and out: the only room that calls open, read, write, fsync, rename, close.
 *
 * Reads and writes go on after EINTR and short counts and wait (poll) where a descriptor is
 * non-blocking; a failed close is an error. Nothing seeks an input, nothing is mapped. */
#ifndef PE_IO_H
#define PE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

#define PE_IO_BLOCK ((size_t)128 * 1024) /* bytes asked of read(2), given to write(2) at a time */

/* An input. */
struct pe_input {
	int fd;
	char *name; /* for messages: the path, escaped, or "<stdin>" */
	bool owned; /* close it */
};

/* path NULL or "-" is standard input. A directory is refused. */
int pe_input_open(struct pe_input *in, const char *path, struct pe_error *e);
/* Bytes read, at least one and at most size, 0 at the end, -1 on failure. */
ssize_t pe_input_read(struct pe_input *in, void *to, size_t size, struct pe_error *e);
int pe_input_close(struct pe_input *in, struct pe_error *e);

/* The size of a regular file, -1 where the input is something else. A hint: it may grow or shrink while it is read. */
off_t pe_input_size(const struct pe_input *in);

/* An output: standard output, a device or FIFO written directly, or a regular file that is written beside its name and
 * renamed onto it when all is well (symlinks are followed; an existing file's mode is kept, a new one has the umask's).
 * Until then the old file stands; where nothing commits it, nothing is left behind, also when the
 * process is killed, on systems that have unnamed files. */
struct pe_output {
	int fd;
	char *name;      /* for messages: the path, escaped, or "<stdout>" */
	char *target;    /* path that the finished file takes, NULL when written directly */
	char *temporary; /* its name until then, NULL while it has none */
	bool owned;
};

int pe_output_open(struct pe_output *out, const char *path, struct pe_error *e);
/* All bytes, or -1. */
int pe_output_write(struct pe_output *out, const void *from, size_t size, struct pe_error *e);
/* True where pe_output_write_at works: our own regular file, not yet committed. */
bool pe_output_patchable(const struct pe_output *out);
int pe_output_write_at(struct pe_output *out, off_t at, const void *from, size_t size,
		       struct pe_error *e);
/* fsync, close, rename: afterwards the file is whole under its name. For a direct output: close. */
int pe_output_commit(struct pe_output *out, struct pe_error *e);
/* Drops what was written to a file of our own. May be called after commit, where it does nothing but free. */
void pe_output_abandon(struct pe_output *out);

#endif
