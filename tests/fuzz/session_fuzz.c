/* SPDX-License-Identifier: Apache-2.0 */
/* A whole capture through all that the commands do with it, by several workers. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/tables.h"
#include "capture/describe.h"
#include "dump/packets.h"
#include "export/export.h"
#include "export/spe_parser.h"
#include "hot/event.h"
#include "mem/answer.h"
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

static const struct format *const formats[] = { &format_text, &format_csv, &format_json };

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

static void export_all(struct session *s, const struct select *select)
{
	static const char *const names[] = { "spe", "samples" };
	struct err err;

	for (size_t i = 0; i < COUNT(names); i++)
		export_run(s, select, export_table_find(names[i], &err), formats[1 + i], &document,
			   take_text, NULL);
	spe_parser_run(s, select, take_file, NULL);
}

/* Each byte is read or accounted for. */
static void check_account(const struct capture *c)
{
	const struct capture_totals *t = capture_totals(c);

	assert(t->header_bytes + t->record_bytes + t->feature_bytes +
		       diags_bytes(capture_diags(c), DIAG_NOTE) ==
	       capture_size(c));
}

static void use(struct session *s)
{
	struct select *select = NULL;
	struct err err;

	check_account(s->capture);
	capture_walk(s->capture, describe_record, s->capture);
	packets_dump(s->capture, s->catalog, s->pool, SPE_WORDING_FULL, take_text, NULL);
	make_report(s);
	if (select_compile(s, expression, &select, &err) < 0)
		abort();
	show_hot(s, select);
	show_memory(s, NULL);
	list_events(s);
	for (int mode = -1; mode < C2C_N_MODES; mode += 2)
		show_sharing(s, mode < 0 ? NULL : select, mode);
	export_all(s, select);
	select_free(select);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct session_options options = {
		.path = "fuzz",
		.bytes = bytes,
		.n_bytes = size,
		.n_workers = N_WORKERS,
		.symbols = { .symfs = "/nonexistent" },
	};
	struct session session;
	struct err err;

	if (session_open(&session, &options, &err) == 0)
		use(&session);
	session_release(&session);
	return 0;
}
