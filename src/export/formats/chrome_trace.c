/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace for Perfetto and chrome://tracing, in Chrome's "Trace Event Format": for each event of each thread a
 * counter over slices of time, of SPE by data source; and the call stacks as its samples and stack frames, which
 * chrome://tracing shows and Perfetto leaves out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/formats/frames.h"
#include "export/formats/path_numbers.h"
#include "keys/keys.h"
#include "table/json_string.h"

static const double ns_in_us = 1e3;

struct chrome_trace {
	struct profile *profile;
	struct text *out;
	struct frame_numbers frames;
	struct path_numbers nodes; /* of frames; node 0 is called 1 */
	bool has_events;
};

static enum stack_value chrome_value(const struct profile *p, uint64_t event)
{
	return p->options->value != NULL ? p->value : stacks_weight(p->stacks, event);
}

static int32_t pid_of(const struct chrome_trace *c, const struct stack *stack)
{
	const struct process *p = timeline_process(c->profile->session->timeline, stack->process);

	return stack->process == 0 ? -1 : (int32_t)p->pid;
}

static void begin_event(struct chrome_trace *c, const struct stack *of, const char *phase)
{
	text_format(c->out, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,", c->has_events ? ",\n" : "\n",
		    phase, pid_of(c, of), of->tid == DIM_ABSENT ? -1 : (int32_t)of->tid);
	c->has_events = true;
	profile_writer_step(c->profile->out);
}

static void put_names(struct chrome_trace *c, const struct stack *of)
{
	begin_event(c, of, "M");
	text_str(c->out, "\"name\":\"process_name\",\"args\":{\"name\":");
	json_put_string(c->out, stacks_process_name(c->profile->stacks, of->process));
	text_str(c->out, "}}");
	begin_event(c, of, "M");
	text_str(c->out, "\"name\":\"thread_name\",\"args\":{\"name\":");
	json_put_string(c->out, stacks_thread_name(c->profile->stacks, of->tid));
	text_str(c->out, "}}");
}

static double slice_us(const struct chrome_trace *c, uint64_t slice)
{
	const struct slices *s = &c->profile->session->slices;

	return slice == s->n ? slice_us(c, slice - 1) + (double)s->width_ns / ns_in_us
			     : (double)slices_start_ns(s, (uint32_t)slice) / ns_in_us;
}

/* A point of a counter: the weights of a slice by source. */
static void put_counter(struct chrome_trace *c, const struct stack *of, uint64_t slice,
			const struct tuples *sources, const uint64_t *weights)
{
	const struct profile *p = c->profile;
	struct text name = { 0 };

	profile_put_value_name(p, of->event, chrome_value(p, of->event), &name);
	text_format(&name, ", thread %d", of->tid == DIM_ABSENT ? -1 : (int32_t)of->tid);
	text_char(&name, '\0');
	begin_event(c, of, "C");
	text_str(c->out, "\"name\":");
	json_put_string(c->out, name.bytes);
	text_format(c->out, ",\"ts\":%.3f,\"args\":{", slice_us(c, slice));
	for (uint32_t i = 0; i < sources->n; i++) {
		const struct cpu_source *source = key_source(tuples_get(sources, i)[0]);

		text_str(c->out, i > 0 ? "," : "");
		json_put_string(c->out, source != NULL ? source->name : "other");
		text_char(c->out, ':');
		text_u64(c->out, weights[i]);
	}
	text_str(c->out, "}}");
	text_release(&name);
}

static uint64_t source_word(const struct stack *stack)
{
	return key_source(stack->source) != NULL ? stack->source : DIM_ABSENT;
}

/* The counter of the thread whose stacks are [at, end): each slice has a point, also if it is 0. */
static void put_counters(struct chrome_trace *c, uint64_t at, uint64_t end, const struct stack *of)
{
	const struct stacks *s = c->profile->stacks;
	enum stack_value value = chrome_value(c->profile, of->event);
	uint32_t n = s->session->slices.n;
	struct tuples sources;
	struct stack stack;
	uint64_t *weights;

	tuples_init(&sources, 1);
	for (size_t i = at; i < end;) {
		stacks_next(s, &i, &stack);
		tuples_add(&sources, &(uint64_t){ source_word(&stack) });
	}
	weights = mem_zalloc(((size_t)n + 1) * sources.n, sizeof(*weights));
	while (at < end) {
		stacks_next(s, &at, &stack);
		if (stack.slice < n)
			weights[stack.slice * sources.n +
				tuples_add(&sources, &(uint64_t){ source_word(&stack) })] +=
				stack.values[value];
	}
	for (uint32_t slice = 0; n > 0 && slice <= n; slice++)
		put_counter(c, of, slice, &sources, weights + (size_t)slice * sources.n);
	tuples_release(&sources);
	free(weights);
}

static void put_threads(struct chrome_trace *c)
{
	const struct stacks *s = c->profile->stacks;
	struct stack first, stack;

	for (uint64_t at = 0, next = 0; stacks_next(s, &next, &first); at = next) {
		for (uint64_t i = next;
		     stacks_next(s, &i, &stack) && stack_is_of_thread(&stack, &first);)
			next = i;
		put_names(c, &first);
		put_counters(c, at, next, &first);
	}
}

static void add_path(struct chrome_trace *c, const struct stack *stack)
{
	VEC_OF(uint32_t) frames = { 0 };
	struct stack_walk walk;
	struct stack_frame f;

	for (stack_walk_init(&walk, c->profile->stacks, stack); stack_walk_next(&walk, &f);)
		*vec_add(&frames) = frame_numbers_add(&c->frames, &f);
	path_numbers_add(&c->nodes, frames.items, frames.n);
	vec_release(&frames);
}

/* The next stack that weighs something. */
static bool next_sample(const struct chrome_trace *c, uint64_t *at, struct stack *out,
			uint64_t *out_weight)
{
	while (stacks_next(c->profile->stacks, at, out)) {
		*out_weight = out->values[chrome_value(c->profile, out->event)];
		if (*out_weight > 0)
			return true;
	}
	return false;
}

static void put_samples(struct chrome_trace *c)
{
	const struct profile *p = c->profile;
	uint64_t weight, sample = 0;
	struct text name = { 0 };
	bool is_first = true;
	struct stack stack;

	text_str(c->out, "],\n\"samples\":[");
	for (uint64_t at = 0; next_sample(c, &at, &stack, &weight);) {
		text_reset(&name);
		profile_put_value_name(p, stack.event, chrome_value(p, stack.event), &name);
		text_char(&name, '\0');
		text_format(c->out, "%s{\"tid\":%d,\"ts\":%.3f,\"name\":", is_first ? "\n" : ",\n",
			    stack.tid == DIM_ABSENT ? -1 : (int32_t)stack.tid,
			    stack.slice == DIM_ABSENT ? 0.0 : slice_us(c, stack.slice));
		json_put_string(c->out, name.bytes);
		text_format(c->out, ",\"sf\":\"%u\",\"weight\":%llu}",
			    path_numbers_of_sample(&c->nodes, &sample) + 1,
			    (unsigned long long)weight);
		is_first = false;
		profile_writer_step(c->profile->out);
	}
	text_release(&name);
}

static void put_stack_frames(struct chrome_trace *c)
{
	struct path_row node;

	text_str(c->out, "],\n\"stackFrames\":{");
	for (path_row_init(&node); path_numbers_next(&c->nodes, &node);) {
		const struct stack_frame *f = &c->frames.list.items[node.label];

		text_format(c->out, "%s\"%u\":{\"name\":", node.number > 0 ? ",\n" : "\n",
			    node.number + 1);
		put_json_frame_name(c->profile, f, c->out);
		text_str(c->out, ",\"category\":");
		json_put_string(c->out, names_module(c->profile->session, f->module));
		if (node.parent != PATH_NONE)
			text_format(c->out, ",\"parent\":\"%u\"", node.parent + 1);
		text_char(c->out, '}');
		profile_writer_step(c->profile->out);
	}
	path_row_release(&node);
}

static void put_caveat(struct profile *p, const char *caveat)
{
	struct chrome_trace *c = p->format_state;

	json_put_string(c->out, caveat);
	text_char(c->out, ',');
}

static int chrome_trace_write(struct profile *profile, struct err *err)
{
	struct chrome_trace c = { .profile = profile, .out = &profile->out->text };
	struct stack stack;
	uint64_t weight;
	int rc;

	frame_numbers_init(&c.frames);
	path_numbers_init(&c.nodes, true, profile->stacks->memory_bytes);
	profile->format_state = &c;
	for (uint64_t at = 0; next_sample(&c, &at, &stack, &weight);)
		add_path(&c, &stack);
	rc = path_numbers_finish(&c.nodes, err);
	if (rc == 0) {
		text_str(c.out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"caveats\":[");
		profile_each_caveat(profile, put_caveat);
		text_str(c.out, "\"counters are sums of slices of time\"]},\n\"traceEvents\":[");
		put_threads(&c);
		put_samples(&c);
		put_stack_frames(&c);
		text_str(c.out, "}}\n");
	}
	if (profile->session->slices.n == 0)
		profile_writer_note(profile->out, "nothing has a time: there are no counters");
	frame_numbers_release(&c.frames);
	path_numbers_release(&c.nodes);
	return rc;
}

const struct profile_format profile_chrome_trace = {
	.name = "chrome-trace",
	.meaning = "for Perfetto and chrome://tracing: threads and data sources over time",
	.has_events = true,
	.by_thread = true,
	.by_source = true,
	.by_slice = true,
	.n_slices = SLICES_MAX,
	.depth = SYMBOLS_INLINED,
	.write = chrome_trace_write,
};
