/* Any bytes as a model's config.json: refused with one line, or read to values within their ranges. */
#include "config.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct pe_error e;
	struct pe_config c = {0};
	/* the first byte asks for a layer kind or not */
	const char *kind = size > 0 && data[0] % 2 == 1 ? "full_attention" : NULL;

	if (size < 1)
		return 0;
	fuzz_file(fuzz_path(path, ".json"), data + 1, size - 1);
	if (pe_config_read(&c, path, kind, &e) != 0) {
		fuzz_message(&e);
	} else {
		DEMAND(c.base > 0);
		DEMAND(c.share > 0 && c.share <= 1);
		DEMAND(pe_config_rotary_dim(&c, 64) <= 64 || c.rotary_dim > 64);
	}
	pe_config_free(&c);
	return 0;
}
