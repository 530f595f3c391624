/* SPDX-License-Identifier: Apache-2.0 */
/* What quality.c is made of. */
#ifndef CYCLOPS_QUALITY_PARTS_H
#define CYCLOPS_QUALITY_PARTS_H

#include "quality/quality.h"
#include "session/slices.h"

/* Time is looked at in so many slices, unless --time-slices says otherwise. */
enum { QUALITY_SLICES = 40 };

/* What the records of a CPU have and lack. */
struct quality_cpu {
	uint64_t n, n_samples;
	uint64_t first_ns, last_ns;
	uint64_t slices[SLICES_MAX]; /* SPE records; samples where the capture has none */
};

/* Result of the scan. */
struct quality_counts {
	const struct session *session;
	struct slices slices; /* n 0: no times */
	bool times_samples;   /* times are those of samples: there is no SPE data */
	struct tuples cpus;   /* numbers; UINT64_MAX: not known */
	VEC_OF(struct quality_cpu) by_cpu;
	uint64_t n, n_samples; /* SPE records, PMU samples */
	uint64_t n_memory;     /* records of loads and stores */
	uint64_t without_context, without_pc, without_time, without_address, without_events;
	uint64_t with_total, full_total, with_issue, full_issue, with_xlat, full_xlat;
	uint64_t cycles, full_cycles; /* total latencies; what of them full counters show */
};
extern const struct analysis_class quality_class;

/* A kind of loss on a CPU. */
enum loss_kind {
	LOSS_TRUNCATED, /* the SPE buffer was full */
	LOSS_COLLISION, /* samples fell into those before */
	LOSS_PARTIAL,	/* buffers with an incomplete record */
	LOSS_EVENTS,	/* records that found no room in the ring */
	LOSS_SAMPLES,
	LOSS_THROTTLED, /* sampling was stopped for a while */
	N_LOSSES,
};
struct loss {
	enum loss_kind kind;
	uint32_t cpu; /* UINT32_MAX: not known */
	uint64_t n, amount;
	uint64_t first_ns, last_ns; /* of the records that say so; UINT64_MAX, 0: no time */
};
struct losses {
	const struct capture *capture; /* borrowed */
	VEC_OF(struct loss) list;
	uint64_t n[N_LOSSES], n_aux;
	uint64_t most_truncated; /* bytes of the largest full buffer */
};
void losses_find(const struct capture *, struct losses *);
void losses_release(struct losses *);
void losses_table(const struct losses *, const struct capture *, struct table *out);

/*
 * A place whose successor is sampled too seldom. Behind an instruction that is no branch the
 * next one runs as often, so it is sampled as often, unless the interval beats with a loop.
 * (One instruction may be several operations: up to four are allowed for.)
 */
struct bias {
	uint32_t place;
	uint64_t n, n_next;
};
struct biases {
	VEC_OF(struct bias) list;
	uint64_t n_tested; /* records at places that could be tested */
	uint64_t n_biased; /* … of those with too few behind them */
};
void biases_find(const struct session *, const struct hot *, struct biases *);
void biases_release(struct biases *);
void biases_table(const struct biases *, const struct names *, size_t top, struct table *out);

/* The functions with the most records or samples, with the limits of their share of the event. */
void quality_rows(const struct hot *, const struct names *, size_t top, struct table *out);

/* The functions with the most SPE records: how certain their callers are, which were estimated before. */
void quality_callers(struct session *, size_t top, struct table *out);

#endif
