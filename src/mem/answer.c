/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/answer.h"

#include <stdlib.h>

#include "access/samples.h"
#include "access/vector_length.h"
#include "base/alloc.h"
#include "callers/callers.h"
#include "keys/keys.h"
#include "mem/levels.h"
#include "mem/parts.h"
#include "mem/rows.h"
#include "mem/summary.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"
#include "session/tip.h"
#include "session/without_spe.h"
#include "table/answer.h"

/* What the scan is asked for. */
enum part { MEM, CLOCK, VECTORS, LEVELS, N_PARTS };

/* What memory operations are grouped by. */
enum grouping { BY_EVENTS, BY_PLACE, N_GROUPINGS };

enum { BRIEF_TOP = 5 };

static const struct keys by_source = { { KEY_SOURCE }, 1 };
static const struct keys by_function = { { KEY_FUNCTION }, 1 };
static const struct keys by_address = { { KEY_PLACE }, 1 };

/* Everything between the request and its tables. */
struct making {
	struct session *s;
	const struct select *select;
	const struct mem_request *request;
	struct mem_report *out;
	const struct keys *by;
	struct mem_options options[N_GROUPINGS];
	struct mem_set_options set;
	struct analysis parts[N_PARTS];
	struct core_clock clock;
	struct names names;
	struct access_sizes sizes;
	struct mem_rows rows;
	struct mem_rows functions; /* if no key was asked for */
};

static const struct mem_set *set_of(const struct making *m)
{
	return m->parts[MEM].result;
}

static const struct mem *mem_of(const struct making *m, enum grouping grouping)
{
	return &set_of(m)->list[grouping];
}

static uint32_t dimensions_of(const struct keys *keys)
{
	return keys_dimensions(keys) & ~(1u << DIM_EVENT);
}

/* Are there so many places or callers that distributions of all would take too much? */
static bool has_many_rows(const struct making *m)
{
	return (dimensions_of(m->by) & (1u << DIM_PLACE | 1u << DIM_CALLER)) != 0;
}

static void prepare(struct making *m)
{
	uint32_t by = dimensions_of(m->by);
	uint32_t slices = m->s->slices.n > 0 ? 1u << DIM_SLICE : 0;
	bool is_simple = !has_many_rows(m);

	m->options[BY_EVENTS].dimensions = 1u << DIM_EVENTS | (is_simple ? by : 0);
	m->options[BY_EVENTS].with_histograms = is_simple;
	m->options[BY_EVENTS].only_total = m->request->only_total_percentiles;
	m->options[BY_PLACE].dimensions = 1u << DIM_PLACE | 1u << DIM_VECTOR | by | slices;
	m->options[BY_PLACE].only_total = m->request->only_total_percentiles;
	m->options[BY_PLACE].groups_bytes =
		m->request->groups_bytes > 0 ? m->request->groups_bytes : mem_groups_bytes(m->s);
	m->set = (struct mem_set_options){ m->options, N_GROUPINGS };
	m->parts[MEM] = (struct analysis){ .class = &mem_set_class, .options = &m->set };
	m->parts[CLOCK] = (struct analysis){ .class = &clock_pairs_class };
	m->parts[VECTORS] = (struct analysis){ .class = &vector_length_class };
	m->parts[LEVELS] = (struct analysis){ .class = &load_levels_class };
}

/* Records of prefetch instructions are those of loads. */
static void note_prefetches(const struct mem_rows *rows, struct table *t)
{
	const struct mem_cost *all = &rows->kinds[MEMORY_LOAD], *some = &rows->prefetches;
	char n[GROUPED_BYTES], of[GROUPED_BYTES];

	if (some->n > 0 && mem_weight(all) > 0)
		table_note(t,
			   "%s of %s loads are prefetch instructions, which nothing waits for: "
			   "%.1f %% of "
			   "load latency",
			   grouped_u64(some->n, n), grouped_u64(all->n, of),
			   100 * (double)mem_weight(some) / (double)mem_weight(all));
}

/* Where no function is known, a person is shown addresses. */
static bool shows_addresses(const struct making *m)
{
	return !m->request->for_programs && !names_have_functions(&m->names);
}

/* Groups are read for all rows at once. */
static void group_rows(struct making *m)
{
	const struct mem_request *request = m->request;
	bool shows_all = request->sort != NULL || request->with_loads;
	const struct mem_rows_wish wishes[] = {
		{ &m->rows, m->by, shows_all ? 0 : request->top },
		{ &m->functions, shows_addresses(m) ? &by_address : &by_function,
		  request->top > BRIEF_TOP ? BRIEF_TOP : request->top },
	};

	mem_rows_init_some(wishes, request->by.n == 0 ? 2 : 1, mem_of(m, BY_PLACE), &m->names,
			   &m->sizes);
}

static int make_rows(struct making *m, struct err *err)
{
	const struct mem_request *request = m->request;
	struct mem_view view = {
		.name = request->by.n > 0 ? "mem" : "sources",
		.title = request->by.n > 0 ? NULL : "Data sources",
		.clock = &m->clock,
		.length_ns = mem_set_length_ns(set_of(m)),
		.sort = request->sort,
		.top = request->top,
	};
	const struct mem *by_events = mem_of(m, BY_EVENTS);
	uint32_t n_without = 0;

	if (by_events->options->with_histograms)
		mem_rows_take_histograms(&m->rows, by_events);
	else
		n_without = mem_rows_detail(&m->rows, m->s, m->select);
	if (request->with_loads)
		mem_loads_take(&m->out->loads, m->s, &m->rows);
	if (mem_table(&m->rows, &view, &m->out->rows, err) < 0)
		return -1;
	note_prefetches(&m->rows, &m->out->rows);
	if (n_without > 0)
		table_note(&m->out->rows, "percentiles: only of the first %d rows",
			   MEM_ROWS_DETAILED);
	return 0;
}

/* The functions with most latency, without distributions: those would take a second pass. */
static int make_functions(struct making *m, struct err *err)
{
	const struct mem_view view = {
		.name = "functions",
		.title = shows_addresses(m) ? "Addresses" : "Functions",
		.clock = &m->clock,
		.length_ns = mem_set_length_ns(set_of(m)),
	};
	int rc = mem_table(&m->functions, &view, &m->out->functions, err);

	mem_summary_functions(&m->functions, &m->out->answer);
	return rc;
}

static void mem_answer_show(struct making *m, struct table *t)
{
	*vec_add(&m->out->shown.list) = t;
}

/*
 * The tables of all operations, shown if no key was asked for. Where nothing waits for translation, and
 * which events go together, is on the screen with --all.
 */
static int make_overview(struct making *m, struct err *err)
{
	const struct mem *by_events = mem_of(m, BY_EVENTS);

	bool is_screen = !m->request->for_programs;
	bool has_walks = mem_translation_table(by_events, &m->out->translation);

	mem_events_table(by_events, m->request->top, &m->out->events);
	if (make_functions(m, err) < 0)
		return -1;
	mem_answer_show(m, &m->out->functions);
	if (has_walks || !is_screen || m->request->top == 0)
		mem_answer_show(m, &m->out->translation);
	if (!is_screen || m->request->top == 0)
		mem_answer_show(m, &m->out->events);
	return 0;
}

/* What all of it adds up to; of samples it would be all gaps. */
static void make_region(struct making *m)
{
	const struct mem_region region = {
		.set = set_of(m),
		.rows = &m->rows,
		.clock = &m->clock,
		.vectors = m->sizes.n_scalable > 0 ? m->parts[VECTORS].result : NULL,
		.vector_bits = m->request->vector_bits,
		.select = m->select,
		.name = m->request->region,
	};

	if (access_is_sampled(m->s) && !m->request->for_programs)
		return;
	mem_region_table(&region, &m->out->region);
	if (!access_is_sampled(m->s) && m->request->for_programs) /* people have read it above */
		spe_filters_note(m->s, &m->out->region);
	mem_answer_show(m, &m->out->region);
}

static void note_callers(const struct making *m)
{
	if (!access_is_sampled(m->s) && callers_known_of_all(m->s).n_records == 0)
		table_note(&m->out->rows,
			   "callers are not known: the capture has no samples with call chains of "
			   "these functions; cyclops record --spe takes them. Who calls whom, "
			   "how often: %s",
			   tip(&m->out->rows, m->s, "calls"));
	callers_note(m->s, &m->out->rows);
}

/* What answers most comes first: people stop reading. */
static int mem_answer_make_tables(struct making *m, struct err *err)
{
	bool is_sampled = access_is_sampled(m->s);

	group_rows(m);
	if (make_rows(m, err) < 0)
		return -1;
	answer_init(&m->out->answer);
	if (m->request->by.n == 0) {
		mem_answer_show(m, &m->out->answer);
		mem_summary_sources(&m->rows, &m->out->answer);
	} else {
		mem_answer_show(m, &m->out->answer);
		mem_summary_keys(&m->rows, &m->out->answer);
	}
	if (!is_sampled && !capture_spe(m->s->capture)->is_present)
		answer_say(&m->out->answer,
			   "What memory costs is not known: no record of this capture has a data "
			   "source.");
	mem_answer_show(m, &m->out->rows);
	if (keys_have(m->by, KEY_CALLER))
		note_callers(m);
	if (is_sampled)
		access_samples_note(m->s, &m->out->rows);
	else
		note_without_memory(m->s, &m->out->rows);
	if (!is_sampled && !capture_spe(m->s->capture)->is_present && !m->request->for_programs)
		return 0;
	if (!is_sampled)
		spe_filters_note(m->s, &m->out->rows);
	if (!is_sampled)
		access_samples_note_unused(m->s, &m->out->rows);
	if (m->request->for_programs)
		make_region(m);
	if (m->request->with_histogram) {
		mem_histogram_table(&m->rows, &m->out->histogram);
		mem_answer_show(m, &m->out->histogram);
	}
	if (m->request->by.n == 0 && make_overview(m, err) < 0)
		return -1;
	if (!m->request->for_programs)
		make_region(m);
	if (m->request->with_levels && !is_sampled) {
		load_levels_table(m->parts[LEVELS].result, &m->clock, m->select, &m->out->levels);
		mem_answer_show(m, &m->out->levels);
	}
	return 0;
}

/* The slowest level beside the fastest one. */
static void say_slowest_level(const struct table *levels, struct table *answer)
{
	int level = table_column(levels, "level"), cycles = table_column(levels, "cycles");
	const struct cell *first = NULL, *last = NULL;
	const char *name = NULL;

	answer_init(answer);
	for (size_t row = 0; row < table_n_rows(levels); row++) {
		const struct cell *cell = table_cell(levels, row, (size_t)cycles);

		if (cell->type == CELL_NONE ||
		    table_cell(levels, row, (size_t)level)->type == CELL_NONE)
			continue;
		if (first == NULL)
			first = cell;
		if (last != NULL && cell->number <= last->number)
			continue;
		last = cell;
		name = table_cell(levels, row, (size_t)level)->text;
	}
	if (last != NULL && last != first)
		answer_say(answer, "A load from %s takes %s, %.3g times as long as the fastest.",
			   name, table_human(answer, *last, "cycles"),
			   last->number / first->number);
}

static int make_levels(struct session *s, const struct select *select,
		       const struct mem_request *request, struct mem_report *out)
{
	struct core_clock clock = request->clock;
	struct analysis parts[] = { { .class = &load_levels_class },
				    { .class = &clock_pairs_class } };

	scan_part(s, select, &(struct scan_wish){ .only_memory = true }, parts, COUNT(parts));
	if (clock.basis == CLOCK_UNKNOWN)
		clock = core_clock_derived(parts[1].result);
	load_levels_table(parts[0].result, &clock, select, &out->levels);
	if (table_n_rows(&out->levels) == 0)
		note_without_memory(s, &out->levels);
	say_slowest_level(&out->levels, &out->answer);
	*vec_add(&out->shown.list) = &out->answer;
	*vec_add(&out->shown.list) = &out->levels;
	for (size_t i = 0; i < COUNT(parts); i++)
		parts[i].class->free(parts[i].result);
	return 0;
}

int mem_report_make(struct session *s, const struct select *select,
		    const struct mem_request *request, struct mem_report *out, struct err *err)
{
	struct making m = {
		.s = s,
		.select = select,
		.request = request,
		.out = out,
		.by = request->by.n > 0 ? &request->by : &by_source,
		.clock = request->clock,
	};
	struct keys named = *m.by;
	struct scan_wish wish;
	bool by_caller, *places;
	int rc;

	if (request->by_level)
		return make_levels(s, select, request, out);
	by_caller = keys_have(m.by, KEY_CALLER);
	if (by_caller)
		callers_estimate(s);
	prepare(&m);
	/* a record's callers depend on all records around it */
	wish = (struct scan_wish){ .only_memory = !by_caller,
				   .without_addresses = !by_caller && !request->with_levels };
	scan_part(s, select, &wish, m.parts, request->with_levels ? N_PARTS : LEVELS);
	if (m.clock.basis == CLOCK_UNKNOWN)
		m.clock = core_clock_derived(m.parts[CLOCK].result);
	if (request->by.n == 0)
		named.keys[named.n++] = KEY_FUNCTION;
	places = mem_places(s, mem_of(&m, BY_PLACE));
	mem_names(s, places, &named, &m.names);
	access_sizes_init(&m.sizes, s, places);
	free(places);
	names_forget_order(&m.names);
	if (!has_many_rows(&m)) /* else these places are looked up once more: mem_rows_detail() */
		place_numbers_forget_index(s->places);
	m.sizes.vector_bits = vector_length_bits(m.parts[VECTORS].result, request->vector_bits);
	rc = mem_set_check(set_of(&m), err);
	if (rc == 0)
		rc = mem_answer_make_tables(&m, err);
	mem_rows_release(&m.rows);
	mem_rows_release(&m.functions);
	access_sizes_release(&m.sizes);
	names_release(&m.names);
	for (int i = 0; i < N_PARTS; i++)
		m.parts[i].class->free(m.parts[i].result);
	return rc;
}

void mem_report_release(struct mem_report *r)
{
	struct table *const tables[] = { &r->answer, &r->rows,	 &r->functions, &r->translation,
					 &r->events, &r->region, &r->histogram, &r->levels };

	for (size_t i = 0; i < COUNT(tables); i++)
		table_release(tables[i]);
	vec_release(&r->shown.list);
	mem_loads_release(&r->loads);
}
