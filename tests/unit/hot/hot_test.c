/* SPDX-License-Identifier: Apache-2.0 */
/* Hotspots: groups, weights, callers and order, against captures with known sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/random.h"
#include "../session/fixture.h"
#include "hot/event.h"
#include "hot/hot.h"
#include "hot/sums/group.h"
#include "scan/scan.h"
#include "table/format.h"

#define EV(bit) (1ull << SPE_EV_##bit)

/* main (0x400100) calls work (0x400200) calls leaf (0x400300); addresses of the return. */
static const uint64_t leaf_chain[] = { 0x400300, 0x400204, 0x400104 };
static const uint64_t work_chain[] = { 0x400200, 0x400104 };
static const uint64_t recursion[] = { 0x400300, 0x400304, 0x400304, 0x400104 };

/* Each word of a key is what it is alone. */
static void check_key(const struct hot *hot, uint32_t group)
{
	uint64_t key[N_DIMENSIONS];

	hot_key(hot, group, key);
	for (int i = 0; i < N_DIMENSIONS; i++)
		assert_int_equal(hot_key_word(hot, group, (enum dimension)i), key[i]);
}

/* What is kept by rest is what the groups come to. */
static void check_rests(const struct hot *hot)
{
	struct hot_cost *totals = hot_totals(hot);
	bool has_chains = false;

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		const struct hot_cost cost = hot_cost(hot, i);
		struct hot_cost *left = &totals[hot_key_word(hot, i, DIM_EVENT)];

		check_key(hot, i);
		has_chains |= hot_is_folded(hot, i) || hot_key_word(hot, i, DIM_FRAME) != 0;
		assert_true(left->n >= cost.n && left->period >= cost.period);
		left->n -= cost.n;
		left->period -= cost.period;
		left->n_branches -= cost.n_branches;
	}
	for (uint64_t event = 0; event < hot_event_end(hot); event++) {
		assert_int_equal(totals[event].n, 0);
		assert_int_equal(totals[event].period, 0);
		assert_int_equal(totals[event].n_branches, 0);
	}
	assert_int_equal(hot_has_chains(hot), has_chains);
	free(totals);
}

/* The table as csv, for comparing. */
static char *hot_csv(struct session *s, const char *keys, const struct hot_options *with,
		     const struct hot_view *how)
{
	struct hot_options options = *with;
	struct hot_view view = *how;
	struct analysis hot = { .class = &hot_class, .options = &options };
	const struct document document = { .command = "hot", .version = "0" };
	struct names names;
	struct table table;
	struct tables tables = { 0 };
	struct text text = { 0 };
	struct err err;

	assert_int_equal(keys_parse(keys, &view.keys, &err), 0);
	view.name = "hot";
	options.dimensions = keys_dimensions(&view.keys) | 1u << DIM_FRAME;
	scan(s, NULL, &hot, 1);
	check_rests(hot.result);
	hot_names(s, hot.result, &view.keys, &names);
	assert_int_equal(hot_table(hot.result, &names, &view, &table, &err), 0);
	*vec_add(&tables.list) = &table;
	format_document(&format_csv, &document, &tables, &text);
	text_char(&text, '\0');
	vec_release(&tables.list);
	table_release(&table);
	names_release(&names);
	hot_class.free(hot.result);
	return text.bytes;
}

static const struct hot_options everything = { .event = -1 };

/* The same with chains in memory, and with all of them in a file. */
static void expect(struct session *s, const char *keys, const struct hot_options *options,
		   const struct hot_view *view, const char *expected)
{
	struct hot_options folding = *options;
	char *csv = hot_csv(s, keys, options, view), *folded;

	folding.chains_bytes = 1;
	folded = hot_csv(s, keys, &folding, view);
	assert_string_equal(csv, expected);
	assert_string_equal(folded, expected);
	free(csv);
	free(folded);
}

static void test_spe_keys(void **state)
{
	struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | EV(L1D_REFILL), 300, 1000),
		spe_of(0x400010, ALPHA_THREAD, SPE_OP_LDST, EV(RETIRED), 100, 2000),
		spe_of(0x400010, BETA, SPE_OP_BRANCH, EV(RETIRED), 50, 3000),
		spe_of(0x400020, BETA, SPE_OP_OTHER, EV(RETIRED), 4095, 4000),
	};
	const char *const refill = "l1d-refill";
	struct hot_event event;
	struct session s;
	struct err err;

	(void)state;
	r[0].has |= HAS_SOURCE;
	r[0].source = 0xe;
	open_fixture(&(struct contents){ .records = r, .n_records = COUNT(r) }, 2, &s);
	expect(&s, "process", &everything, &(struct hot_view){ .top = 0 },
	       "process,pid,share,share_trust,samples,period,latency_cycles,latency_cycles_trust,"
	       "mean_latency_cycles,mean_latency_cycles_trust\n"
	       "beta,200,0.911991199119912,sparse,2,,4145,saturated,2072.5,saturated\n"
	       "alpha,100,0.08800880088008801,sparse,2,,400,exact,200,exact\n");
	expect(&s, "thread", &everything, &(struct hot_view){ .top = 2 },
	       "thread,tid,share,share_trust,samples,period,latency_cycles,latency_cycles_trust,"
	       "mean_latency_cycles,mean_latency_cycles_trust\n"
	       "beta,200,0.911991199119912,sparse,2,,4145,saturated,2072.5,saturated\n"
	       "alpha,100,0.066006600660066,sparse,1,,300,exact,300,exact\n");
	expect(&s, "source", &everything, &(struct hot_view){ .by_samples = true },
	       "source,share,share_trust,samples,period,latency_cycles,latency_cycles_trust,"
	       "mean_latency_cycles,mean_latency_cycles_trust\n"
	       ",0.75,sparse,3,,4245,saturated,1415,saturated\n"
	       "DRAM,0.25,sparse,1,,300,exact,300,exact\n");
	assert_int_equal(hot_event_choose(&s, &refill, 1, NULL, &event, &err), 0);
	expect(&s, "place",
	       &(struct hot_options){
		       .event = -1, .condition = event.condition, .without_samples = true },
	       &(struct hot_view){ .by_samples = true },
	       "module,offset,share,share_trust,samples,period,latency_cycles,"
	       "latency_cycles_trust,mean_latency_cycles,mean_latency_cycles_trust\n"
	       "alpha,0x10,1,sparse,1,,300,exact,300,exact\n");
	hot_event_release(&event);
	close_fixture(&s);
}

/* The list has every event bit of the records, by number where it has no name. */
static void test_event_list(void **state)
{
	struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | 1ull << 12, 30, 1000),
		spe_of(0x400014, ALPHA, SPE_OP_LDST, EV(RETIRED) | 1ull << 12 | 1ull << 63, 20,
		       2000),
		/* unconditional: taken, whatever the hardware says */
		spe_of(0x400018, BETA, SPE_OP_BRANCH, EV(RETIRED) | EV(NOT_TAKEN), 10, 3000),
	};
	const struct sample sample = sample_of(EVENT_CYCLES, 0x400010, ALPHA, 900, NULL, 0);
	const struct document document = { .command = "hot", .version = "0" };
	struct tables tables = { 0 };
	struct text text = { 0 };
	struct table table;
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ r, COUNT(r), &sample, 1 }, 1, &s);
	hot_event_list(&s, NULL, &table);
	*vec_add(&tables.list) = &table;
	format_document(&format_csv, &document, &tables, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, "event,records,samples,share\n"
					"cycles,samples,1,\n"
					"RETIRED,arm_spe,3,1\n"
					"NOT-TAKEN,arm_spe,1,0.3333333333333333\n"
					"spe,arm_spe,3,1\n"
					"taken,arm_spe,1,0.3333333333333333\n"
					"load,arm_spe,2,0.6666666666666666\n"
					"branch,arm_spe,1,0.3333333333333333\n"
					"impdef:12,arm_spe,2,0.6666666666666666\n"
					"impdef:63,arm_spe,1,0.3333333333333333\n");
	text_release(&text);
	vec_release(&tables.list);
	table_release(&table);
	close_fixture(&s);
}

/* One record has a share, too. */
static void test_event_list_of_one(void **state)
{
	struct spe_record r[] = { spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED), 30, 1000) };
	struct table table;
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .records = r, .n_records = 1 }, 1, &s);
	hot_event_list(&s, NULL, &table);
	assert_int_equal(table_n_rows(&table), 3); /* RETIRED, spe, load */
	for (size_t row = 0; row < table_n_rows(&table); row++)
		assert_true(table_cell(&table, row, 3)->number == 1);
	table_release(&table);
	close_fixture(&s);
}

static void test_operations(void **state)
{
	struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED), 30, 1000),
		spe_of(0x400014, ALPHA, SPE_OP_LDST, EV(RETIRED), 20, 2000),
		spe_of(0x400018, ALPHA, SPE_OP_BRANCH, EV(RETIRED) | EV(NOT_TAKEN), 10, 3000),
	};
	struct session s;

	(void)state;
	r[2].op = 1;
	open_fixture(&(struct contents){ .records = r, .n_records = COUNT(r) }, 1, &s);
	expect(&s, "operation,event", &everything, &(struct hot_view){ .top = 0 },
	       "operation,events,share,share_trust,samples,period,latency_cycles,"
	       "latency_cycles_trust,mean_latency_cycles,mean_latency_cycles_trust\n"
	       "LD GP-REG,RETIRED,0.8333333333333334,sparse,2,,50,exact,25,exact\n"
	       "B COND,RETIRED:NOT-TAKEN,0.16666666666666666,sparse,1,,10,exact,10,exact\n");
	close_fixture(&s);
}

/* Samples weigh their period; each event has its own total and its own top rows. */
static void test_events(void **state)
{
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, 0x400010, ALPHA, 900, NULL, 0),
		sample_of(EVENT_CYCLES, 0x400010, BETA, 100, NULL, 0),
		sample_of(EVENT_MISSES, 0x400010, BETA, 7, NULL, 0),
	};
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 1, &s);
	expect(&s, "process", &everything, &(struct hot_view){ .top = 1 },
	       "event,process,pid,share,share_trust,samples,period,latency_cycles,"
	       "latency_cycles_trust,mean_latency_cycles,mean_latency_cycles_trust\n"
	       "cycles,alpha,100,0.9,sparse,1,900,,,,\n"
	       "cache-misses,beta,200,1,sparse,1,7,,,,\n");
	expect(&s, "process", &(struct hot_options){ .event = EVENT_MISSES },
	       &(struct hot_view){ .top = 1 },
	       "process,pid,share,share_trust,samples,period,latency_cycles,latency_cycles_trust,"
	       "mean_latency_cycles,mean_latency_cycles_trust\n"
	       "beta,200,1,sparse,1,7,,,,\n");
	close_fixture(&s);
}

/* Everything below main is main's, once, also in a recursion; callers and callees are trees. */
static void test_callers(void **state)
{
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, 0x400300, ALPHA, 60, leaf_chain, COUNT(leaf_chain)),
		sample_of(EVENT_CYCLES, 0x400200, ALPHA, 30, work_chain, COUNT(work_chain)),
		sample_of(EVENT_CYCLES, 0x400300, ALPHA, 10, recursion, COUNT(recursion)),
	};
	struct session s;
	char *csv;

	(void)state;
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 2, &s);
	csv = hot_csv(&s, "place", &everything,
		      &(struct hot_view){ .with_callers = true, .sort = NULL });
	assert_string_equal(
		csv, "module,offset,share,share_trust,total_share,samples,period,latency_cycles,"
		     "latency_cycles_trust,mean_latency_cycles,mean_latency_cycles_trust,"
		     "row,parent_row\n"
		     "alpha,0x300,0.7,sparse,0.7,2,70,,,,,0,\n"
		     "alpha,0x203,0.6,sparse,,1,60,,,,,1,0\n"
		     "alpha,0x103,0.6,sparse,,1,60,,,,,2,1\n"
		     "alpha,0x303,0.1,sparse,,1,10,,,,,3,0\n"
		     "alpha,0x103,0.1,sparse,,1,10,,,,,4,3\n"
		     "alpha,0x200,0.3,sparse,0.3,1,30,,,,,5,\n"
		     "alpha,0x103,0.3,sparse,,1,30,,,,,6,5\n"
		     "alpha,0x103,0,sparse,1,0,0,,,,,7,\n"
		     "alpha,0x203,0,sparse,0.6,0,0,,,,,8,\n"
		     "alpha,0x303,0,sparse,0.1,0,0,,,,,9,\n");
	free(csv);
	csv = hot_csv(&s, "place", &everything, &(struct hot_view){ .with_call_tree = true });
	assert_string_equal(
		csv, "module,offset,share,share_trust,total_share,samples,period,latency_cycles,"
		     "latency_cycles_trust,mean_latency_cycles,mean_latency_cycles_trust,"
		     "row,parent_row\n"
		     "alpha,0x103,0,sparse,1,0,0,,,,,0,\n"
		     "alpha,0x203,0,sparse,0.6,0,0,,,,,1,0\n"
		     "alpha,0x300,0.6,sparse,0.6,1,60,,,,,2,1\n"
		     "alpha,0x200,0.3,sparse,0.3,1,30,,,,,3,0\n"
		     "alpha,0x303,0,sparse,0.1,0,0,,,,,4,0\n"
		     "alpha,0x300,0.1,sparse,0.1,1,10,,,,,5,4\n");
	free(csv);
	close_fixture(&s);
}

/* What is called is in the total once, however often its chain has it, in memory or in a file. */
static void test_totals_of_chains(void **state)
{
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, 0x400300, ALPHA, 60, leaf_chain, COUNT(leaf_chain)),
		sample_of(EVENT_CYCLES, 0x400200, ALPHA, 30, work_chain, COUNT(work_chain)),
		sample_of(EVENT_CYCLES, 0x400300, ALPHA, 10, recursion, COUNT(recursion)),
		sample_of(EVENT_CYCLES, 0x400300, ALPHA, 60, leaf_chain, COUNT(leaf_chain)),
		sample_of(EVENT_CYCLES, 0x400300, ALPHA, 40, NULL, 0),
	};

	(void)state;
	for (unsigned n_threads = 1; n_threads < 4; n_threads++) {
		struct session s;

		open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) },
			     n_threads, &s);
		expect(&s, "place", &everything, &(struct hot_view){ .sort = NULL },
		       "module,offset,share,share_trust,total_share,samples,period,latency_cycles,"
		       "latency_cycles_trust,mean_latency_cycles,mean_latency_cycles_trust\n"
		       "alpha,0x300,0.85,sparse,0.85,4,170,,,,\n"
		       "alpha,0x200,0.15,sparse,0.15,1,30,,,,\n"
		       "alpha,0x103,0,sparse,0.8,0,0,,,,\n"
		       "alpha,0x203,0,sparse,0.6,0,0,,,,\n"
		       "alpha,0x303,0,sparse,0.05,0,0,,,,\n");
		close_fixture(&s);
	}
}

enum { N_PARTS = 5, MOST_PLACES = 40 };

/* A partial with one SPE record at each of the first `n` places, which are numbered if they are not. */
static struct hot *hot_of_places(const struct session *s, const struct hot_options *options,
				 uint32_t n)
{
	struct hot *hot = hot_class.new(s, options);
	struct batch *b = batch_new();

	batch_reset(b, BATCH_SPE);
	for (uint32_t i = 0; i < n; i++) {
		b->has[i] = HAS_PC;
		b->place[i] = place_numbers_add(s->places, (struct place){ { i > 0 }, i });
		assert_int_equal(b->place[i], i);
	}
	b->n = n;
	hot_class.consume(hot, b);
	hot_class.finish(hot);
	batch_free(b);
	return hot;
}

/* Workers add different parts at once, so no place may be in one part here, in another there. */
static void test_merge_parts(void **state)
{
	const struct hot_options options = { .dimensions = 1u << DIM_PLACE, .event = -1 };
	const uint32_t n_places[] = { 13, MOST_PLACES, 29 };
	const struct id_map map = { 0 };
	size_t part_of[MOST_PLACES];
	struct hot *into, *from[COUNT(n_places)];
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ 0 }, 1, &s);
	into = hot_of_places(&s, &options, 7);
	for (size_t k = 0; k < COUNT(n_places); k++) {
		from[k] = hot_of_places(&s, &options, n_places[k]);
		hot_class.merge(into, from[k], &map);
	}
	for (uint32_t i = 0; i < MOST_PLACES; i++)
		part_of[i] = N_PARTS;
	for (size_t part = 0; part < N_PARTS; part++)
		for (size_t k = 0; k < COUNT(n_places); k++) {
			uint64_t before[MOST_PLACES];

			for (uint32_t i = 0; i < MOST_PLACES; i++)
				before[i] = hot_cost(into, i).n;
			hot_class.merge_part(into, from[k], part, N_PARTS);
			for (uint32_t i = 0; i < MOST_PLACES; i++) {
				if (hot_cost(into, i).n == before[i])
					continue;
				assert_true(part_of[i] == part || part_of[i] == N_PARTS);
				part_of[i] = part;
			}
		}
	for (uint32_t i = 0; i < MOST_PLACES; i++)
		assert_int_equal(hot_cost(into, i).n,
				 1u + (i < 7) + (i < n_places[0]) + (i < n_places[2]));
	assert_int_equal(hot_n_spe_records(into), 7 + n_places[0] + n_places[1] + n_places[2]);
	check_rests(into);
	for (size_t k = 0; k < COUNT(n_places); k++)
		hot_class.free(from[k]);
	hot_class.free(into);
	close_fixture(&s);
}

/* Records with whatever a record may have, at a few places. */
static void fill_any(struct batch *b, uint32_t n_places)
{
	static const uint16_t latencies[] = {
		0, 1, 300, 4094, 4095, 0x7fff, 0x8000, 0xb504, 0xb505, 0xfffe, 0xffff,
	};
	uint64_t random = 1;

	batch_reset(b, BATCH_SPE);
	for (b->n = 0; b->n < BATCH_ROWS; b->n++) {
		b->has[b->n] = HAS_PC | ((uint32_t)random_next(&random) &
					 (HAS_TOTAL | HAS_XLAT | HAS_EVENTS | HAS_OP));
		b->place[b->n] = (uint32_t)random_below(&random, n_places);
		b->total[b->n] = latencies[random_below(&random, COUNT(latencies))];
		b->xlat[b->n] = latencies[random_below(&random, COUNT(latencies))];
		b->events[b->n] = random_next(&random);
		b->op_class[b->n] = (uint8_t)random_below(&random, 4);
	}
}

/* Sums that are kept by place are those that are kept by place and CPU, where there is one CPU. */
static void test_sums_by_place(void **state)
{
	enum { N_PLACES = 100 };
	const struct hot_options by_place = { .dimensions = 1u << DIM_PLACE, .event = -1 },
				 by_key = { .dimensions = 1u << DIM_PLACE | 1u << DIM_CPU,
					    .event = -1 };
	struct batch *b = batch_new();
	struct hot *left, *right;
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ 0 }, 1, &s);
	for (uint32_t i = 0; i < N_PLACES; i++)
		place_numbers_add(s.places, (struct place){ { i > 0 }, i });
	left = hot_class.new(&s, &by_place);
	right = hot_class.new(&s, &by_key);
	fill_any(b, N_PLACES);
	hot_class.consume(left, b);
	hot_class.consume(right, b);
	assert_int_equal(hot_n_by_place(right), 0);
	assert_int_equal(hot_end(right), N_PLACES);
	for (uint32_t i = 0; i < N_PLACES; i++) {
		uint32_t place = (uint32_t)hot_key_word(right, i, DIM_PLACE);
		const struct hot_cost cost = hot_cost(left, place), wanted = hot_cost(right, i);

		assert_memory_equal(&cost, &wanted, sizeof(cost));
	}
	hot_class.free(left);
	hot_class.free(right);
	batch_free(b);
	close_fixture(&s);
}

static void test_keys(void **state)
{
	struct keys keys;
	struct err err;

	(void)state;
	assert_int_equal(keys_parse("cpu,function,cpu", &keys, &err), 0);
	assert_int_equal(keys.n, 2);
	assert_int_equal(keys.keys[0], KEY_CPU);
	assert_int_equal(keys.keys[1], KEY_FUNCTION);
	assert_int_equal(keys_parse("cpu,functions", &keys, &err), -1);
	assert_non_null(strstr(err.text, "no key 'functions'; there are process, program, thread"));
	assert_int_equal(keys_parse("", &keys, &err), -1);
	assert_int_equal(keys_parse("cpu,", &keys, &err), -1);
}

static void test_sort(void **state)
{
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, 0x400010, ALPHA, 5, NULL, 0),
		sample_of(EVENT_CYCLES, 0x400010, BETA, 3, NULL, 0),
		sample_of(EVENT_CYCLES, 0x400010, BETA, 1, NULL, 0),
	};
	struct hot_options options = { .event = -1 };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct hot_view view = { .name = "hot", .sort = "samples", .top = 1 };
	struct names names;
	struct table table;
	struct session s;
	struct err err;

	(void)state;
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 1, &s);
	assert_int_equal(keys_parse("process", &view.keys, &err), 0);
	options.dimensions = keys_dimensions(&view.keys);
	scan(&s, NULL, &hot, 1);
	hot_names(&s, hot.result, &view.keys, &names);
	assert_int_equal(hot_table(hot.result, &names, &view, &table, &err), 0);
	assert_int_equal(table_n_rows(&table), 1);
	assert_string_equal(table_cell(&table, 0, 0)->text, "beta");
	table_release(&table);
	view.sort = "size";
	assert_int_equal(hot_table(hot.result, &names, &view, &table, &err), -1);
	assert_non_null(strstr(err.text, "no column 'size'"));
	table_release(&table);
	assert_int_equal(hot_n_events(hot.result), 1);
	hot_keep_events(hot.result, (const bool[N_FIXTURE_EVENTS]){ false });
	assert_int_equal(hot_n_events(hot.result), 0);
	check_rests(hot.result);
	names_release(&names);
	hot_class.free(hot.result);
	close_fixture(&s);
}

/* Shares of SPE records are of latency; beside samples, whose are not, the head says neither. */
static void test_share_head(void **state)
{
	const struct sample samples[] = { sample_of(EVENT_CYCLES, 0x400010, ALPHA, 5, NULL, 0) };
	const struct spe_record records[] = { spe_of(FIRST, ALPHA, SPE_OP_LDST, 0, 100, 2000) };

	(void)state;
	for (size_t n_samples = 0; n_samples <= 1; n_samples++) {
		struct hot_options options = { .event = -1 };
		struct analysis hot = { .class = &hot_class, .options = &options };
		struct hot_view view = { .name = "hot" };
		struct names names;
		struct table table;
		struct session s;
		struct err err;
		const char *head;

		open_fixture(&(struct contents){ .samples = samples,
						 .n_samples = n_samples,
						 .records = records,
						 .n_records = 1 },
			     1, &s);
		assert_int_equal(keys_parse("process", &view.keys, &err), 0);
		options.dimensions = keys_dimensions(&view.keys);
		scan(&s, NULL, &hot, 1);
		check_rests(hot.result);
		hot_names(&s, hot.result, &view.keys, &names);
		assert_int_equal(hot_table(hot.result, &names, &view, &table, &err), 0);
		head = table.columns[table_column(&table, "share")].title;
		assert_int_equal(head != NULL && strcmp(head, "latency share") == 0,
				 n_samples == 0);
		table_release(&table);
		names_release(&names);
		hot_class.free(hot.result);
		close_fixture(&s);
	}
}

/* The first rows by place, of places that no row is made for left out or not. */
static void check_first(struct session *s, const struct hot *hot, const struct names *names,
			size_t top)
{
	const struct hot_view view = { .name = "hot", .keys = { { KEY_PLACE }, 1 }, .top = top };
	const struct document document = { .command = "hot", .version = "0" };
	char *json[2];

	for (int is_first = 0; is_first < 2; is_first++) {
		struct hot_grouping g;
		struct table table;
		struct tables tables = { 0 };
		struct text text = { 0 };
		struct err err;

		(is_first ? hot_grouping_init_first : hot_grouping_init)(&g, hot, names, &view);
		assert_int_equal(g.n_left_out > 0, is_first);
		assert_int_equal(hot_table_of(&g, &table, &err), 0);
		assert_int_equal(table_n_rows(&table), top);
		hot_grouping_release(&g);
		*vec_add(&tables.list) = &table;
		format_document(&format_json, &document, &tables, &text);
		text_char(&text, '\0');
		json[is_first] = text.bytes;
		vec_release(&tables.list);
		table_release(&table);
	}
	assert_string_equal(json[0], json[1]);
	assert_int_equal(hot_n_spe_records(hot), s->attribution.n_rows);
	free(json[0]);
	free(json[1]);
}

/* The same of sums by place, and by more dimensions: then a place has several raw groups. */
static void check_first_by(struct session *s, uint32_t dimensions)
{
	const struct hot_options options = { .event = -1, .dimensions = dimensions };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names;

	scan(s, NULL, &hot, 1);
	hot_names(s, hot.result, &(struct keys){ { KEY_PLACE }, 1 }, &names);
	check_first(s, hot.result, &names, 7);
	check_first(s, hot.result, &names, 64);
	names_release(&names);
	hot_class.free(hot.result);
}

/* Of many places workers each group a part: any number of them has the same rows. */
/* Each row of a table as csv has this in its first cell, as samples, and as the sum of their latencies. */
static void check_sums(const char *csv, const char *const *rows)
{
	enum { SAMPLES = 4, LATENCY = 6, N_CELLS = 7 };
	char *lines = mem_strndup(csv, strlen(csv)), *rest = lines;

	strsep(&rest, "\n"); /* names of columns */
	for (char *line; (line = strsep(&rest, "\n")) != NULL && line[0] != '\0';) {
		const char *cells[N_CELLS];
		char *sums;

		for (size_t i = 0; i < N_CELLS; i++)
			cells[i] = strsep(&line, ",");
		assert_true(asprintf(&sums, "%s,%s,%s", cells[0], cells[SAMPLES], cells[LATENCY]) >
			    0);
		assert_non_null(*rows);
		assert_string_equal(sums, *rows++);
		free(sums);
	}
	assert_null(*rows);
	free(lines);
}

static void test_many_places(void **state)
{
	enum { N_RECORDS = 12000, N_WORDS = 4000 };
	struct spe_record *r = mem_alloc(N_RECORDS, sizeof(*r));
	const char *const keys[] = { "function", "module", "process", "place",
				     "function,operation" };
	/* of each row: its first cell, samples and the sum of their latencies */
	static const char *const rows[COUNT(keys)][6] = {
		{ "[unknown],4800,277983", "[unknown],2400,139040", "first,1600,92734",
		  "second,1600,92662", "[unknown],1600,92615" },
		{ "alpha,4800,277983", "perf-100.map,3200,185396", "beta,2400,139040",
		  "[unknown],1600,92615" },
	};
	char *of_one[COUNT(keys)];

	(void)state;
	for (uint32_t i = 0; i < N_RECORDS; i++) {
		uint64_t pc = i % 5 == 0   ? FIRST + 4 * (i % 64)
			      : i % 5 == 1 ? SECOND + 4 * (i % 64)
					   : TEXT_START + 4 * (i % N_WORDS);

		r[i] = spe_of(pc, i % 3 == 0 ? BETA : ALPHA,
			      i % 7 == 0 ? SPE_OP_BRANCH : SPE_OP_LDST, EV(RETIRED),
			      (uint16_t)(10 + i % 97), 1000 + i);
	}
	for (unsigned n_workers = 1; n_workers <= 4; n_workers++) {
		struct session s;

		open_fixture(&(struct contents){ .records = r, .n_records = N_RECORDS }, n_workers,
			     &s);
		for (size_t i = 0; i < COUNT(keys); i++) {
			char *csv = hot_csv(&s, keys[i], &everything,
					    &(struct hot_view){ .top = i % 2 == 0 ? 0 : 7 });

			if (rows[i][0] != NULL)
				check_sums(csv, rows[i]);
			if (n_workers == 1) {
				of_one[i] = csv;
				continue;
			}
			assert_string_equal(csv, of_one[i]);
			free(csv);
		}
		check_first_by(&s, 1u << DIM_PLACE);
		check_first_by(&s, 1u << DIM_PLACE | 1u << DIM_OPERATION | 1u << DIM_PROCESS);
		close_fixture(&s);
	}
	for (size_t i = 0; i < COUNT(keys); i++)
		free(of_one[i]);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spe_keys),
		cmocka_unit_test(test_event_list),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_totals_of_chains),
		cmocka_unit_test(test_merge_parts),
		cmocka_unit_test(test_sums_by_place),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_share_head),
		cmocka_unit_test(test_many_places),
		cmocka_unit_test(test_event_list_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
