/* SPDX-License-Identifier: Apache-2.0 */
/* From records of switches to the times in which threads ran and waited. */

#include <stdlib.h>

#include "base/alloc.h"
#include "capture/format/record.h"
#include "running/inside.h"

/* What happens to a thread; at one time in this order. */
enum change_kind { CHANGE_CREATED, CHANGE_OUT, CHANGE_PREEMPTED, CHANGE_IN, CHANGE_EXITED };

struct thread_change {
	uint64_t time_ns, position;
	uint32_t thread;
	enum change_kind kind;
};

enum thread_state {
	STATE_UNKNOWN,
	STATE_RUNS,
	STATE_WAITS,
	STATE_GONE,
};

struct thread_now {
	enum thread_state state;
	struct wait wait; /* STATE_WAITS: from when, and why */
};

/* What is gathered of the capture. */
struct gathering {
	struct running *out;
	VEC_OF(struct thread_change) changes;
	VEC_OF(bool) is_of_program; /* by thread; once it is, it stays so */
	uint32_t sampled_tid;	    /* of a program: that of the sample before; 0: none */
};

static bool is_program(const struct session *s, uint32_t process)
{
	return process != 0 && !timeline_process(s->timeline, process)->is_kernel;
}

bool running_is_of_program(const struct session *s, uint32_t tid, uint64_t time_ns)
{
	return is_program(s, timeline_process_of_tid(s->timeline, tid, time_ns));
}

/* The number of a thread; UINT32_MAX: it is of the kernel, or of nobody who is known. */
static uint32_t thread_number(struct gathering *g, uint32_t tid, uint64_t time_ns)
{
	uint32_t number = tuples_add(&g->out->threads, &(uint64_t){ tid });

	if (number == g->is_of_program.n)
		*vec_add(&g->is_of_program) = running_is_of_program(g->out->session, tid, time_ns);
	return g->is_of_program.items[number] ? number : UINT32_MAX;
}

static void add_change(struct gathering *g, const struct record *r, uint64_t time_ns, uint32_t tid,
		       enum change_kind kind)
{
	uint32_t thread = thread_number(g, tid, time_ns);

	if (thread != UINT32_MAX)
		*vec_add(&g->changes) =
			(struct thread_change){ time_ns, r->position, thread, kind };
}

static void take_switch(struct gathering *g, const struct record *r, const struct sample_id *id)
{
	struct record_switch s;
	struct err ignored;

	if (record_switch_read(r, &s, &ignored) < 0 || !(id->has & HAS_TID))
		return;
	if (!s.is_out)
		add_change(g, r, id->time_ns, id->tid, CHANGE_IN);
	else
		add_change(g, r, id->time_ns, id->tid,
			   s.is_preempted ? CHANGE_PREEMPTED : CHANGE_OUT);
	if (s.has_other)
		add_change(g, r, id->time_ns, s.other_tid, s.is_out ? CHANGE_IN : CHANGE_OUT);
}

static void take_task(struct gathering *g, const struct record *r)
{
	struct record_task t;
	struct err ignored;

	if (record_task_read(r, &t, &ignored) == 0 && t.time_ns > 0 && !t.lists_maps)
		add_change(g, r, t.time_ns, t.tid,
			   r->type == RECORD_FORK ? CHANGE_CREATED : CHANGE_EXITED);
}

/* Its thread may never be switched, and began before the capture. */
static void take_sampled(struct gathering *g, const struct sample_id *id)
{
	const struct session *s = g->out->session;
	uint32_t number;

	if (id->tid == g->sampled_tid && id->tid != 0)
		return;
	number = thread_number(g, id->tid, id->time_ns);
	if (number == UINT32_MAX && id->has & HAS_PID)
		g->is_of_program.items[tuples_find(&g->out->threads, &(uint64_t){ id->tid })] =
			is_program(s, timeline_process_of_pid(s->timeline, id->pid, id->time_ns));
	g->sampled_tid = number == UINT32_MAX ? 0 : id->tid;
}

static void gather(void *context, const struct record *r, const struct sample_id *id)
{
	struct gathering *g = context;
	struct running *out = g->out;

	if (!(id->has & HAS_TIME) || id->time_ns == 0)
		return;
	out->first_ns =
		out->first_ns == 0 || id->time_ns < out->first_ns ? id->time_ns : out->first_ns;
	out->last_ns = id->time_ns > out->last_ns ? id->time_ns : out->last_ns;
	if (r->type == RECORD_SWITCH || r->type == RECORD_SWITCH_CPU_WIDE)
		take_switch(g, r, id);
	else if (r->type == RECORD_FORK || r->type == RECORD_EXIT)
		take_task(g, r);
	else if (r->type == RECORD_SAMPLE && id->has & HAS_TID)
		take_sampled(g, id);
}

static int compare_changes(const void *a, const void *b)
{
	const struct thread_change *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/*
 * Threads that were there before the first record. Who first leaves a CPU ran until then, and so did who
 * has samples and is never switched.
 */
static void begin_threads(const struct gathering *g, struct thread_now *now)
{
	uint32_t n = g->out->threads.n;
	bool *is_known = mem_zalloc(n + 1u, sizeof(*is_known));

	for (size_t i = 0; i < g->changes.n; i++) {
		const struct thread_change *c = &g->changes.items[i];

		if (is_known[c->thread])
			continue;
		is_known[c->thread] = true;
		if (c->kind == CHANGE_OUT || c->kind == CHANGE_PREEMPTED ||
		    c->kind == CHANGE_EXITED)
			now[c->thread].state = STATE_RUNS;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!is_known[i] && g->is_of_program.items[i])
			now[i].state = STATE_RUNS;
	free(is_known);
}

void running_add_time(struct running *out, size_t n_running, uint64_t ns)
{
	while (out->ns.n <= n_running)
		vec_add(&out->ns);
	out->ns.items[n_running] += ns;
}

static void end_wait(struct running *out, const struct thread_now *t, uint64_t time_ns)
{
	struct wait wait = t->wait;

	wait.to_ns = time_ns;
	if (wait.to_ns > wait.from_ns)
		*vec_add(&out->waits) = wait;
}

/* What a change makes of a thread. Records that say what is known already change nothing. */
static void apply(struct running *out, struct thread_now *t, const struct thread_change *c)
{
	struct wait wait = { .from_ns = c->time_ns, .thread = c->thread };

	if (t->state == STATE_GONE && c->kind != CHANGE_CREATED)
		return; /* it leaves its CPU for the last time */
	switch (c->kind) {
	case CHANGE_CREATED:
		t->state = STATE_WAITS;
		wait.cause = WAITING_FOR_CPU;
		t->wait = wait;
		break;
	case CHANGE_IN:
		if (t->state == STATE_WAITS)
			end_wait(out, t, c->time_ns);
		t->state = STATE_RUNS;
		break;
	case CHANGE_OUT:
	case CHANGE_PREEMPTED:
		if (t->state != STATE_RUNS)
			break;
		t->state = STATE_WAITS;
		wait.cause = c->kind == CHANGE_OUT ? WAITING_BLOCKED : WAITING_FOR_CPU;
		t->wait = wait;
		break;
	case CHANGE_EXITED:
		t->state = STATE_GONE;
		break;
	}
}

static void sweep(struct gathering *g)
{
	struct running *out = g->out;
	struct thread_now *now = mem_zalloc(out->threads.n + 1u, sizeof(*now));
	uint64_t at = out->first_ns;
	size_t n_running = 0;

	begin_threads(g, now);
	for (uint32_t i = 0; i < out->threads.n; i++)
		n_running += now[i].state == STATE_RUNS;
	for (size_t i = 0; i < g->changes.n; i++) {
		const struct thread_change *c = &g->changes.items[i];
		struct thread_now *t = &now[c->thread];

		if (c->time_ns > at) {
			running_add_time(out, n_running, c->time_ns - at);
			at = c->time_ns;
		}
		n_running -= t->state == STATE_RUNS;
		apply(out, t, c);
		n_running += t->state == STATE_RUNS;
	}
	if (out->last_ns > at)
		running_add_time(out, n_running, out->last_ns - at);
	for (uint32_t i = 0; i < out->threads.n; i++)
		if (now[i].state == STATE_WAITS)
			end_wait(out, &now[i], out->last_ns);
	free(now);
}

static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void index_waits(struct running *out)
{
	size_t n = out->threads.n, at = 0;

	if (out->waits.n > 0)
		qsort(out->waits.items, out->waits.n, sizeof(*out->waits.items), compare_waits);
	out->first_wait = mem_alloc(n + 1, sizeof(*out->first_wait));
	for (size_t thread = 0; thread <= n; thread++) {
		while (at < out->waits.n && out->waits.items[at].thread < thread)
			at++;
		out->first_wait[thread] = (uint32_t)at;
	}
}

struct running *running_new(struct session *s)
{
	const struct capture_totals *totals = capture_totals(s->capture);
	struct gathering g = { 0 };

	if (totals->by_type[RECORD_SWITCH] + totals->by_type[RECORD_SWITCH_CPU_WIDE] == 0)
		return NULL;
	g.out = mem_zalloc(1, sizeof(*g.out));
	g.out->session = s;
	tuples_init(&g.out->threads, 1);
	capture_walk(s->capture, gather, &g);
	if (g.changes.n > 0)
		qsort(g.changes.items, g.changes.n, sizeof(*g.changes.items), compare_changes);
	sweep(&g);
	index_waits(g.out);
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		g.out->has_switch_events |= running_is_switch_event(s, i);
	vec_release(&g.changes);
	vec_release(&g.is_of_program);
	return g.out;
}

void running_free(struct running *r)
{
	if (r == NULL)
		return;
	vec_release(&r->ns);
	vec_release(&r->waits);
	tuples_release(&r->threads);
	free(r->first_wait);
	free(r);
}
