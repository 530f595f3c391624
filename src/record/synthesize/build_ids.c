/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synthesize/build_ids.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "elf/elf_file.h"

struct build_id_cache {
	struct tuples files; /* device, inode */
	VEC_OF(struct build_id) ids;
};

struct build_id_cache *build_id_cache_new(void)
{
	struct build_id_cache *cache = mem_zalloc(1, sizeof(*cache));

	tuples_init(&cache->files, 2);
	return cache;
}

void build_id_cache_free(struct build_id_cache *cache)
{
	if (cache == NULL)
		return;
	tuples_release(&cache->files);
	vec_release(&cache->ids);
	free(cache);
}

static struct build_id read_build_id_of_file(const char *path)
{
	struct build_id id = { 0 };
	struct elf_file file = { 0 };
	struct err err;

	if (elf_file_open(&file, path, &err) == 0)
		id = file.build_id;
	elf_file_release(&file);
	return id;
}

struct build_id build_id_cache_get(struct build_id_cache *cache, const char *path, uint64_t device,
				   uint64_t inode)
{
	const uint64_t key[] = { device, inode };
	uint32_t number;

	if (inode == 0)
		return read_build_id_of_file(path);
	number = tuples_add(&cache->files, key);
	if (number == cache->ids.n)
		*vec_add(&cache->ids) = read_build_id_of_file(path);
	return cache->ids.items[number];
}

/* Notes: sizes of name and content, type, then both, each padded to 4 bytes. */
bool build_id_of_notes(struct cursor notes, struct build_id *out)
{
	while (cur_ok(&notes) && cur_left(&notes) > 0) {
		uint32_t name_size = cur_u32(&notes);
		uint32_t size = cur_u32(&notes);
		uint32_t type = cur_u32(&notes);
		const uint8_t *name = cur_take(&notes, ((uint64_t)name_size + 3) & ~(uint64_t)3);
		const uint8_t *id = cur_take(&notes, ((uint64_t)size + 3) & ~(uint64_t)3);

		if (!cur_ok(&notes))
			return false;
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0 ||
		    size == 0 || size > BUILD_ID_MAX)
			continue;
		*out = (struct build_id){ .size = (uint8_t)size };
		memcpy(out->bytes, id, size);
		return true;
	}
	return false;
}
