/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a data address. */
#ifndef CYCLOPS_DATA_DATA_NAME_H
#define CYCLOPS_DATA_DATA_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "process/module.h"
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
	struct str_id path; /* the member: "reader1[3].x", in `strings` of the names; 0: none */
	/*
	 * So many objects of this type were seen side by side from object_address on, as in an
	 * array. object_size and type are those of each. 0: a single object.
	 */
	uint64_t n_elements;
	struct str_id file; /* where it is declared */
	uint32_t line;
	struct type_leaf
		leaf; /* of the member, offset from the object's start; valid with a path */
};

#endif
