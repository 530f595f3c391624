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
};

/* A variable-length part, still in the capture's bytes: may be unaligned, use load_u64(). */
struct sample_words {
	const uint8_t *bytes; /* NULL if not recorded */
	uint64_t n;	      /* 64-bit words (branch stack: entries of three words) */
};

/* Fields whose bit is not set in the event's sample_type are zero. */
struct sample {
	uint64_t sample_type; /* says which fields mean something */
	uint64_t id, ip, time_ns, addr, stream_id, period;
	uint32_t pid, tid, cpu;
	struct sample_words read; /* words of the read_format, undecoded */
	struct sample_words callchain;
	struct sample_words branches; /* from, to, flags */
	uint64_t branch_hw_index;     /* all ones: unknown */
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
 * Reads a sample of an event with this attr. Fails if the body ends early; bytes left over
 * behind the last field are an error too (the layout was not what the attr says).
 */
int sample_read(const struct record *, const struct attr *, struct sample *out, struct err *);

/* The fields that a sample has in common with the trailer of other records. */
struct sample_id sample_read_id(const struct record *, const struct attr *);

#endif
