/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of time on pages: those of --time-slices, or HTML_SLICES. */
#ifndef CYCLOPS_HTML_PAGES_SLICES_H
#define CYCLOPS_HTML_PAGES_SLICES_H

#include <stdbool.h>

#include "session/session.h"
#include "table/table.h"

enum { HTML_SLICES = 100 };

/* What was sliced before. */
struct html_slices {
	struct slices before;
};

/* Slices the time of the session, if it is not sliced yet; false: its records have no times. */
bool html_slices_begin(struct html_slices *, struct session *);
void html_slices_end(const struct html_slices *, struct session *);

/* A row of how many there are, where they begin and how long each is: "slices". After a scan. */
void html_slices_table(const struct slices *, struct table *out);

#endif
