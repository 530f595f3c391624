/* SPDX-License-Identifier: Apache-2.0 */
/* Which records a decoder must deliver. Skipping the others saves most of its work. */
#ifndef CYCLOPS_SPE_WANTED_H
#define CYCLOPS_SPE_WANTED_H

#include <stdbool.h>

#include "base/address_filter.h"

/* Zeroed: all. Borrows the filter. */
struct spe_wanted {
	const struct address_filter *addresses; /* with a data address it may have; NULL: any */
	bool only_memory;			/* loads, stores and atomics */
};

#endif
