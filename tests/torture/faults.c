/* faults - linked into static builds of the commands (--wrap), so that a test can make the n-th
 * allocation fail and every read and write short, interrupted or unready.
 *
 * FAULT_ALLOC=n   the n-th malloc, calloc or realloc returns NULL with ENOMEM
 * FAULT_SHORT=n   read and write move at most n bytes
 * FAULT_ERRNO=e   every third read and write fails with errno e (EINTR, EAGAIN) before it moves anything
 *
 * An allocation that was made to fail is told by a byte on descriptor 9, if that is open. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __real_write(int fd, const void *from, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);

/* What the C library allocates before main is not ours to test. */
static bool in_main;

__attribute__((constructor)) static void
enter_main(void)
{
	in_main = true;
}

static long
setting(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtol(text, NULL, 10) : 0;
}

static int
allocation_fails(void)
{
	static atomic_long allocations;
	const long due = setting("FAULT_ALLOC");

	if (!in_main || due == 0 || atomic_fetch_add(&allocations, 1) + 1 != due)
		return 0;
	(void)__real_write(9, "!", 1);
	errno = ENOMEM;
	return 1;
}

void *
__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(old, size);
}

/* Bytes that a call may move; 0: it fails with errno set. */
static size_t
allowance(size_t size)
{
	static atomic_long calls;
	const long most = setting("FAULT_SHORT"), error = setting("FAULT_ERRNO");

	if (error != 0 && atomic_fetch_add(&calls, 1) % 3 == 2) {
		errno = (int)error;
		return 0;
	}
	return most > 0 && size > (size_t)most ? (size_t)most : size;
}

ssize_t
__wrap_read(int fd, void *to, size_t size)
{
	const size_t most = allowance(size);

	return most == 0 && size > 0 ? -1 : __real_read(fd, to, most);
}

ssize_t
__wrap_write(int fd, const void *from, size_t size)
{
	const size_t most = allowance(size);

	return most == 0 && size > 0 ? -1 : __real_write(fd, from, most);
}
