/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/text.h"
#include "elf/regular_file.h"
#include "elf/words.h"

static const char own_kallsyms[] = "/proc/kallsyms";

/* The build-id of the kernel that runs here, from its notes; size 0 if they cannot be read. */
static struct build_id running_build_id(void)
{
	enum { NT_BUILD_ID = 3 };
	struct build_id id = { 0 };
	struct mapped file = { 0 };
	struct err err;
	struct cursor c;

	if (regular_file_map(&file, "/sys/kernel/notes", &err) < 0)
		return id;
	c = cur_of(file.bytes, file.size);
	while (cur_left(&c) > 0) {
		uint32_t name_size = cur_u32(&c);
		uint32_t size = cur_u32(&c);
		uint32_t type = cur_u32(&c);
		const uint8_t *name = cur_take(&c, ((uint64_t)name_size + 3) / 4 * 4);
		const uint8_t *bytes = cur_take(&c, ((uint64_t)size + 3) / 4 * 4);

		if (!cur_ok(&c))
			break;
		if (type == NT_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 &&
		    size <= BUILD_ID_MAX) {
			id.size = (uint8_t)size;
			memcpy(id.bytes, bytes, size);
		}
	}
	mapped_release(&file);
	return id;
}

/* Does the kernel that recorded run here and now? */
static bool is_running(const struct search *search, const struct module *kernel)
{
	struct build_id id;

	if (!search->options->use_this_machine)
		return false;
	if (kernel == NULL || kernel->build_id.size == 0)
		return true;
	id = running_build_id();
	return build_id_matches(&kernel->build_id, &id);
}

static char *symbol_kernel_copy(const char *text)
{
	return mem_strndup(text, strlen(text));
}

static char *find_kallsyms(struct kernel_names *names, const struct search *search,
			   const struct module *kernel)
{
	char *cached = NULL;

	if (search->options->kallsyms != NULL)
		return symbol_kernel_copy(search->options->kallsyms);
	if (kernel != NULL && kernel->build_id.size > 0)
		cached = locate_cached(search, &kernel->build_id, "kallsyms");
	if (cached != NULL)
		return cached;
	if (is_running(search, kernel))
		return symbol_kernel_copy(own_kallsyms);
	names->is_other_boot = search->options->use_this_machine;
	return NULL;
}

/* Lines are "NAME SIZE USERS DEPENDENCIES STATE ADDRESS", as in /proc/modules. */
static void read_bases(struct kernel_names *names, const struct mapped *file)
{
	struct word rest = { .text = (const char *)file->bytes, .n = file->size };
	struct word line;

	while (words_next_line(&rest, &line)) {
		struct word name = words_next(&line);
		struct word size = words_next(&line);
		struct word word = { 0 };
		struct kernel_module_base base;

		for (int i = 0; i < 4; i++)
			word = words_next(&line);
		if (!word_to_decimal(size, &base.size) || !word_to_hex(word, &base.address) ||
		    base.address == 0)
			continue;
		base.name = arena_strndup(&names->text, name.text, name.n);
		*vec_add(&names->bases) = base;
	}
}

/* The list of modules stands beside kallsyms, in /proc and in copies that perf makes. */
void kernel_names_read_bases(struct kernel_names *names, const char *kallsyms)
{
	const char *slash = strrchr(kallsyms, '/');
	struct mapped file = { 0 };
	struct text path = { 0 };
	struct err err;

	if (slash != NULL)
		text_add(&path, kallsyms, (size_t)(slash + 1 - kallsyms));
	text_add(&path, "modules", sizeof("modules"));
	if (regular_file_map(&file, path.bytes, &err) == 0) {
		read_bases(names, &file);
		mapped_release(&file);
	}
	text_release(&path);
}

/* Takes the path of kallsyms; NULL: there is none. */
static bool read_source(struct kernel_names *names, char *source)
{
	struct err err;

	if (source != NULL && kallsyms_read(&names->kallsyms, source, &err) == 0) {
		names->source = source;
		return true;
	}
	free(source);
	return false;
}

void kernel_names_read(struct kernel_names *names, const struct search *search,
		       const struct module *kernel)
{
	if (read_source(names, find_kallsyms(names, search, kernel)))
		kernel_names_read_bases(names, names->source);
}

void kernel_names_read_guest(struct kernel_names *names, const struct symbols_options *options,
			     uint32_t pid)
{
	struct text path = { 0 };
	char *below = NULL;

	if (options->guest_mount != NULL && pid != 0) {
		text_format(&path, "%s/%u/proc/kallsyms", options->guest_mount, (unsigned)pid);
		below = mem_strndup(path.bytes, path.n);
		text_release(&path);
	}
	if (!read_source(names, below) && options->guest_kallsyms != NULL)
		(void)read_source(names, symbol_kernel_copy(options->guest_kallsyms));
}

void kernel_names_release(struct kernel_names *names)
{
	kallsyms_release(&names->kallsyms);
	free(names->source);
	vec_release(&names->bases);
	arena_release(&names->text);
	*names = (struct kernel_names){ 0 };
}

const struct kernel_module_base *kernel_names_find_base(const struct kernel_names *names,
							const char *name)
{
	for (size_t i = 0; i < names->bases.n; i++) {
		const struct kernel_module_base *base = &names->bases.items[i];
		size_t length = strlen(base->name);

		if (name[0] == '[' && strncmp(name + 1, base->name, length) == 0 &&
		    strcmp(name + 1 + length, "]") == 0)
			return base;
	}
	return NULL;
}
