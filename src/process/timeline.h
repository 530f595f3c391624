/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes, threads, their names and mappings over time. Built from the side-band records of pass
 * 1, then frozen: from there on constant, and shared without locks.
 */
#ifndef CYCLOPS_PROCESS_TIMELINE_H
#define CYCLOPS_PROCESS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "capture/capture.h"
#include "process/history.h"
#include "process/jit_dumps.h"
#include "process/module.h"

struct pool;
struct timeline;

struct timeline *timeline_new(void);
void timeline_free(struct timeline *);

/*
 * Takes one side-band record of pass 1 (a capture_visit function): MMAP, MMAP2, COMM, FORK,
 * EXIT, SWITCH, SWITCH_CPU_WIDE, ITRACE_START, KSYMBOL, NAMESPACES; of others only which
 * process their sample_id says a thread belongs to. Records may come out of time order.
 * Records without a time, as perf makes them up for what was there before, come first.
 */
void timeline_visit(void *timeline, const struct record *, const struct sample_id *);

/* Dumps of JIT compilers that were mapped (jit_dumps_find()), and their code. Before timeline_freeze(). */
struct jit_dump *timeline_jit_dumps(const struct timeline *, size_t *out_n);
void timeline_map_jit(struct timeline *, const struct jit_dump *, const struct jit_code *,
		      size_t n);

/* There are samples of guests: without it, their addresses are in no module. Before timeline_freeze(). */
void timeline_add_guests(struct timeline *);

/*
 * What is loaded in the kernel of the guest of process `pid`, at [first, last]; pid 0: of those that have nothing of their own.
 * Before timeline_freeze().
 */
void timeline_map_guest(struct timeline *, uint32_t pid, uint64_t first, uint64_t last,
			const char *path);

/*
 * Orders everything by time and builds the look-up structures. `info` brings build-ids; it
 * and its strings must outlive the timeline. Afterwards the timeline is read-only. `pool`: who does it; NULL: the caller alone.
 */
void timeline_freeze(struct timeline *, const struct info *, const struct strings *, struct pool *);

/* Diagnostics: records that contradict each other and such. */
const struct diags *timeline_diags(const struct timeline *);

const struct modules *timeline_modules(const struct timeline *);

/*
 * Processes in order of first appearance; index 0 is "unknown" and index 1 the idle task,
 * pid 0, "swapper".
 */
struct process {
	uint32_t pid;
	uint32_t parent;	   /* a lower index, 0 if unknown */
	uint64_t start_ns, end_ns; /* 0 and UINT64_MAX when before or after the capture */
	struct str_id comm;	   /* the last name of its main thread */
	uint32_t n_threads;	   /* seen, at least 1 */
	bool is_kernel;		   /* pid 0, or a thread of the kernel's */
	/* the file that it runs, the same for equal build-ids; 0: not known */
	struct module_id program;
};

size_t timeline_n_processes(const struct timeline *);

/* How many processes run this program. */
uint32_t timeline_n_of_program(const struct timeline *, struct module_id);
const struct process *timeline_process(const struct timeline *, uint32_t index);

/* Strings of the timeline: comms, module paths. */
const struct strings *timeline_strings(const struct timeline *);

/* As a time: not known. The state at the end of the capture is used. */
#define TIMELINE_NO_TIME UINT64_MAX

/*
 * Captures of a single thread may have no times at all. Then this is true, and the functions
 * below take a record's position in the file for its time: such files are in order.
 */
bool timeline_is_by_position(const struct timeline *);

/*
 * The process with this pid at this time, 0 if none. Pids may be used again; until then a
 * process keeps its pid, because its last instructions run after its EXIT record.
 */
uint32_t timeline_process_of_pid(const struct timeline *, uint32_t pid, uint64_t time_ns);

/* The process this thread belonged to at this time, 0 if not known. */
uint32_t timeline_process_of_tid(const struct timeline *, uint32_t tid, uint64_t time_ns);

/* The name of the thread at this time; "" if it has none. */
struct str_id timeline_comm(const struct timeline *, uint32_t tid, uint64_t time_ns);

/*
 * The thread that ran on this cpu at this time according to switch records and
 * ITRACE_START; false if they do not tell.
 */
bool timeline_tid_on_cpu(const struct timeline *, uint32_t cpu, uint64_t time_ns, uint32_t *tid);

/* The same with the time span in which the answer holds, for caches. HISTORY_NONE: not known. */
struct span timeline_pid_span(const struct timeline *, uint32_t pid, uint64_t time_ns);
struct span timeline_tid_span(const struct timeline *, uint32_t tid, uint64_t time_ns);
struct span timeline_cpu_span(const struct timeline *, uint32_t cpu, uint64_t time_ns);

/* To whom an address belongs, besides the index of a process. */
#define PLACE_OF_KERNEL 0u
#define PLACE_OF_NOBODY UINT32_MAX /* the process is not known, or nothing of ours */
/* To the guest of a process (| its index, 0 if that is not known), such as qemu: to its kernel, or to its user space. */
#define PLACE_OF_GUEST_KERNEL 0x80000000u
#define PLACE_OF_GUEST_USER 0xc0000000u

static inline bool place_is_of_guest(uint32_t whose)
{
	return whose >= PLACE_OF_GUEST_KERNEL && whose != PLACE_OF_NOBODY;
}

/*
 * An answer of timeline_place(). It holds in [from_ns, to_ns) for all addresses [first, last] of
 * the process; offsets differ by as much as addresses.
 */
struct placed {
	struct place place; /* module 0: nothing is known to be mapped there; offset: address */
	uint64_t from_ns, to_ns;
	uint64_t first, last;
	bool is_data; /* mapped, but not executable */
};

/* The place of an address of a process (with the mappings it inherited), or of the kernel. */
struct placed timeline_place(const struct timeline *, uint32_t process, bool is_kernel,
			     uint64_t address, uint64_t time_ns);

/* The same by PLACE_OF_…, also for guests. */
struct placed timeline_place_of(const struct timeline *, uint32_t whose, uint64_t address,
				uint64_t time_ns);

#endif
