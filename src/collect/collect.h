/* SPDX-License-Identifier: Apache-2.0 */
/* Captures into a dataset, many at the same time. */
#ifndef CYCLOPS_COLLECT_COLLECT_H
#define CYCLOPS_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "cli/input.h"
#include "collect/identity.h"
#include "collect/inputs.h"

enum collect_state {
	COLLECT_DONE,
	COLLECT_THERE, /* it was collected before */
	COLLECT_EMPTY, /* it has no samples: there is nothing to collect */
	COLLECT_FAILED,
	N_COLLECT_STATES,
};

/* What became of a capture. */
struct collected {
	enum collect_state state;
	char capture[CAPTURE_HASH_DIGITS + 1], day[DAY_BYTES];
	const char *start_basis; /* one of start_basis_names[]; NULL: not known */
	char *host;		 /* owned; NULL: not known */
	char *failed;		 /* owned: why */
	uint64_t n_records, n_rows, n_places, n_unnamed;
	bool is_damaged, is_modelled;
};

struct collection {
	const struct inputs *inputs;
	const struct input_options *opening; /* how captures are opened */
	const char *root;		     /* of the dataset: a folder, which is made */
	struct identity_given given;
	bool again; /* also what was collected before: names may be there now */
};

/* Collects all inputs by the workers of the pool. Returns a list of as many results; collected_free() it. */
struct collected *collect_all(const struct collection *, struct pool *);
void collected_free(struct collected *, size_t n);

#endif
