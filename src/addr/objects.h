/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects by data address: the variables on accessed pages, and the kind of memory elsewhere.
 * Constant once made, so workers share it.
 */
#ifndef CYCLOPS_ADDR_OBJECTS_H
#define CYCLOPS_ADDR_OBJECTS_H

#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "data/data_names.h"

struct addr_huge;

/* A variable, all objects of a type, or all memory of a kind (heap …) or module. */
struct addr_object {
	enum data_kind kind;
	bool is_by_code;	/* found by the code that accesses it, not by address */
	bool is_by_type;	/* all objects of one type; `name` is the type's */
	struct str_id function; /* of a local variable: its function */
	struct module_id module;
	struct str_id name;	/* in symbols_strings(); 0: none */
	struct type_id type;	/* of the variable */
	struct type_id element; /* of the elements if it is an array, else `type` */
	uint64_t size;		/* bytes; 0: not known */
	uint64_t element_size;	/* offsets are modulo this; 0: offsets are not recorded */
	struct str_id file;	/* of the declaration; 0: not known */
	uint32_t line;
};

/* The bytes [first, last] of a process belong to an object. */
struct addr_range {
	uint32_t process;
	uint64_t first, last;
	uint32_t object;
};

struct addr_objects {
	struct session *session;
	VEC_OF(struct addr_object) list;     /* by number */
	VEC_OF(struct addr_range) variables; /* sorted by process and address */
	VEC_OF(struct addr_range) pages;     /* sorted; for addresses that no variable has */
	uint32_t *of_page;		     /* the same by group of the pages: its object */
	struct tuples keys;		     /* properties of an object → its number */
};

/*
 * Is it memory without variables (heap, stack …)? Only code that accesses it can name its objects.
 */
static inline bool addr_object_is_memory(const struct addr_object *object)
{
	return object->name.v == 0 && object->kind != DATA_STATIC;
}

/* The number of the object with these properties. Adds it if it is new. */
uint32_t addr_objects_add(struct addr_objects *, const struct addr_object *);

/* The object of a name. `module` is 0 if the name comes from code. */
struct addr_object addr_object_of(const struct addr_objects *, const struct data_name *);

/* Looks up the objects on the pages that are in these huge pages. */
void addr_objects_init(struct addr_objects *, struct session *, const struct addr_huge *);
void addr_objects_release(struct addr_objects *);

/*
 * The number of the object at an address of a process (or of ADDR_KERNEL). *out_offset is the
 * offset in its element. UINT32_MAX: no record of the scan by pages was on this page.
 */
uint32_t addr_objects_find(const struct addr_objects *, uint32_t process, uint64_t address,
			   uint64_t *out_offset);

/* Appends its name: "buf1", "heap: struct node", "stack: local of work", "[heap]", "libc.so.6". */
void addr_object_name(const struct addr_objects *, const struct addr_object *, struct text *);

#endif
