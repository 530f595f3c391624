/* SPDX-License-Identifier: Apache-2.0 */
#include "data/heap.h"

int data_heap_open(struct session *s, struct heap_map *map, const char *path, struct err *err)
{
	if (path == NULL)
		return 0;
	s->heap = map;
	return heap_map_open(map, path, err);
}

void data_heap_close(struct session *s, struct heap_map *map)
{
	s->heap = NULL;
	heap_map_release(map);
}
