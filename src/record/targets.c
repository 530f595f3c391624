/* SPDX-License-Identifier: Apache-2.0 */
#include "record/targets.h"

#include <unistd.h>

#include "base/alloc.h"
#include "record/attr.h"
#include "record/recording.h"

int record_target_find(struct record_target *target, const struct record_options *o, pid_t program,
		       const char *root, struct err *err)
{
	if (target_cpus_find(o->cpus, root, &target->memory, &target->cpus, err) < 0 ||
	    target_cpus_find(NULL, root, &target->memory, &target->online, err) < 0 ||
	    target_threads_find(&target->threads, o->pids, o->tids, root, err) < 0)
		return -1;
	if (target->threads.list.n > 0)
		return 0;
	if (o->cgroup != NULL) {
		int fd = target_cgroup_open(o->cgroup, root, err);

		if (fd < 0)
			return -1;
		*vec_add(&target->threads.list) = fd;
		target->is_cgroup = true;
		return 0;
	}
	target->is_program = record_is_of_program(o);
	*vec_add(&target->threads.list) = target->is_program ? program : RECORDING_ALL_THREADS;
	return 0;
}

void record_target_release(struct record_target *target)
{
	if (target->is_cgroup)
		close(target->threads.list.items[0]);
	target->is_cgroup = false;
	target_threads_release(&target->threads);
	arena_release(&target->memory);
}
