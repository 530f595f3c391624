/* SPDX-License-Identifier: Apache-2.0 */
/* Which time is cut into slices: that between the first and the last record or sample. */
#ifndef CYCLOPS_SCAN_TIME_SLICES_H
#define CYCLOPS_SCAN_TIME_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/session.h"

/*
 * `n` slices from the first SPE record or sample with a time to the last one. Times of side-band records (of
 * maps, exits, drained buffers) may be far from these. Decodes the capture for the times: the places of
 * the scan before are gone. Fails if nothing has a time, or there are too many slices.
 */
int scan_time_slices(struct session *, uint32_t n, struct slices *out, struct err *err);

/*
 * Sets session->slices for --time-slices `n`. 0: no slices, or SLICES_DEFAULT if rows are grouped by time
 * (keys_have_time()).
 */
int scan_choose_slices(struct session *, uint32_t n, bool by_time, struct err *err);

#endif
