/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest functions, each with its source, instructions, blocks and edges: a block of data for each. */
#include <stdlib.h>

#include "annotate/annotate.h"
#include "annotate/source.h"
#include "annotate/view.h"
#include "base/alloc.h"
#include "blocks/tables.h"
#include "html/pages/pages.h"
#include "table/answer.h"

/* Functions that have a page. More would be a file that is slow to send, of functions that nobody opens. */
enum { MOST_FUNCTIONS = 40, LINES_AROUND = 4, MOST_LINES = 3000 };

/* What all pages of functions share. */
struct html_code {
	struct session *session;
	struct annotate_region *regions;
	struct analysis *scanned; /* a struct annotate for each */
	struct annotation *read;
	size_t n;
	struct branch_stacks stacks;
	struct err obstacle; /* why there are no executions */
	bool has_executions;
	struct sources sources;
};

static const struct column source_columns[] = {
	{ "file", NULL, "", CELL_TEXT, COLUMN_PATH, "source file" },
	{ "line", NULL, "", CELL_COUNT, 0, "source line" },
	{ "text", "code", "", CELL_TEXT, 0, "what stands there" },
};

/* Lines of a source file that a function has code of. */
struct line_range {
	struct str_id file;
	uint32_t first, last;
};

struct line_ranges {
	VEC_OF(struct line_range) list;
};

/*
 * Adds a line to the range of its file. Lines of code that is inlined from elsewhere in a file are far
 * away from the function's own: they are a range of their own.
 */
static void line_ranges_add(struct line_ranges *r, struct str_id file, uint32_t line)
{
	enum { GAP = 40 };

	for (size_t i = 0; i < r->list.n; i++) {
		struct line_range *range = &r->list.items[i];

		if (range->file.v != file.v || line + GAP < range->first ||
		    line > range->last + GAP)
			continue;
		range->first = line < range->first ? line : range->first;
		range->last = line > range->last ? line : range->last;
		return;
	}
	*vec_add(&r->list) = (struct line_range){ file, line, line };
}

static void add_lines(struct html_code *code, const struct line_range *range, struct table *t)
{
	const char *path = strings_get(symbols_strings(code->session->symbols), range->file);
	uint32_t line = range->first > LINES_AROUND ? range->first - LINES_AROUND : 1;
	struct text text = { 0 };

	for (; line <= range->last + LINES_AROUND && table_n_rows(t) < MOST_LINES; line++) {
		struct cell *row;

		text_reset(&text);
		if (!sources_indented_line(&code->sources, path, line, &text))
			break;
		text_char(&text, '\0');
		row = table_add_row(t);
		row[0] = cell_text(path);
		row[1] = cell_count(line);
		row[2] = cell_text(table_text(t, text.bytes));
	}
	text_release(&text);
}

/* The source of the function and of what was inlined into it, as far as the files are on this machine. */
static void fill_source(struct html_code *code, const struct annotation *a, struct table *t)
{
	struct line_ranges ranges = { 0 };

	for (size_t i = 0; i < a->list.n; i++) {
		const struct symbol *s = &a->list.items[i].symbol;
		const struct symbol_frame *frame;

		if (s->n_frames == 0)
			continue;
		frame = &symbols_frames(code->session->symbols)[s->first_frame];
		if (frame->file.v != 0 && frame->line != 0)
			line_ranges_add(&ranges, frame->file, frame->line);
	}
	for (size_t i = 0; i < ranges.list.n; i++)
		add_lines(code, &ranges.list.items[i], t);
	vec_release(&ranges.list);
}

/* "chase@demo", as `cyclops annotate` takes it. */
static void put_label(const struct html_code *code, const struct annotate_region *region,
		      struct text *out)
{
	text_format(out, "%s@%s", region->has_name ? region->name : "[unknown]",
		    names_module(code->session, region->module));
	text_char(out, '\0');
}

static void add_function(struct html *h, struct html_code *code, const struct annotation *a)
{
	struct annotate_view view = { .shows_all = true };
	struct annotate_tables tables = { 0 };
	struct blocks_tables blocks = { 0 };
	struct table answer, source;
	struct text label = { 0 };
	bool has_blocks = a->shortage == NULL && a->list.n > 0;
	struct cfg cfg;

	answer_init(&answer);
	annotate_summary(a, &answer);
	table_init(&source, "source", NULL, source_columns, COUNT(source_columns));
	fill_source(code, a, &source);
	if (has_blocks) {
		cfg_init(&cfg, a, code->has_executions ? &code->stacks : NULL, false);
		view.blocks = &cfg;
		blocks_tables_make(&cfg, NULL, 0, false, &blocks);
	}
	annotate_tables_make(a, &view, false, &tables);
	*vec_add(&tables.shown.list) = &source;
	*vec_add(&tables.shown.list) = &answer;
	if (has_blocks) {
		*vec_add(&tables.shown.list) = &blocks.blocks;
		*vec_add(&tables.shown.list) = &blocks.edges;
	}
	put_label(code, a->region, &label);
	html_add(h, "function", label.bytes, &tables.shown);
	text_release(&label);
	annotate_tables_release(&tables);
	if (has_blocks) {
		blocks_tables_release(&blocks);
		cfg_release(&cfg);
	}
	table_release(&source);
	table_release(&answer);
}

/* One scan for all functions; another for branch stacks, if there are any. */
static void read_code(struct html_code *code, const struct select *select)
{
	struct session *s = code->session;
	struct scan_wish wish = annotate_wish(s);

	wish.keeps_places = true;
	code->scanned = mem_zalloc(code->n, sizeof(*code->scanned));
	code->read = mem_zalloc(code->n, sizeof(*code->read));
	for (size_t i = 0; i < code->n; i++)
		code->scanned[i] =
			(struct analysis){ .class = &annotate_class, .options = &code->regions[i] };
	scan_part(s, select, &wish, code->scanned, code->n);
	for (size_t i = 0; i < code->n; i++)
		annotation_read(&code->read[i], s, code->scanned[i].result, SYNTAX_ATT);
	code->has_executions =
		branch_stacks_read(&code->stacks, s, select, -1, false, &code->obstacle) == 0 &&
		branch_stacks_need_all(&code->stacks, &code->obstacle) == 0;
	code->stacks.hides_biased = true;
}

int html_add_code(struct html *h, struct session *s, const struct select *select, struct err *err)
{
	struct html_code code = { .session = s, .sources.symfs = s->symbols_options.symfs };

	(void)err;
	code.regions = annotate_hottest(s, select, MOST_FUNCTIONS, &code.n);
	if (code.n > 0)
		read_code(&code, select);
	for (size_t i = 0; i < code.n; i++)
		add_function(h, &code, &code.read[i]);
	for (size_t i = 0; i < code.n; i++) {
		annotation_release(&code.read[i]);
		annotate_class.free(code.scanned[i].result);
	}
	branch_stacks_release(&code.stacks);
	sources_release(&code.sources);
	free(code.read);
	free(code.scanned);
	free(code.regions);
	return 0;
}
