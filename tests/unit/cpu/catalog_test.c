/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded catalog: which CPU a MIDR is, and what its SPE values mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/cpu.h"
#include "cpu/errata.h"
#include "cpu/internal.h"
#include "embedded_catalog.h"

static void knows_midrs(void **state)
{
	static const struct {
		uint64_t midr;
		const char *id; /* NULL: a name only */
		const char *description;
	} cases[] = {
		{ 0x413fd0c1, "neoverse-n1", "Neoverse N1" },
		{ 0x410fd0c0, "neoverse-n1", "Neoverse N1" },
		{ 0x411fd401, "neoverse-v1", "Neoverse V1" },
		{ 0x410fd490, "neoverse-n2", "Neoverse N2" },
		{ 0x6d0fd490, "neoverse-n2", "Microsoft Azure Cobalt 100 (N2 based)" },
		{ 0x410fd4f0, "neoverse-v2", "Neoverse V2" },
		{ 0x410fd830, "neoverse-v3", "Neoverse V3AE" },
		{ 0x410fd420, "cortex-a78", "Cortex-A78AE" },
		{ 0x420f1000, "cortex-a53", "Brahma-B53" },
		{ 0xc00fac40, "ampereone-ac4", "AmpereOneX" },
		{ 0x480fd060, "hisilicon-hip12", "HiSilicon HIP12" },
		{ 0xffffffff410fd0c1, "neoverse-n1", "Neoverse N1" }, /* upper half is reserved */
		{ 0xc00fac30, "ampereone", "AmpereOne" },
		{ 0x431f0af1, "thunderx2", "Cavium ThunderX2" },
		{ 0x481fd010, "hisilicon-tsv110", "HiSilicon TSV110" },
		{ 0x610f0220, NULL, "Apple M1 Icestorm" },
		{ 0x410ffff0, NULL, "Arm 0xfff" },
		{ 0x4e0f0ff0, NULL, "NVIDIA 0x0ff" },
		{ 0x990f1230, NULL, "implementer 0x99 part 0x123" },
		{ 0, NULL, "implementer 0x00 part 0x000" },
	};
	const struct catalog *catalog = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu *cpu = catalog_cpu_of_midr(catalog, cases[i].midr);
		char text[64];

		midr_describe(catalog, cases[i].midr, text, sizeof(text));
		assert_string_equal(text, cases[i].description);
		if (cases[i].id == NULL) {
			assert_null(cpu);
			continue;
		}
		assert_non_null(cpu);
		assert_string_equal(cpu_id(cpu), cases[i].id);
	}
}

static void describes_into_small_buffers(void **state)
{
	char text[] = "????????";

	midr_describe(*state, 0x413fd0c1, text, 5);
	assert_string_equal(text, "Neov");
	assert_int_equal(text[5], '?');
}

static void finds_by_name(void **state)
{
	static const struct {
		const char *name, *id; /* NULL: no such */
	} cases[] = {
		{ "neoverse-n1", "neoverse-n1" },
		{ "NEOVERSE-N1", "neoverse-n1" },
		{ "Neoverse N1", "neoverse-n1" },
		{ "aws graviton2", "neoverse-n1" },
		{ "NVIDIA Grace", "neoverse-v2" },
		{ "Microsoft Cobalt 100", "neoverse-n2" },
		{ "Neoverse V3AE", "neoverse-v3" },
		{ "AmpereOneX", "ampereone-ac4" },
		{ "Graviton3", "neoverse-v1" },
		{ "graviton 4", "neoverse-v2" },
		{ "Graviton", "cortex-a72" },
		{ "altra", "neoverse-n1" },
		{ "Altra Max", "neoverse-n1" },
		{ "ampere-one", "ampereone" },
		{ "Grace", "neoverse-v2" },
		{ "axion", "neoverse-v2" },
		{ "Kunpeng 920", "hisilicon-tsv110" },
		{ "kunpeng920", "hisilicon-tsv110" },
		{ "HIP12", "hisilicon-hip12" },
		{ "Raspberry Pi 5", "cortex-a76" },
		{ "raspberrypi4", "cortex-a72" },
		{ "Pi Zero 2 W", "cortex-a53" },
		{ "N1", "neoverse-n1" },
		{ "a72", "cortex-a72" },
		{ "cortex_a9", "cortex-a9" },
		{ "1176", "arm1176" },
		{ "A64FX", "fujitsu-a64fx" },
		{ "neoverse", NULL },
		{ "graviton 9", NULL },
		{ "-", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu *cpu = catalog_cpu_find(*state, cases[i].name);

		if (cases[i].id == NULL) {
			assert_null(cpu);
			continue;
		}
		assert_non_null(cpu);
		assert_string_equal(cpu_id(cpu), cases[i].id);
	}
}

static void names_data_sources(void **state)
{
	static const struct {
		const char *cpu;
		uint16_t value;
		const char *name; /* NULL: not known */
		enum source_level level;
		const char *spe_parser;
	} cases[] = {
		{ "neoverse-n1", 0x0, "L1D", SOURCE_L1, "L1D" },
		{ "neoverse-n1", 0x8, "L2", SOURCE_L2, "L2D" },
		{ "neoverse-n1", 0x9, "PEER_CORE", SOURCE_PEER_CORE, "PEER-CPU" },
		{ "neoverse-n1", 0xa, "LOCAL_CLUSTER", SOURCE_LOCAL_CLUSTER, "LOCAL-CLUSTER" },
		{ "neoverse-n1", 0xb, "SYS_CACHE", SOURCE_SYSTEM_CACHE, "LL-CACHE" },
		{ "neoverse-n1", 0xc, "PEER_CLUSTER", SOURCE_PEER_CLUSTER, "PEER-CLUSTER" },
		{ "neoverse-n1", 0xd, "REMOTE", SOURCE_REMOTE, "REMOTE" },
		{ "neoverse-n1", 0xe, "DRAM", SOURCE_DRAM, "DRAM" },
		{ "neoverse-n1", 0x1, NULL, SOURCE_UNKNOWN, NULL },
		{ "neoverse-n1", 0xffff, NULL, SOURCE_UNKNOWN, NULL },
		{ "Microsoft Cobalt 100", 0x9, "PEER_CORE", SOURCE_PEER_CORE, "PEER-CPU" },
		{ "cortex-x925", 0xe, "DRAM", SOURCE_DRAM, "DRAM" },
		{ "cortex-a725", 0xe, "DRAM", SOURCE_DRAM, "DRAM" },
		{ "ampereone-ac4", 0x0, "LOCAL_CHIP_CACHE_OR_DEVICE", SOURCE_PEER_CORE,
		  "PEER-CPU" },
		{ "ampereone-ac4", 0x8, "L1D", SOURCE_L1, "L1D" },
		{ "ampereone-ac4", 0xe, NULL, SOURCE_UNKNOWN, NULL },
		{ "hisilicon-hip12", 18, "L1", SOURCE_L1, "L1D" },
		{ "hisilicon-hip12", 9, "REMOTE_MEM", SOURCE_REMOTE_DRAM, "REMOTE" },
		{ "hisilicon-hip12", 13, "NC_DEV", SOURCE_DEVICE, NULL },
		{ "cortex-a720ae", 0x0, "L1D", SOURCE_L1, "L1D" },
		{ "neoverse-v3", 0xe, "DRAM", SOURCE_DRAM, "DRAM" },
		{ "cortex-a76", 0x0, NULL, SOURCE_UNKNOWN, NULL },
		{ "cortex-a53", 0x0, NULL, SOURCE_UNKNOWN, NULL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu *cpu = catalog_cpu_find(*state, cases[i].cpu);
		const struct cpu_source *source = cpu_source(cpu, cases[i].value);

		assert_non_null(cpu);
		if (cases[i].name == NULL) {
			assert_null(source);
			continue;
		}
		assert_non_null(source);
		assert_string_equal(source->name, cases[i].name);
		assert_int_equal(source->level, cases[i].level);
		assert_int_equal(source->spe_parser, cases[i].spe_parser != NULL);
		if (cases[i].spe_parser != NULL)
			assert_string_equal(source->spe_parser_name, cases[i].spe_parser);
	}
	assert_null(cpu_source(NULL, 0));
}

/* What --cpu takes: a revision behind a name, or a MIDR. */
static void finds_revisions(void **state)
{
	static const struct {
		const char *name, *cpu; /* cpu NULL: refused */
		uint64_t midr;
		const char *says;
	} cases[] = {
		{ "neoverse-n2", "neoverse-n2", 0, NULL },
		{ "neoverse-n2:r0p2", "neoverse-n2", 0x410fd492, NULL },
		{ "Neoverse N2:r1p3", "neoverse-n2", 0x411fd493, NULL },
		{ "0x410fd490", "neoverse-n2", 0x410fd490, NULL },
		{ "0x00000000413fd0c1", "neoverse-n1", 0x413fd0c1, NULL },
		{ "neoverse-n2:r16p0", NULL, 0, "as in neoverse-n2:r0p1" },
		{ "neoverse-n22:r0p0", NULL, 0, "did you mean neoverse-n2?" },
		{ "linux-generic:r0p0", NULL, 0, "not one of" },
		{ "0x41000ff0", NULL, 0, "implementer 0x41, part 0x0ff" },
		{ "0x410fd49z", NULL, 0, "not one of" },
		{ "0x", NULL, 0, "not one of" },
		{ "0x1234567890abcdef1", NULL, 0, "not one of" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		uint64_t midr = 0;
		const struct cpu *cpu = catalog_cpu_named(*state, cases[i].name, &midr, &err);

		if (cases[i].cpu == NULL) {
			assert_null(cpu);
			if (strstr(err.text, cases[i].says) == NULL)
				fail_msg("%s: %s", cases[i].name, err.text);
			continue;
		}
		assert_non_null(cpu);
		assert_string_equal(cpu_id(cpu), cases[i].cpu);
		assert_int_equal(midr, cases[i].midr);
		assert_ptr_equal(catalog_cpu_named(*state, cases[i].name, NULL, &err), cpu);
	}
}

static void names_events_and_cache_lines(void **state)
{
	const struct cpu *n1 = catalog_cpu_find(*state, "neoverse-n1");
	const struct cpu *v1 = catalog_cpu_find(*state, "neoverse-v1");

	assert_string_equal(cpu_spe_event(n1, 12), "LATE-PREFETCH");
	assert_null(cpu_spe_event(n1, 13));
	assert_null(cpu_spe_event(v1, 12));
	assert_null(cpu_spe_event(NULL, 12));
	assert_int_equal(cpu_cache_line(n1), 64);
	assert_int_equal(cpu_cache_line(catalog_cpu_find(*state, "cortex-a9")), 32);
	assert_int_equal(cpu_cache_line(catalog_cpu_find(*state, "generic-pmuv3")), 0);
	assert_int_equal(cpu_cache_line(NULL), 0);
	assert_int_equal(cpu_spe_ernd(n1), 0);
	assert_int_equal(cpu_spe_ernd(v1), -1);
	assert_int_equal(cpu_spe_ernd(NULL), -1);
}

static void knows_errata(void **state)
{
	static const struct {
		const char *cpu;
		uint64_t midr;
		const char *id; /* NULL: none */
	} cases[] = {
		{ "neoverse-n1", 0x413fd0c1, "1694299" }, /* r3p1 */
		{ "neoverse-n1", 0x414fd0c0, "1694299" }, /* r4p0 */
		{ "neoverse-n1", 0x414fd0c1, NULL },
		{ "neoverse-n1", 0x41ffd0c0, NULL },
		{ "neoverse-n1", 0, "1694299" },
		{ "neoverse-v1", 0x411fd401, NULL },
		{ "no such", 0, NULL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu *cpu = catalog_cpu_find(*state, cases[i].cpu);
		const struct cpu_erratum *e =
			cpu_erratum_find(cpu, cases[i].midr, ERRATUM_SPE_BIAS);

		assert_int_equal(e != NULL, cases[i].id != NULL);
		if (e == NULL)
			continue;
		assert_string_equal(e->id, cases[i].id);
		assert_string_equal(e->what, "targets of branches");
		assert_string_equal(e->fixed_in, "r4p1");
	}
}

static void knows_what_cores_can_keep(void **state)
{
	const struct cpu *n1 = catalog_cpu_find(*state, "neoverse-n1");

	assert_int_equal(catalog_own_cache_lines(*state, NULL), 8192);
	assert_int_equal(catalog_own_cache_lines(*state, n1), 8192);
	assert_int_equal(catalog_own_cache_lines(*state, catalog_cpu_find(*state, CPU_ANY)), 8192);
	assert_non_null(catalog_cpu_find(*state, CPU_ANY_ARM));
}

/* Generic entries. Cores with a PMU of their maker have no PMUv3. */
static void knows_what_stands_for_others(void **state)
{
	static const struct {
		uint64_t midr;
		const char *id;
	} cases[] = {
		{ 0, CPU_ANY },		     /* not known */
		{ 0x410ffff0, CPU_ANY_ARM }, /* Arm, an unknown part */
		{ 0x990f0010, CPU_ANY_ARM }, /* an unknown maker */
		{ 0x610f0231, CPU_ANY },     /* Apple M1 Firestorm */
		{ 0x610fff00, CPU_ANY },     /* Apple, an unknown part */
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(cpu_id(catalog_cpu_stand_in(*state, cases[i].midr)),
				    cases[i].id);
}

static void knows_makers(void **state)
{
	static const struct {
		const char *arch, *cpuid;
		const char *weight; /* how it begins; NULL: not known */
		bool has_latency_events;
	} cases[] = {
		{ "x86_64", "GenuineIntel-6-8F-8", "core cycles of the access", true },
		{ "i686", "GenuineIntel-6-8F-8", "core cycles of the access", true },
		{ "x86_64", "AuthenticAMD-25-1-1", "core cycles until a load", false },
		{ "x86_64", "HygonGenuine-24-0-1", "core cycles until a load", false },
		{ "ppc64le", "80,0200", "cycles between the two events", false },
		{ "aarch64", "0x00000000413fd0c1", "the total latency of the SPE", false },
		{ "aarch64", "", "the total latency of the SPE", false },
		{ "x86_64", "CentaurHauls-7-3-2", NULL, false },
		{ "x86_64", "", NULL, false },
		{ "", "", NULL, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cpu_maker *m =
			catalog_maker_find(*state, cases[i].arch, cases[i].cpuid);

		assert_int_equal(m != NULL, cases[i].weight != NULL);
		if (m != NULL)
			assert_memory_equal(m->weight, cases[i].weight, strlen(cases[i].weight));
		assert_int_equal(cpu_maker_samples_latency(m, 0x1cd), cases[i].has_latency_events);
		assert_int_equal(cpu_maker_samples_latency(m, UINT64_C(0x1000005d0)),
				 cases[i].has_latency_events);
		assert_false(cpu_maker_samples_latency(m, 0x82d0));
	}
}

static void names_levels(void **state)
{
	(void)state;
	for (int level = 0; level < N_SOURCE_LEVELS; level++)
		assert_int_equal(source_level_find(source_level_name((enum source_level)level)),
				 level);
	assert_int_equal(source_level_find("dram"), SOURCE_DRAM);
	assert_int_equal(source_level_find("l4"), -1);
}

/* Each embedded file has the CPU of its name, which is in the index; each CPU has a whole file and a short form. */
static void embeds_whole_files(void **state)
{
	size_t n = 0, n_short = 0;

	for (const struct embedded_file *f = catalog_files; f->name != NULL; f++) {
		json_t *root = json_loadb(f->bytes, f->size, JSON_REJECT_DUPLICATES, NULL);
		const char *id = json_string_value(json_object_get(root, "id"));

		assert_non_null(root);
		assert_int_equal(f->bytes[f->size], '\0');
		if (id != NULL) {
			assert_memory_equal(f->name, id, strlen(id));
			bool is_short = strcmp(f->name + strlen(id), ".costs.json") == 0;

			if (!is_short)
				assert_string_equal(f->name + strlen(id), ".json");
			assert_non_null(catalog_cpu_find(*state, id));
			n += !is_short;
			n_short += is_short;
		}
		json_decref(root);
	}
	assert_int_equal(n, catalog_n_cpus(*state));
	assert_int_equal(n_short, n);
	assert_true(n >= 54);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_midrs),
		cmocka_unit_test(describes_into_small_buffers),
		cmocka_unit_test(finds_by_name),
		cmocka_unit_test(finds_revisions),
		cmocka_unit_test(names_data_sources),
		cmocka_unit_test(names_events_and_cache_lines),
		cmocka_unit_test(knows_errata),
		cmocka_unit_test(knows_what_cores_can_keep),
		cmocka_unit_test(knows_what_stands_for_others),
		cmocka_unit_test(knows_makers),
		cmocka_unit_test(names_levels),
		cmocka_unit_test(embeds_whole_files),
	};

	return cmocka_run_group_tests(tests, open_embedded, close_catalog);
}
