/* SPDX-License-Identifier: Apache-2.0 */
/* perf's names for events without a name. */
#include "capture/format/attr.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",
};

/* Bits of cache_names.ops, and words for the operations. */
enum { LOADS = 1, STORES = 2, PREFETCHES = 4 };

static const struct {
	const char *name;
	unsigned ops; /* operations that the cache has */
} cache_names[] = {
	{ "L1-dcache", LOADS | STORES | PREFETCHES },
	{ "L1-icache", LOADS | PREFETCHES },
	{ "LLC", LOADS | STORES | PREFETCHES },
	{ "dTLB", LOADS | STORES | PREFETCHES },
	{ "iTLB", LOADS },
	{ "branch", LOADS },
	{ "node", LOADS | STORES | PREFETCHES },
};

static const struct {
	const char *all, *misses;
} cache_ops[] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

static void cache_name(uint64_t config, struct text *out)
{
	unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(cache_names)) {
		text_str(out, "unknown-ext-hardware-cache-type");
	} else if (op >= COUNT(cache_ops)) {
		text_str(out, "unknown-ext-hardware-cache-op");
	} else if (result > 1) {
		text_str(out, "unknown-ext-hardware-cache-result");
	} else if ((cache_names[cache].ops >> op & 1) == 0) {
		text_str(out, "invalid-cache");
	} else {
		text_str(out, cache_names[cache].name);
		text_char(out, '-');
		text_str(out, result == 1 ? cache_ops[op].misses : cache_ops[op].all);
	}
}

/* The name of a breakpoint: address and access. */
static void breakpoint_name(const struct attr *attr, struct text *out)
{
	static const char letters[] = { 'r', 'w', 'x' };

	text_format(out, "mem:0x%" PRIx64 ":", attr->config1);
	for (unsigned i = 0; i < COUNT(letters); i++) {
		if (attr->bp_type >> i & 1)
			text_char(out, letters[i]);
	}
}

static const char *listed_name(const char *const *names, size_t n, uint64_t config,
			       const char *unknown)
{
	return config < n ? names[config] : unknown;
}

/* Appends the letter of a mode that is not excluded. `n`: letters so far. */
static unsigned add_letter(const struct attr *attr, enum attr_flag excluded, char letter,
			   unsigned n, struct text *out)
{
	if (attr_has(attr, excluded))
		return n;
	if (n == 0)
		text_char(out, ':');
	text_char(out, letter);
	return n + 1;
}

static void add_modifiers(const struct attr *attr, struct text *out)
{
	unsigned precise = attr->flags >> ATTR_PRECISE_IP & 3, n = 0;
	bool user_or_kernel = attr_has(attr, ATTR_EXCLUDE_USER) ||
			      attr_has(attr, ATTR_EXCLUDE_KERNEL) ||
			      attr_has(attr, ATTR_EXCLUDE_HV);

	if (user_or_kernel) {
		n = add_letter(attr, ATTR_EXCLUDE_KERNEL, 'k', n, out);
		n = add_letter(attr, ATTR_EXCLUDE_USER, 'u', n, out);
		n = add_letter(attr, ATTR_EXCLUDE_HV, 'h', n, out);
	}
	if (precise > 0 && n == 0)
		text_char(out, ':');
	text_repeat(out, 'p', precise);
	n += precise;
	/* perf always excludes guests if there is another modifier. */
	if (attr_has(attr, ATTR_EXCLUDE_HOST) ||
	    attr_has(attr, ATTR_EXCLUDE_GUEST) == (user_or_kernel || precise > 0)) {
		n = add_letter(attr, ATTR_EXCLUDE_HOST, 'H', n, out);
		add_letter(attr, ATTR_EXCLUDE_GUEST, 'G', n, out);
	}
}

void attr_name(const struct attr *attr, const char *pmu, struct text *out)
{
	/* On hybrid machines the upper half is the PMU's type. */
	uint64_t event = attr->config & UINT32_MAX;

	switch (attr->type) {
	case ATTR_TYPE_HARDWARE:
		text_str(out, listed_name(hardware_names, COUNT(hardware_names), event,
					  "unknown-hardware"));
		break;
	case ATTR_TYPE_SOFTWARE:
		text_str(out, listed_name(software_names, COUNT(software_names), attr->config,
					  "unknown-software"));
		break;
	case ATTR_TYPE_HW_CACHE:
		cache_name(event, out);
		break;
	case ATTR_TYPE_RAW:
		text_format(out, "raw 0x%" PRIx64, attr->config);
		break;
	case ATTR_TYPE_BREAKPOINT:
		breakpoint_name(attr, out);
		break;
	case ATTR_TYPE_TRACEPOINT:
		text_str(out, "unknown tracepoint");
		return;
	default:
		if (pmu != NULL)
			text_str(out, pmu);
		else
			text_format(out, "unknown attr type: %" PRId32, (int32_t)attr->type);
		return;
	}
	add_modifiers(attr, out);
}
