/* SPDX-License-Identifier: Apache-2.0 */
#include "session/without_spe.h"

#include "capture/format/sample.h"

void note_without_memory(const struct session *s, struct table *t)
{
	if (!capture_spe(s->capture)->is_present)
		table_note(
			t,
			"this capture has neither SPE records nor samples with data sources, which "
			"tell this: cyclops record --spe makes records on Arm CPUs that have "
			"SPE, perf mem record samples on x86 and POWER, cyclops model records of "
			"AArch64 programs elsewhere");
}

bool note_without_spe(const struct session *s, struct table *t)
{
	const uint64_t weights = 1u << SAMPLE_WEIGHT | 1u << SAMPLE_WEIGHT_STRUCT;
	uint64_t fields = 0;

	if (capture_spe(s->capture)->is_present)
		return false;
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		fields |= capture_event(s->capture, i)->attr.sample_type;
	table_note(t, "this capture has no SPE records, and only they tell this: cyclops record "
		      "--spe makes them on Arm CPUs that have SPE (cyclops doctor says so), "
		      "cyclops model for AArch64 programs elsewhere");
	if (fields >> SAMPLE_DATA_SRC & 1)
		table_note(t, "its samples have data sources: cyclops mem and cyclops hot --by "
			      "source show them");
	else if (fields & weights)
		table_note(t, "its samples have weights, but no data source: cyclops hot shows "
			      "where they fell (perf record -d records data sources)");
	if (fields >> SAMPLE_BRANCH_STACK & 1)
		table_note(t, "its samples have branch stacks, which are not used for this");
	return true;
}
