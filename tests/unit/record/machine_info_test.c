/* SPDX-License-Identifier: Apache-2.0 */
/* Features of fake machines, read back from a capture. */
#include "record/machine_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/capture.h"
#include "../pmu/tree.h"

#define CPU "/sys/devices/system/cpu/"
#define NODE "/sys/devices/system/node/"

/* A capture with the features of a machine, and nothing else. */
static struct capture *capture_of(const struct tree_file *files)
{
	const struct writer_event event = { .attr = { .type = 1 } };
	char path[] = "/tmp/cyclops-machine-XXXXXX";
	struct capture *c;
	struct writer *w;
	struct tree tree;
	struct err err;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	tree_make(&tree, files);
	assert_int_equal(writer_open(path, &event, 1, &w, &err), 0);
	record_machine(w, tree.root);
	assert_int_equal(writer_close(w, &err), 0);
	assert_int_equal(capture_open(path, &c, &err), 0);
	assert_int_equal(capture_scan(c, NULL, NULL, &err), 0);
	assert_int_equal(capture_diags(c)->list.n, 0);
	unlink(path);
	tree_remove(&tree);
	return c;
}

static void expect_text(const struct capture *c, struct str_id id, const char *text)
{
	assert_string_equal(strings_get(capture_strings(c), id), text);
}

static bool has_feature(const struct capture *c, unsigned feature)
{
	return capture_info(c)->features >> feature & 1;
}

/* Two sockets of one core each, the second with a thread that is offline. */
static const struct tree_file x86_server[] = {
	{ "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			   "model\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\nstepping\t: 7\n\n"
			   "processor\t: 1\nmodel name\t: Another" },
	{ "/proc/meminfo", "MemTotal:       16000 kB\nMemFree:         7 kB" },
	{ CPU "online", "0-1" },
	{ CPU "present", "0-2" },
	{ CPU "cpu0/topology/core_id", "0" },
	{ CPU "cpu0/topology/physical_package_id", "0" },
	{ CPU "cpu0/topology/die_id", "0" },
	{ CPU "cpu0/topology/package_cpus_list", "0" },
	{ CPU "cpu1/topology/core_id", "4" },
	{ CPU "cpu1/topology/physical_package_id", "1" },
	{ CPU "cpu1/topology/die_id", "2" },
	{ CPU "cpu1/topology/core_siblings_list", "1" }, /* of an older kernel */
	{ CPU "cpu0/cache/index0/level", "1" },
	{ CPU "cpu0/cache/index0/type", "Data" },
	{ CPU "cpu0/cache/index0/size", "32K" },
	{ CPU "cpu0/cache/index0/coherency_line_size", "64" },
	{ CPU "cpu0/cache/index0/number_of_sets", "64" },
	{ CPU "cpu0/cache/index0/ways_of_associativity", "8" },
	{ CPU "cpu0/cache/index0/shared_cpu_list", "0" },
	{ CPU "cpu0/cache/index2/level", "3" },
	{ CPU "cpu0/cache/index2/type", "Unified" },
	{ CPU "cpu0/cache/index2/size", "8M" },
	{ CPU "cpu0/cache/index2/shared_cpu_list", "0-1" },
	{ CPU "cpu1/cache/index0/level", "1" },
	{ CPU "cpu1/cache/index0/type", "Data" },
	{ CPU "cpu1/cache/index0/shared_cpu_list", "1" },
	{ CPU "cpu1/cache/index2/level", "3" },
	{ CPU "cpu1/cache/index2/type", "Unified" },
	{ CPU "cpu1/cache/index2/shared_cpu_list", "0-1" },
	{ NODE "node10/meminfo", "Node 10 MemTotal:  300 kB\nNode 10 MemFree:  20 kB" },
	{ NODE "node10/cpulist", "1" },
	{ NODE "node10/memory70/online", "1" },
	{ NODE "node2/meminfo", "Node 2 MemTotal:  100 kB\nNode 2 MemFree:  10 kB" },
	{ NODE "node2/cpulist", "0" },
	{ NODE "node2/memory0/online", "1" },
	{ NODE "node2/memory3/online", "1" },
	{ NODE "node2/memory_failure/total", "0" }, /* no block */
	{ NODE "possible", "0-10" },
	{ "/sys/devices/system/memory/block_size_bytes", "8000000" },
	{ NULL, NULL },
};

static void who_the_machine_is(void **state)
{
	struct capture *c = capture_of(x86_server);
	const struct info *info = capture_info(c);
	struct utsname system;

	(void)state;
	uname(&system);
	expect_text(c, info->hostname, system.nodename);
	expect_text(c, info->os_release, system.release);
	expect_text(c, info->arch, system.machine);
	expect_text(c, info->cpuid, "GenuineIntel,6,85,7");
	expect_text(c, info->cpu_desc, "Some CPU @ 2 GHz");
	assert_int_equal(info->total_memory_kb, 16000);
	capture_free(c);
}

static void where_the_cpus_are(void **state)
{
	static const struct cpu_place want[] = {
		{ 0, 0, 0 },
		{ 4, 1, 2 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX },
	};
	struct capture *c = capture_of(x86_server);
	const struct info *info = capture_info(c);

	(void)state;
	assert_int_equal(info->n_cpus_available, 3);
	assert_int_equal(info->n_cpus_online, 2);
	assert_int_equal(info->cpu_places.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(info->cpu_places.items[i].core, want[i].core);
		assert_int_equal(info->cpu_places.items[i].socket, want[i].socket);
		assert_int_equal(info->cpu_places.items[i].die, want[i].die);
	}
	capture_free(c);
}

/* Shared caches are listed once; those of a level in order of their CPUs. */
static void which_caches_there_are(void **state)
{
	struct capture *c = capture_of(x86_server);
	const struct info *info = capture_info(c);
	const struct cache_level *first;

	(void)state;
	assert_int_equal(info->caches.n, 3);
	first = &info->caches.items[0];
	assert_int_equal(first->level, 1);
	assert_int_equal(first->line_bytes, 64);
	assert_int_equal(first->sets, 64);
	assert_int_equal(first->ways, 8);
	expect_text(c, first->type, "Data");
	expect_text(c, first->size, "32K");
	expect_text(c, first->cpus, "0");
	expect_text(c, info->caches.items[1].cpus, "1");
	assert_int_equal(info->caches.items[2].level, 3);
	expect_text(c, info->caches.items[2].size, "8M");
	expect_text(c, info->caches.items[2].cpus, "0-1");
	capture_free(c);
}

/* In order of numbers, which differs from that of names. */
static void which_memory_belongs_to_whom(void **state)
{
	struct capture *c = capture_of(x86_server);
	const struct info *info = capture_info(c);

	(void)state;
	assert_int_equal(info->numa_nodes.n, 2);
	assert_int_equal(info->numa_nodes.items[0].node, 2);
	assert_int_equal(info->numa_nodes.items[0].total_kb, 100);
	assert_int_equal(info->numa_nodes.items[0].free_kb, 10);
	expect_text(c, info->numa_nodes.items[0].cpus, "0");
	assert_int_equal(info->numa_nodes.items[1].node, 10);
	assert_int_equal(info->numa_nodes.items[1].total_kb, 300);
	expect_text(c, info->numa_nodes.items[1].cpus, "1");

	assert_int_equal(info->memory_block_bytes, 0x8000000);
	assert_int_equal(info->memory_nodes.n, 2);
	assert_int_equal(info->memory_nodes.items[0].node, 2);
	assert_int_equal(info->memory_nodes.items[0].blocks.n, 1);
	assert_int_equal(info->memory_nodes.items[0].blocks.items[0], 0x9);
	assert_int_equal(info->memory_nodes.items[1].node, 10);
	assert_int_equal(info->memory_nodes.items[1].blocks.n, 2);
	assert_int_equal(info->memory_nodes.items[1].blocks.items[0], 0);
	assert_int_equal(info->memory_nodes.items[1].blocks.items[1], 1 << 6);
	capture_free(c);
}

static void arm_says_it_by_midr(void **state)
{
	static const struct tree_file files[] = {
		{ CPU "online", "1" },
		{ CPU "present", "0-1" },
		{ CPU "cpu1/regs/identification/midr_el1", "0x00000000413fd0c1" },
		{ "/proc/cpuinfo", "model name\t: of no use" },
		{ NULL, NULL },
	};
	struct capture *c = capture_of(files);

	(void)state;
	expect_text(c, capture_info(c)->cpuid, "0x00000000413fd0c1");
	assert_non_null(
		strstr(strings_get(capture_strings(c), capture_info(c)->cpu_desc), "Neoverse N1"));
	capture_free(c);
}

/* An incomplete MIDR is left out. */
static void what_is_not_told_is_left_out(void **state)
{
	static const struct tree_file nothing[] = { { NULL, NULL } };
	static const struct tree_file half[] = {
		{ "/proc/cpuinfo", "vendor_id\t: X\nmodel\t: 1\nmodel name : Y" },
		{ NULL, NULL },
	};
	static const unsigned features[] = { FEATURE_CPUID,	   FEATURE_CPUDESC,
					     FEATURE_TOTAL_MEM,	   FEATURE_NUMA_TOPOLOGY,
					     FEATURE_MEM_TOPOLOGY, FEATURE_CACHE };
	struct capture *c = capture_of(nothing);

	(void)state;
	for (size_t i = 0; i < COUNT(features); i++)
		assert_false(has_feature(c, features[i]));
	assert_true(has_feature(c, FEATURE_HOSTNAME));
	assert_true(capture_info(c)->n_cpus_online > 0);
	capture_free(c);

	c = capture_of(half);
	assert_false(has_feature(c, FEATURE_CPUID));
	expect_text(c, capture_info(c)->cpu_desc, "Y");
	capture_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_the_machine_is),
		cmocka_unit_test(where_the_cpus_are),
		cmocka_unit_test(which_caches_there_are),
		cmocka_unit_test(which_memory_belongs_to_whom),
		cmocka_unit_test(arm_says_it_by_midr),
		cmocka_unit_test(what_is_not_told_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
