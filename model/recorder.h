/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what the model saw as perf would have recorded it on the machine: SPE records in one
 * buffer for each CPU, and the side-band records that say whose they are.
 */
#ifndef CYCLOPS_MODEL_RECORDER_H
#define CYCLOPS_MODEL_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"
#include "capture/writer/writer.h"
#include "model/config.h"
#include "model/journal.h"
#include "model/maps.h"
#include "spe/encode.h"

/* What the capture has of a process's addresses. */
struct described {
	uint64_t guest_base;	 /* our address of the guest's address 0 */
	struct spans code, data; /* guest addresses whose mappings have been written */
};

struct recorder {
	const struct config *config; /* borrowed */
	struct writer *writer;
	struct record_time_conv time;
	struct journal *journal; /* borrowed: the buffers of SPE records */
	struct strings paths;	 /* of files whose build-ids have been written */
	uint64_t first_ns;	 /* when the machine began */
};

/* Begins the capture. All that is ever missing in the file stands in the journal. */
int recorder_open(struct recorder *, const struct config *, struct journal *, struct err *);

/* Goes on with one that another process began and cannot go on with, by what it left. */
int recorder_resume(struct recorder *, const struct config *, struct journal *, struct err *);

/* Writes what is left and finishes the file. */
int recorder_close(struct recorder *, struct err *);

/* The first thread of the program. */
void recorder_program(struct recorder *, const struct moment *);

/* A thread begins or ends. `parent` is the thread that made it. */
void recorder_fork(struct recorder *, struct thread_ids parent, const struct moment *);
void recorder_exit(struct recorder *, const struct moment *);

/*
 * Code or data at a guest address is used: writes the mapping it lies in, unless that has been
 * done.
 */
void recorder_use(struct recorder *, struct described *, const struct moment *, uint64_t address,
		  bool is_code);

/* The guest changed what is mapped there. */
void described_remapped(struct described *, uint64_t start, uint64_t end);

/* A child process inherits what its parent has mapped. */
void described_copy(const struct described *parent, struct described *out);
void described_release(struct described *);

/*
 * Adds a record to a CPU's buffer; fills in its thread and time. `has_collided`: samples were
 * lost since the one before.
 */
void recorder_spe(struct recorder *, struct described *, struct spe_record *, const struct moment *,
		  bool has_collided);

/* The generic timer's count at a cycle. */
uint64_t recorder_ticks(const struct recorder *, uint64_t cycle);

/* The header features: what machine this is. */
void recorder_features(const struct recorder *);

#endif
