/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <string.h>

#include "bottleneck/bottleneck.h"
#include "c2c/tables.h"
#include "capture/format/sample.h"
#include "cycles/events.h"
#include "findings/words.h"
#include "hot/elapsed/elapsed.h"
#include "hot/hot.h"
#include "keys/keys.h"
#include "model/predictions.h"
#include "report/leading.h"
#include "report/loop_data.h"
#include "scan/shared_scan.h"
#include "scan/spe_filters.h"
#include "session/tip.h"
#include "table/answer.h"

/* Rows of a brief table, and of each event where there are several. */
enum { BRIEF = 8, BRIEF_EACH = 3 };

#define DIM(name) (1u << DIM_##name)

const struct hot_options report_hot_options = {
	.dimensions = DIM(EVENT) | DIM(PLACE) | DIM(FRAME) | DIM(SOURCE),
	.event = -1,
};

static const struct hot_options process_options = {
	.dimensions = DIM(EVENT) | DIM(PROCESS),
	.event = -1,
};

/* Apart, because there would be a group for each place in each process else. */
enum part { CODE, PROCESSES, N_PARTS };

/* Sections of the report: more than a few rows each are for `cyclops hot`. */
static const struct section {
	struct hot_view view;
	enum part part;
	size_t least_rows; /* with fewer there is nothing to compare */
} sections[] = {
	{ { .keys = { { KEY_FUNCTION }, 1 }, .name = "functions", .title = "Functions" }, CODE, 1 },
	{ { .keys = { { KEY_LINE }, 1 }, .name = "lines", .title = "Source lines" }, CODE, 1 },
	{ { .keys = { { KEY_MODULE }, 1 }, .name = "modules", .title = "Modules" }, CODE, 2 },
	{ { .keys = { { KEY_PROCESS }, 1 }, .name = "processes", .title = "Processes" },
	  PROCESSES,
	  2 },
};

/* Are any source lines known of code with records? Without debug information the section is left out. */
static bool has_lines(const struct hot *code, const struct names *names)
{
	const char *file;
	uint32_t line;

	for (uint32_t i = hot_next(code, 0); i < hot_end(code); i = hot_next(code, i + 1)) {
		uint32_t place = (uint32_t)hot_key_word(code, i, DIM_PLACE);

		if (names_line(names, place, &file, &line))
			return true;
	}
	return false;
}

/* Loads that may have waited for others, with fewer of which there is nothing to judge. */
enum { LEAST_WAITS = 5, SHARED_LINES = 3 };

/* Beyond the core's own caches. */
static bool may_wait(const struct cpu_source *source)
{
	return source != NULL && source->level != SOURCE_L1 && source->level != SOURCE_L2 &&
	       source->level != SOURCE_DEVICE;
}

/* Are there samples that say where data came from? */
static bool has_data_sources(const struct session *s)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (!capture_is_trace(s->capture, i) &&
		    capture_event(s->capture, i)->attr.sample_type >> SAMPLE_DATA_SRC & 1)
			return true;
	return false;
}

/* May there be contended cache lines in this capture? A closer look takes time. */
static bool may_share(const struct session *s, const struct hot *code)
{
	uint64_t n = 0;

	if (has_data_sources(s))
		return true;
	for (uint32_t i = 0; i < hot_n_rests(code); i++)
		if (may_wait(key_source(hot_rest_word(code, i, DIM_SOURCE))))
			n += hot_rest_cost(code, i)->n;
	return n >= LEAST_WAITS;
}

static const struct c2c_request sharing_request = {
	.mode = -1,
	.top = SHARED_LINES,
	.with_objects = true,
	.without_index = true,
};

static void add_sharing(struct c2c *sharing, const struct select *select, const struct names *names,
			struct findings *findings)
{
	struct c2c_labels labels;

	sharing->known = names;
	c2c_finish(sharing, select);
	sharing->known = NULL; /* the caller's, who releases them first */
	c2c_labels_init_shown(&labels, sharing);
	c2c_add_findings(sharing, &labels, findings);
	c2c_labels_release(&labels);
}

static void show_second(struct tables *shown, struct table *t)
{
	vec_add(&shown->list);
	memmove(&shown->list.items[2], &shown->list.items[1],
		(shown->list.n - 2) * sizeof(*shown->list.items));
	shown->list.items[1] = t;
}

static const struct keys function_key = { { KEY_FUNCTION }, 1 };

/* Run time by function. */
static int add_elapsed(struct elapsed_answer *answer, struct report *out, struct err *err)
{
	struct elapsed_told told;

	if (elapsed_answer_table(answer, &out->elapsed, &told, err) < 0)
		return -1;
	out->is_timed = told.has_first;
	if (out->is_timed)
		show_second(&out->shown, &out->elapsed);
	return 0;
}

/* Where no function is known people are shown addresses in place of functions. */
static int make_addresses(const struct hot *code, const struct names *names, size_t top,
			  struct report *out, struct err *err)
{
	const struct hot_view view = {
		.keys = { { KEY_PLACE }, 1 },
		.name = "addresses",
		.title = "Addresses",
		.top = top,
	};
	int rc;

	if (names_have_functions(names))
		return 0;
	rc = hot_table(code, names, &view, &out->addresses, err);
	hot_table_notes(code, &view, &out->addresses);
	return rc;
}

/* How many threads ran, and what others waited for: by the places and chains of the first scan. */
static void add_running(const struct running *running, const struct wait_places *waits, size_t top,
			struct report *out)
{
	struct text text = { 0 };

	if (running == NULL || (waits == NULL && !running_says_much(running)))
		return;
	running_tables_make(running, waits, top, &out->threads);
	*vec_add(&out->shown.list) = &out->threads.running;
	if (waits != NULL)
		*vec_add(&out->shown.list) = &out->threads.waiting;
	if (running_says_much(running))
		running_sum_up(running, &out->threads, &text);
	text_char(&text, '\0');
	if (text.n > 1)
		table_note(&out->brief_facts, "%s", text.bytes);
	text_release(&text);
}

/* On a brief screen functions stand for all sections. */
static int make_tables(struct session *s, const struct analysis *parts, size_t n_left,
		       const struct names *names, const struct user_code *user_code, size_t top,
		       bool has_all, struct report *out, struct err *err)
{
	struct table *const tables[] = { &out->functions, &out->lines, &out->modules,
					 &out->processes };
	const struct hot *code = parts[CODE].result;
	int rc = 0;

	facts_table(s, code, &out->facts);
	facts_brief_table(s, code, &out->brief_facts);
	capture_table(s, code, &out->capture);
	sampled_table(s, &out->sampled);
	*vec_add(&out->shown.list) = &out->facts;
	*vec_add(&out->shown.list) = &out->capture;
	*vec_add(&out->shown.list) = &out->sampled;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && rc == 0; i++) {
		struct hot_view view = sections[i].view;

		if (!has_all && tables[i] != &out->functions)
			continue;
		view.top = top;
		rc = hot_table(parts[sections[i].part].result, names, &view, tables[i], err);
		if (tables[i] == &out->functions) {
			hot_table_notes(code, &view, tables[i]);
			leading_note(s, n_left, tables[i]);
		}
		if (table_n_rows(tables[i]) < sections[i].least_rows ||
		    (tables[i] == &out->lines && !has_lines(code, names)))
			continue;
		*vec_add(&out->shown.list) = tables[i];
		if (tables[i] != &out->functions)
			continue;
		user_code_table(user_code, top, &out->user_code);
		if (table_n_rows(&out->user_code) > 0)
			*vec_add(&out->shown.list) = &out->user_code;
	}
	*vec_add(&out->shown.list) = &out->findings;
	*vec_add(&out->shown.list) = &out->evidence;
	*vec_add(&out->shown.list) = &out->loops;
	*vec_add(&out->shown.list) = &out->unexplained;
	return rc == 0 ? make_addresses(code, names, top, out, err) : rc;
}

/* Those from `first` on, so that the next scan has their memory. */
static void forget_parts(struct analysis *parts, enum part first)
{
	for (size_t i = first; i < N_PARTS; i++) {
		hot_class.free(parts[i].result);
		parts[i].result = NULL;
	}
}

/*
 * What one scan tells, and what it takes a second for: run time, where records tell it, and which
 * data threads share.
 */
static int make_report(struct session *s, const struct select *select, struct analysis *parts,
		       struct c2c *sharing, const struct running *running,
		       const struct wait_places *waits, size_t top, struct report *out,
		       struct err *err)
{
	const struct keys all = { { KEY_FUNCTION, KEY_LINE }, 2 };
	const struct hot *code = parts[CODE].result;
	bool looks_closer = sharing->session != NULL && may_share(s, code);
	struct elapsed_request request = {
		.keys = &function_key, .title = "Run time", .top = top, .is_brief = true
	};
	struct elapsed_answer *elapsed = NULL;
	struct shared_scan second = { 0 };
	struct bottlenecks *bottlenecks = NULL;
	struct user_code *user_code;
	struct names names;
	struct slices_options slices_options;
	struct analysis slices = { .class = &running_slices_class, .options = &slices_options };
	size_t n_left = leading_keep(parts[CODE].result);
	bool by_slices, has_all = top != REPORT_SCREEN;
	int rc = 0;

	if (has_all)
		leading_keep(parts[PROCESSES].result);
	if (looks_closer)
		rc = c2c_choose(sharing, select, &second, err);
	else
		c2c_release(sharing);
	if (rc < 0)
		return -1;
	if (top == REPORT_BRIEF || !has_all)
		request.top = top = hot_n_events(code) > 2 ? BRIEF_EACH : BRIEF;
	hot_names(s, code, &all, &names);
	names_put_in_order(&names); /* for bottlenecks_new() */
	user_code = user_code_new(code, &names);
	rc = hot_check(code, err);
	if (rc == 0)
		rc = make_tables(s, parts, n_left, &names, user_code, top, has_all, out, err);
	if (rc == 0)
		add_running(running, waits, top, out);
	if (rc == 0 && elapsed_obstacle(s, select, true) == NULL)
		elapsed = elapsed_answer_new(s, select, code, &names, &request, &second);
	if (rc == 0 && capture_spe(s->capture)->is_present)
		rc = bottlenecks_new(s, code, &names, &second, &bottlenecks, err);
	forget_parts(parts, PROCESSES);
	second.wish.keeps_places = true;
	by_slices = bottlenecks != NULL && running == NULL && select == NULL &&
		    running_slices_choose(s, hot_n_spe_records(code), &slices_options);
	if (by_slices)
		shared_scan_add(&second, &slices, &(struct scan_wish){ 0 });
	if (rc == 0)
		shared_scan_run(s, select, &second);
	shared_scan_release(&second);
	if (rc == 0 && by_slices) {
		struct running *of_slices = running_of_slices(s, slices.result);

		add_running(of_slices, NULL, top, out);
		running_free(of_slices);
	}
	if (by_slices)
		running_slices_class.free(slices.result);
	if (rc == 0 && bottlenecks != NULL)
		bottlenecks_find(bottlenecks);
	if (rc == 0)
		report_find(code, &names, bottlenecks, user_code, &out->found);
	request.has_intervals = findings_have_intervals_of_time(&out->found);
	if (rc == 0 && elapsed != NULL)
		rc = add_elapsed(elapsed, out, err);
	elapsed_answer_free(elapsed);
	if (rc == 0)
		loop_data_name(s, &out->found);
	out->explained = bottlenecks_explained_part(bottlenecks);
	user_code_free(user_code);
	bottlenecks_free(bottlenecks);
	if (rc == 0 && looks_closer)
		add_sharing(sharing, select, &names, &out->found);
	names_release(&names);
	if (rc == 0 && select == NULL)
		predictions_add(s, &out->found);
	out->found.has_accounting = cycle_events_are_of_tree(s);
	findings_table(&out->found, s, &out->findings);
	findings_evidence_table(&out->found, &out->evidence);
	findings_loops_table(&out->found, &out->loops);
	findings_unexplained_table(&out->found, &out->unexplained);
	return rc;
}

int report_make_beside(struct session *s, const struct select *select, size_t top,
		       struct analysis *beside, struct report *out, struct err *err)
{
	struct hot_options code = report_hot_options, processes = process_options;
	struct analysis parts[N_PARTS] = {
		[CODE] = { .class = &hot_class, .options = &code },
		[PROCESSES] = { .class = &hot_class, .options = &processes },
	};
	struct shared_scan first = { 0 };
	struct c2c sharing = { 0 };
	struct running *running = select == NULL ? running_new(s) : NULL;
	struct analysis waits = { .class = &wait_places_class, .options = running };
	int begun = 0, rc = -1;

	code.chains_bytes = hot_chains_bytes(s);
	if (running != NULL)
		shared_scan_add(&first, &waits, &(struct scan_wish){ 0 });
	if (s->slices.n > 0) {
		code.dimensions |= DIM(SLICE);
		processes.dimensions |= DIM(SLICE);
	}
	for (size_t i = 0; i < (top == REPORT_SCREEN ? PROCESSES : N_PARTS); i++)
		shared_scan_add(&first, &parts[i], &(struct scan_wish){ 0 });
	if (beside != NULL)
		shared_scan_add(&first, beside, &(struct scan_wish){ 0 });
	if (has_data_sources(s) || capture_spe(s->capture)->is_present)
		begun = c2c_begin(&sharing, s, &sharing_request, &first, err);
	shared_scan_run(s, select, &first);
	if (begun == 0 || !may_share(s, parts[CODE].result))
		rc = make_report(s, select, parts, &sharing, running, waits.result, top, out, err);
	if (running != NULL)
		wait_places_class.free(waits.result);
	running_free(running);
	forget_parts(parts, CODE);
	c2c_release(&sharing);
	return rc;
}

int report_make(struct session *s, const struct select *select, size_t top, struct report *out,
		struct err *err)
{
	return report_make_beside(s, select, top, NULL, out, err);
}

/* What is in the long form as well: not the answer, nor the facts of the capture, which end it. */
static void screen_sections(struct report *r)
{
	bool has_addresses = table_n_rows(&r->addresses) > 0;

	for (size_t i = 0; i < r->shown.list.n; i++) {
		struct table *t = r->shown.list.items[i];

		if (t == &r->functions && has_addresses)
			*vec_add(&r->screen.list) = &r->addresses;
		else if (t->readers == TABLE_FOR_ALL && t != &r->findings &&
			 !(t == &r->elapsed && has_addresses))
			*vec_add(&r->screen.list) = t;
	}
}

/* The capture may have no samples of code. */
static void screen_code(struct report *r)
{
	struct table *code = r->is_timed ? &r->elapsed : &r->functions;

	if (table_n_rows(&r->addresses) > 0)
		code = &r->addresses;

	if (table_n_rows(code) > 0)
		*vec_add(&r->screen.list) = code;
}

/* A header that is wrong about what was recorded changes what all shares mean. */
static void say_contradiction(const struct session *s, struct table *answer)
{
	struct text text = { 0 };

	if (spe_filters_are_contradicted(s)) {
		text_str(&text, "Doubt: ");
		spe_filters_put_unfit(s, &text);
		text_str(&text, " the SPE filter in the header, so shares and the interval are "
				"unreliable");
		text_char(&text, '\0');
		answer_say_sentence(answer, text.bytes);
	}
	text_release(&text);
}

/* Records of a small part of the time may be all that a program did that waited; or clocks disagree. */
static void say_short_records(const struct session *s, struct table *answer)
{
	struct facts_span span = facts_span(s);

	if (!facts_are_of_little(s))
		return;
	answer_say_sentence(
		answer,
		table_format(
			answer,
			"Doubt: the records span %s, the capture %s: the program waited nearly "
			"always, or times of the capture are wrong",
			table_human(answer, cell_count(s->last_ns - s->first_ns), "ns"),
			table_human(answer, cell_count(span.last_ns - span.first_ns), "ns")));
}

/* Without its name what the CPU says of a load is a number. */
static void say_unknown_cpu(const struct session *s, const struct report *r, struct table *answer)
{
	struct text text = { 0 };
	char cpu[128];

	if (s->cpu != NULL || table_n_rows(&r->functions) == 0 ||
	    capture_totals(s->capture)->n_auxtrace == 0)
		return;
	facts_cpu(s, cpu, sizeof(cpu));
	text_format(&text, "Doubt: the CPU%s%s is not known", cpu[0] != '\0' ? " " : "", cpu);
	if (capture_totals(s->capture)->missing_bytes > 0)
		text_str(&text, " (the end of the file is missing)");
	text_str(&text, ", so data sources are not known: give --cpu NAME");
	text_char(&text, '\0');
	answer_say_sentence(answer, text.bytes);
	text_release(&text);
}

void report_screen(const struct session *s, const struct report_detail *detail, struct report *r)
{
	struct table *facts = detail->is_verbose ? &r->facts : &r->brief_facts;

	findings_answer(&r->found, facts_lost(s, &r->facts), &r->answer);
	say_unknown_cpu(s, r, &r->answer);
	say_contradiction(s, &r->answer);
	say_short_records(s, &r->answer);
	*vec_add(&r->screen.list) = &r->answer;
	if (detail->is_long && r->found.list.n > 0) {
		*vec_add(&r->screen.list) = &r->findings;
	} else if (r->found.list.n > 0) {
		findings_brief_table(&r->found, s, &r->summary);
		*vec_add(&r->screen.list) = &r->summary;
	}
	if (detail->is_long)
		screen_sections(r);
	else
		screen_code(r);
	*vec_add(&r->screen.list) = facts;
	/* else the functions, or the addresses, say so */
	if (!detail->is_long && r->is_timed && table_n_rows(&r->addresses) == 0)
		spe_filters_note(s, facts);
	findings_next_table(&r->found, s, &r->next);
	if (!detail->is_long && table_n_rows(&r->next) > 0)
		*vec_add(&r->screen.list) = &r->next;
}

void report_release(struct report *r)
{
	table_release(&r->answer);
	table_release(&r->summary);
	table_release(&r->addresses);
	table_release(&r->brief_facts);
	table_release(&r->next);
	vec_release(&r->screen.list);
	table_release(&r->facts);
	table_release(&r->capture);
	table_release(&r->sampled);
	table_release(&r->elapsed);
	table_release(&r->functions);
	table_release(&r->user_code);
	table_release(&r->lines);
	table_release(&r->modules);
	table_release(&r->processes);
	table_release(&r->findings);
	table_release(&r->evidence);
	table_release(&r->loops);
	table_release(&r->unexplained);
	running_tables_release(&r->threads);
	findings_release(&r->found);
	vec_release(&r->shown.list);
}
