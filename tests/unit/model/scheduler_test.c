/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules real threads, whose modelled clocks and system calls are scripted. What
 * each run does is written down as a line of text, which must not depend on the host.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/scheduler.h"

enum { QUANTUM = 10, MAX_PLAYERS = 8, SLOW_MS = 400 };

struct game;

/* A thread with its script: a letter and a number for each thing it does. */
struct player {
	struct game *game;
	char name;
	const char *script;
	uint64_t clock;
	struct task *task;
	pthread_t thread;
};

/*
 * Scripts: "wN" works for N cycles, "p" puts a byte into the pipe, "g" gets one (and may have to
 * wait), "sN" sleeps until cycle N, "y" yields.
 */
struct game {
	struct scheduler scheduler;
	struct player players[MAX_PLAYERS];
	size_t n;
	int pipe[2];
	struct text log; /* of the running thread: who did what at which cycle */
};

static void note(struct player *p, char what)
{
	text_format(&p->game->log, "%c%c%llu ", p->name, what, (unsigned long long)p->clock);
}

static void take(struct player *p)
{
	assert_true(scheduler_wait(&p->game->scheduler, p->task));
	if (p->clock < p->task->wake_at)
		p->clock = p->task->wake_at;
}

static void work(struct player *p, long cycles)
{
	for (; cycles > 0; cycles--) {
		p->clock++;
		scheduler_note_progress(&p->game->scheduler);
		if (p->clock < p->task->limit)
			continue;
		note(p, '.');
		scheduler_end_quantum(&p->game->scheduler, p->task);
		take(p);
	}
}

static void put(struct player *p)
{
	scheduler_enter_call(&p->game->scheduler, p->task);
	assert_int_equal(write(p->game->pipe[1], "x", 1), 1);
	scheduler_return(&p->game->scheduler, p->task);
	take(p);
}

static void get(struct player *p)
{
	char byte;

	scheduler_enter_call(&p->game->scheduler, p->task);
	assert_int_equal(read(p->game->pipe[0], &byte, 1), 1);
	scheduler_return(&p->game->scheduler, p->task);
	take(p);
}

static void nap(struct player *p, long until)
{
	scheduler_sleep(&p->game->scheduler, p->task, (uint64_t)until);
	usleep(300);
	take(p);
}

static void *play(void *argument)
{
	struct player *p = argument;

	take(p);
	for (const char *at = p->script; *at != '\0';) {
		char action = *at++;
		char *end;
		long number = strtol(at, &end, 10);

		at = end;
		note(p, action);
		if (action == 'w')
			work(p, number);
		else if (action == 'p')
			put(p);
		else if (action == 'g')
			get(p);
		else if (action == 's')
			nap(p, number);
		else if (action == 'y') {
			scheduler_yield(&p->game->scheduler, p->task);
			take(p);
		}
	}
	note(p, '!');
	scheduler_exit(&p->game->scheduler, p->task);
	return NULL;
}

/* The first player runs at once, so the others are added before its thread starts. */
static void run(const char *const *scripts, struct text *out)
{
	struct game game = { 0 };

	scheduler_init(&game.scheduler, QUANTUM, NULL);
	assert_int_equal(pipe(game.pipe), 0);
	for (; scripts[game.n] != NULL; game.n++) {
		struct player *p = &game.players[game.n];

		*p = (struct player){ .game = &game,
				      .name = (char)('A' + game.n),
				      .script = scripts[game.n] };
		p->task = scheduler_add(&game.scheduler, &p->clock, 0);
	}
	for (size_t i = game.n; i-- > 0;)
		pthread_create(&game.players[i].thread, NULL, play, &game.players[i]);
	for (size_t i = 0; i < game.n; i++)
		pthread_join(game.players[i].thread, NULL);
	*out = game.log;
	close(game.pipe[0]);
	close(game.pipe[1]);
	scheduler_release(&game.scheduler);
}

static void the_clocks_decide(void **state)
{
	static const struct {
		const char *scripts[MAX_PLAYERS];
		const char *log;
	} games[] = {
		/* Alone: nobody to wait for. */
		{ { "w1000" }, "Aw0 A!1000 " },
		/* Two: each runs until it is a quantum ahead. */
		{ { "w15", "w25" }, "Aw0 A.10 Bw0 B.20 A!15 B!25 " },
		/* B waits for what A puts; it is woken at A's cycle 30. */
		{ { "w30pw5", "g" }, NULL },
		/* Both wait for C, in the order in which they came. */
		{ { "gw3", "gw3", "w50pw100p" }, NULL },
		/* Sleepers wake by the clock, whatever the host's says. */
		{ { "s500w5", "s300w5", "w1000" }, NULL },
		{ { "w5yw5", "w20" }, NULL },
		{ { "w1pw1gw1", "gw1p", "w40", "s20w10" }, NULL },
		/* So many quanta without a call that they share a CPU, few and many threads. */
		{ { "w3000", "w3000" }, NULL },
		{ { "w2000", "w2500", "w1500", "w2000" }, NULL },
		{ { "w2000", "w2000", "w2000", "w2000", "w2000", "w2000" }, NULL },
		{ { "w1500pw1500", "w2500gw100" }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		struct text first;

		run(games[i].scripts, &first);
		text_char(&first, '\0');
		if (games[i].log != NULL)
			assert_string_equal(first.bytes, games[i].log);
		for (int again = 0; again < 20; again++) {
			struct text other;

			run(games[i].scripts, &other);
			text_char(&other, '\0');
			if (strcmp(first.bytes, other.bytes) != 0)
				fail_msg("game %zu: '%s', then '%s'", i, first.bytes, other.bytes);
			text_release(&other);
		}
		text_release(&first);
	}
}

/* CPU time of the thread, so that a busy machine changes nothing. */
static long thread_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Runs without progress for long, as if other programs had the CPU. */
static void *be_slow(void *argument)
{
	struct player *p = argument;

	take(p);
	while (thread_ms() < SLOW_MS)
		;
	scheduler_yield(&p->game->scheduler, p->task);
	return NULL;
}

static void *wait_in_vain(void *argument)
{
	struct player *p = argument;

	p->clock = scheduler_wait(&p->game->scheduler, p->task);
	return NULL;
}

/*
 * The running thread never ends its quantum: a waiting one gives up after a while, or at the stop.
 */
static void nobody_waits_for_ever(void **state)
{
	(void)state;
	for (int ends = 0; ends < 2; ends++) {
		struct game game = { 0 };
		struct player *a = &game.players[0], *b = &game.players[1];

		scheduler_init(&game.scheduler, QUANTUM, NULL);
		a->game = b->game = &game;
		a->task = scheduler_add(&game.scheduler, &a->clock, 0);
		b->task = scheduler_add(&game.scheduler, &b->clock, 0);
		scheduler_set_thread(&game.scheduler, a->task);
		pthread_create(&b->thread, NULL, wait_in_vain, b);
		if (ends)
			scheduler_stop(&game.scheduler);
		pthread_join(b->thread, NULL);
		assert_int_equal(b->clock, false);
		scheduler_release(&game.scheduler);
	}
}

/* Others wait for a running thread that is not asleep, however long it waits for a CPU. */
static void the_slow_are_waited_for(void **state)
{
	struct game game = { 0 };
	struct player *a = &game.players[0], *b = &game.players[1];

	(void)state;
	scheduler_init(&game.scheduler, QUANTUM, NULL);
	a->game = b->game = &game;
	a->task = scheduler_add(&game.scheduler, &a->clock, 0);
	b->task = scheduler_add(&game.scheduler, &b->clock, 0);
	pthread_create(&a->thread, NULL, be_slow, a);
	pthread_create(&b->thread, NULL, wait_in_vain, b);
	pthread_join(a->thread, NULL);
	pthread_join(b->thread, NULL);
	assert_int_equal(b->clock, true);
	scheduler_release(&game.scheduler);
}

/* A process is killed while its thread is the running one: another thread is chosen. */
static void the_killed_are_replaced(void **state)
{
	struct game game = { 0 };
	struct player *a = &game.players[0], *b = &game.players[1];
	pid_t child;

	(void)state;
	scheduler_init(&game.scheduler, QUANTUM, NULL);
	a->task = scheduler_add(&game.scheduler, &a->clock, 1);
	b->task = scheduler_add(&game.scheduler, &b->clock, 0);
	child = fork();
	if (child == 0)
		_exit(0);
	a->task->kernel_id = child;
	assert_true(scheduler_wait(&game.scheduler, b->task));
	assert_int_equal(game.scheduler.tasks.n, 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	scheduler_release(&game.scheduler);
}

/* Threads of a process that stops them all do not wait; those of another one do. */
static void the_interrupted_go_on(void **state)
{
	struct game game = { 0 };
	struct player *a = &game.players[0], *b = &game.players[1], *c = &game.players[2];

	(void)state;
	scheduler_init(&game.scheduler, QUANTUM, NULL);
	a->task = scheduler_add(&game.scheduler, &a->clock, 0);
	b->task = scheduler_add(&game.scheduler, &b->clock, 0);
	c->task = scheduler_add(&game.scheduler, &c->clock, 1);
	scheduler_interrupt(&game.scheduler, a->task);
	assert_false(scheduler_wait(&game.scheduler, b->task));
	assert_false(atomic_load(&c->task->must_not_wait));
	scheduler_resume(&game.scheduler, a->task);
	assert_false(atomic_load(&b->task->must_not_wait));
	scheduler_remove(&game.scheduler, c->task);
	assert_int_equal(game.scheduler.tasks.n, 2);
	scheduler_release(&game.scheduler);
}

/* A thread that hands over to another one all the time, and which CPUs of the host both may use. */
struct neighbour {
	struct player player;
	const struct player *other;
	atomic_bool may_end;
	bool is_last; /* it ends scheduling; else it makes a call */
	cpu_set_t first, working, other_working, called, other_called;
};

/* Works until scheduling ends; the thread stays until it may end. */
static void *work_forever(void *argument)
{
	struct neighbour *n = argument;
	struct player *p = &n->player;

	while (scheduler_wait(&p->game->scheduler, p->task)) {
		while (p->clock < p->task->limit)
			p->clock++;
		scheduler_end_quantum(&p->game->scheduler, p->task);
	}
	while (!atomic_load(&n->may_end))
		usleep(100);
	return NULL;
}

static void *work_in_turn(void *argument)
{
	struct neighbour *n = argument;
	struct player *p = &n->player;

	take(p);
	sched_getaffinity(0, sizeof(n->first), &n->first);
	work(p, 2000);
	sched_getaffinity(0, sizeof(n->working), &n->working);
	sched_getaffinity(n->other->task->kernel_id, sizeof(n->other_working), &n->other_working);
	if (n->is_last)
		scheduler_stop(&p->game->scheduler);
	else
		scheduler_note_call(&p->game->scheduler);
	sched_getaffinity(0, sizeof(n->called), &n->called);
	sched_getaffinity(n->other->task->kernel_id, sizeof(n->other_called), &n->other_called);
	return NULL;
}

/* Threads without system calls take turns on one CPU; all get theirs back before one of them makes a call, or scheduling ends. */
static void those_that_hand_over_share_a_cpu(void **state)
{
	(void)state;
	for (int ends = 0; ends < 2; ends++) {
		struct game game = { 0 };
		struct neighbour b = { .player.game = &game };
		struct neighbour a = { .player.game = &game, .other = &b.player, .is_last = ends };

		scheduler_init(&game.scheduler, QUANTUM, NULL);
		a.player.task = scheduler_add(&game.scheduler, &a.player.clock, 0);
		b.player.task = scheduler_add(&game.scheduler, &b.player.clock, 0);
		pthread_create(&b.player.thread, NULL, work_forever, &b);
		pthread_create(&a.player.thread, NULL, work_in_turn, &a);
		pthread_join(a.player.thread, NULL);
		assert_int_equal(atomic_load(&game.scheduler.n_pinned), 0);
		scheduler_stop(&game.scheduler);
		atomic_store(&b.may_end, true);
		pthread_join(b.player.thread, NULL);
		assert_int_equal(CPU_COUNT(&a.working), 1);
		assert_true(CPU_EQUAL(&a.working, &a.other_working));
		assert_true(CPU_EQUAL(&a.called, &a.first));
		assert_true(CPU_EQUAL(&a.other_called, &a.first));
		text_release(&game.log);
		scheduler_release(&game.scheduler);
	}
}

enum { LAST_CYCLE = 20000 };

/* Works until one of them comes to the last cycle. */
static void *work_to_the_last_cycle(void *argument)
{
	struct player *p = argument;
	struct scheduler *scheduler = &p->game->scheduler;

	while (scheduler_wait(scheduler, p->task)) {
		p->clock = p->task->limit;
		if (p->clock >= LAST_CYCLE)
			scheduler_stop(scheduler);
		else
			scheduler_end_quantum(scheduler, p->task);
	}
	return NULL;
}

/* How often threads did not yield the CPU that they share because that took long before. */
static unsigned count_sleeps(size_t n_players)
{
	enum { SLEEPS = 1000000 };
	struct game game = { .n = n_players };
	unsigned n = 0;

	scheduler_init(&game.scheduler, QUANTUM, NULL);
	for (size_t i = 0; i < game.n; i++) {
		struct player *p = &game.players[i];

		*p = (struct player){ .game = &game };
		p->task = scheduler_add(&game.scheduler, &p->clock, 0);
		p->task->n_sleeps = SLEEPS;
	}
	for (size_t i = 0; i < game.n; i++)
		pthread_create(&game.players[i].thread, NULL, work_to_the_last_cycle,
			       &game.players[i]);
	for (size_t i = 0; i < game.n; i++)
		pthread_join(game.players[i].thread, NULL);
	for (size_t i = 0; i < game.n; i++)
		n += SLEEPS - game.players[i].task->n_sleeps;
	scheduler_release(&game.scheduler);
	return n;
}

/* A thread that slept as yielding took long counts down to its next try. More than four never try. */
static void few_threads_yield_their_cpu(void **state)
{
	enum { FEW = 100, MANY = 500 }; /* of some 4000 waits, and more of more threads */

	(void)state;
	assert_true(count_sleeps(2) > MANY);
	assert_true(count_sleeps(4) > MANY);
	assert_true(count_sleeps(5) < FEW);
	assert_true(count_sleeps(8) < FEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clocks_decide),
		cmocka_unit_test(nobody_waits_for_ever),
		cmocka_unit_test(the_slow_are_waited_for),
		cmocka_unit_test(the_killed_are_replaced),
		cmocka_unit_test(the_interrupted_go_on),
		cmocka_unit_test(those_that_hand_over_share_a_cpu),
		cmocka_unit_test(few_threads_yield_their_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
