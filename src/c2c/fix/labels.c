/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/fix/labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "c2c/fix/fold.h"

enum {
	DRAWN_WIDTH = 94, /* within a finding's margins */
};

/* An object on a line, and what was done to it. */
struct part {
	const struct data_name *name;
	VEC_OF(struct layout_access) accesses; /* offsets from the object's start */
	bool is_of_many, has_roles;	       /* see struct layout_question */
};

/* The objects of one subject. */
struct parts {
	VEC_OF(struct part) list;
};

/* What is worked out of a cause before its labels are made of it. */
struct cause_work {
	struct parts parts;
	struct c2c_fold fold;	       /* of many objects of a type */
	VEC_OF(struct layout) layouts; /* those that are drawn */
	VEC_OF(struct text) objects;   /* what is drawn is called in them */
	struct text fix, drawing;
};

struct labelling {
	const struct c2c *sharing;
	struct c2c_labels *out;
	const struct c2c_objects *objects;
	const struct c2c_instances *instances;
	struct cause_work *work; /* by number of the cause, modulo `window` */
	size_t window;
	bool *is_wanted; /* by number of the cause; NULL: all are, and `layouts` are, too */
};

static const char *keep(struct labelling *l, struct text *text)
{
	const char *kept =
		text->n == 0 ? NULL : arena_strndup(&l->out->memory, text->bytes, text->n);

	text_release(text);
	return kept;
}

/* "table[].lock", of an access to an element of an array of which any is meant. */
static const char *field_of_any(struct labelling *l, uint32_t access)
{
	const struct types *types = symbols_types(l->sharing->session->symbols);
	const struct data_query query = c2c_objects_query(l->objects, access);
	uint32_t number = l->instances->of_access[access];
	struct text text = { 0 }, path = { 0 };
	struct c2c_instance instance;
	struct type_id type;
	uint64_t offset;

	if (number == TUPLES_NONE || !c2c_is_in_array(l->objects, access))
		return l->out->fields[access];
	instance = c2c_instance(l->instances, number);
	type = c2c_instance_type(l->instances, instance.kind);
	offset = query.address - instance.start;
	data_object_text(&l->objects->names, data_names_get(&l->objects->names, access), &text);
	text_str(&text, "[]");
	if (types_path(types, type, offset, query.size, &path, NULL) ||
	    types_path(types, type, offset, 1, &path, NULL)) {
		text_char(&text, '.');
		text_add(&text, path.bytes, path.n);
	}
	text_release(&path);
	return keep(l, &text);
}

static void label_fields(struct labelling *l)
{
	const struct data_names *names = &l->objects->names;

	for (uint32_t i = 0; i < names->n; i++) {
		struct text text = { 0 };
		const struct data_name *name = data_names_get(names, i);
		struct data_query query;

		if (name->object.v == 0)
			continue;
		query = c2c_objects_query(l->objects, i);
		data_name_text(names, &query, name, &text);
		l->out->fields[i] = keep(l, &text);
		l->out->fields_of_any[i] = field_of_any(l, i);
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

/* An access that begins in an object counts for that one; the rest of it is cut off. */
static void clip(const struct data_name *name, struct layout_access *a)
{
	uint64_t size = name->object_size * (name->n_elements > 0 ? name->n_elements : 1);

	if (size > a->offset && a->size > size - a->offset)
		a->size = (uint32_t)(size - a->offset);
}

/* Of one access: a part of the object, or memory from `start` on. */
static void add_touches(struct labelling *l, uint32_t number, uint64_t start, bool is_outside,
			struct part *part)
{
	const struct c2c *s = l->sharing;
	const struct c2c_access *a = &s->accesses.items[number];

	for (uint32_t k = 0; k < a->n_touches; k++) {
		struct layout_access access =
			c2c_layout_access(s, a->first_touch + k,
					  c2c_objects_query(l->objects, number).address - start);

		clip(part->name, &access);
		access.is_outside = is_outside;
		*vec_add(&part->accesses) = access;
	}
}

/* What was done to the object on other lines: outside, if they are not of the same cause. */
static void add_others(struct labelling *l, uint32_t line, uint32_t object, struct part *part)
{
	const struct c2c_objects *o = l->objects;
	const uint32_t *cause_of = l->out->causes->of_line;

	for (uint32_t i = o->first[object]; i < o->first[object + 1]; i++) {
		uint32_t other = o->lines[o->order[i]];
		bool is_outside =
			other >= l->sharing->subjects.n || cause_of[line] != cause_of[other];

		if (other != line)
			add_touches(l, o->order[i], part->name->object_address, is_outside, part);
	}
}

static void find_parts(struct labelling *l, uint32_t line, struct parts *out)
{
	const struct c2c_subject *subject = &l->sharing->subjects.items[line];

	for (uint32_t i = 0; i < subject->n_accesses; i++) {
		uint32_t number = subject->first_access + i;
		const struct data_name *name = data_names_get(&l->objects->names, number);
		uint64_t start = name->object.v != 0 ? name->object_address : subject->address;
		size_t n = out->list.n;
		struct part *part = find_part(out, name);

		add_touches(l, number, start, false, part);
		if (out->list.n > n && name->object.v != 0)
			add_others(l, line, l->objects->numbers[number], part);
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
	data_object_text(&l->objects->names, name, out);
	if (name->object.v == 0)
		return;
	text_str(out, " (");
	if (name->type.v != 0 && !name->is_by_type) {
		types_name(symbols_types(l->sharing->session->symbols), name->type, out);
		text_str(out, ", ");
	}
	if (name->n_elements > 0)
		text_format(out, "%" PRIu64 " side by side, %" PRIu64 " bytes each",
			    name->n_elements, name->object_size);
	else
		text_format(out, "%" PRIu64 " byte%s", name->object_size,
			    plural(name->object_size));
	put_memory(l, name, out);
	text_char(out, ')');
}

static void label_object(struct labelling *l, const struct data_name *name, size_t line)
{
	struct c2c_object_label *out = &l->out->details[line];
	struct session *s = l->sharing->session;
	struct text text = { 0 };

	if (name->kind != DATA_UNKNOWN)
		out->memory = data_kind_names[name->kind];
	if (name->kind == DATA_THREAD)
		out->tid = name->tid;
	if (name->kind == DATA_STACK && name->function.v != 0) {
		text_str(&text, strings_get(symbols_strings(s->symbols), name->function));
		out->frame = keep(l, &text);
	}
	if (name->object.v == 0)
		return;
	out->bytes = name->object_size;
	if (name->type.v == 0)
		return;
	types_name(symbols_types(s->symbols), name->type, &text);
	out->type = keep(l, &text);
}

static void label_parts(struct labelling *l, const struct parts *parts, size_t line)
{
	struct text names = { 0 }, objects = { 0 };

	for (size_t i = 0; i < parts->list.n; i++) {
		const struct data_name *name = parts->list.items[i].name;

		/* neither an object, nor memory that has a name as a whole, such as the heap */
		if (name->object.v == 0 && name->kind == DATA_UNKNOWN)
			continue;
		text_str(&names, names.n > 0 ? " and " : "");
		data_object_text(&l->objects->names, name, &names);
		text_str(&objects, objects.n > 0 ? " and " : "");
		put_object(l, name, &objects);
	}
	l->out->names[line] = keep(l, &names);
	l->out->objects[line] = keep(l, &objects);
	if (parts->list.n == 1)
		label_object(l, parts->list.items[0].name, line);
}

/* The question about one object; `object` is its name. */
static struct layout_question question_of(const struct labelling *l,
					  const struct c2c_subject *subject,
					  const struct part *part, const char *object)
{
	bool is_known = part->name->object.v != 0;

	return (struct layout_question){
		.types = symbols_types(l->sharing->session->symbols),
		.type = part->name->type,
		.object = object,
		.n_elements = part->name->n_elements,
		.is_of_many = part->is_of_many,
		.has_roles = part->has_roles,
		.address = is_known ? part->name->object_address : subject->address,
		.size = part->name->object_size,
		.line_bytes = l->sharing->options.line_bytes,
		.is_managed = part->name->is_managed,
		.is_allocated = part->name->is_by_type && part->name->kind != DATA_STACK &&
				part->name->kind != DATA_KERNEL,
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
			struct layout_access *a;

			if (part->accesses.items[k].is_outside)
				continue;
			a = vec_add(&accesses);
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

	text_str(out, "put on different cache lines: ");
	for (size_t i = 0; i < parts->list.n; i++) {
		text_str(out, i > 0 ? ", " : "");
		data_object_text(&l->objects->names, parts->list.items[i].name, out);
		is_allocated &= parts->list.items[i].name->is_by_type;
	}
	text_format(out, ": %s %" PRIu64,
		    is_allocated ? "allocate each at a multiple of" : "align each to",
		    l->sharing->options.line_bytes);
}

static uint32_t finding_of(const struct labelling *l, size_t line)
{
	const struct c2c_causes *f = l->out->causes;

	return f->list.items[f->of_line[line]].finding;
}

static void put_layout(struct labelling *l, size_t number, const struct c2c_subject *subject,
		       const struct part *part, struct cause_work *work)
{
	struct layout_question question;
	struct text *fix = &work->fix, object = { 0 };
	struct layout layout;
	size_t before;

	data_object_text(&l->objects->names, part->name, &object);
	text_char(&object, '\0');
	question = question_of(l, subject, part, object.bytes);
	layout_init(&layout, &question);
	text_str(fix, fix->n > 0 ? "; " : "");
	before = fix->n;
	layout_fix(&layout, fix);
	l->out->moves_data[number] |= layout.advice != LAYOUT_KEEP;
	if (fix->n == before && before > 0)
		fix->n -= strlen("; ");
	if (layout.body != LAYOUT_BYTES)
		layout_draw(&layout, DRAWN_WIDTH, &work->drawing);
	*vec_add(&work->layouts) = layout;
	*vec_add(&work->objects) = object;
}

/* Where nobody contends, there is nothing to fix. */
static void keep_fix(struct labelling *l, size_t line, struct text *fix, struct text *drawing,
		     const struct c2c_judgement *j)
{
	if (j->verdict != C2C_FALSE && j->verdict != C2C_TRUE)
		fix->n = 0;
	l->out->fixes[line] = keep(l, fix);
	l->out->drawings[line] = keep(l, drawing);
}

static void label_line(struct labelling *l, size_t number, struct parts *parts)
{
	find_parts(l, (uint32_t)number, parts);
	label_parts(l, parts, number);
}

static void work_out_objects(struct labelling *l, const struct c2c_cause *cause,
			     struct cause_work *work)
{
	size_t number = cause->lines.items[0];
	const struct c2c_subject *subject = &l->sharing->subjects.items[number];
	const struct parts *parts = &work->parts;

	l->out->moves_data[number] = parts->list.n > 1 && have_conflict(l, parts);
	if (l->out->moves_data[number])
		put_apart(l, parts, &work->fix);
	for (size_t i = 0; i < parts->list.n; i++)
		put_layout(l, number, subject, &parts->list.items[i], work);
}

/* Below the drawing of one that stands for many. */
static void put_fold(const struct labelling *l, const struct c2c_fold *fold, struct text *out)
{
	uint64_t line_bytes = l->sharing->options.line_bytes;

	if (out->n == 0)
		return;
	if (fold->has_roles)
		text_str(out, "   each object has threads of its own: A, B … are their roles\n");
	if (fold->n_alike < fold->n_objects)
		text_format(out,
			    "   drawn as %" PRIu32 " of %" PRIu32 " objects, which begin %" PRIu64
			    " bytes into a line\n",
			    fold->n_alike, fold->n_objects, fold->address % line_bytes);
}

/* The object that the others are like, without those that stand beside it. */
static struct data_name name_of_many(const struct labelling *l, const struct c2c_cause *cause,
				     const struct c2c_fold *fold)
{
	const struct c2c_subject *first = &l->sharing->subjects.items[cause->lines.items[0]];
	const struct types *types = symbols_types(l->sharing->session->symbols);
	uint32_t instance = l->instances->of_line[cause->lines.items[0]];
	struct data_name name = *data_names_get(&l->objects->names, first->first_access);

	name.type = c2c_instance_type(l->instances, c2c_instance(l->instances, instance).kind);
	name.object_size = types_get(types, name.type)->size;
	name.object_address = fold->address;
	name.n_elements = 0;
	return name;
}

/* One drawing and one fix for all objects of a type. */
static void work_out_type(struct labelling *l, uint32_t number, struct cause_work *work)
{
	const struct c2c_cause *cause = &l->out->causes->list.items[number];
	struct c2c_fold *fold = &work->fold;
	struct data_name name;
	struct part part;

	c2c_fold_init(fold, l->objects, l->instances, l->out->causes, number);
	name = name_of_many(l, cause, fold);
	part = (struct part){
		.name = &name,
		.accesses = { fold->accesses.items, fold->accesses.n, fold->accesses.cap },
		.is_of_many = cause->n_objects > 1,
		.has_roles = fold->has_roles,
	};
	put_layout(l, cause->lines.items[0], &cause->sum, &part, work);
	put_fold(l, fold, &work->drawing);
}

/* Does each line of the cause have a name of its own? */
static bool has_own_names(const struct c2c_cause *cause)
{
	return cause->n_objects > 0 || cause->n_variables > 1;
}

/* Other lines of a cause have its words; of objects of a type each has a name of its own. */
static void label_others(struct labelling *l, const struct c2c_cause *cause)
{
	size_t first = cause->lines.items[0];

	for (size_t i = 1; i < cause->lines.n; i++) {
		size_t line = cause->lines.items[i];
		struct parts parts = { 0 };

		l->out->names[line] = l->out->names[first];
		l->out->objects[line] = l->out->objects[first];
		l->out->details[line] = l->out->details[first];
		if (has_own_names(cause))
			label_line(l, line, &parts);
		l->out->drawings[line] = l->out->drawings[first];
		l->out->fixes[line] = l->out->fixes[first];
		l->out->moves_data[line] = l->out->moves_data[first];
		parts_release(&parts);
	}
}

static bool is_wanted(const struct labelling *l, size_t cause)
{
	return l->is_wanted == NULL || l->is_wanted[cause];
}

static void work_out_cause(void *context, size_t number, unsigned worker)
{
	struct labelling *l = context;
	const struct c2c_cause *cause = &l->out->causes->list.items[number];
	struct cause_work *work = &l->work[number % l->window];

	(void)worker;
	*work = (struct cause_work){ 0 };
	if (!is_wanted(l, number))
		return;
	find_parts(l, cause->lines.items[0], &work->parts);
	if (cause->n_objects > 0)
		work_out_type(l, (uint32_t)number, work);
	else
		work_out_objects(l, cause, work);
}

static void cause_work_release(struct cause_work *work)
{
	for (size_t i = 0; i < work->layouts.n; i++) {
		layout_release(&work->layouts.items[i]);
		text_release(&work->objects.items[i]);
	}
	vec_release(&work->layouts);
	vec_release(&work->objects);
	c2c_fold_release(&work->fold);
	parts_release(&work->parts);
}

static void label_cause(void *context, size_t number, unsigned worker)
{
	struct labelling *l = context;
	const struct c2c_cause *cause = &l->out->causes->list.items[number];
	struct cause_work *work = &l->work[number % l->window];
	size_t line = cause->lines.items[0];

	(void)worker;
	if (!is_wanted(l, number))
		return;
	label_parts(l, &work->parts, line);
	for (size_t i = 0; l->is_wanted == NULL && i < work->layouts.n; i++)
		if (work->layouts.items[i].body != LAYOUT_BYTES)
			layout_rows(&work->layouts.items[i], line + 1, finding_of(l, line),
				    &l->out->layouts);
	keep_fix(l, line, &work->fix, &work->drawing, &cause->sum.judgement);
	label_others(l, cause);
	cause_work_release(work);
}

/* Layouts are worked out by all workers; what is made of them is in order of the causes. */
static void label_causes(struct labelling *l)
{
	struct pool *pool = l->sharing->session->pool;

	l->window = 2 * (size_t)pool_size(pool);
	l->work = mem_zalloc(l->window, sizeof(*l->work));
	pool_run_ordered(pool, l->out->causes->list.n, l->window, work_out_cause, label_cause, l);
	free(l->work);
}

/* What c2c_labels_init_shown() is about. */
static void choose_causes(struct labelling *l)
{
	const struct c2c_causes *causes = l->out->causes;
	size_t first = 0;

	l->is_wanted = mem_zalloc(causes->list.n + 1, sizeof(*l->is_wanted));
	for (size_t i = 0; i < l->sharing->subjects.n; i++)
		if (c2c_is_shown(causes, l->sharing->request.top, i))
			l->is_wanted[causes->of_line[i]] = true;
	while (first < causes->list.n && causes->list.items[first].class != C2C_CONTENDED)
		first++;
	l->is_wanted[first] = true;
}

static void labels_init(struct c2c_labels *out, const struct c2c *s, bool only_shown)
{
	struct labelling l = {
		.sharing = s, .out = out, .objects = s->objects, .instances = s->instances
	};

	*out = (struct c2c_labels){ 0 };
	table_init(&out->layouts, "layouts", "Members and their threads", layout_columns,
		   n_layout_columns);
	out->names = mem_zalloc(s->subjects.n + 1, sizeof(*out->names));
	out->objects = mem_zalloc(s->subjects.n + 1, sizeof(*out->objects));
	out->details = mem_zalloc(s->subjects.n + 1, sizeof(*out->details));
	out->drawings = mem_zalloc(s->subjects.n + 1, sizeof(*out->drawings));
	out->fixes = mem_zalloc(s->subjects.n + 1, sizeof(*out->fixes));
	out->moves_data = mem_zalloc(s->subjects.n + 1, sizeof(*out->moves_data));
	out->fields = mem_zalloc(s->accesses.n + 1, sizeof(*out->fields));
	out->fields_of_any = mem_zalloc(s->accesses.n + 1, sizeof(*out->fields_of_any));
	out->causes = s->causes;
	if (only_shown)
		choose_causes(&l);
	label_fields(&l);
	label_causes(&l);
	free(l.is_wanted);
}

void c2c_labels_init(struct c2c_labels *out, const struct c2c *s)
{
	labels_init(out, s, false);
}

void c2c_labels_init_shown(struct c2c_labels *out, const struct c2c *s)
{
	labels_init(out, s, true);
}

/* The objects on a line, without what was done to them. */
static void name_line(struct labelling *l, size_t number)
{
	const struct c2c_subject *subject = &l->sharing->subjects.items[number];
	struct parts parts = { 0 };

	for (uint32_t i = 0; i < subject->n_accesses; i++)
		find_part(&parts, data_names_get(&l->objects->names, subject->first_access + i));
	label_parts(l, &parts, number);
	parts_release(&parts);
}

void c2c_labels_init_names(struct c2c_labels *out, const struct c2c *s)
{
	struct labelling l = { .sharing = s, .out = out, .objects = s->objects };

	*out = (struct c2c_labels){ 0 };
	out->names = mem_zalloc(s->subjects.n + 1, sizeof(*out->names));
	out->objects = mem_zalloc(s->subjects.n + 1, sizeof(*out->objects));
	out->details = mem_zalloc(s->subjects.n + 1, sizeof(*out->details));
	for (size_t i = 0; i < s->subjects.n; i++)
		name_line(&l, i);
}

void c2c_labels_release(struct c2c_labels *l)
{
	free(l->names);
	free(l->objects);
	free(l->details);
	free(l->drawings);
	free(l->fixes);
	free(l->moves_data);
	free(l->fields);
	free(l->fields_of_any);
	table_release(&l->layouts);
	arena_release(&l->memory);
	*l = (struct c2c_labels){ 0 };
}
