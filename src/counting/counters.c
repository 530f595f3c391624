/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a group of events on this thread, one event after the other, until the group no longer runs
 * all of the time: then it has more events than there are free counters. The leader is not
 * disabled, because Arm's driver does not check whether a group fits if its events are disabled.
 */
#include "counting/counters.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "pmu/launch.h"
#include "pmu/perf_event.h"

enum {
	READ_TIMES = 3,	      /* read_format: time enabled, time running */
	GIVE_UP_NS = 2000000, /* of waiting until the group was enabled for RUN_NS */
	RUN_NS = 20000,	      /* of enabled time, to see whether the group runs */
	BRANCHES = 4, /* PERF_COUNT_HW_BRANCH_INSTRUCTIONS: has no counter of its own on x86 */
};

struct times {
	uint64_t value, enabled_ns, running_ns;
};

/* Arm: SW_INCR, which every programmable counter can count. */
static struct attr probe_attr(struct pmus *pmus, const struct pmu *core)
{
	struct attr a = {
		.type = core->is_arm ? core->type : (uint32_t)ATTR_TYPE_HARDWARE,
		.config = core->is_arm ? 0 : BRANCHES,
		.read_format = READ_TIMES,
		.flags = 1 << ATTR_EXCLUDE_KERNEL | 1 << ATTR_EXCLUDE_HV,
	};

	if (!core->is_arm && pmus_core(pmus, 1) != NULL)
		a.config |= (uint64_t)core->type << 32;
	return a;
}

/* Does the group run all of the time? Looks at RUN_NS of it. */
static bool runs_fully(int leader)
{
	uint64_t give_up_ns = clock_now_ns() + GIVE_UP_NS;
	struct times first, now;

	if (read(leader, &first, sizeof(first)) != sizeof(first))
		return false;
	do {
		if (read(leader, &now, sizeof(now)) != sizeof(now))
			return false;
		if (now.enabled_ns - first.enabled_ns >= RUN_NS)
			break;
	} while (clock_now_ns() < give_up_ns);
	return now.enabled_ns > first.enabled_ns &&
	       now.running_ns - first.running_ns == now.enabled_ns - first.enabled_ns;
}

static unsigned grow_group(const struct attr *attr)
{
	int fds[COUNTERS_MAX];
	unsigned n = 0, n_open = 0;

	while (n_open < COUNTERS_MAX) {
		struct event_request request = {
			.attr = attr,
			.name = "probe",
			.cpu = EVENT_ANY_CPU,
			.group_fd = n_open > 0 ? fds[0] : EVENT_NO_GROUP,
		};

		fds[n_open] = event_open(&request);
		if (fds[n_open] < 0)
			break;
		n_open++;
		if (!runs_fully(fds[0]))
			break;
		n = n_open;
	}
	while (n_open > 0)
		close(fds[--n_open]);
	return n;
}

void counters_move_to(const struct pmu *core, cpu_set_t *old)
{
	cpu_set_t wanted;

	sched_getaffinity(0, sizeof(*old), old);
	if (core->cpus.n == 0)
		return;
	CPU_ZERO(&wanted);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu_list_has(&core->cpus, cpu))
			CPU_SET(cpu, &wanted);
	sched_setaffinity(0, sizeof(wanted), &wanted);
}

unsigned counters_available(struct pmus *pmus, const struct pmu *core)
{
	struct attr attr = probe_attr(pmus, core);
	bool is_mixed = pmus_core(pmus, 1) != NULL && core->cpus.n > 0;
	cpu_set_t old;
	unsigned n;

	if (is_mixed)
		counters_move_to(core, &old);
	n = grow_group(&attr);
	if (is_mixed)
		sched_setaffinity(0, sizeof(old), &old);
	return n;
}
