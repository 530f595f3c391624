/* SPDX-License-Identifier: Apache-2.0 */
/* Sections are composed byte by byte, independently of the writer. */
#include "capture/format/info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/writer/emit.h"

/* What a test reads into. */
struct fixture {
	struct info info;
	struct strings strings;
	struct diags diags;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	strings_init(&f->strings);
}

static void fixture_release(struct fixture *f)
{
	info_release(&f->info);
	strings_release(&f->strings);
	diags_release(&f->diags);
}

static bool read_bytes(struct fixture *f, unsigned feature, const void *bytes, size_t size)
{
	if (size == 0)
		bytes = "";
	return feature_read(&f->info, feature, cur_of(bytes, size), 0x1000, &f->strings, &f->diags);
}

static void assert_text(const struct fixture *f, struct str_id id, const char *expected)
{
	assert_string_equal(strings_get(&f->strings, id), expected);
}

static void emit_strings(struct text *out, const char *a, const char *b)
{
	emit_u32(out, 2);
	emit_string(out, a);
	emit_string(out, b);
}

/* Each feature: composing a section, and checking what was read from it. */

static void compose_hostname(struct text *out)
{
	emit_string(out, "host");
}

static void check_hostname(const struct fixture *f)
{
	assert_text(f, f->info.hostname, "host");
}

static void compose_n_cpus(struct text *out)
{
	emit_u32(out, 6);
	emit_u32(out, 5);
}

static void check_n_cpus(const struct fixture *f)
{
	assert_int_equal(f->info.n_cpus_available, 6);
	assert_int_equal(f->info.n_cpus_online, 5);
}

static void compose_total_memory(struct text *out)
{
	emit_u64(out, 0x123456789);
}

static void check_total_memory(const struct fixture *f)
{
	assert_int_equal(f->info.total_memory_kb, 0x123456789);
}

static void compose_command_line(struct text *out)
{
	static const char *const args[] = { "perf", "-e", "a b", "", "it's", "x=1,y/z/", "$HOME" };

	emit_u32(out, COUNT(args));
	for (size_t i = 0; i < COUNT(args); i++)
		emit_string(out, args[i]);
}

static void check_command_line(const struct fixture *f)
{
	assert_text(f, f->info.command_line, "perf -e 'a b' '' 'it'\\''s' x=1,y/z/ '$HOME'");
}

/* One with a size, one without, one whose size is nonsense. */
static void compose_build_ids(struct text *out)
{
	static const struct {
		uint16_t misc;
		uint8_t size;
		const char *path;
	} entries[] = { { 0x8002, 8, "/bin/a" }, { 1, 0, "[kernel]" }, { 0x8002, 99, "/bin/b" } };

	for (unsigned i = 0; i < COUNT(entries); i++) {
		emit_u32(out, 0);
		emit_u16(out, entries[i].misc);
		emit_u16(out, 8 + 4 + 24 + 16);
		emit_u32(out, 100 + i);
		for (uint8_t k = 0; k < 20; k++)
			emit_bytes(out, &(uint8_t){ (uint8_t)(16 * i + k) }, 1);
		emit_u32(out, entries[i].size);
		emit_padded_text(out, entries[i].path, 16);
	}
}

static void check_build_ids(const struct fixture *f)
{
	static const uint8_t sizes[] = { 8, 20, 20 };

	assert_int_equal(f->info.build_ids.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct build_id_entry *entry = &f->info.build_ids.items[i];

		assert_int_equal(entry->pid, 100 + i);
		assert_int_equal(entry->id.size, sizes[i]);
		assert_int_equal(entry->id.bytes[7], 16 * i + 7);
		assert_int_equal(entry->id.bytes[8], i == 0 ? 0 : 16 * i + 8);
	}
	assert_int_equal(f->info.build_ids.items[1].misc & 7, 1);
	assert_text(f, f->info.build_ids.items[0].path, "/bin/a");
	assert_text(f, f->info.build_ids.items[2].path, "/bin/b");
}

static void compose_event_descs(struct text *out)
{
	uint8_t attr[ATTR_SIZE_MAX];

	emit_u32(out, 2);
	emit_u32(out, 72);
	for (uint32_t i = 0; i < 2; i++) {
		attr_write(&(struct attr){ .type = i, .size = 72, .config = 5 }, attr);
		emit_bytes(out, attr, 72);
		emit_u32(out, i * 2);
		emit_string(out, i == 0 ? "cycles:u" : "other");
		for (uint64_t id = 0; id < i * 2; id++)
			emit_u64(out, 900 + id);
	}
}

static void check_event_descs(const struct fixture *f)
{
	const struct event_desc *events = f->info.event_descs.items;

	assert_int_equal(f->info.event_descs.n, 2);
	assert_text(f, events[0].name, "cycles:u");
	assert_text(f, events[1].name, "other");
	assert_int_equal(events[1].attr.type, 1);
	assert_int_equal(events[1].attr.config, 5);
	assert_int_equal(events[0].ids.n, 0);
	assert_int_equal(events[1].ids.n, 2);
	assert_int_equal(events[1].ids.items[1], 901);
}

static void compose_numa_topology(struct text *out)
{
	emit_u32(out, 2);
	for (uint32_t i = 0; i < 2; i++) {
		emit_u32(out, i * 4);
		emit_u64(out, 1000 + i);
		emit_u64(out, 500 + i);
		emit_string(out, i == 0 ? "0-3" : "4-7");
	}
}

static void check_numa_topology(const struct fixture *f)
{
	assert_int_equal(f->info.numa_nodes.n, 2);
	assert_int_equal(f->info.numa_nodes.items[1].node, 4);
	assert_int_equal(f->info.numa_nodes.items[1].total_kb, 1001);
	assert_int_equal(f->info.numa_nodes.items[1].free_kb, 501);
	assert_text(f, f->info.numa_nodes.items[1].cpus, "4-7");
}

static void compose_pmus(struct text *out)
{
	emit_u32(out, 2);
	emit_u32(out, 1);
	emit_string(out, "software");
	emit_u32(out, 10);
	emit_string(out, "arm_spe_0");
}

static void check_pmus(const struct fixture *f)
{
	assert_int_equal(f->info.pmus.n, 2);
	assert_int_equal(f->info.pmus.items[1].type, 10);
	assert_text(f, f->info.pmus.items[1].name, "arm_spe_0");
}

static void compose_groups(struct text *out)
{
	emit_u32(out, 1);
	emit_string(out, "{cycles,instructions}");
	emit_u32(out, 3);
	emit_u32(out, 2);
}

static void check_groups(const struct fixture *f)
{
	assert_int_equal(f->info.groups.n, 1);
	assert_text(f, f->info.groups.items[0].name, "{cycles,instructions}");
	assert_int_equal(f->info.groups.items[0].leader, 3);
	assert_int_equal(f->info.groups.items[0].n_members, 2);
}

static void compose_caches(struct text *out)
{
	emit_u32(out, 1);
	emit_u32(out, 1);
	emit_u32(out, 2);
	emit_u32(out, 64);
	emit_u32(out, 2048);
	emit_u32(out, 8);
	emit_string(out, "Unified");
	emit_string(out, "1024K");
	emit_string(out, "0-1");
}

static void check_caches(const struct fixture *f)
{
	const struct cache_level *cache = f->info.caches.items;

	assert_int_equal(f->info.caches.n, 1);
	assert_int_equal(cache->level, 2);
	assert_int_equal(cache->line_bytes, 64);
	assert_int_equal(cache->sets, 2048);
	assert_int_equal(cache->ways, 8);
	assert_text(f, cache->type, "Unified");
	assert_text(f, cache->size, "1024K");
	assert_text(f, cache->cpus, "0-1");
}

static void compose_sample_time(struct text *out)
{
	emit_u64(out, 11);
	emit_u64(out, 22);
}

static void check_sample_time(const struct fixture *f)
{
	assert_int_equal(f->info.first_sample_ns, 11);
	assert_int_equal(f->info.last_sample_ns, 22);
}

static void compose_memory_topology(struct text *out)
{
	emit_u64(out, 1);
	emit_u64(out, 0x8000000);
	emit_u64(out, 2);
	for (uint64_t i = 0; i < 2; i++) {
		emit_u64(out, i);
		emit_u64(out, 65 - i);
		emit_u64(out, 65 - i);
		emit_u64(out, 0xf0 + i);
		if (i == 0)
			emit_u64(out, 1);
	}
}

static void check_memory_topology(const struct fixture *f)
{
	const struct memory_node *nodes = f->info.memory_nodes.items;

	assert_int_equal(f->info.memory_block_bytes, 0x8000000);
	assert_int_equal(f->info.memory_nodes.n, 2);
	assert_int_equal(nodes[0].blocks.n, 2);
	assert_int_equal(nodes[0].blocks.items[1], 1);
	assert_int_equal(nodes[1].node, 1);
	assert_int_equal(nodes[1].blocks.n, 1);
	assert_int_equal(nodes[1].blocks.items[0], 0xf1);
}

static void compose_clock_resolution(struct text *out)
{
	emit_u64(out, 40);
}

static void check_clock_resolution(const struct fixture *f)
{
	assert_int_equal(f->info.clock_resolution_ns, 40);
}

static void compose_clock_data(struct text *out)
{
	emit_u32(out, 1);
	emit_u32(out, 4);
	emit_u64(out, 1600000000000000000);
	emit_u64(out, 1234567890);
}

static void check_clock_data(const struct fixture *f)
{
	assert_int_equal(f->info.clock_id, 4);
	assert_int_equal(f->info.clock_time_ns, 1234567890);
	assert_int_equal(f->info.wall_clock_ns, 1600000000000000000);
}

static void compose_compression(struct text *out)
{
	for (uint32_t i = 0; i < 5; i++)
		emit_u32(out, i);
}

static void check_compression(const struct fixture *f)
{
	assert_int_equal(f->info.compression_type, 1);
	assert_int_equal(f->info.compression_level, 2);
	assert_int_equal(f->info.compression_ratio, 3);
	assert_int_equal(f->info.compressed_mmap_len, 4);
}

static void compose_cpu_pmu_caps(struct text *out)
{
	emit_u32(out, 1);
	emit_string(out, "slots");
	emit_string(out, "8");
}

static void check_cpu_pmu_caps(const struct fixture *f)
{
	const struct capability *last = &f->info.capabilities.items[f->info.capabilities.n - 1];

	assert_text(f, last->pmu, "");
	assert_text(f, last->name, "slots");
	assert_text(f, last->value, "8");
}

static void compose_pmu_caps(struct text *out)
{
	emit_u32(out, 2);
	emit_u32(out, 2);
	emit_string(out, "branches");
	emit_string(out, "32");
	emit_string(out, "max_precise");
	emit_string(out, "3");
	emit_string(out, "cpu_core");
	emit_u32(out, 1);
	emit_string(out, "branches");
	emit_string(out, "16");
	emit_string(out, "cpu_atom");
}

static void check_pmu_caps(const struct fixture *f)
{
	const struct capability *caps = f->info.capabilities.items;

	assert_int_equal(f->info.capabilities.n, 3);
	assert_text(f, caps[1].pmu, "cpu_core");
	assert_text(f, caps[1].name, "max_precise");
	assert_text(f, caps[1].value, "3");
	assert_text(f, caps[2].pmu, "cpu_atom");
	assert_text(f, caps[2].value, "16");
}

static void compose_nothing(struct text *out)
{
	(void)out;
}

/* Two functions of a file, as simpleperf stored them until 2021. */
static void compose_stored_file(struct text *out)
{
	size_t at = out->n;
	uint32_t size;

	emit_u32(out, 0);
	emit_bytes(out, "/a/b", 5);
	emit_u32(out, STORED_ELF);
	emit_u64(out, 0x1000);
	emit_u32(out, 2);
	emit_u64(out, 0x1100);
	emit_u32(out, 16);
	emit_bytes(out, "f", 2);
	emit_u64(out, 0x1200);
	emit_u32(out, 0);
	emit_bytes(out, "g<int>", 7);
	emit_u64(out, 0x800);
	size = (uint32_t)(out->n - at - 4);
	memcpy(out->bytes + at, &size, sizeof(size));
}

/* The same as a protocol buffer. */
static void compose_stored_file_2(struct text *out)
{
	static const char message[] = "\x0a\x04/a/b"
				      "\x10\x02"
				      "\x18\x80\x20"
				      "\x22\x08\x08\x80\x22\x10\x10\x1a\x01"
				      "f"
				      "\x22\x0b\x08\x80\x24\x1a\x06g<int>"
				      "\x32\x03\x08\x80\x10";

	emit_u32(out, sizeof(message) - 1);
	emit_bytes(out, message, sizeof(message) - 1);
}

static void check_stored_file(const struct fixture *f)
{
	const struct stored_file *file = f->info.stored_files.items;
	const struct stored_function *functions = f->info.stored_functions.items;

	assert_int_equal(f->info.stored_files.n, 1);
	assert_text(f, file->path, "/a/b");
	assert_int_equal(file->kind, STORED_ELF);
	assert_int_equal(file->min_address, 0x1000);
	assert_int_equal(file->min_offset, 0x800);
	assert_int_equal(file->first, 0);
	assert_int_equal(file->n, 2);
	assert_int_equal(functions[0].address, 0x1100);
	assert_int_equal(functions[0].size, 16);
	assert_text(f, functions[0].name, "f");
	assert_int_equal(functions[1].address, 0x1200);
	assert_int_equal(functions[1].size, 0);
	assert_text(f, functions[1].name, "g<int>");
}

static void compose_meta_info(struct text *out)
{
	static const char text[] = "event_type_info\0cpu-cycles,0,0\nno comma\nsched:a_b,2,47";

	emit_bytes(out, text, sizeof(text));
}

static void check_meta_info(const struct fixture *f)
{
	const struct event_name_entry *names = f->info.event_names.items;

	assert_int_equal(f->info.event_names.n, 2);
	assert_text(f, names[0].name, "cpu-cycles");
	assert_text(f, names[1].name, "sched:a_b");
	assert_int_equal(names[1].type, 2);
	assert_int_equal(names[1].config, 47);
}

static void check_nothing(const struct fixture *f)
{
	assert_int_equal(f->diags.list.n, 0);
}

static const struct subject {
	unsigned feature;
	void (*compose)(struct text *);
	void (*check)(const struct fixture *);
	size_t record; /* a section cut at a multiple of this is a sound one; 0: none is */
} subjects[] = {
	{ FEATURE_HOSTNAME, compose_hostname, check_hostname },
	{ FEATURE_NRCPUS, compose_n_cpus, check_n_cpus },
	{ FEATURE_TOTAL_MEM, compose_total_memory, check_total_memory },
	{ FEATURE_CMDLINE, compose_command_line, check_command_line },
	{ FEATURE_BUILD_ID, compose_build_ids, check_build_ids, 52 },
	{ FEATURE_EVENT_DESC, compose_event_descs, check_event_descs },
	{ FEATURE_NUMA_TOPOLOGY, compose_numa_topology, check_numa_topology },
	{ FEATURE_PMU_MAPPINGS, compose_pmus, check_pmus },
	{ FEATURE_GROUP_DESC, compose_groups, check_groups },
	{ FEATURE_CACHE, compose_caches, check_caches },
	{ FEATURE_SAMPLE_TIME, compose_sample_time, check_sample_time },
	{ FEATURE_MEM_TOPOLOGY, compose_memory_topology, check_memory_topology },
	{ FEATURE_CLOCKID, compose_clock_resolution, check_clock_resolution },
	{ FEATURE_CLOCK_DATA, compose_clock_data, check_clock_data },
	{ FEATURE_COMPRESSED, compose_compression, check_compression },
	{ FEATURE_CPU_PMU_CAPS, compose_cpu_pmu_caps, check_cpu_pmu_caps },
	{ FEATURE_PMU_CAPS, compose_pmu_caps, check_pmu_caps },
	{ FEATURE_FILE, compose_stored_file, check_stored_file },
	{ FEATURE_FILE2, compose_stored_file_2, check_stored_file },
	{ FEATURE_META_INFO, compose_meta_info, check_meta_info },
	{ FEATURE_BRANCH_STACK, compose_nothing, check_nothing },
	{ FEATURE_STAT, compose_nothing, check_nothing },
};

static void sections_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(subjects); i++) {
		struct fixture f;
		struct text bytes = { 0 };

		fixture_init(&f);
		subjects[i].compose(&bytes);
		assert_true(read_bytes(&f, subjects[i].feature, bytes.bytes, bytes.n));
		assert_int_equal(f.info.features, subjects[i].feature < N_FEATURES
							  ? (uint64_t)1 << subjects[i].feature
							  : 0);
		subjects[i].check(&f);
		/* Up to seven bytes of padding may follow in a pipe. A section may come again. */
		emit_zeros(&bytes, 7);
		assert_true(read_bytes(&f, subjects[i].feature, bytes.bytes, bytes.n));
		subjects[i].check(&f);
		assert_int_equal(f.diags.list.n, 0);
		text_release(&bytes);
		fixture_release(&f);
	}
}

/* Reads a section that must be refused, leave the info alone and be counted. */
static void assert_refused(struct fixture *f, unsigned feature, const uint8_t *bytes, size_t size)
{
	struct info before = f->info;
	uint64_t lost = diags_bytes(&f->diags, DIAG_NOTE);

	assert_false(read_bytes(f, feature, bytes, size));
	assert_memory_equal(&f->info, &before, sizeof(before));
	assert_int_equal(diags_bytes(&f->diags, DIAG_NOTE), lost + size);
}

static void sections_cut_anywhere_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(subjects); i++) {
		struct fixture f;
		struct text bytes = { 0 };

		fixture_init(&f);
		subjects[i].compose(&bytes);
		for (size_t size = 1; size < bytes.n; size++) {
			uint8_t *cut = mem_alloc(size, 1);

			memcpy(cut, bytes.bytes, size);
			if (subjects[i].record > 0 && size % subjects[i].record < 36)
				read_bytes(&f, subjects[i].feature, cut, size);
			else
				assert_refused(&f, subjects[i].feature, cut, size);
			free(cut);
		}
		text_release(&bytes);
		fixture_release(&f);
	}
}

/* Any number replaced by the largest one: no read past the end, no huge allocation. */
static void absurd_numbers_do_no_harm(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(subjects); i++) {
		struct fixture f;
		struct text bytes = { 0 };

		fixture_init(&f);
		subjects[i].compose(&bytes);
		read_bytes(&f, FEATURE_NRCPUS, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
		for (size_t at = 0; at + 4 <= bytes.n; at++) {
			uint8_t *copy = mem_alloc(bytes.n, 1);

			memcpy(copy, bytes.bytes, bytes.n);
			memset(copy + at, 0xff, 4);
			read_bytes(&f, subjects[i].feature, copy, bytes.n);
			free(copy);
		}
		assert_true(f.info.capabilities.cap < 10000);
		text_release(&bytes);
		fixture_release(&f);
	}
}

static void an_empty_section_says_nothing(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	assert_false(read_bytes(&f, FEATURE_CPUDESC, NULL, 0));
	assert_false(read_bytes(&f, FEATURE_NUMA_TOPOLOGY, NULL, 0));
	assert_false(read_bytes(&f, 0, "abcd", 4));
	assert_false(read_bytes(&f, N_FEATURES, "abcd", 4));
	assert_false(read_bytes(&f, UINT32_MAX, "abcd", 4));
	assert_int_equal(f.info.features, 0);
	assert_int_equal(f.diags.list.n, 0);
	/* An empty string is one. */
	assert_true(read_bytes(&f, FEATURE_VERSION, "\0\0\0\0", 4));
	assert_text(&f, f.info.perf_version, "");
	fixture_release(&f);
}

static void capabilities_of_both_features_add_up(void **state)
{
	struct fixture f;
	struct text bytes = { 0 };

	(void)state;
	fixture_init(&f);
	compose_pmu_caps(&bytes);
	assert_true(read_bytes(&f, FEATURE_PMU_CAPS, bytes.bytes, bytes.n));
	text_reset(&bytes);
	compose_cpu_pmu_caps(&bytes);
	assert_true(read_bytes(&f, FEATURE_CPU_PMU_CAPS, bytes.bytes, bytes.n));
	assert_int_equal(f.info.capabilities.n, 4);
	check_cpu_pmu_caps(&f);
	text_release(&bytes);
	fixture_release(&f);
}

/* The topology of four CPUs as files of different ages have it. */
static void cpu_topology_of_all_ages(void **state)
{
	static const struct {
		uint32_t n_cpus; /* of NRCPUS; 0: not there */
		bool has_table, has_dies;
		size_t missing; /* bytes cut off */
		bool ok;
		size_t n_places;
		uint32_t die; /* of the last */
	} cases[] = {
		{ 4, true, true, 0, true, 4, 13 },   { 4, true, false, 0, true, 4, 0 },
		{ 4, false, false, 0, true, 0, 0 },  { 0, true, true, 0, true, 0, 0 },
		{ 4, true, true, 1, false, 0, 0 },   { 4, true, false, 1, false, 0, 0 },
		{ 4, true, true, 17, false, 0, 0 },  { 4, false, false, 1, false, 0, 0 },
		{ 99, true, false, 0, false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fixture f;
		struct text bytes = { 0 };

		fixture_init(&f);
		f.info.n_cpus_available = cases[i].n_cpus;
		emit_strings(&bytes, "0-1", "2-3");
		emit_strings(&bytes, "0", "1");
		for (uint32_t cpu = 0; cases[i].has_table && cpu < 4; cpu++) {
			emit_u32(&bytes, cpu);
			emit_u32(&bytes, 20 + cpu);
		}
		if (cases[i].has_dies)
			emit_strings(&bytes, "0-1", "2-3");
		for (uint32_t cpu = 0; cases[i].has_dies && cpu < 4; cpu++)
			emit_u32(&bytes, 10 + cpu);
		assert_int_equal(read_bytes(&f, FEATURE_CPU_TOPOLOGY, bytes.bytes,
					    bytes.n - cases[i].missing),
				 cases[i].ok);
		assert_int_equal(f.info.cpu_places.n, cases[i].n_places);
		if (cases[i].n_places > 0) {
			assert_int_equal(f.info.cpu_places.items[3].core, 3);
			assert_int_equal(f.info.cpu_places.items[3].socket, 23);
			assert_int_equal(f.info.cpu_places.items[3].die, cases[i].die);
		}
		text_release(&bytes);
		fixture_release(&f);
	}
}

static void midr_comes_from_the_cpuid(void **state)
{
	static const struct {
		const char *cpuid;
		uint64_t midr;
	} cases[] = {
		{ "0x00000000413fd0c1", 0x413fd0c1 },
		{ "0x00000000410fd4f0", 0x410fd4f0 },
		{ "", 0 },
		{ "GenuineIntel-6-55-4", 0 },
		{ "0x", 0 },
		{ "0x410fd0c0-1", 0 },
		{ "75,513", 0 },
		{ "0xfffffffffffffffff", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fixture f;

		fixture_init(&f);
		f.info.cpuid = strings_addz(&f.strings, cases[i].cpuid);
		assert_int_equal(info_midr(&f.info, &f.strings), cases[i].midr);
		fixture_release(&f);
	}
}

static void features_have_names(void **state)
{
	(void)state;
	assert_null(feature_name(0));
	assert_string_equal(feature_name(FEATURE_HOSTNAME), "HOSTNAME");
	assert_string_equal(feature_name(FEATURE_PMU_CAPS), "PMU_CAPS");
	assert_int_equal(FEATURE_PMU_CAPS, 31);
	for (unsigned i = 1; i < N_FEATURES; i++)
		assert_non_null(feature_name(i));
	assert_null(feature_name(N_FEATURES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_read),
		cmocka_unit_test(sections_cut_anywhere_are_refused),
		cmocka_unit_test(absurd_numbers_do_no_harm),
		cmocka_unit_test(an_empty_section_says_nothing),
		cmocka_unit_test(capabilities_of_both_features_add_up),
		cmocka_unit_test(cpu_topology_of_all_ages),
		cmocka_unit_test(midr_comes_from_the_cpuid),
		cmocka_unit_test(features_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
