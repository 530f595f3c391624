/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/verdict/instances.h"

#include <stdlib.h>

#include "base/alloc.h"

/* What arrays of any dimension consist of. */
static struct type_id element_of(const struct types *t, struct type_id id)
{
	id = types_plain(t, id);
	while (types_get(t, id)->kind == TYPE_ARRAY)
		id = types_plain(t, types_get(t, id)->inner);
	return id;
}

static bool is_struct(const struct types *t, struct type_id id)
{
	enum type_kind kind = types_get(t, id)->kind;

	return (kind == TYPE_STRUCT || kind == TYPE_UNION) && types_get(t, id)->size > 0;
}

bool c2c_is_in_array(const struct c2c_objects *o, uint32_t access)
{
	const struct types *t = symbols_types(o->sharing->session->symbols);
	const struct data_name *name = data_names_get(&o->names, access);

	return name->n_elements > 0 || types_get(t, types_plain(t, name->type))->kind == TYPE_ARRAY;
}

/* Is its type known, and may there be many objects of it? Then fills in type and variable. */
static bool is_of_kind(const struct c2c_objects *o, uint32_t access, uint64_t *out_kind)
{
	const struct types *t = symbols_types(o->sharing->session->symbols);
	const struct data_name *name = data_names_get(&o->names, access);
	struct type_id element;
	bool is_array;

	if (name->object.v == 0)
		return false;
	element = element_of(t, name->type);
	is_array = c2c_is_in_array(o, access);
	if (name->kind == DATA_THREAD || !is_struct(t, element) ||
	    (!is_array && !name->is_by_type) ||
	    (is_array && types_get(t, element)->size < o->sharing->options.line_bytes))
		return false;
	out_kind[0] = element.v;
	out_kind[1] = name->is_by_type ? 0 : name->object_address;
	return true;
}

static uint32_t c2c_instances_number_of(struct c2c_instances *in, const struct c2c_objects *o,
					uint32_t access)
{
	const struct types *t = symbols_types(o->sharing->session->symbols);
	const struct data_name *name = data_names_get(&o->names, access);
	uint64_t kind[2], key[3], size, offset;

	if (!is_of_kind(o, access, kind))
		return TUPLES_NONE;
	size = types_get(t, (struct type_id){ (uint32_t)kind[0] })->size;
	offset = c2c_objects_query(o, access).address - name->object_address;
	key[0] = tuples_add(&in->kinds, kind);
	key[1] = c2c_line_at(o->sharing, o->lines[access])->space;
	key[2] = name->object_address + offset / size * size;
	return tuples_add(&in->keys, key);
}

static uint32_t number_of_line(const struct c2c_instances *in, const struct c2c_subject *line)
{
	const uint32_t *numbers = in->of_access + line->first_access;

	for (uint32_t i = 1; i < line->n_accesses; i++)
		if (numbers[i] != numbers[0])
			return TUPLES_NONE;
	return line->n_accesses > 0 ? numbers[0] : TUPLES_NONE;
}

static void count_instances(struct c2c_instances *in, const struct c2c *s)
{
	bool *is_counted = mem_zalloc((size_t)in->keys.n + 1, sizeof(*is_counted));

	in->n_of_kind = mem_zalloc((size_t)in->kinds.n + 1, sizeof(*in->n_of_kind));
	for (size_t i = 0; i < s->subjects.n; i++) {
		uint32_t number = in->of_line[i];

		if (number == TUPLES_NONE || is_counted[number])
			continue;
		is_counted[number] = true;
		in->n_of_kind[c2c_instance(in, number).kind]++;
	}
	free(is_counted);
}

void c2c_instances_init(struct c2c_instances *in, const struct c2c_objects *o)
{
	const struct c2c *s = o->sharing;
	size_t n_lines = s->subjects.n + s->around.n;

	*in = (struct c2c_instances){ 0 };
	tuples_init(&in->kinds, 2);
	tuples_init(&in->keys, 3);
	in->of_access = mem_alloc(s->accesses.n + 1, sizeof(*in->of_access));
	in->of_line = mem_alloc(n_lines + 1, sizeof(*in->of_line));
	for (uint32_t i = 0; i < s->accesses.n; i++)
		in->of_access[i] = o->numbers[i] == TUPLES_NONE ? TUPLES_NONE
								: c2c_instances_number_of(in, o, i);
	for (size_t i = 0; i < n_lines; i++)
		in->of_line[i] = number_of_line(in, c2c_line_at(s, i));
	count_instances(in, s);
}

void c2c_instances_release(struct c2c_instances *in)
{
	tuples_release(&in->kinds);
	tuples_release(&in->keys);
	free(in->of_access);
	free(in->of_line);
	free(in->n_of_kind);
	*in = (struct c2c_instances){ 0 };
}

struct c2c_instance c2c_instance(const struct c2c_instances *in, uint32_t number)
{
	const uint64_t *key = tuples_get(&in->keys, number);

	return (struct c2c_instance){ (uint32_t)key[0], (uint32_t)key[1], key[2] };
}

struct type_id c2c_instance_type(const struct c2c_instances *in, uint32_t kind)
{
	return (struct type_id){ (uint32_t)tuples_get(&in->kinds, kind)[0] };
}
