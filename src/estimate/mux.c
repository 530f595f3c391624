/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/mux.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "capture/capture.h"
#include "capture/format/sample.h"
#include "estimate/readings.h"

/* Times between read values. */
struct mux_times {
	uint64_t enabled_ns, running_ns;
	uint64_t first_enabled_ns, first_running_ns; /* up to the first one */
};

struct mux {
	const struct session *session;
	struct tuples places; /* (event, cpu) … */
	VEC_OF(struct mux_times) times;
	struct tuples task_places; /* (event, tid, counter) … of counters of tasks */
	VEC_OF(struct mux_times) task_times;
	VEC_OF(struct follower_count) followers;
	bool *is_follower, *is_known; /* by event */
	double *whole;		      /* by event: the factor of all CPUs */
	uint64_t *turns;	      /* by event: pauses between read values */
	bool differs_by_cpu;
};

static struct mux_times *times_of_cpu(struct mux *m, size_t event, uint32_t cpu)
{
	const uint64_t key[] = { event, cpu };
	uint32_t number = tuples_add(&m->places, key);

	if (number == m->times.n)
		vec_add(&m->times);
	return &m->times.items[number];
}

static struct mux_times *times_of_task(struct mux *m, const struct reading *r)
{
	const uint64_t key[] = { r->event, r->tid, r->counter };
	uint32_t number = tuples_add(&m->task_places, key);

	if (number == m->task_times.n)
		vec_add(&m->task_times);
	return &m->task_times.items[number];
}

static void add_reading_times(struct mux *m, const struct reading *r)
{
	struct mux_times *t =
		r->is_of_task ? times_of_task(m, r) : times_of_cpu(m, r->event, r->cpu);

	m->is_known[r->event] = true;
	if (r->is_first && !r->is_of_task) {
		t->first_enabled_ns += r->enabled_ns;
		t->first_running_ns += r->running_ns;
		return;
	}
	m->turns[r->event] += r->enabled_ns > r->running_ns;
	t->enabled_ns += r->enabled_ns;
	t->running_ns += r->running_ns;
}

static void mux_visit(void *context, const struct reading *r)
{
	struct mux *m = context;

	if (r->kind == READING_STAT)
		return;
	if (r->has_times)
		add_reading_times(m, r);
	if (r->kind == READING_SAMPLE && r->event != r->leader && m->is_follower[r->event] &&
	    r->counted > 0)
		*vec_add(&m->followers) = (struct follower_count){ r->position, r->time_ns, r->cpu,
								   r->event, r->counted };
}

/* Events that never sample and that the leader before them reads. */
static void find_followers(struct mux *m)
{
	const struct capture *c = m->session->capture;
	bool is_group = false;

	for (size_t i = 0; i < capture_n_events(c); i++) {
		const struct attr *attr = &capture_event(c, i)->attr;

		if (attr->sample_period != 0)
			is_group = attr->sample_type >> SAMPLE_READ & 1 &&
				   attr->read_format >> READ_GROUP & 1;
		else
			m->is_follower[i] = is_group && !attr_is_dummy(attr);
	}
}

static double factor(const struct mux_times *t)
{
	double enabled = (double)t->enabled_ns, running = (double)t->running_ns;

	if (t->enabled_ns == 0) { /* a single read value each */
		enabled = (double)t->first_enabled_ns;
		running = (double)t->first_running_ns;
	}
	return running > 0 && enabled > running ? enabled / running : 1;
}

static void add_times(struct mux_times *to, const struct mux_times *from)
{
	to->enabled_ns += from->enabled_ns;
	to->running_ns += from->running_ns;
	to->first_enabled_ns += from->first_enabled_ns;
	to->first_running_ns += from->first_running_ns;
}

/* A task's counter on each CPU is enabled while the task runs on any of them, but counts on its own. */
static void add_other_cpu(struct mux_times *to, const struct mux_times *from)
{
	to->enabled_ns = from->enabled_ns > to->enabled_ns ? from->enabled_ns : to->enabled_ns;
	to->running_ns += from->running_ns;
}

/* What a task's counters ran behind their last reading is not known: of so little nothing is concluded. */
static const double least_task_pause = 0.05;

/* Adds the times of all tasks, by event. */
static void add_tasks(const struct mux *m, struct mux_times *whole)
{
	struct tuples tasks; /* (event, tid) */
	VEC_OF(struct mux_times) times = { 0 };

	tuples_init(&tasks, 2);
	for (size_t i = 0; i < m->task_times.n; i++) {
		uint32_t task = tuples_add(&tasks, tuples_get(&m->task_places, (uint32_t)i));

		if (task == times.n)
			vec_add(&times);
		add_other_cpu(&times.items[task], &m->task_times.items[i]);
	}
	for (size_t i = 0; i < times.n; i++) {
		struct mux_times *t = &times.items[i];

		if ((double)t->running_ns >= (1 - least_task_pause) * (double)t->enabled_ns)
			t->running_ns = t->enabled_ns;
		add_times(&whole[tuples_get(&tasks, (uint32_t)i)[0]], t);
	}
	vec_release(&times);
	tuples_release(&tasks);
}

static void finish(struct mux *m, size_t n_events)
{
	struct mux_times *whole = mem_zalloc(n_events + 1, sizeof(*whole));

	add_tasks(m, whole);
	for (size_t i = 0; i < m->times.n; i++)
		add_times(&whole[tuples_get(&m->places, (uint32_t)i)[0]], &m->times.items[i]);
	for (size_t i = 0; i < n_events; i++)
		m->whole[i] = factor(&whole[i]);
	for (size_t i = 0; i < m->times.n; i++) {
		uint64_t event = tuples_get(&m->places, (uint32_t)i)[0];

		m->differs_by_cpu |= factor(&m->times.items[i]) != m->whole[event];
	}
	free(whole);
}

struct mux *mux_new(const struct session *s)
{
	struct mux *m = mem_zalloc(1, sizeof(*m));
	size_t n = capture_n_events(s->capture);

	m->session = s;
	m->is_follower = mem_zalloc(n + 1, sizeof(*m->is_follower));
	m->is_known = mem_zalloc(n + 1, sizeof(*m->is_known));
	m->whole = mem_zalloc(n + 1, sizeof(*m->whole));
	m->turns = mem_zalloc(n + 1, sizeof(*m->turns));
	tuples_init(&m->places, 2);
	tuples_init(&m->task_places, 3);
	find_followers(m);
	if (readings_are_there(s->capture))
		readings_walk(s->capture, mux_visit, m);
	finish(m, n);
	return m;
}

void mux_free(struct mux *m)
{
	if (m == NULL)
		return;
	tuples_release(&m->places);
	vec_release(&m->times);
	tuples_release(&m->task_places);
	vec_release(&m->task_times);
	vec_release(&m->followers);
	free(m->is_follower);
	free(m->is_known);
	free(m->whole);
	free(m->turns);
	free(m);
}

double mux_factor(const struct mux *m, size_t event, uint32_t cpu)
{
	const uint64_t key[] = { event, cpu };
	uint32_t number = tuples_find(&m->places, key);

	return number == TUPLES_NONE ? m->whole[event] : factor(&m->times.items[number]);
}

bool mux_is_known(const struct mux *m, size_t event)
{
	return m->is_known[event];
}

bool mux_scales(const struct mux *m)
{
	for (size_t i = 0; i < capture_n_events(m->session->capture); i++)
		if (m->whole[i] > 1)
			return true;
	return m->differs_by_cpu;
}

uint64_t mux_turns(const struct mux *m, size_t event)
{
	return m->turns[event];
}

bool mux_differs_by_cpu(const struct mux *m)
{
	return m->differs_by_cpu;
}

size_t mux_n_followers(const struct mux *m)
{
	return m->followers.n;
}

const struct follower_count *mux_follower(const struct mux *m, size_t index)
{
	return &m->followers.items[index];
}

bool mux_is_follower(const struct mux *m, size_t event)
{
	return m->is_follower[event];
}
