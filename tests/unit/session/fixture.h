/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture with known contents, for the tests of analyses. Failing asserts the test.
 *
 * Two processes: alpha (pid 100, threads 100 and 101) has /bin/alpha mapped at 0x400000 with
 * length 0x10000; beta (pid 200) has /bin/beta there. These files do not exist, so what is in
 * them has no names. Alpha also made code at 0x700000, whose functions a map file names:
 * "first", "second" at 0x700100 and "__memcpy_generic" at 0x700200. Samples of the clock can
 * have the registers x0, x1 and x2. Neoverse N1, two cpus, one tick is a nanosecond.
 */
#ifndef CYCLOPS_TESTS_ANALYSIS_FIXTURE_H
#define CYCLOPS_TESTS_ANALYSIS_FIXTURE_H

#include "capture/format/sample.h"
#include "session/session.h"
#include "spe/encode.h"

enum {
	ALPHA = 100,
	ALPHA_THREAD = 101,
	BETA = 200,
	TEXT_START = 0x400000,
	FIRST = 0x700000,
	SECOND = 0x700100,
	MEMCPY = 0x700200,
	START_NS = 1000, /* of the first record with a time */
};

/* Events of the capture, in this order; SPE is the first. */
enum { EVENT_SPE, EVENT_CYCLES, EVENT_MISSES, EVENT_CLOCK, N_FIXTURE_EVENTS };

struct writer;

/* An event of samples. */
struct fixture_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* What a capture is made of. */
struct contents {
	const struct spe_record *records; /* half of them on cpu 0, the rest on cpu 1 */
	size_t n_records;
	const struct sample *samples; /* `id` is the number of the event, or NO_EVENT */
	size_t n_samples;
	size_t n_first;		/* so many records on cpu 0 instead; 0: half */
	uint64_t spe_config[5]; /* config to config4 of the SPE event: filters, jitter */
	uint64_t spe_interval;	/* sample_period of the SPE event; 0: 1024 */
	uint64_t spe_flags;	/* bits of attr.flags, added */
	const char *symfs;	/* a folder with a bin/alpha, which is mapped whole; or NULL */
	bool without_chains;	/* no event records call chains */
	const struct fixture_event *misses;  /* EVENT_MISSES; NULL: cache-misses */
	void (*write_more)(struct writer *); /* behind the records; NULL: nothing */
};

/* For samples that belong to no event of the capture: damage. */
#define NO_EVENT UINT64_MAX

/* Writes the capture and opens it with so many workers. */
void open_fixture(const struct contents *, unsigned n_workers, struct session *);
void close_fixture(struct session *); /* of undamaged contents */
void close_damaged_fixture(struct session *);

/* An SPE record with pc, thread, operation, events, latency and a timestamp. */
struct spe_record spe_of(uint64_t pc, uint32_t tid, uint8_t op_class, uint64_t events,
			 uint16_t total, uint64_t ticks);

/* A sample with its addresses; the chain (innermost first, of `n` words) is borrowed. */
struct sample sample_of(unsigned event, uint64_t ip, uint32_t pid, uint64_t period,
			const uint64_t *chain, size_t n);

#endif
