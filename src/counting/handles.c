/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/handles.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pmu/perf_event.h"

enum { HEAD_WORDS = 3 };

static struct attr attr_of(const struct opening *o, const struct event_spec *spec, bool is_leader)
{
	struct attr a = spec->attr;

	a.sample_period = 0;
	a.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (o->with_children)
		a.flags |= 1ull << ATTR_INHERIT;
	if (o->user_only && !spec->has_privilege)
		a.flags |= 1ull << ATTR_EXCLUDE_KERNEL | 1ull << ATTR_EXCLUDE_HV;
	if (o->kernel_only && !spec->has_privilege)
		a.flags |= 1ull << ATTR_EXCLUDE_USER;
	if (!is_leader)
		return a;
	a.flags |= 1ull << ATTR_DISABLED;
	if (spec->is_pinned)
		a.flags |= 1ull << ATTR_PINNED;
	/*
	 * Arm's driver checks whether a group fits only if the leader is enabled or has this flag.
	 * A process that runs already executes no program, so there the flag does nothing else.
	 */
	if (!o->stays_disabled &&
	    (o->starts_by_exec || (o->place->pid > 0 && !o->place->is_cgroup)))
		a.flags |= 1ull << ATTR_ENABLE_ON_EXEC;
	return a;
}

static const struct kernel *kernel_of(const struct handles *h)
{
	return h->kernel != NULL ? h->kernel : &kernel_linux;
}

/* The descriptor, or a negative errno. */
static int open_event(const struct handles *h, const struct opening *o, uint32_t event, int leader)
{
	struct attr attr = attr_of(o, &o->specs[event], leader == EVENT_NO_GROUP);
	struct event_request request = {
		.attr = &attr,
		.name = o->specs[event].name,
		.pid = o->place->pid,
		.cpu = o->place->cpu,
		.group_fd = leader,
		.is_cgroup = o->place->is_cgroup,
	};

	return kernel_of(h)->open(kernel_of(h)->context, &request);
}

static void add_handle(struct handles *h, const struct opening *o, uint32_t event, int fd,
		       bool is_leader)
{
	*vec_add(&h->list) = (struct handle){
		.fd = fd,
		.event = event,
		.group = o->group,
		.slot = o->slot,
		.place_index = o->place_index,
		.is_leader = is_leader,
		.is_started_by_exec = o->starts_by_exec,
	};
}

static int explain_open_error(const struct opening *o, uint32_t event, int error, const char *root,
			      struct err *err)
{
	struct attr attr = attr_of(o, &o->specs[event], true);
	struct event_request request = {
		.attr = &attr,
		.name = o->specs[event].name,
		.pid = o->place->pid,
		.cpu = o->place->cpu,
		.group_fd = EVENT_NO_GROUP,
		.is_cgroup = o->place->is_cgroup,
	};

	return event_explain(&request, error, root, err);
}

/*
 * Opens a group: the first event that can be opened leads it, the others join as far as they fit.
 * Those that do not fit go to `rest`, which may be `events`. Returns their number, or -1 on
 * failure.
 */
static int open_one_group(struct handles *h, const struct opening *o, const uint32_t *events,
			  size_t n, uint32_t *rest, struct open_outcome *outcomes, const char *root,
			  struct err *err)
{
	int leader = EVENT_NO_GROUP;
	int n_rest = 0;
	size_t n_open = 0;

	for (size_t i = 0; i < n; i++) {
		int fd = n_open == GROUP_MAX ? -EINVAL : open_event(h, o, events[i], leader);

		if (fd == -EMFILE || fd == -ENFILE)
			return explain_open_error(o, events[i], -fd, root, err);
		if (fd == -ESRCH)
			continue;
		if (fd == -EINVAL && leader != EVENT_NO_GROUP) {
			rest[n_rest++] = events[i];
			continue;
		}
		outcomes[events[i]].error = fd < 0 ? -fd : 0;
		if (fd < 0)
			continue;
		add_handle(h, o, events[i], fd, leader == EVENT_NO_GROUP);
		n_open++;
		if (leader == EVENT_NO_GROUP)
			leader = fd;
	}
	return n_rest;
}

/*
 * The loop ends: each call of open_one_group() opens the first event or drops it, so fewer are
 * left.
 */
int handles_open(struct handles *h, const struct opening *asked, struct open_outcome *outcomes,
		 const char *root, struct err *err)
{
	struct opening o = *asked;
	uint32_t *rest = mem_alloc(o.n_events + 1, sizeof(*rest));
	const uint32_t *events = o.events;
	int n = (int)o.n_events;

	while (n > 0) {
		n = open_one_group(h, &o, events, (size_t)n, rest, outcomes, root, err);
		events = rest;
		o.group += o.next_group;
	}
	free(rest);
	return n;
}

static void control_leaders(const struct handles *h, enum kernel_request request)
{
	const struct kernel *k = kernel_of(h);

	for (size_t i = 0; i < h->list.n; i++) {
		const struct handle *handle = &h->list.items[i];

		if (handle->is_leader && !handle->is_started_by_exec)
			k->control(k->context, handle->fd, request, PERF_IOC_FLAG_GROUP);
	}
}

void handles_switch(const struct handles *h, size_t leader, bool is_on)
{
	const struct kernel *k = kernel_of(h);

	k->control(k->context, h->list.items[leader].fd, is_on ? KERNEL_ENABLE : KERNEL_DISABLE,
		   PERF_IOC_FLAG_GROUP);
}

void handles_start(const struct handles *h)
{
	control_leaders(h, KERNEL_ENABLE);
}

void handles_stop(const struct handles *h)
{
	control_leaders(h, KERNEL_DISABLE);
}

size_t readings_parse(const void *bytes, size_t size, struct reading out[GROUP_MAX])
{
	struct cursor c = cur_of(bytes, size);
	uint64_t n = cur_u64(&c);
	uint64_t enabled_ns = cur_u64(&c);
	uint64_t running_ns = cur_u64(&c);

	if (!cur_ok(&c) || n > GROUP_MAX || !cur_holds(&c, n, sizeof(uint64_t)))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		out[i].value = cur_u64(&c);
		out[i].enabled_ns = enabled_ns;
		out[i].running_ns = running_ns;
	}
	return (size_t)n;
}

bool handles_read(const struct handles *h, size_t leader, struct reading *out, size_t *out_n)
{
	const struct kernel *k = kernel_of(h);
	uint64_t words[HEAD_WORDS + GROUP_MAX];
	size_t n = 1, n_read;
	int64_t size;

	while (leader + n < h->list.n && !h->list.items[leader + n].is_leader)
		n++;
	*out_n = n;
	do
		size = k->read(k->context, h->list.items[leader].fd, words,
			       (HEAD_WORDS + n) * sizeof(words[0]));
	while (size == -EINTR);
	n_read = size <= 0 ? 0 : readings_parse(words, (size_t)size, out);
	return n_read == n;
}

void handles_release(struct handles *h)
{
	for (size_t i = 0; i < h->list.n; i++)
		kernel_of(h)->close(kernel_of(h)->context, h->list.items[i].fd);
	vec_release(&h->list);
}
