/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/module_choice.h"

#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "symbol/symbols_state.h"

/* Modules of which something was recorded, for list_words(). */
struct named_modules {
	const struct modules *modules;
	const uint64_t *counts;
};

static bool has_name(const struct modules *modules, const struct module *m, const char *name)
{
	return strcmp(strings_get(modules->strings, m->name), name) == 0 ||
	       strcmp(strings_get(modules->strings, m->path), name) == 0;
}

static const char *module_name_at(const void *context, size_t i)
{
	const struct named_modules *n = context;

	for (uint32_t id = 1; id < n->modules->list.n; id++)
		if (n->counts[id] > 0 && n->modules->list.items[id].kind == MODULE_FILE && i-- == 0)
			return strings_get(n->modules->strings, n->modules->list.items[id].name);
	return NULL;
}

int feedback_choose_module(const struct session *s, const uint64_t *counts, const char *what,
			   const char *name, struct module_id *out, struct err *err)
{
	const struct modules *modules = timeline_modules(s->timeline);
	const struct named_modules named = { modules, counts };
	uint64_t most = 0;
	char list[256];

	for (uint32_t id = 1; id < modules->list.n; id++) {
		const struct module *m = &modules->list.items[id];

		if (m->kind != MODULE_FILE || counts[id] <= most ||
		    (name != NULL && !has_name(modules, m, name)))
			continue;
		most = counts[id];
		*out = (struct module_id){ id };
	}
	if (most > 0)
		return 0;
	if (name != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--module: no %s of '%s' were recorded; there are those of %s", what,
			       name, list_words(module_name_at, &named, list, sizeof(list)));
	return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		       "no %s of a program or library were recorded, only of other code", what);
}

void feedback_note_left_out(const struct session *s, const char *what, uint64_t n_elsewhere,
			    uint64_t n_samples_used, struct text *note)
{
	uint64_t n_samples = capture_totals(s->capture)->n_samples;

	if (n_elsewhere > 0)
		text_format(note,
			    "%" PRIu64 " %s of other modules are left out: --module chooses\n",
			    n_elsewhere, what);
	if (n_samples > n_samples_used)
		text_format(note, "%" PRIu64 " other samples are left out\n",
			    n_samples - n_samples_used);
}

const struct binary *feedback_binary(struct session *s, struct module_id id)
{
	symbols_prepare(s->symbols, id);
	symbols_load(s->symbols, id);
	return &s->symbols->states[id.v].binary;
}
