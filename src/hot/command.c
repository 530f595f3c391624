/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops hot: hotspots by any key. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "callers/callers.h"
#include "cli/question.h"
#include "hot/arguments/arguments.h"
#include "hot/branches.h"
#include "hot/elapsed/elapsed.h"
#include "hot/event.h"
#include "hot/hot.h"
#include "hot/summary.h"
#include "cli/command.h"
#include "scan/scan.h"
#include "session/without_spe.h"
#include "table/answer.h"

static const struct usage usage = {
	"hot",
	"[OPTIONS] [FILE]",
	"Where the time goes: samples and SPE records by function, line or other keys.",
};

struct hot_command {
	const char *by;
	struct option_list events;
	const char *against;
	bool callers, call_tree;
	bool by_samples;
	bool arguments;
	bool histogram;
	bool elapsed;
	bool time_estimate;
	const char *ghz;

	struct keys keys;	 /* of --by */
	struct core_clock clock; /* of --ghz */
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct hot_command, by), "KEY[,KEY]",
	  "process, program, thread, cpu, module, function (the default), line,\n"
	  "                          instruction, place, event, operation, source, time" },
	{ "event", 'e', OPTION_LIST, offsetof(struct hot_command, events), "NAME",
	  "a sampled event, or 'l1d-refill && load'; list shows all" },
	{ "against", 0, OPTION_TEXT, offsetof(struct hot_command, against), "EVENT",
	  "a sampled event to compare with SPE records" },
	{ "callers", 0, OPTION_FLAG, offsetof(struct hot_command, callers), NULL,
	  "callers, as a tree below each row (needs call chains)" },
	{ "call-tree", 0, OPTION_FLAG, offsetof(struct hot_command, call_tree), NULL,
	  "instead: the call tree from the top, by total (needs call chains)" },
	{ "by-samples", 0, OPTION_FLAG, offsetof(struct hot_command, by_samples), NULL,
	  "count samples, without their periods and latencies" },
	{ "arguments", 0, OPTION_FLAG, offsetof(struct hot_command, arguments), NULL,
	  "instead: arguments of functions (needs recorded registers)" },
	{ "histogram", 0, OPTION_FLAG, offsetof(struct hot_command, histogram), NULL,
	  "with --arguments: also the distribution of their values" },
	{ "elapsed", 0, OPTION_FLAG, offsetof(struct hot_command, elapsed), NULL,
	  "instead: run time, from the times of SPE records" },
	{ "ghz", 0, OPTION_TEXT, offsetof(struct hot_command, ghz), "F",
	  "with --elapsed: core frequency" },
	{ "time-estimate", 0, OPTION_FLAG, offsetof(struct hot_command, time_estimate), NULL,
	  "order by estimated time, from SPE records and code" },
};

/* Inlined functions are rows where functions are. */
static void hot_command_names(struct session *s, const struct hot *hot, const struct keys *keys,
			      struct names *out)
{
	hot_names(s, hot, keys, out);
	if (keys_have(keys, KEY_FUNCTION) && out->depth == SYMBOLS_FUNCTIONS)
		hot_names_inlined(hot, out);
	names_forget_order(out);
}

/* The table, and that of the skid if there is something to compare with. */
static int hot_make_tables(struct session *s, struct hot_grouping *g, const struct hot_event *event,
			   struct table *table, struct table *skid, struct err *err)
{
	const struct hot *hot = g->hot;
	int rc;

	if (event->with_branches && hot_branches_check(hot, event, err) < 0)
		return -1;
	rc = hot_table_of(g, table, err);
	hot_table_notes(hot, g->view, table);
	if (rc == 0 && event->with_branches)
		hot_branches_note(hot, table);
	else if (rc == 0 && event->is_spe)
		note_without_spe(s, table);
	if (rc == 0 && event->with_skid)
		hot_skid_table(hot, event, g->names, &g->view->keys, g->view->top, skid);
	return rc;
}

/* The second scan for the estimate of time, after the first. NULL, or why there is none. */
static const char *hot_estimate_time(struct session *s, const struct select *select,
				     struct commit_time *time, void *first_result,
				     const struct hot *hot)
{
	const struct keys functions = { { KEY_FUNCTION }, 1 };
	const struct scan_wish wish = { .keeps_places = true };
	struct analysis second = commit_time_second(time);
	struct names names = { 0 };

	hot_names(s, hot, &functions, &names);
	commit_time_walk(time, &names, first_result);
	names_release(&names);
	scan_part(s, select, &wish, &second, 1);
	return commit_time_finish(time, second.result);
}

/* Trace data that is read a second time for run time without being asked. */
enum { MOST_TRACE_BYTES = 64 << 20 };

static bool wants_chains(const struct hot_command *command)
{
	return command->callers || command->call_tree;
}

/* Is it the plain question, asked by a person, of a capture that may tell run time? */
static bool wants_run_time(const struct question *q, const struct session *s,
			   const struct select *select)
{
	const struct hot_command *command = q->what.into;
	struct err err;

	return question_is_for_reading(q) && command->events.n == 0 && command->against == NULL &&
	       !wants_chains(command) && !command->by_samples && !command->time_estimate &&
	       q->rows.sort == NULL && s->slices.n == 0 &&
	       capture_totals(s->capture)->aux_bytes <= MOST_TRACE_BYTES &&
	       elapsed_check_keys(&command->keys, &err) == 0 &&
	       elapsed_obstacle(s, select, true) == NULL;
}

/*
 * The rows by run time, to be shown in front of those by latency. False: there are none.
 * Scans once more, which forgets the call chains of the first scan.
 */
static bool make_run_time(struct question *q, struct session *s, const struct hot *hot,
			  const struct names *names, struct table *out,
			  struct elapsed_told *out_told)
{
	const struct hot_command *command = q->what.into;
	const struct elapsed_request request = {
		.keys = &command->keys,
		.title = "Run time",
		.top = rows_to_show(&q->rows),
		.is_brief = true,
	};
	struct err err;

	return elapsed_table(s, NULL, hot, names, &request, out, out_told, &err) == 0 &&
	       out_told->has_first;
}

/* Is it the plain table, the hottest row first, for a person? That begins with an answer. */
static bool has_answer(const struct question *q, const struct hot_view *view)
{
	return question_is_for_reading(q) && !keys_are_time(&view->keys) && view->sort == NULL &&
	       view->time == NULL;
}

/* What gates measure. */
struct measuring {
	const struct hot *hot;
	const struct names *names;
	const struct hot_view *view;
};

static int measure_hot_gate(void *context, const struct gate *g, struct measured *out,
			    struct err *err)
{
	const struct measuring *m = context;

	return hot_measure(m->hot, m->names, m->view, g, out, err);
}

/* Where no function is known a person is shown addresses, unless functions are asked for. */
static bool wants_addresses(const struct question *q, const struct names *names)
{
	const struct hot_command *command = q->what.into;

	return question_is_for_reading(q) && command->by == NULL && !wants_chains(command) &&
	       q->rows.sort == NULL && !names_have_functions(names);
}

static int answer_hot(struct question *q, struct session *s, const struct select *select,
		      struct hot_view *view, const struct hot_event *event, struct err *err)
{
	const struct hot_command *command = q->what.into;
	/* a second scan forgets the call chains of the first */
	struct mux *mux = mux_new(s);
	struct hot_options hot_options = hot_event_options(
		event, keys_dimensions(&view->keys) |
			       (command->time_estimate ? 0 : 1u << DIM_FRAME) |
			       (s->slices.n > 0 ? 1u << DIM_SLICE : 0) |
			       (view->with_estimates ? estimate_dimensions(s) : 0));
	struct scan_wish wish = { .with_branches = event->with_branches };
	struct analysis analyses[] = { { .class = &hot_class, .options = &hot_options }, { 0 } };
	struct analysis *hot = &analyses[0];
	const char *obstacle = NULL;
	struct commit_time *time = NULL;
	struct table answer, run_time = { 0 }, table = { 0 }, skid = { 0 };
	struct hot_view shown = *view, addresses;
	struct elapsed_told told = { 0 };
	struct tables tables = { 0 };
	struct names names = { 0 };
	struct hot_grouping grouping;
	bool by_address;
	int rc;

	if (mux_scales(mux))
		hot_options.mux = mux;
	hot_options.chains_bytes = hot_chains_bytes(s);
	if (command->time_estimate)
		time = commit_time_new(s, select, &obstacle);
	if (time != NULL)
		analyses[1] = commit_time_first(time);
	wish.without_addresses = hot_options.condition == NULL && time == NULL;
	if (hot_options.dimensions >> DIM_FRAME & 1 && !hot_options.without_spe)
		callers_estimate(s);
	scan_part(s, select, &wish, analyses, time != NULL ? 2 : 1);
	if (time != NULL)
		obstacle = hot_estimate_time(s, select, time, analyses[1].result, hot->result);
	shown.time = obstacle == NULL ? time : NULL;
	answer_init(&answer);
	*vec_add(&tables.list) = &answer;
	hot_command_names(s, hot->result, &shown.keys, &names);
	hot_grouping_init_first(&grouping, hot->result, &names, &shown);
	if (has_answer(q, &shown))
		hot_summary(s, &grouping, &answer);
	by_address = wants_addresses(q, &names);
	if (by_address) {
		addresses = shown;
		addresses.keys = (struct keys){ { KEY_PLACE }, 1 };
		hot_grouping_release(&grouping);
		hot_grouping_init_first(&grouping, hot->result, &names, &addresses);
	}
	rc = hot_make_tables(s, &grouping, event, &table, &skid, err);
	hot_grouping_release(&grouping);
	if (rc == 0)
		rc = hot_check(hot->result, err);
	q->lacks_data = rc == 0 && table_n_rows(&table) == 0;
	if (rc == 0) /* before a second scan, which forgets call chains */
		rc = question_judge(q, measure_hot_gate,
				    &(struct measuring){ hot->result, &names, &shown }, err);
	if (rc == 0 && !by_address && wants_run_time(q, s, select) &&
	    make_run_time(q, s, hot->result, &names, &run_time, &told)) {
		*vec_add(&tables.list) = &run_time;
		table.title = "Latency";
		if (has_answer(q, &shown))
			hot_summary_run_time(s, hot->result, &names, &shown.keys, &told, &answer);
	}
	*vec_add(&tables.list) = &table;
	if (event->with_skid)
		*vec_add(&tables.list) = &skid;
	hot_event_note_none(s, event, select, &table);
	if (rc == 0 && command->time_estimate)
		commit_time_note(time, obstacle, &table);
	if (rc == 0)
		rc = question_show(q, &tables, err);
	names_release(&names);
	hot_class.free(hot->result);
	mux_free(mux);
	commit_time_free(time);
	table_release(&answer);
	table_release(&run_time);
	table_release(&table);
	table_release(&skid);
	vec_release(&tables.list);
	return rc;
}

/* The answer to --elapsed. */
static int answer_elapsed(struct question *q, struct session *s, const struct select *select,
			  struct err *err)
{
	const struct hot_command *command = q->what.into;
	const struct hot_options hot_options = { .dimensions = keys_dimensions(&command->keys),
						 .event = -1,
						 .branches_of = -1,
						 .without_samples = true };
	const struct elapsed_request request = {
		.keys = &command->keys,
		.top = rows_to_show(&q->rows),
		.sort = q->rows.sort,
		.clock = command->clock,
	};
	const struct hot_view view = { .keys = command->keys, .sort = request.sort };
	struct analysis hot = { .class = &hot_class, .options = &hot_options };
	struct names names = { 0 };
	struct table answer, table = { 0 };
	struct elapsed_told told = { 0 };
	struct tables tables = { 0 };
	int rc;

	scan(s, select, &hot, 1);
	hot_names(s, hot.result, request.keys, &names);
	rc = elapsed_table(s, select, hot.result, &names, &request, &table, &told, err);
	answer_init(&answer);
	if (rc == 0 && has_answer(q, &view))
		hot_summary_run_time(s, hot.result, &names, &command->keys, &told, &answer);
	*vec_add(&tables.list) = &answer;
	*vec_add(&tables.list) = &table;
	q->lacks_data = rc == 0 && table_n_rows(&table) == 0;
	if (rc == 0)
		rc = question_show(q, &tables, err);
	names_release(&names);
	hot_class.free(hot.result);
	table_release(&answer);
	table_release(&table);
	vec_release(&tables.list);
	return rc;
}

/* The answer to --arguments. */
static int answer_arguments(struct question *q, struct session *s, const struct select *select,
			    const struct hot_event *event, struct err *err)
{
	const struct hot_command *command = q->what.into;
	const struct argument_request request = {
		.event = event->sampled,
		.top = rows_to_show(&q->rows),
		.sort = q->rows.sort,
		.with_histogram = command->histogram,
	};
	struct argument_tables tables = { 0 };
	int rc;

	if (event->is_spe)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--arguments --event: SPE records have no registers; name a "
			       "sampled event");
	rc = argument_tables_make(s, select, &request, &tables, err);
	if (rc == 0)
		rc = question_show(q, &tables.shown, err);
	argument_tables_release(&tables);
	return rc;
}

static int check_chains(const struct hot_command *command, struct err *err)
{
	if (command->callers && command->call_tree)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--callers and --call-tree: one of them, please");
	if (command->call_tree && !keys_are_code(&command->keys))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--call-tree is of code: by program, module, function, line or "
			       "instruction");
	return 0;
}

static int check_elapsed(const struct question *q, struct hot_command *command, struct err *err)
{
	if (command->ghz != NULL && !command->elapsed)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--ghz needs --elapsed");
	if (!command->elapsed)
		return 0;
	if (command->arguments || command->events.n > 0 || wants_chains(command) ||
	    command->by_samples || q->time_slices != 0 || command->against != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--elapsed is a question of its own: not with --event, --callers, "
			       "--call-tree, "
			       "--by-samples, --time-slices, --against or --arguments");
	if (command->ghz != NULL && core_clock_parse(command->ghz, &command->clock, err) < 0)
		return -1;
	return elapsed_check_keys(&command->keys, err);
}

/* What does not go together. */
static int hot_check_options(struct question *q, struct err *err)
{
	struct hot_command *command = q->what.into;
	bool groups = command->by != NULL || wants_chains(command) || command->by_samples ||
		      q->time_slices != 0 || command->against != NULL;

	if (command->arguments && groups)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--arguments is a question of its own: not with --by, --callers, "
			       "--call-tree, "
			       "--by-samples, --time-slices or --against");
	if (question_has_gates(q) &&
	    (command->arguments || command->elapsed ||
	     (command->events.n == 1 && strcmp(command->events.items[0], HOT_EVENT_LIST) == 0)))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if is about the table of hotspots: not with --elapsed, "
			       "--arguments or --event list");
	if (command->histogram && !command->arguments)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--histogram needs --arguments");
	if (command->time_estimate &&
	    (command->elapsed || command->arguments || command->events.n > 0 ||
	     wants_chains(command) || command->by_samples || q->time_slices != 0 ||
	     command->against != NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--time-estimate is of all SPE records: not with --event, "
			       "--callers, --call-tree, --by-samples, --time-slices, --against, "
			       "--elapsed or "
			       "--arguments");
	if (keys_parse_some(command->by != NULL ? command->by : "function", 1u << KEY_CALLER,
			    &command->keys, err) < 0)
		return -1;
	if (keys_have(&command->keys, KEY_CALLER))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by caller is of mem; hot has callers as a tree: --callers");
	for (size_t i = 0; i < command->keys.n && command->time_estimate; i++)
		if (!key_classes[command->keys.keys[i]].is_code)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--time-estimate is of code: not by %s",
				       key_classes[command->keys.keys[i]].name);
	return check_chains(command, err) < 0 ? -1 : check_elapsed(q, command, err);
}

static struct hot_view view_of(const struct question *q, const struct session *s,
			       const struct hot_event *event)
{
	const struct hot_command *command = q->what.into;

	return (struct hot_view){
		.name = "hot",
		.keys = command->keys,
		.top = rows_to_show(&q->rows),
		.sort = q->rows.sort,
		.with_callers = command->callers,
		.with_call_tree = command->call_tree,
		.event = command->events.n == 1 ? command->events.items[0] : NULL,
		.by_samples = command->by_samples || event->is_spe,
		.with_estimates = event->is_spe && capture_spe(s->capture)->is_present,
		.with_branches = event->with_branches,
	};
}

static bool wants_list(const struct session *s, const struct option_list *events)
{
	if (events->n != 1 || strcmp(events->items[0], HOT_EVENT_LIST) != 0)
		return false;
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (strcmp(capture_event_name(s->capture, i), HOT_EVENT_LIST) == 0)
			return false;
	return true;
}

/* The answer to --event list. */
static int answer_list(struct question *q, struct session *s, const struct select *select,
		       struct err *err)
{
	struct table table = { 0 };
	struct tables tables = { 0 };
	int rc;

	hot_event_list(s, select, &table);
	*vec_add(&tables.list) = &table;
	rc = question_show(q, &tables, err);
	table_release(&table);
	vec_release(&tables.list);
	return rc;
}

static int hot_answer(struct question *q, struct session *s, const struct select *select,
		      struct err *err)
{
	const struct hot_command *command = q->what.into;
	const struct option_list *events = &command->events;
	struct hot_event event = { .sampled = -1 };
	struct hot_view view;
	int rc;

	if (command->elapsed)
		return answer_elapsed(q, s, select, err);
	if (wants_list(s, events))
		return answer_list(q, s, select, err);
	rc = hot_event_choose(s, events->items, events->n, command->against, &event, err);
	view = view_of(q, s, &event);
	if (rc == 0 && command->arguments)
		rc = answer_arguments(q, s, select, &event, err);
	else if (rc == 0)
		rc = answer_hot(q, s, select, &view, &event, err);
	hot_event_release(&event);
	return rc;
}

static int hot_command(int argc, char **argv)
{
	struct hot_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_SORTED,
		.max_arguments = 1,
		.by = &command.keys,
		.quantities = hot_quantities,
		.n_quantities = HOT_N_QUANTITIES,
		.check = hot_check_options,
		.answer = hot_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_hot = {
	.usage = &usage,
	.purpose = "where the time goes, by function, line, instruction, event, source …",
	.reads = COMMAND_READS_CAPTURE,
	.run = hot_command,
};
