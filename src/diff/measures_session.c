/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of the records of a capture, with the sums of squares that their standard errors are made
 * of.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/prefetch.h"
#include "base/uint128.h"
#include "diff/measures.h"
#include "estimate/latency.h"
#include "hot/sums/sums.h"
#include "session/interval.h"
#include "session/names.h"

/* The records with one key. */
struct sum {
	uint64_t n, n_saturated; /* n_saturated: with a saturated latency counter */
	struct uint128 value, squares, saturated;
};

/* Words of a key: event (SPE: the number behind the last event) and place, data source. */
enum { AT_EVENT_AND_PLACE, AT_SOURCE, AT_WORDS };

static uint64_t key_event(const uint64_t key[AT_WORDS])
{
	return key[AT_EVENT_AND_PLACE] >> 32;
}

static uint32_t key_place(const uint64_t key[AT_WORDS])
{
	return (uint32_t)key[AT_EVENT_AND_PLACE];
}

/* The result of the scan: a sum for each key. */
struct costs {
	const struct session *session;
	struct tuples keys;
	VEC_OF(struct sum) sums;
};

static void *costs_new(const struct session *s, const void *options)
{
	struct costs *c = mem_zalloc(1, sizeof(*c));

	(void)options;
	c->session = s;
	tuples_init(&c->keys, AT_WORDS);
	return c;
}

static void costs_free(void *partial)
{
	struct costs *c = partial;

	if (c == NULL)
		return;
	tuples_release(&c->keys);
	vec_release(&c->sums);
	free(c);
}

static struct sum *cost_sum_of(struct costs *c, const uint64_t key[AT_WORDS])
{
	uint32_t number = tuples_add(&c->keys, key);

	if (number == c->sums.n)
		vec_add(&c->sums);
	return &c->sums.items[number];
}

static void cost_sum_add(struct sum *to, const struct sum *from)
{
	to->n += from->n;
	to->n_saturated += from->n_saturated;
	uint128_add(&to->value, from->value);
	uint128_add(&to->squares, from->squares);
	uint128_add(&to->saturated, from->saturated);
}

static uint64_t source_of(const struct session *s, const struct batch *b, size_t row)
{
	const struct cpu_source *source;

	if (!(b->has[row] & HAS_SOURCE))
		return 0;
	source =
		session_source(s, b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX, b->source[row]);
	return (uint64_t)(uintptr_t)source;
}

/*
 * Latency cycles of all operations that the record stands for; of the record alone if the interval
 * is unknown.
 */
static uint64_t spe_cost(const struct session *s, const struct batch *b, size_t row)
{
	uint32_t cpu = b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX;
	uint64_t interval = spe_interval(s, cpu)->mean;

	return (b->has[row] & HAS_TOTAL ? b->total[row] : 0) * (interval == 0 ? 1 : interval);
}

/* What a record adds. */
static struct sum sum_of_row(const struct session *s, const struct batch *b, size_t row)
{
	bool is_spe = b->kind == BATCH_SPE;
	uint64_t value = is_spe ? spe_cost(s, b, row) : b->period[row];
	bool is_full = is_spe && b->has[row] & HAS_TOTAL && latency_is_full(b->total[row]);

	return (struct sum){
		.n = 1,
		.n_saturated = is_full,
		.value = { .low = value },
		.squares = uint128_product(value, value),
		.saturated = { .low = is_full ? value : 0 },
	};
}

static void costs_consume(void *partial, const struct batch *b)
{
	struct costs *c = partial;
	bool is_spe = b->kind == BATCH_SPE;
	uint64_t keys[BATCH_ROWS][AT_WORDS];
	uint32_t numbers[BATCH_ROWS];

	for (size_t row = 0; row < b->n; row++) {
		uint64_t event = is_spe ? capture_n_events(c->session->capture) : b->event[row];
		uint32_t place = b->has[row] & HAS_PC ? b->place[row] : 0;

		keys[row][AT_EVENT_AND_PLACE] = event << 32 | place;
		keys[row][AT_SOURCE] = is_spe ? source_of(c->session, b, row) : 0;
	}
	tuples_add_all(&c->keys, keys[0], b->n, numbers);
	while (c->sums.n < c->keys.n)
		vec_add(&c->sums);
	for (size_t row = 0; row < b->n; row++)
		prefetch_to_write(&c->sums.items[numbers[row]]);
	for (size_t row = 0; row < b->n; row++) {
		const struct sum sum = sum_of_row(c->session, b, row);

		cost_sum_add(&c->sums.items[numbers[row]], &sum);
	}
}

static void costs_merge(void *into, const void *from, const struct id_map *map)
{
	const struct costs *part = from;

	(void)map;
	for (uint32_t i = 0; i < part->keys.n; i++)
		cost_sum_add(cost_sum_of(into, tuples_get(&part->keys, i)), &part->sums.items[i]);
}

static const struct analysis_class costs_class = {
	.new = costs_new,
	.free = costs_free,
	.consume = costs_consume,
	.merge = costs_merge,
};

/* Sums by name. */
struct named {
	struct session *session;
	const struct names *names;
	struct strings strings;
	struct tuples keys; /* event, name, module */
	VEC_OF(struct sum) sums;
};

static const char *costs_module(const struct named *n, uint32_t place)
{
	struct place p = session_place(n->session, place);

	return names_module(n->session, p.module);
}

static void write_function(const struct named *n, const uint64_t *key, struct text *out)
{
	text_str(out, names_function(n->names, key_place(key)));
}

/* The file without its directory, which may differ between builds. */
static void write_line(const struct named *n, const uint64_t *key, struct text *out)
{
	const char *file;
	uint32_t line;

	if (names_line(n->names, key_place(key), &file, &line))
		text_format(out, "%s:%" PRIu32, path_base(file), line);
	else
		text_str(out, "[unknown]");
}

static void write_instruction(const struct named *n, const uint64_t *key, struct text *out)
{
	names_place(n->names, key_place(key), out);
}

static void write_source(const struct named *n, const uint64_t *key, struct text *out)
{
	const struct cpu_source *source = (const void *)(uintptr_t)key[AT_SOURCE];

	(void)n;
	if (source != NULL)
		text_str(out, source->name);
}

/* By kind. A record that a writer has nothing to write of does not count. */
static void (*const writers[N_MEASURE_KINDS])(const struct named *, const uint64_t *,
					      struct text *) = {
	[MEASURE_FUNCTION] = write_function,
	[MEASURE_LINE] = write_line,
	[MEASURE_INSTRUCTION] = write_instruction,
	[MEASURE_SOURCE] = write_source,
};

static void add_named(struct named *n, enum measure_kind kind, const uint64_t *key,
		      const struct sum *sum)
{
	struct text name = { 0 };

	writers[kind](n, key, &name);
	if (name.n > 0) {
		const char *module = kind == MEASURE_SOURCE ? "" : costs_module(n, key_place(key));
		const uint64_t words[3] = { key_event(key),
					    strings_add(&n->strings, name.bytes, name.n).v,
					    strings_addz(&n->strings, module).v };
		uint32_t number = tuples_add(&n->keys, words);

		if (number == n->sums.n)
			vec_add(&n->sums);
		cost_sum_add(&n->sums.items[number], sum);
	}
	text_release(&name);
}

static const char *event_unit(const struct hot *hot, uint64_t event)
{
	if (hot_is_spe(hot, event))
		return "cycles";
	return hot_event_is_time(hot, event) ? "ns" : "events";
}

/*
 * Adds a sum as a measure. Samples are independent, so the variance of a sum is the sum of the
 * squares (Poisson).
 */
static void add_measure(struct measures *out, const struct session *s, enum measure_kind kind,
			uint64_t event, const char *name, const char *module, const struct sum *sum)
{
	const struct hot events = { .session = s, .spe_event = capture_n_events(s->capture) };

	*vec_add(&out->list) = (struct measure){
		.kind = (uint8_t)kind,
		.event = measures_text(out, hot_event_name(&events, event)),
		.name = measures_text(out, name),
		.module = measures_text(out, module),
		.unit = event_unit(&events, event),
		.value = uint128_to_double(sum->value),
		.error = sqrt(uint128_to_double(sum->squares)),
		.samples = sum->n,
		.saturated = uint128_to_double(sum->saturated),
		.n_saturated = sum->n_saturated,
	};
}

static void add_kind(struct session *s, const struct names *names, const struct costs *costs,
		     enum measure_kind kind, struct measures *out)
{
	struct named n = { .session = s, .names = names };

	strings_init(&n.strings);
	tuples_init(&n.keys, 3);
	for (uint32_t i = 0; i < costs->keys.n; i++)
		add_named(&n, kind, tuples_get(&costs->keys, i), &costs->sums.items[i]);
	for (uint32_t i = 0; i < n.keys.n; i++) {
		const uint64_t *words = tuples_get(&n.keys, i);

		add_measure(out, s, kind, words[0],
			    strings_get(&n.strings, (struct str_id){ (uint32_t)words[1] }),
			    strings_get(&n.strings, (struct str_id){ (uint32_t)words[2] }),
			    &n.sums.items[i]);
	}
	tuples_release(&n.keys);
	strings_release(&n.strings);
	vec_release(&n.sums);
}

static void add_total_measures(struct session *s, const struct costs *costs, struct measures *out)
{
	size_t n_events = capture_n_events(s->capture) + 1;
	struct sum *totals = mem_zalloc(n_events, sizeof(*totals));

	for (uint32_t i = 0; i < costs->keys.n; i++)
		cost_sum_add(&totals[key_event(tuples_get(&costs->keys, i))],
			     &costs->sums.items[i]);
	for (size_t event = 0; event < n_events; event++)
		if (totals[event].n > 0)
			add_measure(out, s, MEASURE_TOTAL, event, "total", "", &totals[event]);
	free(totals);
	measures_add_time(out, 0);
}

static void describe_run(const struct session *s, const struct costs *costs, struct measures *out)
{
	uint64_t spe_event = capture_n_events(s->capture);
	bool has_interval = spe_interval_range(s).longest > 0;

	if (out->elapsed_ns == 0) /* counts have a more exact time */
		out->elapsed_ns = s->last_ns - s->first_ns;
	out->is_modelled |= capture_spe(s->capture)->is_modelled;
	out->cpu = s->cpu != NULL ? measures_text(out, cpu_name(s->cpu)) : out->cpu;
	for (uint32_t i = 0; i < costs->keys.n && !has_interval; i++)
		out->is_unscaled |= key_event(tuples_get(&costs->keys, i)) == spe_event;
}

void measures_of_session(struct session *s, const struct select *select, uint32_t kinds,
			 struct shared_scan *first, struct measures *out)
{
	struct analysis costs = { .class = &costs_class };
	enum symbols_depth depth = kinds >> MEASURE_LINE & 1 ? SYMBOLS_LINES : SYMBOLS_FUNCTIONS;
	struct names names;

	shared_scan_add(first, &costs, &(struct scan_wish){ 0 });
	shared_scan_run(s, select, first);
	names_init(&names, s, NULL, depth);
	describe_run(s, costs.result, out);
	out->kinds |= (kinds & ~(1u << MEASURE_CYCLES)) | 1u << MEASURE_TOTAL;
	add_total_measures(s, costs.result, out);
	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		if (kinds >> kind & 1 && writers[kind] != NULL)
			add_kind(s, &names, costs.result, (enum measure_kind)kind, out);
	names_release(&names);
	costs_class.free(costs.result);
}
