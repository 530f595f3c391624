/* SPDX-License-Identifier: Apache-2.0 */
/* Features about the run: what was recorded, from which programs, when. */
#include "capture/format/feature.h"

#include <string.h>

#include "base/text.h"

bool read_build_ids(struct section *s, struct info *draft)
{
	enum { FIXED = 8 + 4 + 24, HAS_SIZE = 1 << 15 };

	LIST_FORGET(draft->build_ids);
	while (cur_left(&s->c) >= FIXED) {
		struct build_id_entry *entry = vec_add(&draft->build_ids);
		struct cursor c = cur_split(&s->c, load_u16(s->c.pos + 6));
		const uint8_t *id;
		const char *path;

		if (cur_left(&c) < FIXED)
			return false;
		cur_skip(&c, 4);
		entry->misc = cur_u16(&c);
		cur_skip(&c, 2);
		entry->pid = (int32_t)cur_u32(&c);
		id = cur_take(&c, 24);
		entry->id.size = BUILD_ID_MAX;
		if ((entry->misc & HAS_SIZE) != 0 && id[BUILD_ID_MAX] < BUILD_ID_MAX)
			entry->id.size = id[BUILD_ID_MAX];
		memcpy(entry->id.bytes, id, entry->id.size);
		path = (const char *)c.pos;
		entry->path = strings_add(s->strings, path, cur_left(&c));
	}
	return true;
}

bool read_command_line(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);
	struct text line = { 0 };

	if (!cur_holds(&s->c, n, STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++)
		text_shell_word(&line, strings_get(s->strings, section_string(s)));
	draft->command_line = strings_add(s->strings, line.n > 0 ? line.bytes : "", line.n);
	text_release(&line);
	return cur_ok(&s->c);
}

static bool read_event_desc(struct section *s, uint32_t attr_size, struct event_desc *out)
{
	struct cursor attr = cur_split(&s->c, attr_size);
	uint32_t n_ids = cur_u32(&s->c);
	struct err err;

	if (attr_read(attr, s->at, &out->attr, &err) < 0)
		return false;
	out->name = section_string(s);
	if (!cur_holds(&s->c, n_ids, sizeof(uint64_t)))
		return false;
	vec_reserve(&out->ids, n_ids);
	for (uint32_t i = 0; i < n_ids; i++)
		*vec_add(&out->ids) = cur_u64(&s->c);
	return cur_ok(&s->c);
}

bool read_event_descs(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);
	uint32_t attr_size = cur_u32(&s->c);

	LIST_FORGET(draft->event_descs);
	if (!cur_holds(&s->c, n, (size_t)attr_size + 4 + STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!read_event_desc(s, attr_size, vec_add(&draft->event_descs)))
			return false;
	}
	return true;
}

bool read_groups(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);

	LIST_FORGET(draft->groups);
	if (!cur_holds(&s->c, n, STRING_MIN + 4 + 4))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct event_group *group = vec_add(&draft->groups);

		group->name = section_string(s);
		group->leader = cur_u32(&s->c);
		group->n_members = cur_u32(&s->c);
	}
	return cur_ok(&s->c);
}

bool read_sample_time(struct section *s, struct info *draft)
{
	draft->first_sample_ns = cur_u64(&s->c);
	draft->last_sample_ns = cur_u64(&s->c);
	return cur_ok(&s->c);
}

bool read_clock_resolution(struct section *s, struct info *draft)
{
	draft->clock_resolution_ns = cur_u64(&s->c);
	return cur_ok(&s->c);
}

bool read_clock_data(struct section *s, struct info *draft)
{
	uint32_t version = cur_u32(&s->c);

	draft->clock_id = cur_u32(&s->c);
	draft->wall_clock_ns = cur_u64(&s->c);
	draft->clock_time_ns = cur_u64(&s->c);
	return version == 1 && cur_ok(&s->c);
}

bool read_compression(struct section *s, struct info *draft)
{
	cur_skip(&s->c, 4); /* version */
	draft->compression_type = cur_u32(&s->c);
	draft->compression_level = cur_u32(&s->c);
	draft->compression_ratio = cur_u32(&s->c);
	draft->compressed_mmap_len = cur_u32(&s->c);
	return cur_ok(&s->c);
}
