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
#include "session/session.h"
#include "variables/data.h"

enum data_kind {
	DATA_UNKNOWN,	/* nothing is known to be mapped there */
	DATA_STATIC,	/* memory of a program or library: its variables */
	DATA_STACK,	/* "[stack]": of the main thread; or found to be one, by its code */
	DATA_HEAP,	/* "[heap]": the area of brk() */
	DATA_ANONYMOUS, /* anonymous mappings: large allocations, stacks of threads */
	DATA_FILE,	/* a mapped file */
	DATA_KERNEL,
	DATA_THREAD, /* a thread's copy of thread-local variables */
	DATA_N_KINDS,
};

/* "static", "stack" …; by enum data_kind. */
extern const char *const data_kind_names[DATA_N_KINDS];

/* The note for captures in which no record has a data address. */
extern const char no_data_addresses[];

/* A data address to be named. */
struct data_query {
	uint32_t process; /* index in the timeline; 0: not known */
	uint64_t time_ns; /* of data_time() */
	uint64_t address;
	uint32_t size;	   /* of the access; 0: not known */
	struct place code; /* an instruction that accesses it; module 0: none is known */
	uint32_t tid;	   /* the only thread that accesses it; 0: several, or not known */
};

/* The name of a data address. */
struct data_name {
	enum data_kind kind;
	struct module_id module; /* whose memory it is; 0 if not known */
	uint64_t file_address;	 /* of DATA_STATIC: the address in the module's own file */
	struct str_id object;	 /* in symbols_strings(): variable, or type; 0: not known */
	bool is_by_type;	 /* `object` is the type: the object has no name */
	bool is_by_code;	 /* named by the query's own instruction */
	bool is_managed;	 /* named by the heap map of the session: it is at no fixed place */
	uint32_t tid;		 /* of DATA_THREAD: the thread whose copy it is; 0: not known */
	struct str_id function; /* of DATA_STACK: the function whose frame it is in; 0: not known */
	uint64_t object_address; /* where it starts, in the process */
	uint64_t object_size;	 /* 0 if not known */
	struct type_id type;	 /* of the object, in symbols_types(); 0 if not known */
	/*
	 * So many objects of this type were seen side by side from object_address on, as in an
	 * array. object_size and type are those of each. 0: a single object.
	 */
	uint64_t n_elements;
	struct str_id file; /* where it is declared */
	uint32_t line;
	struct str_id path; /* the member: "reader1[3].x", in `strings` of the names; 0: none */
	struct type_leaf
		leaf; /* of the member, offset from the object's start; valid with a path */
};

/* Zeroed is empty. */
struct data_names {
	struct session *session;
	struct strings strings; /* of the paths */
	struct data_name *list; /* by number of the query */
	size_t n;
};

/* Names `n` queries: list[i] is the name of queries[i]. The same for any number of workers. */
void data_names_init(struct data_names *, struct session *, const struct data_query *, size_t n);
void data_names_release(struct data_names *);

/* Renames an address as a part of another name's object, which contains it. */
void data_names_move_into(struct data_names *, size_t number, const struct data_query *,
			  const struct data_name *object);

/* The time for a query about a row's address. */
uint64_t data_time(const struct session *, const struct batch *, size_t row);

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
