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
#include "model/observer.h"
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
	struct text sample;	 /* the record of one */
	uint64_t first_ns;	 /* when the machine began */
};

/* Numbers of PMUs: any that perf does not use itself. */
enum { PMU_TYPE = 8, SPE_TYPE = 10 };

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

/* Adds a sample of the PMU, of what runs at that moment. */
void recorder_sample(struct recorder *, const struct pmu_sample *, const struct moment *);

/* Fields of samples that all events have. */
enum {
	RECORDER_SAMPLE = 1 << SAMPLE_IP | 1 << SAMPLE_TID | 1 << SAMPLE_TIME | 1 << SAMPLE_CPU |
			  1 << SAMPLE_IDENTIFIER,
};

/* The id of an event on CPU 0; those of the other CPUs follow. The first two have other ids. */
enum { RECORDER_SAMPLE_IDS = 10000 };

/* An event of the PMU that is sampled, for the capture's header; its name is appended. */
struct attr recorder_sample_attr(const struct config *, const struct sample_event *);
void recorder_sample_name(const struct sample_event *, struct text *name);

/* Samples that are kept go to the file. */
void recorder_flush_samples(struct recorder *);

/* After an interruption: samples that are in the file are kept no longer. */
void recorder_drop_samples(struct recorder *);

/* The end of a record. `first_id`: of its event on CPU 0. */
struct sample_id recorder_trailer(struct recorder *, const struct moment *, uint64_t first_id);

/* The generic timer's count at a cycle. */
uint64_t recorder_ticks(const struct recorder *, uint64_t cycle);

/* The header features: what machine this is. */
void recorder_features(const struct recorder *);

#endif
