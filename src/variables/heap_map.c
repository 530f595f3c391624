/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/heap_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/mapped.h"
#include "elf/words.h"
#include "symbol/symbols_state.h"

enum {
	/* Of all types together: a class has types of its own for each size of its objects. */
	MOST_MEMBERS = 1 << 22,
	QUOTED = 60, /* bytes of the input in a message */
};

/* A field of a class, or the elements of a class of arrays. */
struct heap_field {
	struct str_id class, name, type; /* of elements no name */
	uint32_t offset, size;
	size_t line;
	bool is_element;
};

struct reading {
	struct heap_map *map;
	VEC_OF(struct heap_field) fields;
	VEC_OF(struct str_id) classes; /* by number of the object */
	struct tuples kinds;	       /* (class, size) */
	VEC_OF(struct type_id) types;  /* by kind */
	VEC_OF(struct type_member) members;
	size_t n_members, line;
	uint64_t line_at;
	struct err *err;
};

static int heap_map_error(const struct reading *r, struct word found, const char *wanted)
{
	int n = found.n < QUOTED ? (int)found.n : QUOTED;

	return err_set(r->err, ERR_FORMAT, r->line_at,
		       "heap map: line %zu: found \"%.*s\", wanted %s", r->line, n,
		       n == 0 ? "" : found.text, wanted);
}

/* Names are shown: no control characters. */
static bool is_name(struct word w)
{
	for (size_t i = 0; i < w.n; i++)
		if ((unsigned char)w.text[i] < ' ' || w.text[i] == 0x7f)
			return false;
	return w.n > 0;
}

static bool read_u32(struct word w, uint32_t *out)
{
	uint64_t value;

	if (!word_to_decimal(w, &value) || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static struct str_id intern(struct reading *r, struct word w)
{
	return strings_add(&r->map->strings, w.text, w.n);
}

/* "7f5a80012340 24 Counters" */
static int read_object(struct reading *r, struct word line)
{
	struct word address = words_next(&line), size = words_next(&line);
	struct word class = words_rest(line);
	struct heap_object object = { 0 };

	if (!word_to_hex(address, &object.address))
		return heap_map_error(
			r, address,
			"the hexadecimal address of an object, or pid, time, field, element");
	if (!read_u32(size, &object.size) || object.size == 0 ||
	    object.size - 1 > UINT64_MAX - object.address)
		return heap_map_error(r, size, "the size of an object in bytes");
	if (!is_name(class))
		return heap_map_error(r, class, "the name of a class");
	*vec_add(&r->map->objects) = object;
	*vec_add(&r->classes) = intern(r, class);
	return 0;
}

/* "16 8 long Counters.hits" */
static int read_field(struct reading *r, struct word line)
{
	struct word offset = words_next(&line), size = words_next(&line), type = words_next(&line);
	struct word name = words_rest(line), class = name;
	struct heap_field field = { .line = r->line };

	while (class.n > 0 && class.text[class.n - 1] != '.')
		class.n--;
	if (!read_u32(offset, &field.offset))
		return heap_map_error(r, offset, "the offset of a field in its object");
	if (!read_u32(size, &field.size) || field.size == 0)
		return heap_map_error(r, size, "the size of a field in bytes");
	if (!is_name(type))
		return heap_map_error(r, type, "the type of a field");
	if (!is_name(name) || class.n < 2 || class.n == name.n)
		return heap_map_error(r, name, "CLASS.FIELD");
	field.type = intern(r, type);
	field.name = intern(r, (struct word){ name.text + class.n, name.n - class.n });
	class.n--;
	field.class = intern(r, class);
	*vec_add(&r->fields) = field;
	return 0;
}

/* "16 8 long[]" */
static int read_element(struct reading *r, struct word line)
{
	struct word offset = words_next(&line), size = words_next(&line);
	struct word class = words_rest(line), type = class;
	struct heap_field field = { .line = r->line, .is_element = true };

	if (!read_u32(offset, &field.offset))
		return heap_map_error(r, offset, "the offset of the first element in its array");
	if (!read_u32(size, &field.size) || field.size == 0)
		return heap_map_error(r, size, "the size of an element in bytes");
	if (!is_name(class) || class.n < 3 || memcmp(class.text + class.n - 2, "[]", 2) != 0)
		return heap_map_error(r, class,
				      "the name of a class of arrays, which ends with []");
	type.n -= 2;
	field.class = intern(r, class);
	field.type = intern(r, type);
	*vec_add(&r->fields) = field;
	return 0;
}

static int read_line(struct reading *r, struct word line)
{
	struct word rest = line, first = words_next(&rest), value = words_rest(rest);

	if (first.n == 0 || first.text[0] == '#')
		return 0;
	if (word_equals(first, "field"))
		return read_field(r, rest);
	if (word_equals(first, "element"))
		return read_element(r, rest);
	if (word_equals(first, "pid"))
		return read_u32(value, &r->map->pid) && r->map->pid > 0
			       ? 0
			       : heap_map_error(r, value, "the number of a process");
	if (!word_equals(first, "time"))
		return read_object(r, line);
	if (!is_name(value))
		return heap_map_error(r, value, "when it was");
	r->map->time = intern(r, value);
	return 0;
}

static int read_lines(struct reading *r, struct word text)
{
	struct word all = text, line;

	while (words_next_line(&text, &line)) {
		r->line++;
		r->line_at = (uint64_t)(line.text - all.text);
		if (line.text + line.n == all.text + all.n)
			return heap_map_error(r, line, "a whole line: the file ends within it");
		if (read_line(r, line) < 0)
			return -1;
	}
	return 0;
}

static int compare_fields(const void *left, const void *right)
{
	const struct heap_field *a = left, *b = right;

	if (a->class.v != b->class.v)
		return (a->class.v > b->class.v) - (a->class.v < b->class.v);
	if (a->offset != b->offset)
		return (a->offset > b->offset) - (a->offset < b->offset);
	return (a->line > b->line) - (a->line < b->line);
}

/* The first field of a class; those of a class stand together. */
static size_t first_field(const struct reading *r, struct str_id class)
{
	return bisect(0, r->fields.n, i, r->fields.items[i].class.v < class.v);
}

static struct type_id base_type(struct reading *r, const struct heap_field *f)
{
	const struct type type = { .kind = TYPE_BASE, .name = f->type, .size = f->size };

	return types_add(&r->map->types, &type, NULL, 0);
}

static int add_member(struct reading *r, const struct heap_field *f, uint32_t size)
{
	struct type_member member = { .name = f->name, .offset = f->offset, .size = f->size };
	struct type array = { .kind = TYPE_ARRAY };

	if (f->is_element && f->offset < size)
		array.n_elements = (size - f->offset) / f->size;
	if (f->is_element && array.n_elements == 0)
		return 0; /* an empty one */
	if (f->offset > size || f->size > size - f->offset)
		return err_set(r->err, ERR_FORMAT, ERR_NOWHERE,
			       "heap map: line %zu: found a field at %" PRIu32 " of %" PRIu32
			       " bytes, wanted one within the %" PRIu32 " bytes of an object of %s",
			       f->line, f->offset, f->size, size,
			       strings_get(&r->map->strings, f->class));
	if (r->n_members++ == MOST_MEMBERS)
		return err_set(r->err, ERR_LIMIT, ERR_NOWHERE,
			       "heap map: found fields for more than %d members of objects, which "
			       "is more than is held",
			       MOST_MEMBERS);
	member.type = base_type(r, f);
	if (f->is_element) {
		array.inner = member.type;
		member.size = array.size = array.n_elements * f->size;
		member.type = types_add(&r->map->types, &array, NULL, 0);
	}
	*vec_add(&r->members) = member;
	return 0;
}

/* The type of objects of a class that have this size. Without fields only the name is known. */
static int make_type(struct reading *r, struct str_id class, uint32_t size, struct type_id *out)
{
	struct type type = { .kind = TYPE_UNKNOWN, .name = class, .size = size };

	r->members.n = 0;
	for (size_t i = first_field(r, class);
	     i < r->fields.n && r->fields.items[i].class.v == class.v; i++)
		if (add_member(r, &r->fields.items[i], size) < 0)
			return -1;
	if (r->members.n > 0)
		type.kind = TYPE_STRUCT;
	*out = types_add(&r->map->types, &type, r->members.items, r->members.n);
	return 0;
}

static int set_types(struct reading *r)
{
	for (size_t i = 0; i < r->map->objects.n; i++) {
		struct heap_object *object = &r->map->objects.items[i];
		struct str_id class = r->classes.items[i];
		uint32_t kind = tuples_add(&r->kinds, (const uint64_t[]){ class.v, object->size });

		if (kind == r->types.n && make_type(r, class, object->size, vec_add(&r->types)) < 0)
			return -1;
		object->type = r->types.items[kind];
	}
	return 0;
}

static int compare_objects(const void *left, const void *right)
{
	const struct heap_object *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int sort_objects(struct reading *r)
{
	struct heap_map *map = r->map;

	if (map->objects.n > 1)
		qsort(map->objects.items, map->objects.n, sizeof(*map->objects.items),
		      compare_objects);
	for (size_t i = 1; i < map->objects.n; i++) {
		const struct heap_object *before = &map->objects.items[i - 1];
		uint64_t address = map->objects.items[i].address;

		if (address - before->address < before->size)
			return err_set(r->err, ERR_FORMAT, ERR_NOWHERE,
				       "heap map: found an object at 0x%" PRIx64
				       ", wanted none within the %" PRIu32
				       " bytes of the one at 0x%" PRIx64,
				       address, before->size, before->address);
	}
	return 0;
}

int heap_map_read(struct heap_map *map, const char *text, size_t size, struct err *err)
{
	struct reading r = { .map = map, .err = err };
	int rc;

	*map = (struct heap_map){ 0 };
	strings_init(&map->strings);
	types_init(&map->types, &map->strings);
	tuples_init(&r.kinds, 2);
	rc = read_lines(&r, (struct word){ text, size });
	if (rc == 0 && r.fields.n > 1)
		qsort(r.fields.items, r.fields.n, sizeof(*r.fields.items), compare_fields);
	if (rc == 0)
		rc = set_types(&r);
	if (rc == 0)
		rc = sort_objects(&r);
	tuples_release(&r.kinds);
	vec_release(&r.fields);
	vec_release(&r.classes);
	vec_release(&r.types);
	vec_release(&r.members);
	return rc;
}

int heap_map_open(struct heap_map *map, const char *path, struct err *err)
{
	struct mapped file = { 0 };
	int rc;

	*map = (struct heap_map){ 0 };
	if (mapped_open(&file, path, err) < 0)
		return -1;
	rc = heap_map_read(map, (const char *)file.bytes, file.size, err);
	mapped_release(&file);
	return rc < 0 ? err_within(err, "%s", path) : 0;
}

void heap_map_release(struct heap_map *map)
{
	types_release(&map->types);
	strings_release(&map->strings);
	vec_release(&map->objects);
	*map = (struct heap_map){ 0 };
}

const struct heap_object *heap_map_find(const struct heap_map *map, uint64_t address)
{
	size_t behind = bisect(0, map->objects.n, i, map->objects.items[i].address <= address);
	const struct heap_object *object;

	if (behind == 0)
		return NULL;
	object = &map->objects.items[behind - 1];
	return address - object->address < object->size ? object : NULL;
}

uint64_t heap_map_room(const struct heap_map *map, uint64_t address)
{
	const struct heap_object *object = heap_map_find(map, address);
	uint64_t offset = object == NULL ? 0 : address - object->address, room = 0;
	struct type_leaf leaf;
	struct text path = { 0 };

	if (object != NULL && types_path(&map->types, object->type, offset, 1, &path, &leaf))
		room = leaf.offset + leaf.size - offset;
	text_release(&path);
	return room;
}

struct type_id symbols_heap_type(struct symbols *s, const struct heap_map *map,
				 const struct heap_object *object, struct type_id *types)
{
	return types_copy(&s->types, &map->types, object->type, types);
}
