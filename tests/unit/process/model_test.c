/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lives of processes, compared with a model that does the same in the plainest way:
 * it replays the records up to the time asked for, on arrays, copying at each fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"

enum {
	N_PIDS = 6,
	FIRST_PID = 10,
	N_TIDS = 14,
	MAX_STEPS = 60,
	MAX_MAPS = MAX_STEPS + 1,
	N_SCENARIOS = 3000,
	MAX_ADDRESS = 48,
	MAX_TIME = 50,
};

enum action { DO_MAP, DO_FORK, DO_EXEC, DO_EXIT, DO_THREAD, DO_KERNEL_MAP, DO_KSYMBOL };

struct step {
	uint64_t time_ns;
	enum action action;
	uint32_t pid, other; /* other: child, or thread */
	uint64_t start, length;
	unsigned number; /* names the mapping */
};

struct scenario {
	struct step steps[MAX_STEPS];
	size_t n;
};

/* The model: what is mapped, oldest first. */
struct model_space {
	const struct step *maps[MAX_MAPS];
	size_t n;
};

struct model {
	struct model_space spaces[N_PIDS]; /* by pid - FIRST_PID */
	struct model_space kernel;
	bool is_there[N_PIDS];
	uint32_t pids[N_TIDS]; /* by tid - FIRST_PID; 0: unknown */
};

static uint64_t next_random(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % below;
}

static void make_scenario(struct scenario *s, uint64_t *seed)
{
	/* Some scenarios are mostly mappings, some mostly forks. */
	static const enum action mixes[][8] = {
		{ DO_MAP, DO_MAP, DO_MAP, DO_FORK, DO_EXEC, DO_EXIT, DO_THREAD, DO_KSYMBOL },
		{ DO_MAP, DO_FORK, DO_FORK, DO_FORK, DO_MAP, DO_THREAD, DO_EXEC, DO_MAP },
		{ DO_MAP, DO_MAP, DO_MAP, DO_MAP, DO_KERNEL_MAP, DO_KSYMBOL, DO_MAP, DO_FORK },
	};
	const enum action *mix = mixes[next_random(seed, COUNT(mixes))];
	uint64_t time_ns = 1;

	s->n = 1 + next_random(seed, MAX_STEPS);
	for (size_t i = 0; i < s->n; i++) {
		time_ns += next_random(seed, 2);
		s->steps[i] = (struct step){
			.time_ns = time_ns,
			.action = mix[next_random(seed, 8)],
			.pid = FIRST_PID + (uint32_t)next_random(seed, N_PIDS),
			.other = FIRST_PID + (uint32_t)next_random(seed, N_PIDS),
			.start = next_random(seed, MAX_ADDRESS),
			.length = 1 + next_random(seed, 16),
			.number = (unsigned)i,
		};
		if (s->steps[i].action == DO_THREAD)
			s->steps[i].other =
				FIRST_PID + N_PIDS + (uint32_t)next_random(seed, N_TIDS - N_PIDS);
		if (s->steps[i].action == DO_FORK && s->steps[i].other == s->steps[i].pid)
			s->steps[i].action = DO_MAP;
	}
}

static void name_of_step(char name[16], const struct step *s)
{
	snprintf(name, 16, "/%u", s->number);
}

static void feed_step(struct fixture *f, const struct step *s)
{
	char name[16];

	name_of_step(name, s);
	switch (s->action) {
	case DO_MAP:
		feed_map(f, s->time_ns, s->pid, s->start, s->length, 0, name);
		break;
	case DO_FORK:
		feed_fork(f, s->time_ns, s->other, s->other, s->pid, s->pid);
		break;
	case DO_EXEC:
		feed_exec(f, s->time_ns, s->pid, name);
		break;
	case DO_EXIT:
		feed_exit(f, s->time_ns, s->pid, s->pid);
		break;
	case DO_THREAD:
		feed_fork(f, s->time_ns, s->pid, s->other, s->pid, s->pid);
		break;
	case DO_KERNEL_MAP:
		feed_kernel(f, s->time_ns, s->start, s->length, 0, name);
		break;
	case DO_KSYMBOL:
		feed_ksymbol(f, s->time_ns, s->start, (uint32_t)s->length, 0, name);
		break;
	}
}

/* Neighbours at different times change places: records of several cpus are out of order. */
static void feed_scenario(struct fixture *f, const struct scenario *s, uint64_t *seed)
{
	size_t order[MAX_STEPS];

	for (size_t i = 0; i < s->n; i++)
		order[i] = i;
	for (unsigned round = 0; round < 40 && s->n > 1; round++) {
		size_t i = next_random(seed, s->n - 1), swap = order[i];

		if (s->steps[order[i]].time_ns == s->steps[order[i + 1]].time_ns)
			continue;
		order[i] = order[i + 1];
		order[i + 1] = swap;
	}
	for (size_t i = 0; i < s->n; i++)
		feed_step(f, &s->steps[order[i]]);
}

static void model_map(struct model_space *space, const struct step *s)
{
	space->maps[space->n++] = s;
}

static void model_step(struct model *m, const struct step *s)
{
	struct model_space *space = &m->spaces[s->pid - FIRST_PID];

	if (s->action != DO_KERNEL_MAP && s->action != DO_KSYMBOL) {
		m->is_there[s->pid - FIRST_PID] = true;
		if (m->pids[s->pid - FIRST_PID] != s->pid)
			m->pids[s->pid - FIRST_PID] = s->pid;
	}
	switch (s->action) {
	case DO_MAP:
		model_map(space, s);
		break;
	case DO_FORK:
		m->spaces[s->other - FIRST_PID] = *space;
		m->is_there[s->other - FIRST_PID] = true;
		m->pids[s->other - FIRST_PID] = s->other;
		break;
	case DO_EXEC:
		space->n = 0;
		break;
	case DO_EXIT:
		break;
	case DO_THREAD:
		m->pids[s->other - FIRST_PID] = s->pid;
		break;
	default:
		model_map(&m->kernel, s);
		break;
	}
}

/*
 * Who was there before the capture: those whose first record is not that of their making. In
 * order of time this is a look at the first step that names a pid.
 */
static void model_start(struct model *m, const struct scenario *s)
{
	bool is_decided[N_PIDS] = { 0 };

	memset(m, 0, sizeof(*m));
	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->steps[i];
		uint32_t own = step->pid - FIRST_PID, other = step->other - FIRST_PID;

		if (step->action == DO_KERNEL_MAP || step->action == DO_KSYMBOL)
			continue;
		if (!is_decided[own])
			m->is_there[own] = true;
		if (!is_decided[own])
			m->pids[own] = step->pid;
		is_decided[own] = true;
		if (step->action == DO_FORK)
			is_decided[other] = true;
	}
}

static void model_at(struct model *m, const struct scenario *s, uint64_t time_ns)
{
	model_start(m, s);
	for (size_t i = 0; i < s->n && s->steps[i].time_ns <= time_ns; i++)
		model_step(m, &s->steps[i]);
}

static void model_path(char path[16], const struct model_space *space, uint64_t address)
{
	path[0] = '\0';
	for (size_t i = space->n; i-- > 0 && path[0] == '\0';)
		if (address - space->maps[i]->start < space->maps[i]->length)
			name_of_step(path, space->maps[i]);
}

static void check_place(const struct fixture *f, const struct model *m, uint32_t pid,
			uint64_t time_ns, uint64_t address)
{
	char expected[16];

	model_path(expected, &m->spaces[pid - FIRST_PID], address);
	assert_string_equal(path_at(f, pid, time_ns, address), expected);
}

static void check_kernel(const struct fixture *f, const struct scenario *s, const struct model *m,
			 uint64_t time_ns, uint64_t address)
{
	char expected[16];
	bool is_listed = false;

	for (size_t i = 0; i < s->n; i++)
		is_listed |= s->steps[i].action == DO_KERNEL_MAP;
	model_path(expected, &m->kernel, address);
	if (expected[0] == '\0' && !is_listed)
		assert_string_equal(kernel_path_at(f, time_ns, address), "[kernel.kallsyms]");
	else
		assert_string_equal(kernel_path_at(f, time_ns, address), expected);
}

/* The same module, at the distance between the addresses. */
static void check_same(struct placed p, struct placed other, uint64_t distance)
{
	assert_int_equal(other.place.module.v, p.place.module.v);
	assert_int_equal(other.place.offset, p.place.offset + distance);
}

/* The answer must be the same at both ends of the time and of the range it claims to hold. */
static void check_window(const struct fixture *f, const struct scenario *s, uint32_t pid,
			 uint64_t time_ns, uint64_t address)
{
	uint32_t process = timeline_process_of_pid(f->timeline, pid, time_ns);
	struct placed p = timeline_place(f->timeline, process, false, address, time_ns);
	struct model m;

	assert_true(p.from_ns <= time_ns && time_ns < p.to_ns);
	if (process == 0)
		return;
	model_at(&m, s, p.from_ns);
	if (timeline_process_of_pid(f->timeline, pid, p.from_ns) == process)
		check_place(f, &m, pid, p.from_ns, address);
	assert_true(p.first <= address && address <= p.last);
	check_same(p, timeline_place(f->timeline, process, false, address, p.to_ns - 1), 0);
	check_same(p, timeline_place(f->timeline, process, false, p.first, time_ns),
		   p.first - address);
	check_same(p, timeline_place(f->timeline, process, false, p.last, time_ns),
		   p.last - address);
}

static void check_threads(const struct fixture *f, const struct model *m, uint64_t time_ns)
{
	for (uint32_t i = 0; i < N_TIDS; i++)
		assert_int_equal(pid_of(f, FIRST_PID + i, time_ns),
				 m->pids[i] == 0 ? -1 : (int64_t)m->pids[i]);
	for (uint32_t i = 0; i < N_PIDS; i++)
		assert_int_equal(timeline_process_of_pid(f->timeline, FIRST_PID + i, time_ns) != 0,
				 m->is_there[i]);
}

static void check_scenario(const struct scenario *s, uint64_t *seed)
{
	struct fixture f;

	fixture_init(&f);
	feed_scenario(&f, s, seed);
	fixture_freeze(&f);
	for (unsigned probe = 0; probe < 24; probe++) {
		uint64_t time_ns = next_random(seed, MAX_TIME);
		uint64_t address = next_random(seed, MAX_ADDRESS + 16);
		uint32_t pid = FIRST_PID + (uint32_t)next_random(seed, N_PIDS);
		struct model m;

		model_at(&m, s, time_ns);
		check_threads(&f, &m, time_ns);
		check_place(&f, &m, pid, time_ns, address);
		check_kernel(&f, s, &m, time_ns, address);
		check_window(&f, s, pid, time_ns, address);
	}
	fixture_release(&f);
}

static void test_against_model(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned i = 0; i < N_SCENARIOS; i++) {
		struct scenario s;

		make_scenario(&s, &seed);
		check_scenario(&s, &seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
