/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of a managed heap, such as that of a Java VM, which an agent wrote into a text file
 * (docs/man/cyclops-c2c.1, HEAP MAPS). Objects move when garbage is collected: a map is of one moment.
 */
#ifndef CYCLOPS_VARIABLES_HEAP_MAP_H
#define CYCLOPS_VARIABLES_HEAP_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dwarf/types.h"
#include "symbol/symbols.h"

struct heap_object {
	uint64_t address;
	uint32_t size;	     /* bytes, at least 1 */
	struct type_id type; /* in `types` of the map: a struct named as the class */
};

/* Zeroed is empty. */
struct heap_map {
	struct strings strings;
	struct types types;
	VEC_OF(struct heap_object) objects; /* by address; they do not overlap */
	uint32_t pid;			    /* whose heap it is; 0: not known */
	struct str_id time;		    /* when it was, as the map says; 0: not known */
};

/*
 * Reads the text of a map, or the file at a path; to be released also after an error. A line that
 * cannot be read is an error, as is a last line without its end: then the file is not whole.
 */
int heap_map_read(struct heap_map *, const char *text, size_t size, struct err *);
int heap_map_open(struct heap_map *, const char *path, struct err *);
void heap_map_release(struct heap_map *);

/* Is there a map, and may it be of this process? NULL is none. */
static inline bool heap_map_is_of(const struct heap_map *map, uint32_t pid)
{
	return map != NULL && (map->pid == 0 || map->pid == pid);
}

/* The object that has the byte at an address; NULL: none has. */
const struct heap_object *heap_map_find(const struct heap_map *, uint64_t address);

/* Bytes from an address to the end of the field or element there; 0: not known. */
uint64_t heap_map_room(const struct heap_map *, uint64_t address);

/*
 * The type of an object in symbols_types(), added if it is new. `types` is a cache, by id in the
 * map's types (map->types.list.n of them), zeroed at first.
 */
struct type_id symbols_heap_type(struct symbols *, const struct heap_map *,
				 const struct heap_object *, struct type_id *types);

#endif
