/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SPE sampling interval: how many operations a record stands for, and how certain that is. Also
 * the frequency of the timestamps. Rules: docs/reference/spe-interop.md section 2.2 and table 4.3
 * of the SPE white paper.
 */
#ifndef CYCLOPS_SESSION_INTERVAL_H
#define CYCLOPS_SESSION_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "batch/batch.h"
#include "capture/capture.h"
#include "cpu/cpu.h"

struct session;

enum interval_basis {
	INTERVAL_UNKNOWN,  /* the capture does not tell: no totals, shares only */
	INTERVAL_GIVEN,	   /* by --interval */
	INTERVAL_RECORDED, /* follows from the event's configuration */
	INTERVAL_ASSUMED, /* the same, but it is not known how the CPU does jitter: least … most */
};

/*
 * The interval of a CPU. Each record stands for `mean` operations of all kinds. Filters drop
 * records, but do not change what each of the others stands for.
 */
struct spe_interval {
	enum interval_basis basis;
	bool has_jitter;
	uint64_t base;	      /* as programmed: operations */
	uint64_t mean;	      /* operations; 0: not known */
	uint64_t least, most; /* limits of the mean; equal to it unless INTERVAL_ASSUMED */
};

/* The interval by the event of this CPU (UINT32_MAX: all are alike) and by the CPU's model. */
struct spe_interval spe_interval_recorded(const struct capture *, uint32_t cpu_number,
					  const struct cpu *);

/* The interval that all CPUs with SPE data have; basis UNKNOWN and mean 0 if they differ. */
struct spe_interval spe_interval_common(const struct session *);

/* Do CPUs with SPE data have different ones? */
bool spe_interval_varies(const struct session *);

/*
 * SPE samples that are not in the capture: an operation was due to be sampled while the one before
 * was not finished (a collision), or the buffer was full. Zeroed: none.
 */
struct lost_samples {
	bool is_unknown; /* some were lost, but nobody counted how many */
	bool is_counted; /* the PMU counted (scan/lost_samples.h) */
	double n;	 /* best estimate */
	double most;	 /* at most; all of them may belong to one row of an answer */
	double share;	 /* n by all samples that were due, 0 … 1; 0: not known, or none */
};

/* The longest gap between two records of a CPU with this interval, in ns, that counts as run time. */
uint64_t spe_longest_gap_ns(const struct spe_interval *);

/*
 * Is row `row` (at least 1) of a batch of SPE records of the same thread and CPU as the one before,
 * and did the thread run from that one to it?
 */
bool spe_record_follows(const struct session *, const struct batch *, size_t row);

/* The intervals of all CPUs with SPE data. */
struct spe_interval_range {
	uint64_t longest;   /* operations; 0: one of them is not known: no totals */
	double least, most; /* true interval / mean is within these; 1 and 1: known exactly */
	struct lost_samples lost;
};

struct spe_interval_range spe_interval_range(const struct session *);

/*
 * Appends "one in 1152 operations (1024 and jitter)", "… (given)", or
 * "one in an unknown number of operations".
 */
void spe_interval_text(const struct spe_interval *, struct text *);

/* Appends the common interval of all CPUs with SPE data, or that they differ. */
void spe_intervals_text(const struct session *, struct text *);

/* Was SPE recorded without jitter (constant intervals)? */
bool spe_lacks_jitter(const struct capture *);

/* Ticks of the timestamps in a second, from TIME_CONV; 0: not known. */
double spe_timer_hz(const struct capture *);

#endif
