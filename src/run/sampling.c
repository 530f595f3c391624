/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sampling.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"

static bool has_spe(struct pmus *pmus)
{
	for (size_t i = 0; pmus_at(pmus, i) != NULL; i++)
		if (strncmp(pmus_at(pmus, i)->name, "arm_spe", 7) == 0)
			return true;
	return false;
}

static const char *take_text(struct text *text, struct arena *memory)
{
	const char *out = arena_strndup(memory, text->bytes, text->n);

	text_release(text);
	return out;
}

struct sampling sampling_choose(struct pmus *pmus, const struct cpu_metric *first,
				unsigned interval, struct arena *memory)
{
	bool has_cycles = pmus_core(pmus, 0) != NULL;
	struct text spe = { 0 }, events = { 0 };
	struct sampling out = { 0 };

	text_str(&events, has_cycles ? "cycles" : "cpu-clock");
	if (has_spe(pmus)) {
		/* All operations: with filters the time between records, and so that of loops,
		 * would not be known. */
		text_str(&spe, "--spe");
		if (interval != 0)
			text_format(&spe, "=interval=%u", interval);
		out.spe = take_text(&spe, memory);
	} else {
		for (size_t i = 0; has_cycles && first != NULL && i < first->samples.n; i++)
			text_format(&events, ",%s", first->samples.items[i]->name);
	}
	out.events = take_text(&events, memory);
	return out;
}
