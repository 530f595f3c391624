/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/dimension.h"

#include "access/data_src.h"
#include "access/vector_length.h"

/* Not inlined, to keep the loops over SPE records small. */
static __attribute__((noinline)) uint64_t sample_source(const struct batch *b, size_t row)
{
	const struct cpu_source *source =
		b->has[row] & HAS_DATA_SRC ? data_src_source(b->data_src[row]) : NULL;

	return source == NULL ? DIM_ABSENT : (uint64_t)(uintptr_t)source;
}

/* The data source by the model of the CPU that recorded it. */
static uint64_t source_word(const struct session *s, const struct batch *b, size_t row)
{
	uint32_t cpu = batch_cpu(b, row);
	const struct cpu_source *source;

	if (!(b->has[row] & HAS_SOURCE))
		return DIM_ABSENT;
	source = session_source(s, cpu, b->source[row]);
	return source == NULL ? b->source[row] : (uint64_t)(uintptr_t)source;
}

static inline uint64_t event_word(const struct session *s, const struct batch *b, size_t row)
{
	switch (b->kind) {
	case BATCH_SPE:
		return capture_n_events(s->capture);
	case BATCH_BRANCHES:
		return capture_n_events(s->capture) + 1 + b->event[row];
	case BATCH_SAMPLES:
	case BATCH_READINGS:
		break;
	}
	return b->event[row];
}

static inline __attribute__((always_inline)) uint64_t record_word(const struct session *s,
								  const struct batch *b, size_t row,
								  enum dimension dimension)
{
	uint32_t has = b->has[row];

	switch (dimension) {
	case DIM_EVENT:
		return event_word(s, b, row);
	case DIM_PROCESS:
		return batch_process(b, row);
	case DIM_TID:
		return has & HAS_TID ? b->tid[row] : DIM_ABSENT;
	case DIM_CPU:
		return has & HAS_CPU ? b->cpu[row] : DIM_ABSENT;
	case DIM_PLACE:
		return batch_place(b, row);
	case DIM_FRAME:
		return has & HAS_STACK ? b->frame[row] : 0;
	case DIM_CALLER:
		return has & HAS_STACK ? b->caller[row] : 0;
	case DIM_OPERATION:
		return has & HAS_OP ? (uint64_t)b->op_class[row] << 8 | b->op[row] : DIM_ABSENT;
	case DIM_EVENTS:
		if (has & HAS_EVENTS)
			return b->events[row];
		return has & HAS_DATA_SRC ? data_src_facts(b->data_src[row]) : 0;
	case DIM_SOURCE:
		return b->kind == BATCH_SPE ? source_word(s, b, row) : sample_source(b, row);
	case DIM_VECTOR:
		return vector_length_recorded(b, row);
	case DIM_SLICE:
		return has & HAS_TIME && s->slices.n > 0 ? slices_find(&s->slices, b->time_ns[row])
							 : DIM_ABSENT;
	case DIM_LATENCY:
		return has & HAS_TOTAL	  ? b->total[row]
		       : has & HAS_WEIGHT ? b->weight[row]
					  : DIM_ABSENT;
	case N_DIMENSIONS:
		break;
	}
	return 0;
}

uint64_t record_dimension(const struct session *s, const struct batch *b, size_t row,
			  enum dimension dimension)
{
	return record_word(s, b, row, dimension);
}

void records_dimension(const struct session *s, const struct batch *b, const uint16_t *rows,
		       size_t n, enum dimension dimension, uint64_t *out, size_t stride)
{
	/* specialised loops for frequent dimensions, without the switch of record_word() */
	switch (dimension) {
	case DIM_EVENTS:
		for (size_t i = 0; i < n; i++)
			out[i * stride] = record_word(s, b, rows[i], DIM_EVENTS);
		break;
	case DIM_SOURCE:
		for (size_t i = 0; i < n; i++)
			out[i * stride] = b->kind == BATCH_SPE ? source_word(s, b, rows[i])
							       : sample_source(b, rows[i]);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			out[i * stride] = record_word(s, b, rows[i], dimension);
	}
}

void records_places(const struct batch *b, const uint16_t *rows, size_t n, uint32_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = b->has[rows[i]] & HAS_PC ? b->place[rows[i]] : 0;
}
