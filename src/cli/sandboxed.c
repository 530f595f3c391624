/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sandboxed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/pager.h"
#include "sandbox/sandbox.h"
#include "symbol/debuginfod.h"

/* Variables that name folders with binaries or debug files. */
static const char *const folders_by_variable[] = { "PERF_BUILDID_DIR", "DEBUGINFOD_CACHE_PATH" };

/* Options that say what is done outside of it, or not at all. */
struct sandbox_options {
	bool is_off;
	bool use_debuginfod, no_debuginfod, no_pager;
	const char *pager;
};

static void read_option(const struct option *o, const void *field, struct sandbox_options *out,
			struct sandbox_places *places)
{
	const bool *flag = field;
	const char *const *text = field;
	const struct option_list *list = field;
	bool is_folder = strcmp(o->name, "symfs") == 0;

	if (o->kind == OPTION_FLAG) {
		out->is_off |= strcmp(o->name, "no-sandbox") == 0 && *flag;
		out->use_debuginfod |= strcmp(o->name, "debuginfod") == 0 && *flag;
		out->no_debuginfod |= strcmp(o->name, "no-debuginfod") == 0 && *flag;
		out->no_pager |= strcmp(o->name, "no-pager") == 0 && *flag;
	} else if (o->kind == OPTION_TEXT && strcmp(o->name, "pager") == 0) {
		out->pager = *text;
	} else if ((o->kind == OPTION_INPUT || is_folder) && *text != NULL) {
		*vec_add(&places->reads) = *text;
	} else if ((o->kind == OPTION_OUTPUT || o->kind == OPTION_PLACE) && *text != NULL &&
		   strcmp(*text, "-") != 0) {
		*vec_add(&places->writes) = *text;
	} else if (o->kind == OPTION_FOLDER && *text != NULL) {
		*vec_add(&places->folders) = *text;
	} else if (o->kind == OPTION_INPUTS || strcmp(o->name, "debug-dir") == 0) {
		for (size_t i = 0; i < list->n; i++)
			*vec_add(&places->reads) = list->items[i];
	}
}

void enter_sandbox(const struct option_set *sets, size_t n_sets, const struct arguments *arguments)
{
	struct sandbox_places places = { 0 };
	struct sandbox_options options = { 0 };
	const char *cache = getenv("XDG_CACHE_HOME");
	struct text downloads = { 0 };

	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n; i++) {
			const struct option *o = &sets[s].options[i];

			read_option(o, (const char *)sets[s].into + o->offset, &options, &places);
		}
	*vec_add(&places.reads) = "perf.data"; /* the capture if none is given */
	for (size_t i = 0; i < arguments->n; i++)
		*vec_add(&places.reads) = arguments->items[i];
	for (size_t i = 0; i < COUNT(folders_by_variable); i++)
		if (getenv(folders_by_variable[i]) != NULL)
			*vec_add(&places.reads) = getenv(folders_by_variable[i]);
	if (cache != NULL) {
		text_format(&downloads, "%s/debuginfod_client%c", cache, 0);
		*vec_add(&places.reads) = downloads.bytes;
	}
	if (!options.is_off) {
		if (options.use_debuginfod && !options.no_debuginfod)
			debuginfod_prepare();
		if (isatty(STDOUT_FILENO) &&
		    !options.no_pager) /* has none of its pipes open then */
			pager_prepare(options.pager);
		(void)sandbox_start(&places);
	}
	text_release(&downloads);
	sandbox_places_release(&places);
}
