/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header features: what a capture says about the machine and the run. Format:
 * docs/reference/perf-data.md section 1.2.
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
	/* of simpleperf */
	FEATURE_FILE = 128,
	FEATURE_META_INFO = 129,
	FEATURE_FILE2 = 132,
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
	struct str_id cpus; /* a list, "0-3,8" */
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
	struct str_id pmu; /* "" for the PMU of CPU_PMU_CAPS */
	struct str_id name, value;
};

/* An entry of EVENT_DESC. */
struct event_desc {
	struct attr attr;
	struct str_id name;
	VEC_OF(uint64_t) ids;
};

/* What simpleperf's files are. */
enum stored_kind {
	STORED_KERNEL, /* addresses are those of the running kernel */
	STORED_KERNEL_MODULE,
	STORED_ELF,
	STORED_DEX,	/* addresses are offsets in the file */
	STORED_JIT_MAP, /* addresses are those of the process */
	STORED_OTHER,
};

#define OFFSET_UNKNOWN UINT64_MAX

/* A function of a file, looked up by the recorder. */
struct stored_function {
	uint64_t address; /* in the file */
	uint32_t size;	  /* 0: not known */
	struct str_id name;
};

/* A file whose functions the recorder stored: those that have samples. */
struct stored_file {
	struct str_id path;
	uint32_t kind;	      /* enum stored_kind */
	uint64_t min_address; /* lowest address of code … */
	uint64_t min_offset;  /* … and its offset: in the file; of a kernel module in memory */
	size_t first, n;      /* in stored_functions */
};

/* The name of an event, by its attr. */
struct event_name_entry {
	uint32_t type;
	uint64_t config;
	struct str_id name;
};

/* All features. Zero, "" or an empty list if a feature is missing. */
struct info {
	uint64_t features; /* bit n: feature n was read; simpleperf's have none */
	struct str_id hostname, os_release, perf_version, arch, cpu_desc, cpuid;
	struct str_id command_line; /* arguments joined with blanks */
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
	VEC_OF(struct stored_file) stored_files;
	VEC_OF(struct stored_function) stored_functions;
	VEC_OF(struct event_name_entry) event_names;
	uint64_t first_sample_ns, last_sample_ns; /* 0, 0 if unknown */
	uint64_t clock_resolution_ns;
	uint32_t clock_id;	/* of clock_time_ns */
	uint64_t clock_time_ns; /* on the events' clock … */
	uint64_t wall_clock_ns; /* … and since 1970, at the same moment; 0: not known */
	uint32_t compression_type, compression_level, compression_ratio, compressed_mmap_len;
};

void info_release(struct info *);

/*
 * Reads a feature section into `info`. A section that cannot be parsed is counted in `diags`. `at`:
 * position in the file. Returns whether it was read.
 */
bool feature_read(struct info *, unsigned feature, struct cursor bytes, uint64_t at,
		  struct strings *, struct diags *);

/* The name of a feature ("HOSTNAME"), or NULL. */
const char *feature_name(unsigned feature);

/* MIDR_EL1 in the CPUID feature; 0 if there is none. */
uint64_t info_midr(const struct info *, const struct strings *);

/*
 * The NUMA node of a physical address, by the capture's memory blocks; -1 if not known. Less than
 * INFO_NODES, so that a set of nodes fits into a word.
 */
enum { INFO_NODES = 64 };
int info_memory_node(const struct info *, uint64_t physical);

#endif
