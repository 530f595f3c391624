/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of loops and of all code: what they wait for, as data of findings. */
#include "report/loops.h"

#include <math.h>

#include "base/alloc.h"
#include "estimate/estimate.h"
#include "report/finding_kinds.h"
#include "session/interval.h"
#include "session/session.h"

enum { CAUSES_OF_A_LOOP = 3 };

/* Parts of the time that nothing explains: of less nothing is said, of small code as well. */
static const double least_front_end = 0.2, least_unexplained = 0.4;

/* What helps, by how the data are walked through. */
static const enum remedy_kind walk_remedies[N_FINDING_WALKS] = {
	[WALK_UNKNOWN] = REMEDY_TOUCH_LESS,	 [WALK_CHASE] = REMEDY_POINTER_CHASE,
	[WALK_LOOKUP] = REMEDY_SMALLER_TABLE,	 [WALK_SEQUENTIAL] = REMEDY_BLOCK,
	[WALK_STRIDE] = REMEDY_SHORTER_STRIDE,	 [WALK_COLUMNS] = REMEDY_INTERCHANGE,
	[WALK_INDIRECT] = REMEDY_PREFETCH_AHEAD, [WALK_COMPUTED] = REMEDY_PREFETCH_AHEAD,
};

/* What findings are called, by where the data come from. */
static const enum finding_kind level_kinds[N_SOURCE_LEVELS] = {
	[SOURCE_UNKNOWN] = FINDING_MEMORY_BOUND,
	[SOURCE_L1] = FINDING_MEMORY_BOUND,
	[SOURCE_L2] = FINDING_L2_BOUND,
	[SOURCE_PEER_CORE] = FINDING_SHARED_DATA,
	[SOURCE_LOCAL_CLUSTER] = FINDING_LLC_BOUND,
	[SOURCE_SYSTEM_CACHE] = FINDING_LLC_BOUND,
	[SOURCE_PEER_CLUSTER] = FINDING_SHARED_DATA,
	[SOURCE_REMOTE] = FINDING_SHARED_DATA,
	[SOURCE_DRAM] = FINDING_DRAM_LATENCY,
	[SOURCE_REMOTE_DRAM] = FINDING_DRAM_LATENCY,
	[SOURCE_DEVICE] = FINDING_DRAM_LATENCY,
};

static const struct cause_class {
	enum finding_kind kind;
	enum remedy_kind remedy;
	const char *command;
} causes[N_BOTTLENECK_CAUSES] = {
	[BOTTLENECK_CHAIN] = { FINDING_DEPENDENCY_CHAIN, REMEDY_BREAK_CHAIN, "annotate" },
	[BOTTLENECK_FORWARDING] = { FINDING_STORE_FORWARDING, REMEDY_IN_REGISTER, "annotate" },
	[BOTTLENECK_DIVISION] = { FINDING_DIVISION, REMEDY_DIVISION, "annotate" },
	[BOTTLENECK_DATA] = { FINDING_MEMORY_BOUND, REMEDY_TOUCH_LESS, "mem --by instruction" },
	[BOTTLENECK_WALKS] = { FINDING_TLB_WALKS, REMEDY_DENSER_PAGES, "addr --by hugepage" },
	[BOTTLENECK_MISPREDICTIONS] = { FINDING_MISPREDICTIONS, REMEDY_PREDICTABLE,
					"hot --event mispredicted --by instruction" },
	[BOTTLENECK_STORES] = { FINDING_STORE_BOUND, REMEDY_STORE_IN_ORDER,
				"addr --by instruction" },
	[BOTTLENECK_PREFETCH] = { FINDING_LATE_PREFETCH, REMEDY_PREFETCH_DISTANCE,
				  "mem --by instruction" },
	[BOTTLENECK_SCALAR] = { FINDING_SCALAR_LOOP, REMEDY_VECTORISE, "annotate" },
};

/* What helps stores, by how they walk: those that are in order already have too many lines. */
static enum remedy_kind remedy_of_stores(enum finding_walk walk)
{
	switch (walk) {
	case WALK_SEQUENTIAL:
		return REMEDY_FEWER_BYTES;
	case WALK_STRIDE:
		return REMEDY_SHORTER_STRIDE;
	case WALK_COLUMNS:
		return REMEDY_INTERCHANGE;
	default:
		return REMEDY_STORE_IN_ORDER;
	}
}

/* Parts of a sum can be computed apart; of a recurrence each value needs the one before. */
static enum remedy_kind remedy_of_chain(const struct bottleneck *b)
{
	bool is_recurrence = b->carried == CARRIED_LINEAR || b->carried == CARRIED_RECURRENCE;

	return is_recurrence ? REMEDY_INTERLEAVE : REMEDY_BREAK_CHAIN;
}

static struct cause_class cause_class_of(const struct bottleneck *b)
{
	struct cause_class c = causes[b->cause];

	if (b->cause == BOTTLENECK_STORES)
		c.remedy = remedy_of_stores(b->loop.walk);
	else if (b->cause == BOTTLENECK_CHAIN && b->is_division)
		c.remedy = REMEDY_DIVISION;
	else if (b->cause == BOTTLENECK_CHAIN &&
		 (b->loop.walk == WALK_CHASE || b->loop.walk == WALK_LOOKUP))
		c.remedy = walk_remedies[b->loop.walk];
	else if (b->loop.walk == WALK_COLUMNS)
		c.remedy = REMEDY_INTERCHANGE;
	else if (b->cause == BOTTLENECK_CHAIN)
		c.remedy = remedy_of_chain(b);
	if (b->cause != BOTTLENECK_DATA)
		return c;
	if (b->lacks_lines) {
		c.kind = FINDING_DRAM_BANDWIDTH;
		c.remedy = b->loop.walk == WALK_SEQUENTIAL ? REMEDY_FEWER_BYTES
			   : b->loop.walk == WALK_COLUMNS  ? REMEDY_INTERCHANGE
			   : b->loop.walk == WALK_STRIDE   ? REMEDY_SHORTER_STRIDE
							   : REMEDY_TOUCH_LESS;
		return c;
	}
	c.kind = level_kinds[b->level];
	c.remedy = walk_remedies[b->loop.walk];
	if (c.kind == FINDING_DRAM_LATENCY && b->loop.walk == WALK_SEQUENTIAL) {
		c.kind = FINDING_DRAM_BANDWIDTH;
		c.remedy = REMEDY_FEWER_BYTES;
	}
	if (b->loop.walk == WALK_COLUMNS || b->loop.walk == WALK_STRIDE)
		c.command = "addr --by instruction";
	return c;
}

static struct extent extent_of(const struct bottleneck *b)
{
	return (struct extent){
		.share = b->time_share,
		.n = b->n,
		.n_all = b->n_all,
		.spread = b->spread,
		.rest_spread = b->rest_spread,
	};
}

const char *subject_name(const struct names *names, uint32_t place, struct findings *out)
{
	struct module_id module = session_place(names->session, place).module;
	struct text text = { 0 };
	const char *name;

	if (names->symbols[place].function.v != 0)
		return findings_text(out, names_function(names, place));
	if (module.v == 0)
		return "code outside all known files";
	text_format(&text, "code in %s", names_module(names->session, module));
	name = arena_strndup(&out->memory, text.bytes, text.n);
	text_release(&text);
	return name;
}

/*
 * A loop whose end is mispredicted runs for a varying number of iterations: no cases to sort. Of stores: what is said
 * of loads does not fit them.
 */
static const char *remedy_text(const struct bottleneck *b)
{
	if (b->cause == BOTTLENECK_STORES && b->loop.walk == WALK_SEQUENTIAL)
		return "store fewer bytes: smaller types, fused loops";
	if (b->cause == BOTTLENECK_STORES && b->loop.walk == WALK_STRIDE)
		return "pack what the loop stores into fewer cache lines";
	if (b->cause == BOTTLENECK_CHAIN && b->carried == CARRIED_REDUCTION &&
	    b->loop.walk == WALK_COLUMNS)
		return "interchange the loops: iterations then do not wait for each other";
	if (b->lacks_lines && b->loop.walk != WALK_SEQUENTIAL && b->loop.walk != WALK_COLUMNS)
		return "pack what the loop reads into fewer cache lines";
	return b->cause == BOTTLENECK_MISPREDICTIONS && b->ends_loop
		       ? "make the number of iterations uniform, or write branch-free code"
		       : NULL;
}

/* What its samples leave open: of the loop's part of the time, and of the part of records that shows the cause. */
static void add_intervals(const struct extent *extent, struct finding_loop *out)
{
	const struct lost_samples none = { 0 };
	struct estimate here = estimate_share(out->n_here, out->n_of, &none);

	out->share_error = extent_error(extent);
	out->here_low = here.low;
	out->here_high = here.high;
}

static struct finding *make_loop(const struct bottleneck *b, const struct names *names,
				 struct findings *out)
{
	struct cause_class class = cause_class_of(b);
	struct finding *f = findings_make(out, class.kind);
	struct extent extent = extent_of(b);
	struct module_id module = session_place(names->session, b->place).module;
	double share;

	f->function = findings_text(out, names_function(names, b->place));
	f->subject = subject_name(names, b->place, out);
	f->module = findings_text(out, names_module(names->session, module));
	f->event = "time";
	share = fmin(1, b->time_share * b->bound);
	f->size = (struct finding_size){
		.share = share,
		.error = fmin(1 - share, extent_error(&extent) * b->bound),
		.mark = MARK_AT_MOST,
		.of = WHOLE_TIME,
		.whole = "time",
	};
	f->where = findings_place(out, names, b->place);
	f->command = class.command;
	f->loop = arena_alloc(&out->memory, sizeof(*f->loop));
	*f->loop = b->loop;
	add_intervals(&extent, f->loop);
	if (b->loop_place != UINT32_MAX)
		f->loop->at = findings_place(out, names, b->loop_place);
	if (b->prefetch != UINT32_MAX)
		f->loop->other = findings_place(out, names, b->prefetch);
	finding_add_remedy(f, (struct remedy){ .kind = class.remedy, .text = remedy_text(b) });
	if (b->cause == BOTTLENECK_CHAIN && class.remedy == REMEDY_INTERCHANGE)
		finding_add_remedy(f, (struct remedy){ .kind = remedy_of_chain(b) });
	if (b->cause == BOTTLENECK_CHAIN && class.remedy == REMEDY_INTERLEAVE &&
	    b->carried == CARRIED_LINEAR)
		finding_add_remedy(f, (struct remedy){ .kind = REMEDY_SKIP_AHEAD });
	f->samples = (struct finding_samples){
		.n = b->n,
		.n_all = b->n_all,
		.of = "intervals between samples",
		.error = extent_error(&extent),
		.no_jitter = spe_lacks_jitter(names->session->capture),
		.full_share = -1,
	};
	return f;
}

const struct finding *report_unexplained(const struct bottlenecks *all, const struct names *names,
					 double least, struct findings *out)
{
	const struct bottleneck *b = bottlenecks_unexplained(all);
	struct extent extent;
	struct finding *f;

	if (b == NULL || b->time_share * b->cost < least)
		return NULL;
	extent = extent_of(b);
	f = findings_make(out, FINDING_HOT_FUNCTION);
	f->function = findings_text(out, names_function(names, b->place));
	f->subject = subject_name(names, b->place, out);
	f->module = findings_text(
		out, names_module(names->session, session_place(names->session, b->place).module));
	f->size = (struct finding_size){
		.share = b->time_share * b->cost,
		.error = extent_error(&extent) * b->cost,
		.of = WHOLE_TIME,
		.whole = "time",
	};
	f->loop = arena_alloc(&out->memory, sizeof(*f->loop));
	*f->loop = b->loop;
	f->loop->at = findings_place(out, names, b->place);
	if (b->suspect != UINT32_MAX)
		f->loop->other = findings_place(out, names, b->suspect);
	return f;
}

/* What another finding says better: which line the cores share (c2c), and in which functions. */
static bool is_of_sharing(const struct bottleneck *b)
{
	return b->is_contended ||
	       (b->cause == BOTTLENECK_DATA && level_kinds[b->level] == FINDING_SHARED_DATA);
}

/* A library's code is not the user's to rewrite; who calls it is another finding. */
static bool is_of_library(const struct bottleneck *b, const struct user_code *user_code)
{
	return b->cause == BOTTLENECK_SCALAR && user_code != NULL &&
	       user_code_is_library(user_code, b->place);
}

size_t report_add_loops(const struct bottlenecks *all, const struct names *names,
			const struct user_code *user_code, double least, size_t most,
			struct findings *out)
{
	const struct bottleneck *b;
	size_t n = 0;

	for (size_t i = 0; (b = bottleneck_at(all, i)) != NULL && n < most; i++) {
		size_t n_before = 0;

		for (size_t k = 0; k < i; k++)
			n_before += bottleneck_at(all, k)->loop_place == b->loop_place;
		if (b->time_share * b->cost < least || is_of_sharing(b) ||
		    is_of_library(b, user_code) || n_before >= CAUSES_OF_A_LOOP)
			continue;
		*vec_add(&out->list) = make_loop(b, names, out);
		n++;
	}
	return n;
}

const struct finding *report_largest_left(const struct bottlenecks *all, const struct names *names,
					  struct findings *out)
{
	const struct bottleneck *b, *largest = bottlenecks_largest_left(all);

	for (size_t i = 0; (b = bottleneck_at(all, i)) != NULL; i++)
		if (largest == NULL ||
		    b->time_share * b->bound > largest->time_share * largest->bound)
			largest = b;
	return largest != NULL && largest->time_share * largest->bound > 0
		       ? make_loop(largest, names, out)
		       : NULL;
}

/* Code that the L1I does not hold comes from the L2. Half of it is enough: samples meet a part of the code. */
static bool is_large_code(const struct bottleneck_code *code)
{
	return code->l1i_lines > 0 && 2 * code->n_lines >= code->l1i_lines;
}

/* If code misses the L1I for certain, what may be of queues or of the front end is of that. */
static double explained_cycles(const struct bottleneck_code *code)
{
	return code->l1i_lines > 0 && code->n_lines >= code->l1i_lines ? code->explained_in_window
								       : code->explained;
}

static void add_front_end(const struct bottleneck_code *code, double share, struct findings *out)
{
	struct finding *f = findings_add(out, FINDING_FRONT_END);
	f->subject = "code";
	f->event = "time";
	f->size = (struct finding_size){
		.share = share,
		.error = NAN,
		.mark = MARK_AT_LEAST,
		.of = WHOLE_TIME,
		.whole = "time",
	};
	f->command = "hot --by line";
	f->code = arena_alloc(&out->memory, sizeof(*f->code));
	*f->code = (struct finding_code){
		.cycles = code->cycles,
		.explained = explained_cycles(code),
		.ghz = code->hz / 1e9,
		.is_clock_assumed = code->is_clock_assumed,
		.n_lines = code->n_lines,
		.n_pages = code->n_pages,
	};
	finding_add_remedy(f, (struct remedy){ .kind = is_large_code(code) ? REMEDY_CODE_ORDER
									   : REMEDY_CODE_PAGES });
}

bool report_add_code(const struct bottlenecks *all, struct findings *out)
{
	const struct bottleneck_code *code = all == NULL ? NULL : bottlenecks_code(all);
	double rest;

	if (code == NULL || code->obstacle != NULL)
		return false;
	rest = 1 - explained_cycles(code) / code->cycles;
	if (rest >= least_front_end &&
	    (is_large_code(code) ||
	     (code->itlb_entries > 0 && code->n_pages > code->itlb_entries))) {
		add_front_end(code, rest, out);
		return true;
	}
	if (rest < least_unexplained)
		return false;
	*vec_add(&out->silences) =
		(struct silence){ .kind = SILENCE_UNEXPLAINED, .percent = 100 * rest };
	return true;
}
