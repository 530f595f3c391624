/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PERF_RECORD_SAMPLE: every field of sample_type.
 * Format: docs/reference/perf-data.md section 3.3.
 */
#ifndef CYCLOPS_CAPTURE_FORMAT_SAMPLE_H
#define CYCLOPS_CAPTURE_FORMAT_SAMPLE_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/err.h"
#include "capture/format/attr.h"
#include "capture/format/record.h"

/* Bits of attr.sample_type. */
enum sample_bit {
	SAMPLE_IP,
	SAMPLE_TID,
	SAMPLE_TIME,
	SAMPLE_ADDR,
	SAMPLE_READ,
	SAMPLE_CALLCHAIN,
	SAMPLE_ID,
	SAMPLE_CPU,
	SAMPLE_PERIOD,
	SAMPLE_STREAM_ID,
	SAMPLE_RAW,
	SAMPLE_BRANCH_STACK,
	SAMPLE_REGS_USER,
	SAMPLE_STACK_USER,
	SAMPLE_WEIGHT,
	SAMPLE_DATA_SRC,
	SAMPLE_IDENTIFIER,
	SAMPLE_TRANSACTION,
	SAMPLE_REGS_INTR,
	SAMPLE_PHYS_ADDR,
	SAMPLE_AUX,
	SAMPLE_CGROUP,
	SAMPLE_DATA_PAGE_SIZE,
	SAMPLE_CODE_PAGE_SIZE,
	SAMPLE_WEIGHT_STRUCT,
	SAMPLE_BITS_END, /* of what we know; of others the fields are not read */
};

/* A part of variable length, inside of the capture: may be unaligned, read with load_u64(). */
struct sample_words {
	const uint8_t *bytes; /* NULL if not recorded */
	uint64_t n;	      /* 64-bit words; of the branch stack: entries of three words */
};

/* A sample. Fields whose bit is not set in sample_type are zero. */
struct sample {
	uint64_t sample_type; /* which fields are valid */
	uint64_t id, ip, time_ns, addr, stream_id, period;
	uint32_t pid, tid, cpu;
	struct sample_words read; /* READ values, not decoded */
	struct sample_words callchain;
	struct sample_words branches; /* from, to, flags */
	uint64_t branch_hw_index;     /* all ones: not known */
	const uint8_t *raw;
	uint32_t raw_size;
	uint64_t user_regs_abi, intr_regs_abi;
	struct sample_words user_regs, intr_regs;
	const uint8_t *user_stack;
	uint64_t user_stack_size, user_stack_used;
	uint64_t weight; /* WEIGHT, or the first part of WEIGHT_STRUCT */
	uint16_t weight2, weight3;
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const uint8_t *aux;
	uint64_t aux_size;
};

/*
 * Reads a sample of an event with this attr. Fails if the body is too short, or has bytes left
 * over, which means that the attr is wrong; `out` is of no use then.
 */
int sample_read(const struct record *, const struct attr *, struct sample *out, struct err *);

/*
 * Where the fields are in the samples of an event of which each is a word, but for a list at most: the call chain or the
 * branch stack. Nearly all events have such samples, and need no sample_read(). Fields that are not recorded read as 0.
 */
struct sample_layout {
	uint64_t
		size; /* of a record with an empty list, with its header; 0: there are other fields */
	uint64_t entry_bytes;  /* of an entry of the list; 0: there is no list */
	uint8_t list, entries; /* places of the number of its entries, and of the first one */
	uint8_t place[SAMPLE_BITS_END]; /* of the field's word in such a record; 0: none */
	uint64_t mask[SAMPLE_BITS_END]; /* all ones; 0: none */
};

struct sample_layout sample_layout_of(const struct attr *);

/* Has a record of `size` bytes this layout? */
static inline bool sample_has_layout(const struct sample_layout *l, const uint8_t *record,
				     uint64_t size)
{
	uint64_t n;

	if (l->entry_bytes == 0 || size < l->size)
		return size == l->size;
	n = load_u64(record + l->list);
	return n <= size && n * l->entry_bytes == size - l->size;
}

/*
 * The word of a field in such a record. For fields behind the list, from the weight on, `record` is to be moved on by the
 * bytes of its entries.
 */
static inline uint64_t sample_word(const struct sample_layout *l, const uint8_t *record,
				   enum sample_bit field)
{
	return load_u64(record + l->place[field]) & l->mask[field];
}

/* The fields that a sample shares with the trailer of other records. */
struct sample_id sample_read_id(const struct record *, const struct attr *);

#endif
