/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side-band records made by code, fed to a timeline. Times are in nanoseconds; time 0 is how
 * perf marks records it made up for what was there before.
 */
#ifndef CYCLOPS_TESTS_PROCESS_FIXTURE_H
#define CYCLOPS_TESTS_PROCESS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/text.h"
#include "process/place_numbers.h"
#include "process/timeline.h"

struct fixture {
	struct timeline *timeline;
	struct place_numbers *places;
	struct info info;
	struct strings strings; /* of info */
	struct text body;	/* of the record being made */
	bool is_timeless;	/* records come without a sample_id, at the time as position */
};

void fixture_init(struct fixture *);
void fixture_release(struct fixture *);

/* Also says which files have this build-id: one byte, repeated. Before fixture_freeze(). */
void fixture_build_id(struct fixture *, const char *path, uint16_t misc, uint8_t byte);
void fixture_freeze(struct fixture *);

/* An executable MMAP2 of a process's main thread. */
void feed_map(struct fixture *, uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t length,
	      uint64_t page_offset, const char *path);

struct map_record {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t start, length, page_offset;
	uint32_t map_flags;
	uint16_t misc;
	uint8_t build_id; /* one byte, repeated; 0: none */
	bool is_old;	  /* MMAP instead of MMAP2 */
	const char *path;
};
void feed_mmap(struct fixture *, const struct map_record *);

/* A kernel MMAP. */
void feed_kernel(struct fixture *, uint64_t time_ns, uint64_t start, uint64_t length,
		 uint64_t page_offset, const char *path);
void feed_ksymbol(struct fixture *, uint64_t time_ns, uint64_t address, uint32_t length,
		  uint16_t flags, const char *name);
void feed_comm(struct fixture *, uint64_t time_ns, uint32_t pid, uint32_t tid, const char *comm);
void feed_exec(struct fixture *, uint64_t time_ns, uint32_t pid, const char *comm);

/* Process or thread `pid`, `tid` made by `ppid`, `ptid`. */
void feed_fork(struct fixture *, uint64_t time_ns, uint32_t pid, uint32_t tid, uint32_t ppid,
	       uint32_t ptid);

/* The same as newer perf makes it up: marked as not inheriting mappings. */
void feed_made_up_fork(struct fixture *, uint32_t pid, uint32_t tid, uint32_t ppid);
void feed_exit(struct fixture *, uint64_t time_ns, uint32_t pid, uint32_t tid);

/* SWITCH_CPU_WIDE and SWITCH of thread (pid, tid) on a cpu. */
void feed_switch_wide(struct fixture *, uint64_t time_ns, uint32_t cpu, bool is_out, uint32_t pid,
		      uint32_t tid, uint32_t other_pid, uint32_t other_tid);
void feed_switch(struct fixture *, uint64_t time_ns, uint32_t cpu, bool is_out, uint32_t pid,
		 uint32_t tid);
void feed_itrace_start(struct fixture *, uint64_t time_ns, uint32_t cpu, uint32_t pid,
		       uint32_t tid);

/* Any record, with its bytes. */
void feed_bytes(struct fixture *, uint32_t type, uint16_t misc, const void *body, size_t size,
		const struct sample_id *);

/* Path of the module at an address of the process with this pid, "" if nothing is there. */
const char *path_at(const struct fixture *, uint32_t pid, uint64_t time_ns, uint64_t address);

/* The same in the kernel. */
const char *kernel_path_at(const struct fixture *, uint64_t time_ns, uint64_t address);

/* Name of the thread, "" if it has none. */
const char *comm_of(const struct fixture *, uint32_t tid, uint64_t time_ns);

/* Pid of the process of a thread, -1 if not known. */
int64_t pid_of(const struct fixture *, uint32_t tid, uint64_t time_ns);

#endif
