/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/words_inside.h"
#include "metrics/metric_words.h"
#include "session/tip.h"

enum column_index {
	CLAIM,
	SIZE,
	EVIDENCE,
	WHERE,
	TRY,
	GAIN,
	NEXT,
	SURE,
	KIND,
	REMEDY_ID,
	SAME_FIX,
	CAUSE,
	SHARE,
	FROM,
	SHARE_ERROR,
	WHOLE,
	PART,
	ALL,
	UNIT,
	WHAT_IF,
	PREDICTED,
	SUBJECT,
	FUNCTION,
	INLINED,
	MODULE,
	PLACE,
	SOURCE_FILE,
	SOURCE_LINE,
	CALLER,
	CALLER_FILE,
	CALLER_LINE,
	WRITER,
	WRITER_FILE,
	WRITER_LINE,
	EVENT,
	AFFECTED,
	MEAN,
	MEAN_OF_ALL,
	SAMPLES,
	ALL_SAMPLES,
	SAMPLES_OF,
	SAMPLES_ERROR,
	COVERAGE,
	LEAST_COVERAGE,
	SPREAD,
	N_COLUMNS,
};

#define PROSE(name, title, flags, meaning)                                                         \
	{                                                                                          \
		name, title, "", CELL_TEXT, COLUMN_GROW | (flags), meaning                         \
	}
#define FACT(name, type, meaning)                                                                  \
	{                                                                                          \
		name, NULL, "", type, COLUMN_MACHINE_ONLY, meaning                                 \
	}

static const struct column columns[N_COLUMNS] = {
	[CLAIM] = PROSE("claim", NULL, COLUMN_MESSAGE, "what stands out"),
	[SIZE] = { "size", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY,
		   "how much of the whole it concerns" },
	[EVIDENCE] = PROSE("evidence", "", COLUMN_TEXT_ONLY, "the evidence"),
	[WHERE] = PROSE("where", NULL, COLUMN_TEXT_ONLY, "the instruction or line with most of it"),
	[TRY] = PROSE("try", "fix", COLUMN_MESSAGE, "what may reduce it"),
	[GAIN] = PROSE("gain", NULL, COLUMN_TEXT_ONLY, "what that may gain"),
	[NEXT] = { "next", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_COMMAND | COLUMN_MESSAGE,
		   "command that shows more" },
	[SURE] = PROSE("sure", "confidence", COLUMN_TEXT_ONLY, "what the conclusion rests on"),
	[KIND] = FACT("kind", CELL_TEXT, "kind of finding, or the metric beyond its threshold"),
	[REMEDY_ID] = FACT("remedy_id", CELL_TEXT, "id of the first remedy"),
	[SAME_FIX] = FACT("same_fix_as", CELL_COUNT,
			  "number of a finding before this one that the same change is the fix of"),
	[CAUSE] = FACT("cause", CELL_TEXT,
		       "of counts: the costliest penalty, by its name in the catalog; core or "
		       "fetch: no counted event explains the stalls"),
	[SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY | COLUMN_TRUST,
		    "the size, as a share of the whole; of at-most the limit" },
	[FROM] = FACT("from", CELL_TEXT, "what it was concluded from: samples or counts"),
	[SHARE_ERROR] = FACT("share_error", CELL_NUMBER, "half of its 95 % interval"),
	[WHOLE] = FACT("share_of", CELL_TEXT, "the whole"),
	[PART] = FACT("part", CELL_NUMBER, "the size, as an amount in `unit`"),
	[ALL] = FACT("all", CELL_NUMBER, "the whole, as an amount in `unit`"),
	[UNIT] = FACT("unit", CELL_TEXT, "of part and all"),
	[WHAT_IF] = FACT("what_if", CELL_TEXT,
			 "what model --what-if calls the program without the cause"),
	[PREDICTED] = FACT("predicted_gain", CELL_NUMBER,
			   "part of the cycles that this saves on the machine model"),
	[SUBJECT] = FACT("subject", CELL_TEXT, "what it is about: a function, an object"),
	[FUNCTION] = FACT("function", CELL_TEXT, "function of that instruction"),
	[INLINED] = FACT("inlined", CELL_TEXT, "function that its code is of, inlined into that"),
	[MODULE] = FACT("module", CELL_TEXT, "module of the function"),
	[PLACE] = FACT("place", CELL_TEXT, "the instruction with most of it: function and offset"),
	[SOURCE_FILE] = FACT("file", CELL_TEXT, "source file of that place"),
	[SOURCE_LINE] = FACT("line", CELL_COUNT, "line in that file"),
	[CALLER] = FACT("caller", CELL_TEXT, "of a library: where the program calls it"),
	[CALLER_FILE] = FACT("caller_file", CELL_TEXT, "source file of the call"),
	[CALLER_LINE] = FACT("caller_line", CELL_COUNT, "line in that file"),
	[WRITER] = FACT("writer", CELL_TEXT, "of sharing: the function that writes most"),
	[WRITER_FILE] = FACT("writer_file", CELL_TEXT,
			     "source file of the access that writes most, of those that have one"),
	[WRITER_LINE] = FACT("writer_line", CELL_COUNT, "line in that file"),
	[EVENT] = FACT("event", CELL_TEXT, "that the code is hot by"),
	[AFFECTED] =
		FACT("affected_share", CELL_NUMBER,
		     "of its sampled loads, operations or branches: those that the kind is about"),
	[MEAN] = { "mean_cycles", NULL, "cycles", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		   "of slow operations: what one takes" },
	[MEAN_OF_ALL] = { "mean_cycles_of_all", NULL, "cycles", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			  "what an operation of any code takes" },
	[SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, COLUMN_MACHINE_ONLY,
		      "that it rests on" },
	[ALL_SAMPLES] = { "all_samples", NULL, "samples", CELL_COUNT, COLUMN_MACHINE_ONLY,
			  "that these are a part of" },
	[SAMPLES_OF] = FACT("sampled", CELL_TEXT, "what samples are called: samples, records"),
	[SAMPLES_ERROR] =
		FACT("samples_error", CELL_NUMBER, "of that part: half of its 95 % interval"),
	[COVERAGE] = FACT("coverage", CELL_NUMBER, "part of the time that it was counted"),
	[LEAST_COVERAGE] =
		FACT("least_coverage", CELL_NUMBER, "the same of what explains it, the least"),
	[SPREAD] = FACT("spread", CELL_NUMBER, "between runs, relative"),
};

static const char *const origin_words[] = {
	[FINDING_FROM_HERE] = NULL,
	[FINDING_FROM_SAMPLES] = "samples",
	[FINDING_FROM_COUNTS] = "counts",
};

/* What might change it. Those with a NULL have words of their own. */
static const char *const remedy_words[N_REMEDIES] = {
	[REMEDY_TOUCH_LESS] = "access less memory, or access it in order; prefetch ahead; store "
			      "together what is used together",
	[REMEDY_OWN_LINES] = "give each thread its own cache lines",
	[REMEDY_DENSER_PAGES] = "use huge pages (madvise, hugetlbfs); make the data denser; access "
				"fewer pages at random",
	[REMEDY_PREDICTABLE] = "make the branch predictable: sort the data, or split the loop; or "
			       "write branch-free code",
	[REMEDY_SMALLER_TABLE] = "each look-up waits for the previous one: make the table smaller, "
				 "so that a nearer cache holds it (smaller types, hot members in "
				 "their own struct); block the loops, so that one part of the "
				 "table is used at a time; do several independent look-ups at once",
	[REMEDY_BREAK_CHAIN] = "use several accumulators, or work on several chains at once "
			       "(unroll; with -fassociative-math the compiler may do it); shorten "
			       "the chain from one iteration to the next",
	[REMEDY_INTERLEAVE] =
		"each value is computed from the one before, so the accumulators of a "
		"sum do not help: work on several independent sequences at once "
		"(other inputs, or parts whose results can be combined)",
	[REMEDY_SKIP_AHEAD] =
		"or take several steps at once: k steps of x*a + c are x*A + C, where "
		"A and C do not wait for x",
	[REMEDY_IN_REGISTER] = "keep the variable in a register: compile with -O2, or copy it to a "
			       "local variable for the loop",
	[REMEDY_DIVISION] = "divide by a constant, shift, or multiply by the reciprocal; or divide "
			    "several values at once (vectors)",
	[REMEDY_INTERCHANGE] = "interchange the loops, so that the inner one walks along a row; or "
			       "transpose or block the data",
	[REMEDY_SHORTER_STRIDE] = "prefetch ahead; or store together what is used together, which "
				  "shortens the stride",
	[REMEDY_PREFETCH_AHEAD] = "prefetch some iterations ahead: the addresses are known early; "
				  "make the data smaller; or sort the look-ups",
	[REMEDY_PREFETCH_DISTANCE] = "prefetch more iterations ahead",
	[REMEDY_FEWER_BYTES] = "read fewer bytes: use smaller types, and split hot from cold "
			       "members; fuse or block loops that read the same data; prefetching "
			       "does not help, as the memory is busy",
	[REMEDY_BLOCK] = "block the loops, so that data are reused while they are in the L1D; use "
			 "smaller types",
	[REMEDY_STORE_IN_ORDER] = "store whole cache lines, in order: sort or partition the data "
				  "first; combine small stores; use smaller types; use "
				  "non-temporal stores (stnp) for data that are not read again",
	[REMEDY_REUSE_MEMORY] = "reuse memory: keep buffers, or let malloc keep what is freed "
				"(mallopt, GLIBC_TUNABLES: "
				"a larger mmap_threshold and trim_threshold); or use huge pages "
				"(madvise MADV_HUGEPAGE)",
	[REMEDY_COPY_LESS] = "write to fewer pages after a fork(): use posix_spawn() or vfork() "
			     "where the child only executes; share what both write (MAP_SHARED)",
	[REMEDY_MAP_AHEAD] = "map what is needed at once (MAP_POPULATE, MADV_POPULATE_READ); read "
			     "large parts with read() into a buffer that is reused; keep the file "
			     "mapped",
	[REMEDY_LESS_MEMORY] = "access fewer pages, or use less memory: the kernel moves pages",
	[REMEDY_CALL_LESS] =
		"call it less often, or on less data: use another algorithm or data structure",
	[REMEDY_CALL_CHAINS] =
		"record call chains, to see which code of the program calls it: cyclops record -g",
	[REMEDY_SEPARATE_THREADS] = "put the data of different threads on different cache lines: "
				    "align or pad them, or give each thread a copy",
	[REMEDY_LOCK_LESS] = "use the lock or atomic less often: one lock for each part of the "
			     "data, or one counter for each thread",
	[REMEDY_WRITE_LESS] =
		"write it less often; or give each thread a copy, and add up the copies later",
	[REMEDY_BRANCH_FREE_SIZES] = "write branch-free code (csel); sort or split by case; "
				     "specialise constant sizes; use profile-guided optimisation",
	[REMEDY_BRANCH_FREE] = "write branch-free code (csel); sort or split by case; use "
			       "profile-guided optimisation",
	[REMEDY_CODE_PAGES] = "use huge pages for code; order functions by profile (PGO, BOLT)",
	[REMEDY_CODE_ORDER] =
		"order functions by profile (PGO, BOLT); inline and unroll less (-O2)",
	[REMEDY_HUGE_PAGES] = "use huge pages (madvise, hugetlbfs); make the data denser",
	[REMEDY_CACHE_L1] =
		"regular strides: prefetch ahead, block the loops, use smaller types; pointers: "
		"store nodes together, use indexes, split hot from cold members",
	[REMEDY_CACHE] = "regular strides: prefetch ahead, block the loops; pointers: store nodes "
			 "together, split hot from cold members",
	[REMEDY_CACHE_CHAIN] = "each load waits for the previous one: store successive nodes "
			       "together (pool, array, wider nodes); make the data smaller; follow "
			       "several chains at once; split hot from cold members",
	[REMEDY_CACHE_SCATTERED] =
		"loops whose stride is a cache line or more: interchange them, so that the inner "
		"one walks along a row, or block them; addresses that are known early: prefetch; "
		"store together what is used together",
	[REMEDY_LESS_SHARING] =
		"put the data that different threads write on different cache lines; use locks and "
		"atomics less often; give each thread a copy, and add up the copies later",
	[REMEDY_SPECULATION] =
		"look at mispredicted branches and at faults: their work is thrown away",
	[REMEDY_FRONT_END] = "order code by profile (PGO, BOLT); look at branches, the L1I and the "
			     "instruction TLB",
	[REMEDY_VECTORISE] = "vectorise (NEON, SVE); use a better algorithm or a library",
	[REMEDY_LESS_WORK] = "execute fewer instructions: use a better algorithm or a library",
	[REMEDY_NODES] = "keep threads and their data on one node (numactl); let the thread that "
			 "uses data write them first; give each node a copy",
	[REMEDY_CORE] =
		"break dependency chains; unroll; replace divisions; keep variables in registers "
		"(-O2); use more of the core's units",
	[REMEDY_LONGER_RUN] = "measure a longer run: of this one, much is code that runs for the "
			      "first time",
	[REMEDY_IDLE_MACHINE] = "other tasks used the CPUs: measure on an idle machine, with no "
				"more threads than CPUs",
	[REMEDY_IDLE_OR_WAITS] = "if other tasks used the CPUs, measure on an idle machine; else "
				 "find what the program waits for: I/O, locks, sleep",
	[REMEDY_WAITS] = "find what the program waits for: I/O, locks, sleep",
};

const char *words_take(struct table *t, struct text *text)
{
	const char *out = NULL;

	if (text->n > 0) {
		text_char(text, '\0');
		out = table_text(t, text->bytes);
	}
	text_release(text);
	return out;
}

void put_place(const struct finding_place *p, struct text *out)
{
	text_str(out, p->name);
	if (p->file != NULL)
		text_format(out, "  %s:%" PRIu32, p->file, p->line);
}

/* "strcmp", or "strcmp, called from main (slow.c:6)" and what ends that. */
static const char *subject_with_caller(struct table *t, const struct finding *f, const char *end)
{
	if (f->caller.name == NULL)
		return f->subject;
	if (f->caller.file == NULL)
		return table_format(t, "%s, called from %s%s", f->subject, f->caller.name, end);
	return table_format(t, "%s, called from %s (%s:%" PRIu32 ")%s", f->subject, f->caller.name,
			    f->caller.file, f->caller.line, end);
}

/* Of a function, by what samples say of it. */
static const char *function_claim(struct table *t, const struct finding *f)
{
	bool is_label = f->kind == FINDING_MISPREDICTIONS || f->kind == FINDING_SLOW_OPERATIONS;
	const char *subject = subject_with_caller(t, f, is_label ? "" : ",");

	switch (f->kind) {
	case FINDING_MEMORY_BOUND:
		return table_format(t,
				    "%s waits for memory: %.0f %% of its sampled loads come from "
				    "DRAM or another socket",
				    subject, f->value);
	case FINDING_SHARED_DATA:
		return table_format(t,
				    "%s waits for other cores: %.0f %% of its sampled loads come "
				    "from their caches",
				    subject, f->value);
	case FINDING_TLB_WALKS:
		return table_format(t,
				    "%s: %.0f %% of its sampled operations need a page table walk",
				    subject, f->value);
	case FINDING_MISPREDICTIONS:
		return table_format(t, "%s: %.0f %% of its sampled branches are mispredicted",
				    subject, f->value);
	case FINDING_SLOW_OPERATIONS:
		return table_format(t,
				    "%s: mean latency %.0f cycles; of all operations %.0f cycles",
				    subject, f->value, f->other);
	case FINDING_PAGE_FAULTS:
		return table_format(t, "page faults, most of them in %s", subject);
	case FINDING_UNNAMED_CODE:
		return table_format(t, "%s has no symbols", subject);
	default:
		return table_format(t, "%s is hot (%s)", subject, f->event);
	}
}

bool finding_is_of_counts(const struct finding *f)
{
	return f->kind == FINDING_METRIC || f->kind == FINDING_WAITING || f->kind == FINDING_SCALAR;
}

const char *finding_id(const struct finding *f)
{
	return f->metric != NULL ? f->metric->name : finding_kind_name(f->kind);
}

const char *finding_claim_words(struct table *t, const struct finding *f)
{
	if (f->sharing != NULL)
		return sharing_claim(t, f);
	if (f->loop != NULL)
		return loop_claim(t, f);
	if (f->code != NULL)
		return "the core waits for instructions";
	return finding_is_of_counts(f) ? counts_claim(t, f, true) : function_claim(t, f);
}

const char *finding_size_words(struct table *t, const struct finding *f)
{
	if (f->sharing != NULL)
		return sharing_size(t, f);
	if (finding_is_of_counts(f))
		return counts_size(t, f);
	return table_format(t, "%s%s of %s", words_bound(f), words_cost(t, f), f->size.whole);
}

/* "393 291 of 473 661 latency cycles", or times: "55.0 ms of 160.0 ms". */
static void put_weight(struct table *t, const struct evidence *e, struct text *out)
{
	struct cell part = cell_count(e->part), all = cell_count(e->all);

	if (!isnan(e->value))
		text_format(out, "the function has %.1f %%:  ", 100 * e->value);
	if (strcmp(e->unit, "ns") == 0)
		text_format(out, "%s of %s", table_human(t, part, "ns"), table_human(t, all, "ns"));
	else
		text_format(out, "%s %s", table_human(t, part, "of"), table_human(t, all, e->unit));
}

static void put_left_cpu(const struct evidence *e, struct text *out)
{
	if (e->is_known)
		text_format(
			out,
			"its threads left a CPU %" PRIu64 " time%s to wait, and %" PRIu64
			" time%s for another task%s; all other numbers are of the time on a CPU",
			e->part, plural(e->part), e->all, plural(e->all),
			e->n_runs > 1 ? " in each run" : "");
	else
		text_str(out, "what it waited for is not known: a CPU, or something else; all "
			      "other numbers are of the time on a CPU");
}

const char *page_faults_words(const struct finding_page_faults *p)
{
	static const char *const words[N_FINDING_FAULTS] = {
		[FAULTS_OTHER] = "is spent in the kernel's entry and exit",
		[FAULTS_FRESH] = "maps memory that is touched for the first time",
		[FAULTS_COPIED] = "copies pages on a write",
		[FAULTS_OF_FILES] = "maps pages of files",
		[FAULTS_SWAPPED] = "reads swapped pages",
		[FAULTS_MOVED] = "looks for a better node for pages",
	};

	return words[p->faults];
}

static void put_page_faults(const struct finding *f, struct text *out)
{
	const struct finding_page_faults *p = f->page_faults;
	char digits[GROUPED_BYTES];

	text_format(out, "%.0f %% of that in %s; %.0f %% of it %s", 100 * p->function_part,
		    f->subject, 100 * p->part, page_faults_words(p));
	if (p->n_counted > 0)
		text_format(out, "; counted: %s page faults",
			    grouped_u64((uint64_t)llround(p->n_counted), digits));
}

static const char *evidence_words(struct table *, const struct finding *, bool is_alone);

/* "counted: 52.6 % of cycles stalled in the back end; no cache or TLB rate …" */
static void put_finding(struct table *t, const struct finding *f, struct text *out)
{
	const char *evidence;

	if (!finding_is_of_counts(f)) {
		text_format(out, "%s (%s)", finding_claim_words(t, f), finding_size_words(t, f));
		return;
	}
	evidence = evidence_words(t, f, false);
	text_format(out, "counted: %s", counts_claim(t, f, false));
	if (evidence != NULL)
		text_format(out, "; %s", evidence);
}

static void put_evidence(struct table *t, const struct evidence *e, bool is_alone, struct text *out)
{
	switch (e->kind) {
	case EVIDENCE_WEIGHT:
		put_weight(t, e, out);
		break;
	case EVIDENCE_NODE:
		text_format(out, "%s %s", metric_node_words(t, e->metric),
			    metric_value_words(t, e->metric, e->value));
		break;
	case EVIDENCE_RATE:
		text_format(out, "%s %s (threshold %g)", metric_value_words(t, e->metric, e->value),
			    e->metric->label, e->threshold);
		break;
	case EVIDENCE_THRESHOLD:
		text_format(out, "threshold %g; this alone does not prove lost time", e->threshold);
		break;
	case EVIDENCE_MEMORY_STALLS:
		text_str(out, "at least half of the backend stalls wait for an L2 miss");
		break;
	case EVIDENCE_COST:
	case EVIDENCE_REST_CORE:
	case EVIDENCE_REST_COPY:
	case EVIDENCE_REST_UNITS:
	case EVIDENCE_REST_FETCH:
	case EVIDENCE_COLD_CODE:
	case EVIDENCE_STORES:
	case EVIDENCE_LINES:
	case EVIDENCE_ONE_MISS:
	case EVIDENCE_SCATTERED:
	case EVIDENCE_IN_ORDER:
	case EVIDENCE_TAKEN_LINES:
	case EVIDENCE_SHARING_NOT_COUNTED:
	case EVIDENCE_MIX:
	case EVIDENCE_BRANCH_STALLS:
		counts_evidence(e, is_alone, out);
		break;
	case EVIDENCE_CACHES_NOT_COUNTED:
		text_str(out, "memory or core is not known: no data cache events were counted");
		break;
	case EVIDENCE_LEFT_CPU:
		put_left_cpu(e, out);
		break;
	case EVIDENCE_FINDING:
		put_finding(t, e->finding, out);
		break;
	}
}

/* What counts cannot tell is said where they stand alone, not beside samples, which can. */
static const char *evidence_words(struct table *t, const struct finding *f, bool is_alone)
{
	struct text text = { 0 };

	if (f->sharing != NULL)
		text_str(&text, sharing_cost_words(t, f));
	if (f->loop != NULL)
		put_loop_evidence(t, f, &text);
	if (f->code != NULL)
		put_code_evidence(t, f->code, &text);
	if (f->page_faults != NULL)
		put_page_faults(f, &text);
	for (size_t i = 0; i < f->evidence.n; i++) {
		text_str(&text, text.n > 0 ? "; " : "");
		put_evidence(t, &f->evidence.items[i], is_alone, &text);
	}
	return words_take(t, &text);
}

static const char *where_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (f->sharing != NULL)
		return sharing_where(t, f);
	if (f->where.name == NULL)
		return NULL;
	put_place(&f->where, &text);
	if (f->where_of != NULL)
		text_format(&text, "   its function has %.0f %% of %s (%s)", f->where_percent,
			    f->where_of, f->where_from);
	return words_take(t, &text);
}

static void put_remedy(const struct remedy *r, struct text *out)
{
	if (r->kind == REMEDY_POINTER_CHASE) {
		text_str(out, "each address is loaded by the previous load: store successive nodes "
			      "together (pool, array, wider nodes); follow several chains at once; "
			      "split hot from cold members");
		if (r->percent >= 10)
			text_format(out,
				    "; use huge pages (madvise, hugetlbfs): %.0f %% of its "
				    "operations need a page table walk",
				    r->percent);
		return;
	}
	if (r->kind == REMEDY_ONE_NODE) {
		text_format(out,
			    "%.0f %% of the contended loads cross sockets: run these threads on "
			    "one node (numactl --cpunodebind); allocate the data there; or give "
			    "each node a copy",
			    r->percent);
		return;
	}
	text_str(out, r->text != NULL ? r->text : remedy_words[r->kind]);
}

const char *finding_remedy_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	for (size_t i = 0; i < f->remedies.n; i++) {
		text_str(&text, i > 0 ? "; " : "");
		put_remedy(&f->remedies.items[i], &text);
	}
	return words_take(t, &text);
}

const char *finding_annotate_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (f->function == NULL || f->subject == NULL || strcmp(f->function, f->subject) != 0)
		return NULL;
	text_str(&text, "annotate");
	text_shell_word(&text, f->function);
	return words_take(t, &text);
}

static const char *command_words(struct table *t, const struct finding *f)
{
	const char *annotate =
		strcmp(f->command, "annotate") == 0 ? finding_annotate_words(t, f) : NULL;

	return annotate != NULL ? annotate : f->command;
}

const char *finding_code_words(struct table *t, const struct session *s, const struct finding *f)
{
	bool is_of_data =
		f->loop != NULL && f->command != NULL && f->kind != FINDING_MISPREDICTIONS;
	const char *annotate = is_of_data ? finding_annotate_words(t, f) : NULL;

	return annotate != NULL ? tip(t, s, annotate) : NULL;
}

const char *finding_next_words(struct table *t, const struct session *s, const struct finding *f)
{
	struct text text = { 0 };

	if (f->command != NULL)
		return tip(t, s, command_words(t, f));
	if (f->recorded != NULL && s != NULL && capture_spe(s->capture)->is_present)
		return tip(t, s, f->recorded);
	if (f->counting != NULL)
		return f->counting;
	if (f->recorded != NULL)
		return table_format(t, "cyclops record --spe -- PROGRAM && cyclops %s",
				    f->recorded);
	for (size_t i = 0; i < f->n_events; i++)
		text_format(&text, "%s%s", i == 0 ? "cyclops record -e " : ",", f->events[i]);
	if (text.n > 0)
		text_str(&text, " -- COMMAND");
	return words_take(t, &text);
}

static const char *samples_words(struct table *t, const struct finding *f)
{
	const struct finding_samples *s = &f->samples;
	struct text text = { 0 };

	if (f->loop != NULL)
		put_loop_confidence(t, f, &text);
	else
		text_format(&text, "from %s %s%s", table_human(t, cell_count(s->n), "of"),
			    table_human(t, cell_count(s->n_all), s->of),
			    words_has_error(f) ? " (\xc2\xb1: 95 % interval)" : "");
	if (s->no_jitter)
		text_str(&text, "; the interval had no jitter: loops in step with it are over- or "
				"undercounted");
	if (s->full_share >= 0)
		text_format(&text, "; saturated latencies have at least %.1f %% of all cycles",
			    100 * s->full_share);
	return words_take(t, &text);
}

const char *finding_confidence_words(struct table *t, const struct finding *f)
{
	if (f->sharing != NULL)
		return sharing_confidence(t, f);
	if (f->coverage.is_set)
		return counts_confidence(t, &f->coverage);
	return f->samples.n_all > 0 ? samples_words(t, f) : NULL;
}

/* A place in the columns of its name, file and line. */
static void put_at(struct table *t, const struct finding_place *p, struct cell *cells)
{
	cells[0] = table_text_cell(t, p->name);
	cells[1] = table_text_cell(t, p->file);
	if (p->file != NULL)
		cells[2] = cell_count(p->line);
}

/* Of lines that threads contend for: the instruction that waits most, or else writes most. */
static const struct finding_place *place_of(const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;

	if (s == NULL)
		return &f->where;
	return s->n_read_places > 0 ? &s->reads[0].place : &s->writes[0].place;
}

/* How large it is; of functions also how much of its own work is affected. */
static void put_amounts(struct table *t, const struct finding *f, struct cell *row)
{
	const struct finding_size *size = &f->size;

	if (!isnan(size->share))
		row[SHARE] = cell_marked(cell_number(size->share), size->mark);
	if (f->sharing != NULL ? f->sharing->has_latency : words_has_error(f))
		row[SHARE_ERROR] = cell_number(size->error);
	row[WHOLE] = table_text_cell(t, size->whole);
	if (size->unit != NULL) {
		row[PART] = cell_number(size->part);
		row[ALL] = cell_number(size->all);
		row[UNIT] = table_text_cell(t, size->unit);
	}
	if (f->loop != NULL)
		return;
	if (f->kind == FINDING_SLOW_OPERATIONS) {
		row[MEAN] = cell_number(f->value);
		row[MEAN_OF_ALL] = cell_number(f->other);
	} else if (f->kind == FINDING_MEMORY_BOUND || f->kind == FINDING_SHARED_DATA ||
		   f->kind == FINDING_TLB_WALKS || f->kind == FINDING_MISPREDICTIONS) {
		row[AFFECTED] = cell_number(f->value / 100);
	}
}

/* What it rests on. */
static void put_rest(struct table *t, const struct finding *f, struct cell *row)
{
	if (f->samples.n_all > 0) {
		row[SAMPLES] = cell_count(f->samples.n);
		row[ALL_SAMPLES] = cell_count(f->samples.n_all);
		row[SAMPLES_OF] = table_text_cell(t, f->samples.of);
		row[SAMPLES_ERROR] = cell_number(f->samples.error);
	}
	if (!f->coverage.is_set || f->coverage.is_imported)
		return;
	row[COVERAGE] = cell_number(f->coverage.coverage);
	row[LEAST_COVERAGE] = cell_number(f->coverage.least_coverage);
	if (f->coverage.spread > 0)
		row[SPREAD] = cell_number(f->coverage.spread);
}

static void findings_words_add_row(struct table *t, const struct session *s,
				   const struct findings *all, size_t number)
{
	const struct finding *f = all->list.items[number];
	size_t same_fix = findings_same_fix(all, number);
	struct cell *row = table_add_row(t);

	row[CLAIM] = cell_text(finding_claim_words(t, f));
	row[SIZE] = cell_marked(
		words_cell(finding_size_words(t, f)),
		f->loop != NULL || f->code != NULL ? MARK_EXACT : f->size.mark); /* words say it */
	row[EVIDENCE] = words_cell(evidence_words(t, f, true));
	row[WHERE] = words_cell(where_words(t, f));
	row[TRY] = words_cell(finding_remedy_words(t, f));
	row[GAIN] = words_cell(finding_gain_words(t, s, f, ""));
	row[WHAT_IF] = words_cell(finding_what_if_words(t, f));
	if (f->has_prediction)
		row[PREDICTED] = cell_number(f->prediction);
	row[NEXT] = words_cell(finding_next_words(t, s, f));
	row[SURE] = words_cell(finding_confidence_words(t, f));
	row[KIND] = cell_text(finding_id(f));
	if (f->remedies.n > 0)
		row[REMEDY_ID] = cell_text(finding_remedy_id(f->remedies.items[0].kind));
	if (same_fix > 0)
		row[SAME_FIX] = cell_count(same_fix);
	row[CAUSE] = words_cell(counts_cause(f));
	row[FROM] = words_cell(origin_words[f->origin]);
	row[SUBJECT] = table_text_cell(t, f->sharing != NULL ? f->sharing->name : f->subject);
	row[FUNCTION] = table_text_cell(t, f->function);
	row[INLINED] = table_text_cell(t, f->where.inlined);
	row[MODULE] = table_text_cell(t, f->module);
	row[WRITER] = table_text_cell(t, f->writer);
	if (f->sharing != NULL && f->sharing->n_write_places > 0) {
		const struct finding_place *at = sharing_first_write(f->sharing);

		row[WRITER_FILE] = table_text_cell(t, at->file);
		if (at->file != NULL)
			row[WRITER_LINE] = cell_count(at->line);
	}
	row[EVENT] = table_text_cell(t, f->event);
	put_amounts(t, f, row);
	put_at(t, place_of(f), row + PLACE);
	put_at(t, &f->caller, row + CALLER);
	put_rest(t, f, row);
}

/* What "nothing" rests on: samples, and the cause that they leave most room for. */
static void note_confidence(struct table *t, const struct silence *s)
{
	const char *samples = table_human(t, cell_count(s->n), "samples");

	if (s->largest != NULL)
		table_note(t, "Confidence: from %s; at 95 %% not excluded: %s.",
			   table_human(t, cell_count(s->largest->samples.n), "samples"),
			   finding_cause_words(t, s->largest));
	else if (s->unexplained != NULL)
		table_note(t, "Confidence: \xc2\xb1 is the 95 %% interval, from %s.", samples);
	else
		table_note(t, "Confidence: from %s.", samples);
}

static void note_nothing(struct table *t, const struct silence *s)
{
	const struct finding *rest = s->unexplained;
	struct text text = { 0 };

	if (rest != NULL)
		table_note(t,
			   "No bottleneck found, but %.1f %% \xc2\xb1 %.1f of the time is not "
			   "explained, in %s.",
			   100 * rest->size.share, 100 * rest->size.error, rest->subject);
	if (s->percent == 0)
		table_note(t, "%s all causes are below their thresholds.",
			   rest != NULL ? "Explained:" : "No bottleneck found:");
	else
		table_note(t, "%s cause in a loop costs less than %.0f %% of the time.",
			   rest != NULL ? "Each known" : "No bottleneck found: each", s->percent);
	if (rest == NULL)
		return;
	put_unexplained(rest, &text);
	table_note(t, "%s.", words_take(t, &text));
}

void findings_note_silence(struct table *t, const struct silence *s)
{
	switch (s->kind) {
	case SILENCE_FEW_SAMPLES:
		table_note(t,
			   "Too few samples: an event has %" PRIu64
			   ", at least %u are needed. Record longer, or sample more often.",
			   s->n, s->least);
		break;
	case SILENCE_NOT_DECODED:
		table_note(t,
			   "No samples: the capture has %s traces only, which cyclops does not "
			   "decode.",
			   s->text);
		break;
	case SILENCE_NOTHING:
		note_nothing(t, s);
		note_confidence(t, s);
		break;
	case SILENCE_NO_LATENCIES:
		table_note(t, "What limits the program is not known: these samples say where it "
			      "spends time, not why. Count: cyclops stat -- COMMAND");
		break;
	case SILENCE_NO_TIMES:
		table_note(t,
			   "Some causes cannot be tested here: %s. Count: cyclops stat -- COMMAND",
			   s->text);
		break;
	case SILENCE_UNEXPLAINED:
		table_note(t,
			   "About %.0f %% of the time is unexplained: no sampled operation waits "
			   "that long. The cause is the frontend, or code that was not sampled "
			   "(the kernel). Count: cyclops stat -- COMMAND",
			   s->percent);
		break;
	case SILENCE_IMPLAUSIBLE:
	case SILENCE_NO_PMU:
	case SILENCE_NO_CPU_EVENTS:
	case SILENCE_COVERAGE:
	case SILENCE_NO_ROOTS:
	case SILENCE_REFUSED_ROOTS:
	case SILENCE_NO_STALLS:
	case SILENCE_NOT_EXPLORED:
	case SILENCE_NO_METRIC:
		counts_note(t, s);
		break;
	case SILENCE_TOO_SHORT:
		table_note(t, "Too few samples: %" PRIu64 " sample%s. Give the program more work.",
			   s->n, plural(s->n));
		break;
	case SILENCE_NO_FUNCTION:
		table_note(t, "The time is spread over many functions; %s has most.", s->text);
		break;
	case SILENCE_NO_COUNTERS:
		table_note(t, "No hardware counters and no SPE here: this says where time goes, "
			      "not why (cyclops doctor).");
		break;
	case SILENCE_NO_LIMIT:
		table_note(t, "Nothing stands out: all shares of cycles, slots, misses and waits "
			      "are below their thresholds.");
		break;
	case SILENCE_MOSTLY:
		table_note(t,
			   "Most of the time is spent in %s. Only less work there will make the "
			   "program faster.",
			   s->text);
		break;
	}
}

void findings_table(const struct findings *f, const struct session *s, struct table *out)
{
	table_init(out, "findings", "Findings", columns, N_COLUMNS);
	out->style = TABLE_FINDINGS;
	for (size_t i = 0; i < f->list.n; i++)
		findings_words_add_row(out, s, f, i);
	for (size_t i = 0; i < f->silences.n; i++)
		findings_note_silence(out, &f->silences.items[i]);
}
