/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of metrics. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cpu/formula.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool some_value(void *context, size_t name, double *out)
{
	(void)context;
	*out = (double)name;
	return name < 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = mem_strndup((const char *)bytes, size);
	struct arena memory = { 0 };
	struct formula formula;
	struct err err;
	double value;

	if (formula_parse(text, &memory, &formula, &err) == 0)
		formula_evaluate(&formula, some_value, NULL, &value);
	arena_release(&memory);
	free(text);
	return 0;
}
