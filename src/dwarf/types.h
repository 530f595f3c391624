/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of data with their layout: which member of a struct is at an offset. Equal types of
 * different units or files have one id. Of what a pointer points to only the name is kept, so no
 * type contains itself.
 */
#ifndef CYCLOPS_DWARF_TYPES_H
#define CYCLOPS_DWARF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/text.h"
#include "base/tuples.h"
#include "base/vec.h"

struct type_id {
	uint32_t v; /* 0: unknown */
};

enum type_kind {
	TYPE_UNKNOWN, /* or only declared; the size may be known */
	TYPE_BASE,
	TYPE_POINTER, /* references, too */
	TYPE_ENUM,
	TYPE_STRUCT, /* classes and tuples, too */
	TYPE_UNION,  /* of its members one is there; Rust's enums with data, too */
	TYPE_ARRAY,
	TYPE_ALIAS, /* a typedef */
};

struct type {
	enum type_kind kind;
	struct str_id name;   /* "struct buf", "ns::node<int>", "char *"; 0: anonymous */
	uint64_t size;	      /* bytes; 0: not known, or empty */
	struct type_id inner; /* of an array's elements; what an alias stands for */
	uint64_t n_elements;  /* of an array; 0: not known */
	uint32_t first_member, n_members;
};

struct type_member {
	struct str_id name; /* 0: anonymous, its own members take its place */
	struct type_id type;
	uint64_t offset; /* bytes from the start of the struct to the first byte with a bit of it */
	uint64_t size;	 /* bytes with a bit of it; 0: not known, or empty */
	uint8_t bit_offset, bit_size; /* in these bytes, from the lowest bit; size 0: all bits */
	bool is_base;		      /* the part that a base class is */
};

/* Set up with types_init(). Not for use by two threads at once, but to look at. */
struct types {
	struct strings *strings; /* borrowed */
	VEC_OF(struct type) list;
	VEC_OF(struct type_member) members;
	struct tuples keys;  /* properties of a type → id - 1 */
	struct tuples lists; /* lists of members, linked: (list before, member) → list */
};

void types_init(struct types *, struct strings *);
void types_release(struct types *);

/*
 * The id of the type with these members, at most 2^24 of them; added if it is new. Ignores
 * first_member and n_members of the type.
 */
struct type_id types_add(struct types *, const struct type *, const struct type_member *members,
			 size_t n_members);

/* Adds a type of another table. `map`: id in `from` → id here, a cache; zeroed at first. */
struct type_id types_copy(struct types *, const struct types *from, struct type_id,
			  struct type_id *map);

static inline const struct type *types_get(const struct types *t, struct type_id id)
{
	return &t->list.items[id.v];
}

static inline const struct type_member *types_members(const struct types *t, struct type_id id)
{
	return t->members.items + t->list.items[id.v].first_member;
}

/* What aliases stand for in the end. */
struct type_id types_plain(const struct types *, struct type_id);

/* Appends "struct buf", "uint64_t [4][8]", "struct {…}", "?". */
void types_name(const struct types *, struct type_id, struct text *);

/* A part of a type that is not cut further: a member that is no struct, union or array. */
struct type_leaf {
	uint64_t offset; /* from the start of the whole type */
	uint64_t size;
	struct type_id type;
	uint8_t bit_offset, bit_size; /* of bit-fields; else size 0 */
};

/*
 * Appends the path to the bytes [offset, offset + size) of a type: "reader1", "lock.owner",
 * "[3].x". Where members share the bytes all are listed, as "{a,b}"; bytes of several members
 * are "first..last"; bytes of none are "(padding)". Fills `out`, unless NULL, with the part
 * they lie in: the innermost struct if there is no single member. False, with nothing
 * appended, if the type has no parts or the bytes lie outside of it.
 */
bool types_path(const struct types *, struct type_id, uint64_t offset, uint64_t size, struct text *,
		struct type_leaf *out);

#endif
