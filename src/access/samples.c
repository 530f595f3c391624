/* SPDX-License-Identifier: Apache-2.0 */
#include "access/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/data_src.h"
#include "base/alloc.h"
#include "capture/format/info.h"
#include "capture/format/sample.h"
#include "cpu/makers.h"

enum { FULL = 65535 };		    /* saturated counter of 16 bits; some PMUs have wider ones */
#define LARGEST ((uint64_t)1 << 31) /* no access takes so many cycles */

enum { LDLAT_MASK = 0xffff }; /* least latency of x86 loads, in config1 */

/* Do samples of the event have a data source? SPE's event may ask for one, but has no samples. */
static bool has_data_source(const struct session *s, size_t event)
{
	const struct attr *a = &capture_event(s->capture, event)->attr;

	return a->sample_type >> SAMPLE_DATA_SRC & 1 && !attr_is_dummy(a) &&
	       !capture_is_spe_type(s->capture, a->type);
}

bool access_is_sampled(const struct session *s)
{
	if (capture_spe(s->capture)->is_present && capture_totals(s->capture)->aux_bytes > 0)
		return false;
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (has_data_source(s, i))
			return true;
	return false;
}

enum memory_kind sample_memory_kind(const struct batch *b, size_t row)
{
	unsigned access = b->has[row] & HAS_DATA_SRC ? data_src_access(b->data_src[row]) : 0;

	if (access & DATA_LOCKED)
		return MEMORY_ATOMIC;
	if (access & DATA_STORE)
		return MEMORY_STORE;
	return access & DATA_LOAD ? MEMORY_LOAD : MEMORY_NONE;
}

struct access_sampling access_sampling_of(const struct session *s)
{
	const char *arch = strings_get(capture_strings(s->capture), capture_info(s->capture)->arch);
	struct access_sampling out = { .is_of_spe = strcmp(arch, "aarch64") == 0, .event = -1 };

	for (size_t i = 0; out.is_of_spe && i < capture_n_events(s->capture); i++)
		if (has_data_source(s, i) &&
		    strcmp(capture_event_name(s->capture, i), "memory") == 0)
			out.event = (int)i;
	return out;
}

static void set_sample_latency(struct sample_latencies *l, enum latency what, bool has,
			       uint64_t cycles)
{
	l->cycles[what] = (uint32_t)(cycles < LARGEST ? cycles : LARGEST);
	if (has && cycles != 0)
		l->state[what] =
			cycles == FULL || cycles >= LARGEST ? LATENCY_FULL : LATENCY_USABLE;
}

struct sample_latencies sample_latencies_of(const struct access_sampling *sampling,
					    const struct batch *b, size_t row)
{
	struct sample_latencies l = { .state = { LATENCY_ABSENT } };
	bool has_parts = b->has[row] & HAS_WEIGHT_PARTS;

	set_sample_latency(&l, LATENCY_TOTAL, b->has[row] & HAS_WEIGHT, b->weight[row]);
	if (l.state[LATENCY_TOTAL] == LATENCY_USABLE && sampling->is_of_spe &&
	    latency_is_full(b->weight[row]))
		l.state[LATENCY_TOTAL] = LATENCY_FULL;
	set_sample_latency(&l, LATENCY_INSTRUCTION, has_parts, has_parts ? b->weight2[row] : 0);
	set_sample_latency(&l, LATENCY_STAGE, has_parts, has_parts ? b->weight3[row] : 0);
	return l;
}

/* The least latency that an event samples, in cycles: by its name, else by its config1; 0: any. */
static uint64_t least_latency(const struct attr *a, const char *name, const struct cpu_maker *maker)
{
	const char *text = strstr(name, "ldlat=");

	if (text != NULL)
		return strtoull(text + strlen("ldlat="), NULL, 0);
	if (cpu_maker_samples_latency(maker, a->config))
		return a->config1 & LDLAT_MASK;
	return 0;
}

static void note_threshold(const struct session *s, size_t event, const struct cpu_maker *maker,
			   struct table *t)
{
	const char *name = capture_event_name(s->capture, event);
	const struct attr *a = &capture_event(s->capture, event)->attr;
	uint64_t least = least_latency(a, name, maker);

	if (has_data_source(s, event) && least > 1)
		table_note(t,
			   "%s samples only loads of %" PRIu64
			   " cycles or more: all numbers are of these",
			   name, least);
}

static bool has_weights(const struct session *s)
{
	const uint64_t weights = (uint64_t)1 << SAMPLE_WEIGHT | (uint64_t)1 << SAMPLE_WEIGHT_STRUCT;

	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (capture_event(s->capture, i)->attr.sample_type & weights)
			return true;
	return false;
}

void access_samples_note(const struct session *s, struct table *t)
{
	const struct info *info = capture_info(s->capture);
	const struct strings *strings = capture_strings(s->capture);
	const char *cpuid = strings_get(strings, info->cpuid);
	const char *arch = strings_get(strings, info->arch);
	const struct cpu_maker *maker = catalog_maker_find(s->catalog, arch, cpuid);

	table_note(t, "from PMU samples with a data source: no totals, bytes or bandwidth");
	if (has_weights(s) && maker != NULL)
		table_note(t, "latency (the sample's weight): %s", maker->weight);
	else if (has_weights(s))
		table_note(t, "latency: the sample's weight. Its meaning depends on the CPU, "
			      "which the capture does not name");
	else
		table_note(t, "no latencies: the samples have no weights (perf record -W)");
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		note_threshold(s, i, maker, t);
}

void access_samples_note_unused(const struct session *s, struct table *t)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (has_data_source(s, i))
			table_note(t, "SPE records are counted here, samples of %s are not",
				   capture_event_name(s->capture, i));
}
