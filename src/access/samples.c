/* SPDX-License-Identifier: Apache-2.0 */
#include "access/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/data_src.h"
#include "base/alloc.h"
#include "capture/format/info.h"
#include "capture/format/sample.h"

enum { FULL = 65535 };		    /* weights of PMUs have 16 bits, or more */
#define LARGEST ((uint64_t)1 << 31) /* more is no latency of anything */

/* Events of Intel's PMUs that sample loads by their latency: config1 has the least one. */
enum { LOAD_LATENCY = 0x1cd, LOAD_LATENCY_ATOM = 0x5d0, EVENT_MASK = 0xffff };

/* Events of SPE may have the flag, too, but no samples. */
static bool has_source(const struct session *s, size_t event)
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
		if (has_source(s, i))
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
		if (has_source(s, i) && strcmp(capture_event_name(s->capture, i), "memory") == 0)
			out.event = (int)i;
	return out;
}

static void set(struct sample_latencies *l, enum latency what, bool has, uint64_t cycles)
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

	set(&l, LATENCY_TOTAL, b->has[row] & HAS_WEIGHT, b->weight[row]);
	if (l.state[LATENCY_TOTAL] == LATENCY_USABLE && sampling->is_of_spe &&
	    latency_is_full(b->weight[row]))
		l.state[LATENCY_TOTAL] = LATENCY_FULL;
	set(&l, LATENCY_INSTRUCTION, has_parts, has_parts ? b->weight2[row] : 0);
	set(&l, LATENCY_STAGE, has_parts, has_parts ? b->weight3[row] : 0);
	return l;
}

/* The least latency that an event samples: as its name has it, or its configuration; 0: any. */
static uint64_t least_latency(const struct attr *a, const char *name, bool is_intel)
{
	const char *text = strstr(name, "ldlat=");
	uint64_t event = a->config & EVENT_MASK;

	if (text != NULL)
		return strtoull(text + strlen("ldlat="), NULL, 0);
	if (is_intel && (event == LOAD_LATENCY || event == LOAD_LATENCY_ATOM))
		return a->config1 & EVENT_MASK;
	return 0;
}

static void note_threshold(const struct session *s, size_t event, bool is_intel, struct table *t)
{
	const char *name = capture_event_name(s->capture, event);
	const struct attr *a = &capture_event(s->capture, event)->attr;
	uint64_t least = least_latency(a, name, is_intel);

	if (has_source(s, event) && least > 1)
		table_note(t,
			   "%s samples no load that took less than %" PRIu64
			   " cycles: counts, shares, means and percentiles are of slower ones only",
			   name, least);
}

/* What a weight counts depends on who made the CPU. */
static const struct {
	const char *arch, *cpuid; /* how these begin */
	const char *meaning;
} makers[] = {
	{ "x86", "GenuineIntel",
	  "latency (the sample's weight): core cycles of the access, from its dispatch until it "
	  "had its data; instruction: of the whole instruction; stage: from the retirement "
	  "before to its own" },
	{ "x86", "AuthenticAMD",
	  "latency (the sample's weight): core cycles until a load that missed the L1 had its "
	  "data, none for hits; instruction: from its tag to its retirement" },
	{ "x86", "HygonGenuine",
	  "latency (the sample's weight): core cycles until a load that missed the L1 had its "
	  "data, none for hits; instruction: from its tag to its retirement" },
	{ "ppc", "",
	  "latency (the sample's weight): cycles between the two events that the threshold "
	  "counter was set to; instruction: until it finished; stage: until it was dispatched" },
	{ "aarch64", "",
	  "latency (the sample's weight): the total latency of the SPE record that perf made the "
	  "sample of" },
};

static const char *meaning_of(const char *arch, const char *cpuid)
{
	for (size_t i = 0; i < COUNT(makers); i++)
		if (strncmp(arch, makers[i].arch, strlen(makers[i].arch)) == 0 &&
		    strncmp(cpuid, makers[i].cpuid, strlen(makers[i].cpuid)) == 0)
			return makers[i].meaning;
	return "latency: the sample's weight, whose meaning depends on the CPU, which the capture "
	       "does not tell";
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
	bool is_intel = strncmp(cpuid, "GenuineIntel", strlen("GenuineIntel")) == 0;

	table_note(t, "of PMU samples with a data source: nothing follows for operations that "
		      "were not sampled, so no totals, bytes or bandwidth");
	if (has_weights(s))
		table_note(t, "%s", meaning_of(arch, cpuid));
	else
		table_note(t, "no latencies: the samples have no weights (perf record -W)");
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		note_threshold(s, i, is_intel, t);
}

void access_samples_note_unused(const struct session *s, struct table *t)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (has_source(s, i))
			table_note(t,
				   "samples of %s have data sources, too, and are not counted "
				   "here: they are another sampling than SPE records",
				   capture_event_name(s->capture, i));
}
