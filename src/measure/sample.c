/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counters and the clock: the part of begin and end that costs. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/counters_here.h"
#include "measure/inside.h"
#include "measure/user_read.h"

uint64_t measure_tick_mult(void)
{
	uint64_t hz = 1000000000u;

#if defined(__aarch64__)
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
#endif
	return hz == 0 ? 0 : ((uint64_t)1000000000u << 32) / hz;
}

const struct user_counters user_counters_here = { counter_here, clock_here };

/* One read(2) for the whole group, at which the thread cannot be cancelled: it is inside of begin or end. */
static bool read_group(const struct counter_group *g, unsigned set, struct sample *out)
{
	enum { HEAD = 3 }; /* number of events, enabled, running */
	uint64_t words[HEAD + MEASURE_EVENTS];
	ssize_t size;

	do
		size = syscall(SYS_read, g->leader, words, (HEAD + g->n) * sizeof(words[0]));
	while (size < 0 && errno == EINTR);
	if (size != (ssize_t)((HEAD + g->n) * sizeof(words[0])) || words[0] != g->n)
		return false;
	out->sets[set].enabled_ns = words[1];
	out->sets[set].running_ns = words[2];
	for (unsigned i = 0; i < g->n; i++)
		out->values[g->events[i]] = words[HEAD + i];
	return true;
}

/* Each event by its page, the leader's with its times. */
static bool read_pages(const struct counter_group *g, unsigned set, struct sample *out)
{
	struct user_reading reading = { 0 };

	order_before_counters();
	if (!user_read(g->pages[0], &user_counters_here, true, &reading))
		return false;
	out->values[g->events[0]] = reading.value;
	out->sets[set].enabled_ns = reading.enabled;
	out->sets[set].running_ns = reading.running;
	out->sets[set].clock = reading.clock;
	for (unsigned i = 1; i < g->n; i++) {
		if (!user_read(g->pages[i], &user_counters_here, false, &reading))
			return false;
		out->values[g->events[i]] = reading.value;
	}
	return true;
}

/* The times of a set in a sample. */
static void sample_times(const struct counter_group *g, const struct sample *s, unsigned set,
			 uint64_t *enabled_ns, uint64_t *running_ns)
{
	struct user_reading reading = {
		.enabled = s->sets[set].enabled_ns,
		.running = s->sets[set].running_ns,
		.clock = s->sets[set].clock,
	};

	*enabled_ns = reading.enabled;
	*running_ns = reading.running;
	if (s->sets[set].how == HOW_USER)
		user_times(g->pages[0], &reading, enabled_ns, running_ns);
}

/* Reads one set; HOW_NONE if it cannot be read in the way that is wanted. */
static enum measure_how read_set(const struct counter_group *g, unsigned set, enum measure_how as,
				 struct sample *out)
{
	if (g->leader < 0)
		return HOW_NONE;
	if (as == HOW_USER)
		return read_pages(g, set, out) ? HOW_USER : HOW_NONE;
	if (as == HOW_NONE && g->has_user_reads && read_pages(g, set, out))
		return HOW_USER;
	return read_group(g, set, out) ? HOW_READ : HOW_NONE;
}

unsigned thread_sets(const struct caliper_thread *t, unsigned *first)
{
	if (t->owner->has_all_sets) {
		*first = 0;
		return t->owner->events.n_sets;
	}
	*first = t->set;
	return t->set + 1;
}

void sample_take(struct caliper_thread *t, const struct sample *as, struct sample *out)
{
	unsigned first, end = thread_sets(t, &first);

	for (unsigned set = first; set < end; set++) {
		enum measure_how how = as == NULL ? HOW_NONE : as->sets[set].how;

		if (as != NULL && how == HOW_NONE)
			out->sets[set].how = HOW_NONE;
		else
			out->sets[set].how = (uint8_t)read_set(&t->groups[set], set, how, out);
	}
}

void sample_subtract(const struct caliper_thread *t, const struct sample *start, struct sample *end)
{
	unsigned first, last = thread_sets(t, &first);

	end->values[MEASURE_DURATION] = measure_ns(t->owner, end->ticks - start->ticks);
	for (unsigned set = first; set < last; set++) {
		const struct counter_group *g = &t->groups[set];
		uint64_t enabled[2], running[2];

		if (end->sets[set].how == HOW_NONE)
			continue;
		sample_times(g, start, set, &enabled[0], &running[0]);
		sample_times(g, end, set, &enabled[1], &running[1]);
		end->sets[set].enabled_ns = enabled[1] - enabled[0];
		end->sets[set].running_ns = running[1] - running[0];
		for (unsigned i = 0; i < g->n; i++)
			end->values[g->events[i]] -= start->values[g->events[i]];
	}
}
