/* SPDX-License-Identifier: Apache-2.0 */
#include "session/without_spe.h"

#include "capture/format/sample.h"

void note_without_memory(const struct session *s, struct table *t)
{
	if (!capture_spe(s->capture)->is_present)
		table_note(t,
			   "this capture has neither SPE records nor samples with data sources. "
			   "Record "
			   "with cyclops record --spe (Arm CPUs with SPE), perf mem record (x86, "
			   "POWER) or cyclops model (AArch64 programs anywhere)");
}

bool note_without_spe(const struct session *s, struct table *t)
{
	const uint64_t weights = 1u << SAMPLE_WEIGHT | 1u << SAMPLE_WEIGHT_STRUCT;
	uint64_t fields = 0;

	if (capture_spe(s->capture)->is_present)
		return false;
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		fields |= capture_event(s->capture, i)->attr.sample_type;
	table_note(t,
		   "this capture has no SPE records, which this needs. Record with cyclops record "
		   "--spe (Arm CPUs with SPE: cyclops doctor) or cyclops model (AArch64 programs "
		   "anywhere)");
	if (fields >> SAMPLE_DATA_SRC & 1)
		table_note(t, "its samples have data sources: see cyclops mem and cyclops hot --by "
			      "source");
	else if (fields & weights)
		table_note(t, "its samples have weights but no data source (perf record -d): see "
			      "cyclops hot");
	if (fields >> SAMPLE_BRANCH_STACK & 1)
		table_note(t, "its branch stacks are not used here");
	return true;
}
