/* SPDX-License-Identifier: Apache-2.0 */
/* The struct as text, in the manner of pahole, and as rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "c2c/fix/layout.h"
#include "data/short_name.h"
#include "table/format.h"

enum {
	SHOWN_FIELDS = 32,
	SHOWN_THREADS = 4,
	SHOWN_PARTS = 8,
	NUMBERS_WIDTH = 41, /* offset, size, loads, stores, atomics with blanks */
	THREADS_WIDTH = 24,
	LEAST_NAME = 12,
};

/* What all lines of a drawing have in common. */
struct drawing {
	size_t name_width;
	bool has_atomics; /* a column of them */
};

/* The struct or array, for headings: "struct account account". */
static void put_title(const struct layout *l, struct text *out)
{
	size_t n = out->n;

	if (l->type.v != 0) {
		types_name(l->question.types, l->type, out);
		text_char(out, ' ');
	}
	/* What has no name of its own is called by its type: once is enough. */
	if (out->n - n == strlen(l->question.object) + 1 &&
	    memcmp(out->bytes + n, l->question.object, out->n - n - 1) == 0)
		out->n = n;
	text_str(out, l->question.object);
	if (l->path.n > 0 && l->path.bytes[0] != '[')
		text_char(out, '.');
	text_add(out, l->path.bytes, l->path.n);
}

/* Says which line it is, unless it is still the one before. */
static void put_line_address(const struct layout *l, uint64_t line, uint64_t *last,
			     struct text *out)
{
	if (line == *last)
		return;
	*last = line;
	text_str(out, "-- line ");
	if (l->question.is_of_many)
		text_format(out, "%" PRIu64 " of each",
			    line - l->question.address / l->question.line_bytes + 1);
	else
		text_hex(out, line * l->question.line_bytes);
	text_str(out, " --\n");
}

/* "5001 rw, 5002 r" */
static void put_uses(const struct layout *l, const struct layout_field *f, struct text *out)
{
	for (size_t i = 0; i < f->uses.n && i < SHOWN_THREADS; i++) {
		const struct layout_use *use = &f->uses.items[i];

		text_str(out, i > 0 ? ", " : "");
		layout_thread(l, use->thread, out);
		text_format(out, " %s%s", memory_reads(&use->counts) > 0 ? "r" : "",
			    memory_writes(&use->counts) > 0 ? "w" : "");
	}
	if (f->uses.n > SHOWN_THREADS)
		text_format(out, " +%zu", f->uses.n - SHOWN_THREADS);
}

static void put_name(const struct layout *l, const struct layout_field *f, struct text *out)
{
	if (l->body == LAYOUT_MEMBERS) {
		types_name(l->question.types, f->type, out);
		text_char(out, ' ');
	}
	layout_field_name(l, f, out);
}

/* Shortens a text to so many columns, or fills it up with blanks: a member stands at its end. */
static void put_cut(const struct text *from, size_t width, struct text *out)
{
	struct text brief = { 0 };
	size_t shown;

	short_name(from->bytes, from->n, width, &brief);
	text_char(&brief, '\0');
	shown = display_width(brief.bytes);
	text_add(out, brief.bytes, brief.n - 1);
	text_repeat(out, ' ', width > shown ? width - shown : 0);
	text_release(&brief);
}

static void put_field(const struct layout *l, const struct layout_field *f, const struct drawing *d,
		      struct text *out)
{
	struct text cell = { 0 };

	put_name(l, f, &cell);
	text_format(out, "%6" PRIu64 " %5" PRIu64 "  ", f->offset, f->size);
	put_cut(&cell, d->name_width, out);
	if (f->uses.n == 0) {
		while (out->bytes[out->n - 1] == ' ')
			out->n--;
	} else {
		text_format(out, " %7" PRIu64 " %7" PRIu64, f->counts.loads, f->counts.stores);
		if (d->has_atomics)
			text_format(out, " %8" PRIu64, f->counts.atomics);
		text_str(out, "  ");
		put_uses(l, f, out);
	}
	text_char(out, '\n');
	text_release(&cell);
}

/*
 * A field under each line where it was accessed. Accesses are few where a field is large: the
 * lines are those of the accesses.
 */
static void put_field_parts(const struct layout *l, const struct layout_field *f,
			    const struct drawing *d, uint64_t *last, struct text *out)
{
	uint64_t line = layout_line(l, f->offset), end = layout_line(l, f->offset + f->size - 1);

	if (f->uses.n == 0 || line == end) {
		put_line_address(l, line, last, out);
		put_field(l, f, d, out);
		return;
	}
	for (size_t shown = 0; line <= end && shown < SHOWN_PARTS; line++) {
		struct layout_field part;

		if (layout_part(l, f, line, &part)) {
			put_line_address(l, line, last, out);
			put_field(l, &part, d, out);
			shown++;
		}
		layout_field_release(&part);
	}
}

/* Fields that nobody used, from `i` on; returns the first behind them. */
static size_t end_of_unused(const struct layout *l, size_t i)
{
	uint64_t line = layout_line(l, l->fields.items[i].offset);

	while (i < l->fields.n && l->fields.items[i].uses.n == 0 &&
	       layout_line(l, l->fields.items[i].offset) == line)
		i++;
	return i;
}

static void put_unused(const struct layout *l, size_t from, size_t to, struct text *out)
{
	const struct layout_field *first = &l->fields.items[from];
	const struct layout_field *last = &l->fields.items[to - 1];

	text_format(out, "%6" PRIu64 " %5" PRIu64 "  (%zu member%s not used)\n", first->offset,
		    last->offset + last->size - first->offset, to - from, plural(to - from));
}

/* The widest name that is shown, within what the width leaves. */
static size_t name_width(const struct layout *l, size_t title, size_t width)
{
	size_t most = width > NUMBERS_WIDTH + THREADS_WIDTH + LEAST_NAME
			      ? width - NUMBERS_WIDTH - THREADS_WIDTH
			      : LEAST_NAME;
	size_t widest = title > LEAST_NAME ? title : LEAST_NAME;
	struct text name = { 0 };

	for (size_t i = 0; i < l->used.n && i < SHOWN_FIELDS; i++) {
		size_t n;

		text_reset(&name);
		put_name(l, &l->fields.items[l->used.items[i]], &name);
		text_char(&name, '\0');
		n = display_width(name.bytes);
		widest = n > widest ? n : widest;
	}
	text_release(&name);
	return widest < most ? widest : most;
}

void layout_draw(const struct layout *l, size_t width, struct text *out)
{
	struct drawing d = { 0 };
	size_t n = 0, i = 0;
	uint64_t line = UINT64_MAX;
	struct text title = { 0 };

	put_title(l, &title);
	text_char(&title, '\0');
	d.name_width = name_width(l, display_width(title.bytes), width);
	for (size_t k = 0; k < l->fields.n; k++)
		d.has_atomics |= l->fields.items[k].counts.atomics > 0;
	title.n--;
	text_str(out, "offset  size  ");
	put_cut(&title, d.name_width, out);
	text_format(out, "   loads  stores%s  threads\n", d.has_atomics ? "  atomics" : "");
	text_release(&title);
	while (i < l->fields.n && n++ < SHOWN_FIELDS) {
		const struct layout_field *f = &l->fields.items[i];
		size_t end = end_of_unused(l, i);

		if (end > i + 1) {
			put_line_address(l, layout_line(l, f->offset), &line, out);
			put_unused(l, i, end, out);
		} else {
			put_field_parts(l, f, &d, &line, out);
		}
		i = end > i + 1 ? end : i + 1;
	}
	if (i < l->fields.n)
		text_format(out, "        (%zu more)\n", l->fields.n - i);
}

enum {
	ROW_LINE,
	ROW_OBJECT,
	ROW_FIELD,
	ROW_TYPE,
	ROW_OFFSET,
	ROW_SIZE,
	ROW_ADDRESS,
	ROW_THREAD,
	ROW_LOADS,
	ROW_STORES,
	ROW_GROUP,
	ROW_ROLE,
	ROW_FINDING,
	ROW_ATOMICS,
	ROW_LINE_OFFSET,
	ROW_NEW_OFFSET,
	ROW_NEW_SIZE,
	N_ROW_COLUMNS,
};

const struct column layout_columns[] = {
	[ROW_LINE] = { "line", NULL, "", CELL_COUNT, 0, "number of the line" },
	[ROW_OBJECT] = { "object", NULL, "", CELL_TEXT, 0, "variable that the field is of" },
	[ROW_FIELD] = { "field", NULL, "", CELL_TEXT, COLUMN_GROW, "member or element" },
	[ROW_TYPE] = { "type", NULL, "", CELL_TEXT, 0, "its type" },
	[ROW_OFFSET] = { "offset", NULL, "bytes", CELL_COUNT, 0, "from the start of the object" },
	[ROW_SIZE] = { "size", NULL, "bytes", CELL_COUNT, 0, "of the field" },
	[ROW_ADDRESS] = { "field_line", NULL, "", CELL_HEX, 0, "cache line that it begins in" },
	[ROW_THREAD] = { "tid", NULL, "", CELL_COUNT, 0, "thread; absent if none accessed it" },
	[ROW_LOADS] = { "loads", NULL, "records", CELL_COUNT, 0, "sampled loads of the thread" },
	[ROW_STORES] = { "stores", NULL, "records", CELL_COUNT, 0, "sampled stores" },
	[ROW_GROUP] = { "group", NULL, "", CELL_COUNT, 0,
			"fields of different groups should not share a line" },
	[ROW_ROLE] = { "role", NULL, "", CELL_TEXT, 0,
		       "role of the thread, for objects of one type with threads of their own" },
	[ROW_FINDING] = { "finding", NULL, "", CELL_COUNT, 0, "number of the finding" },
	[ROW_ATOMICS] = { "atomics", NULL, "records", CELL_COUNT, 0,
			  "sampled atomic operations, which are neither loads nor stores" },
	[ROW_LINE_OFFSET] = { "line_offset", NULL, "bytes", CELL_COUNT, COLUMN_MACHINE_ONLY,
			      "from the start of that cache line" },
	[ROW_NEW_OFFSET] = { "new_offset", NULL, "bytes", CELL_COUNT, COLUMN_MACHINE_ONLY,
			     "from the start of its struct, with the fix" },
	[ROW_NEW_SIZE] = { "new_size", NULL, "bytes", CELL_COUNT, COLUMN_MACHINE_ONLY,
			   "of its struct, with the fix" },
};

const size_t n_layout_columns = COUNT(layout_columns);

static struct cell text_cell(struct table *t, struct text *text)
{
	text_char(text, '\0');
	return cell_text(table_text(t, text->bytes));
}

/* Where members would stand with the fix. */
struct layout_moved {
	uint64_t *offsets; /* by number of the field; NULL: they stay */
	uint64_t size;
};

static void layout_moved_init(struct layout_moved *moved, const struct layout *l)
{
	*moved = (struct layout_moved){ 0 };
	if (l->body != LAYOUT_MEMBERS || l->advice == LAYOUT_KEEP)
		return;
	moved->offsets = mem_alloc(l->fields.n, sizeof(*moved->offsets));
	layout_move(l, moved->offsets, &moved->size);
}

static struct cell *layout_draw_add_row(const struct layout *l, const struct layout_field *f,
					const struct layout_moved *moved, uint64_t line,
					uint64_t finding, struct table *t)
{
	struct cell *row = table_add_row(t);
	struct text text = { 0 };

	row[ROW_LINE] = cell_count(line);
	if (finding > 0)
		row[ROW_FINDING] = cell_count(finding);
	row[ROW_OBJECT] = cell_text(table_text(t, l->question.object));
	text_add(&text, l->path.bytes, l->path.n);
	if (l->path.n > 0 && l->body == LAYOUT_MEMBERS)
		text_char(&text, '.');
	layout_field_name(l, f, &text);
	row[ROW_FIELD] = text_cell(t, &text);
	if (f->type.v != 0) {
		text_reset(&text);
		types_name(l->question.types, f->type, &text);
		row[ROW_TYPE] = text_cell(t, &text);
	}
	row[ROW_OFFSET] = cell_count(f->offset);
	row[ROW_SIZE] = cell_count(f->size);
	if (!l->question.is_of_many)
		row[ROW_ADDRESS] = cell_hex(layout_line(l, f->offset) * l->question.line_bytes);
	row[ROW_LINE_OFFSET] =
		cell_count((l->question.address + f->offset) % l->question.line_bytes);
	if (moved->offsets != NULL) {
		row[ROW_NEW_OFFSET] = cell_count(moved->offsets[f - l->fields.items]);
		row[ROW_NEW_SIZE] = cell_count(moved->size);
	}
	text_release(&text);
	return row;
}

static void layout_add_thread_row(const struct layout *l, uint32_t thread, struct table *t,
				  struct cell *row)
{
	struct text text = { 0 };

	if (!l->question.has_roles) {
		row[ROW_THREAD] = cell_count(thread);
		return;
	}
	layout_thread(l, thread, &text);
	row[ROW_ROLE] = text_cell(t, &text);
	text_release(&text);
}

void layout_rows(const struct layout *l, uint64_t line, uint64_t finding, struct table *t)
{
	struct layout_moved moved;

	layout_moved_init(&moved, l);
	for (size_t i = 0; i < l->fields.n; i++) {
		const struct layout_field *f = &l->fields.items[i];

		if (f->uses.n == 0)
			layout_draw_add_row(l, f, &moved, line, finding, t);
		for (size_t k = 0; k < f->uses.n; k++) {
			struct cell *row = layout_draw_add_row(l, f, &moved, line, finding, t);

			layout_add_thread_row(l, f->uses.items[k].thread, t, row);
			row[ROW_LOADS] = cell_count(f->uses.items[k].counts.loads);
			row[ROW_STORES] = cell_count(f->uses.items[k].counts.stores);
			row[ROW_ATOMICS] = cell_count(f->uses.items[k].counts.atomics);
			row[ROW_GROUP] = cell_count(f->group);
		}
	}
	free(moved.offsets);
}
