/* SPDX-License-Identifier: Apache-2.0 */
/* What findings of shared cache lines say: who wants which bytes, what it costs. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "data/short_name.h"
#include "findings/words_inside.h"

enum {
	OBJECT_WIDTH = 120, /* columns of objects in sentences */
	FIELD_WIDTH = 60,   /* … of a member */
};

static const char *verdict_words(const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;

	if (s->is_both)
		return f->kind == FINDING_FALSE_SHARING ? "false sharing, with true sharing"
							: "true sharing, with false sharing";
	switch (f->kind) {
	case FINDING_FALSE_SHARING:
		return "false sharing";
	case FINDING_TRUE_SHARING:
		if (s->is_guarded)
			return "contended lock with the data it protects";
		return s->has_lock ? "true sharing of a lock or atomic" : "true sharing";
	default:
		return s->doubt == DOUBT_FEW_SAMPLES ? "may be contended: too few samples"
						     : "contended line, kind not known";
	}
}

/* "line 0x402000", "lines 0x402000, 0x402040 and 3 more" */
static void put_lines(const struct finding_sharing *s, struct text *out)
{
	text_str(out, s->is_physical ? "physical line" : "line");
	text_str(out, plural(s->n_lines));
	for (size_t i = 0; i < s->n_lines && i < FINDING_LINES; i++)
		text_format(out, "%s0x%" PRIx64, i > 0 ? ", " : " ", s->lines[i]);
	if (s->n_lines > FINDING_LINES)
		text_format(out, " and %zu more", s->n_lines - FINDING_LINES);
}

const char *sharing_claim(struct table *t, const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	struct text text = { 0 };

	text_format(&text, "%s: ", verdict_words(f));
	if (s->object != NULL) {
		short_name(s->object, strlen(s->object), OBJECT_WIDTH, &text);
		if (s->n_objects > 1)
			text_format(&text, " in %" PRIu32 " objects", s->n_objects);
		if (s->n_variables > 1)
			text_format(&text, " and %" PRIu32 " more like it", s->n_variables - 1);
		text_str(&text, ", ");
	}
	put_lines(s, &text);
	return words_take(t, &text);
}

const char *sharing_size(struct table *t, const struct finding *f)
{
	if (!f->sharing->has_latency)
		return table_format(t, "%.1f %% of contended loads", 100 * f->value);
	return table_format(t, "%.1f %% \xc2\xb1 %.1f of %s", 100 * f->size.share,
			    100 * f->size.error, f->size.whole);
}

/* "bytes 0-7  locker+0x48  sharing.c:7  thread 5001: 1493 stores" */
static const char *access_words(struct table *t, const struct finding *f,
				const struct finding_access *a)
{
	struct text text = { 0 };

	if (a->field != NULL)
		short_name(a->field, strlen(a->field), FIELD_WIDTH, &text);
	else if (a->size == 0)
		text_format(&text, "byte %u on", a->offset);
	else
		text_format(&text, "bytes %u-%u", a->offset, a->offset + a->size - 1);
	text_str(&text, "  ");
	put_place(&a->place, &text);
	if (a->n_threads == 1 && a->tid != UINT32_MAX)
		text_format(&text, "  thread %" PRIu32 ": ", a->tid);
	else
		text_format(&text, "  %" PRIu32 " thread%s: ", a->n_threads, plural(a->n_threads));
	if (a->n_waited > 0)
		text_format(&text, "%" PRIu32 " of ", a->n_waited);
	text_format(&text, "%" PRIu64 " %s%s", a->records, a->operation, plural(a->records));
	if (a->n_waited > 0)
		text_format(&text, " %s, mean %.0f cycles",
			    a->has_reloads	     ? "waited"
			    : f->sharing->is_by_hitm ? "hit lines modified by another core"
						     : "hit another core's cache",
			    a->wait_cycles);
	return words_take(t, &text);
}

/* The last that is shown, if there are more. */
static const char *last_access_words(struct table *t, const struct finding *f,
				     const struct finding_access *a, size_t i, size_t n)
{
	const char *words = access_words(t, f, a);

	if (i + 1 < FINDING_ACCESSES || n <= FINDING_ACCESSES)
		return words;
	return table_format(t, "%s  (and %zu more instruction%s)", words, n - FINDING_ACCESSES,
			    plural(n - FINDING_ACCESSES));
}

void sharing_show_accesses(struct table *t, const struct finding *f, bool writers,
			   struct cell *cells)
{
	const struct finding_sharing *s = f->sharing;
	const struct finding_access *accesses = writers ? s->writes : s->reads;
	size_t n = writers ? s->n_write_places : s->n_read_places;

	for (size_t i = 0; i < n && i < FINDING_ACCESSES; i++)
		cells[i] = cell_text(last_access_words(t, f, &accesses[i], i, n));
}

/* The instruction that writes most and the one that waits most: a cause has two places. */
const char *sharing_where(struct table *t, const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	const char *writes = NULL, *reads = NULL;

	if (s->n_write_places > 0)
		writes = access_words(t, f, &s->writes[0]);
	if (s->n_read_places > 0)
		reads = access_words(t, f, &s->reads[0]);
	if (writes != NULL && reads != NULL)
		return table_format(t, "writes %s; reads %s", writes, reads);
	return writes != NULL ? writes : reads != NULL ? reads : "";
}

size_t sharing_shown(size_t n_places)
{
	return n_places < FINDING_ACCESSES ? n_places : FINDING_ACCESSES;
}

const struct finding_place *sharing_first_write(const struct finding_sharing *s)
{
	for (size_t i = 0; i < sharing_shown(s->n_write_places); i++)
		if (s->writes[i].place.file != NULL)
			return &s->writes[i].place;
	return &s->writes[0].place;
}

const char *sharing_waiters(const struct finding_sharing *s, uint64_t n)
{
	for (size_t i = 0; i < sharing_shown(s->n_read_places); i++)
		if (s->reads[i].operation != NULL && strcmp(s->reads[i].operation, "atomic") == 0)
			return n == 1 ? "access" : "accesses";
	return n == 1 ? "load" : "loads";
}

static const char *least_words(const struct finding_waits *w)
{
	return w->n_saturated > 0 ? "at least " : "";
}

/* ", 12 of 53 from another socket, 40 modified there (HITM)" */
static void put_kinds(const struct finding_sharing *s, struct text *out)
{
	if (s->n_remote > 0)
		text_format(out, ", %" PRIu32 " of %" PRIu32 " from another socket", s->n_remote,
			    s->n_contended);
	if (s->n_modified > 0 && !s->is_by_hitm)
		text_format(out, ", %" PRIu32 " of %" PRIu32 " modified there (HITM)",
			    s->n_modified, s->n_contended);
}

/*
 * No cycles of the whole run: latencies overlap, within a thread and between threads, so that
 * their sum over all loads may be more than the program ran.
 */
const char *sharing_cost_words(struct table *t, const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	const struct finding_waits *c = &s->contended, *r = &s->reloads;
	struct text text = { 0 };

	if (c->n + r->n == 0)
		return s->has_waited ? "not known: the capture has no latencies"
				     : "not known: no sampled load waited";
	if (c->n > 0) {
		text_format(&text, "%" PRIu32 " %s %s: mean %s%.0f cycles", c->n,
			    sharing_waiters(s, c->n),
			    s->is_by_hitm ? "of lines modified by another core (HITM)"
					  : "from another core",
			    least_words(c), c->mean_cycles);
		put_kinds(s, &text);
	}
	if (r->n > 0)
		text_format(&text,
			    "%s%" PRIu32
			    " reload%s of lines that other threads wrote, from %sshared caches or "
			    "memory: mean %s%.0f cycles (%.1f %% \xc2\xb1 %.1f)",
			    c->n > 0 ? "; " : "", r->n, plural(r->n),
			    s->is_by_hitm ? "other cores, " : "", least_words(r), r->mean_cycles,
			    100 * s->reload_share, 100 * s->reload_error);
	if (s->local_cycles > 0)
		text_format(&text, "%s a local hit takes %" PRIu64 " cycles", r->n > 0 ? ";" : ",",
			    s->local_cycles);
	return words_take(t, &text);
}

void put_sharing_time(struct table *t, const struct finding_sharing *s, struct text *out)
{
	text_format(out, "%.1f %% \xc2\xb1 %.1f of the run time of %s", 100 * s->gain,
		    100 * s->gain_error,
		    s->gain_threads == 1
			    ? "the waiting thread"
			    : table_format(t, "the %" PRIu32 " waiting threads", s->gain_threads));
	if (s->gain_of_all > 0)
		text_format(out, ", %.1f %% of that of all threads", 100 * s->gain_of_all);
}

/* ", another socket (0 of 53 loads)" */
static void put_ruled_out(const char *words, struct text *out)
{
	text_str(out, out->n > 0 ? ", " : "");
	text_str(out, words);
}

/* Other causes of such waits, with what speaks against them; NULL: none is ruled out. */
const char *sharing_ruled_out_words(struct table *t, const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	bool is_false = f->kind == FINDING_FALSE_SHARING;
	struct text text = { 0 };

	if (f->kind == FINDING_CONTENDED)
		return NULL;
	if (s->is_common)
		put_ruled_out(table_format(t,
					   "false sharing (%.0f %% of the waits; but with a cache "
					   "line for each thread they would wait nearly as often)",
					   100 * s->false_part),
			      &text);
	else if (!s->is_both && !s->is_guarded)
		put_ruled_out(table_format(t, "%s (%.0f %% of the waits)",
					   is_false ? "true sharing" : "false sharing",
					   100 * (is_false ? 1 - s->false_part : s->false_part)),
			      &text);
	if (!s->has_lock)
		put_ruled_out("a lock (no atomics or exclusives)", &text);
	if (s->n_contended > 0 && s->n_remote == 0)
		put_ruled_out(table_format(t, "another socket (0 of %" PRIu32 " %s)",
					   s->n_contended, sharing_waiters(s, s->n_contended)),
			      &text);
	if (s->contended.n > 0 && s->reloads.n == 0)
		put_ruled_out("evictions (all of them hit another core's cache)", &text);
	return words_take(t, &text);
}

static const char *const doubt_words[] = {
	[DOUBT_NO_STORES] = "the capture has no stores: record stores, too",
	[DOUBT_STORES_FILTERED] =
		"stores may be missing: a filter of the recording or --select may hide them",
	[DOUBT_STORES_UNSEEN] =
		"loads found the line modified (HITM), but no store to it was sampled",
	[DOUBT_OTHER_TIMES] =
		"loads waited, but other threads' stores were sampled at other times only",
	[DOUBT_SIZES] = "the sizes of accesses are not known, as the program was not found: give "
			"--symfs DIR",
	[DOUBT_VECTOR_LENGTH] = "the sizes of accesses are not known, as the SVE vector length was "
				"not recorded: give --vector-length BITS",
	[DOUBT_PREDICATES] =
		"the accessed bytes are not known: SPE does not record predicates of vectors",
	[DOUBT_OTHER] = "",
};

const char *sharing_writes(struct table *t, const struct finding_sharing *s)
{
	const char *stores =
		table_human(t, cell_count(s->n_stores), s->n_stores == 1 ? "store" : "stores");
	const char *atomics =
		table_human(t, cell_count(s->n_atomics), s->n_atomics == 1 ? "atomic" : "atomics");

	if (s->n_atomics == 0)
		return stores;
	return s->n_stores == 0 ? atomics : table_format(t, "%s and %s", stores, atomics);
}

const char *sharing_confidence(struct table *t, const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	const char *parts = "";

	if (f->kind == FINDING_CONTENDED && s->doubt == DOUBT_FEW_SAMPLES)
		return table_format(t,
				    "too few samples (%s, %" PRIu32
				    " waiting %s): record longer, or sample more often",
				    sharing_writes(t, s), s->n_waited,
				    sharing_waiters(s, s->n_waited));
	if (f->kind == FINDING_CONTENDED)
		return doubt_words[s->doubt];
	if (s->is_both)
		parts = table_format(t, "; %.0f %% of it is false sharing", 100 * s->false_part);
	return table_format(t,
			    "%s by %" PRIu32 " of %" PRIu32 " threads, %" PRIu32 " waiting %s%s%s",
			    sharing_writes(t, s), s->n_writers, s->n_threads, s->n_waited,
			    sharing_waiters(s, s->n_waited), parts,
			    s->has_latency ? "; \xc2\xb1: 95 % interval" : "");
}
