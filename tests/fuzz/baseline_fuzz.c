/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines of `cyclops diff`, and the conditions of its gates. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "diff/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = mem_strndup((const char *)bytes, size);
	struct measures a = { 0 }, b = { 0 };
	struct gate gate;
	struct err err;

	gate_parse(text, &gate, &err);
	if (measures_read(text, size, "fuzz", &a, &err) == 0) {
		struct diff d;

		diff_make(&a, &b, DIFF_PER_TOTAL, &d);
		diff_release(&d);
	}
	measures_release(&a);
	measures_release(&b);
	free(text);
	return 0;
}
