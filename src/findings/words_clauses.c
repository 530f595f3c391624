/* SPDX-License-Identifier: Apache-2.0 */
/* What cells and sentences about a finding are made of: its cause, place, cost and fix in a clause each. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/short_name.h"
#include "findings/words_inside.h"

static const char *const causes[N_FINDING_KINDS] = {
	[FINDING_MEMORY_BOUND] = "DRAM latency",
	[FINDING_SHARED_DATA] = "peer snoops",
	[FINDING_TLB_WALKS] = "page table walks",
	[FINDING_MISPREDICTIONS] = "branch mispredicts",
	[FINDING_DEPENDENCY_CHAIN] = "dependency chain",
	[FINDING_STORE_FORWARDING] = "store-to-load forwarding",
	[FINDING_DIVISION] = "division",
	[FINDING_L2_BOUND] = "L2 latency",
	[FINDING_LLC_BOUND] = "LLC latency",
	[FINDING_DRAM_LATENCY] = "DRAM latency",
	[FINDING_DRAM_BANDWIDTH] = "DRAM bandwidth",
	[FINDING_STORE_BOUND] = "store misses",
	[FINDING_LATE_PREFETCH] = "late prefetch",
	[FINDING_SCALAR_LOOP] = "scalar loop",
	[FINDING_FRONT_END] = "instruction fetch",
	[FINDING_SLOW_OPERATIONS] = "slow operations",
	[FINDING_PAGE_FAULTS] = "page faults",
	[FINDING_UNNAMED_CODE] = "no symbols",
	[FINDING_HOT_FUNCTION] = "hot function",
	[FINDING_FALSE_SHARING] = "false sharing",
	[FINDING_TRUE_SHARING] = "true sharing",
	[FINDING_CONTENDED] = "contended line",
	[FINDING_WAITING] = "not running",
	[FINDING_SCALAR] = "scalar code",
};

/* Causes that code alone tells of (finding_is_unproven()). */
static const char *const possible_causes[N_FINDING_KINDS] = {
	[FINDING_DEPENDENCY_CHAIN] = "possible dependency chain",
	[FINDING_STORE_FORWARDING] = "possible store-to-load forwarding",
	[FINDING_DIVISION] = "possible wait for the divider",
};

/* The first thing to change, in a clause. Those with a NULL have words of their own. */
static const char *const fixes[N_REMEDIES] = {
	[REMEDY_TOUCH_LESS] = "access less memory, or in order; prefetch ahead",
	[REMEDY_OWN_LINES] = "give each thread its own cache lines",
	[REMEDY_DENSER_PAGES] = "use huge pages, or denser data",
	[REMEDY_PREDICTABLE] = "sort or split the cases, or write branch-free code",
	[REMEDY_POINTER_CHASE] = "store nodes in visiting order, or follow several chains at once",
	[REMEDY_SMALLER_TABLE] = "make the table smaller, or do several look-ups at once",
	[REMEDY_BREAK_CHAIN] = "use several accumulators, or several chains at once",
	[REMEDY_INTERLEAVE] = "work on several independent sequences at once (accumulators do not "
			      "help)",
	[REMEDY_SKIP_AHEAD] = "take several steps at once: x*A + C",
	[REMEDY_IN_REGISTER] =
		"keep the variable in a register: compile with -O2, or copy it to a local",
	[REMEDY_DIVISION] = "multiply by the reciprocal, or shift, in place of the division",
	[REMEDY_INTERCHANGE] = "interchange the loops",
	[REMEDY_SHORTER_STRIDE] = "prefetch ahead, or shorten the stride",
	[REMEDY_PREFETCH_AHEAD] = "prefetch some iterations ahead",
	[REMEDY_PREFETCH_DISTANCE] = "prefetch more iterations ahead",
	[REMEDY_FEWER_BYTES] = "read fewer bytes: smaller types, fused loops",
	[REMEDY_BLOCK] = "block the loops",
	[REMEDY_STORE_IN_ORDER] = "store in order, whole cache lines",
	[REMEDY_REUSE_MEMORY] = "reuse memory, use huge pages, or let malloc keep what is freed",
	[REMEDY_COPY_LESS] = "write to fewer pages after a fork()",
	[REMEDY_MAP_AHEAD] = "map what is needed at once, or read() it into a buffer",
	[REMEDY_LESS_MEMORY] = "access fewer pages, or use less memory",
	[REMEDY_CALL_LESS] = "call it less often: use another algorithm or data structure",
	[REMEDY_CALL_CHAINS] = "record the callers: cyclops record -g",
	[REMEDY_SEPARATE_THREADS] = "give each thread's data its own cache line",
	[REMEDY_LOCK_LESS] = "use the lock or atomic less often",
	[REMEDY_WRITE_LESS] = "write it less often, or give each thread a copy",
	[REMEDY_ONE_NODE] = "run these threads on one node",
	[REMEDY_BRANCH_FREE_SIZES] = "write branch-free code, or sort by case",
	[REMEDY_BRANCH_FREE] = "write branch-free code, or sort by case",
	[REMEDY_CODE_PAGES] = "use huge pages for code",
	[REMEDY_CODE_ORDER] = "order functions by profile (PGO, BOLT)",
	[REMEDY_HUGE_PAGES] = "use huge pages, or denser data",
	[REMEDY_CACHE_L1] = "prefetch ahead, block the loops, or use smaller types",
	[REMEDY_CACHE] = "prefetch ahead, block the loops, or store nodes together",
	[REMEDY_CACHE_CHAIN] = "store nodes in visiting order, or follow several chains at once",
	[REMEDY_CACHE_SCATTERED] = "interchange or block the loops; prefetch known addresses",
	[REMEDY_LESS_SHARING] = "give each thread's data its own cache line",
	[REMEDY_SPECULATION] = "look at mispredicted branches and faults",
	[REMEDY_FRONT_END] = "order code by profile (PGO, BOLT)",
	[REMEDY_VECTORISE] = "vectorise (NEON, SVE)",
	[REMEDY_LESS_WORK] = "execute fewer instructions: a better algorithm",
	[REMEDY_NODES] = "keep threads and their data on one node",
	[REMEDY_CORE] = "break dependency chains, unroll, replace divisions",
	[REMEDY_LONGER_RUN] = "measure a longer run",
	[REMEDY_IDLE_MACHINE] = "measure on an idle machine",
	[REMEDY_IDLE_OR_WAITS] = "find what the program waits for, or measure on an idle machine",
	[REMEDY_WAITS] = "find what the program waits for: I/O, locks, sleep",
};

const char *words_cause(const struct finding *f)
{
	if (f->metric != NULL)
		return f->metric->label;
	if (f->kind == FINDING_MEMORY_BOUND && f->loop != NULL)
		return "memory latency"; /* the level is not known */
	if (f->kind == FINDING_TRUE_SHARING && f->sharing != NULL && f->sharing->has_lock)
		return f->sharing->is_guarded ? "contended lock" : "contended atomic";
	return finding_is_unproven(f) ? possible_causes[f->kind] : causes[f->kind];
}

const char *words_fix(const struct finding *f)
{
	const struct remedy *first = f->remedies.items;

	if (f->remedies.n == 0)
		return NULL;
	return first->text != NULL ? first->text : fixes[first->kind];
}

void words_put_line(const struct finding_place *p, const char *before, const char *after,
		    struct text *out)
{
	if (p->file != NULL)
		text_format(out, "%s%s:%" PRIu32 "%s", before, p->file, p->line, after);
}

/* " and 2 more like it": variables of one type. */
static void put_variables(const struct finding_sharing *s, struct text *out)
{
	if (s != NULL && s->n_variables > 1)
		text_format(out, " and %" PRIu32 " more like it", s->n_variables - 1);
}

void words_put_subject(const struct finding *f, struct text *out)
{
	const char *name = f->subject != NULL ? f->subject : f->function;

	if (f->sharing != NULL && f->sharing->object != NULL)
		name = f->sharing->object;
	if (f->sharing != NULL && f->sharing->object == NULL && f->sharing->n_lines > 0)
		text_format(out, "%sline 0x%" PRIx64, f->sharing->is_physical ? "physical " : "",
			    f->sharing->lines[0]);
	else if (f->kind == FINDING_UNNAMED_CODE)
		text_str(out, f->subject);
	else if (name != NULL)
		short_name(name, strlen(name), WORDS_NAME_WIDTH, out);
	put_variables(f->sharing, out);
}

void words_put_code(const struct finding *f, struct text *out)
{
	const char *inlined = f->sharing == NULL && f->function != NULL && f->subject != NULL &&
					      strcmp(f->function, f->subject) == 0
				      ? f->where.inlined
				      : NULL;

	if (inlined != NULL) {
		short_name(inlined, strlen(inlined), WORDS_NAME_WIDTH, out);
		text_str(out, ", inlined into ");
	}
	words_put_subject(f, out);
}

const char *words_bound(const struct finding *f)
{
	if (words_is_limit(f))
		return "at most ";
	return f->code != NULL ? "at least " : "";
}

bool words_has_error(const struct finding *f)
{
	bool is_bound = f->loop == NULL && f->size.mark != MARK_EXACT;

	return !is_bound && !isnan(f->size.error) && f->size.error > 0;
}

static bool has_interval_of_time(const struct finding *f)
{
	return f != NULL && f->size.of == WHOLE_TIME && words_has_error(f);
}

bool findings_have_intervals_of_time(const struct findings *f)
{
	bool has = false;

	for (size_t i = 0; i < f->list.n; i++)
		has |= has_interval_of_time(f->list.items[i]);
	for (size_t i = 0; i < f->silences.n && f->list.n == 0; i++)
		has |= has_interval_of_time(f->silences.items[i].unexplained) ||
		       has_interval_of_time(f->silences.items[i].largest);
	return has;
}

const char *words_cost(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (isnan(f->size.share) || (f->sharing != NULL && !f->sharing->has_latency))
		return NULL;
	text_format(&text, "%.1f %%", 100 * f->size.share);
	if (words_has_error(f))
		text_format(&text, " \xc2\xb1 %.1f", 100 * f->size.error);
	return words_take(t, &text);
}

bool words_tells_lines(const struct finding_loop *l, enum finding_kind kind)
{
	return kind == FINDING_DRAM_BANDWIDTH && l->most_lines > 0;
}

/* Of so many loads of so many. */
static const char *const sources[N_FINDING_KINDS] = {
	[FINDING_L2_BOUND] = "loads from L2",
	[FINDING_LLC_BOUND] = "loads from LLC",
	[FINDING_DRAM_LATENCY] = "loads from DRAM",
	[FINDING_DRAM_BANDWIDTH] = "loads from DRAM",
	[FINDING_SHARED_DATA] = "loads from other cores",
};

void words_put_loop_cause(const struct finding_loop *l, enum finding_kind kind, struct text *out)
{
	char cycles[GROUPED_BYTES];

	if (words_tells_lines(l, kind)) {
		put_lines_in_flight(l, out);
		return;
	}
	switch (kind) {
	case FINDING_DEPENDENCY_CHAIN:
		text_format(out, "%.3g cycles per iteration, without the chain %.2g or more",
			    l->chain_cycles, l->n_insns / l->width);
		return;
	case FINDING_STORE_FORWARDING:
		text_format(out, "%.3g cycles per iteration, in registers %.3g", l->chain_cycles,
			    l->register_chain);
		return;
	case FINDING_TLB_WALKS:
		put_loop_part(l, "accesses need a walk", out);
		return;
	case FINDING_MISPREDICTIONS:
		text_str(out, "mispredicted ");
		put_loop_part(l, "times", out);
		return;
	case FINDING_STORE_BOUND:
		put_loop_part(l, "stores miss L1D", out);
		if (l->walk == WALK_STRIDE && l->stride > 0)
			text_format(out, ", one store every %s bytes",
				    grouped_u64((uint64_t)l->stride, cycles));
		return;
	case FINDING_LATE_PREFETCH:
		put_loop_part(l, "loads still miss L1D", out);
		return;
	case FINDING_SCALAR_LOOP:
		text_format(out, "%.0f instructions per iteration", l->n_insns);
		return;
	default:
		put_loop_part(l, sources[kind] != NULL ? sources[kind] : "loads", out);
		if (l->level_cycles > 0)
			text_format(out, ", mean %s cycles",
				    grouped_u64((uint64_t)llround(l->level_cycles), cycles));
		if (l->n_saturated == l->n_here)
			text_str(out, ", saturated");
		else if (l->n_saturated > 0)
			text_format(out, ", %s saturated", grouped_u64(l->n_saturated, cycles));
		if (kind == FINDING_DRAM_BANDWIDTH)
			put_bandwidth(l, out);
	}
}

void words_put_data_name(const struct finding_loop *l, const char *before, struct text *out)
{
	if (l->data.name == NULL)
		return;
	text_str(out, before);
	short_name(l->data.name, strlen(l->data.name), WORDS_NAME_WIDTH, out);
}
