/* SPDX-License-Identifier: Apache-2.0 */
/* Format: docs/reference/perf-data.md section 3.2. */
#include "estimate/stat_record.h"

#include <string.h>

#include "base/cursor.h"
#include "base/tuples.h"
#include "capture/capture.h"
#include "count/import.h"
#include "estimate/readings.h"

/* enum aggr_mode of perf. The numbers of further modes differ between its versions. */
enum { AGGREGATE_NONE, AGGREGATE_ALL };

/* Of EVENT_UPDATE. */
enum { UPDATE_UNIT, UPDATE_SCALE };

struct event_unit {
	const char *unit; /* NULL: events */
	double scale;	  /* 0: none */
};

struct stat_record {
	const struct capture *capture;
	struct counts *out;
	VEC_OF(struct event_unit) units; /* by event */
	struct tuples places;		 /* (event, CPU, thread, interval) of out->items */
	uint64_t aggregation;
	bool has_intervals;
};

static void take_config(struct stat_record *s, struct cursor body)
{
	enum { TERM_AGGREGATION, TERM_INTERVAL };

	for (uint64_t n = cur_u64(&body); n > 0 && !body.bad; n--) {
		uint64_t term = cur_u64(&body), value = cur_u64(&body);

		if (term == TERM_AGGREGATION)
			s->aggregation = value;
		else if (term == TERM_INTERVAL)
			s->has_intervals = value != 0;
	}
}

static void take_update(struct stat_record *s, struct cursor body)
{
	uint64_t kind = cur_u64(&body);
	int event = capture_event_of_id(s->capture, cur_u64(&body));
	struct event_unit *unit;

	if (event < 0)
		return;
	unit = &s->units.items[event];
	if (kind == UPDATE_UNIT) {
		const char *text = cur_string(&body);

		if (text != NULL && text[0] != '\0')
			unit->unit = arena_strndup(&s->out->memory, text, strlen(text));
	} else if (kind == UPDATE_SCALE) {
		uint64_t bits = cur_u64(&body);

		if (!body.bad)
			memcpy(&unit->scale, &bits, sizeof(bits));
	}
}

static void take_record(void *context, const struct record *r, const struct sample_id *id)
{
	struct stat_record *s = context;

	(void)id;
	if (r->type == RECORD_STAT_CONFIG)
		take_config(s, r->body);
	else if (r->type == RECORD_EVENT_UPDATE)
		take_update(s, r->body);
}

static uint32_t interval_ending(struct counts *c, uint64_t end_ns)
{
	if (c->intervals.n == 0 || c->intervals.items[c->intervals.n - 1].end_ns != end_ns)
		*vec_add(&c->intervals) = (struct count_interval){ end_ns };
	return (uint32_t)c->intervals.n - 1;
}

static void take_reading(void *context, const struct reading *r)
{
	struct stat_record *s = context;
	bool by_cpu = s->aggregation != AGGREGATE_ALL && r->cpu != READING_UNKNOWN;
	bool by_thread = s->aggregation > AGGREGATE_ALL && r->cpu == READING_UNKNOWN;
	int32_t cpu = by_cpu ? (int32_t)r->cpu : COUNT_ANY;
	int32_t tid = by_thread && r->tid != READING_UNKNOWN ? (int32_t)r->tid : COUNT_ANY;
	uint32_t interval = 0, at;
	struct count *count;

	/* Behind the last interval perf reads once more; that belongs to none. */
	if (r->kind != READING_STAT || (s->has_intervals && r->end_ns == 0))
		return;
	if (s->has_intervals)
		interval = interval_ending(s->out, r->end_ns);
	s->out->elapsed_ns = r->end_ns;
	at = tuples_add(&s->places,
			(const uint64_t[]){ r->event, (uint32_t)cpu, (uint32_t)tid, interval });
	if (at == s->out->items.n) {
		counts_add(s->out, capture_event_name(s->capture, r->event));
		s->out->items.items[at].cpu = cpu;
		s->out->items.items[at].tid = tid;
		s->out->items.items[at].interval = interval;
	}
	count = &s->out->items.items[at];
	count->raw += r->counted;
	count->enabled_ns += r->enabled_ns;
	count->running_ns += r->running_ns;
}

/* From what was read to what it stands for, as in perf: sums are scaled, not what they are made of. */
static void finish_count(const struct stat_record *s, struct count *c, size_t event)
{
	const struct event_unit *unit = &s->units.items[event];
	const struct attr *attr = &capture_event(s->capture, event)->attr;

	c->is_user_only = attr_has(attr, ATTR_EXCLUDE_KERNEL);
	c->value = (double)c->raw;
	if (c->running_ns == 0)
		c->state = COUNT_NOT_COUNTED;
	else if (c->running_ns < c->enabled_ns)
		c->value *= (double)c->enabled_ns / (double)c->running_ns;
	if (unit->scale != 0)
		c->value *= unit->scale;
	if (unit->unit != NULL)
		counts_set_unit(s->out, c, unit->unit, strlen(unit->unit));
}

/* perf records nothing of events that it could not open. */
static void add_unsupported(struct stat_record *s)
{
	size_t n = s->out->items.n;

	for (size_t event = 0; event < capture_n_events(s->capture); event++) {
		bool is_there = false;

		for (size_t i = 0; i < n && !is_there; i++)
			is_there = tuples_get(&s->places, (uint32_t)i)[0] == event;
		if (!is_there)
			counts_add(s->out, capture_event_name(s->capture, event))->state =
				COUNT_NOT_SUPPORTED;
	}
}

static void add_machine(struct stat_record *s)
{
	const struct info *info = capture_info(s->capture);
	/* That of perf, with the program behind "--"; without it, nobody knows where options end. */
	const char *command =
		strstr(strings_get(capture_strings(s->capture), info->command_line), " -- ");

	s->out->source = "perf stat record";
	s->out->midr = capture_midr(s->capture, UINT32_MAX);
	if (command != NULL)
		s->out->command = arena_strndup(&s->out->memory, command + 4, strlen(command + 4));
}

static void read_stat_record(struct stat_record *s)
{
	vec_reserve(&s->units, capture_n_events(s->capture));
	s->aggregation = AGGREGATE_ALL;
	tuples_init(&s->places, 4);
	capture_walk(s->capture, take_record, s);
	readings_walk(s->capture, take_reading, s);
	for (size_t i = 0; i < s->out->items.n; i++)
		finish_count(s, &s->out->items.items[i], tuples_get(&s->places, (uint32_t)i)[0]);
	add_unsupported(s);
	add_machine(s);
	tuples_release(&s->places);
	vec_release(&s->units);
}

int counts_read(const void *bytes, size_t size, const char *path, struct counts *out,
		struct err *err)
{
	struct stat_record s = { .out = out };
	struct capture *capture = NULL;
	int rc = -1;

	if (!capture_begins(bytes, size))
		return counts_import(bytes, size, path, out, err);
	if (capture_open_bytes(path != NULL ? path : "standard input", bytes, size, &capture,
			       err) == 0)
		rc = capture_scan(capture, NULL, NULL, err);
	s.capture = capture;
	if (rc == 0 && capture_totals(capture)->by_type[RECORD_STAT] > 0)
		read_stat_record(&s);
	else if (rc == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "a capture without counts: wanted what perf stat record writes "
			     "(cyclops report shows samples)");
	capture_free(capture);
	return rc;
}
