/* SPDX-License-Identifier: Apache-2.0 */
/* Users' trees of cycle accounting. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cycles/tree/account.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Accounts with every second event collected. */
static void use(const struct cycle_template *t, bool is_fine)
{
	struct cycle_count *counts = mem_zalloc(t->n_nodes, sizeof(*counts));
	struct cycle_value *values = mem_zalloc(t->n_nodes, sizeof(*values));
	double *penalties = mem_zalloc(t->n_nodes, sizeof(*penalties));
	const struct cycle_account_options options = { .penalties = penalties,
						       .is_fine = is_fine,
						       .issued_per_cycle = 2 };
	double left;

	for (size_t i = 0; i < t->n_nodes; i++) {
		penalties[i] = cycle_node_penalty(t, (int)i, 3);
		counts[i] = (struct cycle_count){ .is_collected = i % 2 == 0,
						  .is_unscaled = i % 3 == 0,
						  .events = (double)i,
						  .variance = (double)i,
						  .n_samples = i };
	}
	cycle_account(t, counts, &options, values);
	cycle_not_explained(t, values, &left);
	free(counts);
	free(values);
	free(penalties);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cycle_template *t = NULL;
	struct err err;

	if (cycle_template_read("fuzz", (const char *)bytes, size, &t, &err) == 0) {
		use(t, false);
		use(t, true);
	}
	cycle_template_free(t);
	return 0;
}
