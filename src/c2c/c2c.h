/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops c2c: which cache lines are contended, what it costs, whether threads want the same bytes
 * (true sharing) or merely neighbouring ones (false sharing), and who they are.
 *
 * Two passes: the first counts each line in a few words (c2c/lines/lines.h) and ranks them, the
 * second tells the accesses apart of those that are to be shown (c2c/accesses/accesses.h).
 */
#ifndef CYCLOPS_C2C_C2C_H
#define CYCLOPS_C2C_C2C_H

#include "base/err.h"
#include "c2c/accesses/result.h"
#include "scan/select.h"

/* Words to values; an unknown one is an error that lists them. */
int sharing_mode_parse(const char *text, int *out, struct err *);
int sharing_sort_parse(const char *text, enum sharing_sort *out, struct err *);
int sharing_coalesce_parse(const char *text, unsigned *out, struct err *);

/*
 * Scans the capture and fills `out`, which is to be released also after a failure. The
 * session's places are those of the accesses afterwards.
 */
int sharing_run(struct session *, const struct select *, const struct sharing_request *,
		struct sharing *out, struct err *);
void sharing_release(struct sharing *);

/*
 * Excess latency of all loads of this line, summed up, estimated from the samples; 0: not known.
 * Loads overlap: at most this was lost, and it may be more than the program ran.
 */
double sharing_lost_cycles(const struct sharing *, const struct sharing_subject *);

#endif
