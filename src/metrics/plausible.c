/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plausibility of counts, which is checked before they are used. Limits are those of the events'
 * definitions in the Arm manual and of the CPU's width. Where a refill may also be caused by what
 * the access event leaves out (prefetches, walks), the limit is loose: only nonsense is caught.
 */
#include "metrics/plausible.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/inside.h"
#include "metrics/metric_words.h"

/* In place of a name: the CPU's event of cycles, of instructions. */
static const char cycles[] = "cycles", instructions[] = "instructions";

enum { LOOSE = 4 };

/* An event is at least `least` and at most `most` times the other one. */
static const struct bound {
	const char *event, *other;
	double least, most;
} bounds[] = {
	{ "INST_SPEC", "INST_RETIRED", 1, 3 },
	{ "OP_SPEC", "OP_RETIRED", 1, 3 },
	{ "UOPS_ISSUED", "UOPS_RETIRED_SLOTS", 1, 3 },
	{ "BR_RETIRED", instructions, 0, 1 },
	{ "BRANCHES", instructions, 0, 1 },
	{ "BR_EXEC", instructions, 0, 1 },
	{ "LD_RETIRED", instructions, 0, 1 },
	{ "ST_RETIRED", instructions, 0, 1 },
	{ "BR_MIS_PRED_RETIRED", "BR_RETIRED", 0, 1 },
	{ "BR_MIS_PRED", "BR_PRED", 0, 1 },
	{ "BR_MISPREDICT", "BR_EXEC", 0, 1 },
	{ "BRANCH_MISSES", "BRANCHES", 0, 1.5 },
	{ "L1D_CACHE_REFILL", "L1D_CACHE", 0, LOOSE },
	{ "L1I_CACHE_REFILL", "L1I_CACHE", 0, LOOSE },
	{ "L2D_CACHE_REFILL", "L2D_CACHE", 0, LOOSE },
	{ "L3D_CACHE_REFILL", "L3D_CACHE", 0, LOOSE },
	{ "LL_CACHE_MISS_RD", "LL_CACHE_RD", 0, 1.5 },
	{ "L1D_TLB_REFILL", "L1D_TLB", 0, LOOSE },
	{ "L1I_TLB_REFILL", "L1I_TLB", 0, LOOSE },
	{ "L2D_TLB_REFILL", "L2D_TLB", 0, LOOSE },
	{ "DTLB_WALK", "L1D_TLB", 0, LOOSE },
	{ "ITLB_WALK", "L1I_TLB", 0, LOOSE },
	{ "DCACHE_MISS", "DCACHE_CACHED_ACCESS", 0, LOOSE },
	{ "CACHE_MISSES", "CACHE_REFERENCES", 0, LOOSE },
	{ "L1_DCACHE_LOAD_MISSES", "L1_DCACHE_LOADS", 0, LOOSE },
	{ "L1_ICACHE_LOAD_MISSES", "L1_ICACHE_LOADS", 0, LOOSE },
	{ "LLC_LOAD_MISSES", "LLC_LOADS", 0, LOOSE },
	{ "DTLB_LOAD_MISSES", "DTLB_LOADS", 0, LOOSE },
	{ "ITLB_LOAD_MISSES", "ITLB_LOADS", 0, LOOSE },
	{ "STALL_BACKEND_MEM", "STALL_BACKEND", 0, 1 },
	{ "STALL_FRONTEND", cycles, 0, 1 },
	{ "STALL_BACKEND", cycles, 0, 1 },
	{ "STALL", cycles, 0, 1 },
	{ "STALLED_CYCLES_FRONTEND", cycles, 0, 1 },
	{ "STALLED_CYCLES_BACKEND", cycles, 0, 1 },
	{ "IBUF_STALL", cycles, 0, 1 },
	{ "DDEP_STALL", cycles, 0, 1 },
	{ "LSU_FULL_STALL", cycles, 0, 1 },
};

/* Events of slots: at most the slots of a cycle. */
static const char *const of_slots[] = {
	"STALL_SLOT",
	"STALL_SLOT_FRONTEND",
	"STALL_SLOT_BACKEND",
};

/* Events that any program causes within so many cycles: 0 says that the counter does not work. */
static const struct always {
	const char *event;
	double cycles;
} always[] = {
	{ cycles, 1e6 },
	{ instructions, 1e6 },
	{ "INST_SPEC", 1e6 },
	{ "OP_RETIRED", 1e6 },
	{ "OP_SPEC", 1e6 },
	{ "STALL", 1e6 },
	{ "STALL_FRONTEND", 1e6 },
	{ "STALL_BACKEND", 1e6 },
	{ "STALL_SLOT", 1e6 },
	{ "STALL_SLOT_FRONTEND", 1e6 },
	{ "STALL_SLOT_BACKEND", 1e6 },
	{ "STALLED_CYCLES_FRONTEND", 1e6 },
	{ "STALLED_CYCLES_BACKEND", 1e6 },
	{ "BR_RETIRED", 1e6 },
	{ "BR_PRED", 1e6 },
	{ "BR_EXEC", 1e6 },
	{ "BRANCHES", 1e6 },
	{ "L1D_CACHE", 1e6 },
	{ "L1I_CACHE", 1e6 },
	{ "L1D_TLB", 1e6 },
	{ "L1I_TLB", 1e6 },
	{ "MEM_ACCESS", 1e6 },
	{ "LD_SPEC", 1e6 },
	{ "DP_SPEC", 1e6 },
	{ "IBUF_STALL", 1e6 },
	{ "DDEP_STALL", 1e6 },
	{ "DCACHE_CACHED_ACCESS", 1e6 },
	{ "L1_DCACHE_LOADS", 1e6 },
	{ "CACHE_REFERENCES", 1e8 },
	{ "L1D_CACHE_REFILL", 1e8 },
	{ "L1I_CACHE_REFILL", 1e8 },
	{ "L2D_CACHE", 1e8 },
	{ "BR_MIS_PRED", 1e8 },
	{ "BR_MIS_PRED_RETIRED", 1e8 },
	{ "BRANCH_MISSES", 1e8 },
};

/* Rounding, and the few events at the edges; counts of different times agree less well. */
static const double exact_slack = 1.03, scaled_slack = 1.25;

static struct contradiction *contradiction_add(struct stat *s, enum contradiction_kind kind)
{
	struct contradiction *c = vec_add(&s->contradictions);

	*c = (struct contradiction){ .kind = kind };
	return c;
}

static const struct cpu_event *event_of(const struct cpu_pmu *pmu, const char *name)
{
	if (name == cycles)
		return pmu->cycles;
	return name == instructions ? pmu->instructions : cpu_event_find(pmu, name);
}

static const struct stat_total *total_named(const struct stat *s, const char *name)
{
	return stat_counted(s, event_of(s->pmu, name));
}

static bool is_scaled(const struct stat *s, const struct stat_total *t)
{
	return stat_total_mark(t, s->least_coverage) != MARK_EXACT;
}

/* Two totals that can be compared: of the same modes. */
struct pair {
	const struct stat_total *a, *b;
	double slack;
};

static bool find_pair(const struct stat *s, const char *event, const char *other, struct pair *out)
{
	out->a = total_named(s, event);
	out->b = total_named(s, other);
	if (out->a == NULL || out->b == NULL || out->b->value <= 0 ||
	    out->a->is_user_only != out->b->is_user_only)
		return false;
	out->slack = is_scaled(s, out->a) || is_scaled(s, out->b) ? scaled_slack : exact_slack;
	return true;
}

static void mark_event(struct stat *s, const char *event)
{
	for (size_t i = 0; i < s->totals.list.n; i++)
		if (strcasecmp(s->totals.list.items[i].event, event) == 0)
			s->totals.list.items[i].is_implausible = true;
}

static void mark_pair(struct stat *s, enum contradiction_kind kind, const struct pair *p,
		      double limit)
{
	struct contradiction *c = contradiction_add(s, kind);

	c->event = p->a->event;
	c->other = p->b->event;
	c->value = p->a->value / p->b->value;
	c->limit = limit;
	mark_event(s, p->a->event);
	mark_event(s, p->b->event);
}

static void check_bound(struct stat *s, const struct bound *b)
{
	struct pair p;

	if (!find_pair(s, b->event, b->other, &p) || p.b->is_implausible)
		return;
	if (p.a->value > b->most * p.slack * p.b->value)
		mark_pair(s, CONTRADICTION_MORE, &p, b->most);
	else if (p.a->value * p.slack < b->least * p.b->value)
		mark_pair(s, CONTRADICTION_LESS, &p, b->least);
}

/* Counters of cycles can be told to count every 64th one (PMCR.D). */
enum { CYCLE_DIVIDER = 64 };

static void check_ipc(struct stat *s)
{
	double most = cpu_most_ipc(s->pmu), ipc;
	struct pair p;

	if (!find_pair(s, instructions, cycles, &p))
		return;
	ipc = p.a->value / p.b->value;
	if (ipc > most * p.slack)
		mark_pair(s,
			  s->pmu->is_arm && ipc <= most * CYCLE_DIVIDER ? CONTRADICTION_DIVIDED
									: CONTRADICTION_IPC,
			  &p, most);
}

static void check_slots(struct stat *s)
{
	/* where the formulas are of another revision, it may count one too many in each cycle */
	unsigned most = s->slots + s->pmu->is_other_revision;

	for (size_t i = 0; i < COUNT(of_slots) && s->slots > 0; i++)
		check_bound(s, &(struct bound){ of_slots[i], cycles, 0, most });
}

/*
 * What was issued filled the slots that were not empty. Cracked and fused operations blur this, so
 * only a factor of two is noticed: that is another number of slots.
 */
static void check_issued(struct stat *s)
{
	const struct stat_total *empty = total_named(s, "STALL_SLOT");
	struct contradiction *c;
	struct pair p;
	double all, full;

	if (s->slots == 0 || empty == NULL || s->pmu->is_other_revision ||
	    !find_pair(s, "OP_SPEC", cycles, &p) || p.a->is_implausible || p.b->is_implausible ||
	    empty->is_implausible || empty->is_user_only != p.a->is_user_only)
		return;
	all = s->slots * p.b->value;
	full = all - empty->value;
	if (full < all / 20 || (p.a->value < 2 * full && 2 * p.a->value > full))
		return;
	c = contradiction_add(s, CONTRADICTION_ISSUED);
	c->event = p.a->event;
	c->value = p.a->value / full;
	c->limit = s->slots;
	mark_event(s, p.a->event);
	for (size_t i = 0; i < COUNT(of_slots); i++)
		mark_event(s, of_slots[i]);
}

/* What never fires while others do is absent, not healthy. */
static void check_zero(struct stat *s, const struct always *a)
{
	const struct stat_total *t = total_named(s, a->event), *busy = total_named(s, cycles);
	struct contradiction *c;

	if (busy == NULL || busy->value == 0)
		busy = total_named(s, instructions);
	if (t == NULL || t->value != 0 || busy == NULL || busy->value < a->cycles)
		return;
	c = contradiction_add(s, CONTRADICTION_ZERO);
	c->event = t->event;
	c->other = busy->event;
	c->value = busy->value;
	for (size_t i = 0; i < s->totals.list.n; i++) {
		struct stat_total *each = &s->totals.list.items[i];

		each->reads_zero |= each->value == 0 && strcasecmp(each->event, c->event) == 0;
	}
}

/* "r11c", or words joined by '_' and '.': what the kernel itself counts has '-', ':' or '/'. */
static bool is_core_event(const char *name)
{
	static const char *const tool_events[] = { "duration_time", "user_time", "system_time" };
	size_t n_words = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.");

	for (size_t i = 0; i < COUNT(tool_events); i++)
		if (strcmp(name, tool_events[i]) == 0)
			return false;
	if (name[n_words] != '\0')
		return false;
	return strchr(name, '_') != NULL ||
	       (name[0] == 'r' && name[1] != '\0' &&
		name[1 + strspn(name + 1, "0123456789abcdefABCDEFx")] == '\0');
}

static void check_names(struct stat *s)
{
	if (s->pmu->is_generic || s->pmu->is_architectural ||
	    strcmp(cpu_id(s->pmu->cpu), CPU_ANY_ARM) == 0)
		return;
	for (size_t i = 0; i < s->totals.list.n; i++) {
		const struct stat_total *t = &s->totals.list.items[i];

		if (t->occurrence == 0 && t->unit == NULL && is_core_event(t->event) &&
		    cpu_event_of_name(s->pmu, t->event) == NULL)
			contradiction_add(s, CONTRADICTION_EVENT)->event = t->event;
	}
}

static bool is_cpu_named(const struct cpu *cpu, const char *name)
{
	const char *alias;

	if (cpu_word_is_same(cpu_id(cpu), name) || cpu_word_is_same(cpu_name(cpu), name))
		return true;
	for (size_t i = 0; (alias = cpu_alias_at(cpu, i)) != NULL; i++)
		if (cpu_word_is_same(alias, name))
			return true;
	return false;
}

static void add_width(struct stat *s)
{
	struct contradiction *c = contradiction_add(s, CONTRADICTION_WIDTH);

	c->value = s->counts->slots;
	c->limit = s->pmu->slots;
}

/* Were CPUs counted, whatever ran on them, and not a program? */
static bool is_of_cpus(const struct stat *s)
{
	const struct stat_total *task = stat_totals_find(&s->totals, "task-clock");
	const struct stat_total *cpu = stat_totals_find(&s->totals, "cpu-clock");

	for (size_t i = 0; i < s->counts->items.n; i++)
		if (s->counts->items.items[i].cpu != COUNT_ANY)
			return true;
	return task == NULL && cpu != NULL && cpu->state == COUNT_COUNTED;
}

/* Time of all CPUs together; 0: not told. */
static double time_of_cpus(const struct stat *s, const struct stat_total *busy)
{
	const struct stat_total *cpu = stat_totals_find(&s->totals, "cpu-clock");

	if (cpu != NULL && cpu->state == COUNT_COUNTED && cpu->unit != NULL &&
	    strcmp(cpu->unit, "ns") == 0)
		return cpu->value;
	return (double)busy->enabled_ns;
}

static bool contradicts_cycles(const struct stat *s, const struct stat_total *busy)
{
	for (size_t i = 0; i < s->contradictions.n; i++) {
		const struct contradiction *c = &s->contradictions.items[i];

		if (c->kind != CONTRADICTION_ZERO && c->other != NULL &&
		    strcasecmp(c->other, busy->event) == 0)
			return true;
	}
	return false;
}

/*
 * A CPU without work waits in WFI, where most cycle counters stand still. Shares of cycles are right
 * then, unless other counters go on; but cycles tell no time. No CPU that works is clocked below
 * `least` cycles in a nanosecond.
 */
static void check_idle(struct stat *s)
{
	const double least = 0.4;
	const struct stat_total *busy = total_named(s, cycles);
	struct contradiction *c;
	double rate;

	if (busy == NULL || busy->is_user_only || s->counts->is_modelled || !is_of_cpus(s) ||
	    time_of_cpus(s, busy) <= 0)
		return;
	rate = busy->value / time_of_cpus(s, busy);
	if (rate >= least && !contradicts_cycles(s, busy))
		return;
	c = contradiction_add(s, CONTRADICTION_IDLE);
	c->event = busy->event;
	c->value = rate;
}

void stat_check_totals(struct stat *s)
{
	if (s->counts->cpu != NULL && !is_cpu_named(s->pmu->cpu, s->counts->cpu))
		contradiction_add(s, CONTRADICTION_CPU)->other = s->counts->cpu;
	if (s->counts->slots != 0 && s->pmu->slots != 0 && s->counts->slots != s->pmu->slots)
		add_width(s);
	check_names(s);
	/* the model counts all that it has */
	for (size_t i = 0; i < COUNT(always) && !s->counts->is_modelled; i++)
		check_zero(s, &always[i]);
	check_ipc(s);
	for (size_t i = 0; i < COUNT(bounds); i++)
		check_bound(s, &bounds[i]);
	check_slots(s);
	check_issued(s);
	check_idle(s);
}

/* Wholes that shares cannot be more of. */
static const char *const wholes[] = { "slots", "cycles", "stalls", "operations", "branches" };

static bool is_share(const struct cpu_metric *m)
{
	const char *whole = metric_whole(m);

	for (size_t i = 0; i < COUNT(wholes); i++)
		if (strcmp(wholes[i], whole) == 0)
			return true;
	return false;
}

static bool has_class(const struct event_list *events, const char *class)
{
	for (size_t i = 0; i < events->n; i++)
		if (strcmp(events->items[i]->class, class) == 0)
			return true;
	return false;
}

/* Points by which a share may miss 0 and 100, and a sum of shares 100. */
static double tolerance_of(const struct stat *s, enum cell_mark mark)
{
	enum { SCALED_TIMES = 3 };
	double points = 0;

	stat_threshold_of(s, THRESHOLD_SUM, &points);
	return mark == MARK_EXACT ? points : SCALED_TIMES * points;
}

/* Slots with a correction for mispredictions come out a little below 0 where there are many. */
static double least_of(const struct cpu_metric *m, double tolerance)
{
	enum { CORRECTION = 10 };
	bool is_corrected =
		strcmp(metric_whole(m), "slots") == 0 && has_class(&m->events, "branch");

	return is_corrected ? -fmax(tolerance, CORRECTION) : -tolerance;
}

static void check_share(struct stat *s, size_t i)
{
	const struct cpu_metric *m = &s->pmu->metrics[i];
	struct stat_value *v = &s->values[i];
	double tolerance = tolerance_of(s, v->mark);
	struct contradiction *c;

	if (!stat_value_is_firm(v) || !is_share(m) ||
	    (v->value >= least_of(m, tolerance) && v->value <= 100 + tolerance))
		return;
	v->mark = MARK_IMPLAUSIBLE;
	c = contradiction_add(s, CONTRADICTION_SHARE);
	c->metric = m;
	c->value = v->value;
}

/*
 * Slots are counted by different events, and add up to all of them. Stalled cycles are of the front
 * end or of the back end: they add up to all cycles at most.
 */
static void check_sum(struct stat *s)
{
	enum { SLOT_ROOTS = 4 };
	const struct metric_list *roots = stat_roots(s);
	enum cell_mark mark = MARK_EXACT;
	bool are_slots = true;
	double sum = 0, tolerance;

	for (size_t i = 0; i < roots->n; i++) {
		const struct stat_value *v = stat_value_of(s, roots->items[i]);

		if (!stat_value_is_firm(v))
			return;
		are_slots &= strcmp(metric_whole(roots->items[i]), "slots") == 0;
		mark = v->mark > mark ? v->mark : mark;
		sum += v->value;
	}
	tolerance = tolerance_of(s, mark);
	if (sum <= 100 + tolerance &&
	    !(are_slots && roots->n == SLOT_ROOTS && sum < 100 - tolerance))
		return;
	contradiction_add(s, CONTRADICTION_SUM)->value = sum;
	for (size_t i = 0; i < roots->n; i++)
		s->values[roots->items[i] - s->pmu->metrics].mark = MARK_IMPLAUSIBLE;
}

void stat_check_values(struct stat *s)
{
	for (size_t i = 0; i < s->pmu->n_metrics; i++)
		check_share(s, i);
	check_sum(s);
}
