/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle accounting as a page for a browser. */
#include "cycles/cycles.h"
#include "html/html.h"

enum { PAGE_SHARES, PAGE_ROWS, PAGE_WHOLE, N_PAGE_PARTS };

int cycles_html(struct html *h, const struct cycle_objects *objects,
		const struct cycle_request *request, struct err *err)
{
	struct cycle_request requests[N_PAGE_PARTS] = { *request, *request, *request };
	struct cycle_tables made[N_PAGE_PARTS] = { 0 };
	struct tables tables = { 0 };
	int rc = 0;

	requests[PAGE_SHARES].is_for_people = true;
	requests[PAGE_ROWS].is_for_people = requests[PAGE_WHOLE].is_for_people = false;
	requests[PAGE_SHARES].node_of = requests[PAGE_ROWS].node_of = NULL;
	requests[PAGE_WHOLE].node_of = "all";
	for (size_t i = 0; i < N_PAGE_PARTS && rc == 0; i++) {
		requests[i].top = 0;
		rc = cycles_make(objects, &requests[i], &made[i], err);
	}
	if (rc == 0) {
		made[PAGE_WHOLE].cycles.name = "whole";
		*vec_add(&tables.list) = &made[PAGE_SHARES].answer;
		*vec_add(&tables.list) = &made[PAGE_SHARES].shares;
		*vec_add(&tables.list) = &made[PAGE_ROWS].cycles;
		*vec_add(&tables.list) = &made[PAGE_WHOLE].cycles;
		html_add(h, "cycles", NULL, &tables);
	}
	for (size_t i = 0; i < N_PAGE_PARTS; i++)
		cycle_tables_release(&made[i]);
	vec_release(&tables.list);
	return rc;
}
