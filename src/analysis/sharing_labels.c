/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sharing_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/data_names.h"
#include "analysis/layout.h"
#include "base/alloc.h"

enum {
	DRAWN_WIDTH = 94, /* within a finding's margins */
};

/* An object on a line, and what was done to it. */
struct part {
	const struct data_name *name;
	VEC_OF(struct layout_access) accesses; /* offsets from the object's start */
	uint64_t n;			       /* records */
};

/* The objects of one subject. */
struct parts {
	VEC_OF(struct part) list;
};

struct labelling {
	const struct sharing *sharing;
	struct sharing_labels *out;
	struct data_names names; /* by access */
	struct data_query *queries;
};

static const char *keep(struct labelling *l, struct text *text)
{
	const char *kept =
		text->n == 0 ? NULL : arena_strndup(&l->out->memory, text->bytes, text->n);

	text_release(text);
	return kept;
}

static uint64_t time_of(const struct sharing *s, const struct sharing_access *a)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < a->n_touches; i++) {
		const struct sharing_touch *touch =
			&s->accesses_seen->touches.items[sharing_touches(s, a->first_touch)[i]];

		first = touch->first_ns < first ? touch->first_ns : first;
	}
	return first;
}

/* The thread of the accesses, if all are of one; else 0. */
static uint32_t only_thread(const struct sharing *s, const struct sharing_access *a)
{
	uint32_t tid = sharing_touch_key(s->accesses_seen, s->order[a->first_touch]).tid;

	return a->n_threads == 1 && tid != UINT32_MAX ? tid : 0;
}

/* Whose memory an access is in, and where the line is there. */
static uint32_t process_of(const struct sharing *s, uint32_t line, const struct sharing_access *a,
			   uint64_t *out_address)
{
	const struct sharing_subject *subject = &s->subjects.items[line];
	uint32_t process = sharing_touch_key(s->accesses_seen, s->order[a->first_touch]).process;

	*out_address = subject->address;
	if (subject->space == SHARING_KERNEL)
		return 0;
	if (subject->space != SHARING_PHYSICAL)
		return subject->space;
	*out_address = sharing_accesses_view(s->accesses_seen, line, process);
	return process;
}

/*
 * Names are those of addresses in processes. From here on an object that several processes have
 * at different places is where it is in the line's own space.
 */
static void move_to_line(struct labelling *l, size_t number, uint64_t from, uint64_t to)
{
	l->queries[number].address += to - from;
	if (l->names.list[number].object.v != 0)
		l->names.list[number].object_address += to - from;
}

static void move_all_to_lines(struct labelling *l)
{
	const struct sharing *s = l->sharing;

	for (uint32_t i = 0; i < s->subjects.n; i++) {
		const struct sharing_subject *subject = &s->subjects.items[i];

		for (uint32_t k = 0; k < subject->n_accesses; k++) {
			uint32_t number = subject->first_access + k;
			uint64_t from;

			process_of(s, i, &s->accesses.items[number], &from);
			move_to_line(l, number, from, subject->address);
		}
	}
}

static void ask_names(struct labelling *l)
{
	const struct sharing *s = l->sharing;

	l->queries = mem_zalloc(s->accesses.n + 1, sizeof(*l->queries));
	for (uint32_t i = 0; i < s->subjects.n; i++) {
		const struct sharing_subject *subject = &s->subjects.items[i];

		for (uint32_t k = 0; k < subject->n_accesses; k++) {
			const struct sharing_access *a =
				&s->accesses.items[subject->first_access + k];
			uint64_t line;
			uint32_t process = process_of(s, i, a, &line);

			l->queries[subject->first_access + k] = (struct data_query){
				.process = process,
				.time_ns = time_of(s, a),
				.address = line + a->offset,
				.size = a->size,
				.code = session_place(s->session, a->place),
				.tid = only_thread(s, a),
			};
		}
	}
	data_names_init(&l->names, s->session, l->queries, s->accesses.n);
	move_all_to_lines(l);
}

static void label_fields(struct labelling *l)
{
	for (size_t i = 0; i < l->names.n; i++) {
		struct text text = { 0 };

		if (l->names.list[i].object.v == 0)
			continue;
		data_name_text(&l->names, &l->queries[i], &l->names.list[i], &text);
		l->out->fields[i] = keep(l, &text);
	}
}

/* The part that an object is; memory without an object is one, too. */
static struct part *find_part(struct parts *parts, const struct data_name *name)
{
	for (size_t i = 0; i < parts->list.n; i++) {
		const struct data_name *other = parts->list.items[i].name;

		if (other->object.v == name->object.v &&
		    other->object_address == name->object_address)
			return &parts->list.items[i];
	}
	*vec_add(&parts->list) = (struct part){ .name = name };
	return &parts->list.items[parts->list.n - 1];
}

static struct layout_access access_of(const struct sharing *s, uint32_t touch_number,
				      uint64_t offset)
{
	struct sharing_touch_key key = sharing_touch_key(s->accesses_seen, touch_number);
	struct sharing_extent extent = sharing_extent(s, &key);
	uint64_t n = s->accesses_seen->touches.items[touch_number].counts.n[SHARING_RECORDS];
	bool is_write = sharing_kind_writes(extent.kind);
	bool is_atomic = extent.kind & (SHARING_KIND_ATOMIC | SHARING_KIND_EXCLUSIVE);

	return (struct layout_access){
		.offset = offset,
		.size = sharing_extent_bytes(&extent),
		.thread = key.tid,
		.loads = !is_write || extent.kind & SHARING_KIND_ATOMIC ? n : 0,
		.stores = is_write ? n : 0,
		.is_atomic = is_atomic,
	};
}

/* An access that begins in an object counts for that one; the rest of it is cut off. */
static void clip(const struct data_name *name, struct layout_access *a)
{
	if (name->object_size > a->offset && a->size > name->object_size - a->offset)
		a->size = (uint32_t)(name->object_size - a->offset);
}

static void find_parts(struct labelling *l, const struct sharing_subject *subject,
		       struct parts *out)
{
	const struct sharing *s = l->sharing;

	for (uint32_t i = 0; i < subject->n_accesses; i++) {
		uint32_t number = subject->first_access + i;
		const struct sharing_access *a = &s->accesses.items[number];
		const struct data_name *name = &l->names.list[number];
		uint64_t start = name->object.v != 0 ? name->object_address : subject->address;
		struct part *part = find_part(out, name);

		for (uint32_t k = 0; k < a->n_touches; k++) {
			struct layout_access access =
				access_of(s, sharing_touches(s, a->first_touch)[k],
					  l->queries[number].address - start);

			clip(name, &access);
			part->n += access.loads + access.stores;
			*vec_add(&part->accesses) = access;
		}
	}
}

static void parts_release(struct parts *parts)
{
	for (size_t i = 0; i < parts->list.n; i++)
		vec_release(&parts->list.items[i].accesses);
	vec_release(&parts->list);
}

/* Where an object is that is not a variable of the program's own memory. */
static void put_memory(struct labelling *l, const struct data_name *name, struct text *out)
{
	const struct strings *strings = symbols_strings(l->sharing->session->symbols);

	if (name->kind == DATA_THREAD && name->tid != 0)
		text_format(out, ", thread-local of thread %" PRIu32, name->tid);
	else if (name->kind == DATA_THREAD)
		text_str(out, ", thread-local");
	else if (name->kind == DATA_STACK && name->function.v != 0)
		text_format(out, ", on the stack of %s", strings_get(strings, name->function));
	else if (name->is_by_type && name->kind != DATA_UNKNOWN)
		text_format(out, ", %s", data_kind_names[name->kind]);
}

/* "account (struct account, 64 bytes)", "struct account (64 bytes, heap)" */
static void put_object(struct labelling *l, const struct data_name *name, struct text *out)
{
	data_object_text(&l->names, name, out);
	if (name->object.v == 0)
		return;
	text_str(out, " (");
	if (name->type.v != 0 && !name->is_by_type) {
		types_name(symbols_types(l->sharing->session->symbols), name->type, out);
		text_str(out, ", ");
	}
	text_format(out, "%" PRIu64 " byte%s", name->object_size, plural(name->object_size));
	put_memory(l, name, out);
	text_char(out, ')');
}

static const char *objects_label(struct labelling *l, const struct parts *parts)
{
	struct text text = { 0 };

	for (size_t i = 0; i < parts->list.n; i++) {
		const struct data_name *name = parts->list.items[i].name;

		if (name->object.v == 0 && name->kind == DATA_UNKNOWN)
			continue;
		text_str(&text, text.n > 0 ? " and " : "");
		put_object(l, name, &text);
	}
	return keep(l, &text);
}

/* The question about one object; `object` is its name. */
static struct layout_question question_of(const struct labelling *l,
					  const struct sharing_subject *subject,
					  const struct part *part, const char *object)
{
	bool is_known = part->name->object.v != 0;

	return (struct layout_question){
		.types = symbols_types(l->sharing->session->symbols),
		.type = part->name->type,
		.object = object,
		.address = is_known ? part->name->object_address : subject->address,
		.size = part->name->object_size,
		.line_bytes = l->sharing->options.line_bytes,
		.accesses = part->accesses.items,
		.n = part->accesses.n,
	};
}

/* Do different variables on the line get into each other's way? Each is a field of the line. */
static bool have_conflict(const struct labelling *l, const struct parts *parts)
{
	VEC_OF(struct layout_access) accesses = { 0 };
	struct layout_question question = {
		.types = symbols_types(l->sharing->session->symbols),
		.line_bytes = UINT64_C(1) << 32,
	};
	struct layout layout;
	bool is_found;

	for (size_t i = 0; i < parts->list.n; i++) {
		const struct part *part = &parts->list.items[i];

		for (size_t k = 0; k < part->accesses.n; k++) {
			struct layout_access *a = vec_add(&accesses);

			*a = part->accesses.items[k];
			a->offset = i;
			a->size = 1;
		}
	}
	question.accesses = accesses.items;
	question.n = accesses.n;
	layout_init(&layout, &question);
	is_found = layout.advice != LAYOUT_KEEP;
	layout_release(&layout);
	vec_release(&accesses);
	return is_found;
}

static void put_apart(struct labelling *l, const struct parts *parts, struct text *out)
{
	bool is_allocated = true;

	text_str(out, "keep on different lines: ");
	for (size_t i = 0; i < parts->list.n; i++) {
		text_str(out, i > 0 ? ", " : "");
		data_object_text(&l->names, parts->list.items[i].name, out);
		is_allocated &= parts->list.items[i].name->is_by_type;
	}
	text_format(out, ": %s %" PRIu64,
		    is_allocated ? "allocate each at a multiple of" : "align each to",
		    l->sharing->options.line_bytes);
}

static void put_layout(struct labelling *l, size_t number, const struct sharing_subject *subject,
		       const struct part *part, struct text *fix, struct text *drawing)
{
	struct layout_question question;
	struct layout layout;
	struct text object = { 0 };
	size_t before;

	data_object_text(&l->names, part->name, &object);
	text_char(&object, '\0');
	question = question_of(l, subject, part, object.bytes);
	layout_init(&layout, &question);
	text_str(fix, fix->n > 0 ? "; " : "");
	before = fix->n;
	layout_fix(&layout, fix);
	if (fix->n == before && before > 0)
		fix->n -= strlen("; ");
	if (layout.body != LAYOUT_BYTES) {
		layout_draw(&layout, DRAWN_WIDTH, drawing);
		layout_rows(&layout, number + 1, &l->out->layouts);
	}
	layout_release(&layout);
	text_release(&object);
}

static bool is_to_be_fixed(const struct sharing_judgement *j)
{
	return j->verdict == SHARING_FALSE || j->verdict == SHARING_TRUE;
}

static void label_subject(struct labelling *l, size_t number)
{
	const struct sharing_subject *subject = &l->sharing->subjects.items[number];
	struct text fix = { 0 }, drawing = { 0 };
	struct parts parts = { 0 };

	find_parts(l, subject, &parts);
	l->out->objects[number] = objects_label(l, &parts);
	if (parts.list.n > 1 && have_conflict(l, &parts))
		put_apart(l, &parts, &fix);
	for (size_t i = 0; i < parts.list.n; i++)
		put_layout(l, number, subject, &parts.list.items[i], &fix, &drawing);
	if (!is_to_be_fixed(&subject->judgement))
		fix.n = 0;
	l->out->fixes[number] = keep(l, &fix);
	l->out->drawings[number] = keep(l, &drawing);
	parts_release(&parts);
}

void sharing_labels_init(struct sharing_labels *out, const struct sharing *s)
{
	struct labelling l = { .sharing = s, .out = out };

	*out = (struct sharing_labels){ 0 };
	table_init(&out->layouts, "layouts", "Members and who uses them", layout_columns,
		   n_layout_columns);
	out->objects = mem_zalloc(s->subjects.n + 1, sizeof(*out->objects));
	out->drawings = mem_zalloc(s->subjects.n + 1, sizeof(*out->drawings));
	out->fixes = mem_zalloc(s->subjects.n + 1, sizeof(*out->fixes));
	out->fields = mem_zalloc(s->accesses.n + 1, sizeof(*out->fields));
	ask_names(&l);
	label_fields(&l);
	for (size_t i = 0; i < s->subjects.n; i++)
		label_subject(&l, i);
	data_names_release(&l.names);
	free(l.queries);
}

void sharing_labels_release(struct sharing_labels *l)
{
	free(l->objects);
	free(l->drawings);
	free(l->fixes);
	free(l->fields);
	table_release(&l->layouts);
	arena_release(&l->memory);
	*l = (struct sharing_labels){ 0 };
}
