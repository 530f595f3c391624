/* SPDX-License-Identifier: Apache-2.0 */
/* What contended lines and their objects are called, and how to change them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "c2c/fix/labels.h"
#include "c2c/verdict/cause.h"
#include "objects_world.h"

/* Accesses by object, as c2c_objects_init() puts them. */
static void order_accesses(struct c2c_objects *o)
{
	o->order = mem_alloc(o->names.n + 1, sizeof(*o->order));
	o->first = mem_zalloc((size_t)o->keys.n + 1, sizeof(*o->first));
	for (uint32_t object = 0, n = 0; object < o->keys.n; object++) {
		o->first[object] = n;
		for (uint32_t i = 0; i < o->names.n; i++)
			if (o->numbers[i] == object)
				o->order[n++] = i;
		o->first[object + 1] = n;
	}
}

static const struct {
	const char *name;
	struct contended_line contended[MAX_LINES]; /* ends with excess 0 */
	const char *label, *object, *fix, *drawing; /* of the first line; NULL: none */
	size_t n_layouts;			    /* rows of the table */
} labelled[] = {
	{ "objects of a type, with threads of their own",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 40 },
	    { LARGE, 0x2000, 0, 32, 9, 40, .first_tid = 10 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  "move `m04` to its own cache line: alignas(64). sizeof(struct large) grows from 128 to "
	  "192. Allocate each at a multiple of 64 (malloc() does not)",
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 1 of each --\n"
	  "     0     8  long m00           0      18  A w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04          10       0  B r\n"
	  "    40    24  (3 members not used)\n"
	  "-- line 2 of each --\n"
	  "    64    64  (8 members not used)\n"
	  "   each object has threads of its own: A, B … are their roles\n",
	  16 },
	{ "objects that begin elsewhere in their lines",
	  { { LARGE, 0x1000, 0, 32, 9, 40 }, { LARGE, 0x2010, 0x30, 32, 9, 50 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  "group the members by thread: `m00`, `m06` (thread 1) | `m04`, `m10` (thread 2): "
	  "alignas(64) on the first of each group. sizeof(struct large) stays 128. Allocate each "
	  "at a multiple of 64 (malloc() does not)",
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 1 of each --\n"
	  "     0     8  long m00           0       9  1 w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04           5       0  2 r\n"
	  "    40     8  long m05\n"
	  "-- line 2 of each --\n"
	  "    48     8  long m06           0       9  1 w\n"
	  "    56    24  (3 members not used)\n"
	  "    80     8  long m10           5       0  2 r\n"
	  "    88    24  (3 members not used)\n"
	  "-- line 3 of each --\n"
	  "   112    16  (2 members not used)\n"
	  "   drawn as 1 of 2 objects, which begin 16 bytes into a line\n",
	  16 },
	{ "one object",
	  { { INNER, 0x1000, 0, 8, 9, 50 } },
	  "struct inner",
	  "struct inner (16 bytes, heap)",
	  "move `b` to its own cache line: alignas(64). sizeof(struct inner) grows from 16 to 128. "
	  "Allocate it at a multiple of 64 (malloc() does not)",
	  "offset  size  struct inner   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long a             0       9  1 w\n"
	  "     8     8  long b             5       0  2 r\n",
	  2 },
	{ "one object, on another line of which threads meet",
	  { { LARGE, 0x1000, 0, 32, 9, 50 }, { LARGE, 0x1000, 64, 0, 9, 40, .first_tid = 2 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  "put on different cache lines: `m00` (thread 1), `m04` (thread 2), `m08` (thread 3 "
	  "writes, thread 4 reads): alignas(64) on `m04`, `m08`. sizeof(struct large) grows from "
	  "128 to 192. Allocate it at a multiple of 64 (malloc() does not)",
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long m00           0       9  1 w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04           5       0  2 r\n"
	  "    40    24  (3 members not used)\n"
	  "-- line 0x1040 --\n"
	  "    64     8  long m08           5       9  3 w, 4 r\n"
	  "    72    56  (7 members not used)\n",
	  34 },
	{ "two that share a line",
	  { { OUTER, 0x1000, 0, 32, 9, 50, .beside = INNER } },
	  "struct outer and struct inner",
	  "struct outer (32 bytes, heap) and struct inner (16 bytes, heap)",
	  "put on different cache lines: struct outer, struct inner: allocate each at a multiple "
	  "of 64",
	  "offset  size  struct outer   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long head          0       9  1 w\n"
	  "     8    24  (2 members not used)\n"
	  "offset  size  struct inner   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long a             5       0  2 r\n"
	  "     8     8  long b\n",
	  5 },
	{ "memory without an object",
	  { { NOTHING, 0x1000, 0, 32, 9, 50 } },
	  "[heap]",
	  "[heap]",
	  "put on different cache lines: +0x0 (thread 1), +0x20 (thread 2): begin each group at a "
	  "multiple of 64",
	  NULL,
	  0 },
	{ "too few samples to advise",
	  { { LARGE, 0x1000, 0, 32, 2, 50 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  NULL,
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long m00           0       2  1 w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04           5       0  2 r\n"
	  "    40    24  (3 members not used)\n"
	  "-- line 0x1040 --\n"
	  "    64    64  (8 members not used)\n",
	  16 },
};

static void expect_text(const char *found, const char *expected)
{
	if (expected == NULL)
		assert_null(found);
	else
		assert_string_equal(found, expected);
}

static void lines_have_labels(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(labelled); i++) {
		struct c2c_instances instances;
		struct c2c_causes causes;
		struct c2c_labels labels;
		struct world w;

		print_message("%s\n", labelled[i].name);
		world_init(&w);
		world_add_lines(&w, labelled[i].contended);
		order_accesses(&w.objects);
		c2c_instances_init(&instances, &w.objects);
		c2c_causes_init(&causes, &w.objects, &instances);
		w.sharing.objects = &w.objects;
		w.sharing.instances = &instances;
		w.sharing.causes = &causes;
		c2c_labels_init(&labels, &w.sharing);
		expect_text(labels.names[0], labelled[i].label);
		expect_text(labels.objects[0], labelled[i].object);
		expect_text(labels.fixes[0], labelled[i].fix);
		expect_text(labels.drawings[0], labelled[i].drawing);
		assert_int_equal(table_n_rows(&labels.layouts), labelled[i].n_layouts);
		/* Lines of one cause have its words. */
		for (size_t k = 1; k < labels.causes->list.items[0].lines.n; k++) {
			expect_text(labels.fixes[k], labels.fixes[0]);
			expect_text(labels.drawings[k], labels.drawings[0]);
		}
		c2c_labels_release(&labels);
		c2c_causes_release(&causes);
		c2c_instances_release(&instances);
		world_release(&w);
	}
}

/* Of two lines, each its own cause, the first is shown alone: what is said of it is the same, of the other there is nothing. */
static void lines_that_are_shown_have_labels(void **state)
{
	static const struct contended_line contended[MAX_LINES] = {
		{ LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 40 },
		{ OUTER, 0x2000, 0, 8, 9, 40, .first_tid = 10 },
	};
	struct c2c_instances instances;
	struct c2c_causes causes;
	struct c2c_labels all, shown;
	struct world w;

	(void)state;
	world_init(&w);
	world_add_lines(&w, contended);
	order_accesses(&w.objects);
	c2c_instances_init(&instances, &w.objects);
	c2c_causes_init(&causes, &w.objects, &instances);
	w.sharing.objects = &w.objects;
	w.sharing.instances = &instances;
	w.sharing.causes = &causes;
	w.sharing.request.top = 1;
	c2c_labels_init(&all, &w.sharing);
	c2c_labels_init_shown(&shown, &w.sharing);
	assert_int_equal(shown.causes->list.n, 2);
	assert_non_null(all.names[1]);
	assert_string_equal(shown.names[0], all.names[0]);
	assert_string_equal(shown.objects[0], all.objects[0]);
	expect_text(shown.drawings[0], all.drawings[0]);
	expect_text(shown.fixes[0], all.fixes[0]);
	assert_null(shown.names[1]);
	assert_null(shown.drawings[1]);
	assert_int_equal(table_n_rows(&shown.layouts), 0);
	assert_true(table_n_rows(&all.layouts) > 0);
	c2c_labels_release(&all);
	c2c_labels_release(&shown);
	c2c_causes_release(&causes);
	c2c_instances_release(&instances);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_labels),
		cmocka_unit_test(lines_that_are_shown_have_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
