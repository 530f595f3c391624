/* SPDX-License-Identifier: Apache-2.0 */
/* Which records, and what of them, a decoder must deliver. Skipping others saves most of its work. */
#ifndef CYCLOPS_SPE_WANTED_H
#define CYCLOPS_SPE_WANTED_H

#include <stdbool.h>

#include "base/address_filter.h"

/* Zeroed: all records. The filter is borrowed. */
struct spe_wanted {
	/* only if it may contain the data address; NULL: any */
	const struct address_filter *addresses;
	bool only_memory; /* only loads, stores and atomics */
	/* Nobody looks at data addresses and branch targets: rows are without them. Not together with `addresses`. */
	bool without_addresses;
};

#endif
