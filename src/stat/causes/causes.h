/* SPDX-License-Identifier: Apache-2.0 */
/* What counts say: what stands out, what it costs, what to try, and when nothing may be concluded. */
#ifndef CYCLOPS_STAT_CAUSES_CAUSES_H
#define CYCLOPS_STAT_CAUSES_CAUSES_H

#include "findings/finding.h"
#include "metrics/inside.h"

/* What stands out, and what to try. */
void stat_find(const struct stat *, struct findings *out);

/* Why there is no finding, or what those there are do not tell; `out` has the findings. */
void stat_find_silences(const struct stat *, struct findings *out);

/* A command that counts what the branches of the tree lack, in `out`; NULL: they lack nothing. */
const char *stat_find_counting(const struct stat *, struct findings *out);

/* That counts cannot be, or not of this CPU. */
void stat_find_contradictions(const struct stat *, struct findings *out);

#endif
