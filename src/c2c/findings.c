/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be said of shared lines, in words: who wants which bytes, the cost, the fix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "c2c/accesses/cost.h"
#include "c2c/ranking.h"
#include "c2c/tables.h"
#include "c2c/verdict/verdict.h"
#include "data/data_names.h"
#include "data/short_name.h"

enum {
	SHOWN = 3,	   /* accesses of each kind that are named */
	LABEL_WIDTH = 120, /* columns of objects in sentences */
	NAME_WIDTH = 60,   /* … of a member */
};

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
	FINDING_OBJECTS,
	FINDING_LINES,
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
	[FINDING_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY | COLUMN_TRUST,
			    "of the latency of all sampled loads" },
	[FINDING_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "that waits most, or else writes most" },
	[FINDING_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "that the function is in" },
	[FINDING_WRITER] = { "writer", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "function that writes most" },
	[FINDING_OBJECTS] = { "objects", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			      "of one type, if it is about such" },
	[FINDING_LINES] = { "n_lines", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			    "lines that it is about" },
};

static const char *kind_words(const struct c2c_judgement *j)
{
	if (j->is_both)
		return j->verdict == C2C_FALSE ? "false sharing, and true sharing too"
					       : "true sharing, and false sharing too";
	switch (j->verdict) {
	case C2C_FALSE:
		return "false sharing";
	case C2C_TRUE:
		if (j->is_guarded)
			return "a contended lock, with the data that it guards";
		return j->has_lock ? "true sharing of a lock or atomic" : "true sharing";
	default:
		return j->reason == C2C_FEW_SAMPLES ? "perhaps contended, too few samples"
						    : "contended, kind unknown";
	}
}

/* "line 0x402000", "lines 0x402000, 0x402040 and 3 more" */
static void put_lines(const struct c2c *s, const struct c2c_cause *f, struct text *out)
{
	text_str(out, f->sum.space == C2C_PHYSICAL ? "physical line" : "line");
	text_str(out, plural(f->lines.n));
	for (size_t i = 0; i < f->lines.n && i < SHOWN; i++)
		text_format(out, "%s0x%" PRIx64, i > 0 ? ", " : " ",
			    s->subjects.items[f->lines.items[i]].address);
	if (f->lines.n > SHOWN)
		text_format(out, " and %zu more", f->lines.n - SHOWN);
}

static const char *claim_of(const struct c2c *s, const struct c2c_labels *labels,
			    const struct c2c_cause *f, struct table *t)
{
	const char *object = labels->objects[f->lines.items[0]];
	struct text text = { 0 };
	const char *out;

	text_format(&text, "%s: ", kind_words(&f->sum.judgement));
	if (object != NULL) {
		short_name(object, strlen(object), LABEL_WIDTH, &text);
		if (f->n_objects > 1)
			text_format(&text, " in %" PRIu32 " objects", f->n_objects);
		text_str(&text, ", ");
	}
	put_lines(s, f, &text);
	text_char(&text, '\0');
	out = table_text(t, text.bytes);
	text_release(&text);
	return out;
}

static const char *size_of(const struct c2c *s, const struct c2c_subject *subject, struct table *t)
{
	if (s->lines->loads.cycles > 0)
		return table_format(t, "%.1f %% \xc2\xb1 %.1f of %s", 100 * subject->share,
				    100 * subject->error, c2c_latency_words(s));
	return table_format(t, "%.1f %% of contended loads", 100 * c2c_contended_part(s, subject));
}

/* "bytes 8-15", or where it begins if its size is not known. */
static const char *bytes_text(const struct c2c_access *a, struct table *t)
{
	if (a->size == 0)
		return table_format(t, "byte %u on", a->offset);
	return table_format(t, "bytes %u-%u", a->offset, a->offset + a->size - 1);
}

static void place_text(const struct c2c *s, const struct c2c_access *a, struct text *out)
{
	const char *file;
	uint32_t line;

	names_place(&s->names, a->place, out);
	if (names_line(&s->names, a->place, &file, &line))
		text_format(out, "  %s:%" PRIu32, path_base(file), line);
}

static const char *threads_text(const struct c2c *s, const struct c2c_ranked *r, struct table *t)
{
	const struct c2c_access *a = &s->accesses.items[r->number];
	struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, s->order[a->first_touch]);

	if (r->n_threads == 1 && k.tid != UINT32_MAX)
		return table_format(t, "thread %" PRIu32, k.tid);
	return table_format(t, "%" PRIu32 " thread%s", r->n_threads, plural(r->n_threads));
}

/* The field of an access; of many objects without the number of an element: "table[].lock". */
static void field_text(const char *field, bool is_of_many, struct text *out)
{
	const char *start = is_of_many ? strchr(field, '[') : NULL;
	const char *end = start != NULL ? strchr(start, ']') : NULL;

	struct text plain = { 0 };

	if (end == NULL || start[1] < '0' || start[1] > '9') {
		short_name(field, strlen(field), NAME_WIDTH, out);
		return;
	}
	text_add(&plain, field, (size_t)(start - field) + 1);
	text_str(&plain, end);
	short_name(plain.bytes, plain.n, NAME_WIDTH, out);
	text_release(&plain);
}

/* "bytes 0-7  locker+0x48  sharing.c:7  thread 5001: 1493 stores" */
static const char *access_text(const struct c2c *s, const struct c2c_labels *labels,
			       const struct c2c_cause *f, const struct c2c_ranked *r, bool is_write,
			       struct table *t)
{
	const struct c2c_access *a = &s->accesses.items[r->number];
	const char *field = labels->fields[r->number];
	uint32_t n = is_write ? 0 : r->waits.n;
	struct text text = { 0 };
	const char *out;

	field_text(field != NULL ? field : bytes_text(a, t), f->n_objects > 1, &text);
	text_str(&text, "  ");
	place_text(s, a, &text);
	text_format(&text, "  %s: ", threads_text(s, r, t));
	if (n > 0)
		text_format(&text, "%" PRIu32 " of ", n);
	text_format(&text, "%" PRIu64 " %s%s", r->records, c2c_kind_name(a->kind),
		    plural(r->records));
	if (n > 0)
		text_format(&text, " %s, %.0f cycles",
			    r->has_reloads ? "waited" : "from another core",
			    (double)r->waits.cycles / (double)n);
	text_char(&text, '\0');
	out = table_text(t, text.bytes);
	text_release(&text);
	return out;
}

/* Names them. */
static void add_accesses(const struct c2c *s, const struct c2c_labels *labels,
			 const struct c2c_cause *f, bool writers, struct table *t,
			 struct cell *cells)
{
	struct c2c_ranking all = c2c_rank_accesses(s, f, writers);

	for (size_t i = 0; i < all.n && i < SHOWN; i++)
		cells[i] = cell_text(access_text(s, labels, f, &all.items[i], writers, t));
	if (all.n > SHOWN)
		cells[SHOWN - 1] = cell_text(table_format(t, "%s  (and %zu more instruction%s)",
							  cells[SHOWN - 1].text, all.n - SHOWN,
							  plural(all.n - SHOWN)));
	vec_release(&all);
}

static void put_functions(const struct c2c *s, const struct c2c_cause *f, struct table *t,
			  struct cell *row)
{
	uint32_t writer = c2c_first_place(s, f, true), place = c2c_first_place(s, f, false);

	if (writer != UINT32_MAX)
		row[FINDING_WRITER] = cell_text(table_text(t, names_function(&s->names, writer)));
	place = place != UINT32_MAX ? place : writer;
	if (place == UINT32_MAX)
		return;
	row[FINDING_FUNCTION] = cell_text(table_text(t, names_function(&s->names, place)));
	row[FINDING_MODULE] = cell_text(
		table_text(t, names_module(s->session, session_place(s->session, place).module)));
}

static const char *fix_of(const struct c2c_judgement *j)
{
	if (j->verdict == C2C_FALSE)
		return "keep what different threads use on lines of their own: align or pad it, or "
		       "give each thread a copy";
	if (j->verdict == C2C_TRUE && j->has_lock)
		return "take the lock or atomic less often: one for each part of the data, or a "
		       "counter for each thread";
	if (j->verdict == C2C_TRUE)
		return "write it less often, or give each thread a copy and add them up later";
	return NULL;
}

static double mean_of(const struct c2c_latency *l)
{
	return (double)l->cycles / (double)l->n;
}

static const char *took(const struct c2c_latency *l)
{
	return l->n_saturated > 0 ? "at least " : "";
}

/*
 * No cycles of the whole run: latencies overlap, within a thread and between threads, so that
 * their sum over all loads may be more than the program ran.
 */
static const char *cost_text(const struct c2c *s, const struct c2c_subject *subject,
			     struct table *t)
{
	const struct c2c_latency *c = &subject->contended, *r = &subject->reloads;
	const char *hit = "", *reloads = "";

	if (c->n + r->n == 0)
		return subject->judgement.n_waited > 0
			       ? "not measured: the capture has no latencies"
			       : "not measured: no sampled load waited for it";
	if (s->local_cycles > 0)
		hit = table_format(t, "%s a local hit takes %" PRIu64, r->n > 0 ? ";" : ",",
				   s->local_cycles);
	if (r->n > 0)
		reloads = table_format(
			t,
			"%s%" PRIu32
			" reload%s of what others wrote, from shared caches or memory, "
			"%s%.0f cycles (%.1f %% \xc2\xb1 %.1f)",
			c->n > 0 ? "; " : "", r->n, plural(r->n), took(r), mean_of(r),
			100 * subject->reload_share, 100 * subject->reload_error);
	if (c->n == 0)
		return table_format(t, "%s%s", reloads, hit);
	return table_format(t, "%" PRIu32 " load%s from another core took %s%.0f cycles%s%s", c->n,
			    plural(c->n), took(c), mean_of(c), reloads, hit);
}

static const char *why_unknown(const struct c2c_judgement *j, struct table *t)
{
	switch (j->reason) {
	case C2C_FEW_SAMPLES:
		return table_format(t,
				    "too few samples (%" PRIu32 " write%s, %" PRIu32
				    " load%s that waited): record longer or more often",
				    j->n_writes, plural(j->n_writes), j->n_waited,
				    plural(j->n_waited));
	case C2C_NO_STORES:
		return "the capture holds no stores: record stores, too";
	case C2C_STORES_LEFT_OUT:
		return "stores may have been left out when recorded, or by --select: take them all";
	case C2C_UNSEEN_STORES:
		return "loads found the line modified, but no store to it was sampled";
	case C2C_OTHER_TIMES:
		return "loads waited, but stores of other threads were sampled at other times only";
	case C2C_SIZES_UNKNOWN:
		return "accesses may overlap: their sizes are not known, because the program was "
		       "not found (--symfs DIR)";
	case C2C_VECTORS_UNKNOWN:
		return "accesses may overlap: how long vectors of SVE are is not in the records "
		       "(--vector-length BITS)";
	case C2C_PARTS_UNKNOWN:
		return "accesses may overlap: records do not say which elements of a vector its "
		       "predicate left out";
	default:
		return "";
	}
}

static const char *sure_text(const struct c2c_judgement *j, struct table *t)
{
	const char *parts = "";

	if (j->verdict == C2C_UNKNOWN)
		return why_unknown(j, t);
	if (j->is_both)
		parts = table_format(t, "; %.0f %% of it is false sharing", 100 * j->false_part);
	return table_format(t,
			    "%" PRIu32 " sampled write%s by %" PRIu32 " of %" PRIu32
			    " thread%s, %" PRIu32 " load%s that waited%s",
			    j->n_writes, plural(j->n_writes), j->n_writers, j->n_threads,
			    plural(j->n_threads), j->n_waited, plural(j->n_waited), parts);
}

/* Records of all its lines over time. */
static void put_slices(const struct c2c *s, const struct c2c_cause *f, struct table *t,
		       struct cell *row)
{
	size_t n = s->session->slices.n;
	uint64_t *sums = mem_zalloc(n + 1, sizeof(*sums));

	for (size_t line = 0; line < f->lines.n; line++)
		for (size_t i = 0; i < n; i++)
			sums[i] += c2c_slices(s, f->lines.items[line])[i];
	slices_show(&s->session->slices, sums, t, row);
	free(sums);
}

static void add_finding(const struct c2c *s, const struct c2c_labels *labels,
			const struct c2c_cause *f, struct table *t)
{
	uint32_t number = f->lines.items[0];
	const struct c2c_subject *subject = &f->sum;
	const struct c2c_judgement *j = &subject->judgement;
	const char *fix = labels->fixes[number] != NULL ? labels->fixes[number] : fix_of(j);
	struct cell *row = table_add_row(t);

	row[FINDING_CLAIM] = cell_text(claim_of(s, labels, f, t));
	row[FINDING_SIZE] =
		cell_marked(cell_text(size_of(s, subject, t)), c2c_share_mark(s, subject));
	if (labels->drawings[number] != NULL)
		row[FINDING_DRAWING] = cell_text(table_text(t, labels->drawings[number]));
	add_accesses(s, labels, f, true, t, row + FINDING_WRITES);
	add_accesses(s, labels, f, false, t, row + FINDING_READS);
	row[FINDING_COST] = cell_text(cost_text(s, subject, t));
	if (fix != NULL)
		row[FINDING_FIX] = cell_text(table_text(t, fix));
	row[FINDING_SURE] = cell_text(sure_text(j, t));
	row[FINDING_KIND] = cell_text(c2c_verdict_name(j->verdict));
	row[FINDING_LINE] = cell_count(number + 1);
	row[FINDING_SHARE] = cell_marked(cell_number(subject->share), c2c_share_mark(s, subject));
	if (f->n_objects > 0)
		row[FINDING_OBJECTS] = cell_count(f->n_objects);
	row[FINDING_LINES] = cell_count(f->lines.n);
	put_functions(s, f, t, row);
	put_slices(s, f, t, row);
}

void c2c_findings_table(const struct c2c *s, const struct c2c_labels *labels, struct table *out)
{
	const struct c2c_causes *causes = &labels->causes;
	size_t n_more = 0;

	table_init(out, "findings", "Lines that threads fight over", columns, COUNT(columns));
	out->style = TABLE_FINDINGS;
	slices_add_columns(&s->session->slices, "records", "records of the line over time", out);
	for (size_t i = 0; i < causes->list.n; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->finding == 0)
			continue;
		if (s->request.top == 0 || cause->finding <= s->request.top)
			add_finding(s, labels, cause, out);
		else
			n_more++;
	}
	if (n_more > 0)
		table_note(out, "%zu more; --all shows them", n_more);
	if (table_n_rows(out) == 0)
		table_note(out, "%s", c2c_nothing_found(s));
}
