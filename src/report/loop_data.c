/* SPDX-License-Identifier: Apache-2.0 */
#include "report/loop_data.h"

#include <string.h>

#include "base/alloc.h"
#include "data/data_names.h"

/* A member's path for elements of any number: "[].key" of "[17].key". */
static void put_any_path(const char *path, struct text *out)
{
	for (; *path != '\0'; path++) {
		text_char(out, *path);
		if (*path == '[')
			path += strcspn(path, "]") - 1;
	}
}

/* "table[].key", of any element; empty if the two are of different objects, or have no name. */
static void put_common_name(const struct data_names *names, const struct data_name *low,
			    const struct data_name *high, struct text *out)
{
	struct text paths[2] = { { 0 }, { 0 } };
	bool is_of_type = low->is_by_type && high->is_by_type;

	if (low->object.v == 0 || low->object.v != high->object.v || low->kind != high->kind ||
	    (!is_of_type && low->object_address != high->object_address))
		return;
	data_object_text(names, low, out);
	put_any_path(strings_get(&names->strings, low->path), &paths[0]);
	put_any_path(strings_get(&names->strings, high->path), &paths[1]);
	if (low->path.v != 0 && paths[0].n == paths[1].n &&
	    memcmp(paths[0].bytes, paths[1].bytes, paths[0].n) == 0) {
		if (paths[0].bytes[0] != '[')
			text_char(out, '.');
		text_add(out, paths[0].bytes, paths[0].n);
	}
	text_release(&paths[0]);
	text_release(&paths[1]);
}

void loop_data_name(struct session *s, struct findings *findings)
{
	VEC_OF(struct data_query) queries = { 0 };
	VEC_OF(struct finding_loop *) loops = { 0 };
	struct data_names names = { 0 };

	for (size_t i = 0; i < findings->list.n; i++) {
		struct finding_loop *l = findings->list.items[i]->loop;

		if (l == NULL || l->data.process == 0)
			continue;
		*vec_add(&loops) = l;
		for (int end = 0; end < 2; end++)
			*vec_add(&queries) = (struct data_query){
				.process = l->data.process,
				.time_ns = l->data.time_ns,
				.address = end == 0 ? l->data.low : l->data.high,
				.code = l->data.code,
			};
	}
	if (loops.n > 0)
		data_names_init(&names, s, queries.items, queries.n);
	for (size_t i = 0; i < loops.n; i++) {
		struct text text = { 0 };

		put_common_name(&names, data_names_get(&names, 2 * i),
				data_names_get(&names, 2 * i + 1), &text);
		if (text.n > 0)
			loops.items[i]->data.name =
				arena_strndup(&findings->memory, text.bytes, text.n);
		text_release(&text);
	}
	if (loops.n > 0)
		data_names_release(&names);
	vec_release(&loops);
	vec_release(&queries);
}
