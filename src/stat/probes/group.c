/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/probes/group.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "count/counts.h"
#include "pmu/perf_event.h"

enum {
	RING_BYTES = 1 << 20,
	LEAST_RING_BYTES = 1 << 16,
	RECORD_HEADER = 8,
};

/* The stack pointer's bit of sample_regs_user, and how far a call has moved it before the function begins. */
#if defined(__x86_64__)
enum { STACK_REGISTER = 7, CALL_PUSHES = 8 };
#elif defined(__aarch64__)
enum { STACK_REGISTER = 31, CALL_PUSHES = 0 };
#elif defined(__arm__)
enum { STACK_REGISTER = 13, CALL_PUSHES = 0 };
#else
enum { STACK_REGISTER = -1, CALL_PUSHES = 0 };
#endif

int probe_plan_check(struct probe_plan *plan, struct pmus *pmus, struct err *err)
{
	const struct pmu *uprobe = pmus_find(pmus, "uprobe");
	const struct pmu_format *returns;
	struct event_rights rights;

	if (uprobe == NULL)
		return err_set(
			err, ERR_UNSUPPORTED, ERR_NOWHERE,
			"--region needs probes of programs (uprobes), which this kernel does not "
			"have: Linux 4.17 or later with CONFIG_UPROBE_EVENTS; or mark the region "
			"with libcyclops (cyclops_measure(3))");
	event_rights_read(&rights, plan->root);
	if (!rights.is_perfmon)
		return err_set(
			err, ERR_IO, ERR_NOWHERE,
			"--region needs probes of programs (uprobes), which only root or "
			"CAP_PERFMON may set: sudo cyclops stat --region …; or mark the region "
			"with libcyclops (cyclops_measure(3))");
	returns = pmu_format_find(uprobe, "retprobe");
	plan->type = uprobe->type;
	plan->return_bits = returns == NULL ? 1 : pmu_format_place(returns, 1);
	return 0;
}

static struct attr group_attr(uint32_t type, uint64_t config)
{
	return (struct attr){
		.type = type,
		.config = config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

static int open_for(const struct probe_plan *plan, const struct probe_thread *t, int32_t tid,
		    const char *name, const struct attr *attr)
{
	struct event_request request = {
		.attr = attr,
		.name = name,
		.pid = tid,
		.cpu = EVENT_ANY_CPU,
		.group_fd = t->fds.n > 0 ? t->fds.items[0] : EVENT_NO_GROUP,
	};

	return plan->kernel->open(plan->kernel->context, &request);
}

/* The leader counts nothing, so that all other events are alike. */
static int open_leader(const struct probe_plan *plan, struct probe_thread *t, int32_t tid)
{
	struct attr attr = group_attr(ATTR_TYPE_SOFTWARE, SOFTWARE_DUMMY);
	int fd;

	attr_set(&attr, ATTR_DISABLED);
	attr_set(&attr, ATTR_ENABLE_ON_EXEC);
	fd = open_for(plan, t, tid, "dummy", &attr);
	if (fd >= 0)
		*vec_add(&t->fds) = fd;
	return fd;
}

static bool is_of_kernel(const struct attr *a)
{
	enum { CONTEXT_SWITCHES = 3, CPU_MIGRATIONS = 4, CGROUP_SWITCHES = 11 };

	return a->type == ATTR_TYPE_SOFTWARE &&
	       (a->config == CONTEXT_SWITCHES || a->config == CPU_MIGRATIONS ||
		a->config == CGROUP_SWITCHES);
}

static struct attr counter_attr(const struct probe_plan *plan, const struct event_spec *spec)
{
	struct attr attr = spec->attr, group = group_attr(0, 0);

	attr.read_format = group.read_format;
	attr.sample_period = 0;
	if (spec->has_privilege || is_of_kernel(&attr))
		return attr;
	if (plan->user_only) {
		attr_set(&attr, ATTR_EXCLUDE_KERNEL);
		attr_set(&attr, ATTR_EXCLUDE_HV);
	}
	if (plan->kernel_only)
		attr_set(&attr, ATTR_EXCLUDE_USER);
	return attr;
}

/* Says why the event is not counted, in the first thread. */
static void refuse_event(const struct probe_plan *plan, struct probe_event *e,
			 const struct attr *attr, int error, size_t n_before)
{
	struct event_request request = { .attr = attr,
					 .name = e->spec->name,
					 .cpu = EVENT_ANY_CPU };
	struct err err;

	e->state = error == EACCES || error == EPERM ? COUNT_FORBIDDEN : COUNT_NOT_SUPPORTED;
	if (error == EINVAL && n_before > 1)
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"event '%s': does not fit beside the others; events of --region are "
			"counted at "
			"the same time: choose fewer with -e",
			e->spec->name);
	else
		event_explain(&request, error, plan->root, &err);
	memccpy(e->why, err.text, '\0', sizeof(e->why) - 1);
}

static int open_counters(struct probe_plan *plan, struct probe_thread *t, int32_t tid)
{
	for (size_t i = 1; i < plan->n_events; i++) {
		struct probe_event *e = &plan->events[i];
		struct attr attr = counter_attr(plan, e->spec);
		int fd;

		e->is_user_only = attr_has(&attr, ATTR_EXCLUDE_KERNEL);
		if (e->state != COUNT_COUNTED)
			continue;
		fd = open_for(plan, t, tid, e->spec->name, &attr);
		if (fd < 0 && (plan->was_opened || fd == -EMFILE || fd == -ENFILE || fd == -ESRCH))
			return fd;
		if (fd < 0) {
			refuse_event(plan, e, &attr, -fd, t->fds.n);
			continue;
		}
		*vec_add(&t->fds) = fd;
		t->n_counted++;
	}
	return 0;
}

/* `config`: which kind of probe; `offset`: of its instruction in the function's file. */
static struct attr probe_attr(const struct probe_plan *plan, const struct probe_function *f,
			      uint64_t config, uint64_t offset)
{
	struct attr attr = group_attr(plan->type, config);

	attr.config1 = (uint64_t)(uintptr_t)f->path;
	attr.config2 = offset;
	attr.sample_period = 1;
	attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
	if (STACK_REGISTER >= 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = UINT64_C(1) << (STACK_REGISTER & 63);
	}
	attr_set(&attr, ATTR_WATERMARK);
	attr.wakeup = RING_BYTES / 4;
	return attr;
}

int probe_thread_ring(const struct probe_thread *t)
{
	return t->probes.n > 0 ? t->fds.items[t->fds.n - t->probes.n] : -1;
}

/* The ring of a thread; smaller where the user may lock less memory. */
static int map_ring(const struct probe_plan *plan, struct probe_thread *t, int fd)
{
	int rc = -EPERM;

	for (size_t size = RING_BYTES; size >= LEAST_RING_BYTES && rc < 0; size /= 2)
		rc = ring_map(&t->ring, plan->kernel, fd, size);
	return rc;
}

static int open_probe(const struct probe_plan *plan, struct probe_thread *t, int32_t tid,
		      const struct probe_function *f, uint64_t config, uint64_t offset,
		      struct probe_id probe)
{
	const struct kernel *k = plan->kernel;
	int fd, rc;

	t->attr = probe_attr(plan, f, config, offset);
	fd = open_for(plan, t, tid, f->name, &t->attr);
	if (fd < 0)
		return fd;
	*vec_add(&t->fds) = fd;
	rc = k->id(k->context, fd, &probe.id);
	*vec_add(&t->probes) = probe;
	if (rc == 0 && t->ring.page == NULL)
		rc = map_ring(plan, t, fd);
	else if (rc == 0)
		rc = k->control(k->context, fd, KERNEL_SET_OUTPUT, (uint64_t)probe_thread_ring(t));
	return rc < 0 ? rc : 0;
}

/* The probes of a function: at its start, and at its returns or at what it returns to. */
static int open_function(const struct probe_plan *plan, struct probe_thread *t, int32_t tid,
			 uint32_t number)
{
	const struct probe_function *f = &plan->functions.list.items[number];
	int rc = open_probe(plan, t, tid, f, 0, f->offset, (struct probe_id){ .function = number });

	for (size_t i = 0; i < f->n_exits && rc >= 0; i++)
		rc = open_probe(plan, t, tid, f, 0, f->exits[i],
				(struct probe_id){ .function = number, .is_return = true });
	if (f->n_exits == 0 && rc >= 0)
		rc = open_probe(plan, t, tid, f, plan->return_bits, f->offset,
				(struct probe_id){ .function = number,
						   .is_return = true,
						   .pushed = CALL_PUSHES });
	return rc;
}

static int explain_probe(const struct probe_function *f, int error, struct err *err)
{
	struct rlimit limit = { 0 };

	if (error == EMFILE || error == ENFILE) {
		getrlimit(RLIMIT_NOFILE, &limit);
		return err_set(
			err, ERR_LIMIT, ERR_NOWHERE,
			"--region %s: out of file descriptors at %llu: each thread takes two for "
			"each function and one for each event; ulimit -n sets more",
			f->name, (unsigned long long)limit.rlim_cur);
	}
	if (error == EACCES || error == EPERM)
		return err_set(
			err, ERR_IO, ERR_NOWHERE,
			"--region %s: the kernel does not allow probes here (%s): as root, outside "
			"of a container, and not under lockdown",
			f->name, strerror(error));
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "--region %s: the first instruction at 0x%llx of %s cannot be probed: %s",
		       f->name, (unsigned long long)f->offset, f->path, strerror(error));
}

int probe_thread_open(struct probe_plan *plan, struct probe_thread *t, int32_t tid, struct err *err)
{
	const struct probe_function *f = plan->functions.list.items;
	int rc;

	t->tid = tid;
	t->is_set_up = true;
	event_limit_raise();
	rc = open_leader(plan, t, tid);
	if (rc >= 0)
		rc = open_counters(plan, t, tid);
	for (size_t i = 0; i < plan->functions.list.n && rc >= 0; i++) {
		f = &plan->functions.list.items[i];
		rc = open_function(plan, t, tid, (uint32_t)i);
	}
	plan->was_opened |= rc >= 0;
	if (rc >= 0)
		return 0;
	probe_thread_close(plan, t);
	return rc == -ESRCH ? 0 : explain_probe(f, -rc, err);
}

void probe_thread_start(const struct probe_plan *plan, const struct probe_thread *t, bool is_on)
{
	if (t->fds.n > 0)
		plan->kernel->control(plan->kernel->context, t->fds.items[0],
				      is_on ? KERNEL_ENABLE : KERNEL_DISABLE, PERF_IOC_FLAG_GROUP);
}

/* Turns a sample into a hit; false if it is not one of the thread's probes. */
static bool hit_of(const struct probe_plan *plan, const struct probe_thread *t,
		   const struct record *r, struct probe_hit *out)
{
	struct reading readings[GROUP_MAX];
	const struct probe_function *f;
	struct sample sample;
	struct err ignored;
	size_t probe = 0, at = 1, n;

	if (sample_read(r, &t->attr, &sample, &ignored) < 0)
		return false;
	while (probe < t->probes.n && t->probes.items[probe].id != sample.id)
		probe++;
	n = readings_parse(sample.read.bytes, sample.read.n * sizeof(uint64_t), readings);
	if (probe == t->probes.n || n != t->fds.n)
		return false;
	f = &plan->functions.list.items[t->probes.items[probe].function];
	*out = (struct probe_hit){
		.tid = (int32_t)sample.tid,
		.function = t->probes.items[probe].function,
		.is_return = t->probes.items[probe].is_return,
		.has_exits = f->n_exits > 0,
		.loops_to_start = f->loops_to_start,
		.enabled_ns = readings[0].enabled_ns,
		.running_ns = readings[0].running_ns,
	};
	if (sample.user_regs.n > 0)
		out->stack = load_u64(sample.user_regs.bytes) - t->probes.items[probe].pushed;
	out->values[CALL_DURATION] = sample.time_ns;
	for (size_t i = 1; i < plan->n_events; i++)
		if (plan->events[i].state == COUNT_COUNTED)
			out->values[i] = readings[at++].value;
	return true;
}

static void take_record(const struct probe_plan *plan, struct probe_thread *t,
			const struct record *r, struct call_counts *calls)
{
	struct record_lost lost;
	struct probe_hit hit;
	struct err ignored;

	if (r->type == RECORD_SAMPLE && hit_of(plan, t, r, &hit))
		call_counts_add(calls, &hit);
	else if (r->type == RECORD_LOST && record_lost_read(r, &lost, &ignored) == 0)
		call_counts_lose(calls, t->tid, lost.n);
}

size_t probe_thread_read(const struct probe_plan *plan, struct probe_thread *t,
			 struct call_counts *calls)
{
	struct ring_bytes fresh;
	uint8_t *joined = NULL;
	struct cursor bytes;
	size_t n = 0;

	if (t->ring.page == NULL)
		return 0;
	fresh = ring_peek(&t->ring);
	bytes = cur_of(fresh.bytes, fresh.n);
	if (fresh.n_rest > 0) {
		joined = mem_alloc(fresh.n + fresh.n_rest, 1);
		memcpy(joined, fresh.bytes, fresh.n);
		memcpy(joined + fresh.n, fresh.rest, fresh.n_rest);
		bytes = cur_of(joined, fresh.n + fresh.n_rest);
	}
	while (cur_left(&bytes) >= RECORD_HEADER) {
		struct record r = { 0 };

		r.type = cur_u32(&bytes);
		r.misc = cur_u16(&bytes);
		r.size = cur_u16(&bytes);
		r.body = cur_split(&bytes,
				   r.size < RECORD_HEADER ? UINT64_MAX : r.size - RECORD_HEADER);
		if (!cur_ok(&bytes))
			break;
		take_record(plan, t, &r, calls);
		n++;
	}
	ring_consume(&t->ring, &fresh);
	free(joined);
	return n;
}

void probe_thread_close(const struct probe_plan *plan, struct probe_thread *t)
{
	ring_unmap(&t->ring, plan->kernel);
	for (size_t i = t->fds.n; i-- > 0;)
		plan->kernel->close(plan->kernel->context, t->fds.items[i]);
	vec_release(&t->fds);
	vec_release(&t->probes);
	t->n_counted = 0;
}
