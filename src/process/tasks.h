/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and threads over time. Fed in order of time, then frozen. Pids and tids are used
 * again after their owners ended; each use is a process of its own.
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

/* What a thread is for some time. */
struct thread_state {
	uint32_t process;
	struct str_id comm;
};

/* What else is known of a process while records are fed. */
struct process_state {
	uint32_t space;
	uint32_t n_alive; /* threads without EXIT */
	bool has_exec, has_maps;
};

/* What a thread is now, while records are fed. */
struct thread_now {
	struct thread_state state;
	bool is_known, is_alive;
};

struct tasks {
	VEC_OF(struct process) processes; /* 0: unknown, 1: the idle task */
	VEC_OF(struct process_state) states;
	VEC_OF(struct thread_state) thread_states;
	VEC_OF(struct thread_now) threads; /* by number in `tids` */
	VEC_OF(uint32_t) pid_owners;	   /* process by number in `pids`, now */
	struct tuples pids, tids;
	struct history by_pid; /* process by number in `pids` */
	struct history by_tid; /* thread state by number in `tids` */
	struct spaces *spaces; /* borrowed */
};

enum { PROCESS_IDLE = 1 };

/* `idle_name` is the name of the idle task. */
void tasks_init(struct tasks *, struct spaces *, struct str_id idle_name);
void tasks_release(struct tasks *);

/* The process that has this pid now. One that was never heard of existed before the capture. */
uint32_t tasks_process(struct tasks *, uint32_t pid);

/* Thread `tid` belongs to process `pid` at this time. */
void tasks_seen(struct tasks *, uint32_t pid, uint32_t tid, uint64_t time_ns);

struct task_fork {
	uint32_t pid, tid, parent_pid, parent_tid;
	uint64_t time_ns;
	bool has_maps;	   /* the child has its parent's mappings */
	bool is_synthetic; /* made up from /proc: says who was there, not that it began now */
};
void tasks_fork(struct tasks *, const struct task_fork *);
void tasks_exit(struct tasks *, uint32_t pid, uint32_t tid, uint64_t time_ns);
void tasks_comm(struct tasks *, uint32_t pid, uint32_t tid, struct str_id comm, uint64_t time_ns);
void tasks_exec(struct tasks *, uint32_t pid, uint32_t tid, struct str_id comm, uint64_t time_ns);

/* The space to put a new mapping of this process in. */
uint32_t tasks_space_to_map(struct tasks *, uint32_t process);

/* Starts and ends of processes are not known after all. */
void tasks_forget_times(struct tasks *);

/* `kthreadd` is the name of the process whose children are the kernel's own threads. */
void tasks_freeze(struct tasks *, struct str_id kthreadd);

/* After tasks_freeze(). Process of a pid or tid, HISTORY_NONE if not known. */
struct span tasks_find_pid(const struct tasks *, uint32_t pid, uint64_t time_ns);
struct span tasks_find_tid(const struct tasks *, uint32_t tid, uint64_t time_ns);
struct str_id tasks_comm_of(const struct tasks *, uint32_t tid, uint64_t time_ns);

#endif
