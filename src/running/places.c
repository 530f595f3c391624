/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads were when they left their CPU: their last sample before each wait. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "running/inside.h"
#include "session/names.h"

/* So many waits have places; beyond that they would take too much memory. */
enum { MOST_WAITS = 1 << 19 };

enum { SOFTWARE_CONTEXT_SWITCHES = 3, MOST_DEPTH = 128 };

bool running_is_switch_event(const struct session *s, size_t event)
{
	const struct attr *attr = &capture_event(s->capture, event)->attr;

	return (attr->type == ATTR_TYPE_SOFTWARE && attr->config == SOFTWARE_CONTEXT_SWITCHES) ||
	       (attr->type == ATTR_TYPE_TRACEPOINT &&
		strncmp(capture_event_name(s->capture, event), "sched:sched_switch", 18) == 0);
}

static void *places_new(const struct session *s, const void *options)
{
	struct wait_places *p = mem_zalloc(1, sizeof(*p));

	(void)s;
	p->running = options;
	if (p->running->waits.n <= MOST_WAITS)
		p->list = mem_zalloc(p->running->waits.n + 1, sizeof(*p->list));
	return p;
}

static void places_free(void *partial)
{
	struct wait_places *p = partial;

	if (p == NULL)
		return;
	free(p->list);
	vec_release(&p->with_frame);
	free(p);
}

static unsigned wants_chains(const void *options)
{
	return ((const struct running *)options)->waits.n > 0 ? CHAINS_OF_SAMPLES : 0;
}

/* The first wait of a thread that begins at this time or later; waits.n: none. */
static size_t wait_behind(const struct running *r, uint32_t thread, uint64_t time_ns)
{
	size_t first, end;

	if (thread == TUPLES_NONE)
		return r->waits.n;
	end = r->first_wait[thread + 1];
	first = bisect(r->first_wait[thread], end, i, r->waits.items[i].from_ns < time_ns);
	return first < end ? first : r->waits.n;
}

static enum module_kind module_kind_of_place(const struct session *s, uint32_t place)
{
	struct module_id id = session_place(s, place).module;

	return id.v == 0 ? MODULE_UNKNOWN : modules_get(timeline_modules(s->timeline), id)->kind;
}

static bool is_of_kernel(const struct session *s, uint32_t place)
{
	enum module_kind kind = module_kind_of_place(s, place);

	return kind == MODULE_KERNEL || kind == MODULE_KERNEL_MODULE || kind == MODULE_BPF;
}

/* "libc.so.6", "ld-linux-aarch64.so.1", and the vdso. */
static bool is_of_library(const struct session *s, uint32_t place)
{
	const char *name = names_module(s, session_place(s, place).module);
	const char *end = strstr(name, ".so");

	return module_kind_of_place(s, place) != MODULE_JIT &&
	       (module_kind_of_place(s, place) != MODULE_FILE ||
		(end != NULL && (end[3] == '\0' || end[3] == '.')));
}

void wait_place_find(const struct session *s, const struct tuples *frames, struct wait_place *seen)
{
	uint32_t place = seen->place, frame = seen->frame;

	if (seen->is_found)
		return;
	seen->is_found = true;
	seen->frame = 0;
	for (int depth = 0; depth < MOST_DEPTH; depth++) {
		if (place != 0 && !is_of_kernel(s, place)) {
			seen->user = seen->user != 0 ? seen->user : place;
			if (!is_of_library(s, place)) {
				seen->program = place;
				return;
			}
		}
		if (frame == 0)
			return;
		place = (uint32_t)tuples_get(frames, frame)[1];
		frame = (uint32_t)tuples_get(frames, frame)[0];
	}
}

/* Is it later than the one before, in time, then in the file? */
static bool is_later(const struct wait_place *a, const struct wait_place *b)
{
	if (b->place == 0 || a->time_ns != b->time_ns)
		return b->place == 0 || a->time_ns > b->time_ns;
	return a->position > b->position;
}

static void places_consume(void *partial, const struct batch *b)
{
	const uint32_t needed = HAS_TID | HAS_TIME | HAS_PLACE;
	struct wait_places *p = partial;
	const struct running *r = p->running;
	uint32_t tid = 0, thread = TUPLES_NONE;

	if (b->kind != BATCH_SAMPLES || p->list == NULL || r->waits.n == 0)
		return;
	for (size_t row = 0; row < b->n; row++) {
		struct wait_place seen = { .time_ns = b->time_ns[row],
					   .position = b->position[row],
					   .place = b->place[row],
					   .frame = b->frame[row] };
		size_t wait;

		if ((b->has[row] & needed) != needed || seen.place == 0)
			continue;
		if (r->has_switch_events && !running_is_switch_event(r->session, b->event[row]))
			continue;
		if (b->tid[row] != tid || thread == TUPLES_NONE) {
			tid = b->tid[row];
			thread = tuples_find(&r->threads, &(uint64_t){ tid });
		}
		wait = wait_behind(r, thread, b->time_ns[row]);
		if (wait == r->waits.n || !is_later(&seen, &p->list[wait]))
			continue;
		if (seen.frame != 0 && p->list[wait].frame == 0)
			*vec_add(&p->with_frame) = (uint32_t)wait;
		p->list[wait] = seen;
	}
}

static bool places_let_go(void *partial, const struct tuples *frames, bool must)
{
	struct wait_places *p = partial;

	if (frames->n < MANY_FRAMES && !must)
		return p->with_frame.n == 0;
	for (size_t i = 0; i < p->with_frame.n; i++)
		wait_place_find(p->running->session, frames, &p->list[p->with_frame.items[i]]);
	p->with_frame.n = 0;
	return true;
}

static void places_merge(void *into, const void *from, const struct id_map *map)
{
	struct wait_places *to = into;
	const struct wait_places *part = from;

	for (size_t i = 0; to->list != NULL && i < to->running->waits.n; i++) {
		struct wait_place seen = part->list[i];

		if (seen.place == 0)
			continue;
		seen.frame = map->frames[seen.frame];
		if (is_later(&seen, &to->list[i]))
			to->list[i] = seen;
	}
}

const struct analysis_class wait_places_class = {
	.new = places_new,
	.free = places_free,
	.wants_chains = wants_chains,
	.consume = places_consume,
	.let_go = places_let_go,
	.merge = places_merge,
};
