/* SPDX-License-Identifier: Apache-2.0 */
#include "export/formats/frames.h"

#include "table/json_string.h"

enum { FRAME_WORDS = 3 };

void frame_numbers_init(struct frame_numbers *f)
{
	*f = (struct frame_numbers){ 0 };
	tuples_init(&f->keys, FRAME_WORDS);
}

void frame_numbers_release(struct frame_numbers *f)
{
	tuples_release(&f->keys);
	vec_release(&f->list);
}

uint32_t frame_numbers_add(struct frame_numbers *f, const struct stack_frame *frame)
{
	const uint64_t key[FRAME_WORDS] = { frame->function_id.v, frame->module.v,
					    frame->is_inlined };
	uint32_t number = tuples_add(&f->keys, key);

	if (number == f->list.n)
		*vec_add(&f->list) = *frame;
	return number;
}

void put_json_frame_name(const struct profile *p, const struct stack_frame *f, struct text *out)
{
	struct text name = { 0 };

	profile_put_frame_name(p, f, &name);
	if (f->is_inlined)
		text_str(&name, " (inlined)");
	text_char(&name, '\0');
	json_put_string(out, name.bytes);
	text_release(&name);
}
