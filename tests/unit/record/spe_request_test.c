/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of SPE filters: docs/reference/spe-interop.md sections 2 and 2.2; perf-data.md 5. */
#include "record/spe_request.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "capture/format/sample.h"
#include "record/attr.h"
#include "record/record.h"
#include "../pmu/tree.h"

#define SPE "/sys/bus/event_source/devices/arm_spe_0"
#define SPE_1 "/sys/bus/event_source/devices/arm_spe_1"
#define CPUS "/sys/devices/system/cpu"
#define BIT(n) ((uint64_t)1 << (n))

/* All formats of the newest driver. */
static const struct tree_file all_options[] = {
	{ SPE "/type", "10" },
	{ SPE "/cpumask", "0-1" },
	{ SPE "/format/ts_enable", "config:0" },
	{ SPE "/format/pa_enable", "config:1" },
	{ SPE "/format/pct_enable", "config:2" },
	{ SPE "/format/jitter", "config:16" },
	{ SPE "/format/branch_filter", "config:32" },
	{ SPE "/format/load_filter", "config:33" },
	{ SPE "/format/store_filter", "config:34" },
	{ SPE "/format/discard", "config:35" },
	{ SPE "/format/load_filter_mask", "config:37" },
	{ SPE "/format/simd_filter", "config:39" },
	{ SPE "/format/float_filter", "config:41" },
	{ SPE "/format/event_filter", "config1:0-63" },
	{ SPE "/format/min_latency", "config2:0-11" },
	{ SPE "/format/inv_event_filter", "config3:0-63" },
	{ SPE "/format/inv_data_src_filter", "config4:0-63" },
	{ SPE "/caps/min_interval", "1024" },
	{ SPE "/caps/event_filter", "0xfe" },
	{ CPUS "/cpu0/regs/identification/midr_el1", "0x00000000413fd0c1" },
	{ CPUS "/cpu1/regs/identification/midr_el1", "0x00000000413fd0c1" },
	{ NULL, NULL },
};

/* An old driver, on little cores only. */
static const struct tree_file few_options[] = {
	{ SPE_1 "/type", "11" },
	{ SPE_1 "/cpumask", "2" },
	{ SPE_1 "/format/load_filter", "config:33" },
	{ SPE_1 "/format/event_filter", "config1:0-63" },
	{ NULL, NULL },
};

enum { TS = 1, PA = 2, PCT = 4, USUAL = TS | 1 << 16 };

static const struct {
	const char *filters;
	uint64_t period;
	bool is_privileged;
	const char *refusal; /* NULL: accepted */
	uint64_t config, config1, config2, config3, config4, interval;
} cases[] = {
	{ "", 0, false, NULL, USUAL, 0, 0, 0, 0, 4096 },
	{ "", 0, true, NULL, USUAL | PA, 0, 0, 0, 0, 4096 },
	{ "no-pa", 0, true, NULL, USUAL, 0, 0, 0, 0, 4096 },
	{ "loads", 0, false, NULL, USUAL | BIT(33), 0, 0, 0, 0, 4096 },
	{ "loads,stores,branches", 0, false, NULL, USUAL | BIT(32) | BIT(33) | BIT(34), 0, 0, 0, 0,
	  4096 },
	{ "simd,float,pct,discard,no-ts,no-jitter", 0, false, NULL,
	  PCT | BIT(35) | BIT(39) | BIT(41), 0, 0, 0, 0, 4096 },
	{ "latency>=30", 0, false, NULL, USUAL, 0, 30, 0, 0, 4096 },
	{ "latency>=30,latency>=40", 0, false, NULL, USUAL, 0, 40, 0, 0, 4096 },
	{ "event=tlb-walk", 0, false, NULL, USUAL, BIT(5), 0, 0, 0, 4096 },
	{ "event=tlb-walk,event=l1d-refill", 0, false, NULL, USUAL, BIT(5) | BIT(3), 0, 0, 0,
	  4096 },
	{ "event!=retired", 0, false, NULL, USUAL, 0, 0, BIT(1), 0, 4096 },
	{ "source!=3,source!=63", 0, false, NULL, USUAL, 0, 0, 0, BIT(3) | BIT(63), 4096 },
	{ "load_filter_mask=1,ts_enable=0", 0, false, NULL, BIT(16) | BIT(37), 0, 0, 0, 0, 4096 },
	{ "load_filter_mask", 0, false, NULL, USUAL | BIT(37), 0, 0, 0, 0, 4096 },
	/* Intervals: at least the minimum, multiples of 256, at most 0xffffff00. */
	{ "", 1, false, NULL, USUAL, 0, 0, 0, 0, 1024 },
	{ "", 1023, false, NULL, USUAL, 0, 0, 0, 0, 1024 },
	{ "", 1279, false, NULL, USUAL, 0, 0, 0, 0, 1024 },
	{ "", 1280, false, NULL, USUAL, 0, 0, 0, 0, 1280 },
	{ "", 100000, false, NULL, USUAL, 0, 0, 0, 0, 99840 },
	{ "", UINT64_MAX, false, NULL, USUAL, 0, 0, 0, 0, 0xffffff00 },
	{ "interval=0", 0, false, NULL, USUAL, 0, 0, 0, 0, 1024 },
	{ "interval=1024", 0, false, NULL, USUAL, 0, 0, 0, 0, 1024 },
	{ "interval=5000", 2048, false, NULL, USUAL, 0, 0, 0, 0, 4864 },
	/* Errors. */
	{ "load", 0, false, "did you mean loads?", 0 },
	{ "zzzzzzz", 0, false, "there is no filter 'zzzzzzz'; there are loads", 0 },
	{ "latency>=4096", 0, false, "at most 4095", 0 },
	{ "latency>=x", 0, false, "found 'x', wanted a number", 0 },
	{ "latency>=-1", 0, false, "found '-1', wanted a number", 0 },
	{ "latency>=", 0, false, "found '', wanted a number", 0 },
	{ "latency>=99999999999999999999", 0, false, "wanted a number", 0 },
	{ "event=nothing", 0, false, "'nothing' is not an SPE event", 0 },
	{ "event=llc-access", 0, false, "cannot filter by this event", 0 },
	{ "source!=64", 0, false, "a number up to 63", 0 },
	{ "source!=x", 0, false, "wanted a number", 0 },
	{ "interval=x", 0, false, "wanted a number", 0 },
	{ "load_filter_mask=2", 0, false, "at most 1", 0 },
	{ "load_filter_mask=x", 0, false, "wanted a number", 0 },
};

static void filters_become_bits(void **state)
{
	struct tree tree;
	struct pmus pmus = { 0 };

	(void)state;
	tree_make(&tree, all_options);
	pmus_read(&pmus, tree.root);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct record_events events = { 0 };
		struct err err = { .text = "" };
		int rc = spe_request_add(&events, cases[i].filters, &pmus, cases[i].period,
					 cases[i].is_privileged, &err);
		const struct attr *a = &events.list.items[0].attr;

		if (rc < 0 && cases[i].refusal == NULL)
			fail_msg("'%s': %s", cases[i].filters, err.text);
		if (cases[i].refusal != NULL) {
			assert_int_equal(rc, -1);
			if (strstr(err.text, cases[i].refusal) == NULL)
				fail_msg("'%s': %s", cases[i].filters, err.text);
		} else {
			assert_int_equal(events.list.n, 1);
			assert_true(events.list.items[0].is_spe);
			assert_int_equal(a->type, 10);
			if (a->config != cases[i].config)
				fail_msg("'%s': config 0x%" PRIx64, cases[i].filters, a->config);
			assert_int_equal(a->config1, cases[i].config1);
			assert_int_equal(a->config2, cases[i].config2);
			assert_int_equal(a->config3, cases[i].config3);
			assert_int_equal(a->config4, cases[i].config4);
			assert_int_equal(a->sample_period, cases[i].interval);
			assert_int_equal(a->sample_type >> SAMPLE_PHYS_ADDR & 1,
					 cases[i].config >> 1 & 1);
		}
		record_events_release(&events);
	}
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void old_drivers_say_what_they_lack(void **state)
{
	static const char *const lacking[] = { "stores", "jitter", "event!=retired", "source!=1",
					       "latency>=3" };
	struct tree tree;
	struct pmus pmus = { 0 };
	struct record_events events = { 0 };
	struct err err;

	(void)state;
	tree_make(&tree, few_options);
	pmus_read(&pmus, tree.root);
	for (size_t i = 0; i < COUNT(lacking); i++) {
		assert_int_equal(spe_request_add(&events, lacking[i], &pmus, 0, true, &err), -1);
		assert_int_equal(err.code, ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, "arm_spe_1 has no "));
	}
	record_events_release(&events);
	assert_int_equal(spe_request_add(&events, "loads,event=llc-access", &pmus, 0, true, &err),
			 0);
	assert_int_equal(events.list.items[0].attr.config, BIT(33));
	assert_int_equal(events.list.items[0].attr.sample_period, 4096); /* nothing said */
	record_events_release(&events);
	pmus_release(&pmus);
	tree_remove(&tree);

	tree_make(&tree, tree_without_pmu);
	pmus_read(&pmus, tree.root);
	assert_int_equal(spe_request_add(&events, "", &pmus, 0, true, &err), -1);
	assert_non_null(strstr(err.text, "no SPE on this machine"));
	pmus_release(&pmus);
	tree_remove(&tree);
}

/* The record as 64-bit words, as it stands in the file. */
static size_t info_words(const struct pmus *pmus, const struct cpu_list *cpus, const char *root,
			 enum spe_info_version version, uint64_t out[64])
{
	const struct writer_event event = { .attr = { .type = 10 } };
	char path[] = "/tmp/cyclops-spe-XXXXXX";
	struct writer *w;
	struct err err;
	uint8_t bytes[4096];
	uint64_t at;
	size_t n;
	FILE *file;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(writer_open(path, &event, 1, &w, &err), 0);
	at = writer_size(w);
	spe_info_write(w, (struct pmus *)(uintptr_t)pmus, cpus, root, version);
	n = (size_t)(writer_size(w) - at);
	assert_int_equal(writer_close(w, &err), 0);
	file = fopen(path, "rb");
	fseek(file, (long)at, SEEK_SET);
	assert_int_equal(fread(bytes, 1, n, file), n);
	fclose(file);
	unlink(path);
	for (size_t i = 0; i < n / 8; i++)
		out[i] = load_u64(bytes + 8 * i);
	return n / 8;
}

static void metadata_is_that_of_perf(void **state)
{
	static const uint64_t magic = 0x1010101010101010;
	/* type 70, size; auxtrace type 4; then the words of perf-data.md section 5 */
	const uint64_t version_1[] = { 70 | (uint64_t)32 << 48, 4, 10, 1 };
	const uint64_t version_2[] = { 70 | (uint64_t)(16 + 4 * 8 + 2 * 7 * 8) << 48,
				       4,
				       2,
				       4,
				       10,
				       2,
				       magic,
				       0,
				       4,
				       0x413fd0c1,
				       10,
				       1024,
				       0xfe,
				       magic,
				       1,
				       4,
				       0x413fd0c1,
				       10,
				       1024,
				       0xfe };
	struct cpu_list cpus = { .items = (struct cpu_range[]){ { 0, 1 } }, .n = 1 };
	struct tree tree;
	struct pmus pmus = { 0 };
	uint64_t words[64];

	(void)state;
	tree_make(&tree, all_options);
	pmus_read(&pmus, tree.root);
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_AUTO, words),
			 COUNT(version_1));
	assert_memory_equal(words, version_1, sizeof(version_1));
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_2, words), COUNT(version_2));
	assert_memory_equal(words, version_2, sizeof(version_2));
	/* A CPU without SPE, and one of another kind, make it version 2. */
	cpus.items[0].last = 2;
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_AUTO, words), 2 + 4 + 21);
	assert_int_equal(words[6 + 14 + 3], 0);
	assert_int_equal(words[6 + 14 + 4], UINT64_MAX);
	pmus_release(&pmus);
	tree_add(&tree, SPE_1 "/type", "11");
	tree_add(&tree, SPE_1 "/cpumask", "2");
	tree_add(&tree, CPUS "/cpu2/regs/identification/midr_el1", "0x00000000410fd050");
	pmus_read(&pmus, tree.root);
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_AUTO, words), 2 + 4 + 21);
	assert_int_equal(words[6 + 14 + 3], 0x410fd050);
	assert_int_equal(words[6 + 14 + 4], 11);
	assert_int_equal(words[6 + 14 + 5], 4096);
	/* Version 1 does not distinguish them, and is written if asked for. */
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_1, words), COUNT(version_1));
	assert_memory_equal(words, version_1, sizeof(version_1));
	/* Equal, except for their PMU. */
	tree_add(&tree, CPUS "/cpu2/regs/identification/midr_el1", "0x00000000413fd0c1");
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_AUTO, words), 2 + 4 + 21);
	assert_int_equal(words[6 + 14 + 3], 0x413fd0c1);
	assert_int_equal(words[6 + 14 + 4], 11);
	pmus_release(&pmus);
	tree_remove(&tree);
	/* A PMU without "cpumask" is on all CPUs. */
	tree_make(&tree, all_options);
	tree_add(&tree, SPE "/cpumask", "");
	pmus_read(&pmus, tree.root);
	assert_int_equal(info_words(&pmus, &cpus, tree.root, SPE_INFO_2, words), 2 + 4 + 21);
	assert_int_equal(words[6 + 14 + 4], 10);
	pmus_release(&pmus);
	tree_remove(&tree);
}

/* perf's spelling of SPE in a list of events. */
static void perf_spelling_is_taken(void **state)
{
	static const struct {
		const char *events, *filters, *others;
		bool is_spe;
	} lists[] = {
		{ "cycles:u,{a,b}:S", "", "cycles:u,{a,b}:S", false },
		{ "arm_spe_0//", "", "", true },
		{ "arm_spe_0/load_filter=1,store_filter=1,min_latency=30/",
		  "load_filter=1,store_filter=1,min_latency=30", "", true },
		{ "arm_spe_0/ts_enable=1,period=4096/u", "ts_enable=1,interval=4096,user", "",
		  true },
		{ "cycles,arm_spe_0/jitter=1/k,r11", "jitter=1,kernel", "cycles,r11", true },
		{ "arm_spe_0/pa_enable/uk", "pa_enable", "", true },
		{ "arm_spe_0", "", "arm_spe_0", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct text filters = { 0 }, others = { 0 };

		print_message("%s\n", lists[i].events);
		assert_int_equal(spe_request_split(lists[i].events, &filters, &others),
				 lists[i].is_spe);
		text_char(&filters, '\0');
		text_char(&others, '\0');
		assert_string_equal(filters.bytes, lists[i].filters);
		assert_string_equal(others.bytes, lists[i].others);
		text_release(&filters);
		text_release(&others);
	}
}

/* Filters that leave the kernel out, or all but the kernel. */
static void modes_are_excluded(void **state)
{
	static const struct {
		const char *filters;
		bool no_kernel, no_user;
	} modes[] = { { "", false, false }, { "user", true, false }, { "kernel", false, true } };

	(void)state;
	for (size_t i = 0; i < COUNT(modes); i++) {
		struct record_events events = { 0 };
		struct pmus pmus = { 0 };
		struct tree tree;
		struct err err = { 0 };
		const struct record_event *e;

		tree_make(&tree, all_options);
		pmus_read(&pmus, tree.root);
		assert_int_equal(spe_request_add(&events, modes[i].filters, &pmus, 0, false, &err),
				 0);
		e = &events.list.items[0];
		assert_int_equal(attr_has(&e->attr, ATTR_EXCLUDE_KERNEL), modes[i].no_kernel);
		assert_int_equal(attr_has(&e->attr, ATTR_EXCLUDE_USER), modes[i].no_user);
		assert_int_equal(e->names_modes, modes[i].no_kernel || modes[i].no_user);
		record_events_release(&events);
		pmus_release(&pmus);
		tree_remove(&tree);
	}
}

/* Stacks beside SPE: at their own rate, whatever --count says of SPE; all other samples at that of --freq. */
static void stacks_for_callers_are_few(void **state)
{
	static const struct {
		uint64_t period, frequency, expected;
	} rates[] = { { 0, 0, RECORD_CALLERS_FREQUENCY },
		      { 4096, 0, RECORD_CALLERS_FREQUENCY },
		      { 0, 499, 499 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rates); i++) {
		const struct record_options options = { .period = rates[i].period,
							.frequency = rates[i].frequency };
		struct record_events events = { 0 };
		struct pmus pmus = { 0 };
		struct tree tree;
		struct err err = { 0 };
		const struct attr *stacks;

		tree_make(&tree, all_options);
		pmus_read(&pmus, tree.root);
		assert_int_equal(spe_request_add(&events, "", &pmus, rates[i].period, false, &err),
				 0);
		*vec_add(&events.list) = (struct record_event){ .name = "cycles",
								.leader = 1,
								.is_for_callers = true };
		assert_int_equal(record_attrs_complete(&events, &options, &pmus, tree.root, &err),
				 0);
		stacks = &events.list.items[1].attr;
		assert_true(stacks->sample_type >> SAMPLE_CALLCHAIN & 1);
		assert_true(attr_has(stacks, ATTR_FREQ));
		assert_int_equal(stacks->sample_period, rates[i].expected);
		assert_false(events.list.items[0].attr.sample_type >> SAMPLE_CALLCHAIN & 1);
		record_events_release(&events);
		pmus_release(&pmus);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_become_bits),
		cmocka_unit_test(old_drivers_say_what_they_lack),
		cmocka_unit_test(perf_spelling_is_taken),
		cmocka_unit_test(modes_are_excluded),
		cmocka_unit_test(stacks_for_callers_are_few),
		cmocka_unit_test(metadata_is_that_of_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
