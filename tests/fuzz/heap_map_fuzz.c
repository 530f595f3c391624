/* SPDX-License-Identifier: Apache-2.0 */
/* Heap maps, and what is at the ends of their objects. */
#include <stdint.h>

#include "variables/heap_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void look_at(const struct heap_map *map, const struct heap_object *object, uint64_t address)
{
	struct text path = { 0 };

	if (heap_map_find(map, address) != object)
		__builtin_trap();
	types_path(&map->types, object->type, address - object->address, 8, &path, NULL);
	text_release(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct heap_map map;
	struct err err;

	if (heap_map_read(&map, (const char *)bytes, size, &err) == 0)
		for (size_t i = 0; i < map.objects.n; i++) {
			const struct heap_object *object = &map.objects.items[i];

			look_at(&map, object, object->address);
			look_at(&map, object, object->address + (object->size - 1));
		}
	heap_map_release(&map);
	return 0;
}
