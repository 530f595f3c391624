/* SPDX-License-Identifier: Apache-2.0 */
/* Events as only recording knows them, on a made-up Neoverse N1. */
#include "record/events.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "pmu/catalog_events.h"
#include "../pmu/tree.h"

#define PRECISE(n) ((uint64_t)(n) << ATTR_PRECISE_IP)
#define BIT(n) ((uint64_t)1 << (n))

struct world {
	struct tree tree;
	struct pmus pmus;
	struct record_events events;
	struct catalog_events *catalog;
};

static int add(struct world *w, const struct tree_file *machine, const char *text, struct err *err)
{
	struct event_finder finder;

	*w = (struct world){ 0 };
	tree_make(&w->tree, machine);
	if (machine == tree_neoverse_n1)
		tree_add(&w->tree, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
			 "0x00000000413fd0c1");
	pmus_read(&w->pmus, w->tree.root);
	w->catalog = catalog_events_new(w->tree.root);
	finder = catalog_events_finder(w->catalog);
	return record_events_add(&w->events, text, &w->pmus, &finder, err);
}

static void release(struct world *w)
{
	record_events_release(&w->events);
	catalog_events_free(w->catalog);
	pmus_release(&w->pmus);
	tree_remove(&w->tree);
}

static void an_event_is_what_is_written(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config, flags, period;
		bool names_modes, wants_precise, samples_by_leader;
	} cases[] = {
		{ "cycles", 0, 0, 0, 0, false, false, false },
		{ "cycles:u", 0, 0, BIT(ATTR_EXCLUDE_KERNEL) | BIT(ATTR_EXCLUDE_HV), 0, true, false,
		  false },
		{ "cycles:P", 0, 0, PRECISE(3), 0, false, true, false },
		{ "cycles:Pu", 0, 0, PRECISE(3) | BIT(ATTR_EXCLUDE_KERNEL) | BIT(ATTR_EXCLUDE_HV),
		  0, true, true, false },
		{ "cycles:eI", 0, 0, BIT(ATTR_EXCLUSIVE) | BIT(ATTR_EXCLUDE_IDLE), 0, false, false,
		  false },
		{ "cycles:D", 0, 0, BIT(ATTR_PINNED), 0, false, false, false },
		{ "{cycles}:S", 0, 0, 0, 0, false, false, true },
		{ "mem:0x4000:x", 5, 0, 0, 0, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct record_event *e;
		struct world w;
		struct err err;

		if (add(&w, tree_neoverse_n1, cases[i].text, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(w.events.list.n, 1);
		e = &w.events.list.items[0];
		assert_int_equal(e->attr.type, cases[i].type);
		assert_int_equal(e->attr.config, cases[i].config);
		if (e->attr.flags != cases[i].flags)
			fail_msg("%s: flags 0x%" PRIx64, cases[i].text, e->attr.flags);
		assert_int_equal(e->names_modes, cases[i].names_modes);
		assert_int_equal(e->wants_precise, cases[i].wants_precise);
		assert_int_equal(e->samples_by_leader, cases[i].samples_by_leader);
		assert_int_equal(e->leader, 0);
		release(&w);
	}
}

static void breakpoints_have_a_place_and_a_size(void **state)
{
	static const struct {
		const char *text;
		uint64_t address, bytes;
		uint32_t access;
	} cases[] = {
		{ "mem:0x4000", 0x4000, 4, 3 },
		{ "mem:16384:r", 0x4000, 4, 1 },
		{ "mem:0x4000:w", 0x4000, 4, 2 },
		{ "mem:0x4000/8:rw", 0x4000, 8, 3 },
		{ "mem:0x4000:x", 0x4000, sizeof(void *), 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct attr *a;
		struct world w;
		struct err err;

		assert_int_equal(add(&w, tree_without_pmu, cases[i].text, &err), 0);
		a = &w.events.list.items[0].attr;
		assert_int_equal(a->config1, cases[i].address);
		assert_int_equal(a->config2, cases[i].bytes);
		assert_int_equal(a->bp_type, cases[i].access);
		release(&w);
	}
}

static void members_of_groups_know_their_leader(void **state)
{
	static const size_t leaders[] = { 0, 1, 1, 1, 4 };
	struct world w;
	struct err err;

	(void)state;
	assert_int_equal(add(&w, tree_neoverse_n1, "page-faults,{cycles,r8:u,cs}:S,dummy", &err),
			 0);
	assert_int_equal(w.events.list.n, COUNT(leaders));
	for (size_t i = 0; i < COUNT(leaders); i++) {
		assert_int_equal(w.events.list.items[i].leader, leaders[i]);
		assert_int_equal(w.events.list.items[i].samples_by_leader, i > 0 && i < 4);
	}
	assert_string_equal(w.events.list.items[2].name, "r8:u");
	release(&w);
}

/* In upper or lower case. The number is that of this CPU. */
static void the_catalog_names_events(void **state)
{
	static const struct {
		const char *text;
		uint64_t config;
	} cases[] = { { "LL_CACHE_MISS_RD", 0x37 },
		      { "stall_backend", 0x24 },
		      { "l2d_cache", 0x16 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct err err;

		if (add(&w, tree_neoverse_n1, cases[i].text, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(w.events.list.n, 1);
		assert_int_equal(w.events.list.items[0].attr.config, cases[i].config);
		assert_true(w.events.list.items[0].pmu->is_core);
		release(&w);
		/* An unknown event of the catalog is an error without such a CPU. */
		assert_int_equal(add(&w, tree_without_pmu, cases[i].text, &err), -1);
		assert_non_null(strstr(err.text, "there is no event"));
		release(&w);
	}
}

static void what_cannot_be_read_is_told(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "event" },
		{ "cycle", "did you mean 'cycles'" },
		{ "{cycles", "lacks its '}'" },
		{ "{cycles}:u", "after a group" },
		{ "{cycles}x", "wanted ','" },
		{ "cycles}", "wanted ','" },
		{ "cycles,", "event" },
		{ "mem:0x10:q", "of the form mem:" },
		{ "mem:0x10:", "of the form mem:" },
		{ "mem:x", "of the form mem:" },
		{ "mem:0x10/z", "of the form mem:" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct err err = { .text = "" };

		assert_int_equal(add(&w, tree_neoverse_n1, cases[i].text, &err), -1);
		if (strstr(err.text, cases[i].message) == NULL)
			fail_msg("'%s': %s", cases[i].text, err.text);
		assert_int_equal(err.code, ERR_USAGE);
		release(&w);
	}
}

static void lists_cut_short_do_no_harm(void **state)
{
	static const char list[] =
		"{cycles:Pu,r8:e}:S,mem:0x4000/8:rw,LL_CACHE_MISS_RD:k,page-faults";

	(void)state;
	for (size_t n = 0; n < sizeof(list); n++) {
		char *text = mem_strndup(list, n);
		struct world w;
		struct err err;

		add(&w, tree_neoverse_n1, text, &err);
		release(&w);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_what_is_written),
		cmocka_unit_test(breakpoints_have_a_place_and_a_size),
		cmocka_unit_test(members_of_groups_know_their_leader),
		cmocka_unit_test(the_catalog_names_events),
		cmocka_unit_test(what_cannot_be_read_is_told),
		cmocka_unit_test(lists_cut_short_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
