/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines are worth a word, and the words for all of them together. */
#ifndef CYCLOPS_C2C_VERDICT_WORTH_H
#define CYCLOPS_C2C_VERDICT_WORTH_H

#include "c2c/accesses/result.h"

/* A line with less of the latency of all loads is not worth a word. */
#define SHARING_LEAST_SHARE 0.001

/* How much is known of what is wrong with a line. */
enum sharing_worth {
	SHARING_WORTH_NOTHING,
	SHARING_WORTH_STORES, /* several write different parts of it; what stores wait for is not recorded */
	SHARING_WORTH_SUSPECT, /* loads waited, but they do not tell whom for */
	SHARING_WORTH_FIGHT,
	SHARING_N_WORTHS,
};

enum sharing_worth sharing_worth_of(const struct sharing *, const struct sharing_subject *);

/* A line's part of all contended loads. */
double sharing_contended_part(const struct sharing *, const struct sharing_subject *);

/* What shares are of: from issue on where that was recorded, or else from dispatch. */
const char *sharing_latency_words(const struct sharing *);

/* What to say if there is no finding. */
const char *sharing_nothing_found(const struct sharing *);

/* Was any write to a line seen? Atomics write, too, but they are loads in the record. */
bool sharing_has_writes(const struct sharing *);

#endif
