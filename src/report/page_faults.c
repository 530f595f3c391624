/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "hot/sums/functions.h"
#include "report/weights.h"

/* What a function of the kernel is in a fault. */
enum part { PART_NONE, PART_ENTRY, FIRST_FAULTS };

static const struct {
	const char *function;
	enum part part;
} functions[] = {
	/* x86 */
	{ "asm_exc_page_fault", PART_ENTRY },
	{ "exc_page_fault", PART_ENTRY },
	{ "async_page_fault", PART_ENTRY },
	{ "page_fault", PART_ENTRY },
	{ "do_user_addr_fault", PART_ENTRY },
	/* Arm */
	{ "el0_da", PART_ENTRY },
	{ "el0_ia", PART_ENTRY },
	{ "el1_abort", PART_ENTRY },
	{ "do_mem_abort", PART_ENTRY },
	{ "do_translation_fault", PART_ENTRY },
	{ "do_DataAbort", PART_ENTRY },
	{ "do_PrefetchAbort", PART_ENTRY },
	/* these and others */
	{ "do_page_fault", PART_ENTRY },
	{ "__do_page_fault", PART_ENTRY },
	{ "___do_page_fault", PART_ENTRY },
	/* what is done in it (mm/memory.c, mm/huge_memory.c) */
	{ "do_anonymous_page", FIRST_FAULTS + FAULTS_FRESH },
	{ "do_huge_pmd_anonymous_page", FIRST_FAULTS + FAULTS_FRESH },
	{ "do_wp_page", FIRST_FAULTS + FAULTS_COPIED },
	{ "wp_page_copy", FIRST_FAULTS + FAULTS_COPIED },
	{ "do_cow_fault", FIRST_FAULTS + FAULTS_COPIED },
	{ "do_huge_pmd_wp_page", FIRST_FAULTS + FAULTS_COPIED },
	{ "do_fault", FIRST_FAULTS + FAULTS_OF_FILES },
	{ "do_read_fault", FIRST_FAULTS + FAULTS_OF_FILES },
	{ "do_shared_fault", FIRST_FAULTS + FAULTS_OF_FILES },
	{ "filemap_map_pages", FIRST_FAULTS + FAULTS_OF_FILES },
	{ "filemap_fault", FIRST_FAULTS + FAULTS_OF_FILES },
	{ "do_swap_page", FIRST_FAULTS + FAULTS_SWAPPED },
	{ "do_numa_page", FIRST_FAULTS + FAULTS_MOVED },
	{ "do_huge_pmd_numa_page", FIRST_FAULTS + FAULTS_MOVED },
};

struct page_faults {
	const struct names *names;
	uint8_t *parts; /* by place */
	struct page_fault_sums sums;
	uint64_t by_faults[N_FINDING_FAULTS];
	struct weights users;	  /* of function, module, place: where the program faults */
	struct weights functions; /* of function, module: whose time that is */
};

static enum part part_of(const struct names *names, uint32_t place)
{
	const struct session *s = names->session;
	struct module_id module = session_place(s, place).module;
	enum module_kind kind = modules_get(timeline_modules(s->timeline), module)->kind;
	const char *name;

	if (module.v == 0 || kind != MODULE_KERNEL || names->symbols[place].function.v == 0)
		return PART_NONE;
	name = strings_get(symbols_strings(s->symbols), names->symbols[place].function);
	for (size_t i = 0; i < COUNT(functions); i++)
		if (strcmp(functions[i].function, name) == 0)
			return functions[i].part;
	return PART_NONE;
}

struct page_faults *page_faults_new(const struct names *names)
{
	struct page_faults *p = mem_zalloc(1, sizeof(*p));

	p->names = names;
	p->parts = mem_zalloc(names->n + 1, sizeof(*p->parts));
	for (uint32_t place = 0; place < names->n; place++)
		p->parts[place] = (uint8_t)part_of(names, place);
	tuples_init(&p->users.keys, 3);
	tuples_init(&p->functions.keys, 2);
	return p;
}

void page_faults_free(struct page_faults *p)
{
	if (p == NULL)
		return;
	weights_release(&p->users);
	weights_release(&p->functions);
	free(p->parts);
	free(p);
}

static void put_function(const struct names *names, uint32_t place, uint64_t key[2])
{
	key[0] = names->symbols[place].function.v;
	key[1] = session_place(names->session, place).module.v;
}

void page_faults_add(struct page_faults *p, const struct chained_group *g, uint32_t user,
		     uint64_t weight)
{
	enum finding_faults faults = FAULTS_OTHER;
	uint32_t place = (uint32_t)g->key[DIM_PLACE];
	uint64_t of_user[3] = { 0, 0, user }, of_function[2];
	size_t depth = 0;

	for (; p->parts[place] != PART_ENTRY; place = g->chain.items[depth++]) {
		if (faults == FAULTS_OTHER && p->parts[place] >= FIRST_FAULTS)
			faults = (enum finding_faults)(p->parts[place] - FIRST_FAULTS);
		if (depth == g->chain.n)
			return;
	}
	p->sums.weight += weight;
	p->sums.n += g->cost.n;
	p->by_faults[faults] += weight;
	put_function(p->names, user, of_user);
	weights_add(&p->users, of_user, weight);
	put_function(p->names, (uint32_t)g->key[DIM_PLACE], of_function);
	weights_add(&p->functions, of_function, weight);
}

/* The function that has most of the faults, of it the place that has most; of equals the first in its module. */
static void find_place(const struct page_faults *p, struct page_fault_sums *out)
{
	struct weights totals = { 0 };
	uint64_t of_function = 0, of_place = 0;

	tuples_init(&totals.keys, 2);
	for (uint32_t i = 0; i < p->users.keys.n; i++)
		weights_add(&totals, tuples_get(&p->users.keys, i), p->users.list.items[i]);
	for (uint32_t i = 0; i < p->users.keys.n; i++) {
		const uint64_t *key = tuples_get(&p->users.keys, i);
		uint64_t mine = totals.list.items[tuples_find(&totals.keys, key)];
		uint64_t here = p->users.list.items[i];
		bool is_more = mine != of_function ? mine > of_function : here > of_place;
		bool is_equal = mine == of_function && here == of_place;

		if (!is_more && !(is_equal && hot_place_is_before(p->names->session,
								  (uint32_t)key[2], out->place)))
			continue;
		of_function = mine;
		of_place = here;
		out->place = (uint32_t)key[2];
	}
	out->function_part = ratio(of_function, p->sums.weight);
	weights_release(&totals);
}

bool page_faults_sums(const struct page_faults *p, struct page_fault_sums *out)
{
	*out = p->sums;
	if (p->sums.n == 0)
		return false;
	for (int i = 0; i < N_FINDING_FAULTS; i++)
		if (p->by_faults[i] > p->by_faults[out->faults])
			out->faults = (enum finding_faults)i;
	out->faults_part = ratio(p->by_faults[out->faults], p->sums.weight);
	find_place(p, out);
	return true;
}

uint64_t page_faults_of_function(const struct page_faults *p, uint32_t place)
{
	uint64_t key[2];
	uint32_t number;

	put_function(p->names, place, key);
	number = tuples_find(&p->functions.keys, key);
	return number == TUPLES_NONE ? 0 : p->functions.list.items[number];
}
