/* SPDX-License-Identifier: Apache-2.0 */
/* Records and samples the writer wrote, as the reader sees them. */
#include "capture/writer/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "capture/format/sample.h"
#include "writer_fixture.h"

#define BIT(n) ((uint64_t)1 << (n))

/* Records with their trailers, as they were visited. */
struct seen {
	size_t n;
	struct record records[32];
	struct sample_id ids[32];
};

static void see(void *context, const struct record *r, const struct sample_id *id)
{
	struct seen *seen = context;

	assert_true(seen->n < COUNT(seen->records));
	seen->records[seen->n] = *r;
	seen->ids[seen->n++] = *id;
}

static void assert_moment(const struct sample_id *id, const struct sample_id *expected)
{
	assert_int_equal(id->has, expected->has);
	assert_int_equal(id->time_ns, expected->time_ns);
	assert_int_equal(id->id, expected->id);
	assert_int_equal(id->stream_id, expected->stream_id);
	assert_int_equal(id->pid, expected->pid);
	assert_int_equal(id->tid, expected->tid);
	assert_int_equal(id->cpu, expected->cpu);
}

static const struct sample_id moment = {
	.has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
	.pid = 100,
	.tid = 101,
	.cpu = 3,
	.time_ns = 123456789012,
	.id = 12,
};

static void assert_same_map(const struct record_mmap *a, const struct record_mmap *b)
{
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->page_offset, b->page_offset);
	assert_int_equal(a->major, b->major);
	assert_int_equal(a->minor, b->minor);
	assert_int_equal(a->inode, b->inode);
	assert_int_equal(a->inode_generation, b->inode_generation);
	assert_int_equal(a->protection, b->protection);
	assert_int_equal(a->flags, b->flags);
	assert_memory_equal(&a->build_id, &b->build_id, sizeof(a->build_id));
	assert_string_equal(a->path, b->path);
}

static void side_band_comes_back(void **state)
{
	const struct record_mmap map = { .pid = 100,
					 .tid = 101,
					 .start = 0x400000,
					 .length = 0x2000,
					 .page_offset = 0x1000,
					 .major = 8,
					 .minor = 2,
					 .inode = 77,
					 .inode_generation = 5,
					 .protection = 5,
					 .flags = 2,
					 .path = "/bin/a" };
	const struct record_mmap known = { .build_id = { .size = 3, .bytes = { 7, 8, 9 } },
					   .path = "/bin/sevenchr" };
	const struct record_task task = { 1, 2, 3, 4, 5 };
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct seen seen = { 0 };
	struct record_mmap got_map;
	struct record_comm got_comm;
	struct record_task got_task;
	struct capture *c;
	struct err err;

	(void)state;
	writer_mmap2(w, &map, 2, &moment);
	writer_mmap2(w, &known, 2 | MISC_MMAP_BUILD_ID, &moment);
	writer_comm(w, &(struct record_comm){ 5, 6, true, "comm" }, &moment);
	writer_task(w, RECORD_FORK, &task, &moment);
	writer_task(w, RECORD_EXIT, &task, &moment);
	c = closed_and_scanned(w, path, see, &seen);
	assert_int_equal(seen.n, 5);
	for (size_t i = 0; i < seen.n; i++) {
		assert_moment(&seen.ids[i], &moment);
		assert_int_equal(seen.records[i].size % 8, 0);
	}

	assert_int_equal(record_mmap_read(&seen.records[0], &got_map, &err), 0);
	assert_same_map(&got_map, &map);
	assert_int_equal(record_mmap_read(&seen.records[1], &got_map, &err), 0);
	assert_same_map(&got_map, &known);
	assert_int_equal(record_comm_read(&seen.records[2], &got_comm, &err), 0);
	assert_int_equal(got_comm.tid, 6);
	assert_true(got_comm.is_exec);
	assert_string_equal(got_comm.comm, "comm");
	for (size_t i = 3; i < 5; i++) {
		assert_int_equal(record_task_read(&seen.records[i], &got_task, &err), 0);
		assert_memory_equal(&got_task, &task, sizeof(task));
	}
	assert_int_equal(seen.records[3].type, RECORD_FORK);
	assert_int_equal(seen.records[4].type, RECORD_EXIT);
	capture_free(c);
	discard(path);
}

static void states_of_cpus_come_back(void **state)
{
	const struct record_switch changes[] = {
		{ .is_out = true },
		{ .is_out = true,
		  .is_preempted = true,
		  .has_other = true,
		  .other_pid = 8,
		  .other_tid = 9 },
		{ .has_other = true },
	};
	const struct record_aux aux = { 4096, 512, AUX_TRUNCATED | AUX_COLLISION };
	const struct record_lost lost = { 12, 1000 };
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct seen seen = { 0 };
	struct record_switch got_switch;
	struct record_aux got_aux;
	struct record_lost got_lost;
	struct record_ksymbol got_symbol;
	struct capture *c;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(changes); i++)
		writer_switch(w, &changes[i], &moment);
	writer_aux(w, &aux, &moment);
	writer_lost(w, &lost, &moment);
	writer_ksymbol(w, &(struct record_ksymbol){ 0xffff0000, 64, 1, 1, "bpf_prog" }, &moment);
	writer_itrace_start(w, 44, 45, &moment);
	c = closed_and_scanned(w, path, see, &seen);
	assert_int_equal(seen.n, 7);
	for (size_t i = 0; i < COUNT(changes); i++) {
		assert_int_equal(record_switch_read(&seen.records[i], &got_switch, &err), 0);
		assert_int_equal(got_switch.is_out, changes[i].is_out);
		assert_int_equal(got_switch.is_preempted, changes[i].is_preempted);
		assert_int_equal(got_switch.has_other, changes[i].has_other);
		assert_int_equal(got_switch.other_pid, changes[i].other_pid);
		assert_int_equal(got_switch.other_tid, changes[i].other_tid);
	}
	assert_int_equal(record_aux_read(&seen.records[3], &got_aux, &err), 0);
	assert_memory_equal(&got_aux, &aux, sizeof(aux));
	assert_int_equal(record_lost_read(&seen.records[4], &got_lost, &err), 0);
	assert_memory_equal(&got_lost, &lost, sizeof(lost));
	assert_int_equal(record_ksymbol_read(&seen.records[5], &got_symbol, &err), 0);
	assert_int_equal(got_symbol.address, 0xffff0000);
	assert_int_equal(got_symbol.length, 64);
	assert_int_equal(got_symbol.flags, 1);
	assert_string_equal(got_symbol.name, "bpf_prog");
	assert_int_equal(seen.records[6].type, RECORD_ITRACE_START);
	assert_int_equal(cur_u32(&seen.records[6].body), 44);
	assert_int_equal(cur_u32(&seen.records[6].body), 45);
	assert_int_equal(capture_totals(c)->n_aux_collision, 1);
	capture_free(c);
	discard(path);
}

/* The id decides which event's layout the trailer has; nothing is not the same as 0. */
static void trailers_follow_the_event(void **state)
{
	const struct sample_id other = { .has = HAS_TIME, .time_ns = 7, .id = 21, .stream_id = 9 };
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct seen seen = { 0 };
	struct sample_id partial = moment;
	struct capture *c;

	(void)state;
	writer_itrace_start(w, 1, 2, &other);
	writer_itrace_start(w, 1, 2, NULL);
	partial.has = HAS_TIME;
	writer_itrace_start(w, 1, 2, &partial);
	c = closed_and_scanned(w, path, see, &seen);
	assert_moment(&seen.ids[0], &other);
	assert_int_equal(seen.records[0].size, 8 + 8 + 4 * 8);
	assert_moment(&seen.ids[1], &(struct sample_id){ .has = moment.has });
	assert_int_equal(seen.records[1].size, 8 + 8 + 4 * 8);
	partial.has = moment.has;
	partial.pid = partial.tid = partial.cpu = 0;
	assert_moment(&seen.ids[2], &partial);
	capture_free(c);
	discard(path);
}

/* One event whose samples have every field there is. */
static const struct writer_event everything = {
	.attr = { .type = 4,
		  .config = 0x11,
		  .read_format = BIT(2),
		  .sample_type = (BIT(SAMPLE_WEIGHT_STRUCT + 1) - 1) & ~BIT(SAMPLE_WEIGHT),
		  .branch_sample_type = BIT(17),
		  .sample_regs_user = 7,
		  .sample_regs_intr = 1,
		  .sample_stack_user = 16,
		  .flags = BIT(ATTR_SAMPLE_ID_ALL) },
	.ids = (const uint64_t[]){ 11 },
	.n_ids = 1,
};

static void keep_sample(void *context, const struct record *r, const struct sample_id *id)
{
	(void)id;
	if (r->type == RECORD_SAMPLE)
		*(struct record *)context = *r;
}

static const uint64_t words[] = { 101, 102, 103, 104, 105, 106 };

static void assert_words(const struct sample_words *got, const struct sample_words *expected,
			 size_t word_bytes)
{
	assert_int_equal(got->n, expected->n);
	assert_memory_equal(got->bytes, expected->bytes, expected->n * word_bytes);
}

#define VALUE(name) offsetof(struct sample, name)
static void assert_same_values(const struct sample *a, const struct sample *b)
{
	static const size_t values[] = {
		VALUE(id),
		VALUE(ip),
		VALUE(time_ns),
		VALUE(addr),
		VALUE(stream_id),
		VALUE(period),
		VALUE(weight),
		VALUE(branch_hw_index),
		VALUE(user_regs_abi),
		VALUE(data_src),
		VALUE(intr_regs_abi),
		VALUE(user_stack_size),
		VALUE(transaction),
		VALUE(user_stack_used),
		VALUE(data_page_size),
		VALUE(phys_addr),
		VALUE(code_page_size),
		VALUE(cgroup),
		VALUE(aux_size),
	};

	for (size_t i = 0; i < COUNT(values); i++)
		assert_memory_equal((const char *)a + values[i], (const char *)b + values[i], 8);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->weight2, b->weight2);
	assert_int_equal(a->weight3, b->weight3);
}

static void every_field_of_a_sample_comes_back(void **state)
{
	const uint8_t *bytes = (const uint8_t *)words;
	const struct sample s = {
		.id = 11,
		.ip = 1,
		.time_ns = 2,
		.addr = 3,
		.stream_id = 4,
		.period = 5,
		.pid = 6,
		.tid = 7,
		.cpu = 8,
		.read = { bytes, 2 },
		.callchain = { bytes, 5 },
		.branches = { bytes, 2 },
		.branch_hw_index = 9,
		.raw = bytes,
		.raw_size = 5,
		.user_regs_abi = 2,
		.intr_regs_abi = 2,
		.user_regs = { bytes, 3 },
		.intr_regs = { bytes + 8, 1 },
		.user_stack = bytes,
		.user_stack_size = 16,
		.user_stack_used = 10,
		.weight = 11,
		.weight2 = 12,
		.weight3 = 13,
		.data_src = 14,
		.transaction = 15,
		.phys_addr = 16,
		.cgroup = 17,
		.data_page_size = 18,
		.code_page_size = 19,
		.aux = bytes,
		.aux_size = 8,
	};
	char *path = temporary_path();
	struct writer *w = NULL;
	struct record record = { 0 };
	struct sample got;
	struct capture *c;
	struct err err;

	(void)state;
	assert_int_equal(writer_open(path, &everything, 1, &w, &err), 0);
	writer_sample(w, 0, 2 | MISC_EXACT_IP, &s);
	c = closed_and_scanned(w, path, NULL, NULL);
	capture_walk(c, keep_sample, &record);
	assert_int_equal(record.misc, 2 | MISC_EXACT_IP);
	assert_int_equal(capture_event_of_sample(c, &record), 0);
	assert_int_equal(sample_read(&record, &capture_event(c, 0)->attr, &got, &err), 0);

	assert_words(&got.read, &s.read, 8);
	assert_words(&got.callchain, &s.callchain, 8);
	assert_words(&got.branches, &s.branches, 24);
	assert_words(&got.user_regs, &s.user_regs, 8);
	assert_words(&got.intr_regs, &s.intr_regs, 8);
	assert_int_equal(got.raw_size, 12); /* with the padding */
	assert_memory_equal(got.raw, s.raw, s.raw_size);
	assert_memory_equal(got.user_stack, s.user_stack, s.user_stack_size);
	assert_memory_equal(got.aux, s.aux, s.aux_size);
	assert_same_values(&got, &s);
	capture_free(c);
	discard(path);
}

/* Trace data of sizes around those that matter: padding, the writer's buffer. */
static void trace_data_comes_back(void **state)
{
	static const size_t sizes[] = {
		64, 1, 0, 8, 100001, (4 << 20) - 48, (4 << 20) - 47, 4 << 20, (5 << 20) + 3, 63
	};
	uint8_t *bytes = mem_alloc(6 << 20, 1);
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct capture *c;
	uint64_t expected_size;

	(void)state;
	for (size_t i = 0; i < 6 << 20; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 24);
	writer_spe_info_v1(w, 10, true);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct record_auxtrace header = { .size = sizes[i],
						  .offset = i << 30,
						  .reference = i,
						  .idx = 1,
						  .tid = 2,
						  .cpu = 3 };

		writer_auxtrace(w, &header, bytes + i);
		header.offset += 1 << 29;
		writer_auxtrace_pieces(w, &header, bytes + i, sizes[i] / 3,
				       bytes + i + sizes[i] / 3);
	}
	expected_size = writer_size(w);
	c = closed_and_scanned(w, path, NULL, NULL);
	assert_int_equal(capture_totals(c)->header_bytes + capture_totals(c)->record_bytes,
			 expected_size);
	assert_int_equal(capture_n_chunks(c), 2 * COUNT(sizes));
	for (size_t i = 0; i < capture_n_chunks(c); i++) {
		const struct aux_chunk *chunk = capture_chunk(c, i);
		size_t size = sizes[i / 2];

		assert_int_equal(chunk->header.size, (size + 7) / 8 * 8);
		assert_int_equal(chunk->size, chunk->header.size);
		assert_int_equal(chunk->header.offset, (uint64_t)i << 29);
		assert_int_equal(chunk->header.reference, i / 2);
		assert_int_equal(chunk->header.idx, 1);
		assert_int_equal(chunk->header.tid, 2);
		assert_int_equal(chunk->header.cpu, 3);
		if (size > 0)
			assert_memory_equal(chunk->bytes, bytes + i / 2, size);
		for (size_t k = size; k < chunk->size; k++)
			assert_int_equal(chunk->bytes[k], 0);
	}
	capture_free(c);
	free(bytes);
	discard(path);
}

static void spe_info_comes_back(void **state)
{
	static const struct writer_spe_cpu cpus[] = { { 0, 0x410fd490, 10, 1024, 0xff },
						      { 5, 0x410fd4f0, UINT64_MAX, 2048, 0x1f } };
	const struct record_time_conv time = { 3, 5, 7, 11, UINT64_MAX >> 8, true };

	(void)state;
	for (unsigned version = 1; version <= 2; version++) {
		char *path = temporary_path();
		struct writer *w = opened(path);
		const struct spe_info *spe;
		struct capture *c;

		writer_time_conv(w, &time);
		if (version == 1)
			writer_spe_info_v1(w, 10, true);
		else
			writer_spe_info_v2(w, 10, cpus, COUNT(cpus));
		c = closed_and_scanned(w, path, NULL, NULL);
		spe = capture_spe(c);
		assert_true(spe->is_present);
		assert_int_equal(spe->version, version);
		assert_int_equal(spe->pmu_type, 10);
		assert_int_equal(spe->event, 0);
		assert_true(spe->has_time);
		assert_int_equal(spe->time.shift, 3);
		assert_int_equal(spe->time.mult, 5);
		assert_int_equal(spe->time.zero, 7);
		assert_int_equal(spe->time.cycles, 11);
		assert_int_equal(spe->time.mask, UINT64_MAX >> 8);
		assert_true(spe->time.has_short);
		assert_int_equal(spe->cpus.n, version == 1 ? 0 : 2);
		if (version == 2) {
			assert_int_equal(spe->cpus.items[1].cpu, 5);
			assert_int_equal(spe->cpus.items[1].midr, 0x410fd4f0);
			assert_int_equal(spe->cpus.items[1].pmu_type, UINT32_MAX);
			assert_int_equal(spe->cpus.items[1].min_interval, 2048);
			assert_int_equal(spe->cpus.items[0].event_filter, 0xff);
		}
		capture_free(c);
		discard(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(side_band_comes_back),
		cmocka_unit_test(states_of_cpus_come_back),
		cmocka_unit_test(trailers_follow_the_event),
		cmocka_unit_test(every_field_of_a_sample_comes_back),
		cmocka_unit_test(trace_data_comes_back),
		cmocka_unit_test(spe_info_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
