/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SPE is to record, as users write it, and the event that asks the kernel for it:
 *
 *	loads,stores		kinds of operations (any of them); also branches, simd, float
 *	latency>=30		only what took that many cycles or more
 *	event=tlb-walk		only what has the event; repeated: all of them
 *	event!=l1d-refill	only what does not have it
 *	source!=3		only what another data source served, by its number
 *	interval=4096		operations between samples
 *	no-jitter, ts, pa, pct, discard, or any option of the PMU's format as NAME=VALUE
 *
 * Facts: docs/reference/spe-interop.md section 2.
 */
#ifndef CYCLOPS_RECORD_SPE_REQUEST_H
#define CYCLOPS_RECORD_SPE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/writer/writer.h"
#include "record/events.h"

/* The n-th PMU of Arm SPE; NULL behind the last. There is one for each kind of core. */
const struct pmu *spe_pmu(struct pmus *, size_t index);

/*
 * Appends an event for each SPE PMU, with jitter, timestamps and, if `is_privileged`, physical
 * addresses, unless the filters say otherwise. `period`: operations between samples, 0: as
 * often as the hardware can. Fails if there is no SPE, or it cannot filter like that.
 */
int spe_request_add(struct record_events *, const char *filters, struct pmus *, uint64_t period,
		    bool is_privileged, struct err *);

/*
 * The interval that the driver makes of a wanted one: at least the PMU's minimum, a multiple
 * of 256, rounded down. 0: the minimum.
 */
uint64_t spe_real_interval(const struct pmu *, uint64_t wanted);

/* Bytes of the first version of AUXTRACE_INFO tell less; perf before 6.15 reads only that. */
enum spe_info_version { SPE_INFO_AUTO, SPE_INFO_1, SPE_INFO_2 };

/*
 * Writes the AUXTRACE_INFO record of these PMUs: version 1 if all CPUs are alike and there is
 * one PMU, else 2, unless told.
 */
void spe_info_write(struct writer *, struct pmus *, const struct cpu_list *, const char *root,
		    enum spe_info_version);

#endif
