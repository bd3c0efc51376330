/* limit - what the machine allows: writes BYTES of memory to standard output in blocks, or
 * copies them in memory. And what a command takes.
 *
 *     limit write BYTES [BLOCK]      as raw tables are written, with nothing computed
 *     limit copy BYTES               memcpy between two blocks beyond the caches, seconds on standard error
 *     limit peak COMMAND [WORD...]   runs it, its peak of memory in KiB on standard error: asked from a process
 *                                    that is smaller, because a child's peak begins with what its parent holds */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int
write_bytes(size_t bytes, size_t block)
{
	char *from = malloc(block);

	if (from == NULL)
		return 1;
	memset(from, 1, block);
	while (bytes > 0) {
		const ssize_t n = write(STDOUT_FILENO, from, bytes < block ? bytes : block);
		if (n < 0)
			return 1;
		bytes -= (size_t)n;
	}
	free(from);
	return 0;
}

static int
copy_bytes(size_t bytes)
{
	const size_t block = (size_t)64 << 20;
	char *from = malloc(block), *to = malloc(block);
	struct timespec a, b;

	if (from == NULL || to == NULL)
		return 1;
	memset(from, 1, block);
	memset(to, 2, block);
	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	for (size_t done = 0; done < bytes; done += block) {
		volatile char *seen = memcpy(to, from, bytes - done < block ? bytes - done : block);
		(void)seen[done % block]; /* keeps the copy from being dropped */
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &b);
	(void)fprintf(stderr, "copy=%.6f\n",
		      (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
	free(from);
	free(to);
	return 0;
}

static int
peak(char **command)
{
	struct rusage used;
	int status;
	const pid_t child = fork();

	if (child == 0) {
		(void)execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &used) != 0)
		return 1;
	(void)fprintf(stderr, "%ld\n", used.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "peak") == 0)
		return peak(argv + 2);
	if (argc >= 3 && strcmp(argv[1], "write") == 0)
		return write_bytes(strtoull(argv[2], NULL, 10),
				   argc > 3 ? strtoull(argv[3], NULL, 10) : 128 << 10);
	if (argc == 3 && strcmp(argv[1], "copy") == 0)
		return copy_bytes(strtoull(argv[2], NULL, 10));
	return 2;
}
