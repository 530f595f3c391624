/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture says of the machine and the run: the header features.
 * Format: docs/reference/perf-data.md section 1.2.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_INFO_H
#define CYCLOPS_CAPTURE_FORMAT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strings.h"
#include "base/vec.h"
#include "capture/format/attr.h"

/* Feature bit numbers. */
enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	N_FEATURES,
};

enum { BUILD_ID_MAX = 20 };

struct build_id {
	uint8_t size; /* 0: unknown */
	uint8_t bytes[BUILD_ID_MAX];
};

struct build_id_entry {
	struct build_id id;
	struct str_id path;
	int32_t pid;
	uint16_t misc; /* cpumode in bits 2..0 */
};

struct cpu_place {
	uint32_t core, socket, die;
};

struct numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	struct str_id cpus; /* list such as "0-3,8" */
};

struct memory_node {
	uint64_t node;
	VEC_OF(uint64_t) blocks; /* bit i: memory block i belongs to the node */
};

struct pmu_name {
	uint32_t type;
	struct str_id name;
};

struct event_group {
	struct str_id name;
	uint32_t leader, n_members;
};

struct cache_level {
	uint32_t level, line_bytes, sets, ways;
	struct str_id type, size, cpus;
};

struct capability {
	struct str_id pmu; /* "" for the cpu PMU of CPU_PMU_CAPS */
	struct str_id name, value;
};

/* Entry of the EVENT_DESC feature. */
struct event_desc {
	struct attr attr;
	struct str_id name;
	VEC_OF(uint64_t) ids;
};

/* Everything the features say. Zero, "" or an empty list where the capture does not say. */
struct info {
	uint64_t features; /* bit n: feature n was present and could be read */
	struct str_id hostname, os_release, perf_version, arch, cpu_desc, cpuid;
	struct str_id command_line; /* the arguments joined with blanks */
	uint32_t n_cpus_available, n_cpus_online;
	uint64_t total_memory_kb;
	VEC_OF(struct build_id_entry) build_ids;
	VEC_OF(struct event_desc) event_descs;
	VEC_OF(struct cpu_place) cpu_places; /* by cpu */
	VEC_OF(struct numa_node) numa_nodes;
	uint64_t memory_block_bytes;
	VEC_OF(struct memory_node) memory_nodes;
	VEC_OF(struct pmu_name) pmus;
	VEC_OF(struct event_group) groups;
	VEC_OF(struct cache_level) caches;
	VEC_OF(struct capability) capabilities;
	uint64_t first_sample_ns, last_sample_ns; /* 0, 0 if unknown */
	uint64_t clock_resolution_ns;
	uint32_t clock_id;	/* of clock_time_ns */
	uint64_t clock_time_ns; /* the events' clock … */
	uint64_t wall_clock_ns; /* … and the wall clock (since 1970) at one moment; 0 unknown */
	uint32_t compression_type, compression_level, compression_ratio, compressed_mmap_len;
};

void info_release(struct info *);

/*
 * Reads one feature section into `info`. A section that does not parse is counted in
 * `diags`, and the rest of the capture goes on. `at` is its position in the file.
 * Returns whether it was read.
 */
bool feature_read(struct info *, unsigned feature, struct cursor bytes, uint64_t at,
		  struct strings *, struct diags *);

/* Name of a feature bit ("HOSTNAME"), or NULL. */
const char *feature_name(unsigned feature);

/* The MIDR_EL1 of the CPUID feature, 0 if it is not there or not an Arm one. */
uint64_t info_midr(const struct info *, const struct strings *);

/*
 * The NUMA node of a physical address, by the memory blocks that the capture lists; -1: not
 * known. Below INFO_NODES, so that sets of nodes fit a word.
 */
enum { INFO_NODES = 64 };
int info_memory_node(const struct info *, uint64_t physical);

#endif
