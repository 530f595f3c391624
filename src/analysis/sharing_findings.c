/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be said of shared lines, in words: who wants which bytes, the cost, the fix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/data_names.h"
#include "analysis/sharing_tables.h"
#include "base/alloc.h"

/* Accesses of each kind that are named. */
enum { SHOWN = 3 };

/* Less than this is not worth a word: of the latency of loads, or of contended loads, … */
static const double least_share = 0.001;
static const double least_part = 0.01;

/* … or of all stores, for lines that only stores meet on. */
static const double least_stores = 0.01;

enum finding_column {
	FINDING_CLAIM,
	FINDING_SIZE,
	FINDING_FIX, /* first what to do, then why */
	FINDING_DRAWING,
	FINDING_WRITES,
	FINDING_READS = FINDING_WRITES + SHOWN,
	FINDING_COST = FINDING_READS + SHOWN,
	FINDING_SURE,
	FINDING_KIND,
	FINDING_LINE,
	FINDING_SHARE,
	FINDING_FUNCTION,
	FINDING_MODULE,
	FINDING_WRITER,
	FINDING_N_COLUMNS,
};

#define PROSE(name, title, meaning)                                                                \
	{                                                                                          \
		name, title, "", CELL_TEXT, COLUMN_GROW, meaning                                   \
	}

static const struct column columns[FINDING_N_COLUMNS] = {
	[FINDING_CLAIM] = PROSE("claim", NULL, "which line, and what happens there"),
	[FINDING_SIZE] = { "size", NULL, "", CELL_TEXT, 0, "how much it costs" },
	[FINDING_DRAWING] = PROSE("drawing", "", "the object and who touches what of it"),
	[FINDING_WRITES] = PROSE("writes", NULL, "the instruction that writes most"),
	[FINDING_WRITES + 1] = PROSE("writes_2", " ", "the next one"),
	[FINDING_WRITES + 2] = PROSE("writes_3", " ", "the next one"),
	[FINDING_READS] = PROSE("reads", NULL, "the instruction that waits most"),
	[FINDING_READS + 1] = PROSE("reads_2", " ", "the next one"),
	[FINDING_READS + 2] = PROSE("reads_3", " ", "the next one"),
	[FINDING_COST] = PROSE("cost", NULL, "what it is made of"),
	[FINDING_FIX] = PROSE("fix", NULL, "what to change"),
	[FINDING_SURE] = PROSE("sure", NULL, "what the verdict rests on"),
	[FINDING_KIND] = { "kind", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "the verdict" },
	[FINDING_LINE] = { "line", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "number of the line among `lines`" },
	[FINDING_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			    "of the latency of all sampled loads" },
	[FINDING_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "that waits most, or else writes most" },
	[FINDING_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "that the function is in" },
	[FINDING_WRITER] = { "writer", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "function that writes most" },
};

static const struct column summary_columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "what the fact is about" },
	{ "value", NULL, "", CELL_TEXT, COLUMN_GROW, "in words" },
};

static double part_of(uint64_t n, uint64_t all)
{
	return all == 0 ? 0 : (double)n / (double)all;
}

/* Part of all contended loads. */
static double contended_part(const struct sharing *s, const struct sharing_subject *subject)
{
	return part_of(sharing_contended(&subject->counts, s->options.mode),
		       sharing_contended(&s->total, s->options.mode));
}

/* Do threads get in each other's way here, enough to be worth a word? */
static bool is_worth(const struct sharing *s, const struct sharing_subject *subject)
{
	const struct sharing_judgement *j = &subject->judgement;

	if (j->verdict == SHARING_READ_ONLY || j->verdict == SHARING_SINGLE_THREAD)
		return false;
	if (j->n_writers > 1 && j->verdict == SHARING_FALSE &&
	    part_of(subject->counts.n[SHARING_STORES], s->total.n[SHARING_STORES]) >= least_stores)
		return true;
	if (s->lines->loads.cycles > 0)
		return subject->share >= least_share;
	return contended_part(s, subject) >= least_part;
}

static const char *kind_words(const struct sharing_judgement *j)
{
	if (j->is_both)
		return j->verdict == SHARING_FALSE ? "false sharing, and true sharing too"
						   : "true sharing, and false sharing too";
	switch (j->verdict) {
	case SHARING_FALSE:
		return "false sharing";
	case SHARING_TRUE:
		return j->has_lock ? "true sharing of a lock or atomic" : "true sharing";
	default:
		return "contended, kind unknown";
	}
}

static const char *claim_of(const struct sharing *s, const struct sharing_labels *labels,
			    size_t number, struct table *t)
{
	const struct sharing_subject *subject = &s->subjects.items[number];
	const char *words = kind_words(&subject->judgement);
	const char *space = subject->space == SHARING_PHYSICAL ? "physical " : "";

	if (labels->objects[number] != NULL)
		return table_format(t, "%s: %s, %sline 0x%" PRIx64, words, labels->objects[number],
				    space, subject->address);
	return table_format(t, "%s: %sline 0x%" PRIx64, words, space, subject->address);
}

static const char *size_of(const struct sharing *s, const struct sharing_subject *subject,
			   struct table *t)
{
	if (s->lines->loads.cycles > 0)
		return table_format(t, "%.1f %% \xc2\xb1 %.1f of load latency",
				    100 * subject->share, 100 * subject->error);
	return table_format(t, "%.1f %% of contended loads", 100 * contended_part(s, subject));
}

static uint64_t contended_cycles(const struct sharing_access *a, uint64_t *out_n)
{
	uint64_t cycles = 0;

	*out_n = 0;
	for (int i = 0; i < SHARING_MET_NONE; i++) {
		cycles += a->sum.met[i].cycles;
		*out_n += a->sum.met[i].n;
	}
	return cycles;
}

/* "bytes 8-15", or where it begins if its size is not known. */
static const char *bytes_text(const struct sharing_access *a, struct table *t)
{
	if (a->size == 0)
		return table_format(t, "byte %u on", a->offset);
	return table_format(t, "bytes %u-%u", a->offset, a->offset + a->size - 1);
}

static const char *threads_text(const struct sharing *s, const struct sharing_access *a,
				struct table *t)
{
	struct sharing_touch_key k = sharing_touch_key(s->accesses_seen, s->order[a->first_touch]);

	if (a->n_threads == 1 && k.tid != UINT32_MAX)
		return table_format(t, "thread %" PRIu32, k.tid);
	return table_format(t, "%" PRIu32 " thread%s", a->n_threads, plural(a->n_threads));
}

static void place_text(const struct sharing *s, const struct sharing_access *a, struct text *out)
{
	const char *file;
	uint32_t line;

	names_place(&s->names, a->place, out);
	if (names_line(&s->names, a->place, &file, &line))
		text_format(out, "  %s:%" PRIu32, path_base(file), line);
}

/* "bytes 0-7  locker+0x48  sharing.c:7  thread 5001: 1493 stores" */
static const char *access_text(const struct sharing *s, const struct sharing_labels *labels,
			       uint32_t number, bool is_write, struct table *t)
{
	const struct sharing_access *a = &s->accesses.items[number];
	uint64_t records = a->sum.counts.n[SHARING_RECORDS], n = 0;
	uint64_t cycles = contended_cycles(a, &n);
	struct text text = { 0 };
	const char *out;

	text_str(&text, labels->fields[number] != NULL ? labels->fields[number] : bytes_text(a, t));
	text_str(&text, "  ");
	place_text(s, a, &text);
	text_format(&text, "  %s: ", threads_text(s, a, t));
	if (!is_write && n > 0)
		text_format(&text, "%" PRIu64 " of ", n);
	text_format(&text, "%" PRIu64 " %s%s", records, sharing_kind_name(a->kind),
		    plural(records));
	if (!is_write && n > 0)
		text_format(&text, " from another core, %.0f cycles", (double)cycles / (double)n);
	text_char(&text, '\0');
	out = table_text(t, text.bytes);
	text_release(&text);
	return out;
}

/* An access and what it is chosen by. */
struct ranked {
	uint64_t rank, records;
	uint32_t number;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->rank != b->rank)
		return (a->rank < b->rank) - (a->rank > b->rank);
	if (a->records != b->records)
		return (a->records < b->records) - (a->records > b->records);
	return (a->number > b->number) - (a->number < b->number);
}

/*
 * The writers or the readers of a line, those that matter most first. Readers that never waited
 * matter only if none did. The caller frees.
 */
static struct ranked *rank_accesses(const struct sharing *s, const struct sharing_subject *subject,
				    bool writers, size_t *out_n)
{
	struct ranked *all = mem_alloc((size_t)subject->n_accesses + 1, sizeof(*all));
	bool waits = subject->contended.n > 0;
	size_t n = 0;

	for (uint32_t i = 0; i < subject->n_accesses; i++) {
		uint32_t number = subject->first_access + i;
		const struct sharing_access *a = &s->accesses.items[number];
		uint64_t n_contended, cycles = contended_cycles(a, &n_contended);

		if (sharing_kind_writes(a->kind) != writers ||
		    (!writers && waits && n_contended == 0))
			continue;
		all[n++] = (struct ranked){ writers ? 0 : cycles, a->sum.counts.n[SHARING_RECORDS],
					    number };
	}
	qsort(all, n, sizeof(*all), compare_ranked);
	*out_n = n;
	return all;
}

/* Names them. */
static void add_accesses(const struct sharing *s, const struct sharing_labels *labels,
			 const struct sharing_subject *subject, bool writers, struct table *t,
			 struct cell *cells)
{
	size_t n;
	struct ranked *all = rank_accesses(s, subject, writers, &n);

	for (size_t i = 0; i < n && i < SHOWN; i++)
		cells[i] = cell_text(access_text(s, labels, all[i].number, writers, t));
	if (n > SHOWN)
		cells[SHOWN - 1] = cell_text(table_format(t, "%s  (and %zu more instruction%s)",
							  cells[SHOWN - 1].text, n - SHOWN,
							  plural(n - SHOWN)));
	free(all);
}

/* The place that matters most, or UINT32_MAX. */
static uint32_t first_place(const struct sharing *s, const struct sharing_subject *subject,
			    bool writers)
{
	size_t n;
	struct ranked *all = rank_accesses(s, subject, writers, &n);
	uint32_t place = n > 0 ? s->accesses.items[all[0].number].place : UINT32_MAX;

	free(all);
	return place;
}

static void put_functions(const struct sharing *s, const struct sharing_subject *subject,
			  struct table *t, struct cell *row)
{
	uint32_t writer = first_place(s, subject, true), place = first_place(s, subject, false);

	if (writer != UINT32_MAX)
		row[FINDING_WRITER] = cell_text(table_text(t, names_function(&s->names, writer)));
	place = place != UINT32_MAX ? place : writer;
	if (place == UINT32_MAX)
		return;
	row[FINDING_FUNCTION] = cell_text(table_text(t, names_function(&s->names, place)));
	row[FINDING_MODULE] = cell_text(
		table_text(t, names_module(s->session, session_place(s->session, place).module)));
}

static const char *fix_of(const struct sharing_judgement *j)
{
	if (j->verdict == SHARING_FALSE)
		return "keep what different threads use on lines of their own: align or pad it, or "
		       "give each thread a copy";
	if (j->verdict == SHARING_TRUE && j->has_lock)
		return "take the lock or atomic less often: one for each part of the data, or a "
		       "counter for each thread";
	if (j->verdict == SHARING_TRUE)
		return "write it less often, or give each thread a copy and add them up later";
	return NULL;
}

/*
 * No cycles of the whole run: latencies overlap, within a thread and between threads, so that
 * their sum over all loads may be more than the program ran.
 */
static const char *cost_text(const struct sharing *s, const struct sharing_subject *subject,
			     struct table *t)
{
	const struct sharing_latency *c = &subject->contended;
	const char *hit = "";

	if (c->n == 0)
		return "not measured: no sampled load waited for it";
	if (s->local_cycles > 0)
		hit = table_format(t, ", a local hit takes %" PRIu64, s->local_cycles);
	return table_format(t, "%" PRIu32 " load%s from another core took %s%.0f cycles%s", c->n,
			    plural(c->n), c->n_saturated > 0 ? "at least " : "",
			    (double)c->cycles / (double)c->n, hit);
}

static const char *why_unknown(const struct sharing_judgement *j, struct table *t)
{
	switch (j->reason) {
	case SHARING_FEW_SAMPLES:
		return table_format(t,
				    "too few samples (%" PRIu32 " write%s, %" PRIu32
				    " access%s that waited): record longer or more often",
				    j->n_writes, plural(j->n_writes), j->n_victims,
				    j->n_victims == 1 ? "" : "es");
	case SHARING_NO_STORES:
		return "the capture holds no stores: record stores, too";
	case SHARING_UNSEEN_STORES:
		return "loads found the line modified, but no store to it was sampled";
	case SHARING_SIZES_UNKNOWN:
		return "accesses may overlap: their sizes are not known, because the program was "
		       "not found (--symfs DIR)";
	case SHARING_VECTORS_UNKNOWN:
		return "accesses may overlap: how long vectors of SVE are is not in the records "
		       "(--vector-length BITS)";
	case SHARING_PARTS_UNKNOWN:
		return "accesses may overlap: records do not say which elements of a vector its "
		       "predicate left out";
	default:
		return "";
	}
}

static const char *sure_text(const struct sharing_judgement *j, struct table *t)
{
	const char *parts = "";

	if (j->verdict == SHARING_UNKNOWN)
		return why_unknown(j, t);
	if (j->is_both)
		parts = table_format(t, "; %.0f %% of it is false sharing", 100 * j->false_part);
	return table_format(t,
			    "%" PRIu32 " sampled write%s by %" PRIu32 " of %" PRIu32
			    " thread%s, %" PRIu32 " access%s that waited%s",
			    j->n_writes, plural(j->n_writes), j->n_writers, j->n_threads,
			    plural(j->n_threads), j->n_victims, j->n_victims == 1 ? "" : "es",
			    parts);
}

static void add_finding(const struct sharing *s, const struct sharing_labels *labels, size_t number,
			struct table *t)
{
	const struct sharing_subject *subject = &s->subjects.items[number];
	const struct sharing_judgement *j = &subject->judgement;
	const char *fix = labels->fixes[number] != NULL ? labels->fixes[number] : fix_of(j);
	struct cell *row = table_add_row(t);

	row[FINDING_CLAIM] = cell_text(claim_of(s, labels, number, t));
	row[FINDING_SIZE] = cell_text(size_of(s, subject, t));
	if (labels->drawings[number] != NULL)
		row[FINDING_DRAWING] = cell_text(table_text(t, labels->drawings[number]));
	add_accesses(s, labels, subject, true, t, row + FINDING_WRITES);
	add_accesses(s, labels, subject, false, t, row + FINDING_READS);
	row[FINDING_COST] = cell_text(cost_text(s, subject, t));
	if (fix != NULL)
		row[FINDING_FIX] = cell_text(table_text(t, fix));
	row[FINDING_SURE] = cell_text(sure_text(j, t));
	row[FINDING_KIND] = cell_text(sharing_verdict_name(j->verdict));
	row[FINDING_LINE] = cell_count(number + 1);
	row[FINDING_SHARE] = cell_number(subject->share);
	put_functions(s, subject, t, row);
	slices_show(&s->session->slices, sharing_slices(s, number), t, row);
}

/* What to say if there is no finding: only addresses of data can tell that there is none. */
static const char *nothing_found(const struct sharing *s)
{
	const struct sharing_counts *c = &s->total;

	return c->n[SHARING_RECORDS] >
			       c->n[SHARING_LOAD_NO_ADDRESS] + c->n[SHARING_STORE_NO_ADDRESS]
		       ? "no line is fought over"
		       : no_data_addresses;
}

void sharing_findings_table(const struct sharing *s, const struct sharing_labels *labels,
			    struct table *out)
{
	table_init(out, "findings", "Lines that threads fight over", columns, COUNT(columns));
	out->style = TABLE_FINDINGS;
	slices_add_columns(&s->session->slices, "records", "records of the line over time", out);
	for (size_t i = 0; i < s->subjects.n; i++)
		if (is_worth(s, &s->subjects.items[i]))
			add_finding(s, labels, i, out);
	if (table_n_rows(out) == 0)
		table_note(out, "%s", nothing_found(s));
}

static void add_fact(struct table *t, const char *name, const char *value)
{
	struct cell *row = table_add_row(t);

	row[0] = cell_text(name);
	row[1] = cell_text(value);
}

/* How many lines there are of each kind, and what they cost together. */
static void add_answer(const struct sharing *s, struct table *t)
{
	static const struct {
		enum sharing_verdict verdict;
		const char *words;
	} kinds[] = {
		{ SHARING_FALSE, "false sharing" },
		{ SHARING_TRUE, "true sharing" },
		{ SHARING_UNKNOWN, "unknown" },
	};
	uint32_t n[SHARING_SINGLE_THREAD + 1] = { 0 }, n_worth = 0;
	const char *text = nothing_found(s);
	const char *joint = ":";
	double share = 0;

	for (size_t i = 0; i < s->subjects.n; i++) {
		if (!is_worth(s, &s->subjects.items[i]))
			continue;
		n_worth++;
		n[s->subjects.items[i].judgement.verdict]++;
		share += s->subjects.items[i].share;
	}
	if (n_worth > 0)
		text = table_format(t, "%" PRIu32 " line%s fought over, %.1f %% of load latency",
				    n_worth, n_worth == 1 ? " is" : "s are", 100 * share);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (n[kinds[i].verdict] == 0)
			continue;
		text = table_format(t, "%s%s %" PRIu32 " %s", text, joint, n[kinds[i].verdict],
				    kinds[i].words);
		joint = ",";
	}
	add_fact(t, "answer", text);
}

static void add_seen(const struct sharing *s, struct table *t)
{
	const struct sharing_counts *c = &s->total;
	static const char *const met[SHARING_N_MODES] = {
		[SHARING_BY_PEER] = "from another core's cache",
		[SHARING_BY_HITM] = "that found it modified by another core",
		[SHARING_BY_LOCAL_HITM] = "that found it modified on the same socket",
		[SHARING_BY_REMOTE_HITM] = "that found it modified on another socket",
	};

	add_fact(t, "seen",
		 table_format(
			 t, "%s and %s to %s, %s %s",
			 table_human(t, cell_count(c->n[SHARING_LOADS]), "loads"),
			 table_human(t, cell_count(c->n[SHARING_STORES]), "stores"),
			 table_human(t, cell_count(s->n_lines), "lines"),
			 table_human(t, cell_count(sharing_contended(c, s->options.mode)), "loads"),
			 met[s->options.mode]));
	if (s->minimum_cycles > 1)
		add_fact(t, "caution",
			 table_format(t,
				      "operations of less than %" PRIu64
				      " cycles were not recorded: hits and most stores are "
				      "missing, shares are too high",
				      s->minimum_cycles));
}

void sharing_summary_table(const struct sharing *s, struct table *out)
{
	table_init(out, "sharing", NULL, summary_columns, COUNT(summary_columns));
	out->style = TABLE_FACTS;
	out->is_keyed = true;
	add_answer(s, out);
	add_seen(s, out);
}
