/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the plugin has not written to the capture yet, in memory that it shares with the
 * command. A program may end at any instruction, and the plugin with it. The command then completes
 * the capture from the journal (salvage.h).
 *
 * Plugin and command must be of the same build, so that `size_bytes` is the same.
 */
#ifndef CYCLOPS_MODEL_JOURNAL_H
#define CYCLOPS_MODEL_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/counts.h"
#include "model/params.h"
#include "spe/encode.h"

/* A guest thread, by the ids that the capture gives it. */
struct thread_ids {
	uint32_t pid, tid;
};

/* A thread, its CPU, and the CPU's cycle. */
struct moment {
	struct thread_ids thread;
	unsigned cpu;
	uint64_t cycle;
};

enum {
	JOURNAL_AUX_BYTES = 64 << 10, /* a piece of AUX data, as large as those of perf */
	JOURNAL_SAMPLES_BYTES = 64 << 10,
	JOURNAL_PATHS_BYTES = 64 << 10,
};

/* A CPU's AUX buffer. */
struct journal_cpu {
	atomic_size_t n;	       /* bytes of complete records */
	uint64_t offset;	       /* of the first byte in the CPU's AUX data */
	atomic_uint_fast64_t file_end; /* size of the file once the bytes are in it; 0: not yet */
	struct moment last;	       /* of the newest record */
	bool has_collided;	       /* samples collided since the last flush */
	bool is_started;	       /* the ITRACE_START record is written */
	uint8_t bytes[JOURNAL_AUX_BYTES + SPE_RECORD_MAX];
};

/* Buffer of PMU samples that are not in the file yet. */
struct journal_samples {
	atomic_size_t n;	       /* bytes of whole records */
	atomic_uint_fast64_t file_end; /* as of a CPU's buffer */
	uint8_t bytes[JOURNAL_SAMPLES_BYTES];
};

struct journal {
	uint64_t size_bytes;	/* of this struct */
	atomic_bool is_begun;	/* the capture exists */
	atomic_bool is_over;	/* the first process has ended: nothing is modelled any more */
	atomic_uint n_executed; /* processes that executed another program, which is not modelled */
	atomic_bool is_finished; /* all files are written */
	uint64_t last_ns;	 /* time of the last record */
	size_t n_path_bytes;
	char paths[JOURNAL_PATHS_BYTES]; /* files with code, each path ended by a NUL */
	struct counts counts[MAX_CPUS];
	struct journal_samples samples;
	struct journal_cpu cpus[MAX_CPUS];
};

/* Makes a zeroed journal. Returns a descriptor that programs inherit, or -1 on failure. */
int journal_create(struct err *);

/* Maps a journal; with fd -1 a private one. NULL on failure. */
struct journal *journal_open(int fd, struct err *);

void journal_close(struct journal *);

/* Adds the path of a file with code, if there is room. */
void journal_add_path(struct journal *, const char *path);

#endif
