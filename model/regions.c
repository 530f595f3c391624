/* SPDX-License-Identifier: Apache-2.0 */
#include "model/regions.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "measure/mark.h"
#include "model/events.h"
#include "model/results.h"

enum { KEY_HANDLE, KEY_TID, KEY_NAME, KEY_PARENT, KEY_RECURSIVE, KEY_WORDS };

void regions_init(struct regions *r)
{
	*r = (struct regions){ 0 };
	strings_init(&r->names);
	tuples_init(&r->keys, KEY_WORDS);
}

void regions_release(struct regions *r)
{
	for (size_t i = 0; i < r->handles.n; i++) {
		vec_release(&r->handles.items[i].empty);
		free(r->handles.items[i].bias);
	}
	vec_release(&r->handles);
	vec_release(&r->paths);
	tuples_release(&r->keys);
	strings_release(&r->names);
}

void region_stacks_release(struct region_stacks *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		vec_release(&s->list.items[i].frames);
	vec_release(&s->list);
}

static void counts_subtract(struct region_counts *from, const struct region_counts *what)
{
	for (size_t i = 0; i < N_COUNTS; i++)
		from->counts.n[i] -= what->counts.n[i];
	from->cycle -= what->cycle;
}

static void counts_add_all(struct region_counts *to, const struct region_counts *what)
{
	for (size_t i = 0; i < N_COUNTS; i++)
		to->counts.n[i] += what->counts.n[i];
	to->cycle += what->cycle;
}

/* The newest handle of that number, or UINT32_MAX. */
static uint32_t find_handle(const struct regions *r, uint32_t pid, uint64_t number)
{
	for (uint32_t i = (uint32_t)r->handles.n; i-- > 0;)
		if (r->handles.items[i].pid == pid && r->handles.items[i].number == number)
			return i;
	return UINT32_MAX;
}

static struct region_stack *stack_of(struct region_stacks *s, uint32_t handle)
{
	struct region_stack *stack;

	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.items[i].handle == handle)
			return &s->list.items[i];
	stack = vec_add(&s->list);
	*stack = (struct region_stack){ .handle = handle };
	return stack;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* The medians of empty regions. */
static void find_bias(struct region_handle *h)
{
	size_t n = h->empty.n;
	uint64_t *values = n > 0 ? mem_zalloc(n, sizeof(*values)) : NULL;

	h->is_calibrating = false;
	if (n == 0)
		return;
	h->bias = mem_zalloc(n_modelled_events, sizeof(*h->bias));
	for (size_t event = 0; event <= n_modelled_events; event++) {
		for (size_t i = 0; i < n; i++)
			values[i] = event < n_modelled_events
					    ? modelled_event_sum(&modelled_events[event],
								 &h->empty.items[i].counts)
					    : h->empty.items[i].cycle;
		qsort(values, n, sizeof(*values), by_number);
		if (event < n_modelled_events)
			h->bias[event] = values[n / 2];
		else
			h->bias_cycles = values[n / 2];
	}
	free(values);
	vec_release(&h->empty);
}

/* Forgets what the handle's regions counted so far. */
static void forget(struct regions *r, uint32_t handle)
{
	r->handles.items[handle].epoch++;
	for (uint32_t i = 0; i < r->keys.n; i++)
		if (tuples_get(&r->keys, i)[KEY_HANDLE] == handle)
			r->paths.items[i] = (struct region_path){ 0 };
}

static void begin(struct regions *r, struct region_stack *stack, uint32_t tid,
		  const struct seen_mark *mark, const struct region_counts *now)
{
	size_t depth = stack->frames.n;
	uint64_t key[KEY_WORDS] = {
		[KEY_HANDLE] = stack->handle,
		[KEY_TID] = tid,
		[KEY_NAME] = strings_addz(&r->names, mark->name).v,
	};
	struct region_frame *f;

	for (size_t i = 0; i < depth; i++)
		if (stack->frames.items[i].region == mark->region)
			key[KEY_RECURSIVE] = 1;
	if (depth > 0)
		key[KEY_PARENT] =
			tuples_get(&r->keys, stack->frames.items[depth - 1].path)[KEY_NAME];
	f = vec_add(&stack->frames);
	*f = (struct region_frame){
		.region = mark->region,
		.path = tuples_add(&r->keys, key),
		.epoch = r->handles.items[stack->handle].epoch,
		.start = *now,
	};
	if (f->path == r->paths.n)
		*vec_add(&r->paths) = (struct region_path){ 0 };
}

static void end(struct regions *r, struct region_stack *stack, const struct seen_mark *mark,
		const struct region_counts *now)
{
	struct region_handle *h = &r->handles.items[stack->handle];
	struct region_counts taken = *now;
	struct region_frame *f;

	if (stack->frames.n == 0 || stack->frames.items[stack->frames.n - 1].region != mark->region)
		return;
	f = &stack->frames.items[stack->frames.n - 1];
	counts_subtract(&taken, &f->start);
	if (stack->frames.n > 1)
		counts_add_all(&f[-1].inside, &taken);
	if (h->is_calibrating) {
		*vec_add(&h->empty) = taken;
	} else if (f->epoch == h->epoch) {
		struct region_path *path = &r->paths.items[f->path];

		path->calls++;
		counts_add_all(&path->sum, &taken);
		counts_subtract(&taken, &f->inside);
		counts_add_all(&path->exclusive, &taken);
	}
	stack->frames.n--;
}

void regions_see(struct regions *r, struct region_stacks *stacks, uint32_t pid, uint32_t tid,
		 const struct seen_mark *mark, const struct region_counts *now)
{
	uint32_t handle = find_handle(r, pid, mark->handle);

	if (mark->kind == MARK_OPEN) {
		*vec_add(&r->handles) = (struct region_handle){
			.pid = pid,
			.number = mark->handle,
			.is_calibrating = true,
		};
		return;
	}
	if (handle == UINT32_MAX)
		return;
	switch (mark->kind) {
	case MARK_READY:
		find_bias(&r->handles.items[handle]);
		forget(r, handle);
		break;
	case MARK_BEGIN:
		begin(r, stack_of(stacks, handle), tid, mark, now);
		break;
	case MARK_END:
		end(r, stack_of(stacks, handle), mark, now);
		break;
	case MARK_RESET:
		forget(r, handle);
		break;
	case MARK_CLOSE:
		stack_of(stacks, handle)->frames.n = 0;
		break;
	default:
		break;
	}
}

/* One event of a path: a row of table "regions" of libcyclops (docs/schema/measure.json). */
struct region_row {
	const char *event;
	bool is_time;
	uint64_t count, exclusive, time_ns;
	uint64_t bias;
	bool has_bias;
};

static void json_row(struct text *out, const struct regions *r, uint32_t path,
		     const struct region_row *row)
{
	const uint64_t *key = tuples_get(&r->keys, path);

	text_str(out, "{\"region\":");
	results_string(out, strings_get(&r->names, (struct str_id){ (uint32_t)key[KEY_NAME] }));
	text_format(out, ",\"thread\":%" PRIu64, key[KEY_TID]);
	if (key[KEY_PARENT] != 0) {
		text_str(out, ",\"parent\":");
		results_string(
			out, strings_get(&r->names, (struct str_id){ (uint32_t)key[KEY_PARENT] }));
	}
	text_format(out, ",\"recursive\":%s%s,\"calls\":%" PRIu64 ",\"event\":",
		    key[KEY_RECURSIVE] != 0 ? "true" : "false", row->is_time ? "" : ",\"set\":0",
		    r->paths.items[path].calls);
	results_string(out, row->event);
	text_format(out,
		    ",\"count\":%" PRIu64 ",\"exclusive\":%" PRIu64 ",\"enabled_ns\":%" PRIu64
		    ",\"running_ns\":%" PRIu64 ",\"coverage\":1,\"state\":\"counted\"",
		    row->count, row->exclusive, row->time_ns, row->time_ns);
	if (row->has_bias)
		text_format(out, ",\"bias\":%" PRIu64, row->bias);
	text_char(out, '}');
}

static void json_path(struct text *out, const struct regions *r, const struct params *p,
		      uint32_t number)
{
	const struct region_path *path = &r->paths.items[number];
	const struct region_handle *h = &r->handles.items[tuples_get(&r->keys, number)[KEY_HANDLE]];
	uint64_t time_ns = path->sum.cycle * 1000 / p->core_mhz;
	struct region_row row = {
		.event = "duration_time",
		.is_time = true,
		.count = time_ns,
		.exclusive = path->exclusive.cycle * 1000 / p->core_mhz,
		.time_ns = time_ns,
		.bias = h->bias_cycles * 1000 / p->core_mhz,
		.has_bias = h->bias != NULL,
	};

	json_row(out, r, number, &row);
	row.is_time = false;
	for (size_t i = 0; i < n_modelled_events; i++) {
		row.event = modelled_events[i].name;
		row.count = modelled_event_sum(&modelled_events[i], &path->sum.counts);
		row.exclusive = modelled_event_sum(&modelled_events[i], &path->exclusive.counts);
		row.bias = h->bias != NULL ? h->bias[i] : 0;
		text_str(out, ",\n");
		json_row(out, r, number, &row);
	}
}

void regions_json(const struct regions *r, const struct params *p, struct text *out)
{
	bool is_first = true;

	for (uint32_t i = 0; i < r->keys.n; i++) {
		if (r->paths.items[i].calls == 0)
			continue;
		text_str(out, is_first ? ",\n\"regions\":[\n" : ",\n");
		json_path(out, r, p, i);
		is_first = false;
	}
	if (!is_first)
		text_char(out, ']');
}
