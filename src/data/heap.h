/* SPDX-License-Identifier: Apache-2.0 */
/* The heap map of a command's option --heap-map, by which a session names objects. */
#ifndef CYCLOPS_DATA_HEAP_H
#define CYCLOPS_DATA_HEAP_H

#include "session/session.h"
#include "variables/heap_map.h"

/*
 * Reads the map at `path` and gives it to the session; NULL: there is no map. To be closed also after
 * an error, and before the session is released.
 */
int data_heap_open(struct session *, struct heap_map *, const char *path, struct err *);

/* Takes the map from the session and releases it. */
void data_heap_close(struct session *, struct heap_map *);

#endif
