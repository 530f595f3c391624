/* SPDX-License-Identifier: Apache-2.0 */
#include "data/shared_names.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

void shared_names_init(struct shared_names *s, size_t n)
{
	*s = (struct shared_names){ .numbers = mem_zalloc(n + 1, sizeof(*s->numbers)) };
	(void)vec_add(&s->list);
}

void shared_names_release(struct shared_names *s)
{
	vec_release(&s->list);
	free(s->numbers);
	*s = (struct shared_names){ 0 };
}

static uint32_t *recent_of(struct shared_names *s, const struct data_name *name)
{
	const uint64_t words[] = {
		(uint64_t)name->object.v << 32 | name->module.v,
		(uint64_t)name->path.v << 32 | name->function.v,
		name->object_address,
		name->file_address,
	};

	return &s->recent[hash_words(words, COUNT(words), 0) % SHARED_NAMES_RECENT];
}

static bool is_same_leaf(const struct type_leaf *a, const struct type_leaf *b)
{
	return a->offset == b->offset && a->size == b->size && a->type.v == b->type.v &&
	       a->bit_offset == b->bit_offset && a->bit_size == b->bit_size;
}

static bool is_same_name(const struct data_name *a, const struct data_name *b)
{
	return a->kind == b->kind && a->module.v == b->module.v &&
	       a->file_address == b->file_address && a->object.v == b->object.v &&
	       a->is_by_type == b->is_by_type && a->is_by_code == b->is_by_code &&
	       a->is_managed == b->is_managed && a->tid == b->tid &&
	       a->function.v == b->function.v && a->object_address == b->object_address &&
	       a->object_size == b->object_size && a->type.v == b->type.v &&
	       a->n_elements == b->n_elements && a->file.v == b->file.v && a->line == b->line &&
	       a->path.v == b->path.v && is_same_leaf(&a->leaf, &b->leaf);
}

void shared_names_set(struct shared_names *s, size_t number, const struct data_name *name)
{
	uint32_t *recent = recent_of(s, name);

	if (!is_same_name(&s->list.items[*recent], name)) {
		*recent = (uint32_t)s->list.n;
		*vec_add(&s->list) = *name;
	}
	s->numbers[number] = *recent;
}

bool shared_names_have(const struct shared_names *s, enum data_kind kind)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.items[i].kind == kind)
			return true;
	return false;
}
