/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many SPE samples were lost. AUX records say only that some were. The PMU's events of sampling
 * tell how many, where somebody counted them: sampled beside SPE in the same capture, or in a file of
 * counts (docs/reference/spe-interop.md section 2.2).
 */
#ifndef CYCLOPS_SCAN_LOST_SAMPLES_H
#define CYCLOPS_SCAN_LOST_SAMPLES_H

#include "base/err.h"
#include "session/session.h"

/*
 * Fills session->lost, after session_open(). `counts_path` is borrowed: a file of counts of the same
 * run, or NULL. Scans the capture if there are counts. Fails if the file cannot be read, or has none
 * of these events.
 */
int lost_samples_find(struct session *, const char *counts_path, struct err *);

/*
 * Appends "151 of 1399 SPE samples were lost to collisions: …", with what follows for estimates;
 * false: none was lost.
 */
bool lost_samples_sentence(const struct session *, struct text *);

#endif
