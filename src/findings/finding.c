/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/finding.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"

static const struct kind {
	const char *name;
	bool is_general;
	bool may_be_contention; /* a contended line explains it: of a loop, where it is of the line */
	enum finding_side side;
} kinds[N_FINDING_KINDS] = {
	[FINDING_MEMORY_BOUND] = { "memory-bound", false, false, FINDING_SIDE_BACK_END },
	[FINDING_SHARED_DATA] = { "shared-data", false, true, FINDING_SIDE_BACK_END },
	[FINDING_TLB_WALKS] = { "tlb-walks", false, false, FINDING_SIDE_BACK_END },
	[FINDING_MISPREDICTIONS] = { "mispredictions", false, false, FINDING_SIDE_FRONT_END },
	[FINDING_DEPENDENCY_CHAIN] = { "dependency-chain", false, true, FINDING_SIDE_BACK_END },
	[FINDING_STORE_FORWARDING] = { "store-forwarding", false, true, FINDING_SIDE_BACK_END },
	[FINDING_DIVISION] = { "division", false, false, FINDING_SIDE_BACK_END },
	[FINDING_L2_BOUND] = { "l2-bound", false, true, FINDING_SIDE_BACK_END },
	[FINDING_LLC_BOUND] = { "llc-bound", false, true, FINDING_SIDE_BACK_END },
	[FINDING_DRAM_LATENCY] = { "dram-latency", false, false, FINDING_SIDE_BACK_END },
	[FINDING_DRAM_BANDWIDTH] = { "dram-bandwidth", false, false, FINDING_SIDE_BACK_END },
	[FINDING_STORE_BOUND] = { "store-bound", false, true, FINDING_SIDE_BACK_END },
	[FINDING_LATE_PREFETCH] = { "late-prefetch", false, false, FINDING_SIDE_BACK_END },
	[FINDING_SCALAR_LOOP] = { "scalar-loop", false, false, FINDING_SIDE_BUSY },
	[FINDING_FRONT_END] = { "front-end", false, false, FINDING_SIDE_FRONT_END },
	[FINDING_SLOW_OPERATIONS] = { "slow-operations", true, true, FINDING_SIDE_NONE },
	[FINDING_PAGE_FAULTS] = { "page-faults", false, false, FINDING_SIDE_NONE },
	[FINDING_UNNAMED_CODE] = { "unnamed-code", true, false, FINDING_SIDE_NONE },
	[FINDING_HOT_FUNCTION] = { "hot-function", true, false, FINDING_SIDE_NONE },
	[FINDING_FALSE_SHARING] = { "false-sharing", false, false, FINDING_SIDE_BACK_END },
	[FINDING_TRUE_SHARING] = { "true-sharing", false, false, FINDING_SIDE_BACK_END },
	[FINDING_CONTENDED] = { "unknown", false, false, FINDING_SIDE_BACK_END },
	[FINDING_WAITING] = { "waiting", false, false, FINDING_SIDE_NONE },
	[FINDING_METRIC] = { "metric", false, false, FINDING_SIDE_NONE },
	[FINDING_SCALAR] = { "scalar-work", false, false, FINDING_SIDE_BUSY },
};

const char *finding_kind_name(enum finding_kind kind)
{
	return kinds[kind].name;
}

static const char *const remedy_ids[N_REMEDIES] = {
	[REMEDY_NONE] = "none",
	[REMEDY_TOUCH_LESS] = "touch-less",
	[REMEDY_OWN_LINES] = "own-lines",
	[REMEDY_DENSER_PAGES] = "denser-pages",
	[REMEDY_PREDICTABLE] = "predictable",
	[REMEDY_POINTER_CHASE] = "pointer-chase",
	[REMEDY_SMALLER_TABLE] = "smaller-table",
	[REMEDY_BREAK_CHAIN] = "break-chain",
	[REMEDY_INTERLEAVE] = "interleave",
	[REMEDY_SKIP_AHEAD] = "skip-ahead",
	[REMEDY_IN_REGISTER] = "in-register",
	[REMEDY_DIVISION] = "division",
	[REMEDY_INTERCHANGE] = "interchange",
	[REMEDY_SHORTER_STRIDE] = "shorter-stride",
	[REMEDY_PREFETCH_AHEAD] = "prefetch-ahead",
	[REMEDY_PREFETCH_DISTANCE] = "prefetch-distance",
	[REMEDY_FEWER_BYTES] = "fewer-bytes",
	[REMEDY_BLOCK] = "block",
	[REMEDY_STORE_IN_ORDER] = "store-in-order",
	[REMEDY_REUSE_MEMORY] = "reuse-memory",
	[REMEDY_COPY_LESS] = "copy-less",
	[REMEDY_MAP_AHEAD] = "map-ahead",
	[REMEDY_LESS_MEMORY] = "less-memory",
	[REMEDY_CALL_LESS] = "call-less",
	[REMEDY_CALL_CHAINS] = "call-chains",
	[REMEDY_SYMBOLS] = "symbols",
	[REMEDY_SEPARATE_THREADS] = "separate-threads",
	[REMEDY_LOCK_LESS] = "lock-less",
	[REMEDY_WRITE_LESS] = "write-less",
	[REMEDY_LAYOUT] = "layout",
	[REMEDY_ONE_NODE] = "one-node",
	[REMEDY_BRANCH_FREE_SIZES] = "branch-free-sizes",
	[REMEDY_BRANCH_FREE] = "branch-free",
	[REMEDY_CODE_PAGES] = "code-pages",
	[REMEDY_CODE_ORDER] = "code-order",
	[REMEDY_HUGE_PAGES] = "huge-pages",
	[REMEDY_CACHE_L1] = "cache-l1",
	[REMEDY_CACHE] = "cache",
	[REMEDY_CACHE_CHAIN] = "cache-chain",
	[REMEDY_CACHE_SCATTERED] = "cache-scattered",
	[REMEDY_LESS_SHARING] = "less-sharing",
	[REMEDY_SPECULATION] = "speculation",
	[REMEDY_FRONT_END] = "front-end",
	[REMEDY_VECTORISE] = "vectorise",
	[REMEDY_LESS_WORK] = "less-work",
	[REMEDY_CORE] = "core",
	[REMEDY_NODES] = "nodes",
	[REMEDY_IDLE_MACHINE] = "idle-machine",
	[REMEDY_LONGER_RUN] = "longer-run",
	[REMEDY_IDLE_OR_WAITS] = "idle-or-waits",
	[REMEDY_WAITS] = "waits",
};

const char *finding_remedy_id(enum remedy_kind kind)
{
	return remedy_ids[kind];
}

bool finding_is_general(enum finding_kind kind)
{
	return kinds[kind].is_general;
}

bool finding_is_unproven(const struct finding *f)
{
	bool is_of_code = f->kind == FINDING_DEPENDENCY_CHAIN ||
			  f->kind == FINDING_STORE_FORWARDING || f->kind == FINDING_DIVISION;

	return is_of_code && f->loop != NULL && isnan(f->loop->iteration_ns);
}

bool finding_is_sparse(const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;

	return s != NULL && s->has_latency && s->contended.n + s->reloads.n < FINDING_FEW_WAITS;
}

enum rank { RANK_SEEN, RANK_UNPROVEN, RANK_SPARSE, RANK_GENERAL };

static enum rank rank_of(const struct finding *f)
{
	if (kinds[f->kind].is_general)
		return RANK_GENERAL;
	if (finding_is_sparse(f))
		return RANK_SPARSE;
	return finding_is_unproven(f) ? RANK_UNPROVEN : RANK_SEEN;
}

enum finding_side finding_side(enum finding_kind kind)
{
	return kinds[kind].side;
}

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->owned.n; i++) {
		vec_release(&f->owned.items[i]->evidence);
		vec_release(&f->owned.items[i]->remedies);
	}
	vec_release(&f->owned);
	vec_release(&f->list);
	vec_release(&f->silences);
	arena_release(&f->memory);
	*f = (struct findings){ 0 };
}

struct finding *findings_make(struct findings *f, enum finding_kind kind)
{
	struct finding *new = arena_alloc(&f->memory, sizeof(*new));

	*new = (struct finding){ .kind = kind, .size = { .share = NAN, .error = NAN } };
	*vec_add(&f->owned) = new;
	return new;
}

struct finding *findings_add(struct findings *f, enum finding_kind kind)
{
	struct finding *new = findings_make(f, kind);

	*vec_add(&f->list) = new;
	return new;
}

const char *findings_text(struct findings *f, const char *text)
{
	return text == NULL ? NULL : arena_strndup(&f->memory, text, strlen(text));
}

struct finding_place findings_place(struct findings *f, const struct names *names, uint32_t place)
{
	struct finding_place out = { 0 };
	struct text text = { 0 };
	const char *file;

	names_place(names, place, &text);
	out.name = arena_strndup(&f->memory, text.bytes, text.n);
	if (names_line(names, place, &file, &out.line))
		out.file = findings_text(f, path_base(file));
	out.inlined = findings_text(f, names_inlined_function(names, place));
	text_release(&text);
	return out;
}

struct evidence *finding_add_evidence(struct finding *f, enum evidence_kind kind)
{
	struct evidence *e = vec_add(&f->evidence);

	*e = (struct evidence){ .kind = kind, .value = NAN };
	return e;
}

static bool is_of_caches(enum remedy_kind kind)
{
	return kind == REMEDY_CACHE_L1 || kind == REMEDY_CACHE || kind == REMEDY_CACHE_CHAIN ||
	       kind == REMEDY_CACHE_SCATTERED;
}

/* What is part of another remedy, or nearly the same. */
static bool contains(enum remedy_kind large, enum remedy_kind small)
{
	return large == small || (large == REMEDY_DENSER_PAGES && small == REMEDY_HUGE_PAGES) ||
	       (is_of_caches(large) && is_of_caches(small));
}

void finding_add_remedy(struct finding *f, struct remedy remedy)
{
	if (remedy.kind == REMEDY_NONE)
		return;
	for (size_t i = 0; i < f->remedies.n; i++)
		if (contains(f->remedies.items[i].kind, remedy.kind))
			return;
	*vec_add(&f->remedies) = remedy;
}

static bool are_equal(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool finding_is_in(const struct finding *f, const char *function, const char *module)
{
	return are_equal(f->module, module) &&
	       (are_equal(f->function, function) || are_equal(f->writer, function));
}

static bool are_of_one_loop(const struct finding *a, const struct finding *b)
{
	return a->loop != NULL && b->loop != NULL && a->loop->is_loop && b->loop->is_loop &&
	       are_equal(a->loop->at.name, b->loop->at.name) && are_equal(a->module, b->module);
}

size_t findings_same_fix(const struct findings *f, size_t i)
{
	const struct finding *each = f->list.items[i];

	for (size_t k = 0; k < i && each->remedies.n > 0; k++) {
		const struct finding *before = f->list.items[k];

		if (before->remedies.n > 0 && are_of_one_loop(before, each) &&
		    before->remedies.items[0].kind == each->remedies.items[0].kind)
			return k + 1;
	}
	return 0;
}

static bool has_access_at(const struct finding_access *list, const struct finding_place *place)
{
	for (size_t i = 0; i < FINDING_ACCESSES; i++)
		if (are_equal(list[i].place.name, place->name) && list[i].place.line == place->line)
			return true;
	return false;
}

/*
 * Does it say of the line's accesses that they wait? A loop's finding does if its instruction is one
 * of these: other loops of the function, and other chains of the loop, do not wait for the line.
 */
static bool is_of_line(const struct finding *f, const struct finding *line)
{
	if (!kinds[f->kind].may_be_contention)
		return false;
	if (f->loop == NULL)
		return finding_is_in(line, f->function, f->module);
	return line->sharing != NULL && are_equal(line->module, f->module) &&
	       (has_access_at(line->sharing->writes, &f->where) ||
		has_access_at(line->sharing->reads, &f->where));
}

void findings_absorb(struct findings *f, struct finding *line)
{
	size_t n = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		struct finding *other = f->list.items[i];

		if (!is_of_line(other, line))
			f->list.items[n++] = other;
		else
			finding_add_evidence(line, EVIDENCE_FINDING)->finding = other;
	}
	f->list.n = n;
}

static int compare_shares(const struct finding *a, const struct finding *b)
{
	if (rank_of(a) != rank_of(b))
		return (int)rank_of(a) - (int)rank_of(b);
	if (isnan(a->size.share) || isnan(b->size.share))
		return isnan(a->size.share) - isnan(b->size.share);
	return (a->size.share < b->size.share) - (a->size.share > b->size.share);
}

void findings_sort(struct findings *f)
{
	for (size_t i = 1; i < f->list.n; i++) {
		struct finding *moved = f->list.items[i];
		size_t at = i;

		for (; at > 0 && compare_shares(f->list.items[at - 1], moved) > 0; at--)
			f->list.items[at] = f->list.items[at - 1];
		f->list.items[at] = moved;
	}
}
