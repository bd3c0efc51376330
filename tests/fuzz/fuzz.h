/* fuzz - what the fuzz targets share: input bytes as a file, and demands that end the run where
 * they fail.
 *
 * A target defines LLVMFuzzerTestOneInput; libFuzzer calls it (make fuzz), or replay.c does for the
 * files of its corpus (make check). */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                     \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			(void)fprintf(stderr, "%s:%d: " #condition "\n", __FILE__, __LINE__); \
			abort();                                                              \
		}                                                                             \
	} while (0)

/* A file of this process whose name ends with suffix: "/tmp/posenc-fuzz-123.csv". */
static inline const char *
fuzz_path(char path[static 64], const char *suffix)
{
	(void)snprintf(path, 64, "%s/posenc-fuzz-%ld%s",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid(), suffix);
	return path;
}

static inline void
fuzz_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	DEMAND(file != NULL);
	DEMAND(fwrite(data, 1, size, file) == size);
	DEMAND(fclose(file) == 0);
}

/* A message is one line of text, fit for a terminal. */
static inline void
fuzz_message(const struct pe_error *e)
{
	const size_t length = strlen(e->text);

	DEMAND(length > 0 && length < sizeof e->text);
	for (size_t i = 0; i < length; i++)
		DEMAND((unsigned char)e->text[i] >= 0x20 && e->text[i] != 0x7f);
	DEMAND(e->fault >= PE_FAULT_ARGUMENT && e->fault <= PE_FAULT_MEMORY);
}

#endif
