/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to BATCH_ROWS records as columns. A row is an SPE record, a PMU sample, a branch stack
 * entry or a reading of a counter. Decoders fill batches, --select removes rows, analyses consume them; no batch is kept.
 *
 * A value that was not recorded is absent, not zero: column x of a row is valid only if bit HAS_x
 * of has[row] is set. Do not read absent values.
 */
#ifndef CYCLOPS_BATCH_BATCH_H
#define CYCLOPS_BATCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { BATCH_ROWS = 1024 };

/* Bits of batch.has. */
enum batch_has {
	HAS_PC = 1u << 0,
	HAS_VA = 1u << 1,
	HAS_PA = 1u << 2,
	HAS_TARGET = 1u << 3,
	HAS_PREV_TARGET = 1u << 4,
	HAS_TICKS = 1u << 5,
	HAS_TIME = 1u << 6,
	HAS_TOTAL = 1u << 7,
	HAS_ISSUE = 1u << 8,
	HAS_XLAT = 1u << 9,
	HAS_EVENTS = 1u << 10,
	HAS_OP = 1u << 11,
	HAS_SOURCE = 1u << 12,
	HAS_CONTEXT = 1u << 13,
	HAS_CPU = 1u << 14,
	HAS_PID = 1u << 15,
	HAS_TID = 1u << 16,
	HAS_PERIOD = 1u << 17,
	HAS_WEIGHT = 1u << 18,
	HAS_DATA_SRC = 1u << 19,
	HAS_STACK = 1u << 20,	    /* a call chain was recorded (it may be empty) */
	HAS_BRANCHES = 1u << 21,    /* a branch stack was recorded and requested */
	HAS_PLACE = 1u << 22,	    /* the pc lies in a known module */
	HAS_PROCESS = 1u << 23,	    /* the process is known */
	HAS_REGISTERS = 1u << 24,   /* registers were recorded and requested */
	HAS_USER_STACK = 1u << 25,  /* a copy of the user stack was recorded and requested */
	HAS_BRANCH_TYPE = 1u << 26, /* branch entries: `op` has the kind of branch */
	HAS_BRANCH_CYCLES = 1u << 27,
	HAS_WEIGHT_PARTS = 1u << 28, /* a weight of three parts: weight2 and weight3 are valid */
};

/* The kind of all rows of a batch. */
enum batch_kind {
	BATCH_SPE,
	BATCH_SAMPLES,
	BATCH_BRANCHES, /* entries of the branch stacks of samples (capture/format/branches.h) */
	BATCH_READINGS, /* readings of counters (estimate/readings.h); no scan delivers them */
};

/* A range of batch.words. */
struct batch_slice {
	uint32_t first, n;
};

/* A copied user stack, from the stack pointer on, with the user registers of that moment. */
struct batch_stack {
	uint64_t mask; /* bit n: register n was recorded, by the kernel's numbers */
	struct batch_slice registers;
	const uint8_t *bytes; /* borrowed from the capture */
	size_t n_bytes;
};

/* An entry of a branch stack; `flags` as in perf_event.h. */
struct branch_entry {
	uint64_t from, to, flags;
};

/* The columns. Addresses are canonical (sign-extended, without tags). */
struct batch {
	enum batch_kind kind;
	size_t n; /* rows filled, at most BATCH_ROWS */

	uint32_t has[BATCH_ROWS];
	uint64_t position[BATCH_ROWS]; /* offset in the file of the record's first byte */
	uint64_t pc[BATCH_ROWS];
	uint64_t va[BATCH_ROWS];      /* data address (SPE VA, sample addr) */
	uint64_t pa[BATCH_ROWS];      /* data physical address */
	uint64_t time_ns[BATCH_ROWS]; /* perf clock */
	uint32_t cpu[BATCH_ROWS];
	uint32_t pid[BATCH_ROWS];
	uint32_t tid[BATCH_ROWS];

	/* SPE; branch entries have target, events, op_class and op. */
	uint64_t target[BATCH_ROWS];	  /* branch target */
	uint64_t prev_target[BATCH_ROWS]; /* target of the previous taken branch */
	uint64_t ticks[BATCH_ROWS];	  /* timestamp packet, generic timer counts */
	uint64_t events[BATCH_ROWS];	  /* bit n: event bit n of the events packet */
	uint32_t context[BATCH_ROWS];	  /* CONTEXTIDR; Linux: thread id */
	uint16_t total[BATCH_ROWS];	  /* cycles, dispatch to completion */
	uint16_t issue[BATCH_ROWS];	  /* cycles, dispatch to issue */
	uint16_t xlat[BATCH_ROWS];	  /* cycles, address translation */
	/* data source as recorded; its meaning depends on the CPU */
	uint16_t source[BATCH_ROWS];
	uint8_t op_class[BATCH_ROWS]; /* 0 other, 1 load/store/atomic, 2 branch, 3 reserved */
	uint8_t op[BATCH_ROWS];	      /* payload of the operation packet */
	uint8_t level[BATCH_ROWS];    /* exception level 0..3: pc in bits 1:0, target in 3:2,
					     previous target in 5:4, context's in 7:6 */
	uint8_t va_tag[BATCH_ROWS];   /* top byte of the virtual address as recorded */

	/* Branch entries only. */
	uint16_t branch_cycles[BATCH_ROWS];   /* since the previous branch */
	uint64_t branch_flags[BATCH_ROWS];    /* as struct branch_entry has them */
	uint32_t branch_position[BATCH_ROWS]; /* in its stack; 0: the newest */

	/* PMU samples; branch entries have event and mode. */
	uint16_t event[BATCH_ROWS];    /* index of the event in the capture */
	uint8_t mode[BATCH_ROWS];      /* PERF_RECORD_MISC_CPUMODE: 1 kernel, 2 user, … */
	uint64_t period[BATCH_ROWS];   /* events this sample stands for */
	uint64_t weight[BATCH_ROWS];   /* mostly a latency, depending on the CPU */
	uint64_t data_src[BATCH_ROWS]; /* union perf_mem_data_src */
	/* cycles: latency of the instruction, depending on the CPU */
	uint16_t weight2[BATCH_ROWS];
	/* cycles: latency of one of its stages, depending on the CPU */
	uint16_t weight3[BATCH_ROWS];
	struct batch_slice stack[BATCH_ROWS];	 /* call chain, innermost first, with the
						    kernel's context markers, in `words` */
	struct batch_slice branches[BATCH_ROWS]; /* triples as struct branch_entry, newest
						    first, in `words` */
	/* bit n: register n was recorded, by the kernel's numbers */
	uint64_t register_mask[BATCH_ROWS];
	/* values at the pc, the lowest number first, in `words` */
	struct batch_slice registers[BATCH_ROWS];
	struct batch_stack user_stacks[BATCH_ROWS];
	VEC_OF(uint64_t) words; /* memory of the slices */

	/* Filled by attribution (process/), not by decoders. */
	uint32_t process[BATCH_ROWS]; /* index of the process in the timeline */
	uint32_t place[BATCH_ROWS];   /* place number of the pc, the same in all workers */
	uint32_t frame[BATCH_ROWS];   /* innermost frame of the call chain: an id of this worker */
	uint32_t caller[BATCH_ROWS];  /* place of the call, a number as above; 0: not known */
};

/* Columns that may be absent, with the value that says so. */
static inline uint32_t batch_cpu(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX;
}

static inline uint32_t batch_process(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_PROCESS ? b->process[row] : 0;
}

static inline uint32_t batch_place(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_PC ? b->place[row] : 0;
}

static inline uint64_t batch_events(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_EVENTS ? b->events[row] : 0;
}

/* A sample without a period represents one event. */
static inline uint64_t batch_period(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_PERIOD ? b->period[row] : 1;
}

/* Exception levels out of batch.level. */
static inline unsigned batch_pc_level(const struct batch *b, size_t row)
{
	return b->level[row] & 3u;
}

static inline unsigned batch_target_level(const struct batch *b, size_t row)
{
	return b->level[row] >> 2 & 3u;
}

static inline unsigned batch_prev_target_level(const struct batch *b, size_t row)
{
	return b->level[row] >> 4 & 3u;
}

/* The value of a register in a slice with this mask; false if it was not recorded. */
static inline bool batch_register(const struct batch *b, struct batch_slice registers,
				  uint64_t mask, unsigned number, uint64_t *out)
{
	uint64_t below = mask & (((uint64_t)1 << number) - 1);
	uint32_t at = (uint32_t)__builtin_popcountll(below);

	if (!(mask >> number & 1) || at >= registers.n)
		return false;
	*out = b->words.items[registers.first + at];
	return true;
}

static inline bool batch_is_full(const struct batch *b)
{
	return b->n == BATCH_ROWS;
}

/* Do all rows have these columns, of which one is the operation, and is that of this class? */
bool batch_all_are(const struct batch *, uint32_t has, uint8_t op_class);

/* An empty batch on the heap: it is too large for a stack. */
struct batch *batch_new(void);
void batch_free(struct batch *);

/* Empties the batch, keeps the memory. */
void batch_reset(struct batch *, enum batch_kind);

/* Keeps rows with keep[row], in order. Slices stay valid. */
void batch_keep(struct batch *, const bool keep[BATCH_ROWS]);

#endif
