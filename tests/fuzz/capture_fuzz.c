/* SPDX-License-Identifier: Apache-2.0 */
/* A whole capture: both passes, all records, all bodies, and the account of its bytes. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "capture/format/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Every reader of a body must cope with every body, whatever type it is of. */
static void read_bodies(const struct record *r)
{
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_switch sw;
		struct record_aux aux;
		struct record_auxtrace auxtrace;
		struct record_ksymbol ksymbol;
		struct record_time_conv time_conv;
		struct record_lost lost;
	} out;
	struct err err;

	(void)record_mmap_read(r, &out.mmap, &err);
	(void)record_comm_read(r, &out.comm, &err);
	(void)record_task_read(r, &out.task, &err);
	(void)record_switch_read(r, &out.sw, &err);
	(void)record_aux_read(r, &out.aux, &err);
	(void)record_auxtrace_read(r, &out.auxtrace, &err);
	(void)record_ksymbol_read(r, &out.ksymbol, &err);
	(void)record_lost_read(r, &out.lost, &err);
	if (record_time_conv_read(r, &out.time_conv, &err) == 0)
		(void)time_to_ticks(&out.time_conv, time_from_ticks(&out.time_conv, r->position));
}

static void visit(void *context, const struct record *r, const struct sample_id *id)
{
	const struct capture *c = context;
	uint64_t size = capture_size(c);

	(void)id;
	assert(r->position < size);
	assert(r->was_compressed || r->size <= size - r->position);
	read_bodies(r);
	(void)capture_event_of_sample(c, r);
}

static void read_units(struct capture *c)
{
	struct unit_reader *reader = unit_reader_new(c);
	struct batch *batch = batch_new();

	unit_reader_want_branches(reader);
	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		unit_reader_start(reader, unit);
		while (unit_reader_next(reader, batch))
			assert(batch->n > 0 && batch->n <= BATCH_ROWS);
	}
	capture_add_diags(c, unit_reader_diags(reader));
	batch_free(batch);
	unit_reader_free(reader);
}

static void read_all(struct capture *c)
{
	struct err err;

	if (capture_scan(c, visit, c, &err) == 0) {
		const struct capture_totals *t = capture_totals(c);

		assert(t->header_bytes + t->record_bytes + t->feature_bytes +
			       diags_bytes(capture_diags(c), DIAG_NOTE) ==
		       capture_size(c));
		capture_walk(c, visit, c);
		read_units(c);
		(void)capture_midr(c, 0);
	}
	capture_free(c);
}

/* What is no perf.data is a raw SPE buffer. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct capture *c = NULL;
	struct err err;

	if (capture_open_bytes("fuzz", bytes, size, &c, &err) == 0 ||
	    capture_open_raw_bytes("fuzz", bytes, size, 0, &c, &err) == 0)
		read_all(c);
	return 0;
}
