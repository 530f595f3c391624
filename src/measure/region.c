/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin and end. A signal may interrupt them, and its handler may call them: what it does then is
 * refused, so that nothing here is changed half-way.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "measure/inside.h"
#include "measure/mark.h"

/* Others see the numbers of a path change in this order. */
static inline void order_stores(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dmb ish" ::: "memory");
#elif defined(__x86_64__)
	__asm__ volatile("" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Forgets the numbers of a path. */
static void path_clear(const struct cyclops *c, struct path *p)
{
	for (unsigned set = 0; set < c->events.n_sets; set++) {
		struct path_set *s = &p->sets[set];

		STORE(s->calls, 0);
		STORE(s->by_read, 0);
		STORE(s->by_user, 0);
		STORE(s->enabled_ns, 0);
		STORE(s->running_ns, 0);
		STORE(s->exclusive_enabled_ns, 0);
		STORE(s->exclusive_running_ns, 0);
	}
	for (unsigned i = 0; i < c->events.n; i++) {
		struct path_event *e = &p->events[i];

		STORE(e->sum, 0);
		STORE(e->exclusive, 0);
		STORE(e->n, 0);
		STORE(e->min, UINT64_MAX);
		STORE(e->max, 0);
	}
	for (size_t i = 0; i < (size_t)c->events.n * HISTOGRAM_BUCKETS; i++)
		if (p->histograms[i] != 0)
			STORE(p->histograms[i], 0);
}

/*
 * Has the kernel give memory to the path's histograms now, so that it is not page faults of the regions
 * around. Before Linux 5.14 the pages are touched, which are faults once.
 */
static void populate(const struct cyclops *c, struct path *p)
{
	enum { PAGE = 4096, POPULATE_WRITE = 23 };
	size_t size = (size_t)c->events.n * HISTOGRAM_BUCKETS * sizeof(uint64_t);
	char *start = (char *)((uintptr_t)p->histograms & ~(uintptr_t)(PAGE - 1));
	char *end = (char *)p->histograms + size;

	if (madvise(start, (size_t)(end - start), POPULATE_WRITE) == 0)
		return;
	for (volatile char *at = (char *)p->histograms; at < end; at += PAGE)
		*at = 0;
}

/* The path of a region inside of another, added if it is new. NULL: there is no room. */
static struct path *path_of(struct caliper_thread *t, int region, int parent, bool is_recursive)
{
	struct path *p;

	for (unsigned i = 0; i < t->n_paths; i++) {
		p = &t->paths[i];
		if (p->region == region && p->parent == parent && p->is_recursive == is_recursive)
			return p;
	}
	if (t->n_paths == t->owner->max_paths)
		return NULL;
	p = &t->paths[t->n_paths];
	p->parent = parent;
	p->is_recursive = is_recursive;
	p->epoch = LOAD(t->owner->epoch);
	populate(t->owner, p);
	path_clear(t->owner, p);
	STORE(p->region, region);
	__atomic_store_n(&t->n_paths, t->n_paths + 1, __ATOMIC_RELEASE);
	return p;
}

/* What begin and end have in common: 0, or why not. */
static inline int enter(struct cyclops *c, int region, struct caliper_thread **out)
{
	struct caliper_thread *t;

	if (c == NULL || region <= 0 ||
	    (unsigned)region > __atomic_load_n(&c->n_regions, __ATOMIC_ACQUIRE))
		return -EINVAL;
	if (!*c->is_parent)
		return -ECHILD;
	t = thread_here(c);
	if (t == NULL || !t->is_open) {
		__atomic_add_fetch(&c->n_not_open, 1, __ATOMIC_RELAXED);
		return -ESRCH;
	}
	if (t->is_busy) {
		ADD(t->n_interrupted, 1);
		return -EBUSY;
	}
	t->is_busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*out = t;
	return 0;
}

static inline int leave(struct caliper_thread *t, int result)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->is_busy = 0;
	return result;
}

/* Zeroes the sums that will be added to. */
static void frame_empty(const struct caliper_thread *t, struct frame *f)
{
	unsigned first, last = thread_sets(t, &first);

	f->inside.values[MEASURE_DURATION] = 0;
	for (unsigned set = first; set < last; set++) {
		const struct counter_group *g = &t->groups[set];

		f->inside.sets[set].enabled_ns = f->inside.sets[set].running_ns = 0;
		for (unsigned i = 0; i < g->n; i++)
			f->inside.values[g->events[i]] = 0;
	}
}

int cyclops_begin(struct cyclops *c, int region)
{
	struct caliper_thread *t;
	struct frame *f;
	int error = enter(c, region, &t);

	if (error < 0)
		return error;
	if (t->depth == c->max_depth) {
		t->too_deep++;
		ADD(t->n_too_deep, 1);
		return leave(t, -EOVERFLOW);
	}
	f = &t->frames[t->depth];
	f->epoch = LOAD(c->epoch);
	if (f->path == NULL || f->region != region ||
	    f->path->parent != (t->depth == 0 ? 0 : f[-1].region) ||
	    f->path->is_recursive != (t->n_open[region] > 0))
		f->path =
			path_of(t, region, t->depth == 0 ? 0 : f[-1].region, t->n_open[region] > 0);
	f->region = region;
	t->n_open[region]++;
	t->depth++;
	frame_empty(t, f);
	if (f->path == NULL) {
		ADD(t->n_without_path, 1);
		return leave(t, -ENOSPC);
	}
	f->start.ticks = measure_ticks();
	sample_take(t, NULL, &f->start);
	if (c->is_marked)
		mark_set(MARK_BEGIN, c, region, c->regions[region]);
	return leave(t, 0);
}

/* Adds a call's count of an event: to the sums, and to the histogram if all of it was counted. */
static void add_event_of_call(struct path *p, unsigned event, uint64_t value, uint64_t inside,
			      bool is_whole)
{
	struct path_event *e = &p->events[event];
	uint64_t *bucket =
		p->histograms + (size_t)event * HISTOGRAM_BUCKETS + histogram_bucket(value);

	ADD(e->sum, value);
	ADD(e->exclusive, value - inside);
	if (!is_whole)
		return;
	ADD(e->n, 1);
	ADD(*bucket, 1);
	if (value < e->min)
		STORE(e->min, value);
	if (value > e->max)
		STORE(e->max, value);
}

static void path_add(const struct caliper_thread *t, struct path *p, const struct sample *call,
		     const struct sample *inside)
{
	unsigned first, last = thread_sets(t, &first);

	add_event_of_call(p, MEASURE_DURATION, call->values[MEASURE_DURATION],
			  inside->values[MEASURE_DURATION], true);
	for (unsigned set = first; set < last; set++) {
		const struct counter_group *g = &t->groups[set];
		struct path_set *s = &p->sets[set];
		uint64_t enabled = call->sets[set].enabled_ns, running = call->sets[set].running_ns;

		ADD(s->calls, 1);
		if (call->sets[set].how == HOW_NONE)
			continue;
		if (call->sets[set].how == HOW_USER)
			ADD(s->by_user, 1);
		else
			ADD(s->by_read, 1);
		ADD(s->enabled_ns, enabled);
		ADD(s->running_ns, running);
		ADD(s->exclusive_enabled_ns, enabled - inside->sets[set].enabled_ns);
		ADD(s->exclusive_running_ns, running - inside->sets[set].running_ns);
		for (unsigned i = 0; i < g->n; i++)
			add_event_of_call(p, g->events[i], call->values[g->events[i]],
					  inside->values[g->events[i]], running == enabled);
	}
}

/* Tells the region around how much was inside of it. */
static void frame_add_inside(const struct caliper_thread *t, struct frame *f,
			     const struct sample *call)
{
	unsigned first, last = thread_sets(t, &first);

	f->inside.values[MEASURE_DURATION] += call->values[MEASURE_DURATION];
	for (unsigned set = first; set < last; set++) {
		const struct counter_group *g = &t->groups[set];

		if (call->sets[set].how == HOW_NONE)
			continue;
		f->inside.sets[set].enabled_ns += call->sets[set].enabled_ns;
		f->inside.sets[set].running_ns += call->sets[set].running_ns;
		for (unsigned i = 0; i < g->n; i++)
			f->inside.values[g->events[i]] += call->values[g->events[i]];
	}
}

int cyclops_end(struct cyclops *c, int region)
{
	struct caliper_thread *t;
	struct path *p;
	struct frame *f;
	int error = enter(c, region, &t);

	if (error < 0)
		return error;
	if (t->too_deep > 0) {
		t->too_deep--;
		return leave(t, -EOVERFLOW);
	}
	f = t->depth == 0 ? NULL : &t->frames[t->depth - 1];
	if (f == NULL || f->region != region) {
		ADD(t->n_mismatched, 1);
		return leave(t, -EINVAL);
	}
	p = f->path;
	if (p != NULL) {
		if (c->is_marked)
			mark_set(MARK_END, c, region, NULL);
		sample_take(t, &f->start, &t->end);
		t->end.ticks = measure_ticks();
		sample_subtract(t, &f->start, &t->end);
	}
	t->depth--;
	t->n_open[region]--;
	if (p == NULL)
		return leave(t, -ENOSPC);
	if (f->epoch == LOAD(c->epoch)) {
		STORE(p->seq, p->seq + 1);
		order_stores();
		if (p->epoch != f->epoch)
			path_clear(c, p);
		STORE(p->epoch, f->epoch);
		path_add(t, p, &t->end, &f->inside);
		order_stores();
		STORE(p->seq, p->seq + 1);
	}
	if (t->depth > 0)
		frame_add_inside(t, f - 1, &t->end);
	return leave(t, 0);
}

bool path_copy(const struct cyclops *c, const struct path *p, struct path *out)
{
	uint32_t seq;

	do {
		seq = LOAD(p->seq);
		order_stores();
		out->epoch = LOAD(p->epoch);
		out->region = LOAD(p->region);
		out->parent = p->parent;
		out->is_recursive = p->is_recursive;
		out->histograms = p->histograms;
		for (unsigned set = 0; set < c->events.n_sets; set++) {
			const struct path_set *s = &p->sets[set];
			struct path_set *o = &out->sets[set];

			o->calls = LOAD(s->calls);
			o->by_read = LOAD(s->by_read);
			o->by_user = LOAD(s->by_user);
			o->enabled_ns = LOAD(s->enabled_ns);
			o->running_ns = LOAD(s->running_ns);
			o->exclusive_enabled_ns = LOAD(s->exclusive_enabled_ns);
			o->exclusive_running_ns = LOAD(s->exclusive_running_ns);
		}
		for (unsigned i = 0; i < c->events.n; i++) {
			const struct path_event *e = &p->events[i];
			struct path_event *o = &out->events[i];

			o->sum = LOAD(e->sum);
			o->exclusive = LOAD(e->exclusive);
			o->n = LOAD(e->n);
			o->min = LOAD(e->min);
			o->max = LOAD(e->max);
		}
		order_stores();
	} while ((seq & 1) != 0 || LOAD(p->seq) != seq);
	return out->region != 0 && out->epoch == LOAD(c->epoch) &&
	       out->events[MEASURE_DURATION].n > 0;
}
