/* SPDX-License-Identifier: Apache-2.0 */
/* The table captures: a row for each collection of a capture. Its file is what commits the others. */
#ifndef CYCLOPS_COLLECT_CAPTURES_H
#define CYCLOPS_COLLECT_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/samples.h"
#include "collect/shared_lines.h"

/* Writes the row. `is_sampled`: by module id. */
int captures_write(const struct session *, const struct samples_totals *,
		   const struct loads_total *, const bool *is_sampled, const char *root,
		   const struct identity *, struct err *);

#endif
