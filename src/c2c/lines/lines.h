/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First look at sharing: what each cache line of data was accessed by, in few words for each
 * line, so that memory grows with the lines and not with what is done to them. It finds the
 * lines that are for a second look (c2c/accesses/accesses.h).
 */
#ifndef CYCLOPS_C2C_LINES_LINES_H
#define CYCLOPS_C2C_LINES_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "access/samples.h"
#include "base/address_index.h"
#include "c2c/lines/counts.h"
#include "c2c/lines/line_table.h"
#include "c2c/lines/paces.h"
#include "c2c/lines/sieve.h"
#include "estimate/latency.h"
#include "scan/scan.h"
#include "session/analysis.h"

struct c2c_options {
	uint64_t line_bytes; /* a power of two */
	enum c2c_mode mode;
	/*
	 * Lines are those of physical memory, where that was recorded: what several processes map
	 * is one, wherever each of them has it.
	 */
	bool by_physical;
	struct c2c_table *table;     /* where all workers put the lines */
	struct address_index *index; /* gives way to them if they are many; NULL: none */
	/*
	 * What goes there. Where it is not all, kinds, paces, C2C_NO_MAP, latencies of all loads, and which columns there are, are not looked for.
	 */
	enum c2c_rows {
		C2C_ALL_ROWS,
		C2C_CONTENDED_ROWS, /* loads that the mode is about; a sieve counts all rows */
		C2C_OTHER_ROWS,	    /* all others, of lines that the sieve lets through */
	} rows;
	const struct c2c_sieve *sieve; /* of C2C_OTHER_ROWS */
};

/*
 * Cycles that loads took. Full counters count with what they show, which struct latency_sum leaves
 * out: what is compared are sums of lines, of which full counters are the costliest part. The squares
 * are for the error of that.
 */
struct c2c_latency {
	uint32_t n, n_saturated; /* loads with a latency; those whose counter was full */
	uint64_t cycles, squares;
};

/* Kernel addresses are the same in every process; physical ones are nobody's. */
#define C2C_KERNEL UINT32_MAX
#define C2C_PHYSICAL (UINT32_MAX - 1)

struct c2c_lines {
	const struct session *session;
	const struct c2c_options *options;
	struct c2c_counts total;     /* of all records, whether they have a line or not */
	struct c2c_latency loads;    /* all loads with an address */
	bool has_issue, lacks_issue; /* some accesses say when they were issued; some do not */
	struct memory_counts kinds;  /* of all accesses, also of those without an address */
	uint64_t n_physical;	     /* records of lines with a physical address */
	uint64_t period;	     /* sum of what samples stand for */
	uint64_t n_samples;	     /* those of `period`: records of SPE are not among them */

	/* How often loads that hit the core's own L1 took so many cycles. */
	uint32_t *local_hits;	/* C2C_LATENCY_MAX + 1 */
	uint64_t all_latencies; /* all bits of latencies of loads: none is above */

	struct c2c_paces paces;	     /* of SPE */
	struct c2c_sieve *sieve;     /* NULL: not asked for */
	struct c2c_lines_work *work; /* while it is filled */
};

/* Options: struct c2c_options, whose table is filled. Result: struct c2c_lines. */
extern const struct analysis_class c2c_lines_class;

/* It looks at places itself. */
extern const struct scan_wish c2c_lines_wish;

/* Where the data of a row is. */
struct c2c_spot {
	uint32_t space;	  /* a process, C2C_KERNEL or C2C_PHYSICAL */
	uint32_t offset;  /* in the line */
	uint64_t address; /* of the line, in that space */
};

/* Without a decision: addresses of the kernel come as they like. */
static inline uint32_t c2c_space_(const struct batch *b, size_t row)
{
	uint32_t process = batch_process(b, row);

	return process | (C2C_KERNEL & -(uint32_t)(b->va[row] >> 63));
}

static inline struct c2c_spot c2c_spot(const struct c2c_options *o, const struct batch *b,
				       size_t row)
{
	bool is_physical = o->by_physical && b->has[row] & HAS_PA;
	uint64_t address = is_physical ? b->pa[row] : b->va[row];

	return (struct c2c_spot){
		.space = is_physical ? C2C_PHYSICAL : c2c_space_(b, row),
		.offset = (uint32_t)(address & (o->line_bytes - 1)),
		.address = address & ~(o->line_bytes - 1),
	};
}

/* Total latency of a row that has one, by the kind of the batch; false if it has none. */
static inline bool c2c_total_of(const struct batch *b, size_t row, bool is_spe,
				uint64_t *out_cycles)
{
	*out_cycles = is_spe ? b->total[row] : b->weight[row];
	return (b->has[row] & (is_spe ? HAS_TOTAL : HAS_WEIGHT)) != 0;
}

static inline bool c2c_row_total(const struct batch *b, size_t row, uint64_t *out_cycles)
{
	return c2c_total_of(b, row, b->kind == BATCH_SPE, out_cycles);
}

/* Is this total that of a full counter? */
static inline bool c2c_is_saturated(const struct batch *b, uint64_t total)
{
	return b->kind == BATCH_SPE && latency_is_full(total);
}

/*
 * Of a row with that total the part that the memory took: from issue on, so that waiting for an
 * operand does not count. Where the time of issue was not recorded it is the total. If the total
 * was full it took at least so long.
 */
static inline uint64_t c2c_row_access(const struct batch *b, size_t row, uint64_t total)
{
	bool is_issued = (b->has[row] & HAS_ISSUE) != 0;
	uint64_t issue = b->issue[row] & -(uint64_t)is_issued;

	return total - (issue < total ? issue : total);
}

/*
 * Is it a load that came from beyond the core's own caches, and none of those that the mode is
 * about, whose bits are `contended`? Only loads count in these.
 */
static inline bool c2c_is_reload(uint32_t mask, uint32_t contended)
{
	const uint32_t beyond = C2C_BIT(LLC) | C2C_BIT(LOCAL_DRAM) | C2C_BIT(REMOTE_DRAM) |
				C2C_BIT(REMOTE_HIT) | C2C_BIT(LOCAL_PEER) | C2C_BIT(REMOTE_PEER) |
				C2C_BIT(LOCAL_HITM) | C2C_BIT(REMOTE_HITM);

	return ((mask & beyond) != 0) & (contended == 0);
}

void c2c_latency_add(struct c2c_latency *, uint64_t cycles, bool is_saturated);
void c2c_latency_merge(struct c2c_latency *, const struct c2c_latency *from);

#endif
