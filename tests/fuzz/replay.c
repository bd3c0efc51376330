/* replay - runs a fuzz target on files: the corpus, or a crash under a debugger. */
#include "fuzz.h"

static void
replay(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *file = fopen(path, "rb");

	DEMAND(file != NULL);
	const size_t size = fread(data, 1, sizeof data, file);
	DEMAND(fclose(file) == 0);
	/* a block of exactly that size, so that a read past the end is seen */
	uint8_t *exact = malloc(size > 0 ? size : 1);
	DEMAND(exact != NULL);
	memcpy(exact, data, size);
	(void)LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return 0;
}
