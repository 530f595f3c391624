/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of groups beside those of the records, added up one by one: any counters, operations, sources and number of places. */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "scan/scan.h"
#include "spe/packet.h"

enum {
	N_PLACES = MEM_FIRST_PLACES + 1000, /* some are looked up in another way */
	N_RECORDS = 2 * N_PLACES,
	N_SOURCES = 16,
	OP_ATOMIC = 0x16,
	OP_SVE = 0x08,
	OP_STORE = 0x01,
	SVE_LENGTH_SHIFT = 4,
	FULL_12 = 4095,
	FULL_16 = 65535,
};

/* What is counted of each. */
struct sums {
	struct mem_cost of_places[N_PLACES];
	struct mem_cost of_sources[N_MEMORY_KINDS][N_SOURCES + 1]; /* the last one: not recorded */
};

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* A counter: often short, sometimes full. */
static uint16_t counter_of(uint32_t random)
{
	switch (random % 16) {
	case 0:
		return FULL_12;
	case 1:
		return FULL_16;
	case 2:
		return (uint16_t)random;
	default:
		return (uint16_t)(random / 16 % 200);
	}
}

static uint8_t operation_of(uint32_t random)
{
	switch (random % 4) {
	case 0:
		return OP_ATOMIC;
	case 1:
		return (uint8_t)(OP_SVE | random / 4 % 8 << SVE_LENGTH_SHIFT);
	default:
		return random & OP_STORE;
	}
}

static struct spe_record *make_records(void)
{
	struct spe_record *list = mem_alloc(N_RECORDS, sizeof(*list));
	uint64_t random = 1;

	for (unsigned i = 0; i < N_RECORDS; i++) {
		struct spe_record *r = &list[i];
		uint32_t chance = next_random(&random);

		*r = spe_of(FIRST + 4 * (i % N_PLACES), chance & 1 ? ALPHA : ALPHA_THREAD,
			    SPE_OP_LDST, UINT64_C(1) << SPE_EV_RETIRED, 0, 1000 + i);
		r->has &= ~(uint32_t)(HAS_TOTAL | HAS_ISSUE | HAS_XLAT | HAS_SOURCE);
		r->has |= chance & (HAS_TOTAL | HAS_ISSUE | HAS_XLAT | HAS_SOURCE);
		r->events |= (uint64_t)(chance >> 16 & 1) << SPE_EV_TLB_WALK;
		r->op = operation_of(next_random(&random));
		r->total = counter_of(next_random(&random));
		r->issue = counter_of(next_random(&random));
		r->xlat = counter_of(next_random(&random));
		r->source = (uint16_t)(next_random(&random) % N_SOURCES);
	}
	return list;
}

static void add_counter(struct latency_sum *to, bool is_there, bool is_full, uint64_t cycles)
{
	to->n += is_there && !is_full;
	to->n_full += is_there && is_full;
	to->cycles += is_there && !is_full ? cycles : 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void add_record(struct mem_cost *to, const struct spe_record *r, uint64_t interval)
{
	bool has_total = r->has & HAS_TOTAL, has_issue = r->has & HAS_ISSUE;
	bool has_xlat = r->has & HAS_XLAT;
	bool is_total_full = latency_is_full(r->total), is_issue_full = latency_is_full(r->issue);
	bool is_xlat_full = latency_is_full(r->xlat);
	bool is_walk = r->events >> SPE_EV_TLB_WALK & 1;
	uint64_t access = less(r->total, r->issue);

	to->n++;
	to->operations += interval;
	to->n_walks += is_walk;
	to->full_cycles += has_total && is_total_full ? r->total : 0;
	add_counter(&to->sums[LATENCY_TOTAL], has_total, is_total_full, r->total);
	add_counter(&to->sums[LATENCY_ISSUE], has_issue, is_issue_full, r->issue);
	add_counter(&to->sums[LATENCY_XLAT], has_xlat, is_xlat_full, r->xlat);
	add_counter(&to->walk, has_xlat && is_walk, is_xlat_full, r->xlat);
	add_counter(&to->sums[LATENCY_ACCESS], has_total && has_issue,
		    is_total_full || is_issue_full, access);
	add_counter(&to->sums[LATENCY_EXECUTION], has_total && has_issue,
		    is_total_full || is_issue_full || (has_xlat && is_xlat_full),
		    less(access, has_xlat ? r->xlat : 0));
}

/* The first value that means the same source as this word of a group. */
static size_t source_of_word(const struct session *s, uint64_t word)
{
	for (uint16_t value = 0; value < N_SOURCES; value++) {
		const struct cpu_source *source = session_source(s, 0, value);

		if (word == (source == NULL ? value : (uint64_t)(uintptr_t)source))
			return value;
	}
	assert_int_equal(word, DIM_ABSENT);
	return N_SOURCES;
}

static size_t source_of_record(const struct session *s, const struct spe_record *r)
{
	const struct cpu_source *source = session_source(s, 0, r->source);

	if (!(r->has & HAS_SOURCE))
		return N_SOURCES;
	return source == NULL ? r->source : source_of_word(s, (uint64_t)(uintptr_t)source);
}

static struct sums *sums_of_records(const struct session *s, const struct mem *mem,
				    const struct spe_record *list)
{
	bool has_source = mem->options->dimensions >> DIM_SOURCE & 1;
	struct sums *sums = mem_zalloc(1, sizeof(*sums));

	for (unsigned i = 0; i < N_RECORDS; i++) {
		enum memory_kind kind = memory_kind_of(SPE_OP_LDST, list[i].op);

		size_t source = has_source ? source_of_record(s, &list[i]) : 0;

		if (mem->has_place)
			add_record(&sums->of_places[i % N_PLACES], &list[i], mem->each);
		add_record(&sums->of_sources[kind][source], &list[i], mem->each);
	}
	return sums;
}

static struct sums *sums_of_groups(const struct session *s, const struct mem *mem)
{
	struct sums *sums = mem_zalloc(1, sizeof(*sums));
	bool has_source = mem->options->dimensions >> DIM_SOURCE & 1;
	struct mem_position at = { 0 };
	struct mem_group g;

	while (mem_next(mem, &at, &g)) {
		struct place place = place_numbers_get(s->places, (uint32_t)g.key[DIM_PLACE]);
		size_t source = has_source ? source_of_word(s, g.key[DIM_SOURCE]) : 0;

		mem_cost_add_group(&sums->of_sources[g.kind][source], &g);
		if (mem->has_place)
			mem_cost_add_group(&sums->of_places[(place.offset - FIRST) / 4], &g);
	}
	return sums;
}

static void groups_have_the_sums_of_their_records(void **state)
{
	const uint32_t told = 1u << DIM_VECTOR | 1u << DIM_SOURCE;
	const struct {
		uint32_t dimensions;
		size_t groups_bytes;
	} list[] = {
		{ told | 1u << DIM_PLACE, 0 },
		{ told | 1u << DIM_PLACE, 1 },	       /* all go to a file */
		{ told | 1u << DIM_PLACE, 256 << 10 }, /* most do */
		{ told | 1u << DIM_EVENTS | 1u << DIM_OPERATION, 0 },
		{ 1u << DIM_TID | 1u << DIM_PLACE | 1u << DIM_LATENCY, 0 },
	};
	struct spe_record *records = make_records();

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(list); i++) {
		const struct mem_options one = { .dimensions = list[i / 2].dimensions,
						 .groups_bytes = list[i / 2].groups_bytes };
		const struct mem_set_options options = { &one, 1 };
		struct analysis a = { .class = &mem_set_class, .options = &options };
		struct session s;
		struct sums *wanted, *found;
		const struct mem *mem;

		open_fixture(&(struct contents){ .records = records, .n_records = N_RECORDS },
			     1 + i % 2, &s);
		scan_part(&s, NULL, &(struct scan_wish){ .only_memory = true }, &a, 1);
		mem = &((const struct mem_set *)a.result)->list[0];
		wanted = sums_of_records(&s, mem, records);
		found = sums_of_groups(&s, mem);
		assert_memory_equal(found, wanted, sizeof(*found));
		free(wanted);
		free(found);
		a.class->free(a.result);
		close_fixture(&s);
	}
	free(records);
}

/* The numbers of first places alone do not send groups to the file: they would go with each batch. */
static void groups_go_to_the_file_when_there_are_many(void **state)
{
	const struct mem_options one = { .dimensions = 1u << DIM_PLACE, .groups_bytes = 512 << 10 };
	const struct mem_set_options options = { &one, 1 };
	struct analysis a = { .class = &mem_set_class, .options = &options };
	struct spe_record *records = make_records();
	const struct mem *mem;
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .records = records, .n_records = N_RECORDS }, 1, &s);
	scan_part(&s, NULL, &(struct scan_wish){ .only_memory = true }, &a, 1);
	mem = &((const struct mem_set *)a.result)->list[0];
	assert_in_range(mem->spilled.n, 1, N_RECORDS / BATCH_ROWS / 4);
	a.class->free(a.result);
	close_fixture(&s);
	free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_have_the_sums_of_their_records),
		cmocka_unit_test(groups_go_to_the_file_when_there_are_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
