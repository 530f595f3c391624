/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for data addresses: which variable, of which type, and which member of it was
 * accessed; stack, heap and other memory said as such. What has no name of its own is known by
 * the code that accesses it: the struct that a pointer points to, the variable in a frame. Only
 * what side-band records and debug information prove is claimed.
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
	DATA_STACK,	/* the first thread's, or what the recorder names so */
	DATA_HEAP,	/* what the kernel names so: the area of brk() */
	DATA_ANONYMOUS, /* mapped without a file: large allocations, other threads' stacks */
	DATA_FILE,	/* a mapped file */
	DATA_KERNEL,
	DATA_THREAD, /* a thread's copy of thread-local variables */
	DATA_N_KINDS,
};

/* "static", "stack" …; by enum data_kind. */
extern const char *const data_kind_names[DATA_N_KINDS];

/* What to say where no record has a data address, so that nothing can be said of data. */
extern const char no_data_addresses[];

/* What is asked. */
struct data_query {
	uint32_t process; /* index in the timeline; 0: not known */
	uint64_t time_ns; /* of data_time() */
	uint64_t address;
	uint32_t size;	   /* of the access; 0: not known */
	struct place code; /* of an instruction that accesses it; module 0: none is known */
	uint32_t tid;	   /* the only thread that does; 0: there are several, or it is not known */
};

/* What is answered. */
struct data_name {
	enum data_kind kind;
	struct module_id module; /* whose memory it is; 0 if not known */
	uint64_t file_address;	 /* of DATA_STATIC: the address in the module's own file */
	/*
	 * In symbols_strings(): a variable; or the type, if the object has no name and the code
	 * that accesses it tells what it is; 0 if neither is known.
	 */
	struct str_id object;
	bool is_by_type;	 /* it is the type */
	bool is_by_code;	 /* it is known by the query's own instruction */
	uint32_t tid;		 /* of DATA_THREAD: whose copy it is; 0 if not known */
	struct str_id function;	 /* of DATA_STACK: whose frame it is in; 0 if not known */
	uint64_t object_address; /* where it starts, in the process */
	uint64_t object_size;	 /* 0 if not known */
	struct type_id type;	 /* of the object, in symbols_types(); 0 if not known */
	/*
	 * Such objects stand side by side, as in an array, from object_address on: so many were
	 * seen. Their size and type are those of each. 0: it is one object.
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

/* Answers `n` queries; memory for them only. The same for any number of workers. */
void data_names_init(struct data_names *, struct session *, const struct data_query *, size_t n);
void data_names_release(struct data_names *);

/*
 * Makes the query's address a part of another name's object, which has it. The object may be known
 * by other code.
 */
void data_names_move_into(struct data_names *, size_t number, const struct data_query *,
			  const struct data_name *object);

/* The time of a row for a query. */
uint64_t data_time(const struct session *, const struct batch *, size_t row);

/*
 * Appends what the query's address is, for people: "buf1.reader1", "table+0x40", "[heap]",
 * "counter (thread-local)".
 */
void data_name_text(const struct data_names *, const struct data_query *, const struct data_name *,
		    struct text *);

/* The same without offset and member: what such addresses have in common. */
void data_object_text(const struct data_names *, const struct data_name *, struct text *);

/* Appends what memory without a variable is called: "[heap]", "libc.so.6", "[anonymous]". */
void data_memory_text(const struct session *, enum data_kind, struct module_id, struct text *);

#endif
