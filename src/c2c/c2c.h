/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops c2c: which cache lines are contended, what it costs, whether threads want the same bytes
 * (true sharing) or merely neighbouring ones (false sharing), and who they are.
 *
 * Two passes: the first counts each line in a few words (c2c/lines/lines.h) and ranks them, the
 * second distinguishes the accesses to those that are to be shown (c2c/accesses/accesses.h), and of
 * lines near them (c2c/accesses/near.h).
 */
#ifndef CYCLOPS_C2C_C2C_H
#define CYCLOPS_C2C_C2C_H

#include "base/err.h"
#include "c2c/accesses/result.h"
#include "scan/select.h"
#include "scan/shared_scan.h"

/* Words to values; an unknown one is an error that lists them. */
int c2c_mode_parse(const char *text, int *out, struct err *);
int c2c_sort_parse(const char *text, enum c2c_sort *out, struct err *);
int c2c_coalesce_parse(const char *text, unsigned *out, struct err *);

/*
 * Scans the capture and fills `out`, which is to be released also after a failure. The
 * session's places are those of the accesses afterwards.
 */
int c2c_run(struct session *, const struct select *, const struct c2c_request *, struct c2c *out,
	    struct err *);
void c2c_release(struct c2c *);

/*
 * The same in steps, for answers that share scans: what a step adds to a scan is there in the next,
 * once that ran. Between the first and the last, `out` stays where it is; it is to be released after
 * any of them. The second scan may keep the places of the first.
 */
int c2c_begin(struct c2c *out, struct session *, const struct c2c_request *,
	      struct shared_scan *first, struct err *);
int c2c_choose(struct c2c *, const struct select *, struct shared_scan *second, struct err *);
void c2c_finish(struct c2c *, const struct select *);

/*
 * Excess latency of all loads of this line, summed up, estimated from the samples; 0: not known.
 * Loads overlap: at most this was lost, and it may be more than the program ran.
 */
double c2c_lost_cycles(const struct c2c *, const struct c2c_subject *);

#endif
