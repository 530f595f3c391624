/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/fix/gain.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "c2c/accesses/cost.h"

enum {
	LEAST_WAITS = 5,     /* sampled loads of a thread that waited for the lines */
	WINDOW_RECORDS = 16, /* at least, in a window */
	LEAST_QUIET = 4,     /* windows */

	/*
	 * So many contended loads are to be expected, at the thread's rate, in a quiet time: then none
	 * of them is met by chance in one such time of 3000, also where there is half of it.
	 */
	EXPECTED_WAITS = 16,

	LONGEST_GAP = 4, /* times those around it */
};

/* A wider interval says nothing. */
static const double most_error = 0.2;

/* As much of the waiting has to be of threads whose pace is known, and as many of a thread's records in windows. */
static const double least_covered = 0.8;

/*
 * The pace of quiet times is not quite that of the program with its fix: other code begins and ends, caches are colder,
 * lines are more. In eight programs of the machine model, sampled at several rates, the two differ by up to 2.4 %, with
 * what chance makes (tests/e2e/sharing_programs.py): half of the interval is a little more than that.
 */
static const double pace_error = 0.03;

/* Of more of the time of all threads the gain is not said once more. */
static const double nearly_all = 0.98;

/* A thread that waited for the lines. */
struct waiter {
	uint64_t thread;    /* process << 32 | tid */
	uint64_t n, cycles; /* its contended loads of them */
	uint64_t most;	    /* of those the most of one instruction, … */
	uint64_t code;	    /* … whose function says what the thread does */
	uint64_t slots;	    /* when it accessed the lines (struct c2c_touch) */
};

struct gain_work {
	const struct c2c *s;
	struct tuples threads;
	VEC_OF(struct waiter) waiters; /* by number of the thread */
};

/* A function, or the place itself where its name is not known. */
static uint64_t code_of(const struct c2c *s, uint32_t place)
{
	uint32_t function = s->names.symbols[place].function.v;

	return function == 0 ? place : (uint64_t)1 << 32 | function;
}

static void add_waits(struct gain_work *g, const struct c2c_access *a)
{
	for (uint32_t i = 0; i < a->n_touches; i++) {
		uint32_t number = a->first_touch + i;
		struct c2c_touch_key k = c2c_touch_key(g->s->accesses_seen, number);
		const uint64_t thread = (uint64_t)k.process << 32 | k.tid;
		uint32_t at = tuples_add(&g->threads, &thread);
		struct c2c_touch touch;
		struct waiter *w;

		c2c_touch_get(g->s->accesses_seen, number, &touch);
		if (at == g->waiters.n)
			vec_add(&g->waiters)->thread = thread;
		w = &g->waiters.items[at];
		w->n += touch.contended.n;
		w->cycles += touch.contended.cycles;
		w->slots |= touch.slots;
		if (touch.contended.n > w->most) {
			w->most = touch.contended.n;
			w->code = code_of(g->s, a->place);
		}
	}
}

static void find_waiters(struct gain_work *g, const struct c2c_cause *cause)
{
	for (size_t line = 0; line < cause->lines.n; line++) {
		const struct c2c_subject *subject = &g->s->subjects.items[cause->lines.items[line]];

		for (uint32_t i = 0; i < subject->n_accesses; i++)
			add_waits(g, &g->s->accesses.items[subject->first_access + i]);
	}
}

/* Threads that wait in one function: they do the same. */
struct group {
	VEC_OF(struct c2c_window) windows;
	uint64_t n_waited, n_wanted; /* contended loads, and those of the lines in question */
	uint64_t wanted;	     /* cycles of the latter */
	uint64_t n_records;	     /* also outside of windows */
	double time_ns;		     /* of windows, … */
	double n;		     /* … and their records */
	uint32_t n_threads;
};

/* What a thread did in a slice of time. */
struct slice {
	uint64_t number;
	const struct c2c_pace *pace;
};

static uint64_t thread_of_pace(const struct c2c_paces *p, uint32_t number)
{
	return tuples_get(&p->keys, number)[0];
}

/* Those of the thread that the paces from `first` on are of, which are in order. */
static size_t list_slices_from(const struct c2c_paces *p, uint32_t first, struct slice *out)
{
	size_t n = 0;

	for (uint32_t i = first; i < p->keys.n; i++) {
		if (thread_of_pace(p, i) != thread_of_pace(p, first))
			break;
		out[n++] = (struct slice){ tuples_get(&p->keys, i)[1], &p->list.items[i] };
	}
	return n;
}

/* Those of a thread, in order. */
static size_t list_slices(const struct c2c_paces *p, uint64_t thread, struct slice *out)
{
	uint32_t first = (uint32_t)bisect(0, p->keys.n, i, thread_of_pace(p, (uint32_t)i) < thread);

	return first < p->keys.n && thread_of_pace(p, first) == thread
		       ? list_slices_from(p, first, out)
		       : 0;
}

/* The slots from one time to another, as bits. */
static uint64_t slots_of(const struct c2c_choice *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t slots = 0;

	for (uint64_t slot = (from_ns - c->first_ns) >> c->slot_shift;
	     slot <= (to_ns - c->first_ns) >> c->slot_shift && slot < 64; slot++)
		slots |= UINT64_C(1) << slot;
	return slots;
}

/* The window's time begins with the record before its first one, if the thread has run since. */
static void add_window(const struct c2c *s, const struct waiter *w, const struct c2c_pace *p,
		       uint64_t before_ns, struct group *out)
{
	bool has_before = before_ns > 0 && before_ns <= p->first_ns;
	uint64_t from_ns = has_before ? before_ns : p->first_ns;
	uint64_t slots = slots_of(&s->choice, from_ns, p->last_ns);

	*vec_add(&out->windows) = (struct c2c_window){
		.time_ns = (double)(p->last_ns - from_ns),
		.n = (double)p->n - (has_before ? 0 : 1),
		.is_quiet = p->n_waited == 0 && (slots & ~w->slots) == 0,
	};
	out->time_ns += (double)(p->last_ns - from_ns);
	out->n += (double)p->n;
}

/* Quiet windows in a row that have fewer records may be so by chance, and those at its ends be half so. */
static void keep_long_quiet(struct c2c_window *windows, size_t n, double least)
{
	for (size_t from = 0, to; from < n; from = to + 1) {
		double n_records = 0;

		for (to = from; to < n && windows[to].is_quiet; to++)
			n_records += windows[to].n;
		for (size_t i = from; i < to; i++)
			windows[i].is_quiet = n_records >= least && i > from && i + 1 < to;
	}
}

/* The time between the last record of the slice before and the first of this one; 0: there is no such slice. */
static uint64_t gap_before(const struct slice *slices, size_t n, size_t i)
{
	return i == 0 || i >= n ? 0 : slices[i].pace->first_ns - slices[i - 1].pace->last_ns;
}

/*
 * Has the thread run from the slice before to this one? Slices are so short that a slow thread has none in some; but then
 * it is slow there for longer. A gap that is long beside those around it is sleep.
 */
static bool is_next(const struct slice *slices, size_t n, size_t i)
{
	uint64_t before = gap_before(slices, n, i - 1), behind = gap_before(slices, n, i + 1);

	return slices[i].number == slices[i - 1].number + 1 ||
	       gap_before(slices, n, i) / LONGEST_GAP <= (before > behind ? before : behind);
}

/* The time of a thread in slices that follow each other, as windows tile it. */
static double ran_ns(const struct slice *slices, size_t n)
{
	double ns = 0;

	for (size_t i = 0; i < n; i++) {
		ns += (double)(slices[i].pace->last_ns - slices[i].pace->first_ns);
		if (i > 0 && is_next(slices, n, i))
			ns += (double)gap_before(slices, n, i);
	}
	return ns;
}

/* So many records of a thread that contended loads are among them unless there is no contention. */
static double least_records(const struct slice *slices, size_t n)
{
	uint64_t n_records = 0, n_waited = 0;

	for (size_t i = 0; i < n; i++) {
		n_records += slices[i].pace->n;
		n_waited += slices[i].pace->n_waited;
	}
	return (double)n_records * EXPECTED_WAITS / (double)(n_waited > 0 ? n_waited : 1);
}

/*
 * Slices that follow each other become windows of enough records. They tile the time: were only that counted which is
 * between a window's own records, the longest intervals, in which a slice ends more likely than in others, were missing.
 */
static void add_windows(const struct c2c *s, const struct waiter *w, const struct slice *slices,
			size_t n, struct group *out)
{
	struct c2c_pace window = { .first_ns = UINT64_MAX };
	size_t first = out->windows.n;
	uint64_t before_ns = 0;

	for (size_t i = 0; i < n; i++) {
		out->n_records += slices[i].pace->n;
		out->n_waited += slices[i].pace->n_waited;
		if (i > 0 && !is_next(slices, n, i)) {
			window = (struct c2c_pace){ .first_ns = UINT64_MAX };
			before_ns = 0;
		}
		c2c_pace_join(&window, slices[i].pace);
		if (window.n < WINDOW_RECORDS)
			continue;
		add_window(s, w, &window, before_ns, out);
		before_ns = window.last_ns;
		window = (struct c2c_pace){ .first_ns = UINT64_MAX };
	}
	if (out->windows.n > first)
		keep_long_quiet(out->windows.items + first, out->windows.n - first,
				least_records(slices, n));
}

static bool is_in_group(const struct waiter *w, uint64_t code)
{
	return w->n >= LEAST_WAITS && w->code == code;
}

static void make_group(const struct gain_work *g, uint64_t code, struct slice *scratch,
		       struct group *out)
{
	*out = (struct group){ 0 };
	for (size_t i = 0; i < g->waiters.n; i++) {
		const struct waiter *w = &g->waiters.items[i];

		if (!is_in_group(w, code))
			continue;
		add_windows(g->s, w, scratch, list_slices(&g->s->lines->paces, w->thread, scratch),
			    out);
		out->wanted += w->cycles;
		out->n_wanted += w->n;
		out->n_threads++;
	}
}

static int compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/*
 * The median pace of the quiet windows, in which a few that were none do not matter. Half of its 95 % interval is
 * 1.96 sqrt(pi / 2) standard deviations over the square root of n, and the distance of the quartiles is 1.349 of these.
 * Records do not stand for quite as many operations each: the spread of the quiet windows has that for them, and all
 * windows together have it once more.
 */
bool c2c_gain_of_windows(const struct c2c_window *windows, size_t n, double *out_share,
			 double *out_error)
{
	double *paces = mem_alloc(n + 1, sizeof(*paces));
	double time_ns = 0, n_all = 0, n_of_quiet = 0, pace, spread, by_chance;
	size_t n_quiet = 0;

	for (size_t i = 0; i < n; i++) {
		time_ns += windows[i].time_ns;
		n_all += windows[i].n;
		if (!windows[i].is_quiet)
			continue;
		n_of_quiet += windows[i].n;
		paces[n_quiet++] = windows[i].time_ns / windows[i].n;
	}
	if (n_quiet < LEAST_QUIET || time_ns <= 0) {
		free(paces);
		return false;
	}
	qsort(paces, n_quiet, sizeof(*paces), compare_numbers);
	pace = paces[n_quiet / 2];
	spread = paces[n_quiet * 3 / 4] - paces[n_quiet / 4];
	*out_share = 1 - pace * n_all / time_ns;
	*out_share = *out_share > 0 ? *out_share : 0;
	by_chance = 1.82 * spread / sqrt((double)n_quiet) * sqrt(1 + n_of_quiet / n_all);
	*out_error = hypot(by_chance, pace_error * pace) * n_all / time_ns;
	free(paces);
	return true;
}

/* Is what passed a part of all operations that is the same at any time? */
static bool has_pace(const struct c2c *s)
{
	return capture_spe(s->session->capture)->is_present && !spe_filters_thin(s->session) &&
	       !s->selects_stores && s->lines->n_samples == 0;
}

/* Sums of what groups of threads would save. */
struct savings {
	double saved_ns, error_ns, time_ns;
	double covered, wanted; /* cycles of waiting: of groups whose pace is known, and of all */
	bool has_others;	/* there are waits for other lines */
};

/* What is systematic is so in all groups: their errors add up. */
static void gain_add_group(const struct group *g, struct savings *sum)
{
	double share, error;

	sum->time_ns += g->time_ns;
	sum->wanted += (double)g->wanted;
	sum->has_others |= g->n_waited >= g->n_wanted + LEAST_WAITS;
	if (g->n < least_covered * (double)g->n_records ||
	    !c2c_gain_of_windows(g->windows.items, g->windows.n, &share, &error))
		return;
	sum->saved_ns += share * g->time_ns;
	sum->error_ns += error * g->time_ns;
	sum->covered += (double)g->wanted;
}

/* What the threads of all slices ran, and of that those that waited often enough. */
static void add_up_threads(const struct gain_work *g, struct slice *scratch, double *out_all,
			   double *out_waiting)
{
	const struct c2c_paces *p = &g->s->lines->paces;

	*out_all = *out_waiting = 0;
	for (uint32_t i = 0, n; i < p->keys.n; i += n) {
		const uint64_t thread = thread_of_pace(p, i);
		uint32_t waiter = tuples_find(&g->threads, &thread);
		double ns;

		n = (uint32_t)list_slices_from(p, i, scratch);
		ns = ran_ns(scratch, n);
		*out_all += ns;
		if (waiter != TUPLES_NONE && g->waiters.items[waiter].n >= LEAST_WAITS)
			*out_waiting += ns;
	}
}

/* The first thread of those that wait in its function. */
static bool is_first(const struct gain_work *g, size_t number)
{
	const struct waiter *w = &g->waiters.items[number];

	for (size_t i = 0; i < number; i++)
		if (is_in_group(&g->waiters.items[i], w->code))
			return false;
	return w->n >= LEAST_WAITS;
}

struct c2c_gain c2c_gain_of(const struct c2c *s, const struct c2c_cause *cause)
{
	struct gain_work g = { .s = s };
	struct c2c_gain out = { 0 };
	struct savings sum = { 0 };
	double all_ns, waiting_ns;
	struct slice *scratch;

	if (!has_pace(s))
		return out;
	tuples_init(&g.threads, 1);
	find_waiters(&g, cause);
	scratch = mem_alloc((size_t)s->lines->paces.keys.n + 1, sizeof(*scratch));
	for (size_t i = 0; i < g.waiters.n; i++) {
		struct group group;

		if (!is_first(&g, i))
			continue;
		make_group(&g, g.waiters.items[i].code, scratch, &group);
		gain_add_group(&group, &sum);
		out.n_threads += group.n_threads;
		vec_release(&group.windows);
	}
	add_up_threads(&g, scratch, &all_ns, &waiting_ns);
	free(scratch);
	tuples_release(&g.threads);
	vec_release(&g.waiters);
	if (sum.time_ns <= 0 || sum.covered < least_covered * sum.wanted)
		return out;
	out.share = sum.saved_ns / sum.time_ns;
	out.error = sum.error_ns / sum.time_ns;
	out.of_all = waiting_ns < nearly_all * all_ns ? out.share * waiting_ns / all_ns : 0;
	out.is_limit = sum.has_others;
	out.is_known = out.error <= most_error;
	return out;
}
