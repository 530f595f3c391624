/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/spe_filters.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "spe/names.h"

/* Bits of the SPE event's config that choose operations. */
static const struct {
	unsigned bit;
	const char *name;
} kinds[] = {
	{ 32, "branches" }, { 33, "loads" },	      { 34, "stores" },
	{ 39, "SIMD" },	    { 41, "floating point" },
};

bool spe_filters_hide_kinds(const struct attr *a)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (a->config >> kinds[i].bit & 1)
			return true;
	return false;
}

bool spe_filters_hide_outcomes(const struct attr *a)
{
	return a->config1 != 0 || a->config2 != 0 || a->config3 != 0 || a->config4 != 0;
}

static void add_kinds(const struct attr *a, struct text *out)
{
	bool has_filter = false;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!(a->config >> kinds[i].bit & 1))
			continue;
		text_str(out, has_filter ? " + " : ", only ");
		text_str(out, kinds[i].name);
		has_filter = true;
	}
	if (!has_filter)
		text_str(out, ", all operations");
}

void spe_filters_text(const struct attr *a, struct text *out)
{
	add_kinds(a, out);
	if (a->config1 != 0) {
		text_str(out, ", only with ");
		spe_events_text(a->config1, '+', out);
	}
	if (a->config3 != 0) {
		text_str(out, ", none with ");
		spe_events_text(a->config3, '+', out);
	}
	if (a->config4 != 0)
		text_format(out, ", not from data sources 0x%" PRIx64 " (bits)", a->config4);
	if (a->config2 != 0)
		text_format(out, ", latency from %" PRIu64 " cycles", a->config2);
	if (a->flags >> ATTR_EXCLUDE_KERNEL & 1)
		text_str(out, ", user only");
	if (a->flags >> ATTR_EXCLUDE_USER & 1)
		text_str(out, ", kernel only");
}
