/* SPDX-License-Identifier: Apache-2.0 */
#include "model/scheduler.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/robust.h"

enum {
	SPINS = 1000, /* of a waiting thread before it sleeps */
	SPINS_IF_BUSY =
		20,	   /* where the waits before did not end so: the host has no CPU for both */
	TRIES_AGAIN = 16,  /* waits until it spins for long again */
	WAITS_APART = 64,  /* waits without a system call after which threads share a CPU */
	MOST_YIELDING = 4, /* threads that yield a CPU to each other; more: to the wrong one */
	YIELDS = 8,	   /* of a waiting thread before it sleeps */
	MOST_LATE = 2,	   /* waits in a row that took a tick, after which it sleeps at once */
	WAITS_ASLEEP = 16384, /* waits in which it does so, until it yields again */
	POLL_NS = 20000,      /* between polls of threads in calls */
	CHECK_MS = 50,	      /* between checks of the running thread's progress */
	/*
	 * Checks without progress before a thread gives up: 20 s; a sleeping thread counts 100
	 * times.
	 */
	MOST_CHECKS = 400,
	CHECKS_IF_ASLEEP = 100,
	/* Polls in a row after which a thread is believed to be asleep all the same: 0.1 s and more. */
	MOST_DOUBTS = 5000,
	MOST_DOUBTS_OF_ALL = 8, /* where the kernel has never said what a thread waits in */
	LONE_QUANTA = 16, /* quanta after which the only ready thread checks for returned ones */
};

/* In a loop that waits for another CPU. */
static void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

void scheduler_init(struct scheduler *t, uint64_t quantum, atomic_uint *n_executed)
{
	*t = (struct scheduler){ .quantum = quantum, .n_executed = n_executed };
	robust_mutex_init(&t->lock);
}

void scheduler_release(struct scheduler *t)
{
	for (size_t i = 0; i < t->tasks.n; i++)
		free(t->tasks.items[i]);
	vec_release(&t->tasks);
	pthread_mutex_destroy(&t->lock);
}

static uint64_t clock_of(const struct task *task)
{
	return *task->clock > task->wake_at ? *task->clock : task->wake_at;
}

/* The ready thread with the lowest clock; of equal ones, that which was chosen longer ago. */
static struct task *choose_task(const struct scheduler *t, const struct task *except)
{
	struct task *best = NULL;

	for (size_t i = 0; i < t->tasks.n; i++) {
		struct task *task = t->tasks.items[i];

		if (task->state != TASK_READY || task == except)
			continue;
		if (best == NULL || clock_of(task) < clock_of(best) ||
		    (clock_of(task) == clock_of(best) && task->last_choice < best->last_choice))
			best = task;
	}
	return best;
}

/*
 * The cycle until which a thread may run: a quantum ahead of the next, or until a check for others.
 */
static uint64_t limit_of(const struct scheduler *t, const struct task *task)
{
	const struct task *next = choose_task(t, task);

	if (next != NULL)
		return clock_of(next) + t->quantum;
	return t->tasks.n == 1 ? UINT64_MAX : clock_of(task) + LONE_QUANTA * t->quantum;
}

/* The task has a reason to wait no longer. The lock is held, so that it is not freed. */
static void wake_task(struct task *task)
{
	if (atomic_exchange(&task->is_waiting, 0) != 0)
		syscall(SYS_futex, &task->is_waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Makes a thread the running one, or none (NULL). The lock is held. */
static void run_task(struct scheduler *t, struct task *task)
{
	if (task != NULL)
		task->limit = limit_of(t, task);
	atomic_store(&t->running, task);
	if (task != NULL)
		wake_task(task);
}

struct task *scheduler_add(struct scheduler *t, const uint64_t *clock, uint32_t process)
{
	struct task *task = mem_zalloc(1, sizeof(*task));

	task->clock = clock;
	task->process = process;
	robust_lock(&t->lock);
	*vec_add(&t->tasks) = task;
	if (t->tasks.n == 1)
		run_task(t, task);
	else
		atomic_load(&t->running)->limit = clock_of(task) + t->quantum;
	pthread_mutex_unlock(&t->lock);
	return task;
}

/* Reads a file of /proc about a thread of any process; empty if the thread has ended. */
static void read_proc(pid_t id, const char *name, char *out, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)id, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, out, size - 1);
	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
}

/*
 * The state letter of a thread of any process (proc(5), stat): 'S' asleep, 'R' running …; 0 if it
 * has ended. *out_n_threads: threads of its process.
 */
static char kernel_state_of(pid_t id, int *out_n_threads)
{
	char text[512], state;
	const char *end;

	read_proc(id, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	if (end == NULL ||
	    sscanf(end + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d", &state,
		   out_n_threads) != 2)
		return 0;
	return state;
}

static char kernel_state(pid_t id)
{
	int n_threads;

	return kernel_state_of(id, &n_threads);
}

/* Voluntary context switches of a thread of any process; 0 if it has ended. */
static long voluntary_switches(pid_t id)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char text[4096];
	const char *at;

	read_proc(id, "status", text, sizeof(text));
	at = strstr(text, key);
	return at != NULL ? strtol(at + sizeof(key) - 1, NULL, 10) : 0;
}

/*
 * Is a thread that looks asleep off the run queue as well? One that was woken looks asleep again while
 * it checks whether to wait on: wait4() frees the child meanwhile, and on a busy host the thread may
 * lose its CPU there. Of a thread that waits for nothing but a CPU, /proc/ID/wchan is 0.
 */
static bool is_off_cpu(struct scheduler *t, struct task *task)
{
	char text[64];

	read_proc(task->kernel_id, "wchan", text, sizeof(text));
	if (strcmp(text, "0") != 0) {
		t->knows_waits |= text[0] != '\0';
		task->n_doubts = 0;
		return true;
	}
	return task->n_doubts++ >= (t->knows_waits ? MOST_DOUBTS : MOST_DOUBTS_OF_ALL);
}

static bool has_ended(char state)
{
	return state == 0 || state == 'Z' || state == 'X';
}

/*
 * Has the host's thread ended? At the end of a process its parent is woken when the last thread
 * ends. One thread is the emulator's own.
 */
static bool has_thread_ended(const struct task *task)
{
	int n_threads = 0;

	return has_ended(kernel_state_of(task->kernel_id, &n_threads)) &&
	       (!task->ends_process || n_threads <= 1);
}

/* The lock is held. */
static void remove_task(struct scheduler *t, struct task *task)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->tasks.n; i++)
		if (t->tasks.items[i] != task)
			t->tasks.items[kept++] = t->tasks.items[i];
	t->tasks.n = kept;
	if (atomic_load(&task->pin.is_set))
		atomic_fetch_sub(&t->n_pinned, 1);
	free(task);
}

void scheduler_remove(struct scheduler *t, struct task *task)
{
	robust_lock(&t->lock);
	remove_task(t, task);
	pthread_mutex_unlock(&t->lock);
}

/* A thread has returned from its call. If it was asleep, it was woken at cycle `now`. */
static void become_ready(struct task *task, uint64_t now)
{
	if (task->state == TASK_ASLEEP && task->wake_at < now)
		task->wake_at = now;
	task->state = TASK_READY;
	atomic_store(&task->has_returned, false);
}

enum poll_result { POLL_UNCLEAR, POLL_CLEAR, POLL_CHANGED, POLL_GONE };

/* Does the thread's process run another program than this one, the emulator? */
static bool is_other_program(pid_t id)
{
	char path[64];
	struct stat self, other;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)id);
	return stat(path, &other) == 0 && stat("/proc/self/exe", &self) == 0 &&
	       (self.st_ino != other.st_ino || self.st_dev != other.st_dev);
}

/*
 * Updates the state of a thread. One that is ready, asleep or gone can wake no other (CLEAR, GONE).
 */
static enum poll_result poll_task(struct scheduler *t, struct task *task, uint64_t now)
{
	char state;

	if (task->state == TASK_READY)
		return POLL_CLEAR;
	if (task->state == TASK_EXITING)
		return has_thread_ended(task) ? POLL_GONE : POLL_UNCLEAR;
	if (atomic_load(&task->has_returned)) {
		become_ready(task, now);
		return POLL_CHANGED;
	}
	state = kernel_state(task->kernel_id);
	if (task->state == TASK_EXECUTING) {
		if (!has_ended(state) && !is_other_program(task->kernel_id))
			return POLL_UNCLEAR;
		atomic_fetch_add(t->n_executed, 1);
		return POLL_GONE;
	}
	if (has_ended(state))
		return POLL_GONE; /* it was killed */
	if (strchr("STt", state) == NULL || !is_off_cpu(t, task) ||
	    atomic_load(&task->has_returned))
		return POLL_UNCLEAR;
	if (task->state == TASK_ASLEEP)
		return POLL_CLEAR;
	/*
	 * The kernel sets the state to asleep before it decides whether to wait: then nothing
	 * switched.
	 */
	if (voluntary_switches(task->kernel_id) == task->n_switches)
		return POLL_UNCLEAR;
	task->state = TASK_ASLEEP;
	return POLL_CHANGED;
}

/*
 * The cycle at which threads are woken now: the latest clock of a thread in a call, else that of
 * the running one.
 */
static uint64_t wake_cycle(const struct scheduler *t, const struct task *running)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < t->tasks.n; i++) {
		const struct task *task = t->tasks.items[i];
		bool is_awake = task->state != TASK_READY && task->state != TASK_ASLEEP;

		if (is_awake && clock_of(task) > latest)
			latest = clock_of(task);
	}
	return latest > 0 ? latest : clock_of(running);
}

/*
 * Polls all threads until all states are clear and none has changed in a pass: a thread that was
 * unclear may have woken one that was asleep before.
 */
static void settle_tasks(struct scheduler *t, const struct task *running)
{
	const struct timespec nap = { .tv_nsec = POLL_NS };
	uint64_t now = wake_cycle(t, running);
	bool is_done = false;

	while (!is_done && !atomic_load(&t->is_over)) {
		bool is_clear = true;

		is_done = true;
		for (size_t i = t->tasks.n; i-- > 0;) {
			enum poll_result poll_result = poll_task(t, t->tasks.items[i], now);

			is_clear &= poll_result == POLL_CLEAR || poll_result == POLL_CHANGED;
			is_done &= poll_result == POLL_CLEAR;
			if (poll_result == POLL_GONE)
				scheduler_remove(t, t->tasks.items[i]);
		}
		if (!is_clear)
			nanosleep(&nap, NULL);
	}
	t->must_settle = false;
}

void scheduler_settle(struct scheduler *t, struct task *running)
{
	for (size_t i = 0; i < t->tasks.n; i++)
		t->must_settle |= t->tasks.items[i]->state != TASK_READY;
	if (!t->must_settle)
		return;
	settle_tasks(t, running);
	running->limit = limit_of(t, running);
}

/* Makes returned threads ready: those whose time was up, or that another program woke. */
static void receive_returned(struct scheduler *t, uint64_t now)
{
	for (size_t i = 0; i < t->tasks.n; i++)
		if (atomic_load(&t->tasks.items[i]->has_returned))
			become_ready(t->tasks.items[i], now);
}

/* Chooses another thread, when the running one is no longer ready. */
static void run_another_task(struct scheduler *t, const struct task *running)
{
	if (choose_task(t, NULL) == NULL)
		receive_returned(t, wake_cycle(t, running));
	run_task(t, choose_task(t, NULL));
}

/*
 * How much a check without progress counts. A thread that is running or starting may wait for a CPU
 * of a busy host, so it counts less than one that is asleep.
 */
static unsigned checks_without_progress(const struct task *running)
{
	char state = running->kernel_id != 0 ? kernel_state(running->kernel_id) : 'R';

	return state == 'R' || state == 'D' ? 1 : CHECKS_IF_ASLEEP;
}

/* The running thread was killed: removes it and chooses another one. The lock is held. */
static void replace_holder(struct scheduler *t, struct task *running, const struct task *self)
{
	remove_task(t, running);
	receive_returned(t, clock_of(self));
	run_task(t, choose_task(t, NULL));
}

/* Is there a reason to wait no longer? */
static bool may_go_on(const struct scheduler *t, const struct task *task)
{
	return scheduler_is_running(t, task) || atomic_load(&t->is_over) ||
	       atomic_load(&task->must_not_wait);
}

/* Sleeps until it is woken, but not for longer than until the next check. */
static void sleep_until_woken(struct scheduler *t, struct task *task)
{
	const struct timespec most = { .tv_nsec = CHECK_MS * 1000000 };

	atomic_store(&task->is_waiting,
		     1); /* before it looks: who gives it a reason looks behind */
	if (!may_go_on(t, task))
		syscall(SYS_futex, &task->is_waiting, FUTEX_WAIT, 1, &most, NULL, 0);
	atomic_store(&task->is_waiting, 0);
}

/* The thread was not woken for long. Returns how many checks without progress these were; −1: none. */
static int check_running(struct scheduler *t, const struct task *task, unsigned long progress,
			 const struct task *before)
{
	int n = -1;
	struct task *running;

	robust_lock(&t->lock);
	running = atomic_load(&t->running);
	if (running == NULL || running != before || atomic_load(&t->progress) != progress ||
	    atomic_load(&running->is_late))
		n = -1;
	else if (running->kernel_id != 0 && has_thread_ended(running))
		replace_holder(t, running, task);
	else
		n = (int)checks_without_progress(running);
	pthread_mutex_unlock(&t->lock);
	return n;
}

/* Sleeps until the thread is the running one. False: it must not wait, or gives up. */
static bool sleep_until_chosen(struct scheduler *t, struct task *task)
{
	int n_checks = 0;

	while (!may_go_on(t, task) && n_checks < MOST_CHECKS) {
		unsigned long progress = atomic_load(&t->progress);
		const struct task *running = atomic_load(&t->running);
		int n;

		sleep_until_woken(t, task);
		if (may_go_on(t, task))
			break;
		n = check_running(t, task, progress, running);
		n_checks = n < 0 ? 0 : n_checks + n;
	}
	return scheduler_is_running(t, task) && !atomic_load(&t->is_over);
}

/* Does the thread share a CPU of the host with those that it hands over to? From now on, if it has waited often. */
static bool shares_cpu(struct scheduler *t, struct task *task)
{
	if (atomic_load(&task->pin.is_set))
		return true;
	if (atomic_fetch_add(&t->n_waits, 1) < WAITS_APART)
		return false;
	robust_lock(&t->lock);
	if (atomic_load(&t->n_pinned) == 0)
		t->host_cpu = sched_getcpu();
	if (host_pin_set(&task->pin, t->host_cpu))
		atomic_fetch_add(&t->n_pinned, 1);
	pthread_mutex_unlock(&t->lock);
	return atomic_load(&task->pin.is_set);
}

/* Of a clock that moves with the kernel's ticks, 1 to 10 ms apart, and costs little to read. */
static bool is_same_tick(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Gives the CPU to the threads that share it, until this one is chosen: half of what it costs to sleep
 * and to be woken. Where another program wants the CPU, each yield gives it milliseconds: then the thread
 * does not yield for a while.
 */
static void yield_until_chosen(const struct scheduler *t, struct task *task)
{
	struct timespec begin = { 0 }, end = { 0 };

	if (task->n_sleeps > 0) {
		task->n_sleeps--;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC_COARSE, &begin);
	for (unsigned i = 0; i < YIELDS && !may_go_on(t, task); i++)
		sched_yield();
	clock_gettime(CLOCK_MONOTONIC_COARSE, &end);
	task->n_late = is_same_tick(&begin, &end) ? 0 : task->n_late + 1;
	if (task->n_late < MOST_LATE)
		return;
	task->n_late = 0;
	task->n_sleeps = WAITS_ASLEEP;
}

static bool wait_until_chosen(struct scheduler *t, struct task *task)
{
	unsigned spins = task->n_slept % TRIES_AGAIN == 0 ? SPINS : SPINS_IF_BUSY;

	if (!scheduler_is_running(t, task) && shares_cpu(t, task)) {
		if (atomic_load(&t->n_pinned) <= MOST_YIELDING)
			yield_until_chosen(t, task);
		return sleep_until_chosen(t, task);
	}
	for (unsigned i = 0; i < spins; i++) {
		if (scheduler_is_running(t, task)) {
			task->n_slept = 0;
			return !atomic_load(&t->is_over);
		}
		if (atomic_load(&task->must_not_wait))
			return false;
		relax_cpu();
	}
	task->n_slept++;
	return sleep_until_chosen(t, task);
}

void scheduler_set_thread(struct scheduler *t, struct task *task)
{
	if (task->kernel_id != 0)
		return;
	robust_lock(&t->lock);
	task->kernel_id = gettid();
	pthread_mutex_unlock(&t->lock);
}

bool scheduler_wait(struct scheduler *t, struct task *task)
{
	scheduler_set_thread(t, task);
	for (;;) {
		if (!wait_until_chosen(t, task))
			return false;
		atomic_store(&task->is_late, false);
		if (!t->must_settle) {
			task->last_choice = ++t->n_choices;
			return true;
		}
		settle_tasks(t, task);
		scheduler_end_quantum(t, task);
	}
}

void scheduler_end_quantum(struct scheduler *t, const struct task *task)
{
	robust_lock(&t->lock);
	receive_returned(t, clock_of(task));
	run_task(t, choose_task(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void scheduler_yield(struct scheduler *t, struct task *task)
{
	const struct task *next;

	robust_lock(&t->lock);
	receive_returned(t, clock_of(task));
	next = choose_task(t, task);
	if (next != NULL && clock_of(next) >= clock_of(task))
		task->wake_at = clock_of(next) + 1;
	run_task(t, choose_task(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

/* The lock is held. */
static void release_pins(struct scheduler *t)
{
	for (size_t i = 0; i < t->tasks.n; i++)
		host_pin_release(&t->tasks.items[i]->pin, t->tasks.items[i]->kernel_id);
	atomic_store(&t->n_pinned, 0);
}

void scheduler_note_call(struct scheduler *t)
{
	atomic_store(&t->n_waits, 0);
	if (atomic_load(&t->n_pinned) == 0)
		return;
	robust_lock(&t->lock);
	release_pins(t);
	pthread_mutex_unlock(&t->lock);
}

static void leave_running_as(struct scheduler *t, struct task *task, enum task_state state)
{
	struct rusage usage;

	robust_lock(&t->lock);
	getrusage(RUSAGE_THREAD, &usage); /* here: waiting for the lock is no sleep in the call */
	task->n_switches = usage.ru_nvcsw;
	task->kernel_id = gettid();
	atomic_store(&task->has_returned, false);
	task->state = state;
	t->must_settle = true;
	run_another_task(t, task);
	pthread_mutex_unlock(&t->lock);
}

void scheduler_enter_call(struct scheduler *t, struct task *task)
{
	leave_running_as(t, task, TASK_IN_CALL);
}

void scheduler_execute(struct scheduler *t, struct task *task)
{
	leave_running_as(t, task, TASK_EXECUTING);
}

void scheduler_sleep(struct scheduler *t, struct task *task, uint64_t until)
{
	robust_lock(&t->lock);
	task->wake_at = until;
	atomic_store(&task->is_late, true);
	run_task(t, choose_task(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void scheduler_return(struct scheduler *t, struct task *task)
{
	/*
	 * Before the lock: a thread that sleeps there must not be taken for one asleep in its call.
	 */
	atomic_store(&task->has_returned, true);
	robust_lock(&t->lock);
	if (atomic_load(&t->running) == NULL) {
		become_ready(task, wake_cycle(t, task));
		t->must_settle = true;
		run_task(t, task);
	}
	pthread_mutex_unlock(&t->lock);
}

void scheduler_interrupt(struct scheduler *t, const struct task *running)
{
	robust_lock(&t->lock);
	for (size_t i = 0; i < t->tasks.n; i++) {
		struct task *task = t->tasks.items[i];

		if (task == running || task->process != running->process)
			continue;
		atomic_store(&task->must_not_wait, true);
		wake_task(task);
	}
	pthread_mutex_unlock(&t->lock);
}

void scheduler_resume(struct scheduler *t, const struct task *running)
{
	robust_lock(&t->lock);
	for (size_t i = 0; i < t->tasks.n; i++)
		if (t->tasks.items[i]->process == running->process)
			atomic_store(&t->tasks.items[i]->must_not_wait, false);
	pthread_mutex_unlock(&t->lock);
}

void scheduler_exit_process(struct scheduler *t, struct task *running)
{
	scheduler_interrupt(t, running);
	robust_lock(&t->lock);
	for (size_t i = t->tasks.n; i-- > 0;) {
		struct task *task = t->tasks.items[i];

		if (task == running || task->process != running->process)
			continue;
		task->state = TASK_EXITING;
		if (task->kernel_id == 0)
			remove_task(t, task);
	}
	running->ends_process = true;
	pthread_mutex_unlock(&t->lock);
	scheduler_exit(t, running);
}

void scheduler_exit(struct scheduler *t, struct task *task)
{
	robust_lock(&t->lock);
	task->kernel_id = gettid();
	task->state = TASK_EXITING;
	t->must_settle = true;
	run_another_task(t, task);
	pthread_mutex_unlock(&t->lock);
}

void scheduler_stop(struct scheduler *t)
{
	robust_lock(&t->lock);
	atomic_store(&t->is_over, true);
	for (size_t i = 0; i < t->tasks.n; i++)
		wake_task(t->tasks.items[i]);
	release_pins(t);
	pthread_mutex_unlock(&t->lock);
}
