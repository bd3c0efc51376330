/* io - bytes in and out: the only room that calls open, read, write, fsync, rename, close.
 *
 * Reads and writes go on after EINTR and short counts and wait (poll) where a descriptor is
 * non-blocking; a failed close is an error. Nothing needs a seek, nothing is mapped. */
#ifndef PE_IO_H
#define PE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

#define PE_IO_BLOCK ((size_t)128 * 1024)    /* bytes asked of read(2) at a time */
#define PE_WRITE_BLOCK ((size_t)256 * 1024) /* bytes gathered for write(2) */

/* ---- input ---- */

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

/* The bytes left in a regular file, -1 where the input is something else. A hint: it may grow or
 * shrink while it is read, and a file of the kernel's says 0. */
off_t pe_input_size(const struct pe_input *in);
/* True if a read would not wait. */
bool pe_input_ready(const struct pe_input *in);

/* Bytes that were read and are not used yet: data[begin] .. data[end - 1]. Grows with what is
 * kept in it. A regular file that grows or shrinks while it is read is an error. */
struct pe_buffer {
	struct pe_input *in;
	unsigned char *data;
	size_t begin, end, room;
	uint64_t offset; /* of data[begin] in the input */
	int64_t due;     /* the input's size when it was opened, -1: not known */
	bool ended;      /* the input has told its end */
};

void pe_buffer_init(struct pe_buffer *b, struct pe_input *in);
void pe_buffer_free(struct pe_buffer *b);
/* Reads once, behind what is there; data[begin] moves to the front of the buffer, aligned for any
 * element. Bytes added, 0 at the end, -1 on failure. */
ssize_t pe_buffer_fill(struct pe_buffer *b, struct pe_error *e);
/* Reads until `least` bytes are there or the input has ended. */
int pe_buffer_need(struct pe_buffer *b, size_t least, struct pe_error *e);
/* Passes over that many bytes, or as many as there are before the end: how many, -1 on failure.
 * A regular file's are not read. */
int64_t pe_buffer_skip(struct pe_buffer *b, uint64_t bytes, struct pe_error *e);
/* The other way round, for blocks that need no buffer: what is buffered, else one read(2)
 * straight to `to`. Bytes, 0 at the end, -1 on failure. What was too much is put back; then
 * nothing else may be buffered. */
ssize_t pe_buffer_read(struct pe_buffer *b, void *to, size_t size, struct pe_error *e);
int pe_buffer_put_back(struct pe_buffer *b, const void *from, size_t size, struct pe_error *e);
static inline size_t
pe_buffer_size(const struct pe_buffer *b)
{
	return b->end - b->begin;
}
static inline const unsigned char *
pe_buffer_bytes(const struct pe_buffer *b)
{
	return b->data + b->begin;
}
static inline void
pe_buffer_use(struct pe_buffer *b, size_t size)
{
	b->begin += size;
	b->offset += size;
}

/* ---- output ---- */

/* Told the name of a temporary file as soon as there is one, and NULL when it is gone: whoever
 * is to remove it should a signal or an early exit come in between. The text lives until then. */
typedef void pe_output_watch(const char *temporary);

/* An output: standard output, a device or FIFO written directly, or a regular file that is
 * written beside its name and renamed onto it when all is well (symlinks are followed; an
 * existing file's mode is kept, a new one has the umask's). Until then the old file stands;
 * where nothing commits it, nothing is left behind, also when the process is killed, on systems
 * that have unnamed files. Elsewhere `watch` is told. */
struct pe_output {
	int fd;
	char *name;      /* for messages: the path, escaped, or "<stdout>" */
	char *target;    /* path that the finished file takes, NULL when written directly */
	char *temporary; /* its name until then, NULL while it has none */
	bool owned;
	bool bulk; /* a large block has been written: a pipe has been made wider for it */
	pe_output_watch *watch;
};

/* watch may be NULL. */
int pe_output_open(struct pe_output *out, const char *path, pe_output_watch *watch,
		   struct pe_error *e);
/* All bytes, or -1. */
int pe_output_write(struct pe_output *out, const void *from, size_t size, struct pe_error *e);
/* True where pe_output_write_at works: our own regular file, not yet committed. */
bool pe_output_patchable(const struct pe_output *out);
int pe_output_write_at(struct pe_output *out, off_t at, const void *from, size_t size,
		       struct pe_error *e);
/* fsync, close, rename: afterwards the file is whole under its name. For a direct output: close. */
int pe_output_commit(struct pe_output *out, struct pe_error *e);
/* Drops what was written to a file of our own, and frees. Also due after commit, where it only
 * frees. */
void pe_output_abandon(struct pe_output *out);

#endif
