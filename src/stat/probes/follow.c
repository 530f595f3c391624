/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/probes/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "pmu/launch.h"

enum { READ_EVERY_MS = 50, CALIBRATION_CALLS = 1000 };

/* Everything about one run. */
struct following {
	struct follow *f;
	struct call_counts *calls;
	VEC_OF(struct probe_thread) threads; /* that live */
	struct launch launch;
	int readable; /* an epoll descriptor of all rings */
	bool has_failed;
	struct err err; /* the first error */
};

static long trace(enum __ptrace_request request, pid_t tid, uintptr_t data)
{
	return ptrace(request, tid, NULL, (void *)data);
}

static struct probe_thread *probe_thread_find(struct following *w, pid_t tid)
{
	for (size_t i = 0; i < w->threads.n; i++)
		if (w->threads.items[i].tid == tid)
			return &w->threads.items[i];
	return NULL;
}

/* Opens the events of a thread that does not run yet. */
static int set_up_thread(struct following *w, pid_t tid, bool waits_for_exec)
{
	struct probe_thread *t = vec_add(&w->threads);
	struct epoll_event event = { .events = EPOLLIN };

	if (probe_thread_open(w->f->plan, t, tid, &w->err) < 0) {
		w->has_failed = true;
		return -1;
	}
	w->f->n_threads++;
	if (probe_thread_ring(t) >= 0)
		epoll_ctl(w->readable, EPOLL_CTL_ADD, probe_thread_ring(t), &event);
	if (!waits_for_exec)
		probe_thread_start(w->f->plan, t, true);
	return 0;
}

static void drop_thread(struct following *w, struct probe_thread *t)
{
	probe_thread_read(w->f->plan, t, w->calls);
	call_counts_end_thread(w->calls, t->tid);
	probe_thread_close(w->f->plan, t);
	*t = w->threads.items[--w->threads.n];
}

/* The program of a process changes: other threads are gone, and what was open does not return. */
static void handle_exec(struct following *w, pid_t pid)
{
	unsigned long former = (unsigned long)pid;
	struct probe_thread *t;

	ptrace(PTRACE_GETEVENTMSG, pid, NULL, &former);
	if ((pid_t)former != pid) {
		t = probe_thread_find(w, pid);
		if (t != NULL)
			drop_thread(w, t);
		t = probe_thread_find(w, (pid_t)former);
		if (t != NULL) {
			probe_thread_read(w->f->plan, t, w->calls);
			t->tid = pid;
			call_counts_rename_thread(w->calls, (int32_t)former, pid);
		}
	}
	t = probe_thread_find(w, pid);
	if (t != NULL) {
		probe_thread_read(w->f->plan, t, w->calls);
		call_counts_end_thread(w->calls, pid);
	}
}

/* A tracee stopped for a reason of its own, or ended. */
static void handle_trace(void *context, pid_t tid, int status)
{
	struct following *w = context;
	struct probe_thread *t = probe_thread_find(w, tid);
	int event = status >> 16, signal = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		if (t != NULL)
			drop_thread(w, t);
		return;
	}
	switch (event) {
	case 0: /* a signal, which it gets now */
		trace(PTRACE_CONT, tid, (uintptr_t)signal);
		return;
	case PTRACE_EVENT_STOP:
		if (signal != SIGTRAP) { /* stopped as by ^Z: it stays so */
			trace(PTRACE_LISTEN, tid, 0);
			return;
		}
		/* A new thread or process, before its first instruction. */
		if (t == NULL && !w->has_failed)
			set_up_thread(w, tid, false);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		w->f->n_processes++;
		break;
	case PTRACE_EVENT_EXEC:
		handle_exec(w, tid);
		break;
	default:
		break;
	}
	trace(PTRACE_CONT, tid, 0);
}

/* Lets go of what still runs: processes that outlive the program. */
static void let_go(struct following *w)
{
	while (w->threads.n > 0) {
		struct probe_thread *t = &w->threads.items[w->threads.n - 1];
		pid_t tid = t->tid;
		int status;

		if (tid != w->launch.pid && trace(PTRACE_INTERRUPT, tid, 0) == 0 &&
		    waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
			trace(PTRACE_DETACH, tid,
			      status >> 16 == 0 ? (uintptr_t)WSTOPSIG(status) : 0);
		drop_thread(w, t);
	}
}

static int seize(struct following *w, struct err *err)
{
	uintptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

	if (!w->f->without_children)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	if (trace(PTRACE_SEIZE, w->launch.pid, options) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "--region: cannot follow the program's threads (ptrace): %s",
			       strerror(errno));
	return 0;
}

static int follow_program(struct following *w, struct err *err)
{
	struct launch *l = &w->launch;

	if (seize(w, err) < 0)
		return -1;
	if (set_up_thread(w, l->pid, true) < 0) {
		*err = w->err;
		return -1;
	}
	l->traced = handle_trace;
	l->traced_context = w;
	l->other_fd = w->readable;
	if (launch_go(l, err) < 0)
		return -1;
	while (!launch_is_over(l) && !w->has_failed) {
		if (launch_wait(l, READ_EVERY_MS, err) < 0)
			return -1;
		for (size_t i = 0; i < w->threads.n; i++)
			probe_thread_read(w->f->plan, &w->threads.items[i], w->calls);
	}
	if (w->has_failed) {
		kill(l->pid, SIGKILL);
		*err = w->err;
		return -1;
	}
	return 0;
}

int follow_run(struct follow *f, struct call_counts *out, struct err *err)
{
	struct following w = { .f = f, .calls = out, .readable = epoll_create1(EPOLL_CLOEXEC) };
	int rc;

	out->n_events = f->plan->n_events;
	f->n_processes = 1;
	if (w.readable < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot wait for records: %s",
			       strerror(errno));
	rc = launch_init(&w.launch, f->command, err);
	if (rc == 0) {
		f->pid = w.launch.pid;
		rc = follow_program(&w, err);
		let_go(&w);
		f->status = launch_status(&w.launch);
		f->elapsed_ns = w.launch.end_ns - w.launch.start_ns;
		launch_release(&w.launch);
	}
	vec_release(&w.threads);
	close(w.readable);
	return rc;
}

/* Calibration */

static __attribute__((noinline)) void empty_function(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The file of this program that holds an address, and where. */
static bool find_own_code(uintptr_t address, char *path, uint64_t *out_offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4352];
	bool is_found = false;

	while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL) {
		unsigned long long start, end, offset;

		path[0] = '\0';
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end, &offset,
			   path) >= 3 &&
		    address >= start && address < end) {
			*out_offset = address - start + offset;
			is_found = path[0] == '/';
		}
	}
	if (maps != NULL)
		fclose(maps);
	return is_found;
}

/* Probes at returns, too, if they are known: up to the first one. */
static void find_own_exits(uintptr_t address, struct probe_function *f)
{
#if defined(__x86_64__)
	const enum isa isa = ISA_X86_64;
#elif defined(__aarch64__)
	const enum isa isa = ISA_A64;
#else
	const enum isa isa = ISA_UNKNOWN;
#endif
	struct code_part part = { .bytes = (const uint8_t *)address,
				  .address = address,
				  .offset = f->offset };

	while (part.size < 64 && f->n_exits == 0 && isa != ISA_UNKNOWN) {
		part.size++;
		probe_function_find_exits(f, isa, &part, 1);
	}
}

/* CPU time of a call: others may run here, too. */
static double time_of_calls(void)
{
	uint64_t start_ns = clock_thread_ns();

	for (int i = 0; i < CALIBRATION_CALLS; i++)
		empty_function();
	return (double)(clock_thread_ns() - start_ns) / CALIBRATION_CALLS;
}

int follow_calibrate(struct probe_plan *plan, struct call_counts *out, double *out_call_ns,
		     struct err *err)
{
	struct probe_plan own = *plan;
	struct probe_thread thread = { 0 };
	struct probe_function function = { .name = "an empty function" };
	double without_ns = time_of_calls(), with_ns;
	char path[4096];
	int rc;

	if (!find_own_code((uintptr_t)empty_function, path, &function.offset))
		return err_set(
			err, ERR_IO, ERR_NOWHERE,
			"what probes count themselves is not known: this program's file is gone");
	function.path = path;
	find_own_exits((uintptr_t)empty_function, &function);
	own.functions.list.items = &function;
	own.functions.list.n = 1;
	out->n_events = plan->n_events;
	rc = probe_thread_open(&own, &thread, 0, err);
	if (rc == 0) {
		probe_thread_start(&own, &thread, true);
		with_ns = time_of_calls();
		probe_thread_start(&own, &thread, false);
		probe_thread_read(&own, &thread, out);
		*out_call_ns = with_ns > without_ns ? with_ns - without_ns : 0;
		memcpy(plan->events, own.events, sizeof(plan->events));
		plan->was_opened = own.was_opened;
	}
	probe_thread_close(&own, &thread);
	return rc;
}
