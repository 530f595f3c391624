/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "callers/callers.h"
#include "capture/capture.h"
#include "hot/event.h"
#include "hot/hot.h"
#include "html/pages/pages.h"
#include "scan/scan.h"

/* A table of the page. Those of code share a scan; the names of the others are no names of code. */
static const struct hotspots {
	struct keys keys;
	const char *name, *title;
} hotspots[] = {
	{ { { KEY_FUNCTION }, 1 }, "functions", "Functions" },
	{ { { KEY_LINE }, 1 }, "lines", "Source lines" },
	{ { { KEY_MODULE }, 1 }, "modules", "Modules" },
	{ { { KEY_PROCESS }, 1 }, "processes", "Processes" },
	{ { { KEY_THREAD }, 1 }, "threads", "Threads" },
};

enum { N_HOTSPOTS = COUNT(hotspots) };

/* As `cyclops hot --by KEY --all` has them. */
static int make_hotspots(struct session *s, const struct select *select,
			 const struct hotspots *what, const struct hot_event *event,
			 const struct mux *mux, struct table *out, struct err *err)
{
	const struct hot_view view = {
		.keys = what->keys,
		.name = what->name,
		.title = what->title,
		.with_estimates = event->is_spe && capture_spe(s->capture)->is_present,
	};
	struct hot_options options =
		hot_event_options(event, keys_dimensions(&view.keys) | 1u << DIM_FRAME |
						 (s->slices.n > 0 ? 1u << DIM_SLICE : 0));
	const struct scan_wish wish = { .with_branches = event->with_branches };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names = { 0 };
	int rc;

	if (mux_scales(mux))
		options.mux = mux;
	options.chains_bytes = hot_chains_bytes(s);
	if (!options.without_spe)
		callers_estimate(s);
	scan_part(s, select, &wish, &hot, 1);
	hot_names(s, hot.result, &view.keys, &names);
	if (what == &hotspots[0] && names.depth == SYMBOLS_FUNCTIONS)
		hot_names_inlined(hot.result, &names);
	rc = hot_table(hot.result, &names, &view, out, err);
	if (rc == 0)
		rc = hot_check(hot.result, err);
	hot_table_notes(hot.result, &view, out);
	names_release(&names);
	hot_class.free(hot.result);
	return rc;
}

int html_add_functions(struct html *h, struct session *s, const struct select *select,
		       struct err *err)
{
	struct table made[N_HOTSPOTS] = { 0 };
	struct tables tables = { 0 };
	struct hot_event event = { 0 };
	struct mux *mux = mux_new(s);
	int rc = hot_event_choose(s, NULL, 0, NULL, &event, err);

	for (size_t i = 0; i < N_HOTSPOTS && rc == 0; i++) {
		rc = make_hotspots(s, select, &hotspots[i], &event, mux, &made[i], err);
		if (table_n_rows(&made[i]) > 0)
			*vec_add(&tables.list) = &made[i];
	}
	if (rc == 0 && tables.list.n > 0)
		html_add(h, "functions", NULL, &tables);
	for (size_t i = 0; i < N_HOTSPOTS; i++)
		table_release(&made[i]);
	vec_release(&tables.list);
	hot_event_release(&event);
	mux_free(mux);
	return rc;
}
