/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/pmu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tree.h"

static void a_server_has_core_pmu_spe_and_mesh(void **state)
{
	struct tree tree;
	struct pmus pmus = { 0 };
	const struct pmu *core, *spe, *cmn;

	(void)state;
	tree_make(&tree, tree_neoverse_n1);
	pmus_read(&pmus, tree.root);
	assert_int_equal(pmus.list.n, 5);
	core = pmus_core(&pmus, 0);
	assert_string_equal(core->name, "armv8_pmuv3_0");
	assert_int_equal(core->type, 8);
	assert_true(core->is_arm);
	assert_false(core->is_uncore);
	assert_int_equal(cpu_list_n(&core->cpus), 4);
	assert_int_equal(core->n_formats, 2);
	assert_null(pmu_format_find(core, "broken"));
	assert_string_equal(pmu_alias_find(core, "CPU_CYCLES")->terms, "event=0x0011");
	assert_int_equal(pmu_cap_number(core, "slots", 0), 8);
	assert_int_equal(pmu_cap_number(core, "bus_slots", 5), 5);
	assert_null(pmus_core(&pmus, 1));
	assert_ptr_equal(pmus_core_of_cpu(&pmus, 3), core);
	assert_null(pmus_core_of_cpu(&pmus, 4));

	spe = pmus_find(&pmus, "arm_spe_0");
	assert_false(spe->is_core);
	assert_int_equal(pmu_cap_number(spe, "min_interval", 0), 1024);
	cmn = pmus_find(&pmus, "arm_cmn_1");
	assert_true(cmn->is_uncore);
	assert_int_equal(cpu_list_at(&cmn->cpus, 0), 2);
	assert_string_equal(pmu_alias_find(cmn, "dtc_cycles")->unit, "Mcycles");
	assert_true(pmu_alias_find(cmn, "dtc_cycles")->scale == 1e-6);
	assert_int_equal(cmn->n_aliases, 1);
	assert_null(pmus_find(&pmus, "cpu"));
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void mixed_cores_have_a_pmu_each(void **state)
{
	struct tree tree;
	struct pmus pmus = { 0 };

	(void)state;
	tree_make(&tree, tree_big_little);
	pmus_read(&pmus, tree.root);
	assert_string_equal(pmus_core(&pmus, 0)->name, "armv8_cortex_a53");
	assert_string_equal(pmus_core(&pmus, 1)->name, "armv8_cortex_a72");
	assert_null(pmus_core(&pmus, 2));
	assert_ptr_equal(pmus_core_of_cpu(&pmus, 5), pmus_core(&pmus, 1));
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void a_machine_may_have_nothing(void **state)
{
	struct tree tree;
	struct pmus pmus = { 0 };

	(void)state;
	tree_make(&tree, NULL);
	pmus_read(&pmus, tree.root);
	assert_int_equal(pmus.list.n, 0);
	assert_null(pmus_core(&pmus, 0));
	assert_null(pmus_at(&pmus, 0));
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void nonsense_is_left_out(void **state)
{
	static const struct tree_file files[] = {
		{ "/sys/bus/event_source/devices/cpu/type", "4" },
		{ "/sys/bus/event_source/devices/cpu/events/empty", "" },
		{ "/sys/bus/event_source/devices/cpu/events/scaled", "event=1" },
		{ "/sys/bus/event_source/devices/cpu/events/scaled.scale", "-inf" },
		{ "/sys/bus/event_source/devices/cpu/cpus", "0-x" },
		{ "/sys/bus/event_source/devices/no_type/format/event", "config:0-7" },
		{ "/sys/bus/event_source/devices/word/type", "eight" },
		{ "/sys/bus/event_source/devices/negative/type", "-8" },
		{ "/sys/bus/event_source/devices/huge/type", "4294967296" },
		{ NULL, NULL },
	};
	struct tree tree;
	struct pmus pmus = { 0 };
	const struct pmu *cpu;

	(void)state;
	tree_make(&tree, files);
	pmus_read(&pmus, tree.root);
	assert_int_equal(pmus.list.n, 1);
	cpu = pmus_core(&pmus, 0);
	assert_int_equal(cpu->n_aliases, 1);
	assert_true(cpu->aliases[0].scale == 1);
	assert_int_equal(cpu->cpus.n, 0);
	assert_ptr_equal(pmus_core_of_cpu(&pmus, 77), cpu);
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void formats_say_where_bits_go(void **state)
{
	static const struct {
		const char *text;
		bool is_good;
		uint8_t word;
		uint64_t bits, value, placed;
	} cases[] = {
		{ "config:0-7", true, 0, 0xff, 0x11, 0x11 },
		{ "config1:0", true, 1, 1, 1, 1 },
		{ "config2:0-11", true, 2, 0xfff, 0x123, 0x123 },
		{ "config3:63", true, 3, 1ull << 63, 1, 1ull << 63 },
		{ "config:0-63", true, 0, UINT64_MAX, 0x1234567890abcdef, 0x1234567890abcdef },
		{ "config:0-7,32-35", true, 0, 0xf000000ffull, 0x5ab, 0x5000000ab },
		{ "config:0-7,21", true, 0, 0x2000ff, 0x1c0, 0x2000c0 },
		{ "config:8-15,0-7", true, 0, 0xffff, 0x1234, 0x1234 },
		{ "config5:0", false },
		{ "config:64", false },
		{ "config:7-0", false },
		{ "config:0-64", false },
		{ "config:", false },
		{ "config:0-", false },
		{ "config:-1", false },
		{ "config:0,", false },
		{ "config:99999999999999999999", false },
		{ "config", false },
		{ "", false },
		{ ":", false },
		{ "conf:0-7", false },
		{ "config:0-7 ", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pmu_format format = { 0 };

		assert_int_equal(pmu_format_parse(cases[i].text, &format), cases[i].is_good);
		if (!cases[i].is_good)
			continue;
		assert_int_equal(format.word, cases[i].word);
		assert_int_equal(format.bits, cases[i].bits);
		assert_int_equal(pmu_format_place(&format, cases[i].value), cases[i].placed);
		assert_int_equal(pmu_format_place(&format, pmu_format_max(&format)), format.bits);
	}
}

static void formats_cut_short_are_never_misread(void **state)
{
	static const char whole[] = "config1:10-17,32-35";
	char cut[sizeof(whole)];

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		struct pmu_format format = { 0 };

		memcpy(cut, whole, n);
		cut[n] = '\0';
		if (pmu_format_parse(cut, &format))
			assert_true(format.word == 1 && format.bits != 0 && cut[n - 1] >= '0');
	}
}

static void arm_says_which_common_events_it_has(void **state)
{
	struct tree tree;
	struct pmus pmus = { 0 };
	const struct pmu *core;

	(void)state;
	tree_make(&tree, tree_neoverse_n1);
	pmus_read(&pmus, tree.root);
	core = pmus_core(&pmus, 0);
	assert_true(pmu_has_event(core, 0x11));
	assert_true(pmu_has_event(core, 0x08));
	assert_false(pmu_has_event(core, 0x23));
	assert_false(pmu_has_event(core, 0x4005));
	assert_true(pmu_has_event(core, 0x70));
	assert_true(pmu_has_event(core, 0x8000));
	pmu_forget_events(&pmus, core, (const uint64_t[]){ 0x70, 0x11 }, 2);
	assert_false(pmu_has_event(core, 0x70));
	assert_false(pmu_has_event(core, 0x11));
	assert_true(pmu_has_event(core, 0x08));
	pmus_release(&pmus);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_has_core_pmu_spe_and_mesh),
		cmocka_unit_test(mixed_cores_have_a_pmu_each),
		cmocka_unit_test(a_machine_may_have_nothing),
		cmocka_unit_test(nonsense_is_left_out),
		cmocka_unit_test(formats_say_where_bits_go),
		cmocka_unit_test(formats_cut_short_are_never_misread),
		cmocka_unit_test(arm_says_which_common_events_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
