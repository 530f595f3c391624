/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and threads over time. Add in order of time, then freeze. A pid that is used again
 * after its process ended is a new process.
 */
#ifndef CYCLOPS_PROCESS_TASKS_H
#define CYCLOPS_PROCESS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "process/history.h"
#include "process/spaces.h"
#include "process/timeline.h"

/* Process and name of a thread, for some time. */
struct thread_state {
	uint32_t process;
	struct str_id comm;
};

/* State of a process, while records are added. */
struct process_state {
	uint32_t space;
	uint32_t n_alive; /* threads without EXIT */
	bool has_exec, has_maps;
};

/* State of a thread, while records are added. */
struct thread_now {
	struct thread_state state;
	bool is_known, is_alive;
};

struct tasks {
	VEC_OF(struct process) processes; /* 0: unknown, 1: the idle task */
	VEC_OF(struct process_state) states;
	VEC_OF(struct thread_state) thread_states;
	VEC_OF(struct thread_now) threads; /* by number in `tids` */
	VEC_OF(uint32_t) pid_owners;	   /* by number in `pids`: the process that has it now */
	struct tuples pids, tids;
	struct history by_pid; /* process by number in `pids` */
	struct history by_tid; /* thread state by number in `tids` */
	struct spaces *spaces; /* borrowed */
};

enum { PROCESS_IDLE = 1 };

/* `idle_name` is the name of the idle task. */
void tasks_init(struct tasks *, struct spaces *, struct str_id idle_name);
void tasks_release(struct tasks *);

/* The process that has this pid now. An unknown one is added, as begun before the capture. */
uint32_t tasks_process(struct tasks *, uint32_t pid);

/* Thread `tid` belongs to process `pid` at this time. */
void tasks_seen(struct tasks *, uint32_t pid, uint32_t tid, uint64_t time_ns);

struct task_fork {
	uint32_t pid, tid, parent_pid, parent_tid;
	uint64_t time_ns;
	bool has_maps;	   /* the child inherits its parent's mappings */
	bool is_synthetic; /* made by perf from /proc: the process existed before */
};
void tasks_fork(struct tasks *, const struct task_fork *);
void tasks_exit(struct tasks *, uint32_t pid, uint32_t tid, uint64_t time_ns);
void tasks_comm(struct tasks *, uint32_t pid, uint32_t tid, struct str_id comm, uint64_t time_ns);
void tasks_exec(struct tasks *, uint32_t pid, uint32_t tid, struct str_id comm, uint64_t time_ns);

/* The space that a new mapping of this process belongs to. */
uint32_t tasks_space_to_map(struct tasks *, uint32_t process);

/* Sets all starts and ends of processes to unknown: for captures without times. */
void tasks_forget_times(struct tasks *);

/* `kthreadd` is the name of the process whose children are the kernel's own threads. */
void tasks_freeze(struct tasks *, struct str_id kthreadd);

/* After tasks_freeze(). Process of a pid or tid, HISTORY_NONE if not known. */
struct span tasks_find_pid(const struct tasks *, uint32_t pid, uint64_t time_ns);
struct span tasks_find_tid(const struct tasks *, uint32_t tid, uint64_t time_ns);
struct str_id tasks_comm_of(const struct tasks *, uint32_t tid, uint64_t time_ns);

#endif
