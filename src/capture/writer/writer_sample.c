/* SPDX-License-Identifier: Apache-2.0 */
/* Sample bodies for the writer, field by field: docs/reference/perf-data.md section 3.3. */
#include "capture/writer/writer.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "capture/writer/writer_inside.h"

enum { BRANCH_HW_INDEX = 17 }; /* bit of branch_sample_type */

static void emit_words(struct text *out, const struct sample_words *words)
{
	emit_bytes(out, words->bytes, words->n * sizeof(uint64_t));
}

static void emit_tid(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_u32(out, s->pid);
	emit_u32(out, s->tid);
}

static void emit_cpu(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_u64(out, s->cpu);
}

static void emit_read(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_words(out, &s->read);
}

static void emit_callchain(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_u64(out, s->callchain.n);
	emit_words(out, &s->callchain);
}

/* Raw data. The kernel includes the padding in its size. */
static void emit_raw(struct text *out, const struct attr *attr, const struct sample *s)
{
	uint32_t padding = -(s->raw_size + (uint32_t)sizeof(uint32_t)) & 7;

	(void)attr;
	emit_u32(out, s->raw_size + padding);
	emit_bytes(out, s->raw, s->raw_size);
	emit_zeros(out, padding);
}

static void emit_branches(struct text *out, const struct attr *attr, const struct sample *s)
{
	emit_u64(out, s->branches.n);
	if (attr->branch_sample_type >> BRANCH_HW_INDEX & 1)
		emit_u64(out, s->branch_hw_index);
	emit_bytes(out, s->branches.bytes, s->branches.n * 3 * sizeof(uint64_t));
}

static void emit_registers(struct text *out, uint64_t abi, const struct sample_words *registers)
{
	emit_u64(out, abi);
	if (abi != 0)
		emit_words(out, registers);
}

static void emit_user_registers(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_registers(out, s->user_regs_abi, &s->user_regs);
}

static void emit_intr_registers(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_registers(out, s->intr_regs_abi, &s->intr_regs);
}

static void emit_user_stack(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_u64(out, s->user_stack_size);
	if (s->user_stack_size == 0)
		return;
	emit_bytes(out, s->user_stack, s->user_stack_size);
	emit_u64(out, s->user_stack_used);
}

static void emit_weight_struct(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_u32(out, (uint32_t)s->weight);
	emit_u16(out, s->weight2);
	emit_u16(out, s->weight3);
}

static void emit_aux(struct text *out, const struct attr *attr, const struct sample *s)
{
	(void)attr;
	emit_u64(out, s->aux_size);
	emit_bytes(out, s->aux, s->aux_size);
}

/* The fields in order: a word of struct sample, or written by `emit`. */
static const struct {
	enum sample_bit bit;
	size_t word; /* offset in struct sample, if `emit` is NULL */
	void (*emit)(struct text *out, const struct attr *, const struct sample *);
} fields[] = {
	{ SAMPLE_IDENTIFIER, offsetof(struct sample, id) },
	{ SAMPLE_IP, offsetof(struct sample, ip) },
	{ SAMPLE_TID, .emit = emit_tid },
	{ SAMPLE_TIME, offsetof(struct sample, time_ns) },
	{ SAMPLE_ADDR, offsetof(struct sample, addr) },
	{ SAMPLE_ID, offsetof(struct sample, id) },
	{ SAMPLE_STREAM_ID, offsetof(struct sample, stream_id) },
	{ SAMPLE_CPU, .emit = emit_cpu },
	{ SAMPLE_PERIOD, offsetof(struct sample, period) },
	{ SAMPLE_READ, .emit = emit_read },
	{ SAMPLE_CALLCHAIN, .emit = emit_callchain },
	{ SAMPLE_RAW, .emit = emit_raw },
	{ SAMPLE_BRANCH_STACK, .emit = emit_branches },
	{ SAMPLE_REGS_USER, .emit = emit_user_registers },
	{ SAMPLE_STACK_USER, .emit = emit_user_stack },
	{ SAMPLE_WEIGHT, offsetof(struct sample, weight) },
	{ SAMPLE_WEIGHT_STRUCT, .emit = emit_weight_struct },
	{ SAMPLE_DATA_SRC, offsetof(struct sample, data_src) },
	{ SAMPLE_TRANSACTION, offsetof(struct sample, transaction) },
	{ SAMPLE_REGS_INTR, .emit = emit_intr_registers },
	{ SAMPLE_PHYS_ADDR, offsetof(struct sample, phys_addr) },
	{ SAMPLE_CGROUP, offsetof(struct sample, cgroup) },
	{ SAMPLE_DATA_PAGE_SIZE, offsetof(struct sample, data_page_size) },
	{ SAMPLE_CODE_PAGE_SIZE, offsetof(struct sample, code_page_size) },
	{ SAMPLE_AUX, .emit = emit_aux },
};

static uint64_t writer_sample_word_at(const struct sample *sample, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)sample + offset, sizeof(word));
	return word;
}

static void emit_sample(const struct attr *attr, const struct sample *sample, struct text *body)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		if ((attr->sample_type >> fields[i].bit & 1) == 0)
			continue;
		if (fields[i].emit != NULL)
			fields[i].emit(body, attr, sample);
		else
			emit_u64(body, writer_sample_word_at(sample, fields[i].word));
	}
}

void writer_sample(struct writer *w, size_t event, uint16_t misc, const struct sample *sample)
{
	struct text *body = writer_scratch(w);

	emit_sample(writer_attr(w, event), sample, body);
	writer_record(w, RECORD_SAMPLE, misc, body->bytes, body->n);
}

void writer_make_sample(const struct writer *w, size_t event, uint16_t misc,
			const struct sample *sample, struct text *out)
{
	size_t at = out->n;

	emit_u32(out, RECORD_SAMPLE);
	emit_u16(out, misc);
	emit_u16(out, 0);
	emit_sample(writer_attr(w, event), sample, out);
	assert(out->n - at <= UINT16_MAX);
	store_u16((uint8_t *)out->bytes + at + 6, (uint16_t)(out->n - at));
}
