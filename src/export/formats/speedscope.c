/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file for speedscope: https://www.speedscope.app/file-format-schema.json, with a sampled profile for each
 * event of each thread. The frames stand behind the profiles, which a reader of json does not mind.
 */

#include "export/formats/frames.h"
#include "table/json_string.h"

struct speedscope {
	struct profile *profile;
	struct text *out;
	struct frame_numbers frames;
	uint32_t n_profiles, heaviest;
	uint64_t most; /* weight of the heaviest profile of the first event */
};

static enum stack_value value_of(const struct profile *p, uint64_t event)
{
	return p->options->value != NULL ? p->value : stacks_weight(p->stacks, event);
}

/* Frames are listed from the outermost on. */
static void put_frames(struct speedscope *s, const struct stack *stack)
{
	VEC_OF(uint32_t) numbers = { 0 };
	struct stack_walk walk;
	struct stack_frame f;

	for (stack_walk_init(&walk, s->profile->stacks, stack); stack_walk_next(&walk, &f);)
		*vec_add(&numbers) = frame_numbers_add(&s->frames, &f);
	text_char(s->out, '[');
	for (size_t i = numbers.n; i-- > 0;) {
		text_u64(s->out, numbers.items[i]);
		text_char(s->out, i > 0 ? ',' : ']');
	}
	vec_release(&numbers);
}

static void put_profile_name(struct speedscope *s, const struct stack *of, enum stack_value value)
{
	const struct profile *p = s->profile;
	const struct process *process = timeline_process(p->session->timeline, of->process);
	struct text name = { 0 };

	profile_put_value_name(p, of->event, value, &name);
	text_str(&name, ": ");
	text_str(&name, of->tid == DIM_ABSENT ? stacks_process_name(p->stacks, of->process)
					      : stacks_thread_name(p->stacks, of->tid));
	if (of->process != 0)
		text_format(&name, " %d", (int32_t)process->pid);
	if (of->tid != DIM_ABSENT)
		text_format(&name, "/%d", (int32_t)of->tid);
	text_char(&name, '\0');
	json_put_string(s->out, name.bytes);
	text_release(&name);
}

/*
 * The profile of the thread whose stacks begin at *at; it goes through them twice. speedscope has units of time and bytes
 * only: what else is counted stands in the profile's name.
 */
static void put_profile(struct speedscope *s, uint64_t *at, const struct stack *first)
{
	const struct stacks *stacks = s->profile->stacks;
	enum stack_value value = value_of(s->profile, first->event);
	bool is_time = stacks_quantity(stacks, first->event, value) == STACK_TIME;
	struct stack stack;
	uint64_t total = 0;
	bool is_first = true;
	uint64_t end;

	text_str(s->out, s->n_profiles > 0 ? ",\n{\"type\":\"sampled\",\"name\":"
					   : "\n{\"type\":\"sampled\",\"name\":");
	put_profile_name(s, first, value);
	text_format(s->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		    is_time ? "nanoseconds" : "none");
	for (uint64_t i = end = *at;
	     stacks_next(stacks, &i, &stack) && stack_is_of_thread(&stack, first); end = i) {
		if (stack.values[value] == 0)
			continue;
		text_str(s->out, is_first ? "\n" : ",\n");
		is_first = false;
		put_frames(s, &stack);
		profile_writer_step(s->profile->out);
	}
	text_str(s->out, "],\n\"weights\":[");
	is_first = true;
	while (*at < end) {
		stacks_next(stacks, at, &stack);
		if (stack.values[value] == 0)
			continue;
		total += stack.values[value];
		if (!is_first)
			text_char(s->out, ',');
		is_first = false;
		text_u64(s->out, stack.values[value]);
		profile_writer_step(s->profile->out);
	}
	text_format(s->out, "],\"endValue\":%llu}", (unsigned long long)total);
	if (first->event == s->profile->event && total > s->most) {
		s->most = total;
		s->heaviest = s->n_profiles;
	}
	s->n_profiles++;
}

static void put_frame_table(struct speedscope *s)
{
	for (size_t i = 0; i < s->frames.list.n; i++) {
		const struct stack_frame *f = &s->frames.list.items[i];

		text_str(s->out, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
		put_json_frame_name(s->profile, f, s->out);
		if (f->file != NULL) {
			text_str(s->out, ",\"file\":");
			json_put_string(s->out, f->file);
		}
		text_char(s->out, '}');
		profile_writer_step(s->profile->out);
	}
}

static void put_caveat(struct profile *p, const char *caveat)
{
	struct speedscope *s = p->format_state;

	text_str(s->out, "; ");
	text_str(s->out, caveat);
}

static int speedscope_write(struct profile *profile, struct err *err)
{
	struct speedscope s = { .profile = profile, .out = &profile->out->text };
	struct stack stack;

	(void)err;
	frame_numbers_init(&s.frames);
	profile->format_state = &s;
	text_str(s.out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			"\"exporter\":\"cyclops\",\"name\":\"cyclops");
	profile_each_caveat(profile, put_caveat);
	text_str(s.out, "\",\n\"profiles\":[");
	for (uint64_t at = 0, next = 0; stacks_next(profile->stacks, &next, &stack); next = at)
		put_profile(&s, &at, &stack);
	text_format(s.out, "],\n\"activeProfileIndex\":%u,\n\"shared\":{\"frames\":[", s.heaviest);
	put_frame_table(&s);
	text_str(s.out, "]}}\n");
	frame_numbers_release(&s.frames);
	return 0;
}

const struct profile_format profile_speedscope = {
	.name = "speedscope",
	.meaning = "for speedscope.app: a profile for each event of each thread",
	.has_events = true,
	.by_thread = true,
	.depth = SYMBOLS_LINES,
	.write = speedscope_write,
};
