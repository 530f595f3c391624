/* SPDX-License-Identifier: Apache-2.0 */
/* A whole capture through all that the commands do with it, by several workers. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr/answer.h"
#include "annotate/view.h"
#include "base/alloc.h"
#include "blocks/tables.h"
#include "calls/calls.h"
#include "c2c/tables.h"
#include "capture/describe.h"
#include "diff/diff.h"
#include "dump/packets.h"
#include "export/export.h"
#include "export/formats/profile.h"
#include "export/spe_parser.h"
#include "feedback/feedback.h"
#include "hot/arguments/arguments.h"
#include "hot/elapsed/elapsed.h"
#include "commit_time/commit_time.h"
#include "hot/event.h"
#include "main/commands.h"
#include "mem/answer.h"
#include "cycles/cycles.h"
#include "quality/quality.h"
#include "report/report.h"
#include "scan/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { N_WORKERS = 3, TOP = 8 };

/* All fields of the language. */
static const char expression[] =
	"(op=load && tot>20 || event=~\"l1\" || source==DRAM || period>=1 && !(weight in 1..9)) && "
	"!(sym=~\"^x\" || module=~\"so\" || comm!=\"cat\" && exec<3 && xlat<=2 && issue!=7) || "
	"pc>=0x1000 || va<1 || pa>1 || target==0 || pid=1 || tid!=2 || cpu<4 || el=2 || time<1ms";

static const struct document document = { .command = "fuzz", .version = "0", .is_plural = true };

static const struct format *const formats[] = { &format_text, &format_csv, &format_json,
						&format_parquet };

static void describe_record(void *context, const struct record *record, const struct sample_id *id)
{
	struct text line = { 0 };

	record_describe(context, record, id, &line);
	assert(line.n > 0 && line.bytes[line.n - 1] == '\n');
	text_release(&line);
}

static int take_text(void *context, const struct text *text)
{
	(void)context;
	(void)text;
	return 0;
}

static int take_file(void *context, enum spe_parser_file file, const struct text *text)
{
	(void)file;
	return take_text(context, text);
}

static void render(const struct tables *tables)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct text text = { 0 };

		format_document(formats[i], &document, tables, &text);
		assert(text.n > 0);
		text_release(&text);
	}
}

static void make_report(struct session *s)
{
	struct report report = { 0 };
	struct err err;

	if (report_make(s, NULL, TOP, &report, &err) == 0)
		render(&report.shown);
	report_release(&report);
}

/* By all keys at once, with callers. */
static void show_hot(struct session *s, const struct select *select)
{
	struct hot_view view = { .name = "hot", .with_callers = true, .with_branches = true };
	struct hot_options options = { .event = -1 };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct tables tables = { 0 };
	struct table table = { 0 };
	struct names names;
	struct err err;

	for (unsigned key = 0; key < N_KEYS; key++)
		view.keys.keys[view.keys.n++] = (enum key)key;
	options.dimensions = keys_dimensions(&view.keys) | 1u << DIM_FRAME;
	scan_part(s, select, &(struct scan_wish){ .with_branches = true }, &hot, 1);
	hot_names(s, hot.result, &view.keys, &names);
	if (hot_table(hot.result, &names, &view, &table, &err) == 0) {
		*vec_add(&tables.list) = &table;
		render(&tables);
	}
	table_release(&table);
	vec_release(&tables.list);
	names_release(&names);
	hot_class.free(hot.result);
}

/* Every shared line with all of its accesses. */
static void show_sharing(struct session *s, const struct select *select, int mode)
{
	const struct c2c_request request = { .mode = mode, .is_double = mode < 0 };
	struct table findings = { 0 }, lines = { 0 }, accesses = { 0 };
	struct tables tables = { 0 };
	struct c2c_labels labels = { 0 };
	struct c2c sharing;
	struct err err;

	if (c2c_run(s, select, &request, &sharing, &err) == 0) {
		c2c_labels_init(&labels, &sharing);
		c2c_findings_table(&sharing, &labels, &findings);
		c2c_lines_tables(&sharing, &labels, &lines, &accesses);
		*vec_add(&tables.list) = &findings;
		*vec_add(&tables.list) = &lines;
		render(&tables);
	}
	table_release(&findings);
	table_release(&lines);
	table_release(&accesses);
	vec_release(&tables.list);
	c2c_labels_release(&labels);
	c2c_release(&sharing);
}

static void show_memory(struct session *s, const struct select *select)
{
	const struct mem_request request = { .with_histogram = true, .for_programs = true };
	struct mem_report report = { 0 };
	struct err err;

	if (mem_report_make(s, select, &request, &report, &err) == 0)
		render(&report.shown);
	mem_report_release(&report);
}

/* Everything that --event can name. */
static void list_events(struct session *s)
{
	struct table table = { 0 };
	struct tables tables = { 0 };

	hot_event_list(s, NULL, &table);
	*vec_add(&tables.list) = &table;
	render(&tables);
	table_release(&table);
	vec_release(&tables.list);
}

/* Run time, by what it can be told apart by. */
static void show_elapsed(struct session *s)
{
	const struct keys keys = { .keys = { KEY_FUNCTION }, .n = 1 };
	const struct hot_options options = { .dimensions = keys_dimensions(&keys),
					     .event = -1,
					     .branches_of = -1,
					     .without_samples = true };
	const struct elapsed_request request = { .keys = &keys };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names = { 0 };
	struct table table = { 0 };
	struct tables tables = { 0 };
	struct err err;

	scan(s, NULL, &hot, 1);
	hot_names(s, hot.result, &keys, &names);
	if (elapsed_table(s, NULL, hot.result, &names, &request, &table, NULL, &err) == 0) {
		*vec_add(&tables.list) = &table;
		render(&tables);
	}
	names_release(&names);
	hot_class.free(hot.result);
	table_release(&table);
	vec_release(&tables.list);
}

/* The estimate of time, which walks through code as far as it is there. */
static void show_time_estimate(struct session *s)
{
	const struct hot_options options = { .dimensions = 1u << DIM_PLACE, .event = -1 };
	const struct keys keys = { .keys = { KEY_FUNCTION }, .n = 1 };
	const struct scan_wish wish = { .keeps_places = true };
	const char *obstacle;
	struct commit_time *time = commit_time_new(s, NULL, &obstacle);
	struct analysis first[] = { { .class = &hot_class, .options = &options }, { 0 } }, second;
	struct names names = { 0 };

	if (time == NULL)
		return;
	first[1] = commit_time_first(time);
	scan(s, NULL, first, 2);
	hot_names(s, first[0].result, &keys, &names);
	commit_time_walk(time, &names, first[1].result);
	second = commit_time_second(time);
	scan_part(s, NULL, &wish, &second, 1);
	commit_time_finish(time, second.result);
	names_release(&names);
	hot_class.free(first[0].result);
	commit_time_free(time);
}

static void show_arguments(struct session *s, const struct select *select)
{
	const struct argument_request request = { .event = -1, .with_histogram = true };
	struct argument_tables tables = { 0 };
	struct err err;

	if (argument_tables_make(s, select, &request, &tables, &err) == 0)
		render(&tables.shown);
	argument_tables_release(&tables);
}

/* The hottest function, whole; for people and for machines. */
static void annotate_heaviest(struct session *s, const struct select *select)
{
	struct annotate_region region;
	struct analysis analysis = { .class = &annotate_class, .options = &region };
	struct annotation annotation;
	struct scan_wish wish;
	struct err err;

	if (annotate_find(s, select, NULL, NULL, &region, &err) < 0)
		return;
	wish = annotate_wish(s);
	scan_part(s, select, &wish, &analysis, 1);
	annotation_read(&annotation, s, analysis.result, SYNTAX_ATT);
	for (int is_text = 0; is_text < 2; is_text++) {
		struct annotate_view view = { .shows_all = true };
		struct annotate_tables tables = { 0 };

		annotate_view_fill(&view, &annotation);
		annotate_tables_make(&annotation, &view, is_text, &tables);
		render(&tables.shown);
		annotate_tables_release(&tables);
	}
	annotation_release(&annotation);
	annotate_class.free(analysis.result);
}

/* Accounts the cycles of the blocks by a tree of another CPU, too: whatever the capture has, it must be borne. */
static void account_blocks(struct session *s, const struct select *select, const struct cfg *cfg,
			   struct cycle_ranges *out)
{
	const struct cycle_options options = { .tree = "neoverse-n1" };
	uint64_t *starts = cfg_block_starts(cfg);
	struct err err;

	cycle_ranges_init(out, s, select, &options, cfg->code->region->module, starts, cfg->list.n,
			  &err);
	free(starts);
}

/* Blocks of the hottest function, with executions where there are branch stacks. */
static void show_blocks(struct session *s, const struct select *select)
{
	struct annotate_region region;
	struct analysis analysis = { .class = &annotate_class, .options = &region };
	const struct scan_wish wish = { .keeps_places = true };
	struct branch_stacks stacks = { 0 };
	struct blocks_tables tables = { 0 };
	struct cycle_ranges costs = { 0 };
	struct text text = { 0 };
	struct annotation code;
	struct cfg cfg;
	struct err err;
	int rc;

	if (annotate_find(s, select, NULL, NULL, &region, &err) < 0)
		return;
	scan_part(s, select, &wish, &analysis, 1);
	rc = branch_stacks_read(&stacks, s, select, -1, true, &err);
	annotation_read(&code, s, analysis.result, SYNTAX_ATT);
	if (code.list.n > 0) {
		cfg_init(&cfg, &code, rc < 0 ? NULL : &stacks, false);
		account_blocks(s, select, &cfg, &costs);
		blocks_tables_make(&cfg, costs.tree != NULL ? &costs : NULL, TOP, false, &tables);
		cfg_draw_dot(&cfg, &text);
		cfg_draw_text(&cfg, 80, true, &text);
		render(&tables.shown);
		blocks_tables_release(&tables);
		cycle_ranges_release(&costs);
		cfg_release(&cfg);
	}
	text_release(&text);
	annotation_release(&code);
	branch_stacks_release(&stacks);
	annotate_class.free(analysis.result);
}

static void show_calls(struct session *s, const struct select *select)
{
	struct calls_tables tables = { 0 };
	struct text text = { 0 };
	struct calls calls;
	struct err err;

	if (calls_read(&calls, s, select, -1, &err) == 0) {
		calls_tables_make(&calls, UINT32_MAX, TOP, true, &tables);
		calls_draw_dot(&calls, &text);
		calls_draw_text(&calls, true, &text);
		render(&tables.shown);
		calls_tables_release(&tables);
	}
	text_release(&text);
	calls_release(&calls);
}

static void show_addresses(struct session *s, const struct select *select)
{
	for (unsigned by = 0; by < ADDR_BY_OFFSET; by++) {
		const struct addr_request request = { .by = (enum addr_by)by, .top = TOP };
		struct addr_report report = { 0 };
		struct err err;

		if (addr_report_make(s, select, &request, &report, &err) == 0)
			render(&report.shown);
		addr_report_release(&report);
	}
}

/* By a tree of another CPU, if the capture's has none. */
static void account_cycles(struct session *s, const struct select *select)
{
	struct cycle_template *tree = NULL;
	struct cycle_request request = { .node_of = NULL, .top = TOP };
	static const char *const by[] = { "function", "process,instruction", "program,line",
					  "instruction" };
	double *penalties;
	struct err err;

	if (cycle_template_find("neoverse-n1", &tree, &err) < 0)
		return;
	penalties = mem_zalloc(tree->n_nodes, sizeof(*penalties));
	for (size_t i = 0; i < tree->n_nodes; i++)
		penalties[i] = cycle_node_penalty(tree, (int)i, 0);
	request.penalties = penalties;
	for (unsigned i = 0; i < COUNT(by); i++) {
		struct cycle_tables tables = { 0 };
		struct cycle_objects objects;
		struct keys keys;

		request.is_for_people = i < 3;
		request.node_of = i == 2 ? "all" : NULL;
		if (keys_parse(by[i], &keys, &err) < 0)
			abort();
		cycle_objects_init(&objects, tree, &keys, i == 3);
		/* twice the same: what two captures come to */
		if (cycle_objects_add(&objects, s, select, &err) == 0 &&
		    cycle_objects_add(&objects, s, select, &err) == 0 &&
		    cycles_make(&objects, &request, &tables, &err) == 0)
			render(&tables.shown);
		cycle_tables_release(&tables);
		cycle_objects_release(&objects);
	}
	free(penalties);
	cycle_template_free(tree);
}

static void judge(struct session *s, const struct select *select)
{
	struct quality quality = { 0 };
	struct err err;

	if (quality_make(s, select, TOP, &quality, &err) == 0)
		render(&quality.shown);
	quality_release(&quality);
}

/* The capture as a baseline, and against itself. */
static void compare(struct session *s)
{
	struct measures measures = { .origin = "fuzz" };
	struct diff diff = { 0 };
	struct diff_tables tables = { 0 };
	struct text baseline = { 0 };
	struct shared_scan first = { 0 };
	struct c2c sharing = { 0 };
	struct gates gates;
	struct err err;

	gates_init(&gates);
	if (c2c_begin(&sharing, s, &measures_shared_request, &first, &err) == 0) {
		measures_of_session(s, NULL, UINT32_MAX, &first, &measures);
		measures_add_shared(&sharing, NULL, &measures, &err);
	}
	shared_scan_release(&first);
	c2c_release(&sharing);
	measures_write(&measures, &baseline);
	diff_make(&measures, &measures, DIFF_PER_RUN, &diff);
	if (diff_tables(&diff, NULL, 0, TOP, &tables, &gates, &err) == 0)
		render(&tables.shown);
	gates_release(&gates);
	diff_tables_release(&tables);
	diff_release(&diff);
	text_release(&baseline);
	measures_release(&measures);
}

static void export_profiles(struct session *s, const struct select *select)
{
	const struct profile_options options = { .records = { .event = -1, .branches_of = -1 } };
	const struct profile_format *format;

	for (size_t i = 0; (format = profile_format_at(i)) != NULL; i++) {
		struct profile_writer writer;
		bool has_data;
		struct err err;

		profile_writer_init(&writer, format->is_gzip, take_text, NULL);
		profile_write(format, s, select, &options, &writer, &has_data, &err);
		profile_writer_release(&writer);
	}
}

/* Profiles of executions, as far as there is code. */
static void export_feedback_formats(struct session *s, const struct select *select)
{
	for (size_t i = 0; feedback_format_name(i) != NULL; i++) {
		const struct feedback_request request = {
			.format = feedback_format_find(feedback_format_name(i)),
		};
		struct text note = { 0 };
		struct err err;

		(void)feedback_write(s, i % 2 == 0 ? NULL : select, &request, take_text, NULL,
				     &note, &err);
		text_release(&note);
	}
}

static void export_all(struct session *s, const struct select *select)
{
	static const char *const names[] = { "spe", "samples", "branches" };
	struct err err;

	for (size_t i = 0; i < COUNT(names); i++)
		export_run(s, select, export_table_find(names[i], &err), formats[1 + i], &document,
			   take_text, NULL);
	export_feedback_formats(s, select);
	for (int i = 0; i < 4; i++)
		spe_parser_run(s, select, &(struct spe_parser_options){ i / 2 == 1, i % 2 == 1 },
			       take_file, NULL);
	export_profiles(s, select);
}

/* Each byte is read or accounted for. */
static void check_account(const struct capture *c)
{
	const struct capture_totals *t = capture_totals(c);

	assert(t->header_bytes + t->record_bytes + t->feature_bytes +
		       diags_bytes(capture_diags(c), DIAG_NOTE) ==
	       capture_size(c));
}

static void run_report(struct session *s, const struct select *select)
{
	(void)select;
	make_report(s);
}

static void run_hot(struct session *s, const struct select *select)
{
	show_hot(s, select);
	list_events(s);
	show_elapsed(s);
	show_time_estimate(s);
	show_arguments(s, NULL);
}

static void run_annotate(struct session *s, const struct select *select)
{
	(void)select;
	annotate_heaviest(s, NULL);
}

static void run_blocks(struct session *s, const struct select *select)
{
	(void)select;
	show_blocks(s, NULL);
}

static void run_mem(struct session *s, const struct select *select)
{
	(void)select;
	show_memory(s, NULL);
}

static void run_c2c(struct session *s, const struct select *select)
{
	for (int mode = -1; mode < C2C_N_MODES; mode += 2)
		show_sharing(s, mode < 0 ? NULL : select, mode);
}

static void run_addr(struct session *s, const struct select *select)
{
	(void)select;
	show_addresses(s, NULL);
}

static void run_cycles(struct session *s, const struct select *select)
{
	account_cycles(s, select);
}

static void run_quality(struct session *s, const struct select *select)
{
	(void)select;
	judge(s, NULL);
}

static void run_diff(struct session *s, const struct select *select)
{
	(void)select;
	compare(s);
}

static void run_dump(struct session *s, const struct select *select)
{
	(void)select;
	capture_walk(s->capture, describe_record, s->capture);
	packets_dump(s->capture, s->catalog, s->pool, SPE_WORDING_FULL, take_text, NULL);
}

/* What each command that reads captures does with one. */
static const struct {
	const char *command;
	void (*run)(struct session *, const struct select *);
} answers[] = {
	{ "report", run_report }, { "hot", run_hot },	   { "annotate", run_annotate },
	{ "blocks", run_blocks }, { "calls", show_calls }, { "mem", run_mem },
	{ "c2c", run_c2c },	  { "addr", run_addr },	   { "quality", run_quality },
	{ "diff", run_diff },	  { "dump", run_dump },	   { "export", export_all },
	{ "cycles", run_cycles },
};

/* A command that is not in the table would be forgotten here. */
static void run_command(const char *name, struct session *s, const struct select *select)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		if (strcmp(answers[i].command, name) == 0) {
			answers[i].run(s, select);
			return;
		}
	}
	fprintf(stderr, "session_fuzz: command '%s' has no row in the table\n", name);
	abort();
}

static void use(struct session *s)
{
	struct select *select = NULL;
	struct err err;

	check_account(s->capture);
	if (select_compile(s, expression, &select, &err) < 0)
		abort();
	for (const struct command *const *c = commands; *c != NULL; c++)
		if ((*c)->reads == COMMAND_READS_CAPTURE || (*c)->reads == COMMAND_READS_RUNS)
			run_command((*c)->usage->command, s, select);
	select_free(select);
}

/* What is no perf.data is a raw SPE buffer. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct session_options options = {
		.path = "fuzz",
		.bytes = bytes,
		.n_bytes = size,
		.n_workers = N_WORKERS,
		.symbols = { .symfs = "/nonexistent" },
	};
	struct session session;
	struct err err;

	for (int is_raw = 0; is_raw < 2; is_raw++) {
		bool is_open;

		options.raw.is_raw = is_raw != 0;
		is_open = session_open(&session, &options, &err) == 0;
		if (is_open)
			use(&session);
		session_release(&session);
		if (is_open)
			break;
	}
	return 0;
}
