/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/probes/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/histogram.h"

static struct call_thread *call_thread_of(struct call_counts *c, int32_t tid)
{
	struct call_thread *t;

	for (size_t i = c->threads.n; i-- > 0;)
		if (c->threads.items[i].tid == tid)
			return &c->threads.items[i];
	t = vec_add(&c->threads);
	t->tid = tid;
	return t;
}

static size_t call_path_of(struct call_counts *c, int32_t tid, uint32_t function, uint32_t parent,
			   bool is_recursive)
{
	struct call_path *p;

	for (size_t i = 0; i < c->paths.n; i++) {
		p = &c->paths.items[i];
		if (p->tid == tid && p->function == function && p->parent == parent &&
		    p->is_recursive == is_recursive)
			return i;
	}
	p = vec_add(&c->paths);
	p->tid = tid;
	p->function = function;
	p->parent = parent;
	p->is_recursive = is_recursive;
	for (size_t i = 0; i < c->n_events; i++) {
		p->events[i].min = UINT64_MAX;
		p->events[i].histogram = mem_zalloc(HISTOGRAM_BUCKETS, sizeof(uint64_t));
	}
	return c->paths.n - 1;
}

/*
 * Was this call left without a return (longjmp, an exception) before another one starts? Its place on the
 * stack is in use again. At the same place there may be the function that it jumped to at its end, which
 * returns for both; but not if it is seen at its own returns. Stacks of others (of signals, of coroutines)
 * are far.
 */
static bool is_left(const struct probe_hit *open, const struct probe_hit *start)
{
	enum { NEAR = 1 << 20 };

	if (open->stack == 0 || start->stack == 0)
		return false;
	if (open->stack == start->stack)
		return open->has_exits || open->function == start->function;
	return open->stack < start->stack && start->stack - open->stack < NEAR;
}

static void start_call(struct call_counts *c, const struct probe_hit *hit)
{
	struct call_thread *t = call_thread_of(c, hit->tid);
	const struct open_call *top = t->stack.n > 0 ? &t->stack.items[t->stack.n - 1] : NULL;
	uint32_t parent = 0;
	bool is_recursive = false;
	struct open_call *call;
	size_t path;

	if (top != NULL && hit->loops_to_start && top->start.function == hit->function &&
	    top->start.stack == hit->stack && hit->stack != 0)
		return;
	while (t->stack.n > 0 && is_left(&t->stack.items[t->stack.n - 1].start, hit)) {
		c->n_unreturned++;
		t->stack.n--;
	}
	for (size_t i = 0; i < t->stack.n; i++)
		is_recursive |= t->stack.items[i].start.function == hit->function;
	if (t->stack.n > 0)
		parent = t->stack.items[t->stack.n - 1].start.function + 1;
	path = call_path_of(c, hit->tid, hit->function, parent, is_recursive);
	call = vec_add(&t->stack);
	call->path = path;
	call->start = *hit;
}

/* Adds what the call counted to its path, and to the call around it. */
static void finish_call(struct call_counts *c, const struct open_call *call,
			const struct probe_hit *end, struct open_call *around)
{
	struct call_path *p = &c->paths.items[call->path];
	uint64_t enabled = end->enabled_ns - call->start.enabled_ns;
	uint64_t running = end->running_ns - call->start.running_ns;

	p->calls++;
	p->whole_calls += enabled == running;
	p->enabled_ns += enabled;
	p->running_ns += running;
	p->inside_enabled_ns += call->inside_enabled_ns;
	p->inside_running_ns += call->inside_running_ns;
	if (around != NULL) {
		around->inside_enabled_ns += enabled;
		around->inside_running_ns += running;
	}
	for (size_t i = 0; i < c->n_events; i++) {
		struct call_event *e = &p->events[i];
		uint64_t value = end->values[i] - call->start.values[i];

		e->sum += value;
		e->inside += call->inside[i];
		if (around != NULL)
			around->inside[i] += value;
		if (enabled != running && i != CALL_DURATION)
			continue;
		e->min = value < e->min ? value : e->min;
		e->max = value > e->max ? value : e->max;
		e->histogram[histogram_bucket(value)]++;
	}
}

/*
 * The call that returns: the innermost one of the function whose stack pointer was the same. Others
 * were left without a return. A tail call returns with the one that made it, at the same stack pointer.
 */
static size_t find_open_call(const struct call_thread *t, const struct probe_hit *hit)
{
	for (size_t i = t->stack.n; i-- > 0;) {
		const struct probe_hit *start = &t->stack.items[i].start;

		if (start->function == hit->function &&
		    (start->stack == hit->stack || start->stack == 0 || hit->stack == 0))
			return i;
	}
	return SIZE_MAX;
}

static void end_call(struct call_counts *c, const struct probe_hit *hit)
{
	struct call_thread *t = call_thread_of(c, hit->tid);
	size_t at = find_open_call(t, hit);

	if (at == SIZE_MAX) {
		if (c->n_lost > 0)
			c->n_after_loss++;
		else
			c->n_unstarted++;
		return;
	}
	c->n_unreturned += t->stack.n - at - 1;
	finish_call(c, &t->stack.items[at], hit, at > 0 ? &t->stack.items[at - 1] : NULL);
	t->stack.n = at;
}

void call_counts_add(struct call_counts *c, const struct probe_hit *hit)
{
	if (hit->is_return)
		end_call(c, hit);
	else
		start_call(c, hit);
}

void call_counts_lose(struct call_counts *c, int32_t tid, uint64_t n)
{
	struct call_thread *t = call_thread_of(c, tid);

	c->n_lost += n;
	c->n_after_loss += t->stack.n;
	t->stack.n = 0;
}

void call_counts_end_thread(struct call_counts *c, int32_t tid)
{
	struct call_thread *t = call_thread_of(c, tid);

	c->n_unreturned += t->stack.n;
	t->stack.n = 0;
}

void call_counts_rename_thread(struct call_counts *c, int32_t from, int32_t to)
{
	for (size_t i = 0; i < c->threads.n; i++)
		if (c->threads.items[i].tid == from)
			c->threads.items[i].tid = to;
}

static void add_event(struct call_event *to, const struct call_event *from)
{
	to->inside += from->inside;
	to->sum += from->sum;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->histogram[i] += from->histogram[i];
}

void call_counts_sum(const struct call_counts *from, bool by_thread, struct call_counts *out)
{
	out->n_events = from->n_events;
	for (size_t i = 0; i < from->paths.n; i++) {
		const struct call_path *p = &from->paths.items[i];
		size_t at =
			call_path_of(out, by_thread ? p->tid : 0, p->function, 0, p->is_recursive);
		struct call_path *sum = &out->paths.items[at];

		sum->calls += p->calls;
		sum->whole_calls += p->whole_calls;
		sum->enabled_ns += p->enabled_ns;
		sum->running_ns += p->running_ns;
		sum->inside_enabled_ns += p->inside_enabled_ns;
		sum->inside_running_ns += p->inside_running_ns;
		for (size_t k = 0; k < from->n_events; k++)
			add_event(&sum->events[k], &p->events[k]);
	}
}

void call_counts_release(struct call_counts *c)
{
	for (size_t i = 0; i < c->paths.n; i++)
		for (size_t k = 0; k < c->n_events; k++)
			free(c->paths.items[i].events[k].histogram);
	vec_release(&c->paths);
	for (size_t i = 0; i < c->threads.n; i++)
		vec_release(&c->threads.items[i].stack);
	vec_release(&c->threads);
}
