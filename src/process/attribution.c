/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This runs for every record. So each step is a plain loop over the rows of a batch, and answers of
 * the timeline are cached together with the time span in which they hold.
 */
#include "process/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "process/chains.h"
#include "process/place_cache.h"

enum {
	ROWS_AT_ONCE = KEPT_AT_ONCE,
	SPANS_LOG = 8,
	LEVEL_USER = 0,
	MAX_UNWOUND = 256,
};

/* A cached answer about a tid, pid or CPU; all zero: empty. */
struct known_span {
	struct span span;
	uint32_t id;
};

/* Direct-mapped cache: id → struct known_span. */
struct span_cache {
	struct span (*find)(const struct timeline *, uint32_t id, uint64_t time_ns);
	struct known_span slots[1 << SPANS_LOG];
};

struct attribution {
	const struct timeline *timeline; /* borrowed */
	struct span_cache by_tid, by_pid, by_cpu;
	struct place_cache cache;
	struct chains chains;
	bool skips_places, skips_frames_of_samples, skips_frames_of_spe;
	const struct code_span *only; /* NULL: all places have numbers */
	attribution_unwind *unwind;   /* NULL: copied stacks are left alone */
	void *unwind_context;
	const struct attribution_callers *callers; /* NULL: SPE rows have none */
	uint32_t *caller_frames; /* by frame of `callers`: the own one + 1; 0: not asked for yet */
	struct attribution_totals totals;
	bool is_by_position;
	uint64_t times_ns[BATCH_ROWS]; /* attribution_row_time() of the batch's rows */
};

struct attribution *attribution_new(const struct timeline *timeline, struct place_numbers *places)
{
	struct attribution *a = mem_zalloc(1, sizeof(*a));

	a->timeline = timeline;
	a->is_by_position = timeline_is_by_position(timeline);
	a->by_tid.find = timeline_tid_span;
	a->by_pid.find = timeline_pid_span;
	a->by_cpu.find = timeline_cpu_span;
	place_cache_init(&a->cache, timeline, places);
	chains_init(&a->chains, &a->cache);
	return a;
}

void attribution_free(struct attribution *a)
{
	if (a == NULL)
		return;
	free(a->caller_frames);
	chains_release(&a->chains);
	place_cache_release(&a->cache);
	free(a);
}

/* A cache miss. Not inlined, to keep the hit path small. */
__attribute__((noinline)) static void ask_for_span(const struct attribution *a,
						   const struct span_cache *c, uint32_t id,
						   uint64_t time_ns, struct known_span *out)
{
	*out = (struct known_span){ .span = c->find(a->timeline, id, time_ns), .id = id };
}

static inline uint32_t span_slot(uint32_t id)
{
	return (id * 0x9e3779b9u) >> (32 - SPANS_LOG);
}

static inline uint32_t find_span(const struct attribution *a, struct span_cache *c, uint32_t id,
				 uint64_t time_ns)
{
	struct known_span *k = &c->slots[span_slot(id)];

	if (k->id != id || time_ns - k->span.from_ns >= k->span.to_ns - k->span.from_ns)
		ask_for_span(a, c, id, time_ns, k);
	return k->span.value;
}

static void set_tid(struct batch *b, size_t row, uint32_t tid)
{
	b->tid[row] = tid;
	b->has[row] |= HAS_TID;
}

/* A context of 0 in user code was never set: the idle task (tid 0) has no user code. */
static bool has_context(const struct batch *b, size_t row)
{
	if (!(b->has[row] & HAS_CONTEXT))
		return false;
	return b->context[row] != 0 || !(b->has[row] & HAS_PC) ||
	       batch_pc_level(b, row) != LEVEL_USER;
}

/* The thread on the row's CPU by switch records. Needs a time. */
static bool set_tid_by_switch(struct attribution *a, struct batch *b, size_t row, uint64_t time_ns)
{
	uint32_t tid;

	if ((b->has[row] & (HAS_CPU | HAS_TIME)) != (HAS_CPU | HAS_TIME))
		return false;
	tid = find_span(a, &a->by_cpu, b->cpu[row], time_ns);
	if (tid == HISTORY_NONE)
		return false;
	set_tid(b, row, tid);
	return true;
}

/*
 * Context packets have tids of the initial pid namespace; all other records have those of the
 * recorder's namespace. In a container they differ, so a context with an unknown tid is used last.
 * A known one also gives the process.
 */
__attribute__((always_inline)) static inline uint64_t *set_spe_thread(struct attribution *a,
								      struct batch *b, size_t row,
								      uint64_t time_ns,
								      uint32_t *out_process)
{
	bool is_from_context = has_context(b, row);

	if (is_from_context)
		*out_process = find_span(a, &a->by_tid, b->context[row], time_ns);
	if (*out_process != HISTORY_NONE) {
		set_tid(b, row, b->context[row]);
		return &a->totals.n_by_context;
	}
	if (set_tid_by_switch(a, b, row, time_ns))
		return &a->totals.n_by_switch;
	if (b->has[row] & HAS_TID)
		return &a->totals.n_by_buffer;
	if (is_from_context) {
		set_tid(b, row, b->context[row]);
		return &a->totals.n_by_context;
	}
	return &a->totals.n_without_tid;
}

static uint64_t *set_sample_thread(struct attribution *a, struct batch *b, size_t row,
				   uint64_t time_ns)
{
	if (b->has[row] & HAS_TID)
		return &a->totals.n_by_record;
	if (set_tid_by_switch(a, b, row, time_ns))
		return &a->totals.n_by_switch;
	return &a->totals.n_without_tid;
}

/* Sets the thread and counts where it came from. May also return the process. */
__attribute__((always_inline)) static inline uint32_t apply_thread(struct attribution *a,
								   struct batch *b, size_t row,
								   uint64_t time_ns, bool is_spe)
{
	uint32_t process = HISTORY_NONE;

	++*(is_spe ? set_spe_thread(a, b, row, time_ns, &process)
		   : set_sample_thread(a, b, row, time_ns));
	return process;
}

/* The process: by the recorded pid, else by the thread. */
__attribute__((always_inline)) static inline uint32_t find_process(struct attribution *a,
								   const struct batch *b,
								   size_t row, uint64_t time_ns,
								   uint32_t of_thread)
{
	if (b->has[row] & HAS_PID)
		return find_span(a, &a->by_pid, b->pid[row], time_ns);
	if (of_thread == HISTORY_NONE && b->has[row] & HAS_TID)
		return find_span(a, &a->by_tid, b->tid[row], time_ns);
	return of_thread;
}

/* The process of a context, in a span of time. */
struct known_context {
	uint32_t context, process, pid;
	uint64_t from_ns, length_ns;
};

/* The rows from this one on that are of the known context and say no pid: most records follow one of their thread. */
static size_t apply_known_context(struct attribution *a, struct batch *b, size_t first,
				  const struct known_context *known)
{
	size_t row = first;

	for (; row < b->n; row++) {
		if ((b->has[row] & (HAS_CONTEXT | HAS_PID)) != HAS_CONTEXT ||
		    b->context[row] != known->context ||
		    a->times_ns[row] - known->from_ns >= known->length_ns)
			break;
		b->tid[row] = known->context;
		b->process[row] = known->process;
		b->pid[row] = known->pid;
		b->has[row] |= HAS_TID | HAS_PROCESS | HAS_PID;
	}
	a->totals.n_by_context += row - first;
	return row;
}

/* Fills in what a row with a thread and a process tells of the next ones: something if its context told both, and is not 0. */
static bool note_known_context(const struct attribution *a, const struct batch *b, size_t row,
			       struct known_context *out)
{
	uint32_t context = b->context[row];
	const struct known_span *k = &a->by_tid.slots[span_slot(context)];

	if (context == 0 || k->id != context || k->span.value != b->process[row])
		return false;
	*out = (struct known_context){ context, b->process[row], b->pid[row], k->span.from_ns,
				       k->span.to_ns - k->span.from_ns };
	return true;
}

__attribute__((always_inline)) static inline void apply_tasks(struct attribution *a,
							      struct batch *b, bool is_spe)
{
	uint32_t last = HISTORY_NONE, pid = 0;

	for (size_t row = 0; row < b->n;) {
		uint64_t time_ns = a->times_ns[row];
		uint32_t of_thread = apply_thread(a, b, row, time_ns, is_spe);
		uint32_t process = find_process(a, b, row, time_ns, of_thread);
		struct known_context known;

		if (process == HISTORY_NONE) {
			b->process[row++] = 0;
			a->totals.n_without_process++;
			continue;
		}
		if (process != last)
			pid = timeline_process(a->timeline, process)->pid;
		last = process;
		b->process[row] = process;
		b->pid[row] = pid;
		b->has[row] |= HAS_PROCESS | HAS_PID;
		row++;
		if (is_spe && b->has[row - 1] & HAS_CONTEXT &&
		    note_known_context(a, b, row - 1, &known))
			row = apply_known_context(a, b, row, &known);
	}
}

uint32_t attribution_whose_rare_pc_(const struct batch *b, size_t row)
{
	switch (b->mode[row] & MISC_CPUMODE) {
	case 0: /* not known */
		return attribution_whose_address(b, row, b->has[row] & HAS_PC ? b->pc[row] : 0);
	case CPUMODE_GUEST_KERNEL:
		return PLACE_OF_GUEST_KERNEL | b->process[row];
	case CPUMODE_GUEST_USER:
		return PLACE_OF_GUEST_USER | b->process[row];
	default: /* a hypervisor, or what no kernel writes */
		return PLACE_OF_NOBODY;
	}
}

/* What is known of a row's address. Marks rows whose module is known, and counts them. */
__attribute__((always_inline)) static inline struct mapped_range *find_range(
	struct attribution *a, struct batch *b, size_t row, bool is_spe, uint64_t *n_with_place)
{
	uint32_t whose =
		is_spe ? attribution_whose_spe_pc_(b, row) : attribution_whose_sample_pc_(b, row);
	struct mapped_range *r =
		place_cache_look_up(&a->cache, whose, b->pc[row], a->times_ns[row]);

	b->has[row] |= r->module.v != 0 ? HAS_PLACE : 0;
	*n_with_place += r->module.v != 0;
	return r;
}

/* Of rows from `from` on: where the number of the place is kept, and in which page. NULL: the row has its number. */
struct kept_rows {
	size_t from, to;
	_Atomic uint32_t *kept[ROWS_AT_ONCE];
	const struct place_page *pages[ROWS_AT_ONCE];
};

/* Numbers the places of rows from one on, which are the first ones of theirs: of some, or of most. */
__attribute__((noinline)) static void number_rows(struct attribution *a, struct batch *b,
						  const struct kept_rows *its, size_t from)
{
	struct kept_place places[ROWS_AT_ONCE];
	uint16_t new_rows[ROWS_AT_ONCE];
	size_t n = 0;

	for (size_t row = from; row < its->to; row++) {
		if (its->kept[row - its->from] == NULL)
			continue;
		b->place[row] = place_numbers_look(its->kept[row - its->from]);
		new_rows[n] = (uint16_t)row;
		n += place_is_none(b->place[row]);
	}
	for (size_t i = 0; i < n; i++) {
		size_t row = new_rows[i];

		places[i].kept = its->kept[row - its->from];
		places[i].place = its->pages[row - its->from]->start;
		places[i].place.offset += b->pc[row] % PLACE_PAGE;
	}
	place_numbers_add_kept(a->cache.places, places, n);
	for (size_t i = 0; i < n; i++)
		b->place[new_rows[i]] = places[i].number;
}

/*
 * Where the numbers of instructions are kept is looked up for all rows, and fetched, before the first number is read: they
 * miss the caches. Returns how many have a place.
 */
__attribute__((always_inline)) static inline uint64_t apply_some_places(struct attribution *a,
									struct batch *b,
									size_t from, size_t to,
									bool is_spe)
{
	uint64_t n_with_place = 0;
	struct kept_rows its;

	its.from = from;
	its.to = to;
	for (size_t row = from; row < to; row++) {
		struct mapped_range *r;
		struct place_page *page;

		if (!(b->has[row] & HAS_PC)) {
			its.kept[row - from] = NULL;
			b->place[row] = 0;
			continue;
		}
		r = find_range(a, b, row, is_spe, &n_with_place);
		page = mapped_range_page(r, b->pc[row]);
		its.pages[row - from] = page;
		its.kept[row - from] = page != NULL ? place_page_kept(page, b->pc[row]) : NULL;
		prefetch(its.kept[row - from]);
		if (page == NULL)
			b->place[row] = mapped_range_number(&a->cache, r, b->pc[row]);
	}
	for (size_t row = from; row < to; row++) {
		if (its.kept[row - from] == NULL)
			continue;
		b->place[row] = place_numbers_look(its.kept[row - from]);
		if (place_is_none(b->place[row])) {
			number_rows(a, b, &its, row);
			break;
		}
	}
	return n_with_place;
}

/* Only some code has numbers: that of other rows is 0. Returns how many rows have a place. */
static uint64_t apply_places_of_some_code(struct attribution *a, struct batch *b)
{
	uint64_t n_with_place = 0;

	for (size_t row = 0; row < b->n; row++) {
		struct mapped_range *r;

		b->place[row] = 0;
		if (!(b->has[row] & HAS_PC))
			continue;
		r = find_range(a, b, row, b->kind == BATCH_SPE, &n_with_place);
		if (code_span_has(a->only, mapped_range_place(r, b->pc[row])))
			b->place[row] = mapped_range_number(&a->cache, r, b->pc[row]);
	}
	return n_with_place;
}

static uint64_t apply_places_of_all_code(struct attribution *a, struct batch *b)
{
	uint64_t n_with_place = 0;

	for (size_t row = 0; row < b->n; row += ROWS_AT_ONCE) {
		size_t end = b->n - row < ROWS_AT_ONCE ? b->n : row + ROWS_AT_ONCE;

		n_with_place += b->kind == BATCH_SPE ? apply_some_places(a, b, row, end, true)
						     : apply_some_places(a, b, row, end, false);
	}
	return n_with_place;
}

static void apply_places(struct attribution *a, struct batch *b)
{
	a->totals.n_without_place += b->n - (a->only != NULL ? apply_places_of_some_code(a, b)
							     : apply_places_of_all_code(a, b));
}

/* The number of words before the marker PERF_CONTEXT_USER. */
static uint32_t kernel_part(const uint64_t *words, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && words[i] != CHAIN_USER)
		i++;
	return i;
}

/*
 * Makes the row's call chain of the kernel part that was recorded and the unwound user stack. The
 * result is appended to the batch's words.
 */
static void unwind_row(struct attribution *a, struct batch *b, size_t row)
{
	uint64_t time_ns = attribution_row_time(a->is_by_position, b, row);
	uint64_t unwound[MAX_UNWOUND];
	struct batch_slice stack = b->stack[row];
	uint64_t *out;
	size_t n;

	if (b->process[row] == 0)
		return;
	if (!(b->has[row] & HAS_STACK))
		stack.first = stack.n = 0;
	n = a->unwind(a->unwind_context, &a->cache, b, row, b->process[row], time_ns, unwound,
		      MAX_UNWOUND);
	if (n == 0)
		return;
	stack.n = kernel_part(b->words.items + stack.first, stack.n);
	vec_reserve(&b->words, stack.n + 1 + n);
	out = b->words.items + b->words.n;
	memcpy(out, b->words.items + stack.first, stack.n * sizeof(*out));
	out[stack.n] = CHAIN_USER;
	memcpy(out + stack.n + 1, unwound, n * sizeof(*out));
	b->stack[row] = (struct batch_slice){
		.first = (uint32_t)b->words.n,
		.n = (uint32_t)(stack.n + 1 + n),
	};
	b->words.n += stack.n + 1 + n;
	b->has[row] |= HAS_STACK;
}

static uint32_t attribution_find_frame(struct attribution *a, const struct batch *b, size_t row)
{
	const struct chain_sample sample = {
		.process = attribution_whose_user_address_(b, row),
		.whose = attribution_whose_pc(b, row),
		.time_ns = attribution_row_time(a->is_by_position, b, row),
	};
	struct batch_slice s = b->stack[row];
	uint32_t frame = 0;

	if (s.n > 0)
		frame = chains_add(&a->chains, &sample, b->words.items + s.first, s.n);
	/* empty chain: user or kernel callchains were excluded when recording */
	if (frame == 0 && b->has[row] & HAS_PC)
		frame = chains_add_leaf(&a->chains, b->place[row]);
	return frame;
}

/* The own frame for one of `callers`: callers come before callees there. */
static uint32_t own_frame(struct attribution *a, uint32_t frame)
{
	const uint64_t *caller;
	uint64_t tuple[2];

	if (frame == 0)
		return 0;
	if (a->caller_frames[frame] > 0)
		return a->caller_frames[frame] - 1;
	caller = tuples_get(a->callers->frames, frame);
	tuple[0] = own_frame(a, (uint32_t)caller[0]);
	tuple[1] = caller[1];
	a->caller_frames[frame] = 1 + tuples_add(&a->chains.frames, tuple);
	return a->caller_frames[frame] - 1;
}

/* SPE rows whose callers are known get a frame of their own below them. */
static void apply_callers(struct attribution *a, struct batch *b)
{
	for (size_t row = 0; row < b->n; row++) {
		uint32_t frame = a->callers->find(a->callers->context, b, row);

		if (frame == ATTRIBUTION_NO_CALLERS)
			continue;
		b->caller[row] =
			frame == 0 ? 0 : (uint32_t)tuples_get(a->callers->frames, frame)[1];
		b->frame[row] =
			tuples_add(&a->chains.frames,
				   (const uint64_t[]){ own_frame(a, frame), b->place[row] });
		b->has[row] |= HAS_STACK;
	}
}

/* The place of the innermost caller of a chain; 0: it has none. */
static uint32_t caller_of(const struct attribution *a, uint32_t frame)
{
	uint32_t caller = (uint32_t)tuples_get(&a->chains.frames, frame)[0];

	return caller == 0 ? 0 : (uint32_t)tuples_get(&a->chains.frames, caller)[1];
}

static void apply_no_frames(struct batch *b)
{
	memset(b->frame, 0, b->n * sizeof(*b->frame));
	memset(b->caller, 0, b->n * sizeof(*b->caller));
}

static void apply_frames(struct attribution *a, struct batch *b)
{
	for (size_t row = 0; row < b->n; row++) {
		bool has_stack;

		if (a->unwind != NULL && b->has[row] & HAS_USER_STACK)
			unwind_row(a, b, row);
		has_stack = b->kind == BATCH_SAMPLES && !a->skips_frames_of_samples &&
			    b->has[row] & HAS_STACK;
		b->frame[row] = has_stack ? attribution_find_frame(a, b, row) : 0;
		b->caller[row] = b->frame[row] != 0 ? caller_of(a, b->frame[row]) : 0;
	}
}

/* Returns which columns any row has. */
__attribute__((always_inline)) static inline uint32_t note_rows(struct attribution *a,
								const struct batch *b,
								bool is_by_position)
{
	uint64_t n_without_time = 0;
	uint32_t columns = 0;

	for (size_t row = 0; row < b->n; row++) {
		columns |= b->has[row];
		n_without_time += !(b->has[row] & HAS_TIME);
		a->times_ns[row] = attribution_row_time(is_by_position, b, row);
	}
	a->totals.n_rows += b->n;
	a->totals.n_without_time += n_without_time;
	return columns;
}

void attribution_apply(struct attribution *a, struct batch *b)
{
	uint32_t columns = a->is_by_position ? note_rows(a, b, true) : note_rows(a, b, false);

	if (b->kind == BATCH_SPE)
		apply_tasks(a, b, true);
	else
		apply_tasks(a, b, false);
	if (a->skips_places)
		return;
	apply_places(a, b);
	if (b->kind != BATCH_SPE && columns & (HAS_STACK | HAS_USER_STACK)) {
		apply_frames(a, b);
		return;
	}
	apply_no_frames(b);
	if (b->kind == BATCH_SPE && a->callers != NULL && !a->skips_frames_of_spe)
		apply_callers(a, b);
}

void attribution_set_unwind(struct attribution *a, attribution_unwind *unwind, void *context)
{
	a->unwind = unwind;
	a->unwind_context = context;
}

void attribution_set_callers(struct attribution *a, const struct attribution_callers *callers)
{
	a->callers = callers;
	a->caller_frames = mem_zalloc(callers->frames->n + 1, sizeof(*a->caller_frames));
}

void attribution_skip_places(struct attribution *a)
{
	a->skips_places = true;
}

void attribution_number_only(struct attribution *a, const struct code_span *only)
{
	a->only = only;
}

void attribution_skip_frames(struct attribution *a, bool of_samples, bool of_spe)
{
	a->skips_frames_of_samples = of_samples;
	a->skips_frames_of_spe = of_spe;
}

const struct attribution_totals *attribution_totals(const struct attribution *a)
{
	return &a->totals;
}

const struct tuples *attribution_frames(const struct attribution *a)
{
	return &a->chains.frames;
}

bool attribution_has_loose_frames(const struct attribution *a)
{
	return chains_are_loose(&a->chains);
}

void attribution_forget_frames(struct attribution *a)
{
	chains_reset(&a->chains);
	if (a->callers != NULL)
		memset(a->caller_frames, 0,
		       ((size_t)a->callers->frames->n + 1) * sizeof(*a->caller_frames));
}

void attribution_take(struct attribution *a, struct tuples *out_frames)
{
	*out_frames = a->chains.frames;
	a->chains.frames = (struct tuples){ 0 };
}
