/* SPDX-License-Identifier: Apache-2.0 */
#include "model/host_cpu.h"

bool host_pin_set(struct host_pin *pin, int cpu)
{
	cpu_set_t one;

	if (cpu < 0 || cpu >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof(pin->before), &pin->before) != 0)
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		return false;
	atomic_store(&pin->is_set, true);
	return true;
}

void host_pin_release(struct host_pin *pin, pid_t id)
{
	if (!atomic_load(&pin->is_set))
		return;
	sched_setaffinity(id, sizeof(pin->before), &pin->before);
	atomic_store(&pin->is_set, false);
}
