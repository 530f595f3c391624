/* SPDX-License-Identifier: Apache-2.0 */
/* The listing (text): source lines, branch arrows, instructions and their numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/source.h"
#include "annotate/view.h"
#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "estimate/shares.h"
#include "keys/keys.h"
#include "scan/spe_filters.h"
#include "session/names.h"
#include "spe/packet.h"

enum {
	SHORT_FUNCTION = 60, /* all instructions of shorter functions are shown */
	ALWAYS_HOT = 20,     /* so many of the hottest are always shown */
	MAX_LISTING_COLUMNS = 12 + ANNOTATE_EVENTS,
	MNEMONIC_WIDTH = 7,
};

/* Cold: less than this part of each column. */
static const double cold_below = 0.005;

enum row_kind {
	ROW_INSTRUCTION,
	ROW_SOURCE, /* source line of the next instruction */
	ROW_BLOCK,  /* the basic block that begins with the next instruction */
	ROW_FOLD,   /* "… 9 cold": instructions that are not shown */
};

struct listing_row {
	enum row_kind kind;
	size_t number; /* of the instruction, or of the next one */
	size_t n_folded;
};

/* State while the listing is made. */
struct listing {
	const struct annotation *a;
	const struct annotate_view *view;
	struct table *table;
	struct sources sources;
	VEC_OF(struct listing_row) rows;
	const char **arrows; /* by row */
	uint64_t cycles;     /* sum of all total latencies */
	uint64_t time;	     /* estimated, of all; 0: no estimate */
	uint64_t totals[ANNOTATE_EVENTS];
	struct column columns[MAX_LISTING_COLUMNS];
	size_t n_columns, first_event; /* those of events stand side by side */
	bool has_spe, has_branches, has_sources, has_data;
};

static void annotate_listing_add_column(struct listing *l, struct column column)
{
	column.flags |= COLUMN_BLANK; /* most rows have few numbers */
	l->columns[l->n_columns++] = column;
}

/* "L1D-REFILL" as "l1d-refill". */
static const char *lower_case(struct table *t, const char *name)
{
	char *lower = arena_strndup(&t->memory, name, strlen(name));

	for (char *c = lower; *c != '\0'; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
	return lower;
}

static void annotate_listing_start_table(struct listing *l)
{
	struct column *own;

	table_init(l->table, "listing", NULL, l->columns, l->n_columns);
	own = table_own_columns(l->table, 0);
	for (size_t i = 0; i < l->n_columns; i++)
		own[i].name = lower_case(l->table, own[i].name);
	for (size_t i = l->first_event; i < l->first_event + l->view->n_events; i++)
		own[i].title = table_format(l->table, "%s share", own[i].name);
}

static void choose_columns(struct listing *l)
{
	const unsigned share = COLUMN_SHARE | COLUMN_TRUST;

	annotate_listing_add_column(
		l, (struct column){ "address", NULL, "", CELL_HEX, 0, "in its file" });
	annotate_listing_add_column(
		l, (struct column){ "instruction", NULL, "", CELL_TEXT,
				    COLUMN_GROW | COLUMN_WIDE | COLUMN_SPAN,
				    "source lines, arrows of branches, instructions" });
	if (l->time > 0)
		annotate_listing_add_column(
			l, (struct column){ "time_estimate", "time estimate", "", CELL_NUMBER,
					    share | COLUMN_BAR,
					    "part of the function's time, estimated" });
	if (l->has_spe)
		annotate_listing_add_column(
			l, (struct column){ "share", "latency share", "", CELL_NUMBER,
					    share | (l->time > 0 ? 0 : COLUMN_BAR),
					    "part of the function's latency cycles" });
	if (l->a->session->slices.n > 0)
		annotate_listing_add_column(
			l, (struct column){ "time", SLICES_TITLE, "", CELL_TEXT, COLUMN_SPARK,
					    "samples and SPE records over time" });
	if (l->has_sources)
		annotate_listing_add_column(l,
					    (struct column){ "from", "data source", "", CELL_TEXT,
							     0, "most frequent data source" });
	if (l->has_spe) {
		annotate_listing_add_column(l,
					    (struct column){ "mean", NULL, "cycles", CELL_NUMBER,
							     COLUMN_TRUST, "mean total latency" });
		annotate_listing_add_column(l, (struct column){ "p50", NULL, "cycles", CELL_COUNT,
								COLUMN_TRUST,
								"median total latency" });
	}
	l->first_event = l->n_columns;
	for (size_t i = 0; i < l->view->n_events; i++)
		annotate_listing_add_column(
			l, (struct column){ annotate_event_name(l->a, &l->view->events[i]), NULL,
					    "", CELL_NUMBER,
					    share | (l->has_spe || i > 0 ? 0 : COLUMN_BAR),
					    "part of the function's" });
	if (l->has_branches) {
		annotate_listing_add_column(l, (struct column){ "taken", "taken ratio", "",
								CELL_NUMBER, share,
								"part of a branch's records" });
		annotate_listing_add_column(
			l, (struct column){ "missed", "mispredict ratio", "", CELL_NUMBER, share,
					    "part of a branch's records that was mispredicted" });
	}
}

/* The largest part, 0 … 1, that the instruction has of any column. */
static double heat_of(const struct listing *l, size_t i)
{
	uint64_t cycles = annotated_latency(l->a, i, COUNT_TOTAL).cycles;
	double heat = l->cycles == 0 ? 0 : (double)cycles / (double)l->cycles;

	if (l->time > 0)
		heat = fmax(heat, (double)annotated_time(l->a, i) / (double)l->time);

	for (size_t k = 0; k < l->view->n_events; k++) {
		double share = annotate_share(l->a, &l->view->events[k], l->totals[k], i);

		heat = share > heat ? share : heat;
	}
	return heat;
}

static int compare_heats(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a < b) - (a > b);
}

/* The limit below which instructions are cold: cold_below, or less so that ALWAYS_HOT are shown. */
static double least_heat(const double *heats, size_t n)
{
	double *sorted = mem_alloc(n + 1, sizeof(*sorted));
	double least = cold_below;

	memcpy(sorted, heats, n * sizeof(*sorted));
	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), compare_heats);
	if (n >= ALWAYS_HOT && sorted[ALWAYS_HOT - 1] < least)
		least = sorted[ALWAYS_HOT - 1];
	free(sorted);
	return least;
}

/*
 * By instruction: is it shown? Those that are not cold, and view->context around them. To be freed.
 */
static bool *choose_shown(const struct listing *l)
{
	size_t n = l->a->list.n, context = l->view->context;
	bool *shown = mem_zalloc(n + 1, sizeof(*shown));
	double *heats = mem_alloc(n + 1, sizeof(*heats)), least;
	bool shows_all = l->view->shows_all || n <= SHORT_FUNCTION;

	for (size_t i = 0; i < n; i++)
		heats[i] = heat_of(l, i);
	least = least_heat(heats, n);
	for (size_t i = 0; i < n; i++) {
		size_t from = i > context ? i - context : 0;

		if (!shows_all && (heats[i] == 0 || heats[i] < least))
			continue;
		for (size_t k = from; k < n && k <= i + context; k++)
			shown[k] = true;
	}
	free(heats);
	return shown;
}

static const struct symbol_frame *frame_of(const struct annotation *a, size_t i)
{
	const struct symbol *s = &a->list.items[i].symbol;

	return s->n_frames == 0 ? NULL : &symbols_frames(a->session->symbols)[s->first_frame];
}

static bool is_same_line(const struct annotation *a, size_t i, size_t k)
{
	const struct symbol_frame *x = frame_of(a, i), *y = frame_of(a, k);

	if (x == NULL || y == NULL)
		return x == y;
	return x->file.v == y->file.v && x->line == y->line && x->function.v == y->function.v &&
	       a->list.items[i].symbol.n_frames == a->list.items[k].symbol.n_frames;
}

static void annotate_listing_add_row(struct listing *l, enum row_kind kind, size_t number,
				     size_t n_folded)
{
	*vec_add(&l->rows) = (struct listing_row){ kind, number, n_folded };
}

static bool begins_block(const struct listing *l, size_t i)
{
	const struct cfg *b = l->view->blocks;

	return b != NULL && b->list.items[b->block_of[i]].first == i;
}

static void choose_rows(struct listing *l)
{
	bool *shown = choose_shown(l);
	size_t n_folded = 0, last = SIZE_MAX;

	for (size_t i = 0; i < l->a->list.n; i++) {
		const struct symbol_frame *frame = frame_of(l->a, i);

		if (!shown[i]) {
			n_folded++;
			continue;
		}
		if (n_folded > 0)
			annotate_listing_add_row(l, ROW_FOLD, i, n_folded);
		if (begins_block(l, i)) {
			annotate_listing_add_row(l, ROW_BLOCK, i, 0);
			last = SIZE_MAX;
		}
		if (frame != NULL && frame->line != 0 &&
		    (last == SIZE_MAX || !is_same_line(l->a, last, i)))
			annotate_listing_add_row(l, ROW_SOURCE, i, 0);
		annotate_listing_add_row(l, ROW_INSTRUCTION, i, 0);
		last = i;
		n_folded = 0;
	}
	if (n_folded > 0)
		annotate_listing_add_row(l, ROW_FOLD, l->a->list.n, n_folded);
	free(shown);
}

static void draw_arrows(struct listing *l)
{
	size_t *numbers = mem_alloc(l->rows.n + 1, sizeof(*numbers));

	for (size_t i = 0; i < l->rows.n; i++)
		numbers[i] = l->rows.items[i].kind == ROW_INSTRUCTION ? l->rows.items[i].number
								      : SIZE_MAX;
	l->arrows =
		annotate_arrows(l->a, numbers, l->rows.n, l->view->has_unicode, &l->table->memory);
	free(numbers);
}

/* "walk.c:8  x = x->next;" and, if it was inlined, into what. */
static void listing_write_source(struct listing *l, size_t number, struct text *out)
{
	const struct annotation *a = l->a;
	const struct strings *strings = symbols_strings(a->session->symbols);
	const struct symbol *s = &a->list.items[number].symbol;
	const struct symbol_frame *frame = symbols_frames(a->session->symbols) + s->first_frame;
	const char *path = strings_get(strings, frame->file);

	text_format(out, "%s:%u", path_base(path), frame->line);
	for (uint32_t i = 0; i + 1 < s->n_frames; i++)
		text_format(out, "%s%s", i == 0 ? "  (" : " in ",
			    strings_get(strings, frame[i].function));
	if (s->n_frames > 1)
		text_str(out, " inlined)");
	if (l->view->without_source)
		return;
	text_str(out, "  ");
	sources_line(&l->sources, path, frame->line, out);
}

static void listing_write_instruction(const struct listing *l, size_t number, struct text *out)
{
	const struct annotated *i = &l->a->list.items[number];

	text_str(out, i->text.mnemonic);
	if (i->text.operands[0] != '\0') {
		for (size_t n = strlen(i->text.mnemonic); n < MNEMONIC_WIDTH; n++)
			text_char(out, ' ');
		text_char(out, ' ');
		text_str(out, i->text.operands);
	}
	if (i->target_name != NULL)
		text_format(out, " <%s>", i->target_name);
}

static struct cell annotate_listing_share_cell(double share, uint64_t n)
{
	/* an empty cell is easier to read than a column of zeros */
	if (n == 0)
		return (struct cell){ .type = CELL_NONE };
	return cell_number(share);
}

static void fill_median(const struct listing *l, size_t i, struct cell *cell)
{
	struct annotated_latency total = annotated_latency(l->a, i, COUNT_TOTAL);

	if (total.n_all > 0)
		*cell = cell_marked(cell_count(total.p50),
				    latency_is_full(total.p50) ? MARK_SATURATED : MARK_EXACT);
}

static void fill_mean(const struct listing *l, size_t i, struct cell *cell)
{
	struct annotated_latency total = annotated_latency(l->a, i, COUNT_TOTAL);

	if (total.n_usable > 0)
		*cell = cell_marked(cell_number((double)total.usable / (double)total.n_usable),
				    total.n_usable < total.n_all ? MARK_SATURATED : MARK_EXACT);
}

static void listing_fill_branches(const struct listing *l, size_t i, struct cell *row,
				  size_t *column)
{
	struct annotated_branches b = annotated_branches(l->a, i);
	struct cell *cells = &row[*column];

	*column += 2;
	if (b.n_directed > 0 && l->a->list.items[i].text.flow.kind == FLOW_BRANCH)
		cells[0] = cell_number((double)b.n_taken / (double)b.n_directed);
	if (b.n_predicted > 0)
		cells[1] = annotate_listing_share_cell(
			(double)b.n_mispredicted / (double)b.n_predicted, b.n_mispredicted);
}

/* "DRAM 61 %". */
static void fill_source(const struct listing *l, size_t i, struct cell *cell)
{
	const struct annotated *line = &l->a->list.items[i];
	uint64_t all = annotated_count(l->a, i, COUNT_SOURCE);
	const struct annotate_value *most = NULL;
	const struct cpu_source *source;
	char raw[24];

	for (uint32_t k = line->first[COUNT_SOURCE]; k < line->first[COUNT_SOURCE + 1]; k++) {
		const struct annotate_value *v = &l->a->values.items[k];

		if (most == NULL || v->n > most->n)
			most = v;
	}
	if (most == NULL)
		return;
	source = key_source(most->value);
	snprintf(raw, sizeof(raw), "0x%x", (unsigned)most->value);
	*cell = cell_text(table_format(l->table, "%s %.0f %%", source != NULL ? source->name : raw,
				       100 * (double)most->n / (double)all));
}

static void fill_time(const struct listing *l, size_t i, struct cell *cell)
{
	uint64_t amounts[SLICES_MAX];

	annotated_slices(l->a, i, amounts);
	if (annotated_count(l->a, i, COUNT_SLICE) > 0)
		*cell = cell_text(slices_spark(l->table, amounts, l->a->session->slices.n));
}

static void fill_numbers(const struct listing *l, size_t i, struct cell *row)
{
	size_t column = 2;

	if (l->time > 0 && annotated_count(l->a, i, COUNT_RECORDS) > 0)
		row[column] =
			cell_marked(cell_ratio(annotated_time(l->a, i), l->time), MARK_SCALED);
	column += l->time > 0;
	if (l->has_spe) {
		struct annotated_latency total = annotated_latency(l->a, i, COUNT_TOTAL);

		row[column++] = annotate_listing_share_cell(
			l->cycles == 0 ? 0 : (double)total.cycles / (double)l->cycles, total.n_all);
	}
	if (l->a->session->slices.n > 0)
		fill_time(l, i, &row[column++]);
	if (l->has_sources)
		fill_source(l, i, &row[column++]);
	if (l->has_spe) {
		fill_mean(l, i, &row[column++]);
		fill_median(l, i, &row[column++]);
	}
	for (size_t k = 0; k < l->view->n_events; k++) {
		const struct annotate_event *e = &l->view->events[k];
		double share = annotate_share(l->a, e, l->totals[k], i);

		row[column++] = annotate_listing_share_cell(share, share > 0);
	}
	if (l->has_branches)
		listing_fill_branches(l, i, row, &column);
}

static void annotate_listing_show_row(struct listing *l, size_t number, struct text *text)
{
	const struct listing_row *r = &l->rows.items[number];
	struct cell *row = table_add_row(l->table);

	text_reset(text);
	text_str(text, l->arrows[number]);
	if (r->kind == ROW_INSTRUCTION) {
		row[0] = cell_hex(l->a->list.items[r->number].text.address);
		listing_write_instruction(l, r->number, text);
		fill_numbers(l, r->number, row);
	} else if (r->kind == ROW_SOURCE) {
		listing_write_source(l, r->number, text);
	} else if (r->kind == ROW_BLOCK) {
		block_heading(l->view->blocks, l->view->blocks->block_of[r->number], text);
	} else {
		text_format(text, "%s %zu cold", l->view->has_unicode ? "…" : "...", r->n_folded);
	}
	text_char(text, '\0');
	row[1] = cell_text(table_text(l->table, text->bytes));
}

static const char *title_of(const struct listing *l)
{
	const struct annotation *a = l->a;
	const struct annotate_region *r = a->region;
	uint64_t n_records = annotation_count(a, COUNT_RECORDS);
	uint64_t n_samples = annotation_count(a, COUNT_SAMPLES);
	uint64_t n_entries = annotation_count(a, COUNT_ENTRY);
	char digits[GROUPED_BYTES];
	struct text text = { 0 };

	if (r->has_name)
		text_str(&text, r->name);
	else
		text_format(&text, "code %s %#llx", r->is_range ? "at" : "without symbols at",
			    (unsigned long long)r->address);
	text_format(&text, "   %s", names_module(a->session, r->module));
	if (n_records > 0)
		text_format(&text, "   %s SPE records", grouped_u64(n_records, digits));
	if (n_entries > 0)
		text_format(&text, "   %s branch entries", grouped_u64(n_entries, digits));
	if (n_samples > 0)
		text_format(&text, "   %s samples", grouped_u64(n_samples, digits));
	return table_take_text(l->table, &text);
}

static void listing_measure(struct listing *l)
{
	for (size_t i = 0; i < l->a->list.n; i++)
		l->cycles += annotated_latency(l->a, i, COUNT_TOTAL).cycles;
	for (size_t k = 0; k < l->view->n_events; k++)
		l->totals[k] = annotate_total(l->a, &l->view->events[k]);
	l->time = l->a->time != NULL ? annotation_time(l->a) : 0;
	l->has_spe = l->cycles > 0;
	l->has_branches =
		annotation_count(l->a, COUNT_BRANCH) > 0 || annotation_count(l->a, COUNT_ENTRY) > 0;
	l->has_sources = annotation_count(l->a, COUNT_SOURCE) > 0;
}

void annotate_listing(const struct annotation *a, const struct annotate_view *view,
		      struct table *out)
{
	struct listing l = { .a = a, .view = view, .table = out };
	struct text text = { 0 };

	l.sources.symfs = view->symfs;
	listing_measure(&l);
	choose_columns(&l);
	annotate_listing_start_table(&l);
	out->title = title_of(&l);
	choose_rows(&l);
	draw_arrows(&l);
	for (size_t i = 0; i < l.rows.n; i++)
		annotate_listing_show_row(&l, i, &text);
	if (annotation_count(a, COUNT_ENTRY) > 0)
		table_note(out, "missed: part of the branch's entries in branch stacks, which hold "
				"taken branches only");
	if (a->shortage != NULL)
		table_note(out, "%s: only addresses with records are shown", a->shortage);
	if (!a->region->has_name && !a->region->is_range)
		table_note(out, "no symbols: this is the code around the hottest address; "
				"0xSTART..0xEND shows another range");
	if (annotation_count(a, COUNT_RECORDS) > 0)
		spe_filters_note(a->session, out);
	text_release(&text);
	sources_release(&l.sources);
	vec_release(&l.rows);
}
