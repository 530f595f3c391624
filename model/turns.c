/* SPDX-License-Identifier: Apache-2.0 */
#include "model/turns.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

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

void turns_init(struct turns *t, uint64_t quantum)
{
	*t = (struct turns){ .quantum = quantum };
	pthread_mutex_init(&t->lock, NULL);
}

static void free_seat(struct seat *seat)
{
	pthread_cond_destroy(&seat->its_turn);
	free(seat);
}

void turns_release(struct turns *t)
{
	for (size_t i = 0; i < t->seats.n; i++)
		free_seat(t->seats.items[i]);
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

struct seat *turns_join(struct turns *t, const uint64_t *clock)
{
	struct seat *seat = mem_zalloc(1, sizeof(*seat));

	seat->clock = clock;
	pthread_cond_init(&seat->its_turn, NULL);
	pthread_mutex_lock(&t->lock);
	*vec_add(&t->seats) = seat;
	if (t->seats.n == 1)
		give(t, seat);
	else
		atomic_load(&t->holder)->limit = clock_of(seat) + t->quantum;
	pthread_mutex_unlock(&t->lock);
	return seat;
}

/*
 * What a thread of this process does in the kernel, by the state letter of its stat file:
 * 'S' asleep, 'R' running …; 0 if it is gone.
 */
static char kernel_state(pid_t id)
{
	char path[64], text[128];
	const char *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end != NULL && strlen(end) > 2 ? end[2] : 0;
}

static bool is_gone(pid_t id)
{
	char state = kernel_state(id);

	return state == 0 || state == 'Z' || state == 'X';
}

static void remove_seat(struct turns *t, struct seat *seat)
{
	size_t kept = 0;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->seats.n; i++)
		if (t->seats.items[i] != seat)
			t->seats.items[kept++] = t->seats.items[i];
	t->seats.n = kept;
	pthread_mutex_unlock(&t->lock);
	free_seat(seat);
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

/* Finds out what a thread does: nothing more comes from one that is ready, asleep or gone. */
static enum finding look_at(struct seat *seat, uint64_t now)
{
	char state;

	if (seat->state == SEAT_READY)
		return CLEAR;
	if (seat->state == SEAT_LEAVING)
		return is_gone(seat->kernel_id) ? GONE : UNCLEAR;
	if (atomic_load(&seat->is_back)) {
		become_ready(seat, now);
		return CHANGED;
	}
	state = kernel_state(seat->kernel_id);
	if (strchr("STt", state) == NULL || atomic_load(&seat->is_back))
		return UNCLEAR;
	if (seat->state == SEAT_ASLEEP)
		return CLEAR;
	seat->state = SEAT_ASLEEP;
	return CHANGED;
}

/* When those who are woken now are woken: by whoever is away, or else by the holder. */
static uint64_t waking_clock(const struct turns *t, const struct seat *holder)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < t->seats.n; i++) {
		const struct seat *seat = t->seats.items[i];
		bool is_awake = seat->state == SEAT_AWAY || seat->state == SEAT_LEAVING;

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
			enum finding finding = look_at(t->seats.items[i], now);

			is_clear &= finding != UNCLEAR;
			is_done &= finding == CLEAR;
			if (finding == GONE)
				remove_seat(t, t->seats.items[i]);
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

/* A holder that runs may have to wait for a CPU, where the host is busy. */
static unsigned despair(const struct seat *holder)
{
	char state = holder->kernel_id != 0 ? kernel_state(holder->kernel_id) : 0;

	return state == 'R' || state == 'D' ? 1 : IF_ASLEEP;
}

/* Sleeps until the seat has the turn, or until there is no hope. */
static bool sleep_until_chosen(struct turns *t, struct seat *seat)
{
	unsigned long beats = atomic_load(&t->beats);
	unsigned in_vain = 0;
	struct timespec until;

	pthread_mutex_lock(&t->lock);
	while (!turns_hold(t, seat) && !atomic_load(&t->is_over) && in_vain < PATIENCE) {
		const struct seat *holder = atomic_load(&t->holder);

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PATIENCE_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&seat->its_turn, &t->lock, &until);
		if (atomic_load(&t->beats) != beats || holder == NULL ||
		    atomic_load(&holder->is_late))
			in_vain = 0;
		else
			in_vain += despair(holder);
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
		relax();
	}
	return sleep_until_chosen(t, seat);
}

/* The seat is that of the calling thread. */
static void introduce(struct turns *t, struct seat *seat)
{
	if (seat->kernel_id != 0)
		return;
	pthread_mutex_lock(&t->lock);
	seat->kernel_id = gettid();
	pthread_mutex_unlock(&t->lock);
}

bool turns_wait(struct turns *t, struct seat *seat)
{
	introduce(t, seat);
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

/* Threads that came back by themselves: time was up, or somebody outside woke them. */
static void receive(struct turns *t, const struct seat *holder)
{
	for (size_t i = 0; i < t->seats.n; i++)
		if (atomic_load(&t->seats.items[i]->is_back))
			become_ready(t->seats.items[i], clock_of(holder));
}

void turns_pass(struct turns *t, const struct seat *seat)
{
	pthread_mutex_lock(&t->lock);
	receive(t, seat);
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_yield(struct turns *t, struct seat *seat)
{
	const struct seat *next;

	pthread_mutex_lock(&t->lock);
	receive(t, seat);
	next = choose(t, seat);
	if (next != NULL && clock_of(next) >= clock_of(seat))
		seat->wake_at = clock_of(next) + 1;
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_away(struct turns *t, struct seat *seat)
{
	pthread_mutex_lock(&t->lock);
	seat->kernel_id = gettid();
	atomic_store(&seat->is_back, false);
	seat->state = SEAT_AWAY;
	t->must_settle = true;
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_sleep(struct turns *t, struct seat *seat, uint64_t until)
{
	pthread_mutex_lock(&t->lock);
	seat->wake_at = until;
	atomic_store(&seat->is_late, true);
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_back(struct turns *t, struct seat *seat)
{
	/* Before the lock, where it could fall asleep and be taken for one that still waits. */
	atomic_store(&seat->is_back, true);
	pthread_mutex_lock(&t->lock);
	if (atomic_load(&t->holder) == NULL) {
		become_ready(seat, waking_clock(t, seat));
		t->must_settle = true;
		give(t, seat);
	}
	pthread_mutex_unlock(&t->lock);
}

void turns_quit(struct turns *t, struct seat *seat)
{
	pthread_mutex_lock(&t->lock);
	seat->kernel_id = gettid();
	seat->state = SEAT_LEAVING;
	t->must_settle = true;
	give(t, choose(t, NULL));
	pthread_mutex_unlock(&t->lock);
}

void turns_end(struct turns *t)
{
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->is_over, true);
	for (size_t i = 0; i < t->seats.n; i++)
		pthread_cond_broadcast(&t->seats.items[i]->its_turn);
	pthread_mutex_unlock(&t->lock);
}
