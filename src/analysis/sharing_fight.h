/* SPDX-License-Identifier: Apache-2.0 */
/* One cause is one finding: the lines of one object that are fought over in the same manner. */
#ifndef CYCLOPS_ANALYSIS_SHARING_FIGHT_H
#define CYCLOPS_ANALYSIS_SHARING_FIGHT_H

#include <stdint.h>

#include "analysis/sharing.h"
#include "base/vec.h"

struct sharing_fight {
	VEC_OF(uint32_t) lines; /* numbers of subjects, in order */
	struct sharing_subject
		sum; /* of all lines; it is at the first and has the accesses of that */
};

/* Of the line `first` and those that it leads, by subject: itself, or the line that it goes with. */
void sharing_fight_init(struct sharing_fight *, const struct sharing *, const uint32_t *leaders,
			uint32_t first);
void sharing_fight_release(struct sharing_fight *);

#endif
