/* SPDX-License-Identifier: Apache-2.0 */
#include "model/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

bool mapping_read(const char *line, struct mapping *out)
{
	struct mapping m = { 0 };
	char rights[5];
	int path_at = 0;
	size_t length;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.start, &m.end,
		   rights, &m.offset, &path_at) < 4 ||
	    path_at == 0 || strlen(rights) < 4)
		return false;
	m.protection = (rights[0] == 'r' ? PROT_READ : 0u) | (rights[1] == 'w' ? PROT_WRITE : 0u) |
		       (rights[2] == 'x' ? PROT_EXEC : 0u);
	m.is_shared = rights[3] == 's';
	length = strcspn(line + path_at, "\n");
	m.path = mem_strndup(line + path_at, length);
	*out = m;
	return true;
}

bool mapping_find(uint64_t address, struct mapping *out)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (file == NULL)
		return false;
	while (!found && getline(&line, &size, file) > 0) {
		if (!mapping_read(line, out))
			continue;
		found = address >= out->start && address < out->end;
		if (!found)
			free(out->path);
	}
	free(line);
	fclose(file);
	return found;
}

void mappings_find_shared(uint64_t base, struct spans *out)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	struct mapping m;

	while (file != NULL && getline(&line, &size, file) > 0) {
		if (!mapping_read(line, &m))
			continue;
		if (m.is_shared && m.start >= base)
			spans_add(out, m.start - base, m.end - base);
		free(m.path);
	}
	free(line);
	if (file != NULL)
		fclose(file);
}

void spans_copy(const struct spans *from, struct spans *out)
{
	for (size_t i = 0; i < from->list.n; i++)
		*vec_add(&out->list) = from->list.items[i];
}

void spans_release(struct spans *r)
{
	vec_release(&r->list);
}

bool spans_hold(const struct spans *r, uint64_t address)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (address >= r->list.items[i].start && address < r->list.items[i].end)
			return true;
	return false;
}

void spans_add(struct spans *r, uint64_t start, uint64_t end)
{
	*vec_add(&r->list) = (struct span){ .start = start, .end = end };
}

void spans_forget(struct spans *r, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.items[i].end <= start || r->list.items[i].start >= end)
			r->list.items[kept++] = r->list.items[i];
	r->list.n = kept;
}
