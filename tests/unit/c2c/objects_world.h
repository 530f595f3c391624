/* SPDX-License-Identifier: Apache-2.0 */
/* A session with a few types, and accesses to objects of them on contended lines. */
#ifndef CYCLOPS_TESTS_C2C_OBJECTS_WORLD_H
#define CYCLOPS_TESTS_C2C_OBJECTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../session/fixture.h"
#include "c2c/verdict/objects.h"

enum { LINE_BYTES = 64, LONG = 8, MAX_LINES = 6, MAX_PLACES = 4 };

/* struct outer { long head; struct inner { long a, b; } in; long tail; }; large: a line. */
enum what { NOTHING, INNER, OUTER, OTHER, LARGE, N_WHATS };

extern const uint64_t world_sizes[N_WHATS];

struct world {
	struct session session;
	struct c2c sharing;
	struct c2c_lines lines;
	struct c2c_accesses seen;
	struct c2c_instruction instructions[MAX_PLACES];
	struct c2c_objects objects;
	struct type_id types[N_WHATS];
	struct str_id names[N_WHATS]; /* of the types */
};

void world_init(struct world *);
void world_release(struct world *);

/* What code knows of an access, the object's start and the address accessed. */
struct known {
	uint32_t space;
	enum what what; /* NOTHING: no name */
	uint64_t start, address;
	enum data_kind kind;
};

/* Adds an access to a subject, and what code knows of it. */
void world_add_name(struct world *, const struct known *, uint32_t subject);
struct data_name world_name_at(const struct world *, size_t number);

/* A line of an object: one thread stores at its beginning, another loads at `offset`, and waits. */
struct contended_line {
	enum what what;
	uint64_t start;	    /* of the object */
	uint64_t in_object; /* where its line is */
	uint16_t offset;
	unsigned n_stores;
	int64_t excess;
	uint64_t n_elements; /* not 0: the object is an array */
	uint32_t first_tid;  /* its threads are the next two */
	uint32_t places[2];  /* of the store, and of the load */
	enum what beside; /* not NOTHING: the load is of the object behind the first, such a one */
	bool is_variable; /* with a name of its own */
};

/* Adds up to MAX_LINES of them, the last has excess 0, with their verdicts. */
void world_add_lines(struct world *, const struct contended_line *);

#endif
