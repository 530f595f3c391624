/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a capture, and which of them a record belongs to. */
#ifndef CYCLOPS_CAPTURE_EVENTS_H
#define CYCLOPS_CAPTURE_EVENTS_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/attr.h"
#include "capture/format/record.h"

/* Batches have 16 bits for the number of an event. */
enum { MAX_EVENTS = UINT16_MAX };

/* For the word numbers below: the field is not recorded, or is elsewhere for each event. */
enum { NO_WORD = -1, WORD_DIFFERS = -2 };

struct events {
	VEC_OF(struct event) list;
	struct tuples ids;	      /* id → number … */
	VEC_OF(uint32_t) event_of_id; /* … → index of the event */

	/*
	 * Positions of fields in a record's body, in 64-bit words. The id is at the same place in
	 * all events.
	 */
	int sample_id_word;    /* from the start of a sample */
	int trailer_id_word;   /* from the end of other records; 1 is the last word */
	int sample_time_word;  /* from the start; WORD_DIFFERS: depends on the event */
	bool has_mixed_layout; /* the id is not at the same place, so events cannot be found */
};

void events_init(struct events *);
void events_release(struct events *);

/* Appends an event with the ids in the cursor, 8 bytes each. There must be room for it. */
void events_add(struct events *, const struct attr *, struct cursor ids);

/* The index of the event with this id, or -1. Id 0 is event 0, if there is one. */
int events_of_id(const struct events *, uint64_t id);

/* The event of a sample, by the id in its body of `size` bytes, or -1. */
int events_of_sample(const struct events *, const uint8_t *body, size_t size);

/* Ids that were looked up, and their events; zeroed: empty. Each thread has its own. */
enum { EVENT_CACHE_SLOTS = 64 };
struct event_cache {
	struct {
		uint64_t id;
		int event;
	} slots[EVENT_CACHE_SLOTS];
};

/* Puts the event of an id into its slot. */
int event_cache_miss_(const struct events *, struct event_cache *, uint64_t id);

/* Is event 0 the answer without a look-up: with one event, or if records have no id? */
static inline bool events_are_one(const struct events *e, int id_word)
{
	return e->list.n == 1 || id_word == NO_WORD;
}

/* The same, of many samples: ids come again. */
static inline int events_of_next_sample(const struct events *e, struct event_cache *cache,
					const uint8_t *body, size_t size)
{
	size_t at = (size_t)e->sample_id_word * sizeof(uint64_t), slot;
	uint64_t id;

	if (events_are_one(e, e->sample_id_word))
		return e->list.n > 0 ? 0 : -1;
	if (size < at + sizeof(uint64_t))
		return -1;
	id = load_u64(body + at);
	slot = id % EVENT_CACHE_SLOTS;
	return cache->slots[slot].id == id ? cache->slots[slot].event
					   : event_cache_miss_(e, cache, id);
}

/* The event that a record belongs to, by the id in its trailer, or -1. */
int events_of_trailer(const struct events *, const struct record *);

/* Where the event of a sample has its time. */
int events_time_word_(const struct events *, const uint8_t *body, size_t size);

/* The time of a sample, of any event; 0 if it has none. */
static inline uint64_t events_sample_time(const struct events *e, const uint8_t *body, size_t size)
{
	int word = e->sample_time_word;
	size_t at;

	if (word == WORD_DIFFERS)
		word = events_time_word_(e, body, size);
	at = (size_t)word * sizeof(uint64_t);
	if (word == NO_WORD || size < at + sizeof(uint64_t))
		return 0;
	return load_u64(body + at);
}

#endif
