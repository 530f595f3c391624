/* SPDX-License-Identifier: Apache-2.0 */
/* What to change, in words. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/fix/layout.h"
#include "c2c/fix/layout_groups.h"
#include "data/short_name.h"

enum {
	SHOWN_RUNS = 4,
	SHOWN_THREADS = 3,
	SHOWN_SHARED = 3,
	TYPE_WIDTH = 60, /* columns of its name in a sentence */
};

/* Less of the waiting on a line is not mentioned, where the rest can be helped. */
static const double worth_saying = 0.1;

static const struct layout_field *layout_fix_used_field(const struct layout *l, size_t i)
{
	return &l->fields.items[l->used.items[i]];
}

static void put_type(const struct layout *l, struct type_id type, struct text *out)
{
	struct text name = { 0 };

	types_name(l->question.types, type, &name);
	short_name(name.bytes, name.n, TYPE_WIDTH, out);
	text_release(&name);
}

/* A member as in source: `limit`; bytes without one: +0x20. */
static void put_name(const struct layout *l, const struct layout_field *f, struct text *out)
{
	const char *quote = l->body == LAYOUT_BYTES ? "" : "`";

	text_str(out, quote);
	layout_field_name(l, f, out);
	text_str(out, quote);
}

static void separate(struct text *out)
{
	if (out->n > 0)
		text_str(out, ". ");
}

/* "threads 1, 2", of those that write, or that do not. */
static void put_some_threads(const struct layout *l, const struct layout_uses *uses, bool writers,
			     struct text *out)
{
	const char *before = "";
	size_t n = 0;

	for (size_t i = 0; i < uses->n; i++)
		n += (memory_writes(&uses->items[i].counts) > 0) == writers;
	text_str(out, n == 1 ? "thread " : "threads ");
	n = 0;
	for (size_t i = 0; i < uses->n; i++) {
		if ((memory_writes(&uses->items[i].counts) > 0) != writers || n++ >= SHOWN_THREADS)
			continue;
		text_str(out, before);
		layout_thread(l, uses->items[i].thread, out);
		before = ", ";
	}
	if (n > SHOWN_THREADS)
		text_format(out, " and %zu more", n - SHOWN_THREADS);
}

static size_t n_writers(const struct layout_uses *uses)
{
	size_t n = 0;

	for (size_t i = 0; i < uses->n; i++)
		n += memory_writes(&uses->items[i].counts) > 0;
	return n;
}

/* " (thread 1 writes, thread 2 reads)", or just who, if all do the same. */
static void put_threads(const struct layout *l, const struct layout_uses *uses, struct text *out)
{
	size_t writers = n_writers(uses), readers = uses->n - writers;

	text_str(out, " (");
	if (writers > 0)
		put_some_threads(l, uses, true, out);
	if (writers > 0 && readers > 0)
		text_str(out, writers == 1 ? " writes, " : " write, ");
	if (readers > 0)
		put_some_threads(l, uses, false, out);
	if (writers > 0 && readers > 0)
		text_str(out, readers == 1 ? " reads" : " read");
	text_char(out, ')');
}

/* The last of the used fields from `i` on that are of one group. */
static size_t end_of_run(const struct layout *l, size_t i)
{
	while (i + 1 < l->used.n &&
	       layout_fix_used_field(l, i + 1)->group == layout_fix_used_field(l, i)->group)
		i++;
	return i;
}

/* "`lock` and `count`", or "`lock` .. `count`" */
static void put_run(const struct layout *l, size_t first, size_t last, struct text *out)
{
	put_name(l, layout_fix_used_field(l, first), out);
	if (last > first) {
		text_str(out, last > first + 1 ? " .. " : " and ");
		put_name(l, layout_fix_used_field(l, last), out);
	}
}

/* "`lock` and `count` (thread 1), `limit` (thread 2)" */
static void put_runs(const struct layout *l, struct text *out)
{
	size_t n = 0, i = 0;

	for (; i < l->used.n && n < SHOWN_RUNS; n++) {
		size_t last = end_of_run(l, i);
		struct layout_uses uses = { 0 };

		text_str(out, n > 0 ? ", " : "");
		put_run(l, i, last, out);
		for (; i <= last; i++)
			layout_uses_add(&uses, layout_fix_used_field(l, i));
		put_threads(l, &uses, out);
		vec_release(&uses);
	}
	if (i < l->used.n)
		text_format(out, " and %zu more member%s", l->used.n - i, plural(l->used.n - i));
}

/* "sizeof(struct account) grows from 64 to 128" */
static void put_growth(const struct layout *l, struct text *out)
{
	bool is_c = l->type.v != 0 && !l->question.is_managed;

	separate(out);
	text_str(out, is_c ? "sizeof(" : "");
	if (l->type.v != 0)
		put_type(l, l->type, out);
	else
		text_str(out, "Its size");
	text_str(out, is_c ? ")" : "");
	if (l->new_size > l->size)
		text_format(out, " grows from %" PRIu64 " to %" PRIu64, l->size, l->new_size);
	else
		text_format(out, " stays %" PRIu64, l->size);
	text_str(out, is_c ? "" : " bytes");
}

/* The member that each run but the first begins with: "`limit`, `total`". */
static void put_first_members(const struct layout *l, struct text *out)
{
	size_t n = 0;

	for (size_t i = end_of_run(l, 0) + 1; i < l->used.n && n < SHOWN_RUNS;
	     i = end_of_run(l, i) + 1) {
		text_str(out, n++ > 0 ? ", " : "");
		put_name(l, layout_fix_used_field(l, i), out);
	}
}

/* Alignment within the object is of no use if the object does not begin a line. */
static void put_own_alignment(const struct layout *l, struct text *out)
{
	if (l->is_within || l->question.is_managed)
		return;
	if (l->question.is_allocated)
		text_format(out, ". Allocate %s at a multiple of %" PRIu64 " (malloc() does not)",
			    l->question.n_elements > 0 ? "all of them"
			    : l->question.is_of_many   ? "each"
						       : "it",
			    l->question.line_bytes);
	else if (l->question.address % l->question.line_bytes != 0)
		text_format(out, ". `%s` needs alignas(%" PRIu64 "), too", l->question.object,
			    l->question.line_bytes);
}

/* How the source asks for it: "alignas(64)". */
static void put_align_words(const struct layout *l, struct text *out)
{
	if (l->question.is_managed)
		text_str(out, "@Contended with a group name (-XX:-RestrictContended)");
	else
		text_format(out, "alignas(%" PRIu64 ")", l->question.line_bytes);
}

/* "move `limit` to its own cache line: alignas(64)"; of several runs each gets a line. */
static void put_align(const struct layout *l, struct text *out)
{
	size_t first = end_of_run(l, 0) + 1, last = end_of_run(l, first);

	if (last + 1 == l->used.n) {
		text_str(out, "move ");
		put_run(l, first, last, out);
		text_format(out, " to %s own cache line: ", last > first ? "their" : "its");
	} else {
		text_str(out, "put on different cache lines: ");
		put_runs(l, out);
		text_str(out, ": ");
	}
	put_align_words(l, out);
	if (last + 1 != l->used.n || last > first) {
		text_str(out, " on ");
		put_first_members(l, out);
	}
	put_growth(l, out);
	put_own_alignment(l, out);
}

/* One group after the other, "a, c (thread 1) | b, d (thread 2)". */
static void put_groups(const struct layout *l, struct text *out)
{
	for (uint32_t group = 0; group < l->n_groups && group < SHOWN_RUNS; group++) {
		struct layout_uses uses = { 0 };
		size_t n = 0;

		text_str(out, group > 0 ? " | " : "");
		for (size_t i = 0; i < l->used.n; i++) {
			if (layout_fix_used_field(l, i)->group != group)
				continue;
			layout_uses_add(&uses, layout_fix_used_field(l, i));
			if (n++ >= SHOWN_RUNS)
				continue;
			text_str(out, n > 1 ? ", " : "");
			put_name(l, layout_fix_used_field(l, i), out);
		}
		if (n > SHOWN_RUNS)
			text_format(out, " and %zu more", n - SHOWN_RUNS);
		put_threads(l, &uses, out);
		vec_release(&uses);
	}
}

static void put_reorder(const struct layout *l, struct text *out)
{
	text_str(out, "group the members by thread: ");
	put_groups(l, out);
	text_str(out, ": ");
	put_align_words(l, out);
	text_str(out, " on the first of each group");
	put_growth(l, out);
	put_own_alignment(l, out);
}

static void put_spread(const struct layout *l, struct text *out)
{
	const struct types *t = l->question.types;
	struct type_id element = l->fields.items[0].type;
	enum type_kind kind = types_get(t, types_plain(t, element))->kind;
	uint64_t size = l->fields.items[0].size;

	text_str(out, "give each element its own cache line: ");
	if (kind == TYPE_STRUCT || kind == TYPE_UNION) {
		put_align_words(l, out);
		text_str(out, " on ");
		put_type(l, element, out);
	} else if (l->question.is_managed) {
		text_format(out, "leave %" PRIu64 " bytes between elements",
			    l->question.line_bytes);
	} else {
		text_str(out, "put the ");
		put_type(l, element, out);
		text_format(out, " into a struct with alignas(%" PRIu64 ")",
			    l->question.line_bytes);
	}
	if (l->type.v != 0)
		text_format(out, ". The array grows from %" PRIu64 " to %" PRIu64 " bytes", l->size,
			    l->new_size);
	else
		text_format(out, ". Each grows from %" PRIu64 " to %" PRIu64 " bytes", size,
			    l->new_size / (l->size / size));
	if (l->question.is_allocated && (kind == TYPE_STRUCT || !l->question.is_managed))
		put_own_alignment(l, out);
}

static void put_pad(const struct layout *l, struct text *out)
{
	text_str(out, "put on different cache lines: ");
	put_runs(l, out);
	text_format(out, ": begin each group at a multiple of %" PRIu64, l->question.line_bytes);
}

static bool writes(const struct layout_field *f, uint32_t thread)
{
	for (size_t i = 0; i < f->uses.n; i++)
		if (f->uses.items[i].thread == thread)
			return memory_writes(&f->uses.items[i].counts) > 0;
	return false;
}

/*
 * What several threads write without being atomic has to have a lock. Is it this one: do all of them
 * update it?
 */
static bool guards(const struct layout_field *lock, const struct layout_field *f)
{
	if (!lock->is_atomic || f->is_atomic || n_writers(&f->uses) < 2)
		return false;
	for (size_t i = 0; i < f->uses.n; i++)
		if (memory_writes(&f->uses.items[i].counts) > 0 &&
		    !writes(lock, f->uses.items[i].thread))
			return false;
	return true;
}

static bool guards_any(const struct layout *l, const struct layout_field *lock)
{
	for (size_t i = 0; i < l->used.n; i++)
		if (guards(lock, layout_fix_used_field(l, i)))
			return true;
	return false;
}

static bool is_guarded(const struct layout *l, const struct layout_field *f)
{
	for (size_t i = 0; i < l->used.n; i++)
		if (guards(layout_fix_used_field(l, i), f))
			return true;
	return false;
}

/* What to change where no layout helps: "update `total` less often, … 3 threads update it: moving it does not help" */
static void put_use_less(const struct layout *l, const struct layout_field *f, size_t writers,
			 struct text *out)
{
	bool is_lock = writers > 1 && f->is_atomic && guards_any(l, f);
	const char *verb = is_lock	  ? "lock "
			   : writers < 2  ? "write "
			   : f->is_atomic ? "update "
					  : "give each thread a copy of ";
	const char *rest =
		is_lock	      ? " less often, hold it for less time, or split the lock and its data"
		: writers < 2 ? " less often, or only when its value changes"
		: f->is_atomic ? " less often, or give each thread its own"
			       : " on its own cache line, and combine the copies when reading";

	text_char(out, (char)(out->n > 0 ? toupper((unsigned char)verb[0]) : verb[0]));
	text_str(out, verb + 1);
	put_name(l, f, out);
	text_str(out, rest);
	if (writers > 1)
		text_format(out, ". %zu threads %s it", writers, f->is_atomic ? "update" : "write");
	else
		text_format(out, ". One thread writes it, %zu more use%s it", f->uses.n - 1,
			    f->uses.n == 2 ? "s" : "");
	text_str(out, ": moving it does not help");
}

/* What several threads use while one writes: moving it changes nothing for that. */
static void put_shared(const struct layout *l, const struct layout_field *f, struct text *out)
{
	bool is_moved = l->advice != LAYOUT_KEEP;
	size_t writers = n_writers(&f->uses);
	bool is_word = writers > 1 && f->is_bits && f->is_several;

	separate(out);
	if (!is_moved && !is_word) {
		put_use_less(l, f, writers, out);
		return;
	}
	put_name(l, f, out);
	if (is_word) {
		text_format(out,
			    " are bit-fields of one word: each of %zu threads writes the whole "
			    "word. Give each thread its own word, on its own cache line",
			    writers);
		return;
	}
	text_str(out, " is still contended: ");
	if (writers > 1)
		text_format(out, "%zu threads %s it. ", writers, f->is_atomic ? "update" : "write");
	else
		text_format(out, "one thread writes it, %zu more use%s it. ", f->uses.n - 1,
			    f->uses.n == 2 ? "s" : "");
	if (writers > 1 && f->is_atomic && guards_any(l, f))
		text_str(out, "Lock less often, hold the lock for less time, or split the lock and "
			      "its data");
	else if (writers > 1 && f->is_atomic)
		text_str(out, "Update it less often, or give each thread its own");
	else if (writers > 1)
		text_str(out, "Give each thread a copy on its own cache line, and combine the "
			      "copies when reading");
	else
		text_str(out, "Write it less often, or only when its value changes");
}

static bool is_of_structs(const struct layout *l)
{
	const struct types *t = l->question.types;

	return l->body == LAYOUT_ELEMENTS && l->advice == LAYOUT_SPREAD &&
	       types_get(t, types_plain(t, l->element))->kind == TYPE_STRUCT;
}

/* What threads share of an element is some of its members: those are asked about. */
static void put_within(const struct layout *l, const struct layout_field *f, struct text *out)
{
	struct text fix = { 0 };
	struct layout own;

	layout_init_within(&own, l, f);
	layout_fix(&own, &fix);
	if (fix.n > 0) {
		separate(out);
		text_str(out, "Within ");
		put_name(l, f, out);
		text_str(out, ": ");
		text_add(out, fix.bytes, fix.n);
	}
	text_release(&fix);
	layout_release(&own);
}

void layout_fix(const struct layout *l, struct text *out)
{
	static void (*const put[])(const struct layout *, struct text *) = {
		[LAYOUT_ALIGN] = put_align,
		[LAYOUT_REORDER] = put_reorder,
		[LAYOUT_SPREAD] = put_spread,
		[LAYOUT_PAD] = put_pad,
	};
	struct layout_last_line last = { 0 };
	struct text fix = { 0 };
	size_t n = 0;

	if (l->advice != LAYOUT_KEEP)
		put[l->advice](l, &fix);
	for (size_t i = 0; i < l->used.n && n < SHOWN_SHARED; i++) {
		const struct layout_field *f = layout_fix_used_field(l, i);

		if (layout_own_part(l, f, &last) < worth_saying || !layout_field_is_shared(l, f) ||
		    is_guarded(l, f))
			continue;
		if (is_of_structs(l))
			put_within(l, f, &fix);
		else
			put_shared(l, f, &fix);
		n++;
	}
	text_add(out, fix.bytes, fix.n);
	text_release(&fix);
}
