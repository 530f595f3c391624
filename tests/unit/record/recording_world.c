/* SPDX-License-Identifier: Apache-2.0 */
#include "recording_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"

const struct pmu world_spe_pmu = {
	.name = "arm_spe_0",
	.type = 9,
	.cpus = { .items = (struct cpu_range[]){ { 1, 1 } }, .n = 1 },
};

struct attr world_sampling(void)
{
	return (struct attr){
		.type = 1,
		.sample_type = BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP) | BIT(SAMPLE_TID) |
			       BIT(SAMPLE_TIME),
		.flags = BIT(ATTR_SAMPLE_ID_ALL),
		.read_format = BIT(READ_ID) | BIT(READ_LOST),
		.sample_period = 1000,
	};
}

void world_make(struct world *w, bool has_spe)
{
	*w = (struct world){ .options = { .ring_bytes = WORLD_RING_BYTES,
					  .aux_bytes = WORLD_AUX_BYTES } };
	fake_kernel_init(&w->kernel);
	w->kernel.now_ns = 77;
	if (has_spe)
		*vec_add(&w->events.list) = (struct record_event){ .name = "arm_spe_0//",
								   .attr = world_sampling(),
								   .pmu = &world_spe_pmu,
								   .is_spe = true };
	*vec_add(&w->events.list) = (struct record_event){ .name = "clock",
							   .attr = world_sampling(),
							   .leader = has_spe };
	w->recording = (struct recording){
		.kernel = &w->kernel.kernel,
		.options = &w->options,
		.root = "",
		.diags = &w->diags,
		.events = &w->events,
	};
}

int world_open(struct world *w, uint32_t last_cpu, struct err *err)
{
	const int32_t threads[] = { 5, 6 };
	struct cpu_list cpus = { .items = (struct cpu_range[]){ { 0, last_cpu } }, .n = 1 };

	return recording_open(&w->recording, threads, COUNT(threads), &cpus, &cpus, err);
}

void world_write(struct world *w)
{
	const struct writer_event event = { .attr = world_sampling(), .name = "clock" };
	struct err err;
	int fd;

	strcpy(w->path, "/tmp/cyclops-recording-XXXXXX");
	fd = mkstemp(w->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(writer_open(w->path, &event, 1, &w->writer, &err), 0);
}

void world_release(struct world *w)
{
	recording_release(&w->recording);
	for (int i = 0; i < w->kernel.n_events; i++)
		assert_true(w->kernel.events[i].is_closed);
	record_events_release(&w->events);
	diags_release(&w->diags);
	fake_kernel_release(&w->kernel);
	if (w->writer != NULL)
		writer_abandon(w->writer);
}
