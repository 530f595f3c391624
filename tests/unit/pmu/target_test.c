/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "count/counts.h"
#include "pmu/perf_event.h"
#include "tree.h"

static const struct tree_file files[] = {
	{ "/sys/devices/system/cpu/online", "0-1,3" },
	{ "/proc/12/comm", "server" },
	{ "/proc/12/task/12/comm", "server" },
	{ "/proc/12/task/13/comm", "worker" },
	{ "/proc/13/comm", "worker" },
	{ "/proc/40/task/40/comm", "other" },
	{ "/proc/40/comm", "other" },
	{ "/sys/fs/cgroup/web/front/cgroup.procs", "" },
	{ NULL, NULL },
};

static char *const command[] = { (char[]){ "true" }, NULL };

static void places_are_where_the_target_is(void **state)
{
	static const struct {
		struct target target;
		size_t n;
		struct target_place first;
	} cases[] = {
		{ { .command = command }, 1, { .pid = 99, .cpu = -1, .tid = -1 } },
		{ { .pids = "12" }, 2, { .pid = 12, .cpu = -1, .tid = 12, .where = "server" } },
		{ { .pids = "40,12" }, 3, { .pid = 40, .cpu = -1, .tid = 40, .where = "other" } },
		{ { .pids = "12,12" }, 2, { .pid = 12, .cpu = -1, .tid = 12, .where = "server" } },
		{ { .tids = "13" }, 1, { .pid = 13, .cpu = -1, .tid = 13, .where = "worker" } },
		{ { .pids = "40", .command = command },
		  1,
		  { .pid = 40, .cpu = -1, .tid = 40, .where = "other" } },
		{ { .all_cpus = true }, 3, { .pid = -1, .cpu = 0, .tid = -1 } },
		{ { .cpus = "3" }, 1, { .pid = -1, .cpu = 3, .tid = -1 } },
		{ { .cpus = "1,3", .command = command }, 2, { .pid = -1, .cpu = 1, .tid = -1 } },
	};
	struct tree tree;

	(void)state;
	tree_make(&tree, files);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct target_place *want = &cases[i].first, *place;
		struct target_places places;
		struct err err;

		if (places_find(&places, &cases[i].target, 99, tree.root, &err) < 0)
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(places.list.n, cases[i].n);
		place = &places.list.items[0];
		assert_int_equal(place->pid, want->pid);
		assert_int_equal(place->cpu, want->cpu);
		assert_int_equal(place->tid, want->tid);
		assert_false(place->is_cgroup);
		if (want->where != NULL)
			assert_string_equal(place->where, want->where);
		else
			assert_null(place->where);
		places_release(&places);
	}
	tree_remove(&tree);
}

static void a_cgroup_is_counted_on_each_cpu(void **state)
{
	struct target target = { .cgroup = "web/front" };
	struct target_places places;
	struct tree tree;
	struct err err;

	(void)state;
	tree_make(&tree, files);
	assert_int_equal(places_find(&places, &target, 0, tree.root, &err), 0);
	assert_int_equal(places.list.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(places.list.items[i].is_cgroup);
		assert_int_equal(places.list.items[i].pid, places.cgroup_fd);
		assert_string_equal(places.list.items[i].where, "web/front");
	}
	places_release(&places);
	tree_remove(&tree);
}

static void what_is_not_there_is_refused(void **state)
{
	static const struct {
		struct target target;
		const char *message;
	} cases[] = {
		{ { 0 }, "what is to be counted?" },
		{ { .pids = "77" }, "no process 77" },
		{ { .tids = "77" }, "no thread 77" },
		{ { .pids = "12,x" }, "is not a list of numbers" },
		{ { .pids = "12," }, "is not a list of numbers" },
		{ { .pids = "0" }, "is not a list of numbers" },
		{ { .pids = "-5" }, "is not a list of numbers" },
		{ { .tids = "99999999999999999999" }, "is not a list of numbers" },
		{ { .cpus = "2" }, "CPU 2 is not online; 0-1,3 are" },
		{ { .cpus = "0-65535" }, "CPU 2 is not online" },
		{ { .cpus = "" }, "is not a list of CPUs" },
		{ { .cpus = "zero" }, "is not a list of CPUs" },
		{ { .cgroup = "db" }, "no 'db' below /sys/fs/cgroup" },
		{ { .pids = "12", .all_cpus = true }, "either processes and threads are counted" },
	};
	struct tree tree;

	(void)state;
	tree_make(&tree, files);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target_places places;
		struct err err = { .text = "" };

		assert_int_equal(places_find(&places, &cases[i].target, 0, tree.root, &err), -1);
		if (strstr(err.text, cases[i].message) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		places_release(&places);
	}
	tree_remove(&tree);
}

static void a_zeroed_list_can_be_released(void **state)
{
	struct target_places places = { 0 };

	(void)state;
	places_release(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_where_the_target_is),
		cmocka_unit_test(a_cgroup_is_counted_on_each_cpu),
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(a_zeroed_list_can_be_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
