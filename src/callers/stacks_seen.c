/* SPDX-License-Identifier: Apache-2.0 */
#include "callers/stacks_seen.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/hash.h"
#include "capture/format/sample.h"
#include "cpu/event_name.h"
#include "scan/scan.h"
#include "session/names.h"

/* Frames that a worker may have before those of the stacks are copied, and all others let go. */
enum { FRAMES_OF_PART = 8192 };

/* Events by what they count. `type` and `config` as in perf_event.h. */
static const struct {
	enum stack_kind kind;
	uint32_t type;
	uint64_t config;
	const char *name; /* without modifiers */
} kinds[] = {
	{ STACK_OF_TIME, ATTR_TYPE_HARDWARE, 0, "cycles" },
	{ STACK_OF_TIME, ATTR_TYPE_RAW, 0x11, "cpu_cycles" },
	{ STACK_OF_TIME, ATTR_TYPE_SOFTWARE, SOFTWARE_CPU_CLOCK, "cpu-clock" },
	{ STACK_OF_TIME, ATTR_TYPE_SOFTWARE, SOFTWARE_TASK_CLOCK, "task-clock" },
	{ STACK_OF_INSTRUCTIONS, ATTR_TYPE_HARDWARE, 1, "instructions" },
	{ STACK_OF_INSTRUCTIONS, ATTR_TYPE_RAW, 0x08, "inst_retired" },
	{ STACK_OF_REFILLS, ATTR_TYPE_HW_CACHE, 0x10000, "L1-dcache-load-misses" },
	{ STACK_OF_REFILLS, ATTR_TYPE_RAW, 0x03, "l1d_cache_refill" },
};

/* N_STACK_KINDS: of no use, or without call chains. */
static enum stack_kind kind_of(const struct capture *c, size_t event)
{
	const struct attr *a = &capture_event(c, event)->attr;
	struct event_name name;

	if (!(a->sample_type &
	      ((uint64_t)1 << SAMPLE_CALLCHAIN | (uint64_t)1 << SAMPLE_STACK_USER)))
		return N_STACK_KINDS;
	event_name_split(capture_event_name(c, event), &name);
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((a->type == kinds[i].type && a->config == kinds[i].config) ||
		    (cpu_is_core_pmu(name.pmu) && cpu_word_is_same(name.event, kinds[i].name)))
			return kinds[i].kind;
	return N_STACK_KINDS;
}

/* The samples of a worker. */
struct stacks_partial {
	const struct session *session;
	struct stack_list list;	   /* their callers are in `frames` */
	struct stack_list pending; /* … or still in those of the scan */
	struct tuples frames;
	uint64_t least_hash; /* samples below it are left out */
	uint8_t *kinds;	     /* by event */
};

static void *partial_new(const struct session *s, const void *options)
{
	struct stacks_partial *p = mem_zalloc(1, sizeof(*p));
	uint64_t n = capture_totals(s->capture)->n_samples;
	size_t n_events = capture_n_events(s->capture);

	(void)options;
	p->session = s;
	tuples_init(&p->frames, 2);
	tuples_add(&p->frames, (const uint64_t[]){ 0, 0 }); /* the root */
	if (n > STACKS_MOST)
		p->least_hash = UINT64_MAX - UINT64_MAX / n * STACKS_MOST;
	p->kinds = mem_alloc(n_events + 1, sizeof(*p->kinds));
	for (size_t i = 0; i < n_events; i++)
		p->kinds[i] = (uint8_t)kind_of(s->capture, i);
	return p;
}

static void partial_free(void *partial)
{
	struct stacks_partial *p = partial;

	if (p == NULL)
		return;
	vec_release(&p->list);
	vec_release(&p->pending);
	tuples_release(&p->frames);
	free(p->kinds);
	free(p);
}

static unsigned wants_chains(const void *options)
{
	(void)options;
	return CHAINS_OF_SAMPLES;
}

static bool is_of_use(const struct stacks_partial *p, const struct batch *b, size_t row)
{
	const uint32_t needs = HAS_STACK | HAS_TID | HAS_TIME | HAS_PC;

	return (b->has[row] & needs) == needs && b->frame[row] != 0 &&
	       b->event[row] < capture_n_events(p->session->capture) &&
	       p->kinds[b->event[row]] != N_STACK_KINDS &&
	       (p->least_hash == 0 || hash_mix(b->position[row], 1) >= p->least_hash);
}

static void partial_consume(void *partial, const struct batch *b)
{
	struct stacks_partial *p = partial;

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t row = 0; row < b->n; row++) {
		if (!is_of_use(p, b, row))
			continue;
		*vec_add(&p->pending) = (struct stack_seen){
			.time_ns = b->time_ns[row],
			.position = b->position[row],
			.period =
				b->has[row] & HAS_PERIOD && b->period[row] > 0 ? b->period[row] : 1,
			.tid = b->tid[row],
			.pid = b->has[row] & HAS_PID ? b->pid[row] : STACK_WITHOUT_PID,
			.place = b->place[row],
			.caller = b->frame[row], /* the leaf itself, until functions are known */
			.kind = p->kinds[b->event[row]],
		};
	}
}

/* The own frame for one of `frames`; `own` has those that were asked for. */
static uint32_t copy_frame(struct stacks_partial *p, const struct tuples *frames, uint32_t *own,
			   uint32_t frame)
{
	const uint64_t *words;

	if (frame == 0 || own[frame] > 0)
		return own[frame];
	words = tuples_get(frames, frame);
	own[frame] = tuples_add(
		&p->frames,
		(const uint64_t[]){ copy_frame(p, frames, own, (uint32_t)words[0]), words[1] });
	return own[frame];
}

/* Moves stacks to `list`, with their frames. */
static void take_stacks(struct stacks_partial *p, struct stack_list *from,
			const struct tuples *frames)
{
	uint32_t *own;

	if (from->n == 0)
		return;
	own = mem_zalloc(frames->n, sizeof(*own));
	for (size_t i = 0; i < from->n; i++) {
		struct stack_seen *s = vec_add(&p->list);

		*s = from->items[i];
		s->caller = copy_frame(p, frames, own, s->caller);
	}
	from->n = 0;
	free(own);
}

static bool partial_let_go(void *partial, const struct tuples *frames, bool must)
{
	struct stacks_partial *p = partial;

	if (frames->n < FRAMES_OF_PART && !must)
		return false;
	take_stacks(p, &p->pending, frames);
	return true;
}

static void partial_merge(void *into, const void *from, const struct id_map *map)
{
	struct stacks_partial *p = into;
	const struct stacks_partial *other = from;
	struct stack_list list = { 0 };

	for (size_t i = 0; i < other->pending.n; i++) {
		struct stack_seen *s = vec_add(&p->pending);

		*s = other->pending.items[i];
		s->caller = map->frames[s->caller];
	}
	vec_reserve(&list, other->list.n);
	for (size_t i = 0; i < other->list.n; i++)
		*vec_add(&list) = other->list.items[i];
	take_stacks(p, &list, &other->frames);
	vec_release(&list);
}

static const struct analysis_class stacks_class = {
	.new = partial_new,
	.free = partial_free,
	.wants_chains = wants_chains,
	.consume = partial_consume,
	.let_go = partial_let_go,
	.merge = partial_merge,
};

static int compare_stacks(const void *left, const void *right)
{
	const struct stack_seen *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

/* Code without a symbol is one function for each module. */
static void number_functions(struct functions_seen *f, struct session *s)
{
	struct names names;

	names_init(&names, s, NULL, SYMBOLS_FUNCTIONS);
	names_put_in_order(&names);
	tuples_init(&f->numbers, 2);
	tuples_add(&f->numbers,
		   (const uint64_t[]){ 0, 0 }); /* number 0: code outside all modules */
	f->n_places = names.n;
	f->of_place = mem_zalloc(names.n + 1, sizeof(*f->of_place));
	for (uint32_t i = 0; i < names.n; i++) {
		uint32_t place = names.numbers[i];

		f->of_place[place] = tuples_add(
			&f->numbers, (const uint64_t[]){ names.places[i].module.v,
							 names.symbols[place].function.v });
	}
	names_release(&names);
}

/* A chain may begin with the sample's own function, or, without the part of the kernel, with a caller. */
static void skip_leaf(const struct stacks_seen *seen, struct stack_seen *s)
{
	const uint64_t *innermost = tuples_get(&seen->frames, s->caller);

	s->function = function_of_place(&seen->functions, s->place);
	if (function_of_place(&seen->functions, (uint32_t)innermost[1]) == s->function)
		s->caller = (uint32_t)innermost[0];
}

/* Numbers the chains of functions; a function that calls itself is there once. */
static void number_chains(struct stacks_seen *seen)
{
	uint32_t n = seen->frames.n;
	uint32_t *chains = mem_zalloc(n + 1, sizeof(*chains)); /* by frame */
	struct tuples numbers;				       /* (chain of the caller, function) */

	tuples_init(&numbers, 2);
	tuples_add(&numbers, (const uint64_t[]){ 0, UINT32_MAX }); /* number 0: no callers */
	for (uint32_t i = 1; i < n; i++) {
		const uint64_t *frame = tuples_get(&seen->frames, i);
		uint32_t caller = chains[frame[0]];
		uint32_t function = function_of_place(&seen->functions, (uint32_t)frame[1]);

		chains[i] = tuples_get(&numbers, caller)[1] == function
				    ? caller
				    : tuples_add(&numbers, (const uint64_t[]){ caller, function });
	}
	for (size_t i = 0; i < seen->list.n; i++) {
		struct stack_seen *s = &seen->list.items[i];
		const uint64_t *chain = tuples_get(&numbers, chains[s->caller]);

		s->chain = chain[1] == s->function ? (uint32_t)chain[0] : chains[s->caller];
	}
	tuples_release(&numbers);
	free(chains);
}

static bool has_stacks(const struct capture *c)
{
	for (size_t i = 0; i < capture_n_events(c); i++)
		if (kind_of(c, i) != N_STACK_KINDS)
			return true;
	return false;
}

bool stacks_seen_collect(struct stacks_seen *out, struct session *s)
{
	struct analysis stacks = { .class = &stacks_class };
	struct stacks_partial *p;

	*out = (struct stacks_seen){ 0 };
	if (!has_stacks(s->capture))
		return false;
	scan(s, NULL, &stacks, 1);
	p = stacks.result;
	take_stacks(p, &p->pending, &s->frames);
	tuples_release(&s->frames);
	out->list = p->list;
	out->frames = p->frames;
	p->list = (struct stack_list){ 0 };
	p->frames = (struct tuples){ 0 };
	partial_free(p);
	if (out->list.n == 0)
		return false;
	qsort(out->list.items, out->list.n, sizeof(*out->list.items), compare_stacks);
	number_functions(&out->functions, s);
	for (size_t i = 0; i < out->list.n; i++)
		skip_leaf(out, &out->list.items[i]);
	number_chains(out);
	return true;
}

void stacks_seen_release(struct stacks_seen *s)
{
	vec_release(&s->list);
	tuples_release(&s->frames);
	tuples_release(&s->functions.numbers);
	free(s->functions.of_place);
	*s = (struct stacks_seen){ 0 };
}

size_t stacks_seen_from(const struct stacks_seen *s, uint32_t tid, uint64_t time_ns)
{
	const struct stack_seen *list = s->list.items;

	return bisect(0, s->list.n, i,
		      list[i].tid < tid || (list[i].tid == tid && list[i].time_ns < time_ns));
}
