/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/events.h"

#include <assert.h>

#include "base/alloc.h"
#include "capture/format/sample.h"

#define BIT(n) ((uint64_t)1 << (n))

void events_init(struct events *e)
{
	*e = (struct events){
		.sample_id_word = NO_WORD,
		.trailer_id_word = NO_WORD,
		.sample_time_word = NO_WORD,
	};
	tuples_init(&e->ids, 1);
}

void events_release(struct events *e)
{
	for (size_t i = 0; i < e->list.n; i++)
		vec_release(&e->list.items[i].ids);
	vec_release(&e->list);
	vec_release(&e->event_of_id);
	tuples_release(&e->ids);
}

/* How many of the fields in `mask` an event records. */
static int n_fields(const struct attr *a, uint64_t mask)
{
	return __builtin_popcountll(a->sample_type & mask);
}

static int sample_id_word(const struct attr *a)
{
	if (a->sample_type & BIT(SAMPLE_IDENTIFIER))
		return 0;
	if (!(a->sample_type & BIT(SAMPLE_ID)))
		return NO_WORD;
	return n_fields(a, BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_ADDR));
}

static int trailer_id_word(const struct attr *a)
{
	if (a->sample_type & BIT(SAMPLE_IDENTIFIER))
		return 1;
	if (!(a->sample_type & BIT(SAMPLE_ID)))
		return NO_WORD;
	return 1 + n_fields(a, BIT(SAMPLE_CPU) | BIT(SAMPLE_STREAM_ID));
}

static int sample_time_word(const struct attr *a)
{
	if (!(a->sample_type & BIT(SAMPLE_TIME)))
		return NO_WORD;
	return n_fields(a, BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP) | BIT(SAMPLE_TID));
}

static void learn_layout(struct events *e, const struct attr *a)
{
	if (e->list.n == 0) {
		e->sample_id_word = sample_id_word(a);
		e->trailer_id_word = trailer_id_word(a);
		e->sample_time_word = sample_time_word(a);
		return;
	}
	if (e->sample_id_word != sample_id_word(a) || e->trailer_id_word != trailer_id_word(a))
		e->has_mixed_layout = true;
	if (e->sample_time_word != sample_time_word(a))
		e->sample_time_word = WORD_DIFFERS;
}

void events_add(struct events *e, const struct attr *attr, struct cursor ids)
{
	size_t index = e->list.n;

	assert(index < MAX_EVENTS);
	learn_layout(e, attr);
	struct event *event = vec_add(&e->list);
	event->attr = *attr;
	vec_reserve(&event->ids, cur_left(&ids) / sizeof(uint64_t));
	while (cur_left(&ids) >= sizeof(uint64_t)) {
		uint64_t id = cur_u64(&ids);
		uint32_t number = tuples_add(&e->ids, &id);

		*vec_add(&event->ids) = id;
		if (number == e->event_of_id.n)
			*vec_add(&e->event_of_id) = (uint32_t)index;
	}
}

int events_of_id(const struct events *e, uint64_t id)
{
	uint32_t number;

	if (id == 0)
		return e->list.n > 0 ? 0 : -1;
	number = tuples_find(&e->ids, &id);
	return number == TUPLES_NONE ? -1 : (int)e->event_of_id.items[number];
}

static int first_event(const struct events *e)
{
	return e->list.n > 0 ? 0 : -1;
}

int events_of_sample(const struct events *e, const uint8_t *body, size_t size)
{
	size_t at = (size_t)e->sample_id_word * sizeof(uint64_t);

	if (events_are_one(e, e->sample_id_word))
		return first_event(e);
	if (size < at + sizeof(uint64_t))
		return -1;
	return events_of_id(e, load_u64(body + at));
}

int event_cache_miss_(const struct events *e, struct event_cache *cache, uint64_t id)
{
	size_t slot = id % EVENT_CACHE_SLOTS;

	cache->slots[slot].id = id;
	cache->slots[slot].event = events_of_id(e, id);
	return cache->slots[slot].event;
}

int events_of_trailer(const struct events *e, const struct record *r)
{
	size_t back = (size_t)e->trailer_id_word * sizeof(uint64_t);

	if (events_are_one(e, e->trailer_id_word) ||
	    !attr_has(&e->list.items[0].attr, ATTR_SAMPLE_ID_ALL))
		return first_event(e);
	if (cur_left(&r->body) < back)
		return -1;
	return events_of_id(e, load_u64(r->body.end - back));
}

int events_time_word_(const struct events *e, const uint8_t *body, size_t size)
{
	int event = events_of_sample(e, body, size);

	return event < 0 ? NO_WORD : sample_time_word(&e->list.items[event].attr);
}
