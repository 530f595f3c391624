/* SPDX-License-Identifier: Apache-2.0 */
/* What hot loops wait for, in words. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/short_name.h"
#include "findings/words_inside.h"
#include "table/table.h"

enum { DATA_WIDTH = 60 }; /* columns of its name */

/* "the loop at walk.c:8", "the loop up to walk+0x10", "its code". */
static void put_loop(const struct finding_loop *l, struct text *out)
{
	if (!l->is_loop)
		text_str(out, "its code outside loops");
	else if (l->at.file != NULL)
		text_format(out, "the loop at %s:%" PRIu32, l->at.file, l->at.line);
	else
		text_format(out, "the loop up to %s", l->at.name);
}

const char words_unproven[] =
	"not proven: how long an iteration takes is not known, so it may wait for something else";

static const char *const walk_words[N_FINDING_WALKS] = {
	[WALK_UNKNOWN] = NULL,
	[WALK_CHASE] = "pointer chase",
	[WALK_LOOKUP] = "dependent look-ups: each address is computed from the previous load",
	[WALK_SEQUENTIAL] = "sequential access",
	[WALK_STRIDE] = "strided access",
	[WALK_COLUMNS] = "column-wise access",
	[WALK_INDIRECT] = "random access: the addresses are loaded",
	[WALK_COMPUTED] = "random access: the addresses are computed",
};

/* "column-wise access: stride 2.00 KiB over 8-byte elements" */
static void put_walk(struct table *t, const struct finding_loop *l, struct text *out)
{
	if (walk_words[l->walk] == NULL)
		return;
	text_format(out, "%s%s", out->n > 0 ? "; " : "", walk_words[l->walk]);
	if (l->walk != WALK_STRIDE && l->walk != WALK_COLUMNS && l->walk != WALK_SEQUENTIAL)
		return;
	if (l->stride != 0)
		text_format(
			out, ", stride %s%s", l->stride < 0 ? "-" : "",
			table_human(t,
				    cell_count((uint64_t)(l->stride < 0 ? -l->stride : l->stride)),
				    "bytes"));
	if (l->element_bytes > 0)
		text_format(out, " over %u-byte elements", l->element_bytes);
}

/* What each kind says of the loop: before and after it. */
static const struct {
	const char *before, *after;
} claims[N_FINDING_KINDS] = {
	[FINDING_DEPENDENCY_CHAIN] = { "a chain of dependent operations limits ", "" },
	[FINDING_STORE_FORWARDING] = { "store-to-load forwarding limits ", "" },
	[FINDING_DIVISION] = { "", " waits for the divider" },
	[FINDING_MEMORY_BOUND] = { "", " waits for data; from where is not known" },
	[FINDING_L2_BOUND] = { "", " waits for data from the L2" },
	[FINDING_LLC_BOUND] = { "", " waits for data from the LLC" },
	[FINDING_DRAM_LATENCY] = { "", " waits for data from DRAM" },
	[FINDING_DRAM_BANDWIDTH] = { "", " uses all DRAM bandwidth of one core" },
	[FINDING_SHARED_DATA] = { "", " waits for data from other cores" },
	[FINDING_TLB_WALKS] = { "", " waits for page table walks" },
	[FINDING_MISPREDICTIONS] = { "", " waits for mispredicted branches" },
	[FINDING_STORE_BOUND] = { "", " waits for the cache lines it stores to" },
	[FINDING_LATE_PREFETCH] = { "prefetches come too late in ", "" },
	[FINDING_SCALAR_LOOP] = { "", " handles one element at a time, at the core's full speed" },
};

const char *loop_claim(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	text_format(&text, "%s: %s%s", f->subject, finding_is_unproven(f) ? "it may be that " : "",
		    claims[f->kind].before);
	put_loop(f->loop, &text);
	text_str(&text, claims[f->kind].after);
	return words_take(t, &text);
}

static void put_chain(const struct finding_loop *l, struct text *out)
{
	text_format(out,
		    "the chain takes %.3g cycles per iteration; its %.0f instructions alone need "
		    "%.2g cycles",
		    l->chain_cycles, l->n_insns, l->n_insns / l->width);
}

void put_loop_part(const struct finding_loop *l, const char *words, struct text *out)
{
	char part[GROUPED_BYTES], all[GROUPED_BYTES];

	if (l->n_here == l->n_of)
		text_format(out, "all %s %s", grouped_u64(l->n_of, all), words);
	else
		text_format(out, "%s of %s %s", grouped_u64(l->n_here, part),
			    grouped_u64(l->n_of, all), words);
	if (l->here_high > 0 && l->here_low < 0.995)
		text_format(out, " (%.0f to %.0f %%)", 100 * l->here_low, 100 * l->here_high);
}

/* What shows the cause, where samples of an instruction do; else its code does. */
static const char *const witnesses[N_FINDING_KINDS][2] = {
	[FINDING_MEMORY_BOUND] = { "load", "loads" },
	[FINDING_L2_BOUND] = { "load", "loads" },
	[FINDING_LLC_BOUND] = { "load", "loads" },
	[FINDING_DRAM_LATENCY] = { "load", "loads" },
	[FINDING_DRAM_BANDWIDTH] = { "load", "loads" },
	[FINDING_SHARED_DATA] = { "load", "loads" },
	[FINDING_LATE_PREFETCH] = { "load", "loads" },
	[FINDING_TLB_WALKS] = { "access", "accesses" },
	[FINDING_MISPREDICTIONS] = { "branch", "branches" },
	[FINDING_STORE_BOUND] = { "store", "stores" },
};

void put_loop_confidence(struct table *t, const struct finding *f, struct text *out)
{
	const struct finding_loop *l = f->loop;
	const char *const *of = witnesses[f->kind];
	char n[GROUPED_BYTES];

	if (of[0] != NULL)
		text_format(out, "the cause rests on %s%s sampled %s",
			    l->n_of < WORDS_FEW ? "only " : "", grouped_u64(l->n_of, n),
			    of[l->n_of == 1 ? 0 : 1]);
	else
		text_str(out, "the cause rests on the loop's code");
	if (l->share > 0)
		text_format(out, ", the time on %s%s",
			    table_human(t, cell_count(f->samples.n), "samples"),
			    words_has_error(f) ? " (\xc2\xb1: 95 % interval)" : "");
}

/* Rates by what was sampled are no more exact than the number of samples. */
void put_bandwidth(const struct finding_loop *l, struct text *out)
{
	if (!(l->bytes_per_s > 0)) {
		text_str(out, ", GB/s not known");
		return;
	}
	text_format(out, ", %.3g", l->bytes_per_s / 1e9);
	if (l->bytes_error > 0)
		text_format(out, " \xc2\xb1 %.2g", l->bytes_error / 1e9);
	text_str(out, " GB/s from DRAM");
}

void put_lines_in_flight(const struct finding_loop *l, struct text *out)
{
	text_format(out, "about %.0f of at most %.0f lines outstanding",
		    fmin(l->lines_in_flight, l->most_lines), l->most_lines);
	put_bandwidth(l, out);
}

static void put_data(const struct finding_loop *l, struct text *out)
{
	char cycles[GROUPED_BYTES];

	if (!isnan(l->part))
		text_format(
			out,
			"%s has %.0f %% of the execution and translation latency of its accesses; ",
			l->level, 100 * l->part);
	put_loop_part(l, l->level != NULL ? "samples come from there" : "samples are loads", out);
	if (l->level_cycles > 0)
		text_format(out, ", mean %s cycles after issue",
			    grouped_u64((uint64_t)llround(l->level_cycles), cycles));
	if (l->n_saturated > 0)
		text_format(out, "; of %s the latency is saturated: 4 095 cycles or more",
			    grouped_u64(l->n_saturated, cycles));
	if (l->most_lines > 0) {
		text_str(out, "; ");
		put_lines_in_flight(l, out);
		text_str(out,
			 ", by latencies of the catalog: a prefetch further ahead has to wait");
	}
}

static void put_prefetch(const struct finding_loop *l, struct text *out)
{
	put_loop_part(l, "samples of the load still miss the L1D", out);
	if (l->other.name != NULL) {
		text_str(out, "; prefetch: ");
		put_place(&l->other, out);
	}
	if (l->distance > 0)
		text_format(out, ", %" PRId64 " iteration%s ahead", l->distance,
			    l->distance == 1 ? "" : "s");
	if (l->lacking > 0)
		text_format(out, "; the data arrive %" PRId64 " iteration%s too late", l->lacking,
			    l->lacking == 1 ? "" : "s");
}

void put_loop_evidence(struct table *t, const struct finding *f, struct text *out)
{
	const struct finding_loop *l = f->loop;

	switch (f->kind) {
	case FINDING_DEPENDENCY_CHAIN:
		put_chain(l, out);
		break;
	case FINDING_STORE_FORWARDING:
		text_format(out,
			    "what is stored is loaded again: the chain takes %.3g cycles per "
			    "iteration, in registers %.3g",
			    l->chain_cycles, l->register_chain);
		break;
	case FINDING_DIVISION:
		text_format(out,
			    "divisions take %.3g cycles per iteration, one after the other; a "
			    "division with its inputs ready waits %.3g cycles",
			    l->division_cycles, l->division_wait);
		break;
	case FINDING_TLB_WALKS:
		text_format(out,
			    "translation has %.0f %% of the execution and translation latency of "
			    "its accesses; ",
			    100 * l->part);
		put_loop_part(l, "samples need a walk", out);
		break;
	case FINDING_MISPREDICTIONS:
		put_loop_part(l, "samples of the branch are mispredicted", out);
		if (l->mispredicted > 0)
			text_format(out,
				    "; with all branches %s: %.2g mispredicted per iteration, %.0f "
				    "cycles each",
				    l->is_loop ? "of the loop" : "of this code", l->mispredicted,
				    l->mispredicted_cycles);
		break;
	case FINDING_STORE_BOUND:
		put_loop_part(l, "samples of the store miss the L1D", out);
		break;
	case FINDING_LATE_PREFETCH:
		put_prefetch(l, out);
		break;
	case FINDING_SCALAR_LOOP:
		text_format(out, "%.0f instructions per iteration need at least %.2g cycles",
			    l->n_insns, l->n_insns / l->width);
		break;
	default:
		put_data(l, out);
		break;
	}
	put_walk(t, l, out);
	if (l->data.name != NULL) {
		text_str(out, "; data: ");
		short_name(l->data.name, strlen(l->data.name), DATA_WIDTH, out);
	}
	if (finding_is_unproven(f))
		text_format(out, "; %s", words_unproven);
	if (!isnan(l->iteration_ns) && l->is_loop)
		text_format(out, "; an iteration takes %.3g ns, %.3g cycles at %s%.3g GHz",
			    l->iteration_ns, l->iteration_ns * l->ghz,
			    l->is_clock_assumed ? "an assumed " : "", l->ghz);
}

void put_unexplained(const struct finding *f, struct text *out)
{
	const struct finding_loop *l = f->loop;

	text_format(out, "In %s ", f->subject);
	put_loop(l, out);
	text_format(
		out,
		" takes %.3g cycles per iteration at %s%.3g GHz; its dependency chain, the core's "
		"width and its waits explain %.3g cycles",
		l->iteration_cycles, l->is_clock_assumed ? "an assumed " : "", l->ghz,
		l->explained_cycles);
	if (l->other.name == NULL)
		return;
	text_format(out, ". Suspect: the atomic or ordered access at %s", l->other.name);
	if (l->other.file != NULL)
		text_format(out, " (%s:%" PRIu32 ")", l->other.file, l->other.line);
	text_str(out, ": others wait for it, which no latency shows");
}

void put_code_evidence(struct table *t, const struct finding_code *c, struct text *out)
{
	text_format(
		out,
		"an operation takes %.3g cycles at %s%.3g GHz; waits after dispatch, mispredicted "
		"branches and the core's width explain at most %.2g cycles (estimate); ",
		c->cycles, c->is_clock_assumed ? "an assumed " : "", c->ghz, c->explained);
	text_format(out,
		    "90 %% of the samples are spread over %s of code or more, on %" PRIu64
		    " page%s",
		    table_human(t, cell_count(64 * c->n_lines), "bytes"), c->n_pages,
		    plural(c->n_pages));
}
