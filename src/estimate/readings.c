/* SPDX-License-Identifier: Apache-2.0 */
/* Format: docs/reference/perf-data.md sections 3.1 to 3.3. */
#include "estimate/readings.h"

#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/sample.h"

/* The last reading of a counter on a CPU or of a thread. */
struct last_reading {
	uint64_t value, enabled_ns, running_ns;
	bool is_there;
};

struct readings {
	const struct capture *capture;
	readings_visit *visit;
	void *context;
	struct tuples counters; /* (id, thread) … */
	VEC_OF(struct last_reading) last;
	VEC_OF(struct reading) round; /* those of perf stat whose time is not known yet */
	VEC_OF(uint32_t) threads;     /* that perf stat counts, by their number */
};

/* What the values of one record have in common. */
struct record_reading {
	struct reading common; /* times as read */
	uint64_t id;
	const struct attr *attr; /* whose format the values have */
};

static struct last_reading *last_of(struct readings *r, uint64_t id, uint32_t tid)
{
	const uint64_t key[] = { id, tid };
	uint32_t number = tuples_add(&r->counters, key);

	if (number == r->last.n)
		vec_add(&r->last);
	return &r->last.items[number];
}

/* Times and value become those since the counter's reading before. */
static void subtract_last(struct reading *reading, struct last_reading *last)
{
	const struct last_reading now = { reading->value, reading->enabled_ns, reading->running_ns,
					  true };

	/* A smaller one began anew. */
	reading->counted = reading->value - (now.value >= last->value ? last->value : 0);
	reading->is_first = !last->is_there || now.enabled_ns < last->enabled_ns ||
			    now.running_ns < last->running_ns;
	if (!reading->is_first) {
		reading->enabled_ns -= last->enabled_ns;
		reading->running_ns -= last->running_ns;
	}
	*last = now;
}

/* A counter of the kernel belongs to a CPU or thread by its id; inherited ones share theirs. */
static uint32_t thread_of_counter(const struct record_reading *from)
{
	return from->attr != NULL && attr_has(from->attr, ATTR_INHERIT) ? from->common.tid : 0;
}

static void add_reading(struct readings *r, const struct record_reading *from, int event,
			uint64_t id, uint64_t value)
{
	struct reading reading = from->common;

	reading.event = (uint32_t)event;
	reading.counter = id;
	reading.value = value;
	subtract_last(&reading, last_of(r, id, thread_of_counter(from)));
	if (reading.kind == READING_STAT)
		*vec_add(&r->round) = reading;
	else
		r->visit(r->context, &reading);
}

static uint64_t next_word(struct cursor *c, const struct attr *attr, enum read_bit bit)
{
	return attr->read_format >> bit & 1 ? cur_u64(c) : 0;
}

static void read_times(struct cursor *c, struct record_reading *from)
{
	from->common.enabled_ns = next_word(c, from->attr, READ_TIME_ENABLED);
	from->common.running_ns = next_word(c, from->attr, READ_TIME_RUNNING);
	from->common.has_times = from->attr->read_format >> READ_TIME_ENABLED & 1 &&
				 from->attr->read_format >> READ_TIME_RUNNING & 1;
}

static void take_group(struct readings *r, struct cursor *c, struct record_reading *from)
{
	uint64_t n = cur_u64(c);

	read_times(c, from);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t value = cur_u64(c), id = next_word(c, from->attr, READ_ID);
		int event = capture_event_of_id(r->capture, id);

		next_word(c, from->attr, READ_LOST);
		if (!c->bad && event >= 0 && from->attr->read_format >> READ_ID & 1)
			add_reading(r, from, event, id, value);
	}
}

static void take_single(struct readings *r, struct cursor *c, struct record_reading *from)
{
	uint64_t value = cur_u64(c), id;

	read_times(c, from);
	id = from->attr->read_format >> READ_ID & 1 ? cur_u64(c) : from->id;
	if (!c->bad)
		add_reading(r, from, (int)from->common.leader, id, value);
}

/* The values of an event's record, whose format its attr has. */
static void take_values(struct readings *r, struct cursor *values, int event,
			struct record_reading *from)
{
	from->common.leader = (uint32_t)event;
	from->attr = &capture_event(r->capture, (size_t)event)->attr;
	if (from->attr->read_format >> READ_GROUP & 1)
		take_group(r, values, from);
	else
		take_single(r, values, from);
}

static uint32_t number_or_unknown(bool is_there, uint32_t number)
{
	return is_there ? number : READING_UNKNOWN;
}

static void take_sample(struct readings *r, const struct record *record)
{
	int event = capture_event_of_sample(r->capture, record);
	struct record_reading from = { 0 };
	struct cursor values;
	struct sample s;
	struct err err;
	const struct attr *attr;

	if (event < 0)
		return;
	attr = &capture_event(r->capture, (size_t)event)->attr;
	if (!(attr->sample_type >> SAMPLE_READ & 1) || sample_read(record, attr, &s, &err) < 0)
		return;
	from.id = s.id;
	from.common = (struct reading){
		.kind = READING_SAMPLE,
		.is_of_task = attr_has(attr, ATTR_INHERIT) || attr_has(attr, ATTR_ENABLE_ON_EXEC),
		.position = record->position,
		.cpu = number_or_unknown(attr->sample_type >> SAMPLE_CPU & 1, s.cpu),
		.pid = number_or_unknown(attr->sample_type >> SAMPLE_TID & 1, s.pid),
		.tid = number_or_unknown(attr->sample_type >> SAMPLE_TID & 1, s.tid),
		.time_ns = s.time_ns,
	};
	values = cur_of(s.read.bytes, s.read.n * sizeof(uint64_t));
	take_values(r, &values, event, &from);
}

static void take_thread(struct readings *r, const struct record *record, const struct sample_id *id)
{
	int event = capture_event_of_id(r->capture, id->id);
	struct cursor body = record->body;
	uint32_t pid = cur_u32(&body), tid = cur_u32(&body);
	struct record_reading from = {
		.id = id->id,
		.common = { .kind = READING_THREAD,
			    .is_of_task = true,
			    .position = record->position,
			    .cpu = number_or_unknown(id->has & HAS_CPU, id->cpu),
			    .pid = pid,
			    .tid = tid,
			    .time_ns = id->time_ns },
	};

	if (event >= 0 && !body.bad)
		take_values(r, &body, event, &from);
}

/* Which thread each number stands for; -1: all. */
static void take_thread_map(struct readings *r, const struct record *record)
{
	enum { NAME_BYTES = 16 };
	struct cursor body = record->body;

	r->threads.n = 0;
	for (uint64_t n = cur_u64(&body); n > 0 && !body.bad; n--) {
		uint64_t tid = cur_u64(&body);

		cur_skip(&body, NAME_BYTES);
		if (!body.bad)
			*vec_add(&r->threads) = (uint32_t)tid;
	}
}

static void take_stat(struct readings *r, const struct record *record)
{
	struct cursor body = record->body;
	uint64_t id = cur_u64(&body);
	uint32_t cpu = cur_u32(&body), thread = cur_u32(&body);
	uint64_t value = cur_u64(&body), enabled_ns = cur_u64(&body), running_ns = cur_u64(&body);
	int event = capture_event_of_id(r->capture, id);
	struct record_reading from = {
		.common = { .kind = READING_STAT,
			    .position = record->position,
			    .leader = (uint32_t)event,
			    .cpu = cpu,
			    .pid = READING_UNKNOWN,
			    .tid = READING_UNKNOWN,
			    .enabled_ns = enabled_ns,
			    .running_ns = running_ns,
			    .has_times = true },
	};

	if (thread < r->threads.n)
		from.common.tid = r->threads.items[thread];
	if (event >= 0 && !body.bad)
		add_reading(r, &from, event, id, value);
}

/* The readings before it belong to an interval that ends then. */
static void end_round(struct readings *r, uint64_t end_ns)
{
	for (size_t i = 0; i < r->round.n; i++) {
		r->round.items[i].end_ns = end_ns;
		r->visit(r->context, &r->round.items[i]);
	}
	r->round.n = 0;
}

static void take_stat_round(struct readings *r, const struct record *record)
{
	struct cursor body = record->body;

	cur_skip(&body, sizeof(uint64_t)); /* of an interval, or the last */
	end_round(r, cur_u64(&body));
}

static void readings_of_record(void *context, const struct record *record,
			       const struct sample_id *id)
{
	struct readings *r = context;

	switch (record->type) {
	case RECORD_SAMPLE:
		take_sample(r, record);
		break;
	case RECORD_READ:
		take_thread(r, record, id);
		break;
	case RECORD_THREAD_MAP:
		take_thread_map(r, record);
		break;
	case RECORD_STAT:
		take_stat(r, record);
		break;
	case RECORD_STAT_ROUND:
		take_stat_round(r, record);
		break;
	default:
		break;
	}
}

void readings_walk(const struct capture *c, readings_visit *visit, void *context)
{
	struct readings r = { .capture = c, .visit = visit, .context = context };

	tuples_init(&r.counters, 2);
	capture_walk(c, readings_of_record, &r);
	end_round(&r, 0);
	tuples_release(&r.counters);
	vec_release(&r.last);
	vec_release(&r.round);
	vec_release(&r.threads);
}

bool readings_are_there(const struct capture *c)
{
	const struct capture_totals *totals = capture_totals(c);

	for (size_t i = 0; i < capture_n_events(c) && totals->n_samples > 0; i++)
		if (capture_event(c, i)->attr.sample_type >> SAMPLE_READ & 1)
			return true;
	return totals->by_type[RECORD_READ] > 0 || totals->by_type[RECORD_STAT] > 0;
}
