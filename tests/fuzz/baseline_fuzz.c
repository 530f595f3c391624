/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines of `cyclops diff`, and the conditions of its gates. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "diff/diff.h"
#include "gate/junit.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = mem_strndup((const char *)bytes, size);
	struct measures a = { 0 }, b = { 0 };
	static const struct quantity quantities[] = {
		{ "ipc", NULL, "", false, "" },
		{ "share", "FUNCTION", "", true, "" },
		{ "time", NULL, "ns", false, "" },
	};
	struct diff_gate change;
	struct gate gate;
	struct err err;

	diff_gate_parse(text, &change, &err);
	if (gate_parse(text, quantities, COUNT(quantities), &gate, &err) == 0) {
		const struct measured measured = measured_between(0.5, 0.25, 0.75);
		const struct quantity *quantity = &quantities[gate.quantity];
		struct text xml = { 0 };
		struct gates gates;

		gates_init(&gates);
		gates_add(&gates, &gate, quantity, &measured);
		junit_put(&gates, "fuzz", &xml);
		gates_release(&gates);
		text_release(&xml);
	}
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
