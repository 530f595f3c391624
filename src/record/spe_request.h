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
 *	user, kernel		only there
 *	no-jitter, ts, pa, pct, discard, or any option of the PMU's format as NAME=VALUE
 *
 * Facts: docs/reference/spe-interop.md section 2.
 */
#ifndef CYCLOPS_RECORD_SPE_REQUEST_H
#define CYCLOPS_RECORD_SPE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "capture/writer/writer.h"
#include "record/events.h"

/* SPE PMU number `index`; NULL behind the last. Each kind of core has its own. */
const struct pmu *spe_pmu(struct pmus *, size_t index);

/*
 * Appends an event for each SPE PMU, with jitter, timestamps and, if `is_privileged`, physical
 * addresses, unless the filters say otherwise. `period`: operations between samples, 0: 4096. Fails
 * if there is no SPE or a filter is not supported.
 */
int spe_request_add(struct record_events *, const char *filters, struct pmus *, uint64_t period,
		    bool is_privileged, struct err *);

/*
 * Takes a list of events apart: SPE as perf names it ("arm_spe_0/load_filter=1,period=4096/u") becomes
 * filters, which are appended to `filters`, and the other events are appended to `others`; both with
 * commas between them. Returns whether there was SPE.
 */
bool spe_request_split(const char *events, struct text *filters, struct text *others);

/*
 * The sampling interval that the driver makes of `wanted`: at least the PMU's minimum, rounded down
 * to a multiple of 256. 0: the minimum.
 */
uint64_t spe_real_interval(const struct pmu *, uint64_t wanted);

/*
 * Versions of AUXTRACE_INFO. Version 1 has no metadata for each CPU; perf before 6.15 reads only
 * that.
 */
enum spe_info_version { SPE_INFO_AUTO, SPE_INFO_1, SPE_INFO_2 };

/*
 * Writes the AUXTRACE_INFO record of the SPE PMUs. SPE_INFO_AUTO is version 1 if there is one PMU
 * and all CPUs are alike, else version 2.
 */
void spe_info_write(struct writer *, struct pmus *, const struct cpu_list *, const char *root,
		    enum spe_info_version);

#endif
