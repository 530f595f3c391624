/* SPDX-License-Identifier: Apache-2.0 */
/* Writes features about the machine: docs/reference/perf-data.md section 1.2. */
#include "record/machine_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "cpu/cpu.h"
#include "pmu/machine.h"
#include "system/system.h"

#define CPUS "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node"

struct machine_reader {
	struct writer *writer;
	const char *root;
	struct arena text; /* for texts until they are written */
};

/* The value of the first line "name : value", which is for the first CPU; NULL if there is none. */
static const char *first_cpuinfo_value(struct machine_reader *m, const char *cpuinfo,
				       const char *name)
{
	for (const char *line = cpuinfo; line != NULL && *line != '\0';) {
		size_t len = strlen(name);

		if (strncmp(line, name, len) == 0 && strchr("\t :", line[len]) != NULL) {
			const char *value = line + len + strspn(line + len, "\t :");

			return arena_strndup(&m->text, value, strcspn(value, "\n"));
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return NULL;
}

/* The CPUs of a list in /sys; empty if it cannot be read. */
static struct cpu_list machine_info_read_cpus(struct machine_reader *m, const char *name)
{
	char line[SYSTEM_LINE_MAX];
	struct cpu_list list = { 0 };
	struct err ignored;

	if (system_line(m->root, line, sizeof(line), CPUS "/%s", name))
		cpu_list_parse(line, &m->text, &list, &ignored);
	return list;
}

static uint64_t first_midr(struct machine_reader *m)
{
	struct cpu_list online = machine_info_read_cpus(m, "online");

	return online.n > 0 ? machine_midr(m->root, online.items[0].first) : 0;
}

static void set_arm_identity(const struct machine_reader *m, uint64_t midr)
{
	struct catalog *catalog;
	char text[128];
	struct err err;

	snprintf(text, sizeof(text), "0x%016" PRIx64, midr);
	writer_feature_string(m->writer, FEATURE_CPUID, text);
	if (catalog_open(NULL, &catalog, &err) < 0)
		return;
	midr_describe(catalog, midr, text, sizeof(text));
	writer_feature_string(m->writer, FEATURE_CPUDESC, text);
	catalog_free(catalog);
}

static bool add_x86_id(struct machine_reader *m, const char *cpuinfo, struct text *out)
{
	static const char *const names[] = { "vendor_id", "cpu family", "model", "stepping" };
	const char *values[COUNT(names)];

	for (size_t i = 0; i < COUNT(names); i++) {
		values[i] = first_cpuinfo_value(m, cpuinfo, names[i]);
		if (values[i] == NULL)
			return false;
	}
	for (size_t i = 0; i < COUNT(names); i++)
		text_format(out, "%s%s", i > 0 ? "," : "", values[i]);
	return true;
}

bool machine_x86_id(const char *root, struct text *out)
{
	struct machine_reader m = { .root = root };
	struct text cpuinfo = { 0 };
	bool is_known = false;

	if (system_text(root, &cpuinfo, "/proc/cpuinfo")) {
		text_char(&cpuinfo, '\0');
		is_known = add_x86_id(&m, cpuinfo.bytes, out);
	}
	text_release(&cpuinfo);
	arena_release(&m.text);
	return is_known;
}

static void set_x86_identity(struct machine_reader *m, const char *cpuinfo)
{
	const char *description = first_cpuinfo_value(m, cpuinfo, "model name");
	struct text id = { 0 };

	if (add_x86_id(m, cpuinfo, &id)) {
		text_char(&id, '\0');
		writer_feature_string(m->writer, FEATURE_CPUID, id.bytes);
	}
	if (description != NULL)
		writer_feature_string(m->writer, FEATURE_CPUDESC, description);
	text_release(&id);
}

static void set_identity(struct machine_reader *m)
{
	struct text cpuinfo = { 0 };
	uint64_t midr = first_midr(m);

	if (midr != 0) {
		set_arm_identity(m, midr);
	} else if (system_text(m->root, &cpuinfo, "/proc/cpuinfo")) {
		text_char(&cpuinfo, '\0');
		set_x86_identity(m, cpuinfo.bytes);
	}
	text_release(&cpuinfo);
}

static void set_system(struct machine_reader *m)
{
	struct text meminfo = { 0 };
	struct utsname system;
	const char *total;

	uname(&system);
	writer_feature_string(m->writer, FEATURE_HOSTNAME, system.nodename);
	writer_feature_string(m->writer, FEATURE_OSRELEASE, system.release);
	writer_feature_string(m->writer, FEATURE_ARCH, system.machine);
	if (system_text(m->root, &meminfo, "/proc/meminfo")) {
		text_char(&meminfo, '\0');
		total = first_cpuinfo_value(m, meminfo.bytes, "MemTotal");
		if (total != NULL)
			writer_feature_u64(m->writer, FEATURE_TOTAL_MEM, strtoull(total, NULL, 10));
	}
	text_release(&meminfo);
}

/* Distinct strings, in the order of first appearance. */
struct lists {
	VEC_OF(const char *) items;
};

static void add_list(struct machine_reader *m, struct lists *lists, const char *text)
{
	for (size_t i = 0; i < lists->items.n; i++)
		if (strcmp(lists->items.items[i], text) == 0)
			return;
	*vec_add(&lists->items) = arena_strndup(&m->text, text, strlen(text));
}

/* Adds a CPU's list of siblings. `old_name` is the file in older kernels. */
static void add_siblings(struct machine_reader *m, struct lists *lists, uint32_t cpu,
			 const char *name, const char *old_name)
{
	char list[SYSTEM_LINE_MAX];

	if (system_line(m->root, list, sizeof(list), CPUS "/cpu%" PRIu32 "/topology/%s", cpu,
			name) ||
	    system_line(m->root, list, sizeof(list), CPUS "/cpu%" PRIu32 "/topology/%s", cpu,
			old_name))
		add_list(m, lists, list);
}

static uint32_t topology_number(const struct machine_reader *m, uint32_t cpu, const char *name)
{
	int64_t value;

	if (!system_number(m->root, &value, CPUS "/cpu%" PRIu32 "/topology/%s", cpu, name))
		return UINT32_MAX; /* an offline CPU: perf writes -1 */
	return (uint32_t)value;
}

static void set_topology(struct machine_reader *m, uint32_t n_cpus)
{
	struct lists cores = { 0 }, dies = { 0 }, threads = { 0 };
	VEC_OF(struct cpu_place) places = { 0 };

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		add_siblings(m, &cores, cpu, "package_cpus_list", "core_siblings_list");
		add_siblings(m, &dies, cpu, "die_cpus_list", "die_cpus_list");
		add_siblings(m, &threads, cpu, "core_cpus_list", "thread_siblings_list");
		*vec_add(&places) = (struct cpu_place){
			.core = topology_number(m, cpu, "core_id"),
			.socket = topology_number(m, cpu, "physical_package_id"),
			.die = topology_number(m, cpu, "die_id"),
		};
	}
	writer_cpu_topology(m->writer, &(struct writer_cpu_topology){
					       .core_siblings = cores.items.items,
					       .thread_siblings = threads.items.items,
					       .die_siblings = dies.items.items,
					       .n_core_siblings = cores.items.n,
					       .n_thread_siblings = threads.items.n,
					       .n_die_siblings = dies.items.n,
					       .places = places.items,
					       .n_places = places.n,
				       });
	vec_release(&cores.items);
	vec_release(&dies.items);
	vec_release(&threads.items);
	vec_release(&places);
}

static void set_cpus(struct machine_reader *m)
{
	struct cpu_list present = machine_info_read_cpus(m, "present"),
			online = machine_info_read_cpus(m, "online");
	uint32_t available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);

	if (present.n > 0)
		available = present.items[present.n - 1].last + 1;
	writer_n_cpus(m->writer, available,
		      online.n > 0 ? (uint32_t)cpu_list_n(&online) : available);
	set_topology(m, available);
}

/* The numbers N of the entries in a directory that are called PREFIXN, such as "cpu7". */
struct numbers {
	VEC_OF(uint32_t) list;
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void add_numbers(struct numbers *out, const struct system_names *names, const char *prefix)
{
	size_t len = strlen(prefix);
	uint32_t number;
	char end;

	for (size_t i = 0; i < names->n; i++)
		if (strncmp(names->items[i], prefix, len) == 0 &&
		    sscanf(names->items[i] + len, "%" SCNu32 "%c", &number, &end) == 1)
			*vec_add(&out->list) = number;
	if (out->list.n > 1)
		qsort(out->list.items, out->list.n, sizeof(uint32_t), by_number);
}

/* The kB of a line such as "Node 0 MemTotal: 123 kB" */
static uint64_t node_kb(const char *meminfo, const char *name)
{
	const char *at = strstr(meminfo, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static struct writer_numa_node numa_node(struct machine_reader *m, uint32_t number)
{
	struct writer_numa_node node = { .node = number, .cpus = "" };
	char cpus[SYSTEM_LINE_MAX];
	struct text meminfo = { 0 };

	if (system_text(m->root, &meminfo, NODES "/node%" PRIu32 "/meminfo", number)) {
		text_char(&meminfo, '\0');
		node.total_kb = node_kb(meminfo.bytes, "MemTotal:");
		node.free_kb = node_kb(meminfo.bytes, "MemFree:");
	}
	if (system_line(m->root, cpus, sizeof(cpus), NODES "/node%" PRIu32 "/cpulist", number))
		node.cpus = arena_strndup(&m->text, cpus, strlen(cpus));
	text_release(&meminfo);
	return node;
}

static void set_numa(struct machine_reader *m, const struct numbers *nodes)
{
	VEC_OF(struct writer_numa_node) list = { 0 };

	for (size_t i = 0; i < nodes->list.n; i++)
		*vec_add(&list) = numa_node(m, nodes->list.items[i]);
	if (list.n > 0)
		writer_numa_topology(m->writer, list.items, list.n);
	vec_release(&list);
}

/* A node with its memory blocks, a bit for each. */
static struct writer_memory_node memory_node(struct machine_reader *m, uint32_t node)
{
	struct system_names names = system_list(m->root, &m->text, NODES "/node%" PRIu32, node);
	struct numbers blocks = { 0 };
	uint64_t n_bits = 0, *bits;

	add_numbers(&blocks, &names, "memory");
	if (blocks.list.n > 0)
		n_bits = (uint64_t)blocks.list.items[blocks.list.n - 1] + 1;
	bits = arena_alloc(&m->text, (n_bits / 64 + 1) * sizeof(*bits));
	memset(bits, 0, (n_bits / 64 + 1) * sizeof(*bits));
	for (size_t i = 0; i < blocks.list.n; i++)
		bits[blocks.list.items[i] / 64] |= (uint64_t)1 << blocks.list.items[i] % 64;
	vec_release(&blocks.list);
	return (struct writer_memory_node){ .node = node, .blocks = bits, .n_blocks = n_bits };
}

static void write_memory_topology(struct machine_reader *m, const struct numbers *nodes)
{
	VEC_OF(struct writer_memory_node) list = { 0 };
	char block[64];

	/* The number is hexadecimal, without "0x". */
	if (!system_line(m->root, block, sizeof(block),
			 "/sys/devices/system/memory/block_size_bytes"))
		return;
	for (size_t i = 0; i < nodes->list.n; i++)
		*vec_add(&list) = memory_node(m, nodes->list.items[i]);
	writer_memory_topology(m->writer, strtoull(block, NULL, 16), list.items, list.n);
	vec_release(&list);
}

static void set_nodes(struct machine_reader *m)
{
	struct system_names names = system_list(m->root, &m->text, NODES);
	struct numbers nodes = { 0 };

	add_numbers(&nodes, &names, "node");
	set_numa(m, &nodes);
	write_memory_topology(m, &nodes);
	vec_release(&nodes.list);
}

static const char *cache_text(struct machine_reader *m, uint32_t cpu, uint32_t index,
			      const char *name)
{
	char text[SYSTEM_LINE_MAX];

	if (!system_line(m->root, text, sizeof(text),
			 CPUS "/cpu%" PRIu32 "/cache/index%" PRIu32 "/%s", cpu, index, name))
		return "";
	return arena_strndup(&m->text, text, strlen(text));
}

static uint32_t cache_number(struct machine_reader *m, uint32_t cpu, uint32_t index,
			     const char *name)
{
	return (uint32_t)strtoul(cache_text(m, cpu, index, name), NULL, 10);
}

struct caches {
	VEC_OF(struct writer_cache) list;
};

static void add_cache(struct machine_reader *m, struct caches *caches, uint32_t cpu, uint32_t index)
{
	struct writer_cache cache = {
		.level = cache_number(m, cpu, index, "level"),
		.line_bytes = cache_number(m, cpu, index, "coherency_line_size"),
		.sets = cache_number(m, cpu, index, "number_of_sets"),
		.ways = cache_number(m, cpu, index, "ways_of_associativity"),
		.type = cache_text(m, cpu, index, "type"),
		.size = cache_text(m, cpu, index, "size"),
		.cpus = cache_text(m, cpu, index, "shared_cpu_list"),
	};

	for (size_t i = 0; i < caches->list.n; i++) {
		const struct writer_cache *c = &caches->list.items[i];

		if (c->level == cache.level && strcmp(c->type, cache.type) == 0 &&
		    strcmp(c->cpus, cache.cpus) == 0)
			return; /* already added for another CPU that shares it */
	}
	*vec_add(&caches->list) = cache;
}

static int by_level(const void *a, const void *b)
{
	const struct writer_cache *x = a, *y = b;
	int type = strcmp(x->type, y->type);

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return type != 0 ? type : strverscmp(x->cpus, y->cpus);
}

static void add_caches_of(struct machine_reader *m, struct caches *caches, uint32_t cpu)
{
	struct system_names names =
		system_list(m->root, &m->text, CPUS "/cpu%" PRIu32 "/cache", cpu);
	struct numbers indexes = { 0 };

	add_numbers(&indexes, &names, "index");
	for (size_t i = 0; i < indexes.list.n; i++)
		add_cache(m, caches, cpu, indexes.list.items[i]);
	vec_release(&indexes.list);
}

static void set_caches(struct machine_reader *m)
{
	struct cpu_list online = machine_info_read_cpus(m, "online");
	struct caches caches = { 0 };

	for (size_t i = 0; i < cpu_list_n(&online); i++)
		add_caches_of(m, &caches, cpu_list_at(&online, i));
	if (caches.list.n > 0) {
		qsort(caches.list.items, caches.list.n, sizeof(caches.list.items[0]), by_level);
		writer_caches(m->writer, caches.list.items, caches.list.n);
	}
	vec_release(&caches.list);
}

void record_machine(struct writer *w, const char *root)
{
	struct machine_reader m = { .writer = w, .root = root };

	set_system(&m);
	set_identity(&m);
	set_cpus(&m);
	set_nodes(&m);
	set_caches(&m);
	arena_release(&m.text);
}
