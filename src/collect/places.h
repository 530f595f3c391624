/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places of code as a whole fleet knows them: a number by build-id and offset, so that equal code has equal numbers on all
 * hosts. The table symbols has a row for each, with its names.
 */
#ifndef CYCLOPS_COLLECT_PLACES_H
#define CYCLOPS_COLLECT_PLACES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/tuples.h"
#include "collect/identity.h"

/* Places whose rows are on the disk already; shared by workers. */
struct known_places {
	pthread_mutex_t mutex;
	struct tuples keys;
};

void known_places_init(struct known_places *);
void known_places_release(struct known_places *);

/* Keys of the places of one session. */
struct place_keys {
	const struct session *session;
	uint64_t *of_modules; /* by module id */
};

void place_keys_init(struct place_keys *, const struct session *, const struct identity *);
void place_keys_release(struct place_keys *);

/* The key of a place by its number in the session; 0: not known. */
int64_t place_key(const struct place_keys *, uint32_t place);

/*
 * Names the session's places that are not known yet and writes their rows in the table symbols. The number of places
 * without a function is added to *n_unnamed, that of all to *n_places.
 */
int places_write(struct session *, const struct place_keys *, struct known_places *,
		 const char *root, const struct identity *, uint64_t *n_places, uint64_t *n_unnamed,
		 struct err *);

#endif
