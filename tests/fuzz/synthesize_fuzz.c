/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of processes and of itself: lines of /proc/PID/maps, /proc/kallsyms and
 * /proc/modules, and, behind the first byte of zero, the ELF notes that have a build-id.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/synthesize/build_ids.h"
#include "record/synthesize/synthesize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_kernel_line(const char *line, struct kernel_range *range)
{
	char name[MODULE_NAME_SIZE];
	struct record_mmap map;

	if (synthesize_read_symbol(line, range) && (range->mark == NULL || range->end == 0))
		abort();
	if (synthesize_read_module(line, name, &map) &&
	    (map.start == 0 || name[0] == '\0' || strstr(line, name) == NULL))
		abort();
}

/* This ends the path in the line. */
static void read_map_line(char *line)
{
	const char *end = line + strlen(line);
	struct record_mmap map;

	if (!synthesize_read_map(line, &map))
		return;
	if (map.start + map.length < map.start || map.path[0] == '\0')
		abort();
	if (strcmp(map.path, "//anon") != 0 && (map.path < line || map.path > end))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(bytes, 0, size) : NULL;
	size_t n = end != NULL ? (size_t)(end - bytes) : size;
	char *text = mem_strndup((const char *)bytes, n), *rest;
	struct kernel_range range = { 0 };
	struct build_id id;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		read_kernel_line(line, &range);
		read_map_line(line);
	}
	if (end != NULL && build_id_of_notes(cur_of(end + 1, size - n - 1), &id) &&
	    id.size > sizeof(id.bytes))
		abort();
	free(text);
	return 0;
}
