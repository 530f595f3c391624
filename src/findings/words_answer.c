/* SPDX-License-Identifier: Apache-2.0 */
/* The answer in sentences, and the commands that show more. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/words_inside.h"
#include "session/tip.h"

enum {
	COMMANDS_SHOWN = 2,
};

static const char *whole_words(const struct finding *f)
{
	if (f->size.of == WHOLE_TIME)
		return "the time";
	return f->size.of == WHOLE_CPU_TIME ? "the CPU time" : f->size.whole;
}

/* ": at most 71.9 % of the time", ": 86.4 % +- 3.2 of load latency, not of run time" */
static void put_brief_cost(struct table *t, const struct finding *f, struct text *out)
{
	const char *cost = words_cost(t, f);

	if (cost == NULL)
		return;
	text_format(out, ": %s%s of %s", words_bound(f), cost, whole_words(f));
	if (f->sharing != NULL && f->sharing->has_gain)
		text_str(out, ", not of run time"); /* which the gain is of */
	if (f->loop == NULL && f->size.mark == MARK_SATURATED)
		text_str(out, " or more");
	else if (f->loop == NULL && f->size.mark == MARK_AT_MOST)
		text_str(out, " or less");
	if (f->sharing != NULL && f->sharing->n_waited > 0 && f->sharing->n_waited < WORDS_FEW)
		text_format(out, ", by %" PRIu32 " sampled %s%s", f->sharing->n_waited,
			    sharing_waiters(f->sharing, f->sharing->n_waited),
			    finding_is_sparse(f) ? ": too few samples" : "");
}

/* ", 40": of a write in the file of the first one, on a line of its own. */
static void put_other_line(const struct finding_sharing *s, size_t number, struct text *out)
{
	const struct finding_place *first = sharing_first_write(s), *p = &s->writes[number].place;

	if (first->file == NULL || p->file == NULL || p == first ||
	    strcmp(first->file, p->file) != 0)
		return;
	for (size_t i = 0; i < number; i++)
		if (s->writes[i].place.line == p->line)
			return;
	text_format(out, ", %" PRIu32, p->line);
}

/* ", written at sharing.c:38, 40, read at sharing.c:52" */
static void put_accesses(const struct finding_sharing *s, struct text *out)
{
	const struct finding_place *writes = s->n_write_places > 0 ? sharing_first_write(s) : NULL;
	const struct finding_place *reads = s->n_read_places > 0 ? &s->reads[0].place : NULL;

	if (writes != NULL && reads != NULL && writes->file != NULL && reads->file != NULL &&
	    strcmp(writes->file, reads->file) == 0 && writes->line == reads->line) {
		words_put_line(writes, ", written and read at ", "", out);
		return;
	}
	if (writes != NULL)
		words_put_line(writes, ", written at ", "", out);
	for (size_t i = 0; i < sharing_shown(s->n_write_places); i++)
		put_other_line(s, i, out);
	if (reads != NULL)
		words_put_line(reads, ", read at ", "", out);
}

/* " (load at stride.c:33, prefetched at stride.c:31)" */
static void put_load_and_prefetch(const struct finding *f, struct text *out)
{
	words_put_line(&f->where, " (load at ", ", ", out);
	words_put_line(&f->loop->other,
		       f->where.file != NULL ? "prefetched at " : " (prefetched at ", ")", out);
}

/* " in chase (walk.c:8), called from main (walk.c:20)" */
static void put_location(const struct finding *f, struct text *out)
{
	if (f->subject != NULL || f->sharing != NULL || f->function != NULL) {
		text_str(out, " in ");
		words_put_code(f, out);
	}
	if (f->sharing != NULL)
		put_accesses(f->sharing, out);
	else if (f->kind == FINDING_LATE_PREFETCH && f->loop != NULL && f->loop->other.file != NULL)
		put_load_and_prefetch(f, out);
	else
		words_put_line(&f->where, " (", ")", out);
	if (f->loop != NULL)
		words_put_data_name(f->loop, ", accessing ", out);
	if (f->caller.name != NULL && f->caller.name[0] != '[') {
		text_format(out, ", called from %s", f->caller.name);
		words_put_line(&f->caller, " (", ")", out);
	}
}

/* The findings are of counts: a share of cycles, and perhaps the place that samples have for it. */
static void put_counts(struct table *t, const struct finding *f, struct text *out)
{
	text_str(out, counts_claim(t, f, true));
	if (f->where.name != NULL)
		put_location(f, out);
}

static void say(struct table *t, struct text *text)
{
	text_char(text, '\0');
	answer_say_sentence(t, text->bytes);
	text_release(text);
}

const char *finding_cause_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	text_str(&text, words_cause(f));
	put_location(f, &text);
	put_brief_cost(t, f, &text);
	return words_take(t, &text);
}

static void say_cause(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (finding_is_of_counts(f)) {
		put_counts(t, f, &text);
	} else if (f->kind == FINDING_HOT_FUNCTION || f->kind == FINDING_UNNAMED_CODE) {
		text_format(&text, "%s of %s is", words_cost(t, f), whole_words(f));
		put_location(f, &text);
		if (f->kind == FINDING_UNNAMED_CODE)
			text_str(&text, ", which has no symbols here");
	} else {
		text_str(&text, finding_cause_words(t, f));
	}
	say(t, &text);
}

static void say_fix(struct table *t, const struct finding *f)
{
	struct text text = { 0 };
	const char *fix = words_fix(f);

	if (fix == NULL)
		return;
	text_format(&text, "Fix: %s", fix);
	say(t, &text);
}

static void say_gain(struct table *t, const struct finding *f)
{
	const char *gain = finding_gain_brief(t, f);
	struct text text = { 0 };

	if (gain == NULL)
		return;
	text_format(&text, "Gain: %s", gain);
	say(t, &text);
}

void finding_answer(struct table *answer, const struct finding *f)
{
	say_cause(answer, f);
	say_fix(answer, f);
	say_gain(answer, f);
}

/* Why the cause is not known, if the samples only say where. */
static void put_why_not(const struct findings *f, struct text *out)
{
	if (!finding_is_general(f->list.items[0]->kind))
		return;
	for (size_t i = 0; i < f->silences.n; i++)
		if (f->silences.items[i].kind == SILENCE_NO_COUNTERS) {
			text_str(out, "No hardware counters here: this says where time goes, not "
				      "why (cyclops doctor)");
			return;
		}
	text_str(out, "These samples say where time goes, not why");
	if (!f->has_accounting)
		text_str(out, ". Count: cyclops stat -- COMMAND");
	else
		text_str(out, ". Cycle accounting: cyclops cycles");
}

/* What it rests on, and what was lost of that. */
static void say_confidence(struct table *t, const struct findings *found, const char *lost)
{
	const struct finding *f = found->list.items[0];
	struct text text = { 0 };

	put_why_not(found, &text);
	if (text.n > 0)
		say(t, &text);
	text = (struct text){ 0 };
	if (f->sharing != NULL || f->coverage.is_set)
		text_format(&text, "Confidence: %s", finding_confidence_words(t, f));
	else if (f->samples.n_all > 0) {
		text_str(&text, "Confidence: ");
		if (f->loop != NULL)
			put_loop_confidence(t, f, &text);
		else
			text_format(&text, "%sfrom %s",
				    words_has_error(f) ? "\xc2\xb1 is the 95 % interval, " : "",
				    table_human(t, cell_count(f->samples.n), f->samples.of));
	}
	if (finding_is_unproven(f))
		text_format(&text, "; %s", words_unproven);
	if (f->samples.no_jitter)
		text_str(&text, "; no jitter: loops in step with the interval mislead");
	if (lost != NULL)
		text_format(&text, "; incomplete: %s", lost);
	say(t, &text);
}

static void say_silences(struct table *t, const struct findings *f)
{
	struct table notes = { 0 };

	for (size_t i = 0; i < f->silences.n; i++) {
		struct silence without_command = f->silences.items[i];

		without_command.command = NULL;
		findings_note_silence(&notes, &without_command);
	}
	for (size_t i = 0; i < notes.notes.n; i++) {
		struct text text = { 0 };

		text_str(&text, notes.notes.items[i]);
		say(t, &text);
	}
	for (size_t i = 0; i < f->silences.n; i++)
		if (f->silences.items[i].command != NULL)
			answer_next(t, table_text(t, f->silences.items[i].command));
	table_release(&notes);
}

void findings_answer(const struct findings *f, const char *lost, struct table *out)
{
	struct text text = { 0 };

	answer_init(out);
	if (f->list.n == 0) {
		say_silences(out, f);
		if (lost != NULL) {
			text_format(&text, "Incomplete: %s", lost);
			say(out, &text);
		}
		return;
	}
	finding_answer(out, f->list.items[0]);
	say_confidence(out, f, lost);
}

/* What commands show, by their beginning; first match wins. */
static const struct {
	const char *command, *label;
} shown_by[] = {
	{ "annotate", "code:" },
	{ "mem", "loads:" },
	{ "addr --by hugepage", "pages:" },
	{ "addr", "addresses:" },
	{ "c2c", "lines:" },
	{ "cycles", "cycles:" },
	{ "hot --event", "branches:" },
	{ "hot --call-tree", "callers:" },
	{ "hot --by line", "source:" },
	{ "hot", "code:" },
};

static const char *label_of(const char *command)
{
	for (size_t i = 0; i < COUNT(shown_by); i++)
		if (strncmp(command, shown_by[i].command, strlen(shown_by[i].command)) == 0)
			return shown_by[i].label;
	return "more:";
}

static const struct column next_columns[] = {
	{ "label", NULL, "", CELL_TEXT, 0, "what the command shows" },
	{ "command", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_COMMAND, "shows more" },
};

static void add_command(struct table *t, const char *label, const char *command)
{
	struct cell *row;

	for (size_t i = 0; i < table_n_rows(t); i++)
		if (strcmp(table_cell(t, i, 1)->text, command) == 0)
			return;
	row = table_add_row(t);
	row[0] = cell_text(label);
	row[1] = cell_text(command);
}

/* What shows more of a finding: the capture, or another that has to be taken. */
static void add_next(struct table *t, const struct session *s, const struct finding *f)
{
	const char *command = finding_next_words(t, s, f);

	if (command != NULL)
		add_command(t, f->command != NULL ? label_of(f->command) : "measure:", command);
}

/* The code of the first finding, then what shows the others; the lines of any that is of sharing. */
static void add_leading(const struct findings *f, const struct session *s, size_t most,
			struct table *out)
{
	const char *code;

	if (f->list.n == 0)
		return;
	code = finding_code_words(out, s, f->list.items[0]);
	if (code != NULL)
		add_command(out, "code:", code);
	for (size_t i = 0; i < f->list.n && table_n_rows(out) < most; i++) {
		const struct finding *each = f->list.items[i];

		if (i == 0 ? code == NULL : each->sharing != NULL)
			add_next(out, s, each);
	}
}

/* What is gained without the cause of the first finding, where the answer has only a limit. */
static void add_prediction(const struct findings *f, const struct session *s, struct table *out)
{
	const char *command =
		f->list.n > 0 ? finding_what_if_command(out, s, f->list.items[0]) : NULL;
	struct cell *row;

	if (command == NULL)
		return;
	row = table_add_row(out);
	row[0] = cell_text("what if:");
	row[1] = cell_text(command);
}

void findings_next_table(const struct findings *f, const struct session *s, struct table *out)
{
	bool is_told = f->list.n > 0 && !finding_is_general(f->list.items[0]->kind);
	size_t most = COMMANDS_SHOWN - (f->has_accounting && is_told);

	table_init(out, "next", NULL, next_columns, COUNT(next_columns));
	out->style = TABLE_FACTS;
	/* why before where: cycle accounting comes behind a finding that says why itself */
	if (f->has_accounting && !is_told)
		add_command(out, label_of("cycles"), tip(out, s, "cycles"));
	add_leading(f, s, most, out);
	for (size_t i = 0; i < f->list.n && table_n_rows(out) < most; i++)
		add_next(out, s, f->list.items[i]);
	if (f->has_accounting)
		add_command(out, label_of("cycles"), tip(out, s, "cycles"));
	for (size_t i = 0; i < f->silences.n && f->list.n == 0; i++) {
		const struct finding *rest = f->silences.items[i].unexplained;
		const char *annotate = rest != NULL ? finding_annotate_words(out, rest) : NULL;

		if (annotate != NULL)
			add_command(out, label_of("annotate"), tip(out, s, annotate));
	}
	add_prediction(f, s, out);
}
