/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/mux.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "capture/capture.h"
#include "capture/format/sample.h"

enum { NO_CPU = UINT32_MAX };

/* The last read values of an event on a CPU or of a thread. */
struct last_read {
	uint64_t value, enabled_ns, running_ns;
	bool is_there;
};

/* Times between read values. */
struct mux_times {
	uint64_t enabled_ns, running_ns;
	uint64_t first_enabled_ns, first_running_ns; /* up to the first one */
};

struct mux {
	const struct session *session;
	struct tuples streams; /* (id, thread): kernel counters … */
	VEC_OF(struct last_read) last;
	struct tuples places; /* (event, cpu) … */
	VEC_OF(struct mux_times) times;
	VEC_OF(struct follower_count) followers;
	bool *is_follower, *is_known; /* by event */
	double *whole;		      /* by event: the factor of all CPUs */
	uint64_t *turns;	      /* by event: pauses between read values */
	bool differs_by_cpu;
};

/* One value of a read: which counter, and what it had counted. */
struct read_value {
	uint64_t id, value;
};

/* What one READ field or record says. */
struct read_times {
	uint64_t enabled_ns, running_ns;
	bool has_times;
};

static struct last_read *last_of(struct mux *m, uint64_t id, uint32_t tid)
{
	const uint64_t key[] = { id, tid };
	uint32_t number = tuples_add(&m->streams, key);

	if (number == m->last.n)
		vec_add(&m->last);
	return &m->last.items[number];
}

static struct mux_times *times_of(struct mux *m, size_t event, uint32_t cpu)
{
	const uint64_t key[] = { event, cpu };
	uint32_t number = tuples_add(&m->places, key);

	if (number == m->times.n)
		vec_add(&m->times);
	return &m->times.items[number];
}

/* A counter's new values. Returns how much it counted since the last ones; a smaller one began anew. */
static uint64_t advance(struct mux *m, int event, uint32_t cpu, struct last_read *last,
			uint64_t value, const struct read_times *times)
{
	uint64_t count = value >= last->value ? value - last->value : value;

	if (times->has_times) {
		struct mux_times *t = times_of(m, (size_t)event, cpu);

		m->is_known[event] = true;
		if (!last->is_there) {
			t->first_enabled_ns += times->enabled_ns;
			t->first_running_ns += times->running_ns;
		} else if (times->enabled_ns >= last->enabled_ns &&
			   times->running_ns >= last->running_ns) {
			m->turns[event] += times->enabled_ns - last->enabled_ns >
					   times->running_ns - last->running_ns;
			t->enabled_ns += times->enabled_ns - last->enabled_ns;
			t->running_ns += times->running_ns - last->running_ns;
		}
	}
	*last = (struct last_read){ value, times->enabled_ns, times->running_ns, true };
	return count;
}

/* A counter of the kernel belongs to a CPU or thread by its id; inherited ones share theirs. */
static uint32_t thread_of_stream(const struct attr *attr, uint32_t tid)
{
	return attr_has(attr, ATTR_INHERIT) ? tid : 0;
}

static uint64_t next_word(struct cursor *c, const struct attr *attr, enum read_bit bit)
{
	return attr->read_format >> bit & 1 ? cur_u64(c) : 0;
}

/* Where a read is from. */
struct read_source {
	int event; /* whose attr has the format */
	uint64_t id, position, time_ns;
	uint32_t cpu, tid;
	bool is_sample;
};

static void take_group(struct mux *m, struct cursor *c, const struct read_source *from)
{
	const struct attr *attr = &capture_event(m->session->capture, (size_t)from->event)->attr;
	uint64_t n = cur_u64(c);
	struct read_times times = {
		.enabled_ns = next_word(c, attr, READ_TIME_ENABLED),
		.running_ns = next_word(c, attr, READ_TIME_RUNNING),
	};

	times.has_times = attr->read_format >> READ_TIME_ENABLED & 1 &&
			  attr->read_format >> READ_TIME_RUNNING & 1;
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t value = cur_u64(c), id = next_word(c, attr, READ_ID), count;
		int event = capture_event_of_id(m->session->capture, id);

		next_word(c, attr, READ_LOST);
		if (c->bad || event < 0 || !(attr->read_format >> READ_ID & 1))
			continue;
		count = advance(m, event, from->cpu,
				last_of(m, id, thread_of_stream(attr, from->tid)), value, &times);
		if (from->is_sample && event != from->event && m->is_follower[event] && count > 0)
			*vec_add(&m->followers) =
				(struct follower_count){ from->position, from->time_ns, from->cpu,
							 (uint32_t)event, count };
	}
}

static void take_single(struct mux *m, struct cursor *c, const struct read_source *from)
{
	const struct attr *attr = &capture_event(m->session->capture, (size_t)from->event)->attr;
	uint64_t value = cur_u64(c), id;
	struct read_times times = {
		.enabled_ns = next_word(c, attr, READ_TIME_ENABLED),
		.running_ns = next_word(c, attr, READ_TIME_RUNNING),
	};
	uint32_t tid = thread_of_stream(attr, from->tid);

	times.has_times = attr->read_format >> READ_TIME_ENABLED & 1 &&
			  attr->read_format >> READ_TIME_RUNNING & 1;
	id = attr->read_format >> READ_ID & 1 ? cur_u64(c) : from->id;
	if (!c->bad)
		advance(m, from->event, from->cpu, last_of(m, id, tid), value, &times);
}

static void take_reading(struct mux *m, struct cursor *c, const struct read_source *from)
{
	const struct attr *attr = &capture_event(m->session->capture, (size_t)from->event)->attr;

	if (attr->read_format >> READ_GROUP & 1)
		take_group(m, c, from);
	else
		take_single(m, c, from);
}

static void take_sample(struct mux *m, const struct record *r)
{
	const struct capture *c = m->session->capture;
	int event = capture_event_of_sample(c, r);
	struct read_source from = { .event = event, .position = r->position, .is_sample = true };
	const struct attr *attr;
	struct cursor words;
	struct sample s;
	struct err err;

	if (event < 0)
		return;
	attr = &capture_event(c, (size_t)event)->attr;
	if (!(attr->sample_type >> SAMPLE_READ & 1) || sample_read(r, attr, &s, &err) < 0)
		return;
	from.id = s.id;
	from.time_ns = s.time_ns;
	from.tid = s.tid;
	from.cpu = attr->sample_type >> SAMPLE_CPU & 1 ? s.cpu : NO_CPU;
	words = cur_of(s.read.bytes, s.read.n * sizeof(uint64_t));
	take_reading(m, &words, &from);
}

static void mux_visit(void *context, const struct record *r, const struct sample_id *id)
{
	struct mux *m = context;
	struct read_source from = { .position = r->position, .id = id->id };
	struct cursor body = r->body;

	if (r->type == RECORD_SAMPLE) {
		take_sample(m, r);
		return;
	}
	if (r->type != RECORD_READ)
		return;
	cur_skip(&body, sizeof(uint32_t)); /* process */
	from.tid = cur_u32(&body);
	from.time_ns = id->time_ns;
	from.cpu = NO_CPU;
	from.event = capture_event_of_id(m->session->capture, id->id);
	if (from.event >= 0 && !body.bad)
		take_reading(m, &body, &from);
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

static void finish(struct mux *m, size_t n_events)
{
	struct mux_times *whole = mem_zalloc(n_events + 1, sizeof(*whole));

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

static bool has_reads(const struct capture *c)
{
	for (size_t i = 0; i < capture_n_events(c); i++)
		if (capture_event(c, i)->attr.sample_type >> SAMPLE_READ & 1)
			return true;
	return capture_totals(c)->by_type[RECORD_READ] > 0;
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
	tuples_init(&m->streams, 2);
	tuples_init(&m->places, 2);
	find_followers(m);
	if (has_reads(s->capture))
		capture_walk(s->capture, mux_visit, m);
	finish(m, n);
	return m;
}

void mux_free(struct mux *m)
{
	if (m == NULL)
		return;
	tuples_release(&m->streams);
	tuples_release(&m->places);
	vec_release(&m->last);
	vec_release(&m->times);
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
