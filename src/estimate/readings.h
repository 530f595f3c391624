/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of counters: what a counter had counted when it was read. Samples have them (perf record -e '{a,b}:S'), the
 * ends of threads (READ records, perf record -s), and what `perf stat record` writes.
 */
#ifndef CYCLOPS_ESTIMATE_READINGS_H
#define CYCLOPS_ESTIMATE_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum reading_kind {
	READING_SAMPLE, /* in a sample */
	READING_THREAD, /* at the end of a thread */
	READING_STAT,	/* of perf stat record */
	N_READING_KINDS,
};

enum { READING_UNKNOWN = UINT32_MAX };

struct reading {
	enum reading_kind kind;
	uint64_t position; /* in the file, of the record */
	uint32_t event;	   /* by number in the capture */
	uint32_t leader;   /* the event whose record it is */
	uint32_t cpu;	   /* READING_UNKNOWN: not recorded, or of all CPUs */
	uint32_t pid, tid; /* READING_UNKNOWN: not recorded, or of all threads */
	uint64_t time_ns;  /* perf clock; 0: not recorded */
	uint64_t end_ns;   /* end of the interval since counting began; 0: not recorded */
	uint64_t
		counter; /* its id: a counter is of one CPU, or of one task on one CPU; its inherited ones share it */
	uint64_t value; /* as read */
	/* Since the counter's reading before; of the first one, and if it began anew: as read. */
	uint64_t counted, enabled_ns, running_ns;
	bool is_first;	/* … which is so */
	bool has_times; /* enabled_ns and running_ns are known */

	/*
	 * The counter is of a task, and of one of its CPUs: it is enabled while the task runs elsewhere, so that its times alone
	 * do not tell multiplexing from that.
	 */
	bool is_of_task;
};

typedef void readings_visit(void *context, const struct reading *);

/* Visits all readings, in order of the file. Those of events that the capture does not have are left out. */
void readings_walk(const struct capture *, readings_visit *, void *context);

/* Has the capture any? */
bool readings_are_there(const struct capture *);

#endif
