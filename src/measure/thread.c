/* SPDX-License-Identifier: Apache-2.0 */
/* The counters and the memory of a thread. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/inside.h"
#include "pmu/perf_event.h"

_Thread_local struct last_thread last_thread __attribute__((tls_model("initial-exec")));

/* Software events that happen in the kernel: without kernel code they would be 0. */
static bool is_of_kernel(const struct attr *a)
{
	enum { CONTEXT_SWITCHES = 3, CPU_MIGRATIONS = 4, CGROUP_SWITCHES = 11 };

	return a->type == ATTR_TYPE_SOFTWARE &&
	       (a->config == CONTEXT_SWITCHES || a->config == CPU_MIGRATIONS ||
		a->config == CGROUP_SWITCHES);
}

static void set_privilege(const struct cyclops *c, const struct measure_event *e, struct attr *a)
{
	if (e->has_privilege || !e->is_hardware)
		return;
	if (c->privilege == CYCLOPS_USER) {
		attr_set(a, ATTR_EXCLUDE_KERNEL);
		attr_set(a, ATTR_EXCLUDE_HV);
	} else if (c->privilege == CYCLOPS_KERNEL) {
		attr_set(a, ATTR_EXCLUDE_USER);
	}
}

static void set_attr(const struct cyclops *c, const struct measure_event *e, bool is_leader,
		     struct attr *out)
{
	enum { ARM_USER_READS = 2 }; /* config1 of armv8_pmuv3: rdpmc, 32 bits */

	*out = e->attr;
	out->read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	set_privilege(c, e, out);
	if (e->is_hardware && c->pmu.has_user_reads && c->mode != CYCLOPS_MODE_READ)
		out->config1 |= ARM_USER_READS;
	/*
	 * Arm's driver checks whether a group fits only if its leader is enabled or has
	 * enable_on_exec, which does nothing else here: the descriptors do not survive exec.
	 */
	if (is_leader) {
		attr_set(out, ATTR_DISABLED);
		attr_set(out, ATTR_ENABLE_ON_EXEC);
	}
}

/* Opens one event of the calling thread. The descriptor, or a negative errno. */
static int open_counter(const struct cyclops *c, struct measure_event *e, int leader,
			struct attr *attr)
{
	struct event_request request = {
		.attr = attr,
		.name = e->name,
		.cpu = EVENT_ANY_CPU,
		.group_fd = leader,
	};
	int fd;

	set_attr(c, e, leader == EVENT_NO_GROUP, attr);
	if (e->is_user_only && !is_of_kernel(attr))
		attr_set(attr, ATTR_EXCLUDE_KERNEL);
	fd = event_open(&request);
	if (fd != -EACCES || e->is_hardware || e->has_privilege || is_of_kernel(attr))
		return fd;
	/* perf_event_paranoid 2 allows what happens in user code. */
	attr_set(attr, ATTR_EXCLUDE_KERNEL);
	fd = event_open(&request);
	e->is_user_only |= fd >= 0;
	return fd;
}

/* Says why the event is not counted. */
static void explain_event(const struct cyclops *c, struct measure_event *e, const struct attr *attr,
			  int error, bool is_leader)
{
	struct event_request request = { .attr = attr, .name = e->name, .cpu = EVENT_ANY_CPU };
	struct err err = { 0 };

	e->state = error == EACCES || error == EPERM ? MEASURE_FORBIDDEN : MEASURE_NOT_SUPPORTED;
	if (error == ENOSYS) {
		snprintf(e->why, sizeof(e->why),
			 "no counters: there is no perf_event_open here (qemu-user, or a kernel "
			 "without perf events); regions are timed only");
		return;
	}
	if (error == EINVAL && !is_leader && e->is_hardware) {
		snprintf(e->why, sizeof(e->why),
			 "event '%s': does not fit beside the others of its set; put it into "
			 "another one: {a,b},{c,d}",
			 e->name);
		return;
	}
	event_explain(&request, error, c->root, &err);
	snprintf(e->why, sizeof(e->why), "%.*s", (int)sizeof(e->why) - 1, err.text);
}

/* Opens the set's events as one group. `is_first`: what cannot be opened is noted, and left out. */
static int open_set(struct cyclops *c, struct counter_group *g, unsigned set, bool is_first)
{
	unsigned first = c->events.sets[set].first, end = first + c->events.sets[set].n;

	for (unsigned i = first; i < end; i++) {
		struct measure_event *e = &c->events.items[i];
		struct attr attr;
		int fd;

		if (e->state != MEASURE_COUNTED)
			continue;
		fd = open_counter(c, e, g->n == 0 ? EVENT_NO_GROUP : g->leader, &attr);
		if (fd < 0 && is_first) {
			explain_event(c, e, &attr, -fd, g->n == 0);
			continue;
		}
		if (fd < 0)
			return measure_fail(c, -fd, "event '%s' of another thread: %s", e->name,
					    strerror(-fd));
		if (g->n == 0)
			g->leader = fd;
		g->fds[g->n] = fd;
		g->events[g->n++] = (uint8_t)i;
	}
	return 0;
}

/* Maps the pages of a group; user reads are possible if the kernel says so on each. */
static void map_pages(const struct cyclops *c, struct counter_group *g)
{
	bool can = g->n > 0 && c->mode != CYCLOPS_MODE_READ && !c->has_all_sets;

	for (unsigned i = 0; i < g->n && can; i++) {
		void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
				  g->fds[i], 0);

		if (page == MAP_FAILED)
			break;
		g->pages[i] = page;
		can = c->events.items[g->events[i]].is_hardware && g->pages[i]->cap_user_rdpmc &&
		      g->pages[i]->cap_user_time;
	}
	g->has_user_reads = can && g->n > 0 && g->pages[g->n - 1] != NULL;
	g->is_run = g->n > 0 && g->events[g->n - 1] - g->events[0] == (int)g->n - 1;
}

/* `has_pages`: a forked child has descriptors, but not the pages: what is there now is its own. */
static void close_group(struct counter_group *g, bool has_pages)
{
	for (unsigned i = 0; i < g->n; i++) {
		if (g->pages[i] != NULL && has_pages)
			munmap((void *)(uintptr_t)g->pages[i], (size_t)sysconf(_SC_PAGESIZE));
		close(g->fds[i]);
	}
	*g = (struct counter_group){ .leader = -1 };
}

void thread_close_counters(struct caliper_thread *t)
{
	bool has_pages = measure_is_usable(t->owner);

	t->is_open = false;
	if (last_thread.thread == t)
		last_thread.owner = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->quick = NULL;
	for (unsigned set = 0; set < MEASURE_SETS; set++)
		close_group(&t->groups[set], has_pages);
	t->top = t->frames;
	t->too_deep = 0;
	memset(t->n_open, 0, (t->owner->max_regions + 1) * sizeof(*t->n_open));
}

void thread_forget(struct caliper_thread *t)
{
	for (unsigned i = 0; i < t->n_paths; i++) {
		size_t size = (size_t)t->owner->events.n * HISTOGRAM_BUCKETS * sizeof(uint64_t);

		memset(t->paths[i].events[0].histogram, 0, size);
		t->paths[i].region = 0;
	}
	t->n_paths = 0;
	t->frames[1].path = NULL;
}

static void turn_group(const struct counter_group *g, bool is_on)
{
	if (g->leader >= 0)
		ioctl(g->leader, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
		      PERF_IOC_FLAG_GROUP);
}

/* The set, which is on, is read in the quick way from now on, if that is possible. */
static void set_quick(struct caliper_thread *t)
{
	struct counter_group *g = &t->groups[t->set];

	t->quick = g->has_user_reads && g->is_run ? g : NULL;
	g->lock = PAGE_NOT_READ;
	for (unsigned i = 0; i < g->n; i++)
		g->quick[i] = (struct quick_event){
			.page = g->pages[i],
			.unused_bits = g->pages[i] != NULL ? 64u - g->pages[i]->pmc_width : 0,
		};
}

void thread_switch(struct caliper_thread *t, unsigned set)
{
	turn_group(&t->groups[t->set], false);
	t->set = set;
	turn_group(&t->groups[set], true);
	set_quick(t);
}

struct caliper_thread *thread_here(const struct cyclops *c)
{
	struct caliper_thread *t = pthread_getspecific(c->key);

	/* If a signal handler asks in between, serial and owner do not fit, and nobody takes it. */
	last_thread.owner = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last_thread.serial = c->serial;
	last_thread.thread = t;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last_thread.owner = t != NULL && t->is_open ? c : NULL;
	return t;
}

/* Space for something of this size, on cache lines of its own. Returns where it is. */
static size_t take(size_t *total, size_t size)
{
	size_t at = *total;

	*total += (size + 63) & ~(size_t)63;
	return at;
}

/*
 * The memory of a thread is one mapping. The kernel gives memory to what is used: to histograms when
 * a region first begins inside of another.
 */
static struct caliper_thread *new_thread(struct cyclops *c)
{
	size_t histogram = (size_t)c->events.n * HISTOGRAM_BUCKETS * sizeof(uint64_t);
	struct caliper_thread *t;
	size_t total = 0, frames, paths, n_open, histograms;
	char *memory;

	take(&total, sizeof(*t));
	frames = take(&total, (c->max_depth + 1) * sizeof(*t->frames));
	paths = take(&total, c->max_paths * sizeof(*t->paths));
	n_open = take(&total, (c->max_regions + 1) * sizeof(*t->n_open));
	histograms = take(&total, c->max_paths * histogram);
	memory = mmap(NULL, total, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	c->thread_size = total;
	t = (struct caliper_thread *)(void *)memory;
	t->owner = c;
	t->tid = (pid_t)syscall(SYS_gettid);
	t->frames = (struct frame *)(void *)(memory + frames);
	t->top = t->frames;
	t->last = t->frames + c->max_depth;
	t->paths = (struct path *)(void *)(memory + paths);
	t->n_open = (unsigned *)(void *)(memory + n_open);
	for (unsigned i = 0; i < c->max_paths; i++)
		for (unsigned event = 0; event < c->events.n; event++)
			t->paths[i].events[event].histogram =
				(uint64_t *)(void *)(memory + histograms + i * histogram) +
				(size_t)event * HISTOGRAM_BUCKETS;
	for (unsigned set = 0; set < MEASURE_SETS; set++)
		t->groups[set].leader = -1;
	return t;
}

/* The thread's memory from an earlier opening, or new memory. */
static struct caliper_thread *find_or_add_thread(struct cyclops *c)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	struct caliper_thread *t;

	for (unsigned i = 0; i < c->n_threads; i++)
		if (c->threads[i]->tid == tid)
			return c->threads[i];
	if (c->n_threads == c->max_threads) {
		measure_fail(c, ENOSPC, "thread %d: the handle has room for %u (max_threads)",
			     (int)tid, c->max_threads);
		return NULL;
	}
	t = new_thread(c);
	if (t == NULL) {
		measure_fail(c, ENOMEM, "thread %d: no memory", (int)tid);
		return NULL;
	}
	c->threads[c->n_threads++] = t;
	return t;
}

int thread_open(struct cyclops *c, bool is_first)
{
	struct caliper_thread *t = find_or_add_thread(c);
	int error = 0;

	if (t == NULL)
		return c->n_threads == c->max_threads ? -ENOSPC : -ENOMEM;
	for (unsigned set = 0; set < c->events.n_sets && error == 0; set++) {
		error = open_set(c, &t->groups[set], set, is_first);
		map_pages(c, &t->groups[set]);
	}
	if (error == 0)
		error = -pthread_setspecific(c->key, t);
	if (error < 0) {
		thread_close_counters(t);
		return error;
	}
	t->set = 0;
	t->is_busy =
		0; /* whose id the thread has may have been ended in the middle of a region's end */
	for (unsigned set = 0; set < (c->has_all_sets ? c->events.n_sets : 1); set++)
		turn_group(&t->groups[set], true);
	set_quick(t);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->is_open = true;
	return 0;
}
