/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of shared lines are called in the program, and how to keep threads apart. */
#ifndef CYCLOPS_C2C_FIX_LABELS_H
#define CYCLOPS_C2C_FIX_LABELS_H

#include "base/arena.h"
#include "c2c/accesses/result.h"
#include "c2c/verdict/cause.h"
#include "table/table.h"

/* What is known of an object. */
struct c2c_object_label {
	const char *type;   /* "struct buf"; NULL: not known */
	uint64_t bytes;	    /* 0: not known */
	const char *memory; /* "heap", "stack" … */
	const char *frame;  /* on a stack: the function whose frame it is in; NULL: not known */
	uint32_t tid;	    /* thread-local: the thread whose copy it is; 0: not known */
};

/* Texts live as long as this. Any of them may be NULL: not known. */
struct c2c_labels {
	struct arena memory;
	const char **names;   /* by subject: "buf1", of several "buf1 and buf2" */
	const char **objects; /* the same with what it is: "buf1 (struct buf, 64 bytes)" */
	struct c2c_object_label *details; /* by subject: of its only object; empty: of several */
	const char **drawings;	    /* by subject: the object with its lines, one or more lines */
	const char **fixes;	    /* by subject: what to change */
	bool *moves_data;	    /* by subject: the fix is another layout */
	const char **fields;	    /* by access: "buf1.reader1", "table[3].lock" */
	const char **fields_of_any; /* the same of any element: "table[].lock" */
	const struct c2c_causes *causes;
	struct table layouts; /* the drawings as rows: "layouts" */
};

/* Looks up all of them. Borrows the causes. */
void c2c_labels_init(struct c2c_labels *, const struct c2c *);

/*
 * The same for causes with a line that is shown, and for the first contended one. Of the others it looks up nothing, and
 * there are no `layouts`.
 */
void c2c_labels_init_shown(struct c2c_labels *, const struct c2c *);

/* Looks up `names` alone; all else is not to be read. For that no layouts are worked out, and no causes have to be there. */
void c2c_labels_init_names(struct c2c_labels *, const struct c2c *);
void c2c_labels_release(struct c2c_labels *);

#endif
