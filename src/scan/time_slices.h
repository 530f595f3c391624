/* SPDX-License-Identifier: Apache-2.0 */
/* Which time is cut into slices: that between the first and the last record or sample. */
#ifndef CYCLOPS_SCAN_TIME_SLICES_H
#define CYCLOPS_SCAN_TIME_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/session.h"

/*
 * Sets session->slices for --time-slices `n`: from the first SPE record or sample with a time to the last one.
 * Times of side-band records (of maps, exits, drained buffers) may be far from these. 0: no slices, or
 * SLICES_DEFAULT if rows are grouped by time (keys_have_time()).
 *
 * The slices are provisional: they are of the times at the ends of the capture's buffers. The next scan sees all
 * times. If others are earlier or later, it makes the slices exact and counts again, so that what it
 * hands out is always by the exact ones.
 *
 * Fails if nothing has a time, or there are too many slices.
 */
int scan_choose_slices(struct session *, uint32_t n, bool by_time, struct err *err);

#endif
