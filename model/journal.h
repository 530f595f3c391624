/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the model has not written yet, in memory that it shares with the command that started it.
 * A program may end at any instruction, and takes the plugin with it; whoever waits for it then
 * finds here what is missing in the capture (salvage.h).
 *
 * Plugin and command must be of the same build: `size_bytes` tells.
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

/* Who does something, where and when. */
struct moment {
	struct thread_ids thread;
	unsigned cpu;
	uint64_t cycle;
};

enum {
	JOURNAL_AUX_BYTES = 64 << 10, /* perf reads its rings in such pieces */
	JOURNAL_SAMPLES_BYTES = 64 << 10,
	JOURNAL_PATHS_BYTES = 64 << 10,
};

/* A CPU's AUX buffer. */
struct journal_cpu {
	atomic_size_t n;	       /* bytes of whole records */
	uint64_t offset;	       /* of the first byte in the CPU's stream */
	atomic_uint_fast64_t file_end; /* not 0: they go to the file, which then ends here */
	struct moment last;	       /* of the newest record */
	bool has_collided;	       /* samples were lost since the last flush */
	bool is_started;	       /* ITRACE_START has been written */
	uint8_t bytes[JOURNAL_AUX_BYTES + SPE_RECORD_MAX];
};

/* Buffer of PMU samples that are not in the file yet. */
struct journal_samples {
	atomic_size_t n;	       /* bytes of whole records */
	atomic_uint_fast64_t file_end; /* as of a CPU's buffer */
	uint8_t bytes[JOURNAL_SAMPLES_BYTES];
};

struct journal {
	uint64_t size_bytes;  /* of this struct */
	atomic_bool is_begun; /* the capture is there */
	atomic_bool is_over;  /* the first process ended: nothing is modelled any more */
	atomic_uint
		n_executed; /* programs that processes became, by execve, and that are not modelled */
	atomic_bool is_finished; /* all that is to be written has been */
	uint64_t last_ns;	 /* of what was recorded */
	size_t n_path_bytes;
	char paths[JOURNAL_PATHS_BYTES]; /* of files with code, each ended by a NUL */
	struct counts counts[MAX_CPUS];
	struct journal_samples samples;
	struct journal_cpu cpus[MAX_CPUS];
};

/* A file descriptor of such memory, all zeros, that programs inherit. -1 and an error. */
int journal_create(struct err *);

/* Maps what journal_create() made; with fd -1 memory that nobody else sees. NULL and an error. */
struct journal *journal_open(int fd, struct err *);

void journal_close(struct journal *);

/* Notes the path of a file with code; one that finds no room is left out. */
void journal_add_path(struct journal *, const char *path);

#endif
