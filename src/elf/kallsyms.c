/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]". There are no sizes: a
 * symbol ends where the next one begins, and the last of a module ends with its page.
 */
#include "elf/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/vec.h"
#include "elf/regular_file.h"
#include "elf/words.h"

enum { PAGE_BYTES = 4096 };

/* Symbols that recorders choose to say where the kernel is. */
static const char *const kallsyms_marks[N_KALLSYMS_MARKS] = { "_text", "_stext" };

struct entry {
	uint64_t address;
	struct word name, module; /* module.n 0: of the kernel itself */
	enum function_binding binding;
	bool is_data;
};

struct entries {
	VEC_OF(struct entry) list;
};

/* Symbols of code and data, as nm names the types; those of other kinds are no places. */
static bool kallsyms_parse_type(struct word word, struct entry *out)
{
	static const struct {
		char type;
		bool is_data;
		enum function_binding binding;
	} types[] = {
		{ 'T', false, FUNCTION_GLOBAL }, { 't', false, FUNCTION_LOCAL },
		{ 'W', false, FUNCTION_WEAK },	 { 'w', false, FUNCTION_WEAK },
		{ 'D', true, FUNCTION_GLOBAL },	 { 'd', true, FUNCTION_LOCAL },
		{ 'B', true, FUNCTION_GLOBAL },	 { 'b', true, FUNCTION_LOCAL },
		{ 'R', true, FUNCTION_GLOBAL },	 { 'r', true, FUNCTION_LOCAL },
		{ 'V', true, FUNCTION_WEAK },	 { 'v', true, FUNCTION_WEAK },
	};

	for (size_t i = 0; word.n == 1 && i < COUNT(types); i++) {
		if (types[i].type == word.text[0]) {
			out->binding = types[i].binding;
			out->is_data = types[i].is_data;
			return true;
		}
	}
	return false;
}

static bool parse_line(struct word line, struct entry *out)
{
	struct word address = words_next(&line);
	struct word type = words_next(&line);

	out->name = words_next(&line);
	out->module = words_next(&line);
	return word_to_hex(address, &out->address) && kallsyms_parse_type(type, out) &&
	       out->name.n > 0;
}

static void kallsyms_parse(struct entries *code, struct entries *data, const struct mapped *file)
{
	struct word rest = { .text = (const char *)file->bytes, .n = file->size };
	struct word line;

	while (words_next_line(&rest, &line)) {
		struct entry entry;

		if (parse_line(line, &entry))
			*vec_add(entry.is_data ? &data->list : &code->list) = entry;
	}
}

static int kallsyms_compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static bool same_module(const struct entry *a, const struct entry *b)
{
	return a->module.n == b->module.n &&
	       memcmp(a->module.text, b->module.text, a->module.n) == 0;
}

/* Where an entry must end: at the next of its module, or soon after its page does. */
static uint64_t limit_of(const struct entry *entry, const struct entry *next)
{
	uint64_t page_end = (entry->address + 2 * PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	if (page_end < entry->address)
		page_end = UINT64_MAX;
	if (next == NULL)
		return page_end;
	return same_module(entry, next) || next->address < page_end ? next->address : page_end;
}

static void kallsyms_add_functions(struct functions *functions, struct entries *e)
{
	const struct entry *next = NULL; /* the first at a higher address */

	if (e->list.n > 0)
		qsort(e->list.items, e->list.n, sizeof(*e->list.items), kallsyms_compare);
	for (size_t i = e->list.n; i-- > 0;) {
		const struct entry *entry = &e->list.items[i];

		if (i + 1 < e->list.n && entry[1].address != entry->address)
			next = &entry[1];
		functions_add(functions,
			      &(struct function){
				      .start = entry->address,
				      .limit = limit_of(entry, next),
				      .name = arena_strndup(&functions->text, entry->name.text,
							    entry->name.n),
				      .binding = entry->binding,
			      });
	}
	functions_build(functions);
}

static void find_marks(struct kallsyms *out, const struct entries *e)
{
	for (size_t i = 0; i < e->list.n; i++) {
		for (size_t k = 0; k < N_KALLSYMS_MARKS; k++) {
			if (word_equals(e->list.items[i].name, kallsyms_marks[k]))
				out->marks[k] = e->list.items[i].address;
		}
	}
}

static bool all_zero(const struct entries *e)
{
	for (size_t i = 0; i < e->list.n; i++) {
		if (e->list.items[i].address != 0)
			return false;
	}
	return e->list.n > 0;
}

int kallsyms_read(struct kallsyms *out, const char *path, struct err *err)
{
	struct mapped file = { 0 };
	struct entries entries = { 0 }, data = { 0 };

	if (regular_file_map(&file, path, err) < 0)
		return -1;
	kallsyms_parse(&entries, &data, &file);
	out->is_hidden = all_zero(&entries);
	find_marks(out, &entries);
	if (!out->is_hidden) {
		kallsyms_add_functions(&out->functions, &entries);
		kallsyms_add_functions(&out->data, &data);
	}
	vec_release(&data.list);
	vec_release(&entries.list);
	mapped_release(&file);
	return 0;
}

void kallsyms_release(struct kallsyms *kallsyms)
{
	functions_release(&kallsyms->functions);
	functions_release(&kallsyms->data);
	*kallsyms = (struct kallsyms){ 0 };
}

bool kallsyms_find_mark(const struct kallsyms *kallsyms, const char *name, uint64_t *out)
{
	for (size_t k = 0; k < N_KALLSYMS_MARKS; k++) {
		if (strcmp(kallsyms_marks[k], name) == 0 && kallsyms->marks[k] != 0) {
			*out = kallsyms->marks[k];
			return true;
		}
	}
	return false;
}
