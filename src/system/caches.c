/* SPDX-License-Identifier: Apache-2.0 */
#include "system/caches.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "system/system.h"

#define CACHE "/sys/devices/system/cpu/cpu%u/cache/index%u/"

void caches_read(struct caches *out, const char *root, unsigned cpu)
{
	enum { MOST_INDEXES = 16 };
	char type[32], size[32];
	int64_t level;

	*out = (struct caches){ 0 };
	for (unsigned i = 0; i < MOST_INDEXES && out->n < CACHES_MAX; i++) {
		const char *at = size;
		uint64_t bytes;
		unsigned k;

		if (!system_line(root, type, sizeof(type), CACHE "type", cpu, i) ||
		    strcmp(type, "Instruction") == 0 ||
		    !system_number(root, &level, CACHE "level", cpu, i) || level < 1 || level > 9 ||
		    !system_line(root, size, sizeof(size), CACHE "size", cpu, i) ||
		    size_parse(&at, &bytes) < 0)
			continue;
		for (k = out->n; k > 0 && out->items[k - 1].level > level; k--)
			out->items[k] = out->items[k - 1];
		out->items[k].level = (unsigned)level;
		out->items[k].bytes = bytes;
		out->n++;
	}
}

uint64_t caches_bytes(const struct caches *c, unsigned level)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->items[i].level == level)
			return c->items[i].bytes;
	return 0;
}

uint64_t caches_last(const struct caches *c)
{
	return c->n == 0 ? 0 : c->items[c->n - 1].bytes;
}

const char *caches_name(const struct caches *c, double bytes)
{
	static const char *const names[] = { "L1D", "L2", "L3", "L4" };

	for (unsigned i = 0; i < c->n; i++)
		if (bytes <= (double)c->items[i].bytes)
			return c->items[i].level <= COUNT(names) ? names[c->items[i].level - 1]
								 : "cache";
	return c->n == 0 ? NULL : "DRAM";
}
