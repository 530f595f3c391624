/* SPDX-License-Identifier: Apache-2.0 */
/* PMU samples of an event by place: all there is where no branches were recorded. */
#ifndef CYCLOPS_FEEDBACK_SAMPLES_H
#define CYCLOPS_FEEDBACK_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "session/analysis.h"

struct place_samples_sum {
	uint64_t n, period;
};

/* Options: the number of the event, a size_t. Result: this. */
struct place_samples {
	size_t event;
	struct tuples places;
	VEC_OF(struct place_samples_sum) sums; /* by place */
	uint64_t n;
};

extern const struct analysis_class place_samples_class;

#endif
