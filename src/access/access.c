/* SPDX-License-Identifier: Apache-2.0 */
#include "access/access.h"

#include "access/data_src.h"
#include "access/kind.h"
#include "estimate/latency.h"
#include "spe/packet.h"

/* What loads, stores and walks are is random, so but for rows that are no access nothing is decided. */
static bool read_spe_access(const struct session *s, const struct batch *b, size_t row,
			    struct access *out)
{
	uint32_t has = b->has[row];
	uint32_t cpu = batch_cpu(b, row);
	enum memory_kind kind =
		has & HAS_OP ? memory_kind_of(b->op_class[row], b->op[row]) : MEMORY_NONE;
	bool has_source = ((has & HAS_SOURCE) != 0) & (kind != MEMORY_STORE);
	bool is_translated = (has & HAS_EVENTS) != 0;
	bool has_walk = is_translated & (b->events[row] >> SPE_EV_TLB_WALK & 1);
	bool has_walk_cycles = has_walk & ((has & HAS_XLAT) != 0);
	const struct cpu_source *source;

	if (kind == MEMORY_NONE)
		return false;
	source = session_source(s, cpu, (uint16_t)(b->source[row] & -(unsigned)has_source));
	*out = (struct access){
		.address = b->va[row] & -(uint64_t)((has & HAS_VA) != 0),
		.kind = kind,
		.is_translated = is_translated,
		.has_walk = has_walk,
		.has_walk_cycles = has_walk_cycles,
		.has_cycles = (has & HAS_TOTAL) != 0,
		.is_saturated = latency_is_full(b->total[row]),
		.cycles = b->total[row],
		.walk_cycles = b->xlat[row] & -(uint64_t)has_walk_cycles,
		.level = source != NULL ? (enum source_level)(source->level & -(int)has_source)
					: SOURCE_UNKNOWN,
	};
	return true;
}

static bool read_sample_access(const struct access_sampling *sampling, const struct batch *b,
			       size_t row, struct access *out)
{
	int event = sampling->event;
	uint64_t source = b->has[row] & HAS_DATA_SRC ? b->data_src[row] : 0;
	unsigned access = data_src_access(source);
	uint64_t facts = data_src_facts(source);
	struct sample_latencies l;

	if (access == 0 || (event >= 0 && b->event[row] != (unsigned)event))
		return false;
	l = sample_latencies_of(sampling, b, row);
	out->kind = sample_memory_kind(b, row);
	out->has_cycles = l.state[LATENCY_TOTAL] != LATENCY_ABSENT;
	out->is_saturated = l.state[LATENCY_TOTAL] == LATENCY_FULL;
	out->cycles = out->has_cycles ? l.cycles[LATENCY_TOTAL] : 0;
	out->has_walk = facts >> SPE_EV_TLB_WALK & 1;
	out->is_translated = out->has_walk || facts >> SPE_EV_TLB_ACCESS & 1;
	out->level = access & DATA_LOAD ? data_src_level(source) : SOURCE_UNKNOWN;
	return true;
}

bool access_read(const struct session *s, const struct access_sampling *sampling,
		 const struct batch *b, size_t row, struct access *out)
{
	if (b->kind == BATCH_SPE)
		return read_spe_access(s, b, row, out);
	*out = (struct access){ .address = b->has[row] & HAS_VA ? b->va[row] : 0 };
	return b->kind == BATCH_SAMPLES && read_sample_access(sampling, b, row, out);
}
