/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of structs with few hot members, and others that are never accessed: advises to split. */
#include <stdlib.h>

#include "addr/rows.h"
#include "base/alloc.h"

enum {
	LEAST_RECORDS = 50, /* of a struct: with fewer, "never accessed" is no evidence */
	MAX_MEMBERS = 1000,
	SHOWN_MEMBERS = 6,
};

/* Members with at least this part of the records are hot. */
static const double hot_part = 0.05;

/* A split is advised if the hot members are at most this part of the struct. */
static const double most_hot = 0.5;

static const struct column columns[] = {
	{ "type", NULL, "", CELL_TEXT, 0, "struct, in arrays" },
	{ "size", NULL, "bytes", CELL_COUNT, 0, "size of one" },
	{ "hot_bytes", "hot", "bytes", CELL_COUNT, 0, "members with 5 % of the accesses or more" },
	{ "hot", "hot members", "", CELL_TEXT, COLUMN_GROW, "names of those members" },
	{ "untouched_bytes", "untouched", "bytes", CELL_COUNT, 0,
	  "members without a sampled access" },
	{ "untouched", "untouched members", "", CELL_TEXT, COLUMN_GROW, "names of those members" },
	{ "records", NULL, "records", CELL_COUNT, 0, "sampled accesses to such structs" },
	{ "share", "latency share", "", CELL_NUMBER, COLUMN_SHARE,
	  "part of the latency of all accesses" },
};

/* Records of a type by member. */
struct usage {
	struct type_id type;
	uint64_t *members;
	uint64_t n, weight;
	uint64_t largest; /* object with such elements, bytes */
};

struct usages {
	const struct addr_rows *rows; /* by field */
	const struct types *types;
	struct tuples keys;
	VEC_OF(struct usage) list;
};

static struct usage *find_usage(struct usages *u, struct type_id id)
{
	uint32_t number = tuples_add(&u->keys, &(uint64_t){ id.v });

	if (number == u->list.n)
		*vec_add(&u->list) = (struct usage){
			.type = id,
			.members = mem_zalloc(types_get(u->types, id)->n_members + 1,
					      sizeof(uint64_t)),
		};
	return &u->list.items[number];
}

/* Counts the records of a group for all members at its offset. */
static void count_group(struct usages *u, uint32_t group)
{
	const struct addr *a = u->rows->source->addr;
	const uint64_t *key = tuples_get(&a->keys, group);
	const struct addr_object *object = &u->rows->source->objects->list.items[key[0]];
	struct type_id id = types_plain(u->types, object->element);
	const struct type *type = types_get(u->types, id);
	struct addr_sums sums;
	struct usage *usage;

	if (type->kind != TYPE_STRUCT || type->n_members > MAX_MEMBERS)
		return;
	usage = find_usage(u, id);
	sums = addr_group_sums(a, group);
	usage->n += sums.n;
	usage->weight += addr_weight(u->rows, &sums);
	if (object->size > usage->largest)
		usage->largest = object->size;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *m = &types_members(u->types, id)[i];

		if (key[1] >= m->offset && key[1] - m->offset < m->size)
			usage->members[i] += sums.n;
	}
}

/* Names and bytes of the members with `least` … `most` records. */
struct chosen {
	struct text names;
	uint64_t bytes;
	size_t n;
};

static void addr_splits_choose(const struct usages *u, const struct usage *usage, uint64_t least,
			       uint64_t most, struct chosen *out)
{
	const struct type *type = types_get(u->types, usage->type);

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *m = &types_members(u->types, usage->type)[i];

		if (usage->members[i] < least || usage->members[i] > most || m->size == 0)
			continue;
		out->bytes += m->size;
		if (out->n++ >= SHOWN_MEMBERS)
			continue;
		if (out->n > 1)
			text_str(&out->names, ", ");
		if (m->name.v != 0)
			text_str(&out->names, strings_get(u->types->strings, m->name));
		else
			types_name(u->types, m->type, &out->names);
	}
	if (out->n > SHOWN_MEMBERS)
		text_format(&out->names, " and %zu more", out->n - SHOWN_MEMBERS);
	text_char(&out->names, '\0');
}

static uint64_t least_hot(const struct usage *usage)
{
	uint64_t least = (uint64_t)(hot_part * (double)usage->n);

	return least > 0 ? least : 1;
}

static void put_usage(const struct usages *u, const struct usage *usage, struct table *t)
{
	const struct type *type = types_get(u->types, usage->type);
	uint64_t all = addr_weight(u->rows, &u->rows->total);
	struct chosen hot = { 0 }, untouched = { 0 };
	struct text name = { 0 };
	struct cell *row;

	addr_splits_choose(u, usage, least_hot(usage), UINT64_MAX, &hot);
	addr_splits_choose(u, usage, 0, 0, &untouched);
	if (untouched.n > 0 && (double)hot.bytes <= most_hot * (double)type->size) {
		types_name(u->types, usage->type, &name);
		text_char(&name, '\0');
		row = table_add_row(t);
		row[0] = cell_text(table_text(t, name.bytes));
		row[1] = cell_count(type->size);
		row[2] = cell_count(hot.bytes);
		row[3] = cell_text(table_text(t, hot.names.bytes));
		row[4] = cell_count(untouched.bytes);
		row[5] = cell_text(table_text(t, untouched.names.bytes));
		row[6] = cell_count(usage->n);
		row[7] = cell_number(all == 0 ? 0 : (double)usage->weight / (double)all);
	}
	text_release(&name);
	text_release(&hot.names);
	text_release(&untouched.names);
}

void addr_splits_table(const struct addr_rows *r, struct table *out)
{
	struct usages u = { .rows = r, .types = symbols_types(r->source->addr->session->symbols) };

	tuples_init(&u.keys, 1);
	for (uint32_t group = 0; group < r->source->addr->keys.n; group++)
		count_group(&u, group);
	table_init(out, "splits", "Structs to split into hot and cold members", columns,
		   COUNT(columns));
	for (size_t i = 0; i < u.list.n; i++) {
		const struct usage *usage = &u.list.items[i];

		/* A single struct gains nothing, only an array does. */
		if (usage->n >= LEAST_RECORDS &&
		    usage->largest >= 2 * types_get(u.types, usage->type)->size)
			put_usage(&u, usage, out);
		free(usage->members);
	}
	table_sort(out, COUNT(columns) - 1, false);
	vec_release(&u.list);
	tuples_release(&u.keys);
}
