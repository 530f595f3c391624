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
#include "base/hash.h"
#include "base/memory_group.h"
#include "base/path.h"
#include "base/prefetch.h"
#include "base/uint128.h"
#include "diff/measures.h"
#include "estimate/latency.h"
#include "hot/sums/sums.h"
#include "session/interval.h"
#include "session/names.h"

/* What is looked up again and again is remembered: each has a slot where it may be. */
enum {
	KNOWN_SOURCES = 256,
	NO_SOURCE = KNOWN_SOURCES,
	LARGE_SOURCE,
	KNOWN_FUNCTIONS = 1024,
};

/* The records with one key. */
struct sum {
	uint64_t n, n_saturated; /* n_saturated: with a saturated latency counter */
	struct uint128 value, squares, saturated;
};

/*
 * The same of SPE records that stand for the same number of operations each: cycles as recorded. They take half of a cache
 * line.
 */
struct spe_sum {
	uint32_t n, n_saturated;
	uint64_t cycles, squares, saturated;
};

/* Two of them in a cache line, which a vector does not see to. */
struct spe_sums {
	struct spe_sum *items;
	size_t n, cap;
};

/*
 * The result of the scan. Events and places, and data sources, have sums of their own: together there are many times as
 * many as a core's cache holds.
 */
struct costs {
	const struct session *session;
	uint64_t interval;	   /* of nearly all SPE records; 0: not known */
	uint32_t if_place;	   /* what a record has that has a place; 0: none is asked for */
	struct spe_sums spe;	   /* of SPE records with that interval, by place */
	struct tuples keys;	   /* of all others: event << 32 | place … */
	VEC_OF(struct sum) others; /* … and their sums */
	struct tuples sources;	   /* of SPE records: struct cpu_source *; … */
	struct spe_sums
		of_sources; /* … those with that interval, by number, and 1; at first of records without one; … */
	VEC_OF(struct sum) others_of_sources; /* … and of others */
	/* Of the CPU of the row before. */
	uint32_t cpu; /* UINT32_MAX: not known, and those of that */
	const struct cpu *model;
	uint64_t its_interval;
	/* By value: the number in `of_sources` + 1; 0: not looked up. The last two: of no source, and of larger values. */
	uint32_t known[KNOWN_SOURCES + 2];
};

static void costs_take_cpu(struct costs *c, uint32_t cpu)
{
	const struct cpu *model = session_cpu_of(c->session, cpu);

	if (model != c->model)
		memset(c->known, 0, sizeof(c->known));
	c->known[NO_SOURCE] = 1;
	c->cpu = cpu;
	c->model = model;
	c->its_interval = spe_interval(c->session, cpu)->mean;
}

/* Makes room for `n` sums, or more. */
static void spe_sums_reach(struct spe_sums *s, size_t n)
{
	size_t grown = s->cap + (memory_is_scarce() ? s->cap / 16 : s->cap); /* as a vector */
	struct spe_sum *items;

	if (n > s->cap) {
		s->cap = n > grown ? n : grown;
		items = mem_aligned(s->cap, sizeof(*items));
		memset(items, 0, s->cap * sizeof(*items));
		if (s->n > 0)
			memcpy(items, s->items, s->n * sizeof(*items));
		free(s->items);
		s->items = items;
	}
	s->n = n > s->n ? n : s->n;
}

static void *costs_new(const struct session *s, const void *options)
{
	struct costs *c = mem_zalloc(1, sizeof(*c));

	c->session = s;
	c->interval = spe_interval_common(s).mean;
	c->if_place = *(const bool *)options ? HAS_PC : 0;
	tuples_init(&c->keys, 1);
	tuples_init(&c->sources, 1);
	spe_sums_reach(&c->of_sources, 1);
	vec_add(&c->others_of_sources);
	costs_take_cpu(c, UINT32_MAX);
	return c;
}

static void costs_free(void *partial)
{
	struct costs *c = partial;

	if (c == NULL)
		return;
	free(c->spe.items);
	tuples_release(&c->keys);
	vec_release(&c->others);
	tuples_release(&c->sources);
	free(c->of_sources.items);
	vec_release(&c->others_of_sources);
	free(c);
}

static void cost_sum_add(struct sum *to, const struct sum *from)
{
	to->n += from->n;
	to->n_saturated += from->n_saturated;
	uint128_add(&to->value, from->value);
	uint128_add(&to->squares, from->squares);
	uint128_add(&to->saturated, from->saturated);
}

static void spe_sum_add(struct spe_sum *to, const struct spe_sum *from)
{
	to->n += from->n;
	to->n_saturated += from->n_saturated;
	to->cycles += from->cycles;
	to->squares += from->squares;
	to->saturated += from->saturated;
}

/* Half of a sum. */
typedef uint64_t sum_half __attribute__((vector_size(16)));

/* Many rows add to the same few sums, and each waits for the one before: so it is done in two steps. A full counter adds more, below. */
static inline void spe_sum_add_row(struct spe_sum *to, uint64_t total)
{
	sum_half counts, squares;

	static_assert(sizeof(*to) == sizeof(counts) + sizeof(squares), "that is all of it");
	memcpy(&counts, &to->n, sizeof(counts));
	memcpy(&squares, &to->squares, sizeof(squares));
	counts += (sum_half){ 1, total };
	squares += (sum_half){ total * total, 0 };
	memcpy(&to->n, &counts, sizeof(counts));
	memcpy(&to->squares, &squares, sizeof(squares));
}

/* Full counters are few, so that decision is hardly ever wrong. */
static inline void spe_sum_add_full(struct spe_sum *to, uint64_t total)
{
	to->n_saturated++;
	to->saturated += total;
}

/* What latencies come to of all operations that records stand for; of the records alone if the interval is unknown. */
static struct sum sum_of_spe(const struct spe_sum *s, uint64_t interval)
{
	uint64_t n = interval == 0 ? 1 : interval;

	return (struct sum){
		.n = s->n,
		.n_saturated = s->n_saturated,
		.value = uint128_product(s->cycles, n),
		.squares = uint128_times(uint128_product(s->squares, n), n),
		.saturated = uint128_product(s->saturated, n),
	};
}

static uint32_t source_number(struct costs *c, const struct cpu_source *source)
{
	const uint64_t key = (uint64_t)(uintptr_t)source;
	uint32_t number = tuples_add(&c->sources, &key) + 1;

	if (number == c->of_sources.n) {
		spe_sums_reach(&c->of_sources, (size_t)number + 1);
		vec_add(&c->others_of_sources);
	}
	return number;
}

/* The number of a data source, looked up. */
static __attribute__((noinline)) uint32_t find_source(struct costs *c, uint16_t value)
{
	uint32_t number = source_number(c, session_source(c->session, c->cpu, value));

	if (value < KNOWN_SOURCES)
		c->known[value] = number + 1;
	return number;
}

/* The number of the row's data source in `of_sources`. Which rows have one comes as it likes, so there is no decision. */
static inline uint32_t row_source(struct costs *c, const struct batch *b, size_t row)
{
	uint32_t value = b->source[row];
	uint32_t slot = value < KNOWN_SOURCES ? value : LARGE_SOURCE;
	uint32_t known = c->known[b->has[row] & HAS_SOURCE ? slot : NO_SOURCE];

	return known != 0 ? known - 1 : find_source(c, (uint16_t)value);
}

static inline uint64_t total_of_row(const struct batch *b, size_t row)
{
	return b->total[row] & -(uint64_t)((b->has[row] & HAS_TOTAL) != 0);
}

/* Without a decision, as which rows have a place is up to the capture. */
static inline uint32_t place_of_row(const struct costs *c, const struct batch *b, size_t row)
{
	return b->place[row] & -(uint32_t)((b->has[row] & c->if_place) != 0);
}

static struct sum *other_sum(struct costs *c, uint64_t event, uint32_t place)
{
	const uint64_t key = event << 32 | place;
	uint32_t number = tuples_add(&c->keys, &key);

	if (number == c->others.n)
		vec_add(&c->others);
	return &c->others.items[number];
}

/* A record of another interval. */
static __attribute__((noinline)) void add_other_spe(struct costs *c, const struct batch *b,
						    size_t row, uint32_t place, uint32_t source)
{
	uint64_t total = total_of_row(b, row);
	struct spe_sum one = { 0 };
	struct sum sum;

	spe_sum_add_row(&one, total);
	if (latency_is_full(total))
		spe_sum_add_full(&one, total);
	sum = sum_of_spe(&one, c->its_interval);
	cost_sum_add(other_sum(c, capture_n_events(c->session->capture), place), &sum);
	cost_sum_add(&c->others_of_sources.items[source], &sum);
}

/* Fetches sums of the places, after making room for them. */
static void fetch_places(struct costs *c, const struct batch *b, uint32_t places[BATCH_ROWS])
{
	const uintptr_t sums = (uintptr_t)c->spe.items; /* perhaps none, or fewer */
	uint64_t most = c->spe.n, beyond = 0;
	uint32_t last = 0;

	for (size_t row = 0; row < b->n; row++) {
		places[row] = place_of_row(c, b, row);
		beyond |= most - 1 - places[row];
		prefetch_to_write((const void *)(sums + places[row] * sizeof(struct spe_sum)));
	}
	if (beyond >> 63 == 0 && most > 0)
		return;
	for (size_t row = 0; row < b->n; row++)
		last = places[row] > last ? places[row] : last;
	spe_sums_reach(&c->spe, (size_t)last + 1);
}

static void consume_spe(struct costs *c, const struct batch *b)
{
	uint32_t places[BATCH_ROWS];

	fetch_places(c, b, places);
	for (size_t row = 0; row < b->n; row++) {
		uint32_t cpu = batch_cpu(b, row), source;
		uint64_t total = total_of_row(b, row);
		struct spe_sum *of_place, *of_source;

		if (cpu != c->cpu)
			costs_take_cpu(c, cpu);
		source = row_source(c, b, row);
		if (c->its_interval != c->interval) {
			add_other_spe(c, b, row, places[row], source);
			continue;
		}
		of_place = &c->spe.items[places[row]];
		of_source = &c->of_sources.items[source];
		spe_sum_add_row(of_place, total);
		spe_sum_add_row(of_source, total);
		if (latency_is_full(total)) {
			spe_sum_add_full(of_place, total);
			spe_sum_add_full(of_source, total);
		}
	}
}

static void consume_samples(struct costs *c, const struct batch *b)
{
	uint64_t keys[BATCH_ROWS];
	uint32_t numbers[BATCH_ROWS];

	for (size_t row = 0; row < b->n; row++)
		keys[row] = (uint64_t)b->event[row] << 32 | place_of_row(c, b, row);
	tuples_add_all(&c->keys, keys, b->n, numbers);
	while (c->others.n < c->keys.n)
		vec_add(&c->others);
	for (size_t row = 0; row < b->n; row++)
		prefetch_to_write(&c->others.items[numbers[row]]);
	for (size_t row = 0; row < b->n; row++) {
		const struct sum sum = {
			.n = 1,
			.value = { .low = b->period[row] },
			.squares = uint128_product(b->period[row], b->period[row]),
		};

		cost_sum_add(&c->others.items[numbers[row]], &sum);
	}
}

static void costs_consume(void *partial, const struct batch *b)
{
	if (b->kind == BATCH_SPE)
		consume_spe(partial, b);
	else
		consume_samples(partial, b);
}

static void costs_merge(void *into, const void *from, const struct id_map *map)
{
	const struct costs *part = from;
	struct costs *c = into;

	(void)map;
	if (part->spe.n > 0) /* room; costs_merge_part() adds them up */
		spe_sums_reach(&c->spe, part->spe.n);
	for (uint32_t i = 0; i < part->keys.n; i++) {
		uint64_t key = tuples_get(&part->keys, i)[0];

		cost_sum_add(other_sum(c, key >> 32, (uint32_t)key), &part->others.items[i]);
	}
	for (uint32_t i = 0; i < part->sources.n; i++) {
		const struct cpu_source *source =
			(const void *)(uintptr_t)tuples_get(&part->sources, i)[0];
		uint32_t number = source_number(c, source);

		spe_sum_add(&c->of_sources.items[number], &part->of_sources.items[i + 1]);
		cost_sum_add(&c->others_of_sources.items[number],
			     &part->others_of_sources.items[i + 1]);
	}
}

static void costs_merge_part(void *into, const void *from, size_t part, size_t n_parts)
{
	const struct costs *other = from;
	struct costs *c = into;
	size_t end = c->spe.n * (part + 1) / n_parts; /* parts are disjoint: workers do not meet */

	for (size_t i = c->spe.n * part / n_parts; i < end && i < other->spe.n; i++)
		spe_sum_add(&c->spe.items[i], &other->spe.items[i]);
}

/* Options: bool, whether places are asked for. Result: struct costs. */
static const struct analysis_class costs_class = {
	.new = costs_new,
	.free = costs_free,
	.consume = costs_consume,
	.merge = costs_merge,
	.merge_part = costs_merge_part,
};

/* The sum of an event at a place. */
struct cost {
	uint64_t event; /* SPE: the number behind the last event */
	uint32_t place;
	struct sum sum;
};

static size_t n_costs(const struct costs *c)
{
	return c->spe.n + c->keys.n;
}

/* Of a place without records the sum is of none. */
static struct cost cost_at(const struct costs *c, size_t i)
{
	uint64_t key;

	if (i < c->spe.n)
		return (struct cost){ capture_n_events(c->session->capture), (uint32_t)i,
				      sum_of_spe(&c->spe.items[i], c->interval) };
	i -= c->spe.n;
	key = tuples_get(&c->keys, (uint32_t)i)[0];
	return (struct cost){ key >> 32, (uint32_t)key, c->others.items[i] };
}

/* Sums by name. */
struct named {
	struct session *session;
	const struct names *names;
	struct strings strings;
	struct tuples keys; /* event, name, module */
	VEC_OF(struct sum) sums;

	/* What functions were found to be: their names are always where they were. */
	struct known_function {
		const char *name, *module;
		uint64_t event;
		uint32_t number; /* in `keys`, and 1; 0: none */
	} known[KNOWN_FUNCTIONS];
};

static const char *costs_module(const struct named *n, uint32_t place)
{
	struct place p = session_place(n->session, place);

	return names_module(n->session, p.module);
}

static uint32_t named_number(struct named *n, uint64_t event, const char *name, const char *module)
{
	const uint64_t words[3] = { event, strings_addz(&n->strings, name).v,
				    strings_addz(&n->strings, module).v };
	uint32_t number = tuples_add(&n->keys, words);

	if (number == n->sums.n)
		vec_add(&n->sums);
	return number;
}

static uint32_t function_number(struct named *n, const struct cost *c)
{
	const char *name = names_function(n->names, c->place), *module = costs_module(n, c->place);
	uint64_t hash = hash_mix((uintptr_t)name, (uintptr_t)module ^ c->event);
	struct known_function *known = &n->known[hash % KNOWN_FUNCTIONS];

	if (known->number == 0 || known->name != name || known->module != module ||
	    known->event != c->event)
		*known = (struct known_function){
			name,
			module,
			c->event,
			named_number(n, c->event, name, module) + 1,
		};
	return known->number - 1;
}

/* The file without its directory, which may differ between builds. */
static void write_line(const struct named *n, uint32_t place, struct text *out)
{
	const char *file;
	uint32_t line;

	if (names_line(n->names, place, &file, &line))
		text_format(out, "%s:%" PRIu32, path_base(file), line);
	else
		text_str(out, "[unknown]");
}

static uint32_t place_number(struct named *n, enum measure_kind kind, const struct cost *c)
{
	struct text name = { 0 };
	uint32_t number;

	if (kind == MEASURE_LINE)
		write_line(n, c->place, &name);
	else
		names_place(n->names, c->place, &name);
	text_char(&name, '\0');
	number = named_number(n, c->event, name.bytes, costs_module(n, c->place));
	text_release(&name);
	return number;
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

static void add_named_measures(const struct named *n, enum measure_kind kind, struct measures *out)
{
	for (uint32_t i = 0; i < n->keys.n; i++) {
		const uint64_t *words = tuples_get(&n->keys, i);

		add_measure(out, n->session, kind, words[0],
			    strings_get(&n->strings, (struct str_id){ (uint32_t)words[1] }),
			    strings_get(&n->strings, (struct str_id){ (uint32_t)words[2] }),
			    &n->sums.items[i]);
	}
}

static void sum_by_place(struct named *n, const struct costs *costs, enum measure_kind kind)
{
	for (size_t i = 0; i < n_costs(costs); i++) {
		const struct cost c = cost_at(costs, i);
		uint32_t number;

		if (c.sum.n == 0)
			continue;
		number = kind == MEASURE_FUNCTION ? function_number(n, &c)
						  : place_number(n, kind, &c);
		cost_sum_add(&n->sums.items[number], &c.sum);
	}
}

/* Records whose source has no name do not count. */
static void sum_by_source(struct named *n, const struct costs *costs)
{
	uint64_t event = capture_n_events(n->session->capture);

	for (uint32_t i = 0; i < costs->sources.n; i++) {
		const struct cpu_source *source =
			(const void *)(uintptr_t)tuples_get(&costs->sources, i)[0];
		struct sum sum;
		uint32_t number;

		if (source == NULL || source->name[0] == '\0')
			continue;
		number = named_number(n, event, source->name, "");
		sum = sum_of_spe(&costs->of_sources.items[i + 1], costs->interval);
		cost_sum_add(&n->sums.items[number], &sum);
		cost_sum_add(&n->sums.items[number], &costs->others_of_sources.items[i + 1]);
	}
}

static void add_kind(struct session *s, const struct names *names, const struct costs *costs,
		     enum measure_kind kind, struct measures *out)
{
	struct named n = { .session = s, .names = names };

	strings_init(&n.strings);
	tuples_init(&n.keys, 3);
	if (kind == MEASURE_SOURCE)
		sum_by_source(&n, costs);
	else
		sum_by_place(&n, costs, kind);
	add_named_measures(&n, kind, out);
	tuples_release(&n.keys);
	strings_release(&n.strings);
	vec_release(&n.sums);
}

static void add_total_measures(struct session *s, const struct costs *costs, struct measures *out)
{
	size_t n_events = capture_n_events(s->capture) + 1;
	struct sum *totals = mem_zalloc(n_events, sizeof(*totals));

	for (size_t i = 0; i < n_costs(costs); i++) {
		const struct cost c = cost_at(costs, i);

		cost_sum_add(&totals[c.event], &c.sum);
	}
	for (size_t event = 0; event < n_events; event++)
		if (totals[event].n > 0)
			add_measure(out, s, MEASURE_TOTAL, event, "total", "", &totals[event]);
	free(totals);
	measures_add_time(out, 0);
}

static void describe_run(const struct session *s, const struct costs *costs, struct measures *out)
{
	bool has_interval = spe_interval_range(s).longest > 0;

	if (out->elapsed_ns == 0) /* counts have a more exact time */
		out->elapsed_ns = s->last_ns - s->first_ns;
	out->is_modelled |= capture_spe(s->capture)->is_modelled;
	out->cpu = s->cpu != NULL ? measures_text(out, cpu_name(s->cpu)) : out->cpu;
	out->is_unscaled |= costs->spe.n > 0 && !has_interval;
}

void measures_of_session(struct session *s, const struct select *select, uint32_t kinds,
			 struct shared_scan *first, struct measures *out)
{
	const uint32_t of_code =
		1u << MEASURE_FUNCTION | 1u << MEASURE_LINE | 1u << MEASURE_INSTRUCTION;
	/* whoever shares data is code, too */
	bool with_places = (kinds & (of_code | 1u << MEASURE_SHARED)) != 0;
	struct analysis costs = { .class = &costs_class, .options = &with_places };
	enum symbols_depth depth = kinds >> MEASURE_LINE & 1 ? SYMBOLS_LINES : SYMBOLS_FUNCTIONS;
	struct names names = { 0 };

	shared_scan_add(first, &costs,
			&(struct scan_wish){
				.without_places = !with_places,
				.without_addresses = true,
				.without_translation = true,
			});
	shared_scan_run(s, select, first);
	if (with_places)
		names_init(&names, s, NULL, depth);
	describe_run(s, costs.result, out);
	out->kinds |= (kinds & ~(1u << MEASURE_CYCLES)) | 1u << MEASURE_TOTAL;
	add_total_measures(s, costs.result, out);
	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		if (kinds >> kind & 1 && (kind == MEASURE_SOURCE || of_code >> kind & 1))
			add_kind(s, &names, costs.result, (enum measure_kind)kind, out);
	names_release(&names);
	costs_class.free(costs.result);
}
