/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for functions, in order of their first use: tables of frames that come behind the stacks. */
#ifndef CYCLOPS_EXPORT_FORMATS_FRAMES_H
#define CYCLOPS_EXPORT_FORMATS_FRAMES_H

#include "base/tuples.h"
#include "base/vec.h"
#include "export/formats/profile.h"

/* All frames of a function in a module have one number; what is inlined is told apart. */
struct frame_numbers {
	struct tuples keys;
	VEC_OF(struct stack_frame) list; /* by number: the first of it */
};

void frame_numbers_init(struct frame_numbers *);
void frame_numbers_release(struct frame_numbers *);
uint32_t frame_numbers_add(struct frame_numbers *, const struct stack_frame *);

/* Appends profile_put_frame_name() as a string of json; "inlined" is said behind it. */
void put_json_frame_name(const struct profile *, const struct stack_frame *, struct text *);

#endif
