/* SPDX-License-Identifier: Apache-2.0 */
/* Where the running kernel and its modules are: /proc/kallsyms, /proc/modules. */
#include "record/synthesize/synthesize.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "system/system.h"
#include "record/synthesize/build_ids.h"

/* The name that recorders give the kernel's mapping; its first symbol is appended. */
#define KERNEL_NAME "[kernel.kallsyms]"

bool synthesize_read_symbol(const char *line, struct kernel_range *range)
{
	char *at;
	uint64_t address = strtoull(line, &at, 16);

	if (at[0] != ' ' || at[1] == '\0' || at[2] != ' ')
		return false;
	at += 3;
	if (strcmp(at, "_stext") == 0)
		range->code = address;
	if (strcmp(at, "_text") == 0 || (range->mark == NULL && strcmp(at, "_stext") == 0)) {
		range->mark = strcmp(at, "_text") == 0 ? "_text" : "_stext";
		range->start = address;
	} else if (strcmp(at, "_etext") == 0) {
		range->end = address;
	}
	if (range->code_bytes != 0 && range->code != 0 && strcmp(range->mark, "_text") == 0)
		range->end = range->code + range->code_bytes;
	return range->mark != NULL && range->end != 0;
}

/* Bytes of kernel code from _stext on, which root may read in /proc/iomem; 0: not known. */
static uint64_t kernel_code_bytes(const char *root)
{
	struct text text = { 0 };
	uint64_t first = 0, last = 0;
	const char *line;

	system_text(root, &text, "/proc/iomem");
	text_char(&text, '\0');
	line = strstr(text.bytes, " : Kernel code\n");
	while (line != NULL && line > text.bytes && line[-1] != '\n')
		line--;
	if (line == NULL || sscanf(line, " %" SCNx64 "-%" SCNx64, &first, &last) != 2)
		last = first;
	text_release(&text);
	return last > first ? last - first + 1 : 0;
}

/*
 * Reads /proc/kallsyms only as far as needed: it is long, and the kernel formats it at each read. The end of the code is
 * behind a hundred thousand symbols, the beginning is among the first.
 */
static bool find_kernel(const struct synthesis *s, struct kernel_range *out, bool *out_has_list)
{
	struct kernel_range range = { .code_bytes = kernel_code_bytes(s->root) };
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *file;

	*out_has_list = false;
	snprintf(path, sizeof(path), "%s/proc/kallsyms", s->root);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n\t")] = '\0';
		*out_has_list |= line[0] != '\0';
		if (synthesize_read_symbol(line, &range))
			break;
	}
	free(line);
	fclose(file);
	*out = range;
	return range.start != 0 && range.end > range.start;
}

static void synthesize_kernel_add_build_id(const struct synthesis *s, const char *notes_path,
					   const char *name)
{
	struct build_id id;
	struct text notes = { 0 };

	if (system_text(s->root, &notes, "%s", notes_path) &&
	    build_id_of_notes(cur_of(notes.bytes, notes.n), &id))
		writer_build_id(s->writer, &id, name, -1, CPUMODE_KERNEL);
	text_release(&notes);
}

static void write_kernel(const struct synthesis *s, const struct kernel_range *range)
{
	char path[64];
	struct record_mmap map = {
		.pid = UINT32_MAX,
		.start = range->start,
		.length = range->end - range->start,
		.page_offset = range->start,
		.path = path,
	};

	snprintf(path, sizeof(path), "%s%s", KERNEL_NAME, range->mark);
	writer_mmap(s->writer, &map, CPUMODE_KERNEL, NULL);
	synthesize_kernel_add_build_id(s, "/sys/kernel/notes", KERNEL_NAME);
}

/* Is the path of a modules.dep line that of the module? File names may have '-' for '_'. */
static bool is_module_file(const char *path, size_t len, const char *name)
{
	const char *slash = memrchr(path, '/', len);
	const char *file = slash != NULL ? slash + 1 : path;
	size_t i = 0;

	for (; file + i < path + len && name[i] != '\0'; i++)
		if ((file[i] == '-' ? '_' : file[i]) != (name[i] == '-' ? '_' : name[i]))
			return false;
	return name[i] == '\0' && file + i + 3 <= path + len && memcmp(file + i, ".ko", 3) == 0;
}

/* Appends the module's path, from the lines of modules.dep; else its name in brackets. */
static void add_module_path(const char *dependencies, const char *directory, const char *name,
			    struct text *out)
{
	for (const char *line = dependencies; line != NULL && *line != '\0';) {
		size_t len = strcspn(line, ":\n");

		if (is_module_file(line, len, name)) {
			text_format(out, "%s/", directory);
			text_add(out, line, len);
			return;
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	text_format(out, "[%s]", name);
}

bool synthesize_read_module(const char *line, char name[MODULE_NAME_SIZE], struct record_mmap *out)
{
	uint64_t start, length;
	char found[MODULE_NAME_SIZE];

	/* name size references users state address */
	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, found, &length, &start) != 3 ||
	    start == 0)
		return false;
	strcpy(name, found);
	out->start = start;
	out->length = length;
	return true;
}

static void write_module(const struct synthesis *s, const char *line, const char *dependencies,
			 const char *directory)
{
	struct record_mmap map = { .pid = UINT32_MAX };
	char notes[128], name[MODULE_NAME_SIZE];
	struct text path = { 0 };

	if (!synthesize_read_module(line, name, &map))
		return;
	add_module_path(dependencies, directory, name, &path);
	text_char(&path, '\0');
	map.path = path.bytes;
	writer_mmap(s->writer, &map, CPUMODE_KERNEL, NULL);
	snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id", name);
	synthesize_kernel_add_build_id(s, notes, path.bytes);
	text_release(&path);
}

static void write_modules(const struct synthesis *s)
{
	struct text modules = { 0 }, dependencies = { 0 };
	char directory[PATH_MAX], *rest;
	struct utsname kernel;

	uname(&kernel);
	snprintf(directory, sizeof(directory), "/lib/modules/%s", kernel.release);
	if (system_text(s->root, &modules, "/proc/modules")) {
		system_text(s->root, &dependencies, "%s/modules.dep", directory);
		text_char(&modules, '\0');
		text_char(&dependencies, '\0');
		for (char *line = strtok_r(modules.bytes, "\n", &rest); line != NULL;
		     line = strtok_r(NULL, "\n", &rest))
			write_module(s, line, dependencies.bytes, directory);
	}
	text_release(&dependencies);
	text_release(&modules);
}

void synthesize_kernel(struct synthesis *s)
{
	struct kernel_range range;
	bool has_list;

	if (!find_kernel(s, &range, &has_list)) {
		diags_add(s->diags, DIAG_NOTE, ERR_NOWHERE, 0,
			  has_list ? "kernel code will have no symbols: its addresses are hidden "
				     "(kptr_restrict or perf_event_paranoid, see cyclops doctor)"
				   : "kernel code will have no symbols: /proc/kallsyms cannot be "
				     "read");
		return;
	}
	write_kernel(s, &range);
	write_modules(s);
}
