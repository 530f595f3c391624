/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are "START SIZE NAME", numbers in hexadecimal; a name may have blanks in it. */
#include "elf/jit_map.h"

#include <stdlib.h>

#include "base/mapped.h"
#include "base/vec.h"
#include "elf/regular_file.h"
#include "elf/words.h"

struct entry {
	uint64_t start, size;
	struct word name;
	size_t number; /* of the line */
};

struct entries {
	VEC_OF(struct entry) list;
};

static void jit_map_parse(struct entries *entries, const struct mapped *file)
{
	struct word rest = { .text = (const char *)file->bytes, .n = file->size };
	struct word line;

	while (words_next_line(&rest, &line)) {
		struct word start = words_next(&line);
		struct word size = words_next(&line);
		struct entry entry = { .name = words_rest(line), .number = entries->list.n };

		if (word_to_hex(start, &entry.start) && word_to_hex(size, &entry.size) &&
		    entry.size > 0 && entry.size <= UINT64_MAX - entry.start)
			*vec_add(&entries->list) = entry;
	}
}

/* By address, and the latest line first. */
static int jit_map_compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->start != b->start)
		return (a->start > b->start) - (a->start < b->start);
	return (a->number < b->number) - (a->number > b->number);
}

static void jit_map_add_functions(struct functions *functions, struct entries *e)
{
	if (e->list.n > 0)
		qsort(e->list.items, e->list.n, sizeof(*e->list.items), jit_map_compare);
	for (size_t i = 0; i < e->list.n; i++) {
		const struct entry *entry = &e->list.items[i];

		if (i > 0 && entry[-1].start == entry->start)
			continue;
		functions_add(functions,
			      &(struct function){
				      .start = entry->start,
				      .size = entry->size,
				      .limit = entry->start + entry->size,
				      .name = arena_strndup(&functions->text, entry->name.text,
							    entry->name.n),
				      .binding = FUNCTION_GLOBAL,
			      });
	}
}

int jit_map_read(struct functions *functions, const char *path, struct err *err)
{
	struct mapped file = { 0 };
	struct entries entries = { 0 };

	if (regular_file_map(&file, path, err) < 0)
		return -1;
	jit_map_parse(&entries, &file);
	jit_map_add_functions(functions, &entries);
	vec_release(&entries.list);
	mapped_release(&file);
	return 0;
}
