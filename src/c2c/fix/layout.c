/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/fix/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "c2c/fix/layout_groups.h"

uint64_t layout_line(const struct layout *l, uint64_t offset)
{
	return (l->question.address + offset) / l->question.line_bytes;
}

static uint32_t size_of(const struct layout_access *a)
{
	return a->size > 0 ? a->size : 1;
}

/* The bytes first … last - 1 of the accesses that the question is about. */
static void layout_extent_of(const struct layout_question *q, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < q->n; i++) {
		const struct layout_access *a = &q->accesses[i];

		if (a->is_outside)
			continue;
		if (a->offset < *first)
			*first = a->offset;
		if (a->offset + size_of(a) > *last)
			*last = a->offset + size_of(a);
	}
}

static bool has_parts(const struct types *t, struct type_id id)
{
	enum type_kind kind = types_get(t, types_plain(t, id))->kind;

	return kind == TYPE_STRUCT || kind == TYPE_ARRAY;
}

static void put_member(struct layout *l, const struct type_member *m)
{
	if (m->name.v == 0 || m->is_base)
		return;
	if (l->path.n > 0)
		text_char(&l->path, '.');
	text_str(&l->path, strings_get(l->question.types->strings, m->name));
}

/* Goes into the only member with all of the bytes; false if there is none to go into. */
static bool enter_member(struct layout *l, const struct type *type, uint64_t first, uint64_t last)
{
	const struct types *t = l->question.types;

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *m = &t->members.items[type->first_member + i];

		if (first < l->start + m->offset || last > l->start + m->offset + m->size ||
		    m->bit_size != 0)
			continue;
		if (!has_parts(t, m->type))
			return false;
		put_member(l, m);
		l->start += m->offset;
		l->type = m->type;
		return true;
	}
	return false;
}

/* Goes into the only element with all of the bytes; false if there are several. */
static bool enter_element(struct layout *l, uint64_t first, uint64_t last)
{
	uint64_t size = types_get(l->question.types, l->element)->size;
	uint64_t index = size == 0 ? 0 : (first - l->start) / size;

	if (size == 0 || (last - 1 - l->start) / size != index ||
	    !has_parts(l->question.types, l->element))
		return false;
	text_format(&l->path, "[%" PRIu64 "]", index);
	l->start += index * size;
	l->type = l->element;
	return true;
}

static void choose_bytes(struct layout *l)
{
	l->body = LAYOUT_BYTES;
	l->type = (struct type_id){ 0 };
	l->size = l->question.size;
}

static bool enter(struct layout *l, uint64_t first, uint64_t last)
{
	const struct type *type =
		types_get(l->question.types, types_plain(l->question.types, l->type));

	l->size = type->size;
	l->body = type->kind == TYPE_STRUCT ? LAYOUT_MEMBERS : LAYOUT_ELEMENTS;
	if (l->body == LAYOUT_MEMBERS)
		return enter_member(l, type, first, last);
	l->element = type->inner;
	return enter_element(l, first, last);
}

/* Finds the innermost struct or array that holds all accesses that the question is about. */
static void choose_body(struct layout *l)
{
	const struct layout_question *q = &l->question;
	uint64_t n = q->n_elements > 0 ? q->n_elements : 1;
	const struct type *type = types_get(q->types, types_plain(q->types, q->type));
	uint64_t first, last;

	layout_extent_of(q, &first, &last);
	if (last == 0 || type->size == 0 || last > n * type->size ||
	    !has_parts(q->types, q->type)) {
		choose_bytes(l);
		return;
	}
	l->type = q->type;
	if (q->n_elements > 0) {
		l->body = LAYOUT_ELEMENTS;
		l->element = q->type;
		l->type = (struct type_id){ 0 };
		l->size = n * type->size;
		if (!enter_element(l, first, last))
			return;
	}
	while (enter(l, first, last))
		;
}

static int compare_fields(const void *left, const void *right)
{
	const struct layout_field *a = left, *b = right;

	if (a->offset != b->offset)
		return (a->offset > b->offset) - (a->offset < b->offset);
	return (a->size < b->size) - (a->size > b->size);
}

/* Sorts them, and makes one of those that share bytes. */
static void unite_fields(struct layout *l)
{
	size_t n = 0;

	if (l->fields.n > 1)
		qsort(l->fields.items, l->fields.n, sizeof(*l->fields.items), compare_fields);
	for (size_t i = 0; i < l->fields.n; i++) {
		const struct layout_field *f = &l->fields.items[i];
		struct layout_field *last = n == 0 ? NULL : &l->fields.items[n - 1];

		if (last == NULL || f->offset >= last->offset + last->size)
			l->fields.items[n++] = *f;
		else if (f->offset + f->size > last->offset + last->size)
			last->size = f->offset + f->size - last->offset;
		if (last == NULL || last != &l->fields.items[n - 1])
			continue;
		last->is_several |= f->name.v != last->name.v;
		last->is_bits &= f->is_bits;
	}
	l->fields.n = n;
}

static void list_members(struct layout *l)
{
	const struct types *t = l->question.types;
	const struct type *type = types_get(t, types_plain(t, l->type));

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *m = &t->members.items[type->first_member + i];

		if (m->size > 0)
			*vec_add(&l->fields) = (struct layout_field){
				.name = m->name,
				.type = m->type,
				.offset = l->start + m->offset,
				.size = m->size,
				.is_bits = m->bit_size != 0,
			};
	}
	unite_fields(l);
}

static void list_elements(struct layout *l)
{
	uint64_t size = types_get(l->question.types, l->element)->size;

	for (size_t i = 0; size > 0 && i < l->question.n; i++) {
		const struct layout_access *a = &l->question.accesses[i];
		uint64_t first = (a->offset - l->start) / size;
		uint64_t last = (a->offset + size_of(a) - 1 - l->start) / size;

		if (a->is_outside)
			continue;
		for (uint64_t index = first; index <= last; index++)
			*vec_add(&l->fields) = (struct layout_field){
				.type = l->element,
				.offset = l->start + index * size,
				.size = size,
				.index = index,
			};
	}
	unite_fields(l);
}

static void list_bytes(struct layout *l)
{
	for (size_t i = 0; i < l->question.n; i++)
		if (!l->question.accesses[i].is_outside)
			*vec_add(&l->fields) = (struct layout_field){
				.offset = l->question.accesses[i].offset,
				.size = size_of(&l->question.accesses[i]),
			};
	unite_fields(l);
}

struct layout_use *layout_use_of(struct layout_uses *uses, uint32_t thread)
{
	size_t at = bisect(0, uses->n, i, uses->items[i].thread < thread);

	if (at < uses->n && uses->items[at].thread == thread)
		return &uses->items[at];
	vec_add(uses);
	memmove(uses->items + at + 1, uses->items + at, (uses->n - 1 - at) * sizeof(*uses->items));
	uses->items[at] = (struct layout_use){ .thread = thread };
	return &uses->items[at];
}

/* In order, once each. */
static void layout_add_line(struct layout_field *f, uint64_t line)
{
	size_t i = f->lines.n;

	while (i > 0 && f->lines.items[i - 1] > line)
		i--;
	if (i > 0 && f->lines.items[i - 1] == line)
		return;
	vec_add(&f->lines);
	memmove(f->lines.items + i + 1, f->lines.items + i,
		(f->lines.n - 1 - i) * sizeof(*f->lines.items));
	f->lines.items[i] = line;
}

/* The bytes of an access that are the field's. */
static void overlap(const struct layout_field *f, const struct layout_access *a, uint64_t *first,
		    uint64_t *last)
{
	uint64_t end = a->offset + size_of(a);

	*first = a->offset > f->offset ? a->offset : f->offset;
	*last = (end < f->offset + f->size ? end : f->offset + f->size) - 1;
}

static uint64_t n_accesses(const struct memory_counts *c)
{
	return c->loads + c->stores + c->atomics;
}

static void count_use(const struct layout *l, struct layout_field *f, const struct layout_access *a)
{
	struct layout_use *use = layout_use_of(&f->uses, a->thread);
	uint64_t first, last;

	overlap(f, a, &first, &last);
	layout_add_line(f, layout_line(l, first));
	layout_add_line(f, layout_line(l, last));

	memory_counts_merge(&use->counts, &a->counts);
	memory_counts_merge(&f->counts, &a->counts);
	f->is_atomic |= a->is_atomic;
}

static bool are_met(const struct layout_field *f, const struct layout_access *a)
{
	return a->offset < f->offset + f->size && a->offset + size_of(a) > f->offset;
}

/* The first field that ends behind an offset: fields are in order and do not overlap. */
static size_t first_field(const struct layout *l, uint64_t offset)
{
	return bisect(0, l->fields.n, i,
		      l->fields.items[i].offset + l->fields.items[i].size <= offset);
}

/* Counts the accesses where they belong: one that reaches over several fields, in each. */
static void count_uses(struct layout *l)
{
	for (size_t i = 0; i < l->question.n; i++) {
		const struct layout_access *a = &l->question.accesses[i];

		for (size_t k = first_field(l, a->offset);
		     k < l->fields.n && are_met(&l->fields.items[k], a); k++)
			count_use(l, &l->fields.items[k], a);
	}
}

bool layout_part(const struct layout *l, const struct layout_field *f, uint64_t line,
		 struct layout_field *out)
{
	uint64_t start = line * l->question.line_bytes - l->question.address;
	struct layout_field part = *f;

	if (layout_line(l, f->offset) != line) {
		part.offset = start;
		part.size = f->offset + f->size - start;
	}
	if (layout_line(l, f->offset + f->size - 1) != line)
		part.size = start + l->question.line_bytes - part.offset;
	memset(&part.uses, 0, sizeof(part.uses));
	memset(&part.lines, 0, sizeof(part.lines));
	part.counts = (struct memory_counts){ 0 };
	for (size_t i = 0; i < l->question.n; i++) {
		const struct layout_access *a = &l->question.accesses[i];
		uint64_t first, last;

		if (!are_met(f, a))
			continue;
		overlap(f, a, &first, &last);
		if (layout_line(l, first) == line)
			count_use(l, &part, a);
	}
	*out = part;
	return part.uses.n > 0;
}

static void list_used(struct layout *l)
{
	for (uint32_t i = 0; i < l->fields.n; i++) {
		l->fields.items[i].group = LAYOUT_UNUSED;
		if (l->fields.items[i].uses.n > 0)
			*vec_add(&l->used) = i;
	}
}

static struct layout_field *layout_used_field(const struct layout *l, size_t i)
{
	return &l->fields.items[l->used.items[i]];
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return to == 0 ? value : (value + to - 1) / to * to;
}

enum { MAX_ALIGN = 16 };

/* The alignment that a field wants: that of its widest part, unless it stands worse already. */
static uint64_t align_of(const struct layout *l, const struct layout_field *f)
{
	const struct types *t = l->question.types;
	struct type_id id = types_plain(t, f->type);
	uint64_t align = 1, size;

	while (types_get(t, id)->kind == TYPE_ARRAY)
		id = types_plain(t, types_get(t, id)->inner);
	size = types_get(t, id)->size;
	while (align < MAX_ALIGN && size % (2 * align) == 0 && size > 0)
		align *= 2;
	while (align > 1 && (f->offset - l->start) % align != 0)
		align /= 2;
	return align;
}

void layout_move(const struct layout *l, uint64_t *out_offsets, uint64_t *out_size)
{
	uint32_t group = LAYOUT_UNUSED;
	uint64_t at = 0;
	uint32_t n_rounds = l->advice == LAYOUT_REORDER ? l->n_groups : 1;

	for (uint32_t round = 0; round < n_rounds; round++) {
		uint32_t last_group = 0; /* fields that nobody used stay behind their neighbour */

		for (size_t i = 0; i < l->fields.n; i++) {
			const struct layout_field *f = &l->fields.items[i];
			uint32_t own = f->group == LAYOUT_UNUSED ? last_group : f->group;

			last_group = own;
			if (n_rounds > 1 && own != round)
				continue;
			if (f->group != LAYOUT_UNUSED && group != LAYOUT_UNUSED &&
			    f->group != group)
				at = round_up(at, l->question.line_bytes);
			if (f->group != LAYOUT_UNUSED)
				group = f->group;
			at = round_up(at, align_of(l, f));
			out_offsets[i] = at;
			at += f->size;
		}
	}
	*out_size = round_up(at, l->question.line_bytes);
}

static void layout_decide(struct layout *l)
{
	uint64_t *offsets;

	if (!layout_has_conflict(l))
		return;
	switch (l->body) {
	case LAYOUT_MEMBERS:
		l->advice = layout_takes_turns(l) ? LAYOUT_REORDER : LAYOUT_ALIGN;
		offsets = mem_alloc(l->fields.n, sizeof(*offsets));
		layout_move(l, offsets, &l->new_size);
		free(offsets);
		return;
	case LAYOUT_ELEMENTS:
		l->advice = LAYOUT_SPREAD;
		l->new_size = l->size / l->fields.items[0].size *
			      round_up(l->fields.items[0].size, l->question.line_bytes);
		return;
	case LAYOUT_BYTES:
		l->advice = LAYOUT_PAD;
		return;
	}
}

static void layout_answer(struct layout *l, const struct layout_question *question)
{
	static void (*const list[])(struct layout *) = {
		[LAYOUT_BYTES] = list_bytes,
		[LAYOUT_MEMBERS] = list_members,
		[LAYOUT_ELEMENTS] = list_elements,
	};

	*l = (struct layout){ .question = *question };
	choose_body(l);
	list[l->body](l);
	count_uses(l);
	list_used(l);
	layout_make_groups(l);
	layout_decide(l);
}

/* As many of the elements are looked into: they are alike. */
enum { ASKED_ELEMENTS = 32 };

void layout_init_within(struct layout *l, const struct layout *array,
			const struct layout_field *element)
{
	struct layout_question question = array->question;
	struct layout_access *own = mem_alloc(question.n + 1, sizeof(*own));

	for (size_t i = 0; i < question.n; i++) {
		own[i] = question.accesses[i];
		own[i].is_outside |= !are_met(element, &own[i]);
	}
	question.accesses = own;
	layout_answer(l, &question);
	l->own_accesses = own;
	l->is_within = true;
}

/*
 * Threads do not conflict between elements, but may within one: takes the element with a conflict
 * that is used most.
 */
static void look_into_elements(struct layout *l)
{
	struct layout best = { 0 };
	uint64_t most = 0;
	size_t n_asked = 0;

	for (size_t i = 0; i < l->used.n && n_asked < ASKED_ELEMENTS; i++) {
		const struct layout_field *f = layout_used_field(l, i);
		struct layout own;

		if (f->uses.n < 2 || memory_writes(&f->counts) == 0 ||
		    n_accesses(&f->counts) <= most)
			continue;
		n_asked++;
		layout_init_within(&own, l, f);
		if (own.advice == LAYOUT_KEEP) {
			layout_release(&own);
			continue;
		}
		layout_release(&best);
		best = own;
		most = n_accesses(&f->counts);
	}
	if (most == 0)
		return;
	layout_release(l);
	*l = best;
	l->is_within = false;
}

void layout_init(struct layout *l, const struct layout_question *question)
{
	layout_answer(l, question);
	if (l->body == LAYOUT_ELEMENTS && l->advice == LAYOUT_KEEP)
		look_into_elements(l);
}

void layout_field_release(struct layout_field *f)
{
	vec_release(&f->uses);
	vec_release(&f->lines);
}

bool layout_field_is_shared(const struct layout *l, const struct layout_field *f)
{
	const struct layout_access *first = NULL;
	bool has_threads = false, is_written = false;

	for (size_t i = 0; i < l->question.n; i++) {
		const struct layout_access *a = &l->question.accesses[i];

		if (a->is_outside || !are_met(f, a))
			continue;
		first = first != NULL ? first : a;
		has_threads |= a->thread != first->thread;
		is_written |= memory_writes(&a->counts) > 0;
	}
	return has_threads && is_written;
}

void layout_release(struct layout *l)
{
	for (size_t i = 0; i < l->fields.n; i++)
		layout_field_release(&l->fields.items[i]);
	vec_release(&l->fields);
	vec_release(&l->used);
	text_release(&l->path);
	free(l->own_accesses);
	*l = (struct layout){ 0 };
}

void layout_field_name(const struct layout *l, const struct layout_field *f, struct text *out)
{
	switch (l->body) {
	case LAYOUT_BYTES:
		/* What is no object is counted from the start of the line. */
		if (l->question.size > 0)
			text_str(out, l->question.object);
		if (l->question.size > 0 && f->offset == 0)
			return;
		text_char(out, '+');
		text_hex(out, f->offset);
		return;
	case LAYOUT_ELEMENTS:
		text_format(out, "[%" PRIu64 "]", f->index);
		return;
	case LAYOUT_MEMBERS:
		if (f->name.v != 0)
			text_str(out, strings_get(l->question.types->strings, f->name));
		else
			types_name(l->question.types, f->type, out);
		text_str(out, f->is_several ? ",…" : "");
		return;
	}
}

void layout_thread(const struct layout *l, uint32_t thread, struct text *out)
{
	enum { LETTERS = 26 };

	if (!l->question.has_roles) {
		text_format(out, "%" PRIu32, thread);
		return;
	}
	text_char(out, (char)('A' + thread % LETTERS));
	if (thread >= LETTERS)
		text_format(out, "%" PRIu32, thread / LETTERS);
}
