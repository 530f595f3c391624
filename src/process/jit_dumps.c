/* SPDX-License-Identifier: Apache-2.0 */
#include "process/jit_dumps.h"

#include <string.h>

#include "base/alloc.h"
#include "capture/format/jitdump.h"
#include "process/notes.h"

static const struct map_note *map_of(const struct notes *n, const struct note *note)
{
	return note->kind == NOTE_MAP ? &n->maps.items[note->map] : NULL;
}

static bool is_listed(const struct jit_dump *list, size_t n, uint32_t pid, struct str_id path)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].pid == pid && list[i].path.v == path.v)
			return true;
	return false;
}

struct jit_dump *jit_dumps_find(const struct notes *notes, size_t *out_n)
{
	VEC_OF(struct jit_dump) found = { 0 };

	for (size_t i = 0; i < notes->list.n; i++) {
		const struct note *note = &notes->list.items[i];
		const struct map_note *map = map_of(notes, note);

		if (map == NULL || map->is_data ||
		    !jitdump_is_path(strings_get(notes->strings, map->path)) ||
		    is_listed(found.items, found.n, note->pid, map->path))
			continue;
		*vec_add(&found) = (struct jit_dump){
			.pid = note->pid,
			.tid = note->tid,
			.path = map->path,
			.time_ns = note->time_ns,
			.has_time = note->has_time,
		};
	}
	*out_n = found.n;
	return found.items;
}

static bool is_anonymous(const char *path)
{
	static const char *const begins[] = { "//anon", "[anon",     "anon_inode:",   "/memfd:",
					      "memfd:", "/dev/zero", "/anon_hugepage" };

	for (size_t i = 0; i < COUNT(begins); i++)
		if (strncmp(path, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Notes of one time stay in order of arrival, so these come before the functions of that time. */
static void map_memory_first(struct notes *n, const struct jit_dump *dump)
{
	for (size_t i = 0; i < n->list.n; i++) {
		struct note *note = &n->list.items[i];
		const struct map_note *map = map_of(n, note);

		if (map != NULL && note->pid == dump->pid && note->has_time == dump->has_time &&
		    note->time_ns > dump->time_ns && !map->is_data &&
		    is_anonymous(strings_get(n->strings, map->path)))
			note->time_ns = dump->time_ns;
	}
}

void jit_dumps_map(struct notes *n, const struct jit_dump *dump, const struct jit_code *codes,
		   size_t n_codes)
{
	map_memory_first(n, dump);
	for (size_t i = 0; i < n_codes; i++) {
		const struct jit_code *code = &codes[i];
		bool is_later = dump->has_time && code->time_ns > dump->time_ns;

		notes_map(n,
			  &(struct note){
				  .time_ns = is_later ? code->time_ns : dump->time_ns,
				  .has_time = dump->has_time,
				  .kind = NOTE_MAP,
				  .pid = dump->pid,
				  .tid = dump->tid,
			  },
			  &(struct map_note){
				  .range = range_of(code->address, code->size),
				  .page_offset = code->file_at,
				  .path = dump->path,
			  });
	}
}
