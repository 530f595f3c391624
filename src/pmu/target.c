/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "count/counts.h"
#include "pmu/perf_event.h"

enum { MAX_ROUNDS = 10, MAX_TASK = 1 << 30 };

bool target_is_cpus(const struct target *t)
{
	return t->all_cpus || t->cpus != NULL || t->cgroup != NULL;
}

bool target_is_command(const struct target *t)
{
	return t->command != NULL && t->pids == NULL && t->tids == NULL && !target_is_cpus(t);
}

static struct target_place *target_add_place(struct target_places *places, pid_t pid, int cpu)
{
	struct target_place *place = vec_add(&places->list);

	place->pid = pid;
	place->cpu = cpu;
	place->tid = COUNT_ANY;
	return place;
}

static bool has_thread(const struct target_threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->list.n; i++)
		if (threads->list.items[i] == tid)
			return true;
	return false;
}

/* Adds threads of the process that are not in the list yet; returns how many. */
static size_t add_threads_of(struct target_threads *threads, const char *root, pid_t pid)
{
	struct system_names tids = system_list(root, &threads->memory, "/proc/%d/task", (int)pid);
	size_t n_before = threads->list.n;

	for (size_t i = 0; i < tids.n; i++) {
		pid_t tid = atoi(tids.items[i]);

		if (!has_thread(threads, tid))
			*vec_add(&threads->list) = tid;
	}
	return threads->list.n - n_before;
}

/* Reads a number of a list and moves on behind its comma. */
static int next_number(const char *list, const char *option, const char **at, pid_t *out,
		       struct err *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(*at, &end, 10);
	if (end == *at || errno != 0 || value <= 0 || value > MAX_TASK ||
	    (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0'))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "%s: '%s' is not a list of numbers such as 12,34", option, list);
	*at = end + (*end == ',');
	*out = (pid_t)value;
	return 0;
}

/*
 * Adds the threads of processes. Threads may be created meanwhile, so this repeats until none is
 * new.
 */
static int add_processes(struct target_threads *threads, const char *list, const char *root,
			 struct err *err)
{
	const char *at = list;

	do {
		pid_t pid;
		int rounds = 0;

		if (next_number(list, "--pid", &at, &pid, err) < 0)
			return -1;
		if (!system_has(root, "/proc/%d", (int)pid))
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "--pid: no process %d",
				       (int)pid);
		while (add_threads_of(threads, root, pid) > 0 && rounds < MAX_ROUNDS)
			rounds++;
	} while (*at != '\0');
	return 0;
}

static int add_listed_threads(struct target_threads *threads, const char *list, const char *root,
			      struct err *err)
{
	const char *at = list;

	do {
		pid_t tid;

		if (next_number(list, "--tid", &at, &tid, err) < 0)
			return -1;
		if (!system_has(root, "/proc/%d", (int)tid))
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "--tid: no thread %d",
				       (int)tid);
		if (!has_thread(threads, tid))
			*vec_add(&threads->list) = tid;
	} while (*at != '\0');
	return 0;
}

int target_threads_find(struct target_threads *threads, const char *pids, const char *tids,
			const char *root, struct err *err)
{
	if (pids != NULL && add_processes(threads, pids, root, err) < 0)
		return -1;
	return tids != NULL ? add_listed_threads(threads, tids, root, err) : 0;
}

void target_threads_release(struct target_threads *threads)
{
	vec_release(&threads->list);
	arena_release(&threads->memory);
}

int target_cgroup_open(const char *name, const char *root, struct err *err)
{
	static const char *const trees[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/perf_event",
					     "/sys/fs/cgroup/unified" };
	char path[SYSTEM_PATH_MAX];

	for (size_t i = 0; i < COUNT(trees); i++) {
		int fd;

		if (snprintf(path, sizeof(path), "%s%s/%s", root, trees[i], name) >=
		    (int)sizeof(path))
			break;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--cgroup: no '%s' below /sys/fs/cgroup", name);
}

/* /proc/stat has a line "cpu0 …" for each CPU that is online. */
static bool list_counted_cpus(const char *root, struct text *out)
{
	struct text stat = { 0 };

	if (system_text(root, &stat, "/proc/stat")) {
		text_char(&stat, '\0');
		for (const char *at = strstr(stat.bytes, "\ncpu"); at != NULL;
		     at = strstr(at + 1, "\ncpu"))
			text_format(out, "%s%lu", out->n > 0 ? "," : "",
				    strtoul(at + strlen("\ncpu"), NULL, 10));
	}
	text_release(&stat);
	text_char(out, '\0');
	return out->n > 1;
}

/* The CPUs that are online; `words` is the list as text. Some sandboxes have no /sys. */
static int find_online(const char *root, struct arena *memory, struct cpu_list *out,
		       struct text *words, struct err *err)
{
	char line[SYSTEM_LINE_MAX];

	if (system_line(root, line, sizeof(line), "/sys/devices/system/cpu/online")) {
		text_str(words, line);
		text_char(words, '\0');
	} else if (!list_counted_cpus(root, words)) {
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "the online CPUs are not known: no list in "
			       "/sys/devices/system/cpu/online or /proc/stat");
	}
	return cpu_list_parse(words->bytes, memory, out, err);
}

int target_cpus_find(const char *wanted, const char *root, struct arena *memory,
		     struct cpu_list *out, struct err *err)
{
	struct cpu_list online = { 0 }, cpus = { 0 };
	struct text line = { 0 };
	int rc = find_online(root, memory, &online, &line, err);

	if (wanted == NULL)
		cpus = online;
	else if (rc == 0 && (cpu_list_parse(wanted, memory, &cpus, err) < 0 || cpus.n == 0))
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "--cpus: '%s' is not a list of CPUs such as 0-3,8", wanted);
	for (size_t i = 0; i < cpu_list_n(&cpus) && rc == 0; i++)
		if (!cpu_list_has(&online, cpu_list_at(&cpus, i)))
			rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
				     "--cpus: CPU %u is not online; %s are", cpu_list_at(&cpus, i),
				     line.bytes);
	text_release(&line);
	*out = cpus;
	return rc;
}

/* One place for each thread. */
static int add_thread_places(struct target_places *places, const struct target *t, const char *root,
			     struct err *err)
{
	struct target_threads threads = { 0 };
	int rc = target_threads_find(&threads, t->pids, t->tids, root, err);

	for (size_t i = 0; i < threads.list.n && rc == 0; i++) {
		pid_t tid = threads.list.items[i];
		struct target_place *place = target_add_place(places, tid, EVENT_ANY_CPU);
		char name[SYSTEM_LINE_MAX];

		place->tid = tid;
		if (system_line(root, name, sizeof(name), "/proc/%d/comm", (int)tid))
			place->where = arena_strndup(&places->memory, name, strlen(name));
	}
	target_threads_release(&threads);
	return rc;
}

/* One place for each CPU that is online and asked for. */
static int add_cpus(struct target_places *places, const struct target *t, const char *root,
		    struct err *err)
{
	struct cpu_list wanted;

	if (target_cpus_find(t->cpus, root, &places->memory, &wanted, err) < 0)
		return -1;
	for (size_t i = 0; i < cpu_list_n(&wanted); i++) {
		struct target_place *place = target_add_place(
			places, t->cgroup != NULL ? places->cgroup_fd : EVENT_ALL_TASKS,
			(int)cpu_list_at(&wanted, i));

		place->is_cgroup = t->cgroup != NULL;
		place->where = t->cgroup;
	}
	return 0;
}

static int check_target(const struct target *t, struct err *err)
{
	int n = (t->pids != NULL || t->tids != NULL) + target_is_cpus(t);

	if (n > 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "either processes and threads are counted, or CPUs and cgroups");
	if (n == 0 && t->command == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "what is to be counted? Give a command behind --, or --pid, --tid, "
			       "--cpus, --cgroup, --all-cpus");
	return 0;
}

int places_find(struct target_places *places, const struct target *t, pid_t child, const char *root,
		struct err *err)
{
	*places = (struct target_places){ 0 };
	if (check_target(t, err) < 0)
		return -1;
	if (t->cgroup != NULL) {
		places->cgroup_fd = target_cgroup_open(t->cgroup, root, err);
		places->has_cgroup = places->cgroup_fd >= 0;
		if (!places->has_cgroup)
			return -1;
	}
	if (target_is_cpus(t))
		return add_cpus(places, t, root, err);
	if (add_thread_places(places, t, root, err) < 0)
		return -1;
	if (target_is_command(t))
		target_add_place(places, child, EVENT_ANY_CPU);
	return 0;
}

void places_of_pmu(struct target_places *places, const struct pmu *pmu)
{
	*places = (struct target_places){ 0 };
	for (size_t i = 0; i < cpu_list_n(&pmu->cpus); i++)
		target_add_place(places, EVENT_ALL_TASKS, (int)cpu_list_at(&pmu->cpus, i));
}

void places_release(struct target_places *places)
{
	if (places->has_cgroup)
		close(places->cgroup_fd);
	vec_release(&places->list);
	arena_release(&places->memory);
	places->has_cgroup = false;
}
