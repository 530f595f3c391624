/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for data addresses: variable, type and member; or the kind of memory (stack, heap …).
 * Objects without a symbol are named by the code that accesses them: the struct behind a pointer, a
 * local variable. Only what side-band records and debug information prove is claimed.
 */
#ifndef CYCLOPS_DATA_DATA_NAMES_H
#define CYCLOPS_DATA_DATA_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/text.h"
#include "batch/batch.h"
#include "data/data_name.h"
#include "data/shared_names.h"
#include "session/session.h"
#include "variables/data.h"

/* The note for captures in which no record has a data address. */
extern const char no_data_addresses[];

/* A data address to be named. */
struct data_query {
	uint32_t process; /* index in the timeline; 0: not known */
	uint32_t size;	  /* of the access; 0: not known */
	uint64_t time_ns; /* of data_time() */
	uint64_t address;
	struct place code; /* an instruction that accesses it; module 0: none is known */
	uint32_t tid;	   /* the only thread that accesses it; 0: several, or not known */
};

/* Zeroed is empty. */
struct data_names {
	struct session *session;
	struct strings strings; /* of the paths */
	struct shared_names names;
	size_t n;
};

/* Names `n` queries. The same for any number of workers. */
void data_names_init(struct data_names *, struct session *, const struct data_query *, size_t n);

/* The same, where their order by process and address is known: numbers of all queries. */
void data_names_init_ordered(struct data_names *, struct session *, const struct data_query *,
			     size_t n, const uint32_t *order);
void data_names_release(struct data_names *);

/* The name of a query, by its number; valid until any is set or moved. */
static inline const struct data_name *data_names_get(const struct data_names *names, size_t number)
{
	return shared_names_get(&names->names, number);
}

/* Is any of them an object, not only memory? */
bool data_names_has_objects(const struct data_names *);

void data_names_set(struct data_names *, size_t number, const struct data_name *);

/*
 * Do mappings alone name data, as nothing else is known? Then no code has a function, either. To be asked when all places have
 * names.
 */
bool data_names_are_of_mappings(const struct session *);

/* If so: has a page the same name from that time on? True only if that is certain. Loads nothing, so threads may ask at the same time. */
bool data_page_has_one_name(const struct session *, uint32_t process, uint64_t address,
			    uint64_t from_ns);

/* Renames an address as a part of another name's object, which contains it. Of the query, address and size count. */
void data_names_move_into(struct data_names *, size_t number, const struct data_query *,
			  const struct data_name *object);

/* The time for a query about a row's address. `is_by_position` is timeline_is_by_position(). */
static inline uint64_t data_time(bool is_by_position, const struct batch *b, size_t row)
{
	if (is_by_position)
		return b->position[row];
	return b->has[row] & HAS_TIME ? b->time_ns[row] : TIMELINE_NO_TIME;
}

/*
 * Appends what the query's address is, for people: "buf1.reader1", "table+0x40", "[heap]",
 * "counter (thread-local)".
 */
void data_name_text(const struct data_names *, const struct data_query *, const struct data_name *,
		    struct text *);

/* The same without offset and member. */
void data_object_text(const struct data_names *, const struct data_name *, struct text *);

/* Appends what names by the session's heap map rest on; nothing if it has none. */
void data_heap_text(const struct session *, struct text *);

/* Appends what memory without a variable is called: "[heap]", "libc.so.6", "[anonymous]". */
void data_memory_text(const struct session *, enum data_kind, struct module_id, struct text *);

#endif
