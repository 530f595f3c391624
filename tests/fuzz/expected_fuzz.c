/* SPDX-License-Identifier: Apache-2.0 */
/* Files of expected counts. */
#include <stdint.h>

#include "kernel/expected/expected.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use(const struct expected *e)
{
	static const struct cache_sizes sizes = { 65536, 1 << 20, 32 << 20, 48, 1280 };
	uint64_t values[N_PARAMETERS];
	struct expected_count count;
	struct err err;

	for (size_t i = 0; i < e->n_cases; i++) {
		const struct expected_case *c = &e->cases[i];

		if (expected_set_values(c, &sizes, values, &err) < 0)
			continue;
		for (size_t k = 0; k < c->n_expectations; k++)
			if (expected_count_of(e, &c->expectations[k], values, &count))
				expected_judge(&count, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct expected e;
	struct err err;

	if (expected_read((const char *)bytes, size, &e, &err) == 0)
		use(&e);
	expected_release(&e);
	return 0;
}
