/* SPDX-License-Identifier: Apache-2.0 */
/* The dump of SPE data, packet by packet, as `perf script -D` prints it. */
#ifndef CYCLOPS_DUMP_PACKETS_H
#define CYCLOPS_DUMP_PACKETS_H

#include "base/pool.h"
#include "base/text.h"
#include "capture/capture.h"
#include "cpu/cpu.h"
#include "spe/packet.h"

/* Takes the next piece of the text; -1 stops the dump. */
typedef int packets_sink(void *context, const struct text *);

/*
 * Dumps all AUX chunks of a scanned capture in file order: a line with the size, then a line for
 * each packet. Chunks are split and rendered in parallel where possible; memory is bounded. The
 * catalog has the CPUs' own names for event bits; NULL: such bits stay numbers. Returns -1 if the
 * sink stopped the dump.
 */
int packets_dump(const struct capture *, const struct catalog *, struct pool *, enum spe_wording,
		 packets_sink *, void *context);

#endif
