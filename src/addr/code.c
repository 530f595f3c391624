/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in memory without variables (heap, stack …), by debug information of the instructions
 * that access them. For each instruction one address is looked up; type and member then hold for
 * all its addresses. The kind of memory is that of each page.
 */
#include <stdlib.h>

#include "addr/addr.h"
#include "base/alloc.h"

/* The groups that are named by their code. */
struct asking {
	const struct addr *from;
	struct addr_objects *objects;
	VEC_OF(uint32_t) groups;
	VEC_OF(struct data_query) queries;
};

static void ask_group(struct asking *a, uint32_t group)
{
	const uint64_t *key = tuples_get(&a->from->keys, group);

	if (key[2] == 0)
		return;
	*vec_add(&a->groups) = group;
	*vec_add(&a->queries) = (struct data_query){
		.process = key[1] == ADDR_KERNEL ? 0 : (uint32_t)key[1],
		.time_ns = addr_briefs_first_ns(&a->from->sums, group),
		.address = addr_briefs_least(&a->from->sums, group),
		.size = 1,
		.code = session_place(a->from->session, (uint32_t)(key[2] - 1)),
	};
}

/* Does the code give the object and its size? */
static bool addr_code_is_known(const struct data_name *name)
{
	return name->is_by_code && name->object.v != 0 && name->object_size > 0;
}

/* The object of a group. Its kind of memory is that of the page, unless the code is more exact. */
static struct addr_object addr_code_object(const struct asking *a, uint32_t group,
					   const struct data_name *name)
{
	struct addr_object object = addr_object_of(a->objects, name);
	uint64_t number = tuples_get(&a->from->keys, group)[0];

	if (name->is_by_type)
		object.kind = a->objects->list.items[number].kind;
	if (name->is_by_type || object.kind != DATA_STACK)
		object.function = (struct str_id){ 0 };
	return object;
}

/* The keys of all groups after addr_by_code(): (object, offset, 0). To be freed. */
static uint64_t *plain_keys(const struct addr *a)
{
	uint64_t *keys = mem_zalloc((size_t)a->keys.n + 1, ADDR_KEY_WORDS * sizeof(*keys));

	for (uint32_t i = 0; i < a->keys.n; i++) {
		const uint64_t *key = tuples_get(&a->keys, i);

		keys[(size_t)i * ADDR_KEY_WORDS] = key[0];
		keys[(size_t)i * ADDR_KEY_WORDS + 1] = key[2] == 0 ? key[1] : 0;
	}
	return keys;
}

struct addr_named addr_by_code(struct addr *addr, struct addr_objects *objects)
{
	struct asking a = { .from = addr, .objects = objects };
	uint64_t *keys = plain_keys(addr);
	struct addr_named out = { 0 };
	struct data_names names;

	for (uint32_t i = 0; i < addr->keys.n; i++) {
		if (addr_object_is_memory(&objects->list.items[tuples_get(&addr->keys, i)[0]]))
			out.n += addr_group_sums(addr, i).n;
		ask_group(&a, i);
	}
	data_names_init(&names, objects->session, a.queries.items, a.queries.n);
	for (size_t i = 0; i < names.n; i++) {
		const struct data_name *name = data_names_get(&names, i);
		uint32_t group = a.groups.items[i];
		uint64_t *key = &keys[(size_t)group * ADDR_KEY_WORDS];
		struct addr_object object;

		if (!addr_code_is_known(name))
			continue;
		object = addr_code_object(&a, group, name);
		out.n_named += addr_group_sums(addr, group).n;
		key[0] = addr_objects_add(objects, &object);
		key[1] = object.element_size == 0
				 ? 0
				 : (a.queries.items[i].address - name->object_address) %
					   object.element_size;
	}
	addr_regroup(addr, keys);
	data_names_release(&names);
	vec_release(&a.groups);
	vec_release(&a.queries);
	free(keys);
	return out;
}
