/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to lay out data that threads contend for: which members of a struct are used by whom,
 * which of them must not share a cache line, and what to change so that they do not.
 */
#ifndef CYCLOPS_C2C_FIX_LAYOUT_H
#define CYCLOPS_C2C_FIX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/kind.h"
#include "base/text.h"
#include "base/vec.h"
#include "dwarf/types.h"
#include "table/table.h"

/* What one thread did to some bytes of an object. */
struct layout_access {
	uint64_t offset; /* from the object's start */
	uint32_t size;	 /* bytes; 0: not known, the first at least */
	uint32_t thread;
	struct memory_counts counts; /* sampled */
	bool is_atomic;
	bool is_outside; /* on another line than the question is about: it says what members are
			    used for, not which part of the object it is about */
};

/* An object, or part of one, and what was seen of it. All borrowed. */
struct layout_question {
	const struct types *types;
	struct type_id type; /* of the object; 0: not known, then offsets are all there is */
	const char *object;  /* its name: "buf1" */
	uint64_t n_elements; /* so many of the type stand side by side; 0: it is one object */
	bool is_of_many;     /* it stands for objects at other addresses, too */
	bool has_roles;	     /* threads are numbers of what they do in each of these: A, B … */
	uint64_t address;    /* where it starts, in the process */
	uint64_t size;	     /* 0: not known */
	uint64_t line_bytes; /* a power of two */
	bool is_managed;     /* by a collector: the source cannot say where it stands */
	bool is_allocated;   /* while the program runs: what type it has does not align it */
	const struct layout_access *accesses;
	size_t n;
};

/* One thread's part in a field. */
struct layout_use {
	uint32_t thread;
	struct memory_counts counts;
};

/* What threads do to a field, or to some of them together: a vector, by thread. */
struct layout_uses {
	struct layout_use *items;
	size_t n, cap;
};

/* The thread's part, which is added if there is none yet; valid until the next one is. */
struct layout_use *layout_use_of(struct layout_uses *, uint32_t thread);

/* A member, an element, or some bytes. */
struct layout_field {
	struct str_id name;    /* in `strings` of the types; 0: see layout_field_name() */
	struct type_id type;   /* 0: not known */
	uint64_t offset, size; /* from the object's start */
	uint64_t index;	       /* of an element */
	struct layout_uses uses;
	VEC_OF(uint64_t) lines;	     /* where it was accessed, by number */
	struct memory_counts counts; /* the sum of `uses` */
	double waits_alone; /* accesses that would find its line gone if it had one alone */
	bool is_atomic;	    /* accessed as locks and counters are */
	bool is_bits;	    /* a bit-field */
	bool is_several; /* bit-fields and such, in the same bytes: the name is that of the first */
	uint32_t
		group; /* which fields may share a line with it; LAYOUT_UNUSED: it was not accessed */
};

#define LAYOUT_UNUSED UINT32_MAX

/* What the fields are. */
enum layout_body {
	LAYOUT_BYTES,	 /* nothing is known of the type */
	LAYOUT_MEMBERS,	 /* all members of a struct, in order */
	LAYOUT_ELEMENTS, /* those elements of an array that were accessed */
};

/* What to do, as far as the accesses say. */
enum layout_advice {
	LAYOUT_KEEP,	/* nothing: no line is used in ways that conflict */
	LAYOUT_ALIGN,	/* members stand in the right order: begin new lines between them */
	LAYOUT_REORDER, /* members of different threads take turns: bring them together first */
	LAYOUT_SPREAD,	/* elements belong to different threads: a line for each */
	LAYOUT_PAD,	/* the same for bytes without names */
};

/* The answer. */
struct layout {
	struct layout_question question;
	struct layout_access *own_accesses; /* of the question, if they are not the asker's */
	bool is_within;			    /* an element of an array that is asked about, too */
	enum layout_body body;
	struct type_id type;	/* of the struct or array that the fields are of; 0: it has none */
	struct type_id element; /* of LAYOUT_ELEMENTS */
	uint64_t start;		/* where that stands in the object */
	uint64_t size;
	struct text path;		    /* how to get there: "[3].stats", or empty */
	VEC_OF(struct layout_field) fields; /* by offset */
	VEC_OF(uint32_t) used;		    /* numbers of those that were accessed */
	uint32_t n_groups;
	enum layout_advice advice;
	uint64_t new_size; /* of the struct or array with the advice followed; 0: not known */
};

/* Works it out. `question` and what it points to must live as long. */
void layout_init(struct layout *, const struct layout_question *);
void layout_release(struct layout *);

/* The same about one element of an array, which must live as long: the others are outside then. */
void layout_init_within(struct layout *, const struct layout *array,
			const struct layout_field *element);

/* The number of the cache line that an offset from the object's start is in. */
uint64_t layout_line(const struct layout *, uint64_t offset);

/*
 * What of a field is on a line that it reaches, with the accesses there; false if there were
 * none. To be released with layout_field_release().
 */
bool layout_part(const struct layout *, const struct layout_field *, uint64_t line,
		 struct layout_field *out);

void layout_field_release(struct layout_field *);

/* Is it written on the lines in question, by or beside another thread that uses it there? */
bool layout_field_is_shared(const struct layout *, const struct layout_field *);

/* Appends what a thread is called: "5001", or its role: "A". */
void layout_thread(const struct layout *, uint32_t thread, struct text *);

/* Appends the field's name: "reader1", "[3]", "+0x10". */
void layout_field_name(const struct layout *, const struct layout_field *, struct text *);

/*
 * Appends what to change: sentences, with "; " between them; nothing if there is nothing to
 * change. Fields that several threads write are spoken of, too: no padding helps them.
 */
void layout_fix(const struct layout *, struct text *);

/* Where fields `i` would stand if the advice were followed; of members only. */
void layout_move(const struct layout *, uint64_t *out_offsets, uint64_t *out_size);

/*
 * Appends the struct as it is, a line of text for each field with its cache lines, and who
 * reads and writes it; what nobody used is drawn together. At most `width` columns.
 */
void layout_draw(const struct layout *, size_t width, struct text *);

/* The columns of layout_rows(). */
extern const struct column layout_columns[];
extern const size_t n_layout_columns;

/*
 * Appends a row for each field and thread to a table with these columns; of the numbers of `line`
 * and `finding`, if that is not 0.
 */
void layout_rows(const struct layout *, uint64_t line, uint64_t finding, struct table *);

#endif
