/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine answered: comma- or tab-separated values as a table. */
#ifndef CYCLOPS_FLEET_RESULT_H
#define CYCLOPS_FLEET_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "fleet/engine.h"
#include "table/table.h"

/* What an answer rests on. */
struct fleet_facts {
	uint64_t captures, hosts, records, modelled, with_losses;
	uint64_t
		unscaled; /* captures whose SPE interval is not known: no record is weighted by its interval then */
	char first_day[sizeof("2026-11-26")], last_day[sizeof("2026-11-26")];
};

/*
 * Reads the answer of the two questions of a script: facts, and rows of the table, whose columns the answer has in this
 * order. A cell that is no value of its column is an error. What statements before the questions answered is skipped.
 */
int result_read(const struct engine *, const struct text *answer, struct fleet_facts *,
		struct table *, struct err *);

/* The same of one question that has no facts. */
int result_read_rows(const struct engine *, const struct text *answer, struct table *,
		     struct err *);

#endif
