/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/record_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collect/record_attr.h"
#include "collect/recording.h"

struct finder {
	struct record_target *target;
	const char *root;
	struct err *err;
};

typedef int add_number(struct finder *, int32_t number);

static int add_thread(struct finder *f, int32_t tid)
{
	if (!system_has(f->root, "/proc/%" PRId32, tid))
		return err_set(f->err, ERR_USAGE, ERR_NOWHERE, "there is no thread %" PRId32, tid);
	*vec_add(&f->target->threads) = tid;
	return 0;
}

static int add_process(struct finder *f, int32_t pid)
{
	struct system_names tasks =
		system_list(f->root, &f->target->memory, "/proc/%" PRId32 "/task", pid);

	if (tasks.n == 0)
		return err_set(f->err, ERR_USAGE, ERR_NOWHERE, "there is no process %" PRId32, pid);
	for (size_t i = 0; i < tasks.n; i++)
		*vec_add(&f->target->threads) = (int32_t)strtol(tasks.items[i], NULL, 10);
	return 0;
}

/* "17,18" */
static int read_numbers(struct finder *f, const char *option, const char *list, add_number *add)
{
	const char *at = list;

	for (;;) {
		char *end;
		long number;

		errno = 0;
		number = strtol(at, &end, 10);
		if (end == at || errno != 0 || number <= 0 || number > INT32_MAX ||
		    (*end != ',' && *end != '\0'))
			return err_set(f->err, ERR_USAGE, ERR_NOWHERE,
				       "%s '%s': not a list of numbers such as 17,18", option,
				       list);
		if (add(f, (int32_t)number) < 0)
			return -1;
		if (*end == '\0')
			return 0;
		at = end + 1;
	}
}

static int read_cpus(struct finder *f, const char *wanted)
{
	char line[SYSTEM_LINE_MAX];
	struct cpu_list online;

	if (!system_line(f->root, line, sizeof(line), "/sys/devices/system/cpu/online"))
		return err_set(f->err, ERR_IO, ERR_NOWHERE,
			       "/sys/devices/system/cpu/online cannot be read");
	if (cpu_list_parse(line, &f->target->memory, &online, f->err) < 0)
		return err_within(f->err, "/sys/devices/system/cpu/online");
	f->target->cpus = online;
	if (wanted == NULL)
		return 0;
	if (cpu_list_parse(wanted, &f->target->memory, &f->target->cpus, f->err) < 0)
		return err_within(f->err, "--cpus");
	for (size_t i = 0; i < cpu_list_n(&f->target->cpus); i++) {
		uint32_t cpu = cpu_list_at(&f->target->cpus, i);

		if (!cpu_list_has(&online, cpu))
			return err_set(f->err, ERR_USAGE, ERR_NOWHERE,
				       "--cpus: CPU %" PRIu32 " is not online (those are %s)", cpu,
				       line);
	}
	return 0;
}

int record_target_find(struct record_target *target, const struct record_options *o,
		       int32_t program, const char *root, struct err *err)
{
	struct finder f = { target, root, err };

	if (read_cpus(&f, o->cpus) < 0)
		return -1;
	if (o->pids != NULL && read_numbers(&f, "--pid", o->pids, add_process) < 0)
		return -1;
	if (o->tids != NULL && read_numbers(&f, "--tid", o->tids, add_thread) < 0)
		return -1;
	if (target->threads.n > 0)
		return 0;
	target->is_program = record_is_of_program(o);
	*vec_add(&target->threads) = target->is_program ? program : RECORDING_ALL_THREADS;
	return 0;
}

void record_target_release(struct record_target *target)
{
	vec_release(&target->threads);
	arena_release(&target->memory);
}
