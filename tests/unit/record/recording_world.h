/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording on the fake kernel: an event on all CPUs, and SPE on CPU 1 alone if it is asked for.
 */
#ifndef CYCLOPS_TESTS_RECORD_RECORDING_WORLD_H
#define CYCLOPS_TESTS_RECORD_RECORDING_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "capture/writer/writer.h"
#include "fake_kernel.h"
#include "record/recording.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { WORLD_RING_BYTES = 64 << 10, WORLD_AUX_BYTES = 8 << 10 };

extern const struct pmu world_spe_pmu; /* on CPU 1 */

struct world {
	struct fake_kernel kernel;
	struct record_options options;
	struct record_events events;
	struct diags diags;
	struct recording recording;
	struct writer *writer;
	char path[64];
};

/* The attribute of a sampling event: IDENTIFIER, IP, TID, TIME. */
struct attr world_sampling(void);

void world_make(struct world *, bool has_spe);

/* Closes all, and checks that each event was closed. */
void world_release(struct world *);

/* Opens the events for threads 5 and 6 on CPUs 0 to `last_cpu`. */
int world_open(struct world *, uint32_t last_cpu, struct err *);

/* Opens a file to write to, whose name is `path`. */
void world_write(struct world *);

#endif
