/* SPDX-License-Identifier: Apache-2.0 */
/* How many lines are contended, what they cost together, and what that rests on. */
#include <inttypes.h>

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

	for (size_t i = 0; i < labels->causes.list.n; i++) {
		const struct c2c_cause *f = &labels->causes.list.items[i];

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

/* Lines that were looked at and are not contended, by what speaks against it. */
static void add_ruled_out(const struct c2c *s, struct table *t)
{
	enum { ONLY_READ, ONE_THREAD, NO_WAITS, FEW_WAITS, N_GROUNDS };
	static const char *const words[N_GROUNDS] = {
		[ONLY_READ] = "only read",
		[ONE_THREAD] = "used by one thread",
		[NO_WAITS] = "without waiting loads",
		[FEW_WAITS] = "with few or short waits",
	};
	size_t n[N_GROUNDS] = { 0 }, n_all = 0;
	struct text text = { 0 };

	for (size_t i = 0; i < s->subjects.n; i++) {
		const struct c2c_judgement *j = &s->subjects.items[i].judgement;

		if (c2c_class_of(s, &s->subjects.items[i]) != C2C_NOT_CONTENDED ||
		    c2c_is_in_phases(j))
			continue;
		n_all++;
		n[j->verdict == C2C_READ_ONLY	    ? ONLY_READ
		  : j->verdict == C2C_SINGLE_THREAD ? ONE_THREAD
		  : j->n_waited == 0		    ? NO_WAITS
						    : FEW_WAITS]++;
	}
	if (n_all == 0)
		return;
	text_format(&text, "%zu of %" PRIu64 " candidate line%s:", n_all, s->n_candidates,
		    plural(s->n_candidates));
	for (size_t i = 0; i < N_GROUNDS; i++)
		if (n[i] > 0)
			text_format(&text, "%s %zu %s", text.bytes[text.n - 1] == ':' ? "" : ",",
				    n[i], words[i]);
	text_char(&text, '\0');
	add_fact(t, "excluded", table_text(t, text.bytes));
	text_release(&text);
}

/* If latencies are not what the words on screen say, which is where issue was recorded. */
static void add_latency(const struct c2c *s, struct table *t)
{
	if (!capture_spe(s->session->capture)->is_present || s->lines->loads.n == 0 ||
	    !s->lines->lacks_issue)
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
		return table_format(t, ", %s from another core's cache (modified or not)",
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
	static const char *const met[C2C_N_MODES] = {
		[C2C_BY_PEER] = "from another core's cache",
		[C2C_BY_HITM] = "of lines modified by another core (HITM)",
		[C2C_BY_LOCAL_HITM] = "of lines modified on the same socket (HITM)",
		[C2C_BY_REMOTE_HITM] = "of lines modified on another socket (HITM)",
	};

	add_fact(
		t, is_for_people ? "samples" : "seen",
		table_format(t, "%s to %s, %s %s%s", memory_counts_words(t, &s->lines->kinds),
			     table_human(t, cell_count(s->n_lines), "lines"),
			     table_human(t, cell_count(c2c_contended(c, s->options.mode)), "loads"),
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
	if (text.n > 0) {
		text_char(&text, '\0');
		add_fact(t, "heap", table_text(t, text.bytes));
	}
	text_release(&text);
}

/* What was not recorded. */
static void add_caution(const struct c2c *s, struct table *t)
{
	struct text text = { 0 };

	if (!spe_filters_sentence(s->session, &text))
		return;
	if (s->minimum_cycles > 1)
		text_str(&text, "; fast operations are missing, so shares are too high");
	text_char(&text, '\0');
	add_fact(t, "caution", table_text(t, text.bytes));
	text_release(&text);
}

void c2c_summary_table(const struct c2c *s, const struct c2c_labels *labels, struct table *answer,
		       struct table *out)
{
	struct tally tally = count_causes(labels);

	table_init(out, "sharing", NULL, summary_columns, COUNT(summary_columns));
	out->style = TABLE_FACTS;
	out->is_keyed = true;
	if (answer == NULL)
		add_fact(out, "answer", answer_text(s, &tally, out));
	else if (tally.n[C2C_CONTENDED] > 0)
		c2c_say_findings(s, labels, answer);
	else
		answer_say_sentence(answer, answer_text(s, &tally, answer));
	add_phases(s, &tally, out);
	add_seen(s, answer != NULL, out);
	add_mode(s, out);
	add_ruled_out(s, out);
	add_latency(s, out);
	add_heap_map(s, out);
	add_caution(s, out);
}
