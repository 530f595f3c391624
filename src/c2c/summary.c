/* SPDX-License-Identifier: Apache-2.0 */
/* How many lines are contended, what they cost together, and what that rests on. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "c2c/tables.h"
#include "c2c/verdict/classes.h"
#include "cpu/cpu.h"
#include "data/data_names.h"
#include "scan/spe_filters.h"
#include "table/answer.h"

static const struct column summary_columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "what the fact is about" },
	{ "value", NULL, "", CELL_TEXT, COLUMN_GROW, "in words" },
};

/* The same for programs. */
enum column_index {
	CONTENDED_LINES,
	CONTENDED_OBJECTS,
	FALSE_SHARING,
	TRUE_SHARING,
	LOCKS,
	NOT_KNOWN,
	SHARE,
	SUSPECTED_LINES,
	WRITTEN_LINES,
	SUCCESSIVE_LINES,
	SUCCESSIVE_SHARE,
	MODE,
	LOADS,
	STORES,
	ATOMICS,
	LINES,
	CONTENDED_LOADS,
	PEER_LOADS,
	REMOTE_LOADS,
	CANDIDATES,
	READ_LINES,
	OWNED_LINES,
	UNWAITED_LINES,
	LITTLE_WAITED_LINES,
	IS_TOTAL,
	LACKS_STORES,
	SAYS_MODIFIED,
	LINE_BYTES,
	N_COLUMNS,
};

#define COUNTED(name, unit, meaning)                                                               \
	{                                                                                          \
		name, NULL, unit, CELL_COUNT, 0, meaning                                           \
	}

static const struct column sharing_columns[N_COLUMNS] = {
	[CONTENDED_LINES] = COUNTED("contended_lines", "lines", "that threads contend for"),
	[CONTENDED_OBJECTS] = COUNTED("contended_objects", "", "that these are of"),
	[FALSE_SHARING] = COUNTED("false_sharing", "", "causes of contention that are so"),
	[TRUE_SHARING] = COUNTED("true_sharing", "", "causes that are so, locks left out"),
	[LOCKS] = COUNTED("locks", "", "causes that are locks with the data that they guard"),
	[NOT_KNOWN] = COUNTED("unknown", "", "causes of a kind that is not known"),
	[SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
		    "of the latency of all sampled loads, that contended lines cost" },
	[SUSPECTED_LINES] = COUNTED("suspected_lines", "lines", "that may be contended"),
	[WRITTEN_LINES] = COUNTED("written_lines", "lines",
				  "that several threads write; whether they wait is not recorded"),
	[SUCCESSIVE_LINES] = COUNTED("successive_lines", "lines",
				     "that threads used one after the other, which is no sharing"),
	[SUCCESSIVE_SHARE] = { "successive_share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			       "of the latency of all sampled loads, of those lines" },
	[MODE] = { "mode", NULL, "", CELL_TEXT, 0,
		   "which loads are contended: peer, tot, rmt, lcl" },
	[LOADS] = COUNTED("loads", "records", "atomics left out"),
	[STORES] = COUNTED("stores", "records", "atomics left out"),
	[ATOMICS] = COUNTED("atomics", "records", "that are neither here"),
	[LINES] = COUNTED("lines", "lines", "that these went to"),
	[CONTENDED_LOADS] = COUNTED("contended_loads", "records", "by the mode"),
	[PEER_LOADS] = COUNTED("peer_loads", "records",
			       "from another core's cache, modified there or not"),
	[REMOTE_LOADS] = COUNTED("remote_loads", "records", "of these, from another socket"),
	[CANDIDATES] = COUNTED("candidate_lines", "lines", "that could be contended"),
	[READ_LINES] = COUNTED("read_only_lines", "lines", "not contended: only read"),
	[OWNED_LINES] =
		COUNTED("single_thread_lines", "lines", "not contended: used by one thread"),
	[UNWAITED_LINES] =
		COUNTED("unwaited_lines", "lines", "not contended: without a load that waited"),
	[LITTLE_WAITED_LINES] = COUNTED("little_waited_lines", "lines",
					"not contended: with too few or too short waits"),
	[IS_TOTAL] = { "latency_is_total", NULL, "", CELL_BOOL, 0,
		       "the time of issue was not recorded: waits for operands count, too" },
	[LACKS_STORES] = { "lacks_stores", NULL, "", CELL_BOOL, 0,
			   "stores may have been left out when recorded, or by --select" },
	[SAYS_MODIFIED] = { "has_hitm", NULL, "", CELL_BOOL, 0,
			    "modes of HITM: records can say that another core had modified the "
			    "data" },
	[LINE_BYTES] = COUNTED("line_bytes", "bytes", "of a cache line"),
};

/* Why stores are not in the capture, as far as it says. */
static const char *why_no_stores(const struct c2c *s, struct table *t)
{
	if (s->selects_stores)
		return "--select excludes stores";
	switch (s->stores) {
	case SPE_STORES_BY_KIND:
		return "the recording's filter excluded stores (store_filter=1 adds them)";
	case SPE_STORES_BY_EVENT:
		return "the recording's event_filter excluded stores";
	case SPE_STORES_BY_LATENCY:
		return table_format(
			t, "the recording's min_latency excluded stores below %" PRIu64 " cycles",
			s->minimum_cycles);
	case SPE_STORES_ALL:
		break;
	}
	return "no store was sampled; record loads and stores";
}

const char *c2c_nothing_found(const struct c2c *s, struct table *t)
{
	switch (c2c_silence_of(s)) {
	case C2C_NO_DATA_ADDRESSES:
		return no_data_addresses;
	case C2C_NO_WRITES:
		return table_format(t, "%s: %s",
				    c2c_contended(&s->total, s->options.mode) == 0
					    ? "no load waited for another core; waits of stores "
					      "are not recorded"
					    : "no contended line found",
				    why_no_stores(s, t));
	case C2C_SPREAD:
		return "no line stands out: the waits are spread over many lines";
	case C2C_NONE_CONTENDED:
		break;
	}
	return "no line is contended";
}

static void add_fact(struct table *t, const char *name, const char *value)
{
	struct cell *row = table_add_row(t);

	row[0] = cell_text(name);
	row[1] = cell_text(value);
}

/* What there are findings of. */
struct tally {
	size_t n[C2C_N_CLASSES];		      /* lines */
	size_t n_objects;			      /* of those that are contended, … */
	uint32_t n_false, n_true, n_locks, n_unknown; /* … and the causes that they are of */
	double share;				      /* of those, too */
	size_t n_in_phases;  /* lines of one thread after the other, that loads waited for */
	double phases_share; /* of those */
};

static void count_cause(const struct c2c_cause *f, struct tally *tally)
{
	const struct c2c_judgement *j = &f->sum.judgement;

	tally->n_objects += f->n_objects > 0 ? f->n_objects : 1;
	tally->share += f->sum.share;
	tally->n_false += j->verdict == C2C_FALSE;
	tally->n_true += j->verdict == C2C_TRUE && !j->is_guarded;
	tally->n_locks += j->is_guarded;
	tally->n_unknown += j->verdict == C2C_UNKNOWN;
}

static struct tally count_causes(const struct c2c_labels *labels)
{
	struct tally tally = { 0 };

	for (size_t i = 0; i < labels->causes->list.n; i++) {
		const struct c2c_cause *f = &labels->causes->list.items[i];

		tally.n[f->class] += f->lines.n;
		if (c2c_is_in_phases(&f->sum.judgement) && f->sum.judgement.n_waited > 0) {
			tally.n_in_phases += f->lines.n;
			tally.phases_share += f->sum.share;
		}
		if (f->class == C2C_CONTENDED)
			count_cause(f, &tally);
	}
	return tally;
}

/*
 * "1 line is contended, 41.1 % of load latency: 1 false sharing", "240 lines of 120 objects
 * are …": the kinds are those of the findings.
 */
static const char *contended_text(const struct c2c *s, const struct tally *tally, struct table *t)
{
	const struct {
		uint32_t n;
		const char *words;
	} kinds[] = {
		{ tally->n_false, "false sharing" },
		{ tally->n_true, "true sharing" },
		{ tally->n_locks, tally->n_locks == 1 ? "contended lock" : "contended locks" },
		{ tally->n_unknown, "unknown" },
	};
	size_t n = tally->n[C2C_CONTENDED];
	const char *of = "", *text, *joint = ":";

	if (n > tally->n_false + tally->n_true + tally->n_locks + tally->n_unknown)
		of = table_format(t, " of %zu object%s", tally->n_objects,
				  plural(tally->n_objects));
	text = table_format(t, "%zu line%s%s %s contended", n, plural(n), of,
			    n == 1 ? "is" : "are");

	if (s->lines->loads.cycles > 0)
		text = table_format(t, "%s, %.1f %% of %s", text, 100 * tally->share,
				    c2c_latency_words(s));
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (kinds[i].n == 0)
			continue;
		text = table_format(t, "%s%s %" PRIu32 " %s", text, joint, kinds[i].n,
				    kinds[i].words);
		joint = ",";
	}
	return text;
}

/* Why lines are suspected only. */
static const char *suspicion(const struct c2c *s, struct table *t)
{
	if (s->lacks_stores)
		return table_format(t, ": stores may be missing: %s", why_no_stores(s, t));
	return c2c_has_writes(s) ? ": too few samples" : "";
}

/* How many lines there are of each kind, and what they cost together. */
static const char *answer_text(const struct c2c *s, const struct tally *tally, struct table *t)
{
	size_t n_suspects = tally->n[C2C_SUSPECTED], n_stores = tally->n[C2C_STORES_ONLY];
	const char *text = c2c_nothing_found(s, t);

	if (tally->n[C2C_CONTENDED] > 0)
		text = contended_text(s, tally, t);
	else if (n_suspects + n_stores > 0 && c2c_has_writes(s))
		text = "no contended line found";
	if (n_suspects > 0 && s->lacks_stores && tally->n[C2C_CONTENDED] == 0)
		text = table_format(t, "%zu line%s may be contended%s", n_suspects,
				    plural(n_suspects), suspicion(s, t));
	else if (n_suspects > 0)
		text = table_format(t, "%s; %zu%s line%s may be contended%s", text, n_suspects,
				    tally->n[C2C_CONTENDED] > 0 ? " more" : "", plural(n_suspects),
				    suspicion(s, t));
	if (n_stores > 0)
		text = table_format(t,
				    "%s; %zu line%s written by several threads; waits of stores "
				    "are not recorded",
				    text, n_stores, n_stores == 1 ? " is" : "s are");
	return text;
}

/* What threads did one after the other made loads wait, too, but once. */
static void add_phases(const struct c2c *s, const struct tally *tally, struct table *t)
{
	if (tally->n_in_phases == 0 || tally->phases_share < C2C_LEAST_SHARE)
		return;
	add_fact(t, "phases",
		 table_format(t,
			      "threads used %zu line%s one after the other (no contention); "
			      "their first loads took %.1f %% of %s",
			      tally->n_in_phases, plural(tally->n_in_phases),
			      100 * tally->phases_share, c2c_latency_words(s)));
}

/* What speaks against it that a line is contended. */
enum ground { ONLY_READ, ONE_THREAD, NO_WAITS, FEW_WAITS, N_GROUNDS };

/* Counts the lines that were looked at and are not contended. Returns how many there are. */
static size_t count_ruled_out(const struct c2c *s, size_t out[N_GROUNDS])
{
	size_t n_all = 0;

	memset(out, 0, N_GROUNDS * sizeof(*out));
	for (size_t i = 0; i < s->subjects.n; i++) {
		const struct c2c_judgement *j = &s->subjects.items[i].judgement;

		if (c2c_class_of(s, &s->subjects.items[i]) != C2C_NOT_CONTENDED ||
		    c2c_is_in_phases(j))
			continue;
		n_all++;
		out[j->verdict == C2C_READ_ONLY	      ? ONLY_READ
		    : j->verdict == C2C_SINGLE_THREAD ? ONE_THREAD
		    : j->n_waited == 0		      ? NO_WAITS
						      : FEW_WAITS]++;
	}
	return n_all;
}

static void add_ruled_out(const struct c2c *s, struct table *t)
{
	static const char *const words[N_GROUNDS] = {
		[ONLY_READ] = "only read",
		[ONE_THREAD] = "used by one thread",
		[NO_WAITS] = "on which no load waited",
		[FEW_WAITS] = "with few or short waits",
	};
	size_t n[N_GROUNDS];
	struct text text = { 0 };

	if (count_ruled_out(s, n) == 0)
		return;
	for (size_t i = 0; i < N_GROUNDS; i++)
		if (n[i] > 0) {
			text_part(&text);
			text_format(&text, "%zu line%s %s", n[i], plural(n[i]), words[i]);
		}
	add_fact(t, "not contended", table_take_text(t, &text));
}

/* Are latencies not what the words on screen say, which is where issue was recorded? */
static bool has_other_latency(const struct c2c *s)
{
	return capture_spe(s->session->capture)->is_present && s->lines->loads.n > 0 &&
	       s->lines->lacks_issue;
}

static void summary_add_latency(const struct c2c *s, struct table *t)
{
	if (!has_other_latency(s))
		return;
	add_fact(t, "latency",
		 table_format(t,
			      "total latency: the time of issue was not recorded%s, so waits for "
			      "operands count, too",
			      s->lines->has_issue ? " for some accesses" : ""));
}

/* ", 12 of them on another socket"; with a mode of HITM, what came unmodified, too. */
static const char *seen_elsewhere(const struct c2c *s, struct table *t)
{
	const struct c2c_counts *c = &s->total;
	uint64_t n_peer = c2c_contended(c, C2C_BY_PEER);
	const char *text = "";

	if (s->options.mode != C2C_BY_PEER && n_peer > 0)
		return table_format(t, ", %s peer snoops (modified or not)",
				    table_human(t, cell_count(n_peer), ""));
	if (c->n[C2C_REMOTE_PEER] > 0)
		text = table_format(t, ", %s of them from another socket",
				    table_human(t, cell_count(c->n[C2C_REMOTE_PEER]), ""));
	return text;
}

/* "583 loads, 44 stores, 24 atomics to 170 lines, 55 loads from another core's cache" */
static void add_seen(const struct c2c *s, bool is_for_people, struct table *t)
{
	const struct c2c_counts *c = &s->total;
	char met_words[GROUPED_BYTES];
	static const char *const met[C2C_N_MODES] = {
		[C2C_BY_PEER] = "peer snoops",
		[C2C_BY_HITM] = "loads of lines modified by another core (HITM)",
		[C2C_BY_LOCAL_HITM] = "loads of lines modified on the same socket (HITM)",
		[C2C_BY_REMOTE_HITM] = "loads of lines modified on another socket (HITM)",
	};

	if (is_for_people && s->n_lines == 0)
		return;
	add_fact(t, is_for_people ? "samples" : "seen",
		 table_format(t, "%s to %s, %s %s%s", memory_counts_words(t, &s->lines->kinds),
			      table_human(t, cell_count(s->n_lines), "lines"),
			      grouped_u64(c2c_contended(c, s->options.mode), met_words),
			      met[s->options.mode], seen_elsewhere(s, t)));
}

/* Can a record of the CPU say that the data had been modified? */
static bool records_say_modified(const struct c2c *s)
{
	if (!capture_spe(s->session->capture)->is_present ||
	    c2c_contended(&s->total, C2C_BY_HITM) > 0)
		return true;
	for (uint32_t value = 0; value <= UINT16_MAX; value++) {
		const struct cpu_source *source = cpu_source(s->session->cpu, (uint16_t)value);

		if (source != NULL && source->is_modified)
			return true;
	}
	return false;
}

/* Modes of HITM count nothing where the CPU says only that the data came from a peer. */
static void add_mode(const struct c2c *s, struct table *t)
{
	if (s->options.mode == C2C_BY_PEER || records_say_modified(s))
		return;
	add_fact(t, "mode",
		 table_format(t,
			      "--mode %s counts nothing here: this CPU records peer snoops, but "
			      "not HITM; use --mode peer",
			      c2c_mode_names[s->options.mode]));
}

/* What names of Java objects rest on. */
static void add_heap_map(const struct c2c *s, struct table *t)
{
	struct text text = { 0 };

	data_heap_text(s->session, &text);
	if (text.n > 0)
		add_fact(t, "heap", table_take_text(t, &text));
}

/* What was not recorded. */
static void add_caution(const struct c2c *s, struct table *t)
{
	struct text text = { 0 };

	if (!spe_filters_sentence(s->session, &text))
		return;
	if (s->minimum_cycles > 1)
		text_str(&text, "; fast operations are missing, so shares are too high");
	add_fact(t, "caution", table_take_text(t, &text));
}

void c2c_summary_table(const struct c2c *s, const struct c2c_labels *labels, struct table *answer,
		       struct table *out)
{
	struct tally tally = count_causes(labels);

	table_init(out, "sharing", NULL, summary_columns, COUNT(summary_columns));
	out->style = TABLE_FACTS;
	out->readers = TABLE_FOR_PEOPLE;
	if (answer == NULL)
		add_fact(out, "answer", answer_text(s, &tally, out));
	else if (tally.n[C2C_CONTENDED] > 0)
		c2c_answer_findings(s, labels, answer);
	else
		answer_say_sentence(answer, answer_text(s, &tally, answer));
	add_phases(s, &tally, out);
	add_seen(s, answer != NULL, out);
	add_mode(s, out);
	add_ruled_out(s, out);
	summary_add_latency(s, out);
	add_heap_map(s, out);
	add_caution(s, out);
}

/* Sentences that the numbers need. */
static void note_facts(const struct c2c *s, struct table *t)
{
	struct table facts;

	table_init(&facts, "facts", NULL, summary_columns, COUNT(summary_columns));
	add_mode(s, &facts);
	summary_add_latency(s, &facts);
	add_heap_map(s, &facts);
	add_caution(s, &facts);
	for (size_t i = 0; i < table_n_rows(&facts); i++)
		table_note(t, "%s", table_cell(&facts, i, 1)->text);
	table_release(&facts);
}

void c2c_sharing_table(const struct c2c *s, const struct c2c_labels *labels, struct table *out)
{
	struct tally tally = count_causes(labels);
	size_t grounds[N_GROUNDS];
	struct cell *row;

	count_ruled_out(s, grounds);
	table_init(out, "sharing", NULL, sharing_columns, COUNT(sharing_columns));
	out->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(out);
	row[CONTENDED_LINES] = cell_count(tally.n[C2C_CONTENDED]);
	row[CONTENDED_OBJECTS] = cell_count(tally.n_objects);
	row[FALSE_SHARING] = cell_count(tally.n_false);
	row[TRUE_SHARING] = cell_count(tally.n_true);
	row[LOCKS] = cell_count(tally.n_locks);
	row[NOT_KNOWN] = cell_count(tally.n_unknown);
	if (s->lines->loads.cycles > 0) {
		row[SHARE] = cell_number(tally.share);
		row[SUCCESSIVE_SHARE] = cell_number(tally.phases_share);
	}
	row[SUSPECTED_LINES] = cell_count(tally.n[C2C_SUSPECTED]);
	row[WRITTEN_LINES] = cell_count(tally.n[C2C_STORES_ONLY]);
	row[SUCCESSIVE_LINES] = cell_count(tally.n_in_phases);
	row[MODE] = cell_text(c2c_mode_names[s->options.mode]);
	row[LOADS] = cell_count(s->lines->kinds.loads);
	row[STORES] = cell_count(s->lines->kinds.stores);
	row[ATOMICS] = cell_count(s->lines->kinds.atomics);
	row[LINES] = cell_count(s->n_lines);
	row[CONTENDED_LOADS] = cell_count(c2c_contended(&s->total, s->options.mode));
	row[PEER_LOADS] = cell_count(c2c_contended(&s->total, C2C_BY_PEER));
	row[REMOTE_LOADS] = cell_count(s->total.n[C2C_REMOTE_PEER]);
	row[CANDIDATES] = cell_count(s->n_candidates);
	row[READ_LINES] = cell_count(grounds[ONLY_READ]);
	row[OWNED_LINES] = cell_count(grounds[ONE_THREAD]);
	row[UNWAITED_LINES] = cell_count(grounds[NO_WAITS]);
	row[LITTLE_WAITED_LINES] = cell_count(grounds[FEW_WAITS]);
	row[IS_TOTAL] = cell_bool(has_other_latency(s));
	row[LACKS_STORES] = cell_bool(s->lacks_stores);
	if (s->options.mode != C2C_BY_PEER)
		row[SAYS_MODIFIED] = cell_bool(records_say_modified(s));
	row[LINE_BYTES] = cell_count(s->options.line_bytes);
	note_facts(s, out);
}
