/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "table/human.h"

static void record_summary_add_number(struct text *out, uint64_t number, const char *unit)
{
	human_words(out, &(struct cell){ .type = CELL_COUNT, .count = number }, unit);
}

bool record_has_losses(const struct record_summary *s)
{
	return (s->n_records_lost | s->n_samples_lost | s->n_aux_truncated | s->n_aux_collided) !=
	       0;
}

/* Appends what was lost, the most important first, each with a remedy. */
static void add_losses(const struct record_summary *s, struct text *out)
{
	const struct {
		uint64_t n, n_all; /* n_all: of so many; 0: not known */
		const char *unit, *advice;
	} losses[] = {
		{ s->n_samples_lost > s->n_records_lost ? s->n_samples_lost : s->n_records_lost, 0,
		  "records",
		  "lost because ring buffers were full: use a larger --ring, or fewer samples "
		  "(--freq, --count)" },
		{ s->n_aux_truncated, s->n_aux, "buffers",
		  "of SPE were full, and records were lost: use a larger --aux, or a longer "
		  "interval" },
		{ s->n_aux_collided, s->n_aux, "buffers",
		  "have SPE collisions, and lost samples: the interval is too short for some "
		  "operations" },
	};

	for (size_t i = 0; i < COUNT(losses); i++) {
		if (losses[i].n == 0)
			continue;
		text_str(out, "; ");
		record_summary_add_number(out, losses[i].n,
					  losses[i].n_all > 0 ? "" : losses[i].unit);
		if (losses[i].n_all > 0) {
			text_str(out, " of ");
			record_summary_add_number(out, losses[i].n_all, losses[i].unit);
		}
		text_format(out, " %s", losses[i].advice);
	}
}

void record_sum_up(const struct record_options *o, const struct record_summary *s, struct text *out)
{
	text_format(out, "%s: ", o->output);
	record_summary_add_number(out, s->n_bytes, "bytes");
	text_str(out, ", ");
	record_summary_add_number(out, s->n_samples, "samples");
	if (s->spe_interval != 0) {
		text_str(out, ", ");
		record_summary_add_number(out, s->aux_bytes, "bytes");
		text_format(out, " of SPE, one sample in %" PRIu64 " operations", s->spe_interval);
	}
	if (s->account.n_events > 0) {
		text_str(out, "; ");
		accounting_sum_up(&s->account, s->least_counted, s->most_counted, out);
	}
	if (s->reached_size)
		text_str(out, "; stopped at --max-size");
	if (s->reached_time)
		text_str(out, "; stopped after --duration");
	add_losses(s, out);
}
