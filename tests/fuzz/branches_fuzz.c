/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The branch stack of a sample as rows. The first byte says which bits of branch_sample_type change
 * the layout, and whether entries of wrong paths are kept; the rest is the body of the sample. Each
 * entry that was recorded is one row, in order, or was left out for a reason that is counted.
 */
#include <stdint.h>
#include <stdlib.h>

#include "capture/format/branches.h"
#include "capture/format/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { HW_INDEX = 17, COUNTERS = 19 };

static struct batch *samples_of(const struct sample_words *branches)
{
	struct batch *b = batch_new();
	uint64_t n = branches->n * 3;

	batch_reset(b, BATCH_SAMPLES);
	b->n = 1;
	b->has[0] = HAS_BRANCHES;
	b->event[0] = 0;
	b->position[0] = 0;
	b->mode[0] = 0;
	b->branches[0] = (struct batch_slice){ 0, (uint32_t)n };
	for (uint64_t i = 0; i < n; i++)
		*vec_add(&b->words) = load_u64(branches->bytes + i * sizeof(uint64_t));
	return b;
}

/* How many entries have an address. */
static uint64_t filled_entries(const struct batch *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->words.n; i += 3)
		n += b->words.items[i] != 0 || b->words.items[i + 1] != 0;
	return n;
}

static void check_row(const struct batch *out, size_t row, uint64_t least_position)
{
	struct branch_flags flags = branch_read_flags(out->branch_flags[row]);

	if (flags.type >= N_BRANCH_TYPES || out->branch_position[row] < least_position)
		abort();
	branch_type_name(flags.type, true);
	branch_type_name(flags.type, false);
	branch_spec_name(flags.spec);
	branch_privilege_name(flags.privilege);
	branch_changes_privilege(flags.type);
}

static void check(const struct sample_words *branches, bool with_wrong_path)
{
	static const bool none[1];
	struct branch_rows at = { .with_wrong_path = with_wrong_path };
	struct batch *samples = samples_of(branches), *out = batch_new();
	uint64_t n = 0, position = 0;

	while (branch_rows_next(&at, samples, none, out)) {
		for (size_t row = 0; row < out->n; row++) {
			check_row(out, row, position);
			position = out->branch_position[row] + (uint64_t)1;
		}
		n += out->n;
	}
	if (n + at.n_wrong_path != filled_entries(samples) || position > branches->n)
		abort();
	batch_free(out);
	batch_free(samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t choice = size > 0 ? bytes[0] : 0;
	struct attr attr = {
		.sample_type = 1 << SAMPLE_BRANCH_STACK,
		.branch_sample_type = (uint64_t)(choice & 1) << HW_INDEX |
				      (uint64_t)(choice >> 1 & 1) << COUNTERS,
	};
	struct record record = { .type = RECORD_SAMPLE };
	struct sample sample;
	struct err err;

	if (size == 0)
		return 0;
	record.size = size - 1;
	record.body = cur_of(bytes + 1, size - 1);
	if (sample_read(&record, &attr, &sample, &err) == 0 && sample.branches.bytes != NULL)
		check(&sample.branches, choice >> 2 & 1);
	return 0;
}
