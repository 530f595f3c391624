/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/prefetch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "feedback/module_choice.h"
#include "feedback/sample_profile.h"
#include "scan/scan.h"
#include "session/names.h"
#include "symbol/symbols_state.h"

enum {
	LINE_BYTES = 64,   /* of all x86 CPUs */
	LEAST_MISSES = 4,  /* one sample in so many misses */
	LEAST_SWEEPS = 2,  /* what is ahead is at most one in so many of the bytes walked over */
	LEAST_SAMPLES = 16 /* as addr_pattern_walk() */
};

/* How they are left out, with a number before. */
static const char *const left_out[N_PREFETCH_VERDICTS] = {
	[PREFETCH_FEW] = "with too few samples",
	[PREFETCH_HITS] = "that mostly hit the L1 cache",
	[PREFETCH_NO_STRIDE] = "without a constant stride",
	[PREFETCH_NO_LATENCY] = "without latencies or times",
	[PREFETCH_SHORT] = "whose walk is too short",
};

/* The hint for the first operand; LLVM counts several for one load. */
static const char hint_name[] = "__prefetch_t0_0";

enum prefetch_verdict prefetch_judge(const struct load_sum *l, double hz, int64_t *out_bytes)
{
	bool is_up = l->walk.n_up >= l->walk.n_down;
	double bytes = (double)(is_up ? l->up_bytes : l->down_bytes);
	double ns = (double)(is_up ? l->up_ns : l->down_ns);
	double stride = (double)l->walk.divisor, iteration_ns, latency_ns, ahead;
	enum addr_walk walk = addr_pattern_walk(&l->walk, false);

	if (l->walk.n < LEAST_SAMPLES)
		return PREFETCH_FEW;
	if (l->n_missed * LEAST_MISSES < l->walk.n)
		return PREFETCH_HITS;
	if (walk == ADDR_WALK_UNKNOWN)
		return PREFETCH_FEW;
	if (walk != ADDR_WALK_STRIDE)
		return PREFETCH_NO_STRIDE;
	if (l->n_timed == 0 || ns <= 0 || bytes <= 0)
		return PREFETCH_NO_LATENCY;
	iteration_ns = ns / (bytes / stride);
	latency_ns = (double)l->cycles / (double)l->n_timed / hz * 1e9;
	ahead = fmax(ceil(latency_ns / iteration_ns), ceil(LINE_BYTES / stride)) * stride;
	if (ahead * LEAST_SWEEPS > (double)(l->walk.most - l->walk.any))
		return PREFETCH_SHORT;
	*out_bytes = is_up ? (int64_t)ahead : -(int64_t)ahead;
	return PREFETCH_PROPOSED;
}

/* A load of the module; all its threads together. */
struct judged_load {
	uint64_t offset, address;
	struct load_sum sum;
	enum prefetch_verdict verdict;
	int64_t bytes;
};

struct prefetches {
	struct session *session;
	struct sampled_loads *loads;
	struct module_id module;
	uint64_t n_elsewhere;		 /* samples of loads of other modules */
	VEC_OF(struct judged_load) list; /* by offset */
	size_t n[N_PREFETCH_VERDICTS];
	size_t n_without_lines, n_shared_lines;
};

static int compare_loads(const void *left, const void *right)
{
	const struct judged_load *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int choose(struct prefetches *p, const char *module, struct err *err)
{
	size_t n_modules = timeline_modules(p->session->timeline)->list.n;
	uint64_t *counts = mem_zalloc(n_modules + 1, sizeof(*counts));
	int rc;

	for (uint32_t i = 0; i < p->loads->keys.n; i++) {
		uint64_t place = tuples_get(&p->loads->keys, i)[SAMPLED_LOAD_PLACE];

		counts[session_place(p->session, (uint32_t)place).module.v] +=
			p->loads->sums.items[i].walk.n;
	}
	rc = feedback_choose_module(p->session, counts, "loads", module, &p->module, err);
	for (size_t i = 0; i < n_modules && rc == 0; i++)
		p->n_elsewhere += i != p->module.v ? counts[i] : 0;
	free(counts);
	return rc;
}

/* The module's loads, by offset. Threads are merged in the order of their keys. */
static void collect_loads(struct prefetches *p)
{
	struct tuples offsets;

	tuples_init(&offsets, 1);
	for (uint32_t i = 0; i < p->loads->keys.n; i++) {
		const uint64_t *key = tuples_get(&p->loads->keys, i);
		struct place place = session_place(p->session, (uint32_t)key[SAMPLED_LOAD_PLACE]);
		uint32_t number;

		if (place.module.v != p->module.v)
			continue;
		number = tuples_add(&offsets, &place.offset);
		if (number == p->list.n)
			*vec_add(&p->list) = (struct judged_load){ .offset = place.offset };
		load_sum_merge_other(&p->list.items[number].sum, &p->loads->sums.items[i]);
	}
	tuples_release(&offsets);
	if (p->list.n > 1)
		qsort(p->list.items, p->list.n, sizeof(*p->list.items), compare_loads);
}

/* Judges them, and keeps those with a proposal and an address in the module's file. */
static void judge_loads(struct prefetches *p, double hz)
{
	const struct binary *binary = feedback_binary(p->session, p->module);
	size_t n = 0;

	for (size_t i = 0; i < p->list.n; i++) {
		struct judged_load *l = &p->list.items[i];

		l->verdict = prefetch_judge(&l->sum, hz, &l->bytes);
		p->n[l->verdict]++;
		if (l->verdict != PREFETCH_PROPOSED)
			continue;
		if (!binary_address(binary, l->offset, &l->address))
			p->n_without_lines++;
		else
			p->list.items[n++] = *l;
	}
	p->list.n = n;
}

/* Adds the hints to the profile. Of loads at one location, which LLVM does not tell apart, that with most samples. */
static void add_hints(struct prefetches *p, struct sample_profile *out)
{
	const struct binary *binary = feedback_binary(p->session, p->module);
	uint64_t *addresses = mem_alloc(p->list.n + 1, sizeof(*addresses));
	const struct lines_question question = {
		.path = binary->lines_path,
		.alt_path = binary->alt_path,
		.root = binary->root,
		.style = DEMANGLE_NOT,
		.addresses = addresses,
		.n = p->list.n,
		.n_parts = 1,
		.with_details = true,
	};
	struct lines_answer answer = { 0 };
	struct tuples seen;
	VEC_OF(size_t) best = { 0 };

	tuples_init(&seen, 2);
	for (size_t i = 0; i < p->list.n; i++)
		addresses[i] = p->list.items[i].address;
	if (binary->lines_path != NULL)
		lines_ask(&question, &answer);
	for (size_t i = 0; i < p->list.n; i++) {
		struct line_chain chain = { 0 };
		uint32_t node = SAMPLE_PROFILE_NONE, copies, number;
		uint64_t key[2];

		if (binary->lines_path != NULL) {
			chain = answer.chains[i];
			node = sample_profile_node(out, &answer, chain);
		}
		if (node == SAMPLE_PROFILE_NONE) {
			p->n_without_lines++;
			continue;
		}
		key[0] = node;
		key[1] = sample_profile_location(&answer.frames.items[chain.first],
						 &answer.details.items[chain.first], &copies);
		number = tuples_add(&seen, key);
		if (number == best.n)
			*vec_add(&best) = i;
		else
			p->n_shared_lines++;
		if (p->list.items[i].sum.walk.n > p->list.items[best.items[number]].sum.walk.n)
			best.items[number] = i;
	}
	for (uint32_t i = 0; i < seen.n; i++) {
		const struct judged_load *l = &p->list.items[best.items[i]];
		const uint64_t *key = tuples_get(&seen, i);

		sample_profile_add_line(out, (uint32_t)key[0], key[1], (double)l->sum.walk.n);
		sample_profile_add_call(out, (uint32_t)key[0], key[1], hint_name, (double)l->bytes);
	}
	tuples_release(&seen);
	vec_release(&best);
	lines_answer_release(&answer);
	free(addresses);
}

static void note_loads(const struct prefetches *p, const struct core_clock *clock,
		       const struct feedback_written *written, struct text *note)
{
	size_t n_hints = p->n[PREFETCH_PROPOSED] - p->n_without_lines - p->n_shared_lines;
	size_t n_all = 0;
	bool is_first = true;

	for (size_t i = 0; i < N_PREFETCH_VERDICTS; i++)
		n_all += p->n[i];
	text_format(note, "prefetch of %s: %zu prefetch%s in %zu function%s, of %zu loads\n",
		    names_module(p->session, p->module), n_hints, n_hints == 1 ? "" : "es",
		    written->n_functions, plural(written->n_functions), n_all);
	text_format(note, "made of %" PRIu64 " samples of loads, latencies ", p->loads->n);
	core_clock_text(clock, note);
	text_char(note, '\n');
	feedback_note_left_out(p->session, "samples of loads", p->n_elsewhere, p->loads->n, note);
	for (size_t i = 0; i < N_PREFETCH_VERDICTS; i++) {
		if (left_out[i] == NULL || p->n[i] == 0)
			continue;
		text_format(note, "%s%zu %s", is_first ? "no prefetch for loads: " : ", ", p->n[i],
			    left_out[i]);
		is_first = false;
	}
	text_str(note, is_first ? "" : "\n");
	if (p->n_without_lines > 0)
		text_format(note,
			    "%zu load%s without debug information left out (compile with -g)\n",
			    p->n_without_lines, plural(p->n_without_lines));
	if (p->n_shared_lines > 0)
		text_format(note,
			    "%zu load%s at the location of another one left out "
			    "(compile with -mllvm -x86-discriminate-memops)\n",
			    p->n_shared_lines, plural(p->n_shared_lines));
}

static int write_hints(struct prefetches *p, const struct core_clock *clock, feedback_sink *sink,
		       void *context, struct text *note, struct err *err)
{
	struct feedback_written written = { 0 };
	struct sample_profile profile;
	int rc;

	sample_profile_init(&profile);
	add_hints(p, &profile);
	rc = sample_profile_write(&profile, sink, context, &written);
	sample_profile_release(&profile);
	note_loads(p, clock, &written, note);
	if (rc == 0 && written.n_lines == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE, "nothing to prefetch: %.*s",
			     (int)note->n, note->bytes);
	return rc;
}

/* LLVM inserts them for x86 alone. */
static int need_x86(const struct session *s, struct err *err)
{
	const char *arch = s->symbols_options.arch;

	if (arch == NULL || strcmp(arch, "x86_64") == 0)
		return 0;
	return err_set(
		err, ERR_NO_DATA, ERR_NOWHERE,
		"LLVM reads prefetch hints for x86 alone, and this capture is of %s: 'cyclops "
		"addr' says how its loads walk",
		arch);
}

int prefetch_write(struct session *s, const struct select *select, const char *module,
		   const struct core_clock *given, feedback_sink *sink, void *context,
		   struct text *note, struct err *err)
{
	const struct scan_wish wish = { .keeps_places = true };
	struct analysis parts[] = { { .class = &sampled_loads_class },
				    { .class = &clock_pairs_class } };
	struct prefetches p = { .session = s };
	struct core_clock clock = *given;
	int rc = need_x86(s, err);

	if (rc < 0)
		return -1;
	scan_part(s, select, &wish, parts, COUNT(parts));
	p.loads = parts[0].result;
	if (clock.basis == CLOCK_UNKNOWN)
		clock = core_clock_derived(parts[1].result);
	if (p.loads->n == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "no loads with data addresses were sampled: 'perf mem record' samples "
			     "them on x86");
	else if (clock.basis == CLOCK_UNKNOWN)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "latencies are in cycles, and the clock is not known: give --ghz, or "
			     "sample "
			     "cycles, too");
	if (rc == 0)
		rc = choose(&p, module, err);
	if (rc == 0) {
		collect_loads(&p);
		judge_loads(&p, clock.hz);
		rc = write_hints(&p, &clock, sink, context, note, err);
	}
	vec_release(&p.list);
	sampled_loads_class.free(parts[0].result);
	clock_pairs_class.free(parts[1].result);
	return rc;
}
