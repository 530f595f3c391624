/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a capture by address: variables on the pages that were accessed, and for
 * other pages what kind of memory they are. Frozen once made; shared by workers.
 */
#ifndef CYCLOPS_ADDR_OBJECTS_H
#define CYCLOPS_ADDR_OBJECTS_H

#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "data/data_names.h"

struct addr;

/* A variable, all data of one type, or all memory of one kind or module. */
struct addr_object {
	enum data_kind kind;
	bool is_by_code;	/* known by the code that accesses it */
	bool is_by_type;	/* … as one of its type, which is the name */
	struct str_id function; /* of one in a frame: whose */
	struct module_id module;
	struct str_id name;	/* in symbols_strings(); 0: none */
	struct type_id type;	/* of the variable */
	struct type_id element; /* … or of the elements, if it is an array */
	uint64_t size;
	uint64_t element_size; /* offsets are folded to this; 0: they are not told apart */
	struct str_id file;
	uint32_t line;
};

/* Bytes first … last of a process that belong to an object. */
struct addr_range {
	uint32_t process;
	uint64_t first, last;
	uint32_t object;
};

struct addr_objects {
	struct session *session;
	VEC_OF(struct addr_object) list;     /* by number */
	VEC_OF(struct addr_range) variables; /* by process and address */
	VEC_OF(struct addr_range) pages;     /* the same */
	struct tuples keys;		     /* of objects, by number */
};

/* Whether it is memory that has no variables of its own, so that only code tells what is there. */
static inline bool addr_object_is_memory(const struct addr_object *object)
{
	return object->name.v == 0 && object->kind != DATA_STATIC;
}

/* The number of an object with these properties, which is added if need be. */
uint32_t addr_objects_add(struct addr_objects *, const struct addr_object *);

/* Describes what has a name; `module` is 0 if the code knows it. */
struct addr_object addr_object_of(const struct addr_objects *, const struct data_name *);

/* Makes the objects of the pages of a result with grain ADDR_PAGES. */
void addr_objects_init(struct addr_objects *, struct session *, const struct addr *pages);
void addr_objects_release(struct addr_objects *);

/*
 * The object at an address of a process (ADDR_KERNEL: of the kernel), with the offset in its
 * element. UINT32_MAX if the page is none of those it was made from.
 */
uint32_t addr_objects_find(const struct addr_objects *, uint32_t process, uint64_t address,
			   uint64_t *out_offset);

/* Appends "buf1", "heap: struct node", "stack: local of work", "[heap]", "libc.so.6". */
void addr_object_name(const struct addr_objects *, const struct addr_object *, struct text *);

#endif
