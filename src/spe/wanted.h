/* SPDX-License-Identifier: Apache-2.0 */
/* Which records, and what of them, a decoder must deliver. Skipping others saves most of its work. */
#ifndef CYCLOPS_SPE_WANTED_H
#define CYCLOPS_SPE_WANTED_H

#include <stdbool.h>

#include "base/address_filter.h"
#include "base/address_index.h"

/* Zeroed: all records. The filter and the cursor are borrowed. */
struct spe_wanted {
	/* only if it may contain the data address; NULL: any */
	const struct address_filter *addresses;
	bool only_memory; /* only loads, stores and atomics */
	/* Nobody looks at data addresses and branch targets: rows are without them. Not together with `addresses`. */
	bool without_addresses;
	bool without_targets; /* nobody looks at branch targets: rows are without them */
	/* With the former: nor at physical addresses, nor at what translation took. */
	bool without_translation;
	/* Not NULL: only those where this stops, which moves on, and perhaps some others. */
	struct address_cursor *records;
};

#endif
