/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/here.h"

#include <unistd.h>

#include "pmu/event_spec.h"
#include "pmu/machine.h"
#include "pmu/perf_event.h"

static const struct cpu *pmu_here_cpu_of(const struct catalog *catalog, const char *root,
					 const struct pmu *core)
{
	uint32_t first = core != NULL && core->cpus.n > 0 ? core->cpus.items[0].first : 0;
	uint64_t midr = machine_midr(root, first);

	return midr == 0 ? NULL : catalog_cpu_of_midr(catalog, midr);
}

void here_init(struct here *h, const char *root, const struct catalog *catalog,
	       const struct cpu *asked, bool is_allowed)
{
	const struct pmu *core;

	*h = (struct here){ .is_allowed = is_allowed };
	pmus_read(&h->pmus, root);
	h->core = pmus_core(&h->pmus, 0);
	h->cpu = pmu_here_cpu_of(catalog, root, h->core);
	h->is_this_machine = asked == NULL || asked == h->cpu;
	for (size_t i = 1; !h->is_this_machine && (core = pmus_core(&h->pmus, i)) != NULL; i++) {
		const struct cpu *cpu = pmu_here_cpu_of(catalog, root, core);

		if (cpu != asked)
			continue;
		h->core = core;
		h->cpu = cpu;
		h->is_this_machine = true;
	}
}

void here_release(struct here *h)
{
	pmus_release(&h->pmus);
}

/* Tries to open the event. Kernels of other architectures refuse what their PMU cannot count. */
static int try_event(struct here *h, const struct cpu_event *event)
{
	struct event_specs specs = { 0 };
	struct err ignored;
	int fd = -1;

	if (event->linux_name == NULL)
		event_specs_add_code(&specs, event->name, h->core, event->code);
	if (event->linux_name == NULL ||
	    event_specs_parse(&specs, event->linux_name, &h->pmus, NULL, &ignored) == 0) {
		struct attr attr = specs.list.items[0].attr;
		const struct event_request request = {
			.attr = &attr,
			.name = event->name,
			.cpu = EVENT_ANY_CPU,
			.group_fd = EVENT_NO_GROUP,
		};

		attr.flags |= 1ull << ATTR_EXCLUDE_KERNEL | 1ull << ATTR_EXCLUDE_HV;
		fd = event_open(&request);
	}
	if (fd >= 0)
		close(fd);
	event_specs_release(&specs);
	return fd >= 0 ? HERE_YES : HERE_NO;
}

int here_can_count(void *here, const struct cpu_event *event)
{
	struct here *h = here;

	if (h->core == NULL || !h->is_allowed)
		return HERE_NO;
	if (!h->core->is_arm)
		return try_event(h, event);
	if (!pmu_lists_event(h->core, event->code))
		return HERE_NOT_KNOWN;
	return pmu_has_event(h->core, event->code) ? HERE_YES : HERE_NO;
}

const char *here_why_not(const struct here *h)
{
	if (h->core == NULL)
		return "nothing can be counted here: this machine has no PMU (cyclops doctor says "
		       "why)";
	if (!h->is_allowed)
		return "nothing can be counted here: it is not allowed (cyclops doctor says how)";
	return NULL;
}
