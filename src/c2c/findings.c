/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of shared lines: who wants which bytes, what it costs, the fix. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "c2c/accesses/cost.h"
#include "c2c/fix/gain.h"
#include "c2c/ranking.h"
#include "c2c/tables.h"
#include "c2c/verdict/verdict.h"
#include "findings/words.h"
#include "table/answer.h"

/* Less than this of the latency of loads is not in a report. */
static const double least_share = 0.01;

/* Of contended loads, from another socket: with less, threads on one node would not gain much. */
static const double least_remote = 0.1;

enum column_index {
	CLAIM,
	SIZE,
	FIX, /* first what to do, then why */
	DRAWING,
	WRITES,
	READS = WRITES + FINDING_ACCESSES,
	COST = READS + FINDING_ACCESSES,
	GAIN,
	SURE,
	RULED_OUT,
	KIND,
	REMEDY_ID,
	LINE,
	OBJECT,
	OBJECT_TYPE,
	OBJECT_BYTES,
	OBJECTS,
	LINES,
	SHARE,
	SHARE_ERROR,
	CONTENDED_SHARE,
	FUNCTION,
	MODULE,
	WRITER,
	N_STORES,
	N_ATOMICS,
	N_WRITERS,
	N_THREADS,
	N_WAITED,
	CONTENDED,
	REMOTE,
	MODIFIED,
	CONTENDED_MEAN,
	RELOADS,
	RELOAD_MEAN,
	RELOAD_SHARE,
	RELOAD_ERROR,
	LOCAL_CYCLES,
	FALSE_PART,
	HAS_LOCK,
	IS_GUARDED,
	GAIN_SHARE,
	GAIN_ERROR,
	GAIN_OF_ALL,
	GAIN_THREADS,
	N_COLUMNS,
};

#define PROSE(name, title, flags, meaning)                                                         \
	{                                                                                          \
		name, title, "", CELL_TEXT, COLUMN_GROW | (flags), meaning                         \
	}
#define FACT(name, unit, type, meaning)                                                            \
	{                                                                                          \
		name, NULL, unit, type, COLUMN_MACHINE_ONLY, meaning                               \
	}

static const struct column columns[N_COLUMNS] = {
	[CLAIM] = PROSE("claim", NULL, COLUMN_MESSAGE, "kind of sharing, object and cache line"),
	[SIZE] = { "size", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY,
		   "cost as a share of load latency" },
	[DRAWING] = PROSE("drawing", "", COLUMN_TEXT_ONLY,
			  "the object, and which threads access which members"),
	[WRITES] = PROSE("writes", NULL, COLUMN_TEXT_ONLY, "the instruction that writes most"),
	[WRITES + 1] = PROSE("writes_2", " ", COLUMN_TEXT_ONLY, "the next one"),
	[WRITES + 2] = PROSE("writes_3", " ", COLUMN_TEXT_ONLY, "the next one"),
	[READS] = PROSE("reads", NULL, COLUMN_TEXT_ONLY, "the instruction whose loads wait most"),
	[READS + 1] = PROSE("reads_2", " ", COLUMN_TEXT_ONLY, "the next one"),
	[READS + 2] = PROSE("reads_3", " ", COLUMN_TEXT_ONLY, "the next one"),
	[COST] = PROSE("cost", NULL, COLUMN_TEXT_ONLY, "the waits behind the cost"),
	[GAIN] = PROSE("gain", NULL, COLUMN_TEXT_ONLY, "what a fix would save"),
	[FIX] = PROSE("fix", NULL, COLUMN_MESSAGE, "what to change"),
	[RULED_OUT] = PROSE("not", "excluded", COLUMN_TEXT_ONLY,
			    "other causes, and why they are excluded"),
	[SURE] = PROSE("sure", "confidence", COLUMN_TEXT_ONLY,
		       "samples that the conclusion rests on"),
	[KIND] = FACT("kind", "", CELL_TEXT, "kind of sharing"),
	[REMEDY_ID] = FACT("remedy_id", "", CELL_TEXT, "id of the first remedy"),
	[LINE] = FACT("line", "", CELL_COUNT, "number of the line among `lines`"),
	[OBJECT] = FACT("object", "", CELL_TEXT, "object on the line: a variable, or a type"),
	[OBJECT_TYPE] = FACT("object_type", "", CELL_TEXT, "type of that object"),
	[OBJECT_BYTES] = FACT("object_bytes", "bytes", CELL_COUNT, "size of that object"),
	[OBJECTS] = FACT("objects", "", CELL_COUNT,
			 "number of objects, for a finding of many objects of one type"),
	[LINES] = FACT("n_lines", "", CELL_COUNT, "number of cache lines"),
	[SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY | COLUMN_TRUST,
		    "part of the latency of all sampled loads" },
	[SHARE_ERROR] = FACT("share_error", "", CELL_NUMBER, "half of its 95 % interval"),
	[CONTENDED_SHARE] =
		FACT("contended_share", "", CELL_NUMBER, "of all contended loads, those to it"),
	[FUNCTION] = FACT("function", "", CELL_TEXT,
			  "function that waits most; without one, that writes most"),
	[MODULE] = FACT("module", "", CELL_TEXT, "module of the function"),
	[WRITER] = FACT("writer", "", CELL_TEXT, "function that writes most"),
	[N_STORES] = FACT("stores", "records", CELL_COUNT, "to it, atomics left out"),
	[N_ATOMICS] = FACT("atomics", "records", CELL_COUNT, "that write it"),
	[N_WRITERS] = FACT("writing_threads", "", CELL_COUNT, "that these are of"),
	[N_THREADS] = FACT("threads", "", CELL_COUNT, "that accessed it"),
	[N_WAITED] = FACT("waiting_loads", "records", CELL_COUNT, "of other threads' stores"),
	[CONTENDED] = FACT("contended_loads", "records", CELL_COUNT, "by the mode"),
	[REMOTE] = FACT("remote_loads", "records", CELL_COUNT, "of these, from another socket"),
	[MODIFIED] = FACT("hitm_loads", "records", CELL_COUNT,
			  "of what another core had modified, as far as records say it"),
	[CONTENDED_MEAN] = { "contended_mean_cycles", NULL, "cycles", CELL_NUMBER,
			     COLUMN_MACHINE_ONLY | COLUMN_TRUST, "mean latency of these" },
	[RELOADS] = FACT("reloads", "records", CELL_COUNT,
			 "of what others wrote, from elsewhere than another core"),
	[RELOAD_MEAN] = { "reload_mean_cycles", NULL, "cycles", CELL_NUMBER,
			  COLUMN_MACHINE_ONLY | COLUMN_TRUST, "mean latency of these" },
	[RELOAD_SHARE] = FACT("reload_share", "", CELL_NUMBER, "their part of the share"),
	[RELOAD_ERROR] = FACT("reload_error", "", CELL_NUMBER, "half of its 95 % interval"),
	[LOCAL_CYCLES] =
		FACT("local_hit_cycles", "cycles", CELL_COUNT, "that a hit in the own cache takes"),
	[FALSE_PART] = FACT("false_share", "", CELL_NUMBER,
			    "of the waits, for other bytes than those written"),
	[HAS_LOCK] = FACT("has_lock", "", CELL_BOOL, "atomics or exclusives access it"),
	[IS_GUARDED] = FACT("is_guarded", "", CELL_BOOL, "a lock with the data that it guards"),
	[GAIN_SHARE] = { "gain_share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY | COLUMN_TRUST,
			 "part of the waiting threads' run time that a fix would save" },
	[GAIN_ERROR] = FACT("gain_error", "", CELL_NUMBER, "half of its 95 % interval"),
	[GAIN_OF_ALL] = FACT("gain_of_all", "", CELL_NUMBER,
			     "the same as a part of the run time of all threads; absent: they "
			     "all wait"),
	[GAIN_THREADS] = FACT("gain_threads", "", CELL_COUNT, "that wait"),
};

/* What verdicts are as findings. */
static enum finding_kind finding_kind_of_verdict(const struct c2c_judgement *j)
{
	switch (j->verdict) {
	case C2C_FALSE:
		return FINDING_FALSE_SHARING;
	case C2C_TRUE:
		return FINDING_TRUE_SHARING;
	default:
		return FINDING_CONTENDED;
	}
}

static enum finding_doubt doubt_of(const struct c2c_judgement *j)
{
	switch (j->reason) {
	case C2C_FEW_SAMPLES:
		return DOUBT_FEW_SAMPLES;
	case C2C_NO_STORES:
		return DOUBT_NO_STORES;
	case C2C_STORES_LEFT_OUT:
		return DOUBT_STORES_FILTERED;
	case C2C_UNSEEN_STORES:
		return DOUBT_STORES_UNSEEN;
	case C2C_OTHER_TIMES:
		return DOUBT_OTHER_TIMES;
	case C2C_SIZES_UNKNOWN:
		return DOUBT_SIZES;
	case C2C_VECTORS_UNKNOWN:
		return DOUBT_VECTOR_LENGTH;
	case C2C_PARTS_UNKNOWN:
		return DOUBT_PREDICATES;
	default:
		return DOUBT_OTHER;
	}
}

/* What findings are made of. */
struct filling {
	const struct c2c *s;
	const struct c2c_labels *labels;
	const struct c2c_cause *cause;
	struct findings *out;
	struct c2c_ranking writers, readers;
};

static struct finding_access access_of(const struct filling *t, const struct c2c_ranked *r,
				       bool is_write)
{
	const struct c2c_access *a = &t->s->accesses.items[r->number];
	struct c2c_touch_key k = c2c_touch_key(t->s->accesses_seen, a->first_touch);
	const char *const *fields =
		t->cause->n_objects > 1 ? t->labels->fields_of_any : t->labels->fields;
	uint32_t n = is_write ? 0 : r->waits.n;

	return (struct finding_access){
		.field = findings_text(t->out, fields[r->number]),
		.offset = a->offset,
		.size = a->size,
		.place = findings_place(t->out, &t->s->names, a->place),
		.operation = c2c_kind_name(a->kind),
		.records = r->records,
		.n_threads = r->n_threads,
		.tid = k.tid,
		.n_waited = n,
		.wait_cycles = n > 0 ? (double)r->waits.cycles / (double)n : 0,
		.has_reloads = r->has_reloads,
	};
}

/* Returns how many there are; those that matter most are filled in. */
static size_t add_accesses(const struct filling *t, bool writers, struct finding_access *out)
{
	const struct c2c_ranking *all = writers ? &t->writers : &t->readers;

	for (size_t i = 0; i < all->n && i < FINDING_ACCESSES; i++)
		out[i] = access_of(t, &all->items[i], writers);
	return all->n;
}

static struct finding_waits c2c_findings_waits_of(const struct c2c_latency *l)
{
	return (struct finding_waits){
		.n = l->n,
		.n_saturated = l->n_saturated,
		.mean_cycles = (double)l->cycles / (double)l->n,
	};
}

static struct finding_sharing *sharing_of(const struct filling *t)
{
	const struct c2c_subject *subject = &t->cause->sum;
	const struct c2c_judgement *j = &subject->judgement;
	const struct c2c_gain gain = c2c_gain_of(t->s, t->cause);
	uint32_t line = t->cause->lines.items[0];
	struct finding_sharing *out = arena_alloc(&t->out->memory, sizeof(*out));

	*out = (struct finding_sharing){
		.object = findings_text(t->out, t->labels->objects[line]),
		.name = findings_text(t->out, t->labels->names[line]),
		.type = findings_text(t->out, t->labels->details[line].type),
		.bytes = t->labels->details[line].bytes,
		.n_objects = t->cause->n_objects,
		.n_variables = t->cause->n_variables,
		.n_lines = t->cause->lines.n,
		.is_physical = subject->space == C2C_PHYSICAL,
		.is_both = j->is_both,
		.false_part = j->false_part,
		.is_guarded = j->is_guarded,
		.is_common = j->is_common,
		.has_lock = j->has_lock,
		.doubt = doubt_of(j),
		.has_latency = t->s->lines->loads.cycles > 0,
		.has_waited = j->n_waited > 0,
		.n_stores = j->n_writes - j->n_atomics,
		.n_atomics = j->n_atomics,
		.n_writers = j->n_writers,
		.n_threads = j->n_threads,
		.n_waited = j->n_waited,
		.n_remote = c2c_contended_remote(&subject->counts, t->s->options.mode),
		.n_contended = (uint32_t)c2c_contended(&subject->counts, t->s->options.mode),
		.n_modified =
			subject->counts.n[C2C_LOCAL_HITM] + subject->counts.n[C2C_REMOTE_HITM],
		.is_by_hitm = t->s->options.mode != C2C_BY_PEER,
		.has_gain = gain.is_known,
		.gain = gain.share,
		.gain_error = gain.error,
		.gain_of_all = gain.of_all,
		.gain_threads = gain.n_threads,
		.gain_is_limit = gain.is_limit,
		.contended = c2c_findings_waits_of(&subject->contended),
		.reloads = c2c_findings_waits_of(&subject->reloads),
		.reload_share = subject->reload_share,
		.reload_error = subject->reload_error,
		.local_cycles = t->s->local_cycles,
	};
	for (size_t i = 0; i < out->n_lines && i < FINDING_LINES; i++)
		out->lines[i] = t->s->subjects.items[t->cause->lines.items[i]].address;
	out->n_write_places = add_accesses(t, true, out->writes);
	out->n_read_places = add_accesses(t, false, out->reads);
	return out;
}

/* Lines that cross sockets: threads on one node would wait less. */
static void add_remote_remedy(struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	double part = s->n_contended == 0 ? 0 : (double)s->n_remote / s->n_contended;

	if (part >= least_remote)
		finding_add_remedy(
			f, (struct remedy){ .kind = REMEDY_ONE_NODE, .percent = 100 * part });
}

/* The words are those of the layout, where it is known: of what to move, or why that is no use. */
static struct remedy remedy_of(const struct filling *t)
{
	const struct c2c_judgement *j = &t->cause->sum.judgement;
	uint32_t line = t->cause->lines.items[0];
	const char *fix = findings_text(t->out, t->labels->fixes[line]);

	if (j->verdict != C2C_FALSE && j->verdict != C2C_TRUE)
		return (struct remedy){ .kind = REMEDY_NONE };
	if (t->labels->moves_data[line] && fix != NULL)
		return (struct remedy){ .kind = REMEDY_LAYOUT, .text = fix };
	if (j->verdict == C2C_FALSE && fix == NULL)
		return (struct remedy){ .kind = REMEDY_SEPARATE_THREADS };
	return (struct remedy){ .kind = j->has_lock ? REMEDY_LOCK_LESS : REMEDY_WRITE_LESS,
				.text = fix };
}

static void add_functions(const struct filling *t, struct finding *f)
{
	const struct c2c *s = t->s;
	uint32_t writer = c2c_ranking_place(s, &t->writers);
	uint32_t place = c2c_ranking_place(s, &t->readers);

	if (writer != UINT32_MAX)
		f->writer = findings_text(t->out, names_function(&s->names, writer));
	place = place != UINT32_MAX ? place : writer;
	if (place == UINT32_MAX)
		return;
	f->function = findings_text(t->out, names_function(&s->names, place));
	f->module = findings_text(
		t->out, names_module(s->session, session_place(s->session, place).module));
}

static struct finding *add_finding(const struct c2c *s, const struct c2c_labels *labels,
				   const struct c2c_cause *cause, struct findings *out)
{
	struct filling t = {
		.s = s,
		.labels = labels,
		.cause = cause,
		.out = out,
		.writers = c2c_rank_accesses(s, cause, true),
		.readers = c2c_rank_accesses(s, cause, false),
	};
	const struct c2c_subject *subject = &cause->sum;
	struct finding *f = findings_add(out, finding_kind_of_verdict(&subject->judgement));

	f->value = c2c_contended_part(s, subject);
	f->size = (struct finding_size){
		.share = subject->share,
		.error = subject->error,
		.mark = c2c_share_mark(s, subject),
		.of = WHOLE_LOAD_LATENCY,
		.whole = c2c_latency_words(s),
	};
	f->sharing = sharing_of(&t);
	f->command = "c2c";
	finding_add_remedy(f, remedy_of(&t));
	add_remote_remedy(f);
	add_functions(&t, f);
	vec_release(&t.writers);
	vec_release(&t.readers);
	return f;
}

void c2c_add_findings(const struct c2c *s, const struct c2c_labels *labels, struct findings *out)
{
	const struct c2c_causes *causes = labels->causes;
	size_t n = 0;

	for (size_t i = 0; i < causes->list.n; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->finding == 0 || cause->sum.share < least_share ||
		    (s->request.top > 0 && cause->finding > s->request.top))
			continue;
		findings_absorb(out, add_finding(s, labels, cause, out));
		n++;
	}
	if (n == 0)
		return;
	out->silences.n = 0; /* which said that there are none */
	findings_sort(out);
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

static struct cell mean_cell(const struct finding_waits *w)
{
	if (w->n == 0)
		return (struct cell){ 0 };
	return cell_marked(cell_number(w->mean_cycles), mark_bound(w->n_saturated > 0, false));
}

/* What is said in words, as numbers. */
static void put_amounts(struct table *t, const struct finding *f, struct cell *row)
{
	const struct finding_sharing *s = f->sharing;

	if (f->remedies.n > 0 && f->remedies.items[0].kind != REMEDY_NONE)
		row[REMEDY_ID] = cell_text(finding_remedy_id(f->remedies.items[0].kind));
	row[OBJECT] = table_text_cell(t, s->name);
	row[OBJECT_TYPE] = table_text_cell(t, s->type);
	if (s->bytes > 0)
		row[OBJECT_BYTES] = cell_count(s->bytes);
	if (s->has_latency) {
		row[SHARE] = cell_marked(cell_number(f->size.share), f->size.mark);
		row[SHARE_ERROR] = cell_number(f->size.error);
	}
	row[CONTENDED_SHARE] = cell_number(f->value);
	row[N_STORES] = cell_count(s->n_stores);
	row[N_ATOMICS] = cell_count(s->n_atomics);
	row[N_WRITERS] = cell_count(s->n_writers);
	row[N_THREADS] = cell_count(s->n_threads);
	row[N_WAITED] = cell_count(s->n_waited);
	row[CONTENDED] = cell_count(s->n_contended);
	row[REMOTE] = cell_count(s->n_remote);
	row[MODIFIED] = cell_count(s->n_modified);
	row[CONTENDED_MEAN] = mean_cell(&s->contended);
	row[RELOADS] = cell_count(s->reloads.n);
	row[RELOAD_MEAN] = mean_cell(&s->reloads);
	if (s->reloads.n > 0) {
		row[RELOAD_SHARE] = cell_number(s->reload_share);
		row[RELOAD_ERROR] = cell_number(s->reload_error);
	}
	if (s->local_cycles > 0)
		row[LOCAL_CYCLES] = cell_count(s->local_cycles);
	if (f->kind != FINDING_CONTENDED)
		row[FALSE_PART] = cell_number(s->false_part);
	row[HAS_LOCK] = cell_bool(s->has_lock);
	row[IS_GUARDED] = cell_bool(s->is_guarded);
	if (s->has_gain) {
		row[GAIN_SHARE] =
			cell_marked(cell_number(s->gain), mark_bound(false, s->gain_is_limit));
		row[GAIN_ERROR] = cell_number(s->gain_error);
		if (s->gain_of_all > 0)
			row[GAIN_OF_ALL] = cell_number(s->gain_of_all);
		row[GAIN_THREADS] = cell_count(s->gain_threads);
	}
}

static void c2c_findings_add_row(const struct c2c *s, const struct c2c_labels *labels,
				 const struct c2c_cause *cause, const struct finding *f,
				 struct table *t)
{
	uint32_t number = cause->lines.items[0];
	struct cell *row = table_add_row(t);

	row[CLAIM] = cell_text(finding_claim_words(t, f));
	row[SIZE] = cell_marked(cell_text(finding_size_words(t, f)), f->size.mark);
	row[DRAWING] = table_text_cell(t, labels->drawings[number]);
	sharing_show_accesses(t, f, true, row + WRITES);
	sharing_show_accesses(t, f, false, row + READS);
	row[COST] = cell_text(sharing_cost_words(t, f));
	row[GAIN] = table_text_cell(t, finding_gain_brief(t, f));
	row[FIX] = table_text_cell(t, finding_remedy_words(t, f));
	row[SURE] = cell_text(finding_confidence_words(t, f));
	row[RULED_OUT] = table_text_cell(t, sharing_ruled_out_words(t, f));
	row[KIND] = cell_text(finding_kind_name(f->kind));
	row[LINE] = cell_count(number + 1);
	if (cause->n_objects > 0 || cause->n_variables > 1)
		row[OBJECTS] =
			cell_count(cause->n_objects > 0 ? cause->n_objects : cause->n_variables);
	row[LINES] = cell_count(cause->lines.n);
	row[FUNCTION] = table_text_cell(t, f->function);
	row[MODULE] = table_text_cell(t, f->module);
	row[WRITER] = table_text_cell(t, f->writer);
	put_amounts(t, f, row);
	put_slices(s, cause, t, row);
}

void c2c_answer_findings(const struct c2c *s, const struct c2c_labels *labels, struct table *answer)
{
	const struct c2c_causes *causes = labels->causes;
	struct findings found = { 0 };
	size_t n = 0, n_false = 0;

	for (size_t i = 0; i < causes->list.n; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->class != C2C_CONTENDED)
			continue;
		n_false += cause->sum.judgement.verdict == C2C_FALSE;
		if (n++ == 0)
			finding_answer(answer, add_finding(s, labels, cause, &found));
	}
	if (n > 1)
		answer_say(answer, "%zu causes of contention, %zu of them false sharing.", n,
			   n_false);
	findings_release(&found);
}

void c2c_findings_table(const struct c2c *s, const struct c2c_labels *labels, struct table *out)
{
	const struct c2c_causes *causes = labels->causes;
	struct findings found = { 0 };
	size_t n_more = 0;

	table_init(out, "findings", "Contended lines", columns, COUNT(columns));
	out->style = TABLE_FINDINGS;
	slices_add_columns(&s->session->slices, "records", "samples of the line over time", out);
	for (size_t i = 0; i < causes->list.n; i++) {
		const struct c2c_cause *cause = &causes->list.items[i];

		if (cause->finding == 0)
			continue;
		if (s->request.top == 0 || cause->finding <= s->request.top)
			c2c_findings_add_row(s, labels, cause,
					     add_finding(s, labels, cause, &found), out);
		else
			n_more++;
	}
	if (n_more > 0)
		table_note(out, "%zu more; --all shows them", n_more);
	if (s->n_lines_left_out > 0)
		table_note(out,
			   "around these lines too much is accessed for all of it to be kept: "
			   "objects and "
			   "layouts leave out what is done on %" PRIu64 " lines",
			   s->n_lines_left_out);
	if (table_n_rows(out) == 0)
		table_note(out, "%s", c2c_nothing_found(s, out));
	findings_release(&found);
}
