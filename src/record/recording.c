/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ring for each CPU. The first event opened there owns it, all others of the CPU write to it.
 * SPE events are opened first, because the AUX buffer must be mapped with the ring of its own
 * event.
 */
#include "record/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "batch/batch.h"
#include "capture/format/sample.h"
#include "pmu/perf_event.h"
#include "record/attr.h"

enum {
	RING_MIN = 64 << 10,
	RING_DEFAULT = 1 << 20,
	RING_MAX = 32 << 20,
	AUX_DEFAULT = 4 << 20,
	AUX_ENOUGH = 1 << 20, /* smaller buffers are full before the reader comes */
	AUX_MIN = 8 << 10,
	SAMPLES_AT_LEAST = 8, /* the smallest ring has room for so many */
	WAKEUP_SHARE = 4,     /* the reader is woken when a ring is 1/4 full */
};

/* Rings have room for 1/N second, in which the reader may be kept from running. */
enum { ABSENCES_PER_S = 2 };

static size_t power_of_two(uint64_t at_least, size_t min, size_t max)
{
	size_t size = min;

	while (size < at_least && size < max)
		size *= 2;
	return size;
}

/* The size of a ring: room for all events of a CPU while the reader is away. */
static size_t ring_size(const struct recording *r)
{
	uint64_t bytes_per_s = 0, largest = 0, least;

	for (size_t i = 0; i < r->events->list.n; i++) {
		const struct attr *attr = &r->events->list.items[i].attr;
		uint64_t rate =
			attr_has(attr, ATTR_FREQ) ? attr->sample_period : RECORD_DEFAULT_FREQUENCY;

		if (attr->sample_period == 0)
			continue;
		bytes_per_s += rate * record_attr_sample_bytes(attr);
		if (record_attr_sample_bytes(attr) > largest)
			largest = record_attr_sample_bytes(attr);
	}
	least = largest * SAMPLES_AT_LEAST;
	if (r->options->ring_bytes > least)
		least = r->options->ring_bytes;
	if (r->options->ring_bytes != 0)
		return power_of_two(least, RING_MIN, (size_t)1 << 30);
	return power_of_two(bytes_per_s / ABSENCES_PER_S, RING_DEFAULT, RING_MAX);
}

/* For CPUs with the side-band alone, without samples. */
static size_t side_band_ring_size(const struct recording *r)
{
	size_t size = ring_size(r);

	return size < RING_DEFAULT ? size : RING_DEFAULT;
}

/* Of root the hard limit, too. The program to be recorded runs already, with its own. */
static void raise_file_limit(void)
{
	enum { ALL_FILES = 1 << 20 }; /* the kernel's fs.nr_open, unless that was changed */
	struct rlimit limit = { .rlim_cur = ALL_FILES, .rlim_max = ALL_FILES };

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		event_limit_raise();
}

static bool has_all_events(const struct recording *r, uint32_t cpu)
{
	return cpu_list_has(&r->cpus, cpu);
}

/* The event's attr for this CPU. Switches are recorded only where all events are. */
static struct attr attr_on_cpu(const struct recording *r, const struct record_event *e,
			       uint32_t cpu)
{
	struct attr attr = e->attr;

	if (!has_all_events(r, cpu))
		attr_clear(&attr, ATTR_CONTEXT_SWITCH);
	return attr;
}

/*
 * Opens an event on a CPU. If the kernel refuses it, simplifies it and tries again; it then stays
 * simpler on all later CPUs. Returns the descriptor or a negative errno.
 */
static int open_or_simplify(struct recording *r, size_t event, int32_t thread, uint32_t cpu,
			    int group)
{
	struct record_event *e = &r->events->list.items[event];
	struct attr attr = attr_on_cpu(r, e, cpu);
	struct event_request request = {
		.attr = &attr,
		.name = e->name,
		.pid = thread,
		.cpu = (int)cpu,
		.group_fd = group,
		.is_cgroup = r->is_cgroup,
	};

	for (;;) {
		int fd = r->kernel->open(r->kernel->context, &request);
		const char *given_up;

		if (fd >= 0)
			return fd;
		given_up = record_attr_simplify(e, -fd);
		if (given_up == NULL)
			return fd;
		if (given_up[0] != '\0')
			diags_add(r->diags, DIAG_NOTE, ERR_NOWHERE, 0, given_up);
		attr = attr_on_cpu(r, e, cpu);
	}
}

/* The descriptor of the group's leader for this CPU and thread; -1 if the event is a leader. */
static int group_fd(const struct recording *r, size_t event, int32_t thread, uint32_t cpu)
{
	size_t leader = r->events->list.items[event].leader;

	if (leader == event)
		return EVENT_NO_GROUP;
	for (size_t i = r->fds.n; i-- > 0;) {
		const struct recording_fd *f = &r->fds.items[i];

		if (f->event == leader && f->cpu == cpu && f->thread == thread)
			return f->fd;
	}
	return EVENT_NO_GROUP;
}

static struct stream *find_stream_of_cpu(struct recording *r, uint32_t cpu)
{
	struct stream *last = r->streams.n > 0 ? &r->streams.items[r->streams.n - 1] : NULL;

	/* CPUs are opened one after the other */
	return last != NULL && last->cpu == cpu ? last : NULL;
}

static int memory_error(const struct stream *s, const char *what, size_t size, int error,
			struct err *err)
{
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "cannot map %zu KiB for the %s of CPU %" PRIu32 ": %s%s", size >> 10, what,
		       s->cpu, strerror(error),
		       error == EPERM || error == ENOMEM
			       ? " (limits: /proc/sys/kernel/perf_event_mlock_kb, ulimit -l)"
			       : "");
}

/* Maps the ring. Locked memory is limited for users, so smaller sizes are tried, too. */
static int map_ring(struct recording *r, struct stream *s, struct err *err)
{
	size_t size = has_all_events(r, s->cpu) ? ring_size(r) : side_band_ring_size(r);
	size_t wanted = size;
	int rc = ring_map(&s->ring, r->kernel, s->fd, size);

	while (rc == -EPERM && size > RING_MIN) {
		size /= 2;
		rc = ring_map(&s->ring, r->kernel, s->fd, size);
	}
	if (rc < 0)
		return memory_error(s, "ring", size, -rc, err);
	if (size < wanted)
		diags_add(r->diags, DIAG_NOTE, ERR_NOWHERE, 0,
			  "ring buffers are too small, samples may be lost: locked memory is "
			  "limited (ulimit -l, /proc/sys/kernel/perf_event_mlock_kb)");
	return 0;
}

static int map_aux(struct recording *r, struct stream *s, int fd, size_t event, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), least = page > AUX_MIN ? page : AUX_MIN;
	size_t size = AUX_DEFAULT, wanted;
	int rc;

	if (r->options->aux_bytes != 0)
		size = power_of_two(r->options->aux_bytes, least, (size_t)1 << 30);
	wanted = size;
	rc = aux_ring_map(&s->aux, r->kernel, &s->ring, fd, size, r->options->is_snapshot);
	while ((rc == -EPERM || rc == -ENOMEM) && size > least) {
		size /= 2;
		rc = aux_ring_map(&s->aux, r->kernel, &s->ring, fd, size, r->options->is_snapshot);
	}
	if (rc < 0)
		return memory_error(s, "AUX buffer", size, -rc, err);
	if (size < wanted && size < AUX_ENOUGH)
		diags_add(r->diags, DIAG_NOTE, ERR_NOWHERE, 0,
			  "AUX buffers are below 1 MiB, SPE data may be lost: raise ulimit -l or "
			  "/proc/sys/kernel/perf_event_mlock_kb, or use a longer interval");
	s->aux_event = event;
	return 0;
}

/* Makes the event write to the CPU's ring, or own it. */
static int attach_to_ring(struct recording *r, const struct recording_fd *f, struct err *err)
{
	struct stream *s = find_stream_of_cpu(r, f->cpu);
	int rc = 0;

	if (s == NULL) {
		s = vec_add(&r->streams);
		s->cpu = f->cpu;
		s->fd = f->fd;
		if (map_ring(r, s, err) < 0)
			return -1;
	} else {
		rc = r->kernel->control(r->kernel->context, f->fd, KERNEL_SET_OUTPUT,
					(uint64_t)s->fd);
	}
	if (rc < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "event '%s' cannot share the ring of CPU %" PRIu32 ": %s",
			       r->events->list.items[f->event].name, f->cpu, strerror(-rc));
	if (r->events->list.items[f->event].is_spe && s->aux.data == NULL)
		return map_aux(r, s, f->fd, f->event, err);
	return 0;
}

/* SPE is recorded without the stacks that the kernel refuses. */
static void leave_out(struct recording *r, struct record_event *e, const struct err *why)
{
	struct text note = { 0 };

	e->is_left_out = true;
	text_format(&note, "no stacks of %s for the callers of SPE records: %s", e->name,
		    why->text);
	text_char(&note, '\0');
	diags_add(r->diags, DIAG_NOTE, ERR_NOWHERE, 0, note.bytes);
	text_release(&note);
}

static int recording_add_event(struct recording *r, size_t event, int32_t thread, uint32_t cpu,
			       struct err *err)
{
	struct record_event *e = &r->events->list.items[event];
	int group = group_fd(r, event, thread, cpu);
	int fd = open_or_simplify(r, event, thread, cpu, group);
	struct recording_fd *f;

	if (fd == -ESRCH && thread != RECORDING_ALL_THREADS)
		return 0; /* the thread has ended */
	if (fd < 0) {
		event_explain(&(struct event_request){ .attr = &e->attr,
						       .name = e->name,
						       .pid = thread,
						       .cpu = (int)cpu,
						       .group_fd = group,
						       .is_cgroup = r->is_cgroup },
			      -fd, r->root, err);
		if (!e->is_for_callers)
			return -1;
		leave_out(r, e, err);
		return 0;
	}
	f = vec_add(&r->fds);
	*f = (struct recording_fd){ .fd = fd,
				    .event = event,
				    .cpu = cpu,
				    .thread = thread,
				    .is_leader = group == EVENT_NO_GROUP };
	if (r->kernel->id(r->kernel->context, fd, &f->id) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "event '%s': the kernel gave no id",
			       e->name);
	return attach_to_ring(r, f, err);
}

static bool is_on_cpu(const struct recording *r, const struct record_event *e, uint32_t cpu)
{
	if (e->is_left_out)
		return false;
	if (!has_all_events(r, cpu) && !e->is_side_band)
		return false;
	return e->pmu == NULL || e->pmu->cpus.n == 0 || cpu_list_has(&e->pmu->cpus, cpu);
}

static int open_on_cpu(struct recording *r, const int32_t *threads, size_t n_threads, uint32_t cpu,
		       struct err *err)
{
	for (size_t t = 0; t < n_threads; t++) {
		size_t before = r->fds.n;

		for (size_t i = 0; i < r->events->list.n; i++)
			if (is_on_cpu(r, &r->events->list.items[i], cpu) &&
			    recording_add_event(r, i, threads[t], cpu, err) < 0)
				return -1;
		if (r->fds.n > before) {
			*vec_add(&r->polls) =
				(struct pollfd){ .fd = r->fds.items[before].fd, .events = POLLIN };
			r->n_live++;
		}
	}
	return 0;
}

/*
 * The index of the sample's word that has the time; -1 if none (docs/reference/perf-data.md section
 * 3.3).
 */
static int time_word(uint64_t sample_type)
{
	const uint64_t before = (uint64_t)1 << SAMPLE_IDENTIFIER | (uint64_t)1 << SAMPLE_IP |
				(uint64_t)1 << SAMPLE_TID;

	return (sample_type >> SAMPLE_TIME & 1) == 0 ? -1
						     : __builtin_popcountll(sample_type & before);
}

/*
 * Sets when a ring wakes the reader. Only the watermark of the ring's owner counts, which is the
 * side-band's event where it is alone.
 */
static void set_wakeup(struct recording *r)
{
	for (size_t i = 0; i < r->events->list.n; i++) {
		struct record_event *e = &r->events->list.items[i];
		size_t ring = e->is_side_band ? side_band_ring_size(r) : ring_size(r);

		attr_set(&e->attr, ATTR_WATERMARK);
		e->attr.wakeup = (uint32_t)(ring / WAKEUP_SHARE);
	}
}

static int open_side_band(struct recording *r, const int32_t *threads, size_t n_threads,
			  const struct cpu_list *online, struct err *err)
{
	for (size_t i = 0; i < cpu_list_n(online); i++) {
		uint32_t cpu = cpu_list_at(online, i);

		if (!has_all_events(r, cpu) && open_on_cpu(r, threads, n_threads, cpu, err) < 0)
			return -1;
	}
	return 0;
}

int recording_open(struct recording *r, const int32_t *threads, size_t n_threads,
		   const struct cpu_list *cpus, const struct cpu_list *online, struct err *err)
{
	r->cpus = *cpus;
	raise_file_limit();
	set_wakeup(r);
	for (size_t i = 0; i < RECORDING_POLLS; i++)
		*vec_add(&r->polls) = (struct pollfd){ .fd = -1, .events = POLLIN };
	r->time_word = time_word(r->events->list.items[0].attr.sample_type);
	for (size_t i = 0; i < cpu_list_n(cpus); i++)
		if (open_on_cpu(r, threads, n_threads, cpu_list_at(cpus, i), err) < 0)
			return -1;
	if (open_side_band(r, threads, n_threads, online, err) < 0)
		return -1;
	if (r->fds.n == 0)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "nothing to record: the threads have ended, or these CPUs have none "
			       "of the events");
	return 0;
}

void recording_release(struct recording *r)
{
	for (size_t i = 0; i < r->streams.n; i++) {
		aux_ring_unmap(&r->streams.items[i].aux, r->kernel);
		ring_unmap(&r->streams.items[i].ring, r->kernel);
	}
	for (size_t i = 0; i < r->fds.n; i++)
		r->kernel->close(r->kernel->context, r->fds.items[i].fd);
	vec_release(&r->streams);
	vec_release(&r->fds);
	vec_release(&r->polls);
}

/* Enables or disables events. Members of a group follow their leader. */
static void control_all(struct recording *r, enum kernel_request request, bool with_side_band,
			bool with_others)
{
	for (size_t i = 0; i < r->fds.n; i++) {
		const struct recording_fd *f = &r->fds.items[i];
		bool is_side_band = r->events->list.items[f->event].is_side_band;

		if (is_side_band ? with_side_band : with_others)
			r->kernel->control(r->kernel->context, f->fd, request, 0);
	}
}

void recording_enable_side_band(struct recording *r)
{
	control_all(r, KERNEL_ENABLE, true, false);
}

void recording_enable(struct recording *r)
{
	r->is_stopped = false;
	control_all(r, KERNEL_ENABLE, false, true);
}

void recording_disable(struct recording *r)
{
	r->is_stopped = true;
	control_all(r, KERNEL_DISABLE, true, true);
}

void recording_hold_spe(struct recording *r, bool is_held)
{
	r->is_stopped = is_held;
	for (size_t i = 0; i < r->fds.n; i++)
		if (r->events->list.items[r->fds.items[i].event].is_spe)
			r->kernel->control(r->kernel->context, r->fds.items[i].fd,
					   is_held ? KERNEL_DISABLE : KERNEL_ENABLE, 0);
}

bool recording_wait(struct recording *r, int timeout_ms)
{
	int n = r->kernel->poll(r->kernel->context, r->polls.items, r->polls.n, timeout_ms);

	for (size_t i = RECORDING_POLLS; i < r->polls.n && n > 0; i++) {
		struct pollfd *p = &r->polls.items[i];

		if ((p->revents & (POLLHUP | POLLERR | POLLNVAL)) == 0)
			continue;
		p->fd = -1; /* poll() ignores negative descriptors */
		r->n_live--;
	}
	return r->n_live > 0;
}

/* What the kernel says of an open event. Groups are read in another form. */
struct event_reading {
	uint64_t enabled_ns, running_ns, n_lost; /* 0 if the event does not tell */
};

static bool read_event(const struct recording *r, const struct recording_fd *f,
		       struct event_reading *out)
{
	uint64_t format = r->events->list.items[f->event].attr.read_format;
	uint64_t words[5]; /* value, enabled, running, id, lost, as far as asked for */
	size_t n = 1, size;

	*out = (struct event_reading){ 0 };
	if (format >> READ_GROUP & 1)
		return false;
	size = (1 + (size_t)__builtin_popcountll(format)) * sizeof(*words);
	if (size > sizeof(words) ||
	    r->kernel->read(r->kernel->context, f->fd, words, size) != (int64_t)size)
		return false;
	if (format >> READ_TIME_ENABLED & 1)
		out->enabled_ns = words[n++];
	if (format >> READ_TIME_RUNNING & 1)
		out->running_ns = words[n++];
	n += format >> READ_ID & 1;
	if (format >> READ_LOST & 1)
		out->n_lost = words[n];
	return true;
}

uint64_t recording_write_lost(const struct recording *r, struct writer *w)
{
	struct event_reading reading;
	uint64_t lost = 0;

	for (size_t i = 0; i < r->fds.n; i++) {
		const struct recording_fd *f = &r->fds.items[i];
		const struct sample_id id = { .has = HAS_CPU, .cpu = f->cpu, .id = f->id };

		if (!read_event(r, f, &reading) || reading.n_lost == 0)
			continue;
		writer_lost_samples(w, reading.n_lost, &id);
		lost += reading.n_lost;
	}
	return lost;
}

void recording_counted(const struct recording *r, double *out_least, double *out_most)
{
	struct event_reading *sums = mem_zalloc(r->events->list.n + 1, sizeof(*sums)), reading;

	*out_least = *out_most = 0;
	for (size_t i = 0; i < r->fds.n; i++) {
		const struct recording_fd *f = &r->fds.items[i];

		if (!r->events->list.items[f->event].is_of_account || !read_event(r, f, &reading))
			continue;
		sums[f->event].enabled_ns += reading.enabled_ns;
		sums[f->event].running_ns += reading.running_ns;
	}
	for (size_t i = 0; i < r->events->list.n; i++) {
		double part = (double)sums[i].running_ns / (double)sums[i].enabled_ns;

		if (sums[i].enabled_ns == 0)
			continue;
		*out_least = *out_most == 0 || part < *out_least ? part : *out_least;
		*out_most = part > *out_most ? part : *out_most;
	}
	free(sums);
}

bool recording_time_conv(const struct recording *r, struct record_time_conv *out)
{
	return r->streams.n > 0 && ring_time_conv(&r->streams.items[0].ring, out);
}
