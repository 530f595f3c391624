/* SPDX-License-Identifier: Apache-2.0 */
/* Record bodies for the writer: docs/reference/perf-data.md sections 3.1, 3.2, 5, 6, 7. */
#include "capture/writer/writer.h"

#include <assert.h>
#include <string.h>

#include "batch/batch.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "capture/writer/writer_inside.h"

static bool wants_field(const struct attr *attr, enum sample_bit bit)
{
	return attr->sample_type >> bit & 1;
}

/* A value of the trailer: 0 if it is absent. */
static uint64_t value_or_zero(const struct sample_id *id, uint32_t has, uint64_t value)
{
	return (id->has & has) != 0 ? value : 0;
}

static void emit_sample_id(struct text *out, const struct attr *attr, const struct sample_id *id)
{
	if (!attr_has(attr, ATTR_SAMPLE_ID_ALL))
		return;
	if (wants_field(attr, SAMPLE_TID)) {
		emit_u32(out, (uint32_t)value_or_zero(id, HAS_PID, id->pid));
		emit_u32(out, (uint32_t)value_or_zero(id, HAS_TID, id->tid));
	}
	if (wants_field(attr, SAMPLE_TIME))
		emit_u64(out, value_or_zero(id, HAS_TIME, id->time_ns));
	if (wants_field(attr, SAMPLE_ID))
		emit_u64(out, id->id);
	if (wants_field(attr, SAMPLE_STREAM_ID))
		emit_u64(out, id->stream_id);
	if (wants_field(attr, SAMPLE_CPU))
		emit_u64(out, value_or_zero(id, HAS_CPU, id->cpu));
	if (wants_field(attr, SAMPLE_IDENTIFIER))
		emit_u64(out, id->id);
}

/* Ends a kernel record: appends the trailer and writes it. */
static void writer_records_finish(struct writer *w, uint32_t type, uint16_t misc, struct text *body,
				  const struct sample_id *id)
{
	static const struct sample_id none;

	if (id == NULL)
		id = &none;
	emit_sample_id(body, writer_attr_of_id(w, id->id), id);
	writer_record(w, type, misc, body->bytes, body->n);
}

static void emit_range(struct text *body, const struct record_mmap *map)
{
	emit_u32(body, map->pid);
	emit_u32(body, map->tid);
	emit_u64(body, map->start);
	emit_u64(body, map->length);
	emit_u64(body, map->page_offset);
}

void writer_mmap(struct writer *w, const struct record_mmap *map, uint16_t misc,
		 const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_range(body, map);
	emit_padded_text(body, map->path, 8);
	writer_records_finish(w, RECORD_MMAP, misc, body, id);
}

void writer_mmap2(struct writer *w, const struct record_mmap *map, uint16_t misc,
		  const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_range(body, map);
	if ((misc & MISC_MMAP_BUILD_ID) != 0) {
		emit_u32(body, map->build_id.size);
		emit_bytes(body, map->build_id.bytes, sizeof(map->build_id.bytes));
	} else {
		emit_u32(body, map->major);
		emit_u32(body, map->minor);
		emit_u64(body, map->inode);
		emit_u64(body, map->inode_generation);
	}
	emit_u32(body, map->protection);
	emit_u32(body, map->flags);
	emit_padded_text(body, map->path, 8);
	writer_records_finish(w, RECORD_MMAP2, map->is_data ? misc | MISC_MMAP_DATA : misc, body,
			      id);
}

void writer_comm(struct writer *w, const struct record_comm *comm, const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u32(body, comm->pid);
	emit_u32(body, comm->tid);
	emit_padded_text(body, comm->comm, 8);
	writer_records_finish(w, RECORD_COMM, comm->is_exec ? MISC_COMM_EXEC : 0, body, id);
}

void writer_task(struct writer *w, uint32_t type, const struct record_task *task,
		 const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	assert(type == RECORD_FORK || type == RECORD_EXIT);
	emit_u32(body, task->pid);
	emit_u32(body, task->ppid);
	emit_u32(body, task->tid);
	emit_u32(body, task->ptid);
	emit_u64(body, task->time_ns);
	writer_records_finish(w, type, task->lists_maps ? MISC_FORK_EXEC : 0, body, id);
}

void writer_namespaces(struct writer *w, const struct record_namespaces *spaces,
		       const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u32(body, spaces->pid);
	emit_u32(body, spaces->tid);
	emit_u64(body, N_NAMESPACES);
	for (size_t i = 0; i < N_NAMESPACES; i++) {
		emit_u64(body, spaces->links[i].device);
		emit_u64(body, spaces->links[i].inode);
	}
	writer_records_finish(w, RECORD_NAMESPACES, 0, body, id);
}

void writer_switch(struct writer *w, const struct record_switch *change, const struct sample_id *id)
{
	struct text *body = writer_scratch(w);
	uint16_t misc = change->is_out ? MISC_SWITCH_OUT : 0;

	if (change->is_preempted)
		misc |= MISC_SWITCH_OUT_PREEMPT;
	if (change->has_other) {
		emit_u32(body, change->other_pid);
		emit_u32(body, change->other_tid);
	}
	writer_records_finish(w, change->has_other ? RECORD_SWITCH_CPU_WIDE : RECORD_SWITCH, misc,
			      body, id);
}

void writer_aux(struct writer *w, const struct record_aux *aux, const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u64(body, aux->offset);
	emit_u64(body, aux->size);
	emit_u64(body, aux->flags);
	writer_records_finish(w, RECORD_AUX, 0, body, id);
}

void writer_itrace_start(struct writer *w, uint32_t pid, uint32_t tid, const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u32(body, pid);
	emit_u32(body, tid);
	writer_records_finish(w, RECORD_ITRACE_START, 0, body, id);
}

void writer_lost(struct writer *w, const struct record_lost *lost, const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u64(body, lost->id);
	emit_u64(body, lost->n);
	writer_records_finish(w, RECORD_LOST, 0, body, id);
}

void writer_lost_samples(struct writer *w, uint64_t n, const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u64(body, n);
	writer_records_finish(w, RECORD_LOST_SAMPLES, 0, body, id);
}

void writer_ksymbol(struct writer *w, const struct record_ksymbol *symbol,
		    const struct sample_id *id)
{
	struct text *body = writer_scratch(w);

	emit_u64(body, symbol->address);
	emit_u32(body, symbol->length);
	emit_u16(body, symbol->type);
	emit_u16(body, symbol->flags);
	emit_padded_text(body, symbol->name, 8);
	writer_records_finish(w, RECORD_KSYMBOL, 0, body, id);
}

void writer_time_conv(struct writer *w, const struct record_time_conv *time)
{
	const uint16_t has_zero = 1, has_short = time->has_short ? 1 : 0;
	struct text *body = writer_scratch(w);

	emit_u64(body, time->shift);
	emit_u64(body, time->mult);
	emit_u64(body, time->zero);
	emit_u64(body, time->cycles);
	emit_u64(body, time->mask);
	emit_u64(body, has_zero | (uint64_t)has_short << 8);
	writer_record(w, RECORD_TIME_CONV, 0, body->bytes, body->n);
}

void writer_finished_round(struct writer *w)
{
	writer_record(w, RECORD_FINISHED_ROUND, 0, NULL, 0);
}

void writer_finished_init(struct writer *w)
{
	writer_record(w, RECORD_FINISHED_INIT, 0, NULL, 0);
}

enum { AUXTRACE_ARM_SPE = 4 };

void writer_spe_info_v1(struct writer *w, uint32_t pmu_type, bool is_per_cpu)
{
	struct text *body = writer_scratch(w);

	emit_u64(body, AUXTRACE_ARM_SPE);
	emit_u64(body, pmu_type);
	emit_u64(body, is_per_cpu);
	writer_record(w, RECORD_AUXTRACE_INFO, 0, body->bytes, body->n);
}

void writer_spe_info_v2(struct writer *w, uint32_t pmu_type, const struct writer_spe_cpu *cpus,
			size_t n_cpus)
{
	const uint64_t version = 2, n_header_words = 4, n_parameters = 4;
	const uint64_t magic = 0x1010101010101010;
	struct text *body = writer_scratch(w);

	emit_u64(body, AUXTRACE_ARM_SPE);
	emit_u64(body, version);
	emit_u64(body, n_header_words);
	emit_u64(body, pmu_type);
	emit_u64(body, n_cpus);
	for (size_t i = 0; i < n_cpus; i++) {
		emit_u64(body, magic);
		emit_u64(body, cpus[i].cpu);
		emit_u64(body, n_parameters);
		emit_u64(body, cpus[i].midr);
		emit_u64(body, cpus[i].pmu_type);
		emit_u64(body, cpus[i].min_interval);
		emit_u64(body, cpus[i].event_filter);
	}
	writer_record(w, RECORD_AUXTRACE_INFO, 0, body->bytes, body->n);
}
