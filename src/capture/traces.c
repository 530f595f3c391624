/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a capture's trace data is of Arm SPE. An AUXTRACE record says whose buffer its data is from,
 * not which PMU filled it: perf has one kind of trace in a file. Where there are several, ID_INDEX
 * knows the events of each buffer; without it the bytes themselves have to tell.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "capture/state.h"

/* enum auxtrace_type of perf's util/auxtrace.h, and how the kernel's PMUs of that kind begin. */
static const struct {
	const char *name, *pmu;
} kinds[N_TRACE_KINDS] = {
	[1] = { "Intel PT", "intel_pt" },     [2] = { "Intel BTS", "intel_bts" },
	[3] = { "CoreSight ETM", "cs_etm" },  [TRACE_ARM_SPE] = { "Arm SPE", "arm_spe" },
	[5] = { "s390 CPU-MF", NULL },	      [6] = { "HiSilicon PTT", "hisi_ptt" },
	[7] = { "POWER VPA DTL", "vpa_dtl" },
};

static const char *trace_name(uint32_t kind)
{
	return kind < N_TRACE_KINDS && kinds[kind].name != NULL ? kinds[kind].name
								: "an unknown kind";
}

/* By the PMU's name; 0: it writes no trace, or is not known. */
static uint32_t kind_of_pmu(const struct capture *c, uint32_t type)
{
	for (size_t i = 0; i < c->info.pmus.n; i++) {
		const char *name;

		if (c->info.pmus.items[i].type != type)
			continue;
		name = strings_get(&c->strings, c->info.pmus.items[i].name);
		for (uint32_t kind = 0; kind < N_TRACE_KINDS; kind++)
			if (kinds[kind].pmu != NULL &&
			    strncmp(name, kinds[kind].pmu, strlen(kinds[kind].pmu)) == 0)
				return kind;
	}
	return 0;
}

static bool is_spe_by_info(const struct spe_info *spe, uint32_t type)
{
	if (spe->version != 0 && type == spe->pmu_type)
		return true;
	for (size_t i = 0; i < spe->cpus.n; i++)
		if (spe->cpus.items[i].pmu_type == type && type != UINT32_MAX)
			return true;
	return false;
}

static uint32_t kind_of_event(const struct capture *c, int event)
{
	uint32_t type;

	if (event < 0)
		return 0;
	type = c->events.list.items[event].attr.type;
	return is_spe_by_info(&c->spe, type) ? TRACE_ARM_SPE : kind_of_pmu(c, type);
}

bool capture_is_spe_type(const struct capture *c, uint32_t type)
{
	return is_spe_by_info(&c->spe, type) || kind_of_pmu(c, type) == TRACE_ARM_SPE;
}

bool capture_is_trace(const struct capture *c, size_t index)
{
	return (int)index == c->spe.event || kind_of_event(c, (int)index) != 0;
}

/* Event ids and the numbers of the buffers that they write to. */
void traces_index_record(struct capture *c, const struct record *r)
{
	enum { CPU_AND_THREAD_BYTES = 2 * sizeof(uint64_t) };
	struct cursor body = r->body;

	for (uint64_t n = cur_u64(&body); n > 0; n--) {
		struct buffer_event e = { .id = cur_u64(&body) };

		e.idx = cur_u64(&body);
		cur_skip(&body, CPU_AND_THREAD_BYTES);
		if (body.bad)
			return;
		*vec_add(&c->buffer_events) = e;
	}
}

/* The kind of buffer `idx` by its events; 0: none of them, or several kinds. */
static uint32_t kind_by_index(const struct capture *c, uint32_t idx)
{
	uint32_t found = 0;

	for (size_t i = 0; i < c->buffer_events.n; i++) {
		const struct buffer_event *e = &c->buffer_events.items[i];
		uint32_t kind =
			e->idx == idx ? kind_of_event(c, events_of_id(&c->events, e->id)) : 0;

		if (kind != 0 && found != 0 && kind != found)
			return 0;
		found = kind != 0 ? kind : found;
	}
	return found;
}

/* The kinds that the records and the events of the capture name, as bits. */
static uint32_t kinds_named(const struct capture *c)
{
	uint32_t named = c->traces_told;

	for (size_t i = 0; i < c->events.list.n; i++)
		named |= 1u << kind_of_event(c, (int)i);
	return named & ~1u;
}

/* The kind of a bit, if it is the only one; else 0. */
static uint32_t only_kind(uint32_t named)
{
	return named != 0 && (named & (named - 1)) == 0 ? (uint32_t)__builtin_ctz(named) : 0;
}

/* Where no PMU's name tells, the only kind that the capture names is meant. */
bool capture_is_other_trace(const struct capture *c, int event)
{
	uint32_t kind = kind_of_event(c, event);

	kind = kind != 0 ? kind : only_kind(kinds_named(c));
	return kind != 0 && kind != TRACE_ARM_SPE;
}

/* The kind of each buffer; `numbers` gets the buffers' idx. To be freed. */
static uint32_t *kinds_of_buffers(const struct capture *c, struct tuples *numbers)
{
	uint32_t named = kinds_named(c), only = only_kind(named);
	uint32_t *out = mem_zalloc(c->chunks.n + 1, sizeof(*out));
	size_t n_known = 0;

	for (size_t i = 0; i < c->chunks.n; i++) {
		const struct aux_chunk *chunk = &c->chunks.items[i];
		uint32_t number = tuples_add(numbers, &(uint64_t){ chunk->header.idx });

		if (number == n_known) {
			out[number] = only != 0 ? only : kind_by_index(c, chunk->header.idx);
			n_known++;
		}
		if (out[number] == 0 && named & 1u << TRACE_ARM_SPE &&
		    raw_is_likely(chunk->bytes, chunk->size))
			out[number] = TRACE_ARM_SPE;
	}
	for (size_t i = 0; i < n_known; i++)
		if (out[i] == 0)
			out[i] = only_kind(named & ~(1u << TRACE_ARM_SPE));
	return out;
}

void traces_finish(struct capture *c)
{
	struct tuples numbers;
	uint32_t *of_buffer;
	size_t n = 0;

	tuples_init(&numbers, 1);
	of_buffer = kinds_of_buffers(c, &numbers);
	for (size_t i = 0; i < c->chunks.n; i++) {
		struct aux_chunk chunk = c->chunks.items[i];
		uint32_t kind = of_buffer[tuples_add(&numbers, &(uint64_t){ chunk.header.idx })];

		if (kind == TRACE_ARM_SPE)
			c->chunks.items[n++] = chunk;
		else
			*vec_add(&c->others) =
				(struct other_trace){ kind, chunk.position, chunk.size };
	}
	c->chunks.n = n;
	free(of_buffer);
	tuples_release(&numbers);
}

void traces_account(struct capture *c)
{
	for (size_t i = 0; i < c->others.n; i++) {
		const struct other_trace *o = &c->others.items[i];
		char text[64];

		snprintf(text, sizeof(text), "not decoded: trace data of %s", trace_name(o->kind));
		capture_unread_bytes(c, DIAG_NOTE, o->position, o->size, text);
	}
}

uint64_t capture_other_trace_bytes(const struct capture *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->others.n; i++)
		bytes += c->others.items[i].size;
	return bytes;
}

void capture_other_trace_names(const struct capture *c, struct text *out)
{
	uint32_t named = c->others.n > 0 ? kinds_named(c) & ~(1u << TRACE_ARM_SPE) : 0;

	for (uint32_t kind = 0, n = 0; kind < N_TRACE_KINDS; kind++) {
		bool is_there = named >> kind & 1;

		for (size_t i = 0; i < c->others.n && !is_there; i++)
			is_there = c->others.items[i].kind == kind;
		if (is_there)
			text_format(out, "%s%s", n++ > 0 ? " and " : "", trace_name(kind));
	}
}
