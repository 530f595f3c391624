/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the data that loops access. */
#ifndef CYCLOPS_REPORT_LOOP_DATA_H
#define CYCLOPS_REPORT_LOOP_DATA_H

#include "findings/finding.h"
#include "session/session.h"

/*
 * Of each finding of a loop whose instruction accesses one object, or objects of one type: which. That is known where its
 * lowest and its highest sampled address have the same name.
 */
void loop_data_name(struct session *, struct findings *);

#endif
