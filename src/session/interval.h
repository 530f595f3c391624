/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many operations an SPE record stands for, and how sure that is; and the timer behind
 * the timestamps. Rules: docs/reference/spe-interop.md section 2.2 and the SPE white paper's
 * table 4.3.
 */
#ifndef CYCLOPS_SESSION_INTERVAL_H
#define CYCLOPS_SESSION_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "capture/capture.h"
#include "cpu/cpu.h"

struct session;

enum interval_basis {
	INTERVAL_UNKNOWN,  /* the capture does not tell: shares only */
	INTERVAL_GIVEN,	   /* --interval */
	INTERVAL_RECORDED, /* the event's configuration decides it */
	INTERVAL_ASSUMED,  /* so it does, but for what the CPU makes of jitter: see least, most */
};

/*
 * Mean distance between two samples of a CPU. A sample stands for so many operations of all
 * kinds; filters take records away but do not change what each of the others stands for.
 */
struct spe_interval {
	enum interval_basis basis;
	bool has_jitter;
	uint64_t base;	      /* as programmed: operations */
	uint64_t mean;	      /* operations; 0: not known */
	uint64_t least, most; /* the mean is one of these if it is not known better */
};

/* What the event of this CPU (UINT32_MAX: where all are alike) and the CPU's model say. */
struct spe_interval spe_interval_recorded(const struct capture *, uint32_t cpu_number,
					  const struct cpu *);

/* The session's answer, --interval included. */
const struct spe_interval *spe_interval(const struct session *, uint32_t cpu_number);

/* The interval that all CPUs with SPE data have; basis UNKNOWN and mean 0 if they differ. */
struct spe_interval spe_interval_common(const struct session *);

/* Do CPUs with SPE data have different ones? */
bool spe_interval_varies(const struct session *);

/* What intervals CPUs with SPE data have. */
struct spe_interval_range {
	uint64_t longest;   /* operations; 0: one of them is not known, so no totals follow */
	double least, most; /* the true one is within these parts of the mean; 1 and 1: known */
};

struct spe_interval_range spe_interval_range(const struct session *);

/*
 * Appends "one in 1152 operations (1024 and jitter)", "… (given)", or
 * "one in an unknown number of operations".
 */
void spe_interval_text(const struct spe_interval *, struct text *);

/* That of all CPUs with SPE data, or that theirs differ. */
void spe_intervals_text(const struct session *, struct text *);

/* Was the capture's SPE event configured to take samples at equal distances? */
bool spe_lacks_jitter(const struct capture *);

/* Ticks of the timestamps in a second, from TIME_CONV; 0: not known. */
double spe_timer_hz(const struct capture *);

#endif
