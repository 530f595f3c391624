/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the capture, as perf record would on the modelled machine: SPE records in an AUX buffer
 * for each CPU, and side-band records of threads and mappings.
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

/* The mappings of a process that are in the capture. */
struct described {
	uint64_t guest_base;	 /* address in this process of the guest's address 0 */
	struct spans code, data; /* guest addresses whose MMAP2 records are written */
};

struct recorder {
	const struct config *config; /* borrowed */
	struct writer *writer;
	struct record_time_conv time;
	struct journal *journal; /* borrowed: the AUX buffers */
	struct strings paths;	 /* files whose build-ids are written */
	struct text sample;	 /* memory for a SAMPLE record */
	uint64_t first_ns;	 /* time of cycle 0 */
};

/* PMU types: any numbers that no other PMU has. */
enum { PMU_TYPE = 8, SPE_TYPE = 10 };

/* Begins the capture. Data that is not in the file yet is always in the journal. */
int recorder_open(struct recorder *, const struct config *, struct journal *, struct err *);

/* Continues the capture of a process that ended, with its journal. */
int recorder_resume(struct recorder *, const struct config *, struct journal *, struct err *);

/* Writes the buffers and the header, and closes the file. */
int recorder_close(struct recorder *, struct err *);

/* The first thread of the program. */
void recorder_program(struct recorder *, const struct moment *);

/* A thread starts or ends. `parent`: the thread that made it. */
void recorder_fork(struct recorder *, struct thread_ids parent, const struct moment *);
void recorder_exit(struct recorder *, const struct moment *);

/* Writes the mapping of a guest address, code or data, unless it is in the capture already. */
void recorder_use(struct recorder *, struct described *, const struct moment *, uint64_t address,
		  bool is_code);

/* The guest changed mappings from `start` to before `end`: they are to be written again. */
void described_remapped(struct described *, uint64_t start, uint64_t end);

/* For a child of fork, which has the mappings of its parent. */
void described_copy(const struct described *parent, struct described *out);
void described_release(struct described *);

/*
 * Adds a record to a CPU's buffer, with thread and time. `has_collided`: samples collided before
 * it.
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

/* The capture's time at a cycle. */
uint64_t recorder_ns(const struct recorder *, uint64_t cycle);

/* Writes the header's features: the description of the machine. */
void recorder_features(const struct recorder *);

#endif
