/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops fleet: questions to a dataset of many captures, answered by an engine that is there. */
#include "cli/command.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/gates.h"
#include "cli/printer.h"
#include "fleet/ask.h"
#include "fleet/compact.h"
#include "fleet/gates.h"
#include "fleet/push.h"
#include "html/html.h"
#include "table/answer.h"

static const struct usage usage = {
	"fleet",
	"QUESTION|compact|push DATASET [STORE] [OPTIONS]",
	"Asks a dataset of many captures (cyclops collect): top, changed, hosts, sharing, latency, "
	"history, counts, coverage; compact merges its small files, push copies it to a store.",
};

struct fleet_options {
	struct fleet_scope scope;
	const char *day;
	struct fleet_engine_options by;
	const char *html; /* a file; NULL: none */
	unsigned keep_s;
	bool print_sql, wants_help;
};

#define FIELD(field) offsetof(struct fleet_options, field)

static const struct option scope_options[] = {
	{ "event", 'e', OPTION_TEXT, FIELD(scope.event), "NAME",
	  "a sampled event; spe: SPE records (default: each)" },
	{ "from", 0, OPTION_TEXT, FIELD(scope.from), "WHAT", "of changed: a day or a build-id" },
	{ "to", 0, OPTION_TEXT, FIELD(scope.to), "WHAT", "of changed: another one" },
	{ "function", 0, OPTION_TEXT, FIELD(scope.function), "NAME", "of history: a function" },
	{ "module", 0, OPTION_TEXT, FIELD(scope.module), "NAME",
	  "of history: the file that it is in" },
	{ "by", 0, OPTION_TEXT, FIELD(scope.by), "KEY", "of counts: by host or day, too" },
	{ "true-sharing", 0, OPTION_FLAG, FIELD(scope.with_true_sharing), NULL,
	  "of sharing: true sharing, and what has no verdict, too" },
	{ "machine", 0, OPTION_TEXT, FIELD(scope.machine), "NAME",
	  "only captures of this type of machine" },
	{ "host", 0, OPTION_TEXT, FIELD(scope.host), "NAME", "only captures of this host" },
	{ "day", 0, OPTION_TEXT, FIELD(day), "DAY", "only captures of this day, as 2026-11-26" },
	{ "first-day", 0, OPTION_TEXT, FIELD(scope.first_day), "DAY", "… of this day on" },
	{ "last-day", 0, OPTION_TEXT, FIELD(scope.last_day), "DAY", "… of days up to this" },
};

static const struct option engine_options[] = {
	{ "engine", 0, OPTION_TEXT, FIELD(by.engine), "NAME", ENGINE_NAMES },
	{ "program", 0, OPTION_TEXT, FIELD(by.program), "PATH",
	  "the engine's program (default: duckdb, spark-submit or\n"
	  "                          clickhouse, by PATH)" },
	{ "master", 0, OPTION_TEXT, FIELD(by.master), "URL",
	  "of spark: the cluster (default local[*])" },
	{ "setup", 0, OPTION_INPUT, FIELD(by.setup), "FILE",
	  "statements that come first, such as secrets of a store" },
	{ "print-sql", 0, OPTION_FLAG, FIELD(print_sql), NULL,
	  "print the question as SQL instead, for other engines" },
	{ "html", 0, OPTION_OUTPUT, FIELD(html), "FILE", HTML_HELP },
	{ "keep", 0, OPTION_COUNT, FIELD(keep_s), "SECONDS",
	  "of compact: how long files that were merged stay, for\n                          those "
	  "who read them (default 60)" },
	{ "help", 'h', OPTION_FLAG, FIELD(wants_help), NULL, "this text" },
};

/* What compact() did: "compact". */
static const struct column compact_columns[] = {
	{ "day", NULL, "", CELL_TEXT, 0, "day of the captures, UTC" },
	{ "captures", NULL, "captures", CELL_COUNT, 0,
	  "captures whose files were merged into one of each table" },
	{ "removed", NULL, "files", CELL_COUNT, 0,
	  "files that were removed, as others hold what was in them" },
	{ "merged_again", "merged again", "files", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "merged files of captures that became one, as they were many" },
};

/* What push() did: "push". */
static const struct column push_columns[] = {
	{ "table", NULL, "", CELL_TEXT, 0, "table of the dataset" },
	{ "copied", NULL, "files", CELL_COUNT, 0, "files that were copied to the store" },
	{ "bytes", NULL, "bytes", CELL_COUNT, 0, "their size" },
	{ "there", NULL, "files", CELL_COUNT, 0, "files that the store has already" },
};

static int print_sql(const struct fleet_question *q, const struct output_options *output,
		     struct err *err)
{
	const struct output_options plain = { .path = output->path };
	struct text script = { 0 };
	struct printer out = { 0 };
	int rc = fleet_script(q, &script, err);

	if (rc == 0)
		rc = printer_open(&out, &plain, "csv", usage.command, NULL, err);
	if (rc == 0)
		rc = printer_need_file(&out, err);
	if (rc == 0)
		rc = printer_write(&out, &script, err);
	rc = printer_close(&out, rc, err);
	text_release(&script);
	return rc;
}

static void say_facts(const struct fleet_facts *f, struct table *answer)
{
	char captures[GROUPED_BYTES], hosts[GROUPED_BYTES], records[GROUPED_BYTES];

	answer_say(answer, "%s capture%s of %s host%s, %s records, %s%s%s.",
		   grouped_u64(f->captures, captures), plural(f->captures),
		   grouped_u64(f->hosts, hosts), plural(f->hosts), grouped_u64(f->records, records),
		   f->first_day, strcmp(f->first_day, f->last_day) != 0 ? " to " : "",
		   strcmp(f->first_day, f->last_day) != 0 ? f->last_day : "");
	if (f->with_losses > 0)
		answer_say(answer, "%s of them lost records: cyclops fleet coverage says when.",
			   grouped_u64(f->with_losses, captures));
	if (f->unscaled > 0)
		answer_say(
			answer,
			"%s of them do not tell their SPE interval: each record weighs the same.",
			grouped_u64(f->unscaled, captures));
	if (f->modelled > 0 && f->modelled < f->captures)
		answer_say(answer, "%s of them are modelled: simulated, not measured.",
			   grouped_u64(f->modelled, captures));
}

/* How the answer is shown and judged. */
struct answering {
	const struct output_options *output;
	const struct gate_options *gates;
	size_t top;	  /* rows to show; 0: all */
	const char *html; /* a file; NULL: none */
};

/* Before the engine is asked: conditions that no answer could meet. */
static int check_gates(const struct fleet_question *q, const struct gate_options *o,
		       struct err *err)
{
	struct gate gates[OPTION_LIST_MAX];

	if (gate_options_check(o, err) < 0 ||
	    gate_options_parse(o, fleet_quantities, FLEET_N_QUANTITIES, gates, err) < 0)
		return -1;
	for (size_t i = 0; i < o->conditions.n; i++)
		if (fleet_gate_check(q->query, &gates[i], err) < 0)
			return -1;
	return 0;
}

/* What gates measure. */
struct measuring {
	const struct fleet_query *query;
	const struct table *table;
};

static int measure_fleet_gate(void *context, const struct gate *g, struct measured *out,
			      struct err *err)
{
	const struct measuring *m = context;

	return fleet_measure(m->query, m->table, g, out, err);
}

/* An answer without rows may be no answer: what was asked for is not there. */
static int check_answer(const struct fleet_question *q, const struct fleet_facts *f,
			const struct table *t, struct err *err)
{
	char captures[GROUPED_BYTES];

	if (q->query->none == NULL || table_n_rows(t) > 0)
		return 0;
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		       "%s: %s (%s capture%s, %s to %s); cyclops fleet coverage %s says what there "
		       "is",
		       q->query->name, q->query->none, grouped_u64(f->captures, captures),
		       plural(f->captures), f->first_day, f->last_day, q->dataset);
}

/* What the table says, in words. */
static void say_answer(const struct fleet_question *q, const struct fleet_facts *facts,
		       const struct table *t, struct table *answer)
{
	if (table_n_rows(t) == 0)
		answer_say(answer, "Nothing stands out.");
	else if (q->query->say != NULL)
		q->query->say(t, answer);
	say_facts(facts, answer);
}

/* The page has what is printed, all columns of it. */
static int write_page(const struct fleet_question *q, const struct answering *how,
		      const struct printer *out, const struct tables *tables, struct err *err)
{
	struct text subject = { 0 };
	struct html h = { 0 };
	int rc;

	text_format(&subject, "%s of %s%c", q->query->name, q->dataset, 0);
	html_add(&h, "fleet", NULL, tables);
	rc = printer_html(out, &h, how->html, subject.bytes, err);
	html_release(&h);
	text_release(&subject);
	return rc;
}

static int show_answer(const struct fleet_question *q, const struct answering *how,
		       struct gates *results, struct err *err)
{
	struct measuring measuring = { q->query, NULL };
	struct fleet_facts facts;
	struct printer out = { 0 };
	struct tables tables = { 0 }, shown = { 0 };
	struct table answer, table;
	int rc = printer_open(&out, how->output, "text", usage.command, NULL, err);

	answer_init(&answer);
	table_init(&table, q->query->name, NULL, q->query->columns, q->query->n_columns);
	measuring.table = &table;
	if (rc == 0)
		rc = fleet_ask(q, &facts, &table, err);
	if (rc == 0)
		rc = check_answer(q, &facts, &table, err);
	if (rc == 0)
		rc = gate_options_judge(how->gates, fleet_quantities, FLEET_N_QUANTITIES,
					measure_fleet_gate, &measuring, results, err);
	if (rc == 0) {
		if (q->query->mark != NULL)
			q->query->mark(&table);
		say_answer(q, &facts, &table, &answer); /* of all rows */
		if (q->query->is_cut_here || how->gates->conditions.n > 0)
			table_show_top(&table, how->top);
		out.document.is_modelled = results->is_modelled = facts.modelled > 0;
		printer_page(&out, how->output);
	}
	*vec_add(&tables.list) = &answer;
	*vec_add(&tables.list) = &table;
	shown = gates_shown(results, &tables);
	if (rc == 0 && how->html != NULL)
		rc = write_page(q, how, &out, &shown, err);
	rc = printer_finish(&out, how->output, &shown, rc, err);
	if (rc == 0)
		rc = gate_options_report(how->gates, results, how->output, usage.command, err);
	vec_release(&shown.list);
	vec_release(&tables.list);
	table_release(&table);
	table_release(&answer);
	return rc;
}

static void show_days(const struct compaction *c, struct table *answer, struct table *t)
{
	uint64_t n_merged = 0, n_again = 0, n_removed = 0;
	char merged[GROUPED_BYTES], removed[GROUPED_BYTES];

	for (size_t i = 0; i < c->days.n; i++) {
		const struct compacted *day = &c->days.items[i];
		struct cell *row;

		n_merged += day->n_merged;
		n_again += day->n_again;
		n_removed += day->n_removed;
		if (day->n_merged + day->n_again + day->n_removed == 0)
			continue;
		row = table_add_row(t);
		row[0] = cell_text(day->day);
		row[1] = cell_count(day->n_merged);
		row[2] = cell_count(day->n_removed);
		row[3] = cell_count(day->n_again);
	}
	if (n_merged + n_again + n_removed == 0)
		answer_say(answer, "Nothing is left to merge.");
	else
		answer_say(answer, "%s capture%s merged, %s file%s removed.",
			   grouped_u64(n_merged, merged), plural(n_merged),
			   grouped_u64(n_removed, removed), plural(n_removed));
	if (n_again > 0)
		answer_say(answer, "%s merged files became one for each day and table.",
			   grouped_u64(n_again, merged));
}

static int show_compaction(struct compaction *c, const struct row_options *rows,
			   const struct output_options *output, struct err *err)
{
	struct printer out = { 0 };
	struct table answer, table;
	int rc = printer_open(&out, output, "text", usage.command, NULL, err);

	answer_init(&answer);
	table_init(&table, "compact", NULL, compact_columns, COUNT(compact_columns));
	if (rc == 0)
		rc = compact(c, err);
	if (rc == 0)
		show_days(c, &answer, &table);
	return printer_finish_work(&out, output, rows, &answer, &table, rc, err);
}

static int fleet_compact(const struct fleet_options *asked, const struct arguments *arguments,
			 const struct row_options *rows, const struct output_options *output,
			 struct err *err)
{
	struct compaction c = { .program = asked->by.program, .keep_s = asked->keep_s };
	int rc;

	if (arguments->n != 2 || fleet_is_store(arguments->items[1]))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "compact needs a dataset in a folder: cyclops fleet compact FOLDER; "
			       "push copies it to a store then");
	c.dataset = arguments->items[1];
	rc = show_compaction(&c, rows, output, err);
	compaction_release(&c);
	return rc;
}

static void show_pushed(const struct push *p, struct table *answer, struct table *t)
{
	char digits[GROUPED_BYTES];
	uint64_t n = 0;

	for (int i = 0; i < N_DATASET_TABLES; i++) {
		const struct pushed_table *counts = &p->tables[i];
		struct cell *row = table_add_row(t);

		row[0] = cell_text(dataset_table_names[i]);
		row[1] = cell_count(counts->n_copied);
		row[2] = cell_count(counts->n_bytes);
		row[3] = cell_count(counts->n_there);
		n += counts->n_copied;
	}
	if (n == 0)
		answer_say(answer, "%s has all files already.", p->store);
	else
		answer_say(answer, "%s file%s copied to %s.", grouped_u64(n, digits), plural(n),
			   p->store);
}

static int show_push(struct push *p, const struct row_options *rows,
		     const struct output_options *output, struct err *err)
{
	struct printer out = { 0 };
	struct table answer, table;
	int rc = printer_open(&out, output, "text", usage.command, NULL, err);

	answer_init(&answer);
	table_init(&table, "push", NULL, push_columns, COUNT(push_columns));
	if (rc == 0)
		rc = push(p, err);
	if (rc == 0)
		show_pushed(p, &answer, &table);
	return printer_finish_work(&out, output, rows, &answer, &table, rc, err);
}

static int fleet_push(const struct fleet_options *asked, const struct arguments *arguments,
		      const struct row_options *rows, const struct output_options *output,
		      struct err *err)
{
	struct push p = { .by = asked->by };
	struct text store = { 0 };
	int rc;

	if (arguments->n < 3 || fleet_is_store(arguments->items[1]) ||
	    !fleet_is_store(arguments->items[2]))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "push needs a dataset in a folder, and a store: cyclops fleet push "
			       "FOLDER s3://BUCKET/NAME --setup FILE");
	if (asked->by.engine != NULL && strcmp(asked->by.engine, "duckdb") != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "push copies by DuckDB alone: found --engine %s", asked->by.engine);
	text_str(&store, arguments->items[2]);
	while (store.n > 0 && store.bytes[store.n - 1] == '/')
		store.n--;
	text_char(&store, '\0');
	p.dataset = arguments->items[1];
	p.store = store.bytes;
	rc = show_push(&p, rows, output, err);
	text_release(&store);
	return rc;
}

static int take_arguments(const struct arguments *arguments, struct fleet_options *asked,
			  struct fleet_question *q, struct err *err)
{
	if (arguments->n != 2)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "a question and a dataset are needed: cyclops fleet top FOLDER");
	q->query = fleet_query_find(arguments->items[0], err);
	if (q->query == NULL)
		return -1;
	q->dataset = arguments->items[1];
	if (asked->day != NULL)
		asked->scope.first_day = asked->scope.last_day = asked->day;
	q->scope = asked->scope;
	q->by = asked->by;
	return fleet_query_check(q->query, &q->scope, err);
}

static int fleet_command(int argc, char **argv)
{
	struct fleet_options asked = { .keep_s = 60 };
	struct row_options rows = { 0 };
	struct output_options output = { 0 };
	struct gate_options gates = { 0 };
	struct answering how = { .output = &output, .gates = &gates };
	const struct option_set sets[] = {
		{ "What:", scope_options, COUNT(scope_options), &asked },
		{ "Engine:", engine_options, COUNT(engine_options), &asked },
		gate_option_set(&gates),
		unsorted_row_option_set(&rows),
		output_option_set(&output),
	};
	struct gates results;
	struct fleet_question question = { 0 };
	struct arguments arguments;
	struct err err;
	int rc, status = start_command(&usage, argc, argv, sets, COUNT(sets), 3, &asked.wants_help,
				       &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (arguments.n > 0 && strcmp(arguments.items[0], "compact") == 0)
		return fleet_compact(&asked, &arguments, &rows, &output, &err) < 0 ? fail(&err)
										   : EXIT_DONE;
	if (arguments.n > 0 && strcmp(arguments.items[0], "push") == 0)
		return fleet_push(&asked, &arguments, &rows, &output, &err) < 0 ? fail(&err)
										: EXIT_DONE;
	rc = take_arguments(&arguments, &asked, &question, &err);
	if (rc == 0)
		rc = check_gates(&question, &gates, &err);
	how.top = rows_to_show(&rows);
	how.html = asked.html;
	question.scope.top = gates.conditions.n > 0 ? 0 : how.top; /* gates are about all rows */
	if (rc == 0 && asked.html != NULL)
		rc = html_check(&err);
	gates_init(&results);
	if (rc == 0 && asked.html != NULL)
		rc = arguments_spare_inputs(&arguments, "html", asked.html, &err);
	if (rc == 0)
		rc = asked.print_sql ? print_sql(&question, &output, &err)
				     : show_answer(&question, &how, &results, &err);
	if (rc < 0)
		status = gate_options_fail(&gates, &results, usage.command, &err);
	else
		status = gate_options_status(&gates, &results, EXIT_DONE);
	gates_release(&results);
	return status;
}

const struct command command_fleet = {
	.usage = &usage,
	.purpose = "questions to many captures, by DuckDB, Spark or ClickHouse",
	.reads = COMMAND_READS_DATASET,
	.run = fleet_command,
};
