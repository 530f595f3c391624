/* SPDX-License-Identifier: Apache-2.0 */
#include "process/switches.h"

#include <stdbool.h>

#include "batch/batch.h"

void switches_init(struct switches *s)
{
	*s = (struct switches){ 0 };
	tuples_init(&s->cpus, 1);
}

void switches_release(struct switches *s)
{
	tuples_release(&s->cpus);
	history_release(&s->tids);
}

void switches_start(struct switches *s, uint32_t cpu, uint64_t time_ns, uint32_t tid)
{
	history_add(&s->tids, tuples_add(&s->cpus, &(uint64_t){ cpu }), time_ns, tid);
}

/*
 * The threads before and after a context switch, HISTORY_NONE if not recorded. The record's own
 * thread is switched out or in; only SWITCH_CPU_WIDE names the other one.
 */
static void before_and_after(const struct record_switch *r, const struct sample_id *id,
			     uint32_t *before, uint32_t *after)
{
	uint32_t own = id->has & HAS_TID ? id->tid : HISTORY_NONE;
	uint32_t other = r->has_other ? r->other_tid : HISTORY_NONE;

	*before = r->is_out ? own : other;
	*after = r->is_out ? other : own;
}

/* SWITCH_CPU_WIDE records come in pairs that say the same: A is out for B, B is in after A. */
static bool switches_has_pair(const struct switches *s, uint32_t cpu, uint64_t time_ns,
			      uint32_t tid)
{
	const struct change *last;

	if (s->tids.changes.n == 0)
		return false;
	last = &s->tids.changes.items[s->tids.changes.n - 1];
	return last->key == cpu && last->value == tid && last->from_ns <= time_ns;
}

void switches_take(struct switches *s, const struct record_switch *r, const struct sample_id *id,
		   uint64_t time_ns)
{
	uint32_t before, after, cpu, n_cpus = s->cpus.n;

	if (!(id->has & HAS_CPU) || !(id->has & HAS_TIME))
		return;
	before_and_after(r, id, &before, &after);
	cpu = tuples_add(&s->cpus, &(uint64_t){ id->cpu });
	/* the first thread that is switched out ran since before the capture */
	if (cpu == n_cpus && before != HISTORY_NONE)
		history_add(&s->tids, cpu, 0, before);
	if (!r->has_other || !switches_has_pair(s, cpu, time_ns, after))
		history_add(&s->tids, cpu, time_ns, after);
}

void switches_freeze(struct switches *s)
{
	history_freeze(&s->tids, s->cpus.n);
}

struct span switches_find(const struct switches *s, uint32_t cpu, uint64_t time_ns)
{
	uint32_t key = tuples_find(&s->cpus, &(uint64_t){ cpu });

	/* an unknown CPU is TUPLES_NONE, a key without values */
	return history_find(&s->tids, key, time_ns);
}
