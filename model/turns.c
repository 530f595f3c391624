/* SPDX-License-Identifier: Apache-2.0 */
#include "model/turns.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/robust.h"

enum {
	SPINS = 1000,	  /* before a waiting thread goes to sleep */
	NAP_NS = 20000,	  /* between looks at threads that are away */
	PATIENCE_MS = 50, /* between looks at a holder that gets nowhere … */
	PATIENCE = 400,	  /* … until there were so many, … */
	IF_ASLEEP = 100,  /* … each as many as this unless it wants to run: 200 ms, or 20 s */
	LOOK_AFTER = 16,  /* quanta after which a lone thread looks whether others are back */
};

/* A moment of a loop that waits for another CPU. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

void turns_init(struct turns *t, uint64_t quantum, atomic_uint *n_executed)
{
	*t = (struct turns){ .quantum = quantum, .n_executed = n_executed };
	robust_mutex_init(&t->lock);
}

void turns_release(struct turns *t)
{
	for (size_t i = 0; i < t->seats.n; i++)
		free(t->seats.items[i]);
	vec_release(&t->seats);
	pthread_mutex_destroy(&t->lock);
}

static uint64_t clock_of(const struct seat *seat)
{
	return *seat->clock > seat->wake_at ? *seat->clock : seat->wake_at;
}

/* The ready thread that is furthest behind; of two, the one that waited longer. */
static struct seat *choose(const struct turns *t, const struct seat *except)
{
	struct seat *best = NULL;

	for (size_t i = 0; i < t->seats.n; i++) {
		struct seat *seat = t->seats.items[i];

		if (seat->state != SEAT_READY || seat == except)
			continue;
		if (best == NULL || clock_of(seat) < clock_of(best) ||
		    (clock_of(seat) == clock_of(best) && seat->last_turn < best->last_turn))
			best = seat;
	}
	return best;
}

/* Until when a thread may run: others wait, or might come back while it does. */
static uint64_t limit_of(const struct turns *t, const struct seat *seat)
{
	const struct seat *next = choose(t, seat);

	if (next != NULL)
		return clock_of(next) + t->quantum;
	return t->seats.n == 1 ? UINT64_MAX : clock_of(seat) + LOOK_AFTER * t->quantum;
}

/* Gives the turn to a thread, or to nobody. The lock is held. */
static void give(struct turns *t, struct seat *seat)
{
	if (seat != NULL) {
		seat->limit = limit_of(t, seat);
		pthread_cond_signal(&seat->its_turn);
	}
	atomic_store(&t->holder, seat);
}

struct seat *turns_join(struct turns *t, const uint64_t *clock, uint32_t process)
{
	struct seat *seat = mem_zalloc(1, sizeof(*seat));

	seat->clock = clock;
	seat->process = process;
	robust_cond_init(&seat->its_turn);
	robust_lock(&t->lock);
	*vec_add(&t->seats) = seat;
	if (t->seats.n == 1)
		give(t, seat);
	else
		atomic_load(&t->holder)->limit = clock_of(seat) + t->quantum;
	pthread_mutex_unlock(&t->lock);
	return seat;
}

/* Reads a file of /proc about a thread, of any process; empty if it is gone. */
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
 * What a thread, of any process, does in the kernel, by the state letter of its stat file:
 * 'S' asleep, 'R' running …; 0 if it is gone. *out_n_threads: of its process.
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

/* How often a thread, of any process, gave up its CPU to wait; 0 if it is gone. */
static long voluntary_switches(pid_t id)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char text[4096];
	const char *at;

	read_proc(id, "status", text, sizeof(text));
	at = strstr(text, key);
	return at != NULL ? strtol(at + sizeof(key) - 1, NULL, 10) : 0;
}

static bool has_ended(char state)
{
	return state == 0 || state == 'Z' || state == 'X';
}

/* A process wakes its parent when its last thread ends, of which the emulator has one of its own. */
static bool is_gone(const struct seat *seat)
{
	int n_threads = 0;

	return has_ended(kernel_state_of(seat->kernel_id, &n_threads)) &&
	       (!seat->ends_process || n_threads <= 1);
}

/*
 * The lock is held. The condition is not destroyed: a thread that was killed while it waited there
 * would be waited for.
 */
static void remove_seat(struct turns *t, struct seat *seat)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->seats.n; i++)
		if (t->seats.items[i] != seat)
			t->seats.items[kept++] = t->seats.items[i];
	t->seats.n = kept;
	free(seat);
}

void turns_leave(struct turns *t, struct seat *seat)
{
	robust_lock(&t->lock);
	remove_seat(t, seat);
	pthread_mutex_unlock(&t->lock);
}

/* A thread that slept and is back was woken at cycle `now`. */
static void become_ready(struct seat *seat, uint64_t now)
{
	if (seat->state == SEAT_ASLEEP && seat->wake_at < now)
		seat->wake_at = now;
	seat->state = SEAT_READY;
	atomic_store(&seat->is_back, false);
}

enum finding { UNCLEAR, CLEAR, CHANGED, GONE };

/* Does the thread's process run another program than this one, the emulator? */
static bool is_other_program(pid_t id)
{
	char path[64];
	struct stat self, other;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)id);
	return stat(path, &other) == 0 && stat("/proc/self/exe", &self) == 0 &&
	       (self.st_ino != other.st_ino || self.st_dev != other.st_dev);
}

/* Finds out what a thread does: nothing more comes from one that is ready, asleep or gone. */
static enum finding look_at(struct turns *t, struct seat *seat, uint64_t now)
{
	char state;

	if (seat->state == SEAT_READY)
		return CLEAR;
	if (seat->state == SEAT_LEAVING)
		return is_gone(seat) ? GONE : UNCLEAR;
	if (atomic_load(&seat->is_back)) {
		become_ready(seat, now);
		return CHANGED;
	}
	state = kernel_state(seat->kernel_id);
	if (seat->state == SEAT_EXECUTING) {
		if (!has_ended(state) && !is_other_program(seat->kernel_id))
			return UNCLEAR;
		atomic_fetch_add(t->n_executed, 1);
		return GONE;
	}
	if (has_ended(state))
		return GONE; /* killed */
	if (strchr("STt", state) == NULL || atomic_load(&seat->is_back))
		return UNCLEAR;
	if (seat->state == SEAT_ASLEEP)
		return CLEAR;
	/* Before it looks whether it has to wait, it already says that it does. */
	if (voluntary_switches(seat->kernel_id) == seat->n_switches)
		return UNCLEAR;
	seat->state = SEAT_ASLEEP;
	return CHANGED;
}

/* When those who are woken now are woken: by whoever is away, or else by the holder. */
static uint64_t waking_clock(const struct turns *t, const struct seat *holder)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < t->seats.n; i++) {
		const struct seat *seat = t->seats.items[i];
		bool is_awake = seat->state != SEAT_READY && seat->state != SEAT_ASLEEP;

		if (is_awake && clock_of(seat) > latest)
			latest = clock_of(seat);
	}
	return latest > 0 ? latest : clock_of(holder);
}

/*
 * Looks at all threads until nothing is unclear, and nothing changed since: who was unclear may
 * have woken one that had been seen asleep.
 */
static void settle(struct turns *t, const struct seat *holder)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t now = waking_clock(t, holder);
	bool is_done = false;

	while (!is_done && !atomic_load(&t->is_over)) {
		bool is_clear = true;

		is_done = true;
		for (size_t i = t->seats.n; i-- > 0;) {
			enum finding finding = look_at(t, t->seats.items[i], now);

			is_clear &= finding == CLEAR || finding == CHANGED;
			is_done &= finding == CLEAR;
			if (finding == GONE)
				turns_leave(t, t->seats.items[i]);
		}
		if (!is_clear)
			nanosleep(&nap, NULL);
	}
	t->must_settle = false;
}

void turns_settle(struct turns *t, struct seat *holder)
{
	for (size_t i = 0; i < t->seats.n; i++)
		t->must_settle |= t->seats.items[i]->state != SEAT_READY;
	if (!t->must_settle)
		return;
	settle(t, holder);
	holder->limit = limit_of(t, holder);
}

/* Threads that came back by themselves: time was up, or somebody outside woke them. */
static void receive(struct turns *t, uint64_t now)
{
	for (size_t i = 0; i < t->seats.n; i++)
		if (atomic_load(&t->seats.items[i]->is_back))
			become_ready(t->seats.items[i], now);
}

/* The holder, whose state says so, is no longer ready. Who is back already may be the only one. */
static void give_to_others(struct turns *t, const struct seat *holder)
{
	if (choose(t, NULL) == NULL)
		receive(t, waking_clock(t, holder));
	give(t, choose(t, NULL));
}

/* A holder that runs, or is about to begin, may have to wait for a CPU where the host is busy. */
static unsigned despair(const struct seat *holder)
{
	char state = holder->kernel_id != 0 ? kernel_state(holder->kernel_id) : 'R';

	return state == 'R' || state == 'D' ? 1 : IF_ASLEEP;
}

/* The holder was killed: somebody else goes on. The lock is held. */
static void replace_holder(struct turns *t, struct seat *holder, const struct seat *self)
{
	remove_seat(t, holder);
	receive(t, clock_of(self));
	give(t, choose(t, NULL));
}

/* Sleeps until the seat has the turn, or until there is no hope. */
static bool sleep_until_chosen(struct turns *t, struct seat *seat)
{
	unsigned long beats = atomic_load(&t->beats);
	unsigned in_vain = 0;
	struct timespec until;

	robust_lock(&t->lock);
	while (!turns_hold(t, seat) && !atomic_load(&t->is_over) && !atomic_load(&seat->is_waved) &&
	       in_vain < PATIENCE) {
		struct seat *holder = atomic_load(&t->holder);

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PATIENCE_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		robust_timedwait(&seat->its_turn, &t->lock, &until);
		if (atomic_load(&t->beats) != beats || holder != atomic_load(&t->holder) ||
		    holder == NULL || atomic_load(&holder->is_late)) {
			in_vain = 0;
		} else if (holder->kernel_id != 0 && is_gone(holder)) {
			replace_holder(t, holder, seat);
			in_vain = 0;
		} else {
			in_vain += despair(holder);
		}
		beats = atomic_load(&t->beats);
	}
	pthread_mutex_unlock(&t->lock);
	return turns_hold(t, seat) && !atomic_load(&t->is_over);
}

static bool wait_until_chosen(struct turns *t, struct seat *seat)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (turns_hold(t, seat))
			return !atomic_load(&t->is_over);
		if (atomic_load(&seat->is_waved))
			return false;
		relax();
	}
	return sleep_until_chosen(t, seat);
}

void turns_introduce(struct turns *t, struct seat *seat)
{
	if (seat->kernel_id != 0)
		return;
	robust_lock(&t->lock);
	seat->kernel_id = gettid();
	pthread_mutex_unlock(&t->lock);
}

bool turns_wait(struct turns *t, struct seat *seat)
{
	turns_introduce(t, seat);
	for (;;) {
		if (!wait_until_chosen(t, seat))
			return false;
		atomic_store(&seat->is_late, false);
		if (!t->must_settle) {
			seat->last_turn = ++t->n_turns;
			return true;
		}
		settle(t, seat);
		turns_pass(t, seat);
	}
}

void turns_pass(struct turns *t, const struct seat *seat)
{
	robust_lock(&t->lock);
	receive(t, clock_of(seat));
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_yield(struct turns *t, struct seat *seat)
{
	const struct seat *next;

	robust_lock(&t->lock);
	receive(t, clock_of(seat));
	next = choose(t, seat);
	if (next != NULL && clock_of(next) >= clock_of(seat))
		seat->wake_at = clock_of(next) + 1;
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

static void leave_as(struct turns *t, struct seat *seat, enum seat_state state)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	seat->n_switches = usage.ru_nvcsw;
	robust_lock(&t->lock);
	seat->kernel_id = gettid();
	atomic_store(&seat->is_back, false);
	seat->state = state;
	t->must_settle = true;
	give_to_others(t, seat);
	pthread_mutex_unlock(&t->lock);
}

void turns_away(struct turns *t, struct seat *seat)
{
	leave_as(t, seat, SEAT_AWAY);
}

void turns_execute(struct turns *t, struct seat *seat)
{
	leave_as(t, seat, SEAT_EXECUTING);
}

void turns_sleep(struct turns *t, struct seat *seat, uint64_t until)
{
	robust_lock(&t->lock);
	seat->wake_at = until;
	atomic_store(&seat->is_late, true);
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_back(struct turns *t, struct seat *seat)
{
	/* Before the lock, where it could fall asleep and be taken for one that still waits. */
	atomic_store(&seat->is_back, true);
	robust_lock(&t->lock);
	if (atomic_load(&t->holder) == NULL) {
		become_ready(seat, waking_clock(t, seat));
		t->must_settle = true;
		give(t, seat);
	}
	pthread_mutex_unlock(&t->lock);
}

void turns_interrupt(struct turns *t, const struct seat *holder)
{
	robust_lock(&t->lock);
	for (size_t i = 0; i < t->seats.n; i++) {
		struct seat *seat = t->seats.items[i];

		if (seat == holder || seat->process != holder->process)
			continue;
		atomic_store(&seat->is_waved, true);
		pthread_cond_broadcast(&seat->its_turn);
	}
	pthread_mutex_unlock(&t->lock);
}

void turns_resume(struct turns *t, const struct seat *holder)
{
	robust_lock(&t->lock);
	for (size_t i = 0; i < t->seats.n; i++)
		if (t->seats.items[i]->process == holder->process)
			atomic_store(&t->seats.items[i]->is_waved, false);
	pthread_mutex_unlock(&t->lock);
}

void turns_quit_process(struct turns *t, struct seat *holder)
{
	turns_interrupt(t, holder);
	robust_lock(&t->lock);
	for (size_t i = t->seats.n; i-- > 0;) {
		struct seat *seat = t->seats.items[i];

		if (seat == holder || seat->process != holder->process)
			continue;
		seat->state = SEAT_LEAVING;
		if (seat->kernel_id == 0)
			remove_seat(t, seat);
	}
	holder->ends_process = true;
	pthread_mutex_unlock(&t->lock);
	turns_quit(t, holder);
}

void turns_quit(struct turns *t, struct seat *seat)
{
	robust_lock(&t->lock);
	seat->kernel_id = gettid();
	seat->state = SEAT_LEAVING;
	t->must_settle = true;
	give_to_others(t, seat);
	pthread_mutex_unlock(&t->lock);
}

void turns_end(struct turns *t)
{
	robust_lock(&t->lock);
	atomic_store(&t->is_over, true);
	for (size_t i = 0; i < t->seats.n; i++)
		pthread_cond_broadcast(&t->seats.items[i]->its_turn);
	pthread_mutex_unlock(&t->lock);
}
