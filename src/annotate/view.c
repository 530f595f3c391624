/* SPDX-License-Identifier: Apache-2.0 */
/* The event columns of a listing. */
#include "annotate/view.h"

#include <string.h>

#include "base/alloc.h"
#include "spe/names.h"
#include "spe/packet.h"

/* Event columns without --event; csv and json have all events. */
enum { UNASKED = 3 };

/* SPE events that mean a delay, the worst first. */
static const uint8_t shown_events[] = {
	SPE_EV_MISPREDICTED, SPE_EV_L1D_REFILL, SPE_EV_TLB_WALK, SPE_EV_LLC_MISS,
	SPE_EV_REMOTE,	     SPE_EV_HITM,	SPE_EV_L2D_MISS, SPE_EV_PARTIAL_PREDICATE,
};

static void view_add(struct annotate_view *view, bool is_spe, uint32_t number)
{
	if (view->n_events < ANNOTATE_EVENTS)
		view->events[view->n_events++] = (struct annotate_event){ is_spe, number };
}

int annotate_view_add(struct annotate_view *view, const struct session *s, const char *name,
		      struct err *err)
{
	size_t n = capture_n_events(s->capture);
	int bit;

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(capture_event_name(s->capture, i), name) == 0) {
			view_add(view, false, i);
			return 0;
		}
	}
	bit = spe_event_find(name);
	if (bit < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--event: '%s' is neither an event of this capture (its first is "
			       "'%s') nor an SPE event",
			       name, n > 0 ? capture_event_name(s->capture, 0) : "");
	view_add(view, true, (uint32_t)bit);
	return 0;
}

void annotate_view_fill(struct annotate_view *view, const struct annotation *a)
{
	size_t n = capture_n_events(a->session->capture);

	for (uint32_t i = 0; i < n && view->n_events < UNASKED; i++)
		if (annotation_count_of(a, COUNT_SAMPLES, i) > 0)
			view_add(view, false, i);
	for (size_t i = 0; i < COUNT(shown_events) && view->n_events < UNASKED; i++)
		if (annotation_count_of(a, COUNT_EVENT, shown_events[i]) > 0)
			view_add(view, true, shown_events[i]);
}

uint64_t annotate_total(const struct annotation *a, const struct annotate_event *e)
{
	return annotation_count_of(a, e->is_spe ? COUNT_EVENT : COUNT_PERIOD, e->number);
}

double annotate_share(const struct annotation *a, const struct annotate_event *e, uint64_t total,
		      size_t i)
{
	uint64_t n = annotated_count_of(a, i, e->is_spe ? COUNT_EVENT : COUNT_PERIOD, e->number);

	return total == 0 ? 0 : (double)n / (double)total;
}

const char *annotate_event_name(const struct annotation *a, const struct annotate_event *e)
{
	const char *name;

	if (!e->is_spe)
		return capture_event_name(a->session->capture, e->number);
	name = spe_event_name(e->number);
	return name == NULL ? "IMPDEF" : name;
}
