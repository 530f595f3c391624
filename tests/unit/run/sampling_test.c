/* SPDX-License-Identifier: Apache-2.0 */
/* What is sampled, by what the machine has. */
#include "run/sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../pmu/tree.h"

#define DEVICES "/sys/bus/event_source/devices"
#define CORE                                                                                       \
	{ DEVICES "/armv8_pmuv3_0/type", "8" },                                                    \
	{                                                                                          \
		DEVICES "/armv8_pmuv3_0/cpus", "0-1"                                               \
	}
#define SPE                                                                                        \
	{ DEVICES "/arm_spe_0/type", "10" },                                                       \
	{                                                                                          \
		DEVICES "/arm_spe_0/cpumask", "0-1"                                                \
	}

static const struct machine {
	const char *what;
	struct tree_file files[5]; /* ended by NULL */
	unsigned interval;
	const char *spe, *events;
} machines[] = {
	{ "neither", { { DEVICES "/software/type", "1" } }, 0, NULL, "cpu-clock" },
	{ "counters", { CORE }, 0, NULL, "cycles,L1D_CACHE_REFILL" },
	/* Call chains come from cycles: what to look for is what SPE shows. */
	{ "both", { CORE, SPE }, 0, "--spe", "cycles" },
	{ "both, and an interval", { CORE, SPE }, 2048, "--spe=interval=2048", "cycles" },
	{ "SPE alone", { SPE }, 0, "--spe", "cpu-clock" },
};

static void call_chains_are_sampled_beside_spe(void **state)
{
	const struct cpu_event refills = { .name = "L1D_CACHE_REFILL" };
	const struct cpu_event *samples[] = { &refills };
	const struct cpu_metric first = { .samples = { samples, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(machines); i++) {
		const struct machine *m = &machines[i];
		struct arena memory = { 0 };
		struct pmus pmus = { 0 };
		struct sampling found;
		struct tree tree;

		tree_make(&tree, m->files);
		pmus_read(&pmus, tree.root);
		found = sampling_choose(&pmus, &first, m->interval, &memory);
		if ((found.spe == NULL) != (m->spe == NULL) ||
		    (m->spe != NULL && strcmp(found.spe, m->spe) != 0) ||
		    strcmp(found.events, m->events) != 0)
			fail_msg("%s: %s, %s", m->what, found.spe, found.events);
		pmus_release(&pmus);
		arena_release(&memory);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_chains_are_sampled_beside_spe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
