/* SPDX-License-Identifier: Apache-2.0 */
/* What to change in structs that threads contend for, with known answers. */
#include "c2c/fix/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { LINE = 64, ADDRESS = 0x4a2080, MAX_ACCESSES = 8, DRAWN_WIDTH = 100 };

/* The types that the cases are about. */
enum subject { BUF, PADDED, SLOTS, COUNTERS, BIG, BITS, NO_TYPE, N_SUBJECTS };

struct world {
	struct strings strings;
	struct types types;
	struct type_id subjects[N_SUBJECTS];
};

struct plan {
	const char *name; /* of a long; ends with NULL */
	uint64_t n;	  /* more than one: an array */
};

static struct type_id add_base(struct world *w, const char *name, uint64_t size)
{
	return types_add(&w->types,
			 &(struct type){
				 .kind = TYPE_BASE,
				 .name = strings_addz(&w->strings, name),
				 .size = size,
			 },
			 NULL, 0);
}

static struct type_id add_array(struct world *w, struct type_id inner, uint64_t n)
{
	return types_add(&w->types,
			 &(struct type){
				 .kind = TYPE_ARRAY,
				 .inner = inner,
				 .n_elements = n,
				 .size = n * types_get(&w->types, inner)->size,
			 },
			 NULL, 0);
}

/* A struct of longs and arrays of longs. */
static struct type_id add_struct(struct world *w, const char *name, const struct plan *plan)
{
	struct type_id number = add_base(w, "long", 8);
	struct type_member members[16];
	uint64_t size = 0;
	size_t n = 0;

	for (; plan[n].name != NULL; n++) {
		members[n] = (struct type_member){
			.name = strings_addz(&w->strings, plan[n].name),
			.type = plan[n].n > 1 ? add_array(w, number, plan[n].n) : number,
			.offset = size,
			.size = 8 * plan[n].n,
		};
		size += members[n].size;
	}
	return types_add(&w->types,
			 &(struct type){
				 .kind = TYPE_STRUCT,
				 .name = strings_addz(&w->strings, name),
				 .size = size,
			 },
			 members, n);
}

/* Two bit-fields of one word. */
static struct type_id add_bits(struct world *w)
{
	struct type_id word = add_base(w, "unsigned", 4);
	const struct type_member members[] = {
		{ .name = strings_addz(&w->strings, "ready"),
		  .type = word,
		  .size = 1,
		  .bit_size = 1 },
		{ .name = strings_addz(&w->strings, "count"),
		  .type = word,
		  .size = 4,
		  .bit_offset = 1,
		  .bit_size = 31 },
	};

	return types_add(&w->types,
			 &(struct type){
				 .kind = TYPE_STRUCT,
				 .name = strings_addz(&w->strings, "struct bits"),
				 .size = 4,
			 },
			 members, COUNT(members));
}

static void world_init(struct world *w)
{
	static const struct plan buf[] = { { "lock0", 1 },   { "lock1", 1 },   { "reserved1", 1 },
					   { "pad", 1 },     { "reader1", 1 }, { "reader2", 1 },
					   { "reader3", 1 }, { "reader4", 1 }, { 0 } };
	static const struct plan padded[] = {
		{ "lock0", 1 },	  { "lock1", 1 },   { "reserved1", 1 },
		{ "pad", 5 },	  { "reader1", 1 }, { "reader2", 1 },
		{ "reader3", 1 }, { "reader4", 1 }, { 0 }
	};
	static const struct plan slot[] = { { "hits", 1 }, { "misses", 1 }, { 0 } };
	struct type_id inner;

	strings_init(&w->strings);
	types_init(&w->types, &w->strings);
	w->subjects[BUF] = add_struct(w, "struct buf", buf);
	w->subjects[PADDED] = add_struct(w, "struct buf", padded);
	inner = add_struct(w, "struct slot", slot);
	w->subjects[SLOTS] = add_array(w, inner, 8);
	w->subjects[COUNTERS] = add_array(w, add_base(w, "long", 8), 8);
	w->subjects[BIG] = add_array(w, w->subjects[BUF], 4);
	w->subjects[BITS] = add_bits(w);
	w->subjects[NO_TYPE] = (struct type_id){ 0 };
}

static void world_release(struct world *w)
{
	types_release(&w->types);
	strings_release(&w->strings);
}

static const struct {
	enum subject subject;
	struct layout_access accesses[MAX_ACCESSES]; /* ends with loads and stores 0 */
	enum layout_advice advice;
	const char *fix;
} cases[] = {
	/* The example of the seeds: locks and readers on one line, and with a line each. */
	{ BUF,
	  { { 0, 8, 1, { 5, 100 }, true },
	    { 8, 8, 1, { 0, 90 }, false },
	    { 32, 8, 2, { 70, 0 }, false },
	    { 56, 8, 3, { 80, 0 }, false } },
	  LAYOUT_ALIGN,
	  "move `reader1` and `reader4` to their own cache line: alignas(64) on `reader1`. "
	  "sizeof(struct buf) grows from 64 to 128" },
	{ PADDED,
	  { { 0, 8, 1, { 5, 100 }, true },
	    { 8, 8, 1, { 0, 90 }, false },
	    { 64, 8, 2, { 70, 0 }, false } },
	  LAYOUT_KEEP,
	  "" },
	/* Nobody writes; or one thread is alone. */
	{ BUF, { { 0, 8, 1, { 5, 0 }, false }, { 8, 8, 2, { 9, 0 }, false } }, LAYOUT_KEEP, "" },
	{ BUF, { { 0, 8, 1, { 5, 3 }, false }, { 8, 8, 1, { 9, 4 }, false } }, LAYOUT_KEEP, "" },
	/* Members of two threads take turns. */
	{ BUF,
	  { { 0, 8, 1, { 0, 9 }, false },
	    { 8, 8, 2, { 0, 9 }, false },
	    { 16, 8, 1, { 0, 9 }, false },
	    { 24, 8, 2, { 0, 9 }, false } },
	  LAYOUT_REORDER,
	  "group the members by thread: `lock0`, `reserved1` (thread 1) | `lock1`, `pad` (thread "
	  "2): alignas(64) on the first of each group. sizeof(struct buf) grows from 64 to 128" },
	/* What is used on the object's other line belongs to a group, too. */
	{ PADDED,
	  { { 8, 8, 2, { 70, 0 }, false },
	    { 16, 8, 1, { 5, 100 }, false },
	    { 80, 8, 2, { 70, 0 }, false, .is_outside = true } },
	  LAYOUT_REORDER,
	  "group the members by thread: `lock1`, `reader3` (thread 2) | `reserved1` (thread 1): "
	  "alignas(64) on the first of each group. sizeof(struct buf) grows from 96 to 128" },
	/* … unless it is of another element. */
	{ BIG,
	  { { 64, 8, 1, { 0, 9 }, false },
	    { 96, 8, 2, { 9, 0 }, false },
	    { 160, 8, 1, { 0, 9 }, false, .is_outside = true } },
	  LAYOUT_ALIGN,
	  "move `reader1` to its own cache line: alignas(64). sizeof(struct buf) grows from 64 to "
	  "128" },
	/* A slot for each thread. */
	{ SLOTS,
	  { { 0, 8, 1, { 0, 9 }, false },
	    { 16, 8, 2, { 0, 9 }, false },
	    { 40, 8, 3, { 1, 1 }, false } },
	  LAYOUT_SPREAD,
	  "give each element its own cache line: alignas(64) on struct slot. The array grows from "
	  "128 to 512 bytes" },
	{ COUNTERS,
	  { { 0, 8, 1, { 0, 9 }, false }, { 8, 8, 2, { 0, 9 }, false } },
	  LAYOUT_SPREAD,
	  "give each element its own cache line: put the long into a struct with alignas(64). The "
	  "array grows from 64 to 512 bytes" },
	/* All in one element of an array of structs. */
	{ BIG,
	  { { 64, 8, 1, { 0, 9 }, false }, { 96, 8, 2, { 9, 0 }, false } },
	  LAYOUT_ALIGN,
	  "move `reader1` to its own cache line: alignas(64). sizeof(struct buf) grows from 64 to "
	  "128" },
	/* Between elements, and between members of one of them. */
	{ SLOTS,
	  { { 0, 8, 1, { 0, 9 }, false },
	    { 8, 8, 2, { 9, 0 }, false },
	    { 16, 8, 3, { 0, 9 }, false } },
	  LAYOUT_SPREAD,
	  "give each element its own cache line: alignas(64) on struct slot. The array grows from "
	  "128 to 512 bytes. Within `[0]`: move `misses` to its own cache line: alignas(64). "
	  "sizeof(struct slot) grows from 16 to 128" },
	/* In two elements, each used by all: within them. */
	{ BIG,
	  { { 0, 8, 1, { 0, 5 }, false },
	    { 8, 8, 2, { 5, 0 }, false },
	    { 64, 8, 1, { 0, 9 }, false },
	    { 96, 8, 2, { 9, 0 }, false } },
	  LAYOUT_ALIGN,
	  "move `reader1` to its own cache line: alignas(64). sizeof(struct buf) grows from 64 to "
	  "128" },
	/* The same bytes: no layout helps. */
	{ COUNTERS,
	  { { 0, 8, 1, { 9, 9 }, true }, { 0, 8, 2, { 9, 9 }, true } },
	  LAYOUT_KEEP,
	  "update `[0]` less often, or give each thread its own. 2 threads update it: moving it "
	  "does not help" },
	{ BUF,
	  { { 8, 8, 1, { 0, 9 }, false },
	    { 8, 8, 2, { 9, 0 }, false },
	    { 8, 8, 3, { 9, 0 }, false } },
	  LAYOUT_KEEP,
	  "write `lock1` less often, or only when its value changes. One thread writes it, 2 more "
	  "use it: moving it does not help" },
	{ BITS,
	  { { 0, 4, 1, { 9, 9 }, false }, { 0, 4, 2, { 9, 9 }, false } },
	  LAYOUT_KEEP,
	  "`count,…` are bit-fields of one word: each of 2 threads writes the whole word. Give "
	  "each thread its own word, on its own cache line" },
	/* What threads share on another line is not what this one is contended for. */
	{ BUF,
	  { { 0, 8, 1, { 9, 90 }, false },
	    { 16, 8, 1, { 0, 9 }, false, .is_outside = true },
	    { 16, 8, 2, { 9, 0 }, false, .is_outside = true } },
	  LAYOUT_ALIGN,
	  "move `reserved1` to its own cache line: alignas(64). sizeof(struct buf) grows from 64 "
	  "to 128" },
	/* Head and tail of a ring: each writes one, and now and then looks at the other's. */
	{ BUF,
	  { { 0, 8, 1, { 0, 90 }, false },
	    { 0, 8, 2, { 3, 0 }, false },
	    { 8, 8, 2, { 0, 90 }, false },
	    { 8, 8, 1, { 3, 0 }, false } },
	  LAYOUT_ALIGN,
	  "move `lock1` to its own cache line: alignas(64). sizeof(struct buf) grows from 64 to "
	  "128" },
	/* … and those where each is looked at as often as it is written: they meet anyway. */
	{ BUF,
	  { { 0, 8, 1, { 0, 90 }, false },
	    { 0, 8, 2, { 90, 0 }, false },
	    { 8, 8, 2, { 0, 90 }, false },
	    { 8, 8, 1, { 90, 0 }, false } },
	  LAYOUT_KEEP,
	  "write `lock0` less often, or only when its value changes. One thread writes it, 1 more "
	  "uses it: moving it does not help. Write `lock1` less often, or only when its value "
	  "changes. One thread writes it, 1 more uses it: moving it does not help" },
	/* A lock, and what it guards, which was not seen with every thread: they meet anyway. */
	{ BUF,
	  { { 0, 8, 1, { 9, 9 }, true },
	    { 0, 8, 2, { 9, 9 }, true },
	    { 0, 8, 3, { 9, 9 }, true },
	    { 16, 8, 1, { 4, 2 }, false },
	    { 16, 8, 2, { 3, 2 }, false } },
	  LAYOUT_KEEP,
	  "lock `lock0` less often, hold it for less time, or split the lock and its data. 3 "
	  "threads update it: moving it does not help" },
	/* Both at once: a lock of two threads, and what a third reads. */
	{ BUF,
	  { { 0, 8, 1, { 0, 9 }, true },
	    { 0, 8, 2, { 0, 9 }, true },
	    { 32, 8, 3, { 9, 0 }, false } },
	  LAYOUT_ALIGN,
	  "move `reader1` to its own cache line: alignas(64). sizeof(struct buf) grows from 64 to "
	  "128. `lock0` is still contended: 2 threads update it. Update it less often, or give "
	  "each thread its own" },
	/* No type: bytes; overlapping accesses are one. */
	{ NO_TYPE,
	  { { 0, 8, 1, { 0, 9 }, false },
	    { 4, 8, 1, { 0, 9 }, false },
	    { 32, 0, 2, { 9, 0 }, false } },
	  LAYOUT_PAD,
	  "put on different cache lines: +0x0 (thread 1), +0x20 (thread 2): begin each group at a "
	  "multiple of 64" },
	/* Beyond the type: only bytes can be spoken of. */
	{ COUNTERS,
	  { { 60, 8, 1, { 0, 9 }, false }, { 0, 8, 2, { 9, 0 }, false } },
	  LAYOUT_PAD,
	  "put on different cache lines: +0x0 (thread 2), +0x3c (thread 1): begin each group at a "
	  "multiple of 64" },
};

static size_t count_accesses(const struct layout_access *a)
{
	size_t n = 0;

	while (n < MAX_ACCESSES && a[n].counts.loads + a[n].counts.stores > 0)
		n++;
	return n;
}

static struct layout_question question_of(const struct world *w, size_t i)
{
	return (struct layout_question){
		.types = &w->types,
		.type = w->subjects[cases[i].subject],
		.object = "object",
		.address = ADDRESS,
		.line_bytes = LINE,
		.accesses = cases[i].accesses,
		.n = count_accesses(cases[i].accesses),
	};
}

static void the_fix_fits(void **state)
{
	struct world w;
	struct text fix = { 0 };

	(void)state;
	world_init(&w);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct layout_question question = question_of(&w, i);
		struct layout layout;

		layout_init(&layout, &question);
		assert_int_equal(layout.advice, cases[i].advice);
		text_reset(&fix);
		layout_fix(&layout, &fix);
		text_char(&fix, '\0');
		assert_string_equal(fix.bytes, cases[i].fix);
		layout_release(&layout);
	}
	text_release(&fix);
	world_release(&w);
}

static void the_drawing_shows_all(void **state)
{
	static const char *const wanted =
		"offset  size  struct buf object   loads  stores  threads\n"
		"-- line 0x4a2080 --\n"
		"     0     8  long lock0              5     100  1 rw\n"
		"     8     8  long lock1              0      90  1 w\n"
		"    16    16  (2 members not used)\n"
		"    32     8  long reader1           70       0  2 r\n"
		"    40    16  (2 members not used)\n"
		"    56     8  long reader4           80       0  3 r\n";
	struct world w;
	struct text text = { 0 };
	struct layout_question question;
	struct layout layout;

	(void)state;
	world_init(&w);
	question = question_of(&w, 0);
	layout_init(&layout, &question);
	layout_draw(&layout, DRAWN_WIDTH, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, wanted);
	layout_release(&layout);
	text_release(&text);
	world_release(&w);
}

/* Objects of one type that stand side by side in memory that was allocated. */
static void side_by_side_is_an_array(void **state)
{
	static const struct layout_access accesses[] = {
		{ 8, 8, 1, { 9, 9 }, false },
		{ 24, 8, 2, { 9, 9 }, false },
		{ 48, 8, 3, { 9, 9 }, false, .is_outside = true },
	};
	struct world w;
	struct text text = { 0 };
	struct layout_question question;
	struct layout layout;

	(void)state;
	world_init(&w);
	question = (struct layout_question){
		.types = &w.types,
		.type = types_get(&w.types, w.subjects[SLOTS])->inner,
		.object = "struct slot",
		.n_elements = 4,
		.address = ADDRESS + 32,
		.line_bytes = LINE,
		.is_allocated = true,
		.accesses = accesses,
		.n = COUNT(accesses),
	};
	layout_init(&layout, &question);
	layout_fix(&layout, &text);
	text_char(&text, '\0');
	assert_int_equal(layout.advice, LAYOUT_SPREAD);
	assert_string_equal(
		text.bytes,
		"give each element its own cache line: alignas(64) on struct slot. Each grows from "
		"16 to 64 bytes. Allocate all of them at a multiple of 64 (malloc() does not)");
	layout_release(&layout);
	text_release(&text);
	world_release(&w);
}

/* What lies on several lines is drawn under those where it was accessed. */
static void the_drawing_has_lines(void **state)
{
	static const char *const wanted =
		"offset  size  struct buf object   loads  stores  threads\n"
		"-- line 0x4a2080 --\n"
		"     0     8  long lock0              0       9  1 w\n"
		"     8     8  long lock1\n"
		"    16     8  long reserved1          7       0  2 r\n"
		"-- line 0x4a20c0 --\n"
		"    40    24  long[5] pad             3       0  2 r\n"
		"    64    32  (4 members not used)\n";
	static const struct layout_access accesses[] = {
		{ 0, 8, 1, { 0, 9 }, false },
		{ 16, 8, 2, { 7, 0 }, false },
		{ 48, 8, 2, { 3, 0 }, false, .is_outside = true },
	};
	struct world w;
	struct text text = { 0 };
	struct layout_question question;
	struct layout layout;

	(void)state;
	world_init(&w);
	question = (struct layout_question){
		.types = &w.types,
		.type = w.subjects[PADDED],
		.object = "object",
		.address = ADDRESS + 24,
		.line_bytes = LINE,
		.accesses = accesses,
		.n = COUNT(accesses),
	};
	layout_init(&layout, &question);
	layout_draw(&layout, DRAWN_WIDTH, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, wanted);
	layout_release(&layout);
	text_release(&text);
	world_release(&w);
}

static const struct cell *row_cell(const struct table *t, size_t row, const char *column)
{
	int number = table_column(t, column);

	assert_true(number >= 0);
	return table_cell(t, row, (size_t)number);
}

/* If all accesses are to one member, that is what is drawn. */
static void the_drawing_is_of_a_member(void **state)
{
	static const struct layout_access accesses[] = {
		{ 8, 8, 1, { 0, 9 }, false },
		{ 24, 8, 2, { 7, 0 }, false },
	};
	struct type_member members[] = { { .size = 8 }, { .offset = 8, .size = 64 } };
	struct world w;
	struct text text = { 0 };
	struct layout_question question;
	struct layout layout;

	(void)state;
	world_init(&w);
	members[0].name = strings_addz(&w.strings, "head");
	members[0].type = add_base(&w, "long", 8);
	members[1].name = strings_addz(&w.strings, "inner");
	members[1].type = w.subjects[BUF];
	question = (struct layout_question){
		.types = &w.types,
		.type = types_add(&w.types,
				  &(struct type){ .kind = TYPE_STRUCT,
						  .name = strings_addz(&w.strings, "struct outer"),
						  .size = 72 },
				  members, COUNT(members)),
		.object = "object",
		.address = ADDRESS,
		.line_bytes = LINE,
		.accesses = accesses,
		.n = COUNT(accesses),
	};
	layout_init(&layout, &question);
	layout_draw(&layout, DRAWN_WIDTH, &text);
	text_char(&text, '\0');
	assert_non_null(strstr(text.bytes, "struct buf object.inner "));
	layout_release(&layout);
	text_release(&text);
	world_release(&w);
}

/* After the advice was followed there is nothing more to say. */
static void the_fix_is_enough(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct layout_question question = question_of(&w, i);
		struct layout layout;
		uint64_t offsets[16], size;

		layout_init(&layout, &question);
		if (layout.advice == LAYOUT_ALIGN || layout.advice == LAYOUT_REORDER) {
			layout_move(&layout, offsets, &size);
			assert_int_equal(size % LINE, 0);
			for (size_t a = 0; a < layout.fields.n; a++)
				for (size_t b = 0; b < a; b++)
					if (layout.fields.items[a].uses.n > 0 &&
					    layout.fields.items[b].uses.n > 0 &&
					    layout.fields.items[a].group !=
						    layout.fields.items[b].group)
						assert_int_not_equal(offsets[a] / LINE,
								     offsets[b] / LINE);
		}
		layout_release(&layout);
	}
	world_release(&w);
}

/* Rows say where a member is on its line, and where it would be: only where the fix is another layout of members. */
static void rows_have_the_fix(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct layout_question question = question_of(&w, i);
		struct layout layout;
		struct table rows;
		uint64_t offsets[16], size;
		bool moves;
		size_t at = 0;

		layout_init(&layout, &question);
		table_init(&rows, "layouts", NULL, layout_columns, n_layout_columns);
		layout_rows(&layout, 1, 0, &rows);
		moves = layout.advice == LAYOUT_ALIGN || layout.advice == LAYOUT_REORDER;
		if (moves)
			layout_move(&layout, offsets, &size);
		for (size_t k = 0; k < layout.fields.n; k++) {
			const struct layout_field *f = &layout.fields.items[k];

			for (size_t use = 0; use < (f->uses.n > 0 ? f->uses.n : 1); use++, at++) {
				const struct cell *moved = row_cell(&rows, at, "new_offset");

				assert_int_equal(row_cell(&rows, at, "line_offset")->count,
						 (question.address + f->offset) % LINE);
				assert_int_equal(moved->type, moves ? CELL_COUNT : CELL_NONE);
				if (!moves)
					continue;
				assert_int_equal(moved->count, offsets[k]);
				assert_int_equal(row_cell(&rows, at, "new_size")->count, size);
			}
		}
		assert_int_equal(at, table_n_rows(&rows));
		table_release(&rows);
		layout_release(&layout);
	}
	world_release(&w);
}

/* A variable without a type has its name in the fix; memory without any is counted in bytes. */
static void bytes_have_a_name(void **state)
{
	static const struct {
		uint64_t size, offset;
		const char *expected;
	} list[] = { { 16, 0, "update counter less often" },
		     { 16, 8, "update counter+0x8 less often" },
		     { 0, 8, "update +0x8 less often" } };
	struct world w;

	(void)state;
	world_init(&w);
	for (size_t i = 0; i < COUNT(list); i++) {
		const struct layout_access accesses[] = {
			{ .offset = list[i].offset,
			  .size = 8,
			  .thread = 1,
			  .counts.loads = 9,
			  .counts.stores = 9,
			  .is_atomic = true },
			{ .offset = list[i].offset,
			  .size = 8,
			  .thread = 2,
			  .counts.loads = 9,
			  .counts.stores = 9,
			  .is_atomic = true },
		};
		const struct layout_question question = { .types = &w.types,
							  .object = "counter",
							  .address = ADDRESS,
							  .size = list[i].size,
							  .line_bytes = LINE,
							  .accesses = accesses,
							  .n = COUNT(accesses) };
		struct layout layout;
		struct text fix = { 0 };

		layout_init(&layout, &question);
		layout_fix(&layout, &fix);
		text_char(&fix, '\0');
		assert_memory_equal(fix.bytes, list[i].expected, strlen(list[i].expected));
		layout_release(&layout);
		text_release(&fix);
	}
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fix_fits),
		cmocka_unit_test(the_drawing_shows_all),
		cmocka_unit_test(the_drawing_has_lines),
		cmocka_unit_test(the_drawing_is_of_a_member),
		cmocka_unit_test(side_by_side_is_an_array),
		cmocka_unit_test(the_fix_is_enough),
		cmocka_unit_test(rows_have_the_fix),
		cmocka_unit_test(bytes_have_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
