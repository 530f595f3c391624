/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/loops/microbenchmark.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "kernel/loops/inside.h"

const struct parameter_text microbenchmark_parameters[N_PARAMETERS] = {
	[ITERATIONS] = { "iterations", "how often the loop runs" },
	[LINES] = { "lines", "cache lines of the data or code; of each array" },
	[STRIDE] = { "stride", "bytes from one line to the next" },
	[BLOCK] = { "block", "lines in random order before the next block; 0: all of them" },
	[HUGE_PAGES] = { "huge", "1: data in huge pages" },
	[BRANCHES] = { "branches", "branches, calls or jumps in the code" },
	[SPACING] = { "spacing", "bytes from one branch to the next" },
	[TARGETS] = { "targets", "different targets of indirect branches" },
	[DEPTH] = { "depth", "functions that call one another" },
	[TAKEN] = { "taken", "1: branches are taken, 0: they are not" },
	[RANDOM] = { "random", "1: in random order, 0: always the same" },
	[OVERLAP] = { "overlap", "1: the load reads the stored byte, 0: others" },
	[DENORMAL] = { "denormal", "1: results are denormal numbers" },
	[MODIFIED] = { "modified", "1: the other thread writes the lines, 0: it reads them" },
	[PADDING] = { "padding", "bytes from one thread's word to the other's" },
	[BUSY] = { "busy", "percentage of the time that is not slept" },
};

static const struct microbenchmark *const all[] = {
	&microbenchmark_chase,	       &microbenchmark_gather,	 &microbenchmark_prefetch,
	&microbenchmark_triad,	       &microbenchmark_copy,	 &microbenchmark_fill,
	&microbenchmark_snoop,	       &microbenchmark_sharing,	 &microbenchmark_forward,
	&microbenchmark_splits,	       &microbenchmark_code,	 &microbenchmark_branches,
	&microbenchmark_random_branch, &microbenchmark_jumps,	 &microbenchmark_indirect,
	&microbenchmark_calls,	       &microbenchmark_blocks,	 &microbenchmark_integers,
	&microbenchmark_floats,	       &microbenchmark_divide,	 &microbenchmark_float_divide,
	&microbenchmark_square_root,   &microbenchmark_denormal, &microbenchmark_barriers,
	&microbenchmark_exclusives,    &microbenchmark_faults,	 &microbenchmark_duty,
};

const struct microbenchmark *microbenchmark_at(size_t i)
{
	return i < COUNT(all) ? all[i] : NULL;
}

const struct microbenchmark *microbenchmark_find(const char *name)
{
	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

const char *microbenchmark_architecture_name(unsigned one)
{
	return one == ON_AARCH64 ? "aarch64" : one == ON_X86_64 ? "x86_64" : "arm";
}

bool microbenchmark_is_here(const struct microbenchmark *m)
{
	return (m->architectures & MICROBENCHMARK_ARCHITECTURE) != 0;
}

bool microbenchmark_takes(const struct microbenchmark *m, enum parameter p)
{
	return m->parameters[p].most > 0;
}

void microbenchmark_set_usual(const struct microbenchmark *m, uint64_t values[N_PARAMETERS])
{
	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		values[p] = m->parameters[p].usual;
}

/* The names of the parameters that a microbenchmark takes, for did_you_mean() and list_words(). */
static const char *taken_name(const void *context, size_t i)
{
	const struct microbenchmark *m = context;

	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		if (microbenchmark_takes(m, p) && i-- == 0)
			return microbenchmark_parameters[p].name;
	return NULL;
}

int microbenchmark_set(const struct microbenchmark *m, const char *name, uint64_t value,
		       uint64_t values[N_PARAMETERS], struct err *err)
{
	char words[256];

	for (enum parameter p = 0; p < N_PARAMETERS; p++) {
		const struct parameter_range *range = &m->parameters[p];

		if (!microbenchmark_takes(m, p) ||
		    strcmp(microbenchmark_parameters[p].name, name) != 0)
			continue;
		if (value < range->least || value > range->most)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "kernel %s: %s is from %" PRIu64 " to %" PRIu64
				       ", not %" PRIu64,
				       m->name, name, range->least, range->most, value);
		if (range->step > 1 && value % range->step != 0)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "kernel %s: %s is a multiple of %" PRIu64 ", not %" PRIu64,
				       m->name, name, range->step, value);
		values[p] = value;
		return 0;
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "kernel %s has no '%s'; it has %s", m->name,
		       name, list_words(taken_name, m, words, sizeof(words)));
}

static const char *const levels[] = { "l1", "l2", "llc", "dram", "tlb2", "walk" };

const char *microbenchmark_level_name(size_t i)
{
	return i < COUNT(levels) ? levels[i] : NULL;
}

static const char *level_at(const void *context, size_t i)
{
	(void)context;
	return microbenchmark_level_name(i);
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * The size of the data at a level: well inside of it, and larger than the level before by so much
 * that it keeps none of it. 0: not known.
 */
static uint64_t level_bytes(size_t level, const struct cache_sizes *s)
{
	uint64_t last = at_least(s->llc_bytes, s->l2_bytes);

	if (s->l1d_bytes == 0 || last == 0)
		return 0;
	switch (level) {
	case 0:
		return s->l1d_bytes / 2;
	case 1:
		return at_least(s->l2_bytes / 4, 2 * s->l1d_bytes);
	case 2:
		return s->llc_bytes == 0 ? 0 : at_least(s->llc_bytes / 2, 2 * s->l2_bytes);
	default:
		return 2 * last;
	}
}

int microbenchmark_set_level(const struct microbenchmark *m, const char *level,
			     const struct cache_sizes *sizes, uint64_t values[N_PARAMETERS],
			     struct err *err)
{
	bool has_stride = microbenchmark_takes(m, STRIDE);
	uint64_t lines = 0;
	size_t i = 0;

	while (i < COUNT(levels) && strcmp(levels[i], level) != 0)
		i++;
	if (i == COUNT(levels)) {
		char words[64];

		return err_set(err, ERR_USAGE, ERR_NOWHERE, "there is no level '%s'; there are %s",
			       level, list_words(level_at, NULL, words, sizeof(words)));
	}
	if (m->n_arrays == 0 || (i > 3 && !has_stride))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "kernel %s has no level%s%s", m->name,
			       m->n_arrays == 0 ? "" : " ", m->n_arrays == 0 ? "" : level);
	if (i > 3) {
		/* each line on a page of its own, and in other sets than its neighbours */
		values[STRIDE] = PAGE_BYTES + LINE_BYTES;
		lines = i == 4 ? (sizes->dtlb_pages + sizes->l2tlb_pages) / 2 / 2
			       : 2 * sizes->l2tlb_pages;
		if (sizes->dtlb_pages == 0 || sizes->l2tlb_pages == 0)
			lines = 0;
	} else {
		lines = level_bytes(i, sizes) / LINE_BYTES / m->n_arrays;
	}
	if (lines == 0)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "the sizes of this machine's %s are not known; %s",
			       i > 3 ? "TLBs" : "caches",
			       i > 3 ? "--l1-tlb N and --l2-tlb N say them, in pages"
				     : "--lines says how much data the kernel uses");
	return microbenchmark_set(m, microbenchmark_parameters[LINES].name, lines, values, err);
}

/* Runs once through everything, or a little of what has no end. */
static void warm_up(struct microbenchmark_run *r)
{
	enum { SOME = 1000, PART = 10 };
	uint64_t wanted = r->values[ITERATIONS],
		 n = wanted / PART < SOME ? wanted / PART + 1 : SOME;
	uint64_t round = r->what->round != NULL ? r->what->round(r->values) : 1;

	r->values[ITERATIONS] = at_least(round, n);
	r->what->run(r);
	r->values[ITERATIONS] = wanted;
}

int microbenchmark_prepare(const struct microbenchmark *m, const uint64_t values[N_PARAMETERS],
			   int peer_cpu, struct microbenchmark_run *out, struct err *err)
{
	*out = (struct microbenchmark_run){ .what = m, .peer_cpu = peer_cpu };
	memcpy(out->values, values, sizeof(out->values));
	if (!microbenchmark_is_here(m))
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "kernel %s does not exist for this CPU's instruction set", m->name);
	if (m->prepare != NULL && m->prepare(out, err) < 0)
		return -1;
	warm_up(out);
	return 0;
}

void microbenchmark_release(struct microbenchmark_run *r)
{
	if (r->what != NULL && r->what->finish != NULL)
		r->what->finish(r);
	if (r->memory != NULL)
		munmap(r->memory, r->memory_bytes);
	*r = (struct microbenchmark_run){ 0 };
}
