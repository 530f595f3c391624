/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin and end. A signal may interrupt them, and its handler may call them: what it does then is
 * refused, so that nothing here is changed half-way.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "measure/counters_here.h"
#include "measure/inside.h"
#include "measure/mark.h"
#include "measure/user_read.h"

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
	uint64_t *histograms = p->events[0].histogram; /* all of them */

	for (unsigned set = 0; set < c->events.n_sets; set++) {
		struct path_set *s = &p->sets[set];

		STORE(s->calls, 0);
		STORE(s->by_read, 0);
		STORE(s->by_user, 0);
		STORE(s->enabled_ns, 0);
		STORE(s->running_ns, 0);
		STORE(s->inside_enabled_ns, 0);
		STORE(s->inside_running_ns, 0);
		STORE(p->quick[set].calls, 0);
		STORE(p->quick[set].ns, 0);
	}
	for (unsigned i = 0; i < c->events.n; i++) {
		struct path_event *e = &p->events[i];

		STORE(e->sum, 0);
		STORE(e->inside, 0);
		STORE(e->n, 0);
		STORE(e->min, UINT64_MAX);
		STORE(e->max, 0);
	}
	for (size_t i = 0; i < (size_t)c->events.n * HISTOGRAM_BUCKETS; i++)
		if (histograms[i] != 0)
			STORE(histograms[i], 0);
}

/*
 * Has the kernel give memory to the path's histograms now, so that it is not page faults of the regions
 * around. Before Linux 5.14 the pages are touched, which are faults once.
 */
static void populate(const struct cyclops *c, struct path *p)
{
	enum { PAGE = 4096, POPULATE_WRITE = 23 };
	size_t size = (size_t)c->events.n * HISTOGRAM_BUCKETS * sizeof(uint64_t);
	char *start = (char *)((uintptr_t)p->events[0].histogram & ~(uintptr_t)(PAGE - 1));
	char *end = (char *)p->events[0].histogram + size;

	if (madvise(start, (size_t)(end - start), POPULATE_WRITE) == 0)
		return;
	for (volatile char *at = (char *)p->events[0].histogram; at < end; at += PAGE)
		*at = 0;
}

/* The path of a region inside of another, added if it is new. NULL: there is no room. */
static __attribute__((noinline)) struct path *path_of(struct caliper_thread *t, int region,
						      int parent, bool is_recursive)
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

static bool is_region(const struct cyclops *c, int region)
{
	return region > 0 && (unsigned)region <= __atomic_load_n(&c->n_regions, __ATOMIC_ACQUIRE);
}

/* What begin and end have in common: 0, or why not. */
static inline __attribute__((always_inline)) int enter(struct cyclops *c,
						       struct caliper_thread **out)
{
	struct caliper_thread *t = last_thread.thread;

	if (c == NULL)
		return -EINVAL;
	if (!*c->is_parent)
		return -ECHILD;
	if (last_thread.owner != c || last_thread.serial != c->serial) {
		t = thread_here(c);
		if (t == NULL || !t->is_open) {
			__atomic_add_fetch(&c->n_not_open, 1, __ATOMIC_RELAXED);
			return -ESRCH;
		}
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

/*
 * Reads the counters of a group, as user_read() does. False: an event is not on a counter, or its
 * counter may not be read. `out_lock`: the number of the leader's page.
 */
static inline __attribute__((always_inline)) bool quick_read(const struct counter_group *g,
							     uint64_t *values, uint32_t *out_lock)
{
	const struct quick_event *e = g->quick, *end = e + g->n;
	uint32_t lock, index;
	uint64_t raw;

	/* Volatile accesses and instructions stay in this order. */
	order_before_counters();
	do {
		const volatile struct perf_event_mmap_page *page = e->page;
		uint64_t unused_bits = e->unused_bits;

		do {
			lock = page->lock;
			index = page->index;
			if (index == 0)
				return false;
			raw = counter_here(index - 1) << unused_bits;
			*values = (uint64_t)page->offset + (uint64_t)((int64_t)raw >> unused_bits);
		} while (page->lock != lock);
		if (e == g->quick)
			*out_lock = lock;
		values++;
	} while (++e < end);
	return true;
}

/* The start of a frame whose pages are not read. */
static __attribute__((noinline)) void start_slowly(struct caliper_thread *t, struct frame *f)
{
	f->lock = PAGE_NOT_READ;
	f->start.ticks = measure_ticks();
	sample_take(t, NULL, &f->start);
}

/* Asks the leader's page for its times. False: it is not on a counter, or it may not be read. */
static __attribute__((noinline)) bool group_refresh(struct counter_group *g)
{
	const volatile struct perf_event_mmap_page *page = g->quick[0].page;

	do {
		g->lock = page->lock;
		user_barrier();
		if (page->index == 0) {
			g->lock = PAGE_NOT_READ;
			return false;
		}
		g->enabled_ns = page->time_enabled + page->time_offset;
		g->running_ns = page->time_running + page->time_offset;
		user_barrier();
	} while (page->lock != g->lock);
	return true;
}

/*
 * The start of a call. What takes longer in some calls, when the kernel has changed the page, goes before
 * the counters are read, so that it is not counted.
 */
static inline __attribute__((always_inline)) void start(struct caliper_thread *t, struct frame *f)
{
	struct counter_group *g = t->quick;
	unsigned set = t->set;

	do {
		if (g == NULL || (g->quick[0].page->lock != g->lock && !group_refresh(g))) {
			start_slowly(t, f);
			return;
		}
		f->start.ticks = measure_ticks();
		if (!quick_read(g, &f->start.values[g->events[0]], &f->lock)) {
			start_slowly(t, f);
			return;
		}
	} while (f->lock != g->lock);
	f->start.sets[set].enabled_ns = g->enabled_ns;
	f->start.sets[set].running_ns = g->running_ns;
	f->start.sets[set].clock = clock_at(f->start.ticks);
	f->start.sets[set].how = HOW_USER;
}

int cyclops_begin(struct cyclops *c, int region)
{
	struct caliper_thread *t;
	struct frame *f;
	int error = enter(c, &t), parent;

	if (error < 0)
		return error;
	f = t->top + 1;
	if (t->top == t->last) {
		if (!is_region(c, region))
			return leave(t, -EINVAL);
		t->too_deep++;
		ADD(t->n_too_deep, 1);
		return leave(t, -EOVERFLOW);
	}
	f->epoch = LOAD(c->epoch);
	parent = t->top->region;
	if (f->path == NULL || f->region != region || f->path->parent != parent ||
	    f->path->is_recursive != (t->n_open[region] > 0)) {
		if (!is_region(c, region))
			return leave(t, -EINVAL);
		f->path = path_of(t, region, parent, t->n_open[region] > 0);
		f->region = region;
	}
	t->n_open[region]++;
	t->top = f;
	if (f->has_inside) {
		f->has_inside = false;
		memset(&f->inside, 0, sizeof(f->inside));
	}
	if (f->path == NULL) {
		ADD(t->n_without_path, 1);
		return leave(t, -ENOSPC);
	}
	start(t, f);
	if (c->is_marked)
		mark_set(MARK_BEGIN, c, region, c->regions[region]);
	return leave(t, 0);
}

/* The end of a call whose start was not read quickly, or that cannot be read so now. */
static __attribute__((noinline)) void finish_slowly(struct caliper_thread *t, const struct frame *f)
{
	sample_take(t, &f->start, &t->end);
	t->end.ticks = measure_ticks();
	sample_subtract(t, &f->start, &t->end);
}

/* The end of a call in which the leader's page has changed. `lock`: its number when the end was read. */
static __attribute__((noinline)) void finish_interrupted(struct caliper_thread *t,
							 const struct frame *f, uint32_t lock)
{
	struct counter_group *g = t->quick;

	while (group_refresh(g) && g->lock != lock) {
		quick_read(g, &t->end.values[g->events[0]], &lock);
		t->end.ticks = measure_ticks();
	}
	if (g->lock != lock) {
		finish_slowly(t, f);
		return;
	}
	t->end.sets[t->set].enabled_ns = g->enabled_ns;
	t->end.sets[t->set].running_ns = g->running_ns;
	t->end.sets[t->set].clock = clock_at(t->end.ticks);
	t->end.sets[t->set].how = HOW_USER;
	sample_subtract(t, &f->start, &t->end);
}

/* Counts a call of that value that was counted all of the time. */
static inline __attribute__((always_inline)) void add_whole(struct path_event *e, uint64_t value)
{
	uint64_t *bucket = e->histogram + histogram_bucket(value);

	ADD(*bucket, 1);
	if (value < e->min)
		STORE(e->min, value);
	if (value > e->max)
		STORE(e->max, value);
}

/* Adds a call's count of an event: to the sums, and to the histogram if all of it was counted. */
static void add_event_of_call(struct path *p, unsigned event, uint64_t value, bool is_whole)
{
	struct path_event *e = &p->events[event];

	ADD(e->sum, value);
	if (!is_whole)
		return;
	ADD(e->n, 1);
	add_whole(e, value);
}

static void path_add(const struct caliper_thread *t, struct path *p, const struct sample *call)
{
	unsigned first, last = thread_sets(t, &first);

	add_event_of_call(p, MEASURE_DURATION, call->values[MEASURE_DURATION], true);
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
		for (unsigned i = 0; i < g->n; i++)
			add_event_of_call(p, g->events[i], call->values[g->events[i]],
					  running == enabled);
	}
}

/* Adds what regions inside of the call counted, where the call itself was counted. */
static __attribute__((noinline)) void path_add_inside(const struct caliper_thread *t,
						      struct path *p, const struct sample *call,
						      const struct sample *inside)
{
	unsigned first, last = thread_sets(t, &first);

	ADD(p->events[MEASURE_DURATION].inside, inside->values[MEASURE_DURATION]);
	for (unsigned set = first; set < last; set++) {
		const struct counter_group *g = &t->groups[set];
		struct path_set *s = &p->sets[set];

		if (call->sets[set].how == HOW_NONE)
			continue;
		ADD(s->inside_enabled_ns, inside->sets[set].enabled_ns);
		ADD(s->inside_running_ns, inside->sets[set].running_ns);
		for (unsigned i = 0; i < g->n; i++)
			ADD(p->events[g->events[i]].inside, inside->values[g->events[i]]);
	}
}

/* Tells the region around how much was inside of it. */
static void frame_add_inside(const struct caliper_thread *t, struct frame *f,
			     const struct sample *call)
{
	unsigned first, last = thread_sets(t, &first);

	f->has_inside = true;
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

/*
 * Adds a call that was read quickly: to its path, and to the frame around it. The end becomes the
 * difference to the start.
 */
static inline __attribute__((always_inline)) void quick_add(struct caliper_thread *t,
							    struct path *p, const struct frame *f,
							    struct frame *around)
{
	const struct counter_group *g = t->quick;
	unsigned first = g->events[0], set = t->set;
	const uint64_t *start = &f->start.values[first];
	uint64_t *values = &t->end.values[first], *inside = &around->inside.values[first];
	struct path_event *e = &p->events[first], *end = e + g->n;
	uint64_t ns = t->end.values[MEASURE_DURATION];

	ADD(p->quick[set].calls, 1);
	ADD(p->quick[set].ns, ns);
	add_whole(&p->events[MEASURE_DURATION], ns);
	around->has_inside = true;
	around->inside.values[MEASURE_DURATION] += ns;
	around->inside.sets[set].enabled_ns += ns;
	around->inside.sets[set].running_ns += ns;
	do {
		uint64_t value = *values - *start++;

		*values++ = value;
		ADD(e->sum, value);
		*inside++ += value;
		add_whole(e, value);
	} while (++e < end);
}

/*
 * The end of a call whose start was read quickly. False: the kernel has changed the page since then, so
 * that the set was not on a counter all of the time.
 */
static inline __attribute__((always_inline)) bool finish(const struct cyclops *c,
							 struct caliper_thread *t,
							 const struct frame *f)
{
	struct counter_group *g = t->quick;
	uint32_t lock = PAGE_NOT_READ;

	if (g == NULL || f->lock == PAGE_NOT_READ ||
	    !quick_read(g, &t->end.values[g->events[0]], &lock)) {
		finish_slowly(t, f);
		return false;
	}
	t->end.ticks = measure_ticks();
	if (lock != f->lock) {
		finish_interrupted(t, f, lock);
		return false;
	}
	t->end.values[MEASURE_DURATION] = measure_ns(c, t->end.ticks - f->start.ticks);
	return true;
}

/* The same difference, for a call that is not measured. */
static __attribute__((noinline)) void quick_subtract(struct caliper_thread *t,
						     const struct frame *f)
{
	const struct counter_group *g = t->quick;
	struct sample *end = &t->end;

	for (unsigned i = 0; i < g->n; i++)
		end->values[g->events[i]] -= f->start.values[g->events[i]];
	end->sets[t->set].how = HOW_USER;
	end->sets[t->set].enabled_ns = end->sets[t->set].running_ns = end->values[MEASURE_DURATION];
}

int cyclops_end(struct cyclops *c, int region)
{
	struct caliper_thread *t;
	struct path *p;
	struct frame *f, *around;
	int error = enter(c, &t);
	bool is_quick;

	if (error < 0)
		return error;
	if (t->too_deep > 0) {
		if (!is_region(c, region))
			return leave(t, -EINVAL);
		t->too_deep--;
		return leave(t, -EOVERFLOW);
	}
	f = t->top;
	if (f->region != region || region == 0) {
		if (is_region(c, region))
			ADD(t->n_mismatched, 1);
		return leave(t, -EINVAL);
	}
	p = f->path;
	around = t->top = f - 1;
	t->n_open[region]--;
	if (p == NULL)
		return leave(t, -ENOSPC);
	if (c->is_marked)
		mark_set(MARK_END, c, region, NULL);
	is_quick = finish(c, t, f);
	t->was_quick = is_quick;
	if (f->epoch == LOAD(c->epoch)) {
		STORE(p->seq, p->seq + 1);
		order_stores();
		if (p->epoch != f->epoch) {
			path_clear(c, p);
			STORE(p->epoch, f->epoch);
		}
		if (is_quick)
			quick_add(t, p, f, around);
		else
			path_add(t, p, &t->end);
		if (f->has_inside)
			path_add_inside(t, p, &t->end, &f->inside);
		__atomic_store_n(&p->seq, p->seq + 1, __ATOMIC_RELEASE);
	} else if (is_quick) {
		quick_subtract(t, f);
		is_quick = false;
	}
	if (!is_quick)
		frame_add_inside(t, around, &t->end);
	return leave(t, 0);
}

/* Adds the calls that were read quickly to the others. */
static void add_quick_calls(const struct cyclops *c, const struct path *p, struct path *out)
{
	for (unsigned set = 0; set < c->events.n_sets; set++) {
		uint64_t calls = LOAD(p->quick[set].calls), ns = LOAD(p->quick[set].ns);
		struct path_set *o = &out->sets[set];

		o->calls += calls;
		o->by_user += calls;
		o->enabled_ns += ns;
		o->running_ns += ns;
		out->events[MEASURE_DURATION].n += calls;
		out->events[MEASURE_DURATION].sum += ns;
		for (unsigned i = 1; i < c->events.n; i++)
			if (c->events.items[i].set == set &&
			    c->events.items[i].state == MEASURE_COUNTED)
				out->events[i].n += calls;
	}
}

bool path_copy(const struct cyclops *c, const struct caliper_thread *t, const struct path *p,
	       struct path *out)
{
	bool is_mine = pthread_getspecific(c->key) == t;
	uint32_t seq;

	do {
		seq = LOAD(p->seq);
		order_stores();
		out->epoch = LOAD(p->epoch);
		out->region = LOAD(p->region);
		out->parent = p->parent;
		out->is_recursive = p->is_recursive;
		for (unsigned set = 0; set < c->events.n_sets; set++) {
			const struct path_set *s = &p->sets[set];
			struct path_set *o = &out->sets[set];

			o->calls = LOAD(s->calls);
			o->by_read = LOAD(s->by_read);
			o->by_user = LOAD(s->by_user);
			o->enabled_ns = LOAD(s->enabled_ns);
			o->running_ns = LOAD(s->running_ns);
			o->inside_enabled_ns = LOAD(s->inside_enabled_ns);
			o->inside_running_ns = LOAD(s->inside_running_ns);
		}
		for (unsigned i = 0; i < c->events.n; i++) {
			const struct path_event *e = &p->events[i];
			struct path_event *o = &out->events[i];

			o->sum = LOAD(e->sum);
			o->inside = LOAD(e->inside);
			o->n = LOAD(e->n);
			o->min = LOAD(e->min);
			o->max = LOAD(e->max);
			o->histogram = e->histogram;
		}
		add_quick_calls(c, p, out);
		order_stores();
	} while (!is_mine && ((seq & 1) != 0 || LOAD(p->seq) != seq));
	return out->region != 0 && out->epoch == LOAD(c->epoch) &&
	       out->events[MEASURE_DURATION].n > 0;
}
