/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/format/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/writer/emit.h"

/* Bytes of an attr in which each byte differs from its neighbours. */
static void numbered_bytes(uint8_t bytes[ATTR_SIZE_MAX + 16], uint32_t size)
{
	for (unsigned i = 0; i < ATTR_SIZE_MAX + 16; i++)
		bytes[i] = (uint8_t)(i + 1);
	store_u32(bytes + 4, size);
}

static void every_member_is_read_from_its_place(void **state)
{
	uint8_t bytes[ATTR_SIZE_MAX + 16];
	struct attr a;
	struct err err;

	(void)state;
	numbered_bytes(bytes, ATTR_SIZE_MAX);
	assert_int_equal(attr_read(cur_of(bytes, sizeof(bytes)), 0, &a, &err), 0);
	assert_int_equal(a.type, 0x04030201);
	assert_int_equal(a.size, ATTR_SIZE_MAX);
	assert_int_equal(a.config, 0x100f0e0d0c0b0a09);
	assert_int_equal(a.sample_period, 0x1817161514131211);
	assert_int_equal(a.sample_type, 0x201f1e1d1c1b1a19);
	assert_int_equal(a.read_format, 0x2827262524232221);
	assert_int_equal(a.flags, 0x302f2e2d2c2b2a29);
	assert_int_equal(a.wakeup, 0x34333231);
	assert_int_equal(a.bp_type, 0x38373635);
	assert_int_equal(a.config1, 0x403f3e3d3c3b3a39);
	assert_int_equal(a.config2, 0x4847464544434241);
	assert_int_equal(a.branch_sample_type, 0x504f4e4d4c4b4a49);
	assert_int_equal(a.sample_regs_user, 0x5857565554535251);
	assert_int_equal(a.sample_stack_user, 0x5c5b5a59);
	assert_int_equal(a.clockid, 0x605f5e5d);
	assert_int_equal(a.sample_regs_intr, 0x6867666564636261);
	assert_int_equal(a.aux_watermark, 0x6c6b6a69);
	assert_int_equal(a.sample_max_stack, 0x6e6d);
	assert_int_equal(a.aux_sample_size, 0x74737271);
	assert_int_equal(a.sig_data, 0x807f7e7d7c7b7a79);
	assert_int_equal(a.config3, 0x8887868584838281);
	assert_int_equal(a.config4, 0x908f8e8d8c8b8a89);
}

static void what_was_written_reads_back(void **state)
{
	uint8_t bytes[ATTR_SIZE_MAX + 16], again[ATTR_SIZE_MAX];
	struct attr a;
	struct err err;

	(void)state;
	numbered_bytes(bytes, ATTR_SIZE_MAX);
	/* Reserved: after sample_max_stack and after aux_sample_size. */
	memset(bytes + 110, 0, 2);
	memset(bytes + 116, 0, 4);
	assert_int_equal(attr_read(cur_of(bytes, sizeof(bytes)), 0, &a, &err), 0);
	attr_write(&a, again);
	assert_memory_equal(again, bytes, ATTR_SIZE_MAX);
}

static void sizes_are_respected(void **state)
{
	static const struct {
		uint32_t size;
		size_t there;
		bool ok;
		uint64_t branch_sample_type, config4;
	} cases[] = {
		{ 64, 64, true, 0, 0 },
		{ 0, 160, true, 0, 0 }, /* means 64 */
		{ 72, 160, true, 0, 0 },
		{ 80, 160, true, 0x504f4e4d4c4b4a49, 0 },
		{ 136, 136, true, 0x504f4e4d4c4b4a49, 0 },
		{ 160, 160, true, 0x504f4e4d4c4b4a49, 0x908f8e8d8c8b8a89 }, /* newer than we */
		{ 76, 160, true, 0x4c4b4a49, 0 },
		{ 63, 160, false, 0, 0 },
		{ 128, 127, false, 0, 0 },
		{ 64, 63, false, 0, 0 },
		{ 0, 0, false, 0, 0 },
		{ UINT32_MAX, 160, false, 0, 0 },
	};
	uint8_t bytes[ATTR_SIZE_MAX + 16];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct attr a = { .type = 77 };
		struct err err = { .at = 0 };
		int rc;

		numbered_bytes(bytes, cases[i].size);
		rc = attr_read(cur_of(bytes, cases[i].there), 0x2e8, &a, &err);
		assert_int_equal(rc, cases[i].ok ? 0 : -1);
		if (!cases[i].ok) {
			assert_int_equal(a.type, 77);
			assert_int_equal(err.at, 0x2e8);
			continue;
		}
		assert_int_equal(a.size, cases[i].size);
		assert_int_equal(a.branch_sample_type, cases[i].branch_sample_type);
		assert_int_equal(a.config4, cases[i].config4);
	}
}

static void every_cut_fails_cleanly(void **state)
{
	uint8_t bytes[ATTR_SIZE_MAX + 16];
	struct attr a = { 0 };
	struct err err;

	(void)state;
	numbered_bytes(bytes, ATTR_SIZE_MAX);
	for (size_t size = 0; size < ATTR_SIZE_MAX; size++) {
		uint8_t *cut = mem_alloc(size + 1, 1);

		memcpy(cut, bytes, size);
		assert_int_equal(attr_read(cur_of(cut, size), 0, &a, &err), -1);
		free(cut);
	}
	assert_int_equal(a.type, 0);
}

#define FLAG(bit) ((uint64_t)1 << (bit))
#define USER FLAG(ATTR_EXCLUDE_USER)
#define KERNEL FLAG(ATTR_EXCLUDE_KERNEL)
#define HV FLAG(ATTR_EXCLUDE_HV)
#define HOST FLAG(ATTR_EXCLUDE_HOST)
#define GUEST FLAG(ATTR_EXCLUDE_GUEST)
#define PRECISE(n) ((uint64_t)(n) << ATTR_PRECISE_IP)

/* Compared with the names perf 6.1 gives to files without EVENT_DESC. */
static const struct {
	uint32_t type;
	uint64_t config, flags;
	const char *pmu, *name;
} names[] = {
	{ 0, 0, GUEST, NULL, "cycles" },
	{ 0, 0, 0, NULL, "cycles:HG" },
	{ 0, 9, GUEST, NULL, "ref-cycles" },
	{ 0, 10, GUEST, NULL, "unknown-hardware" },
	{ 0, 0x400000001, GUEST, NULL, "instructions" },
	{ 0, 1, USER, NULL, "instructions:kh" },
	{ 0, 1, KERNEL | HV, NULL, "instructions:u" },
	{ 0, 1, KERNEL | HV | GUEST, NULL, "instructions:uH" },
	{ 0, 0, PRECISE(2) | GUEST, NULL, "cycles:ppH" },
	{ 0, 0, KERNEL | HV | PRECISE(3) | GUEST, NULL, "cycles:upppH" },
	{ 0, 0, HOST, NULL, "cycles:G" },
	{ 0, 0, HOST | GUEST, NULL, "cycles" },
	{ 0, 0, USER | KERNEL | HV | HOST | GUEST, NULL, "cycles" },
	{ 1, 9, 0, NULL, "dummy:HG" },
	{ 1, 9, KERNEL | HV, NULL, "dummy:u" },
	{ 1, 0, GUEST, NULL, "cpu-clock" },
	{ 1, 11, GUEST, NULL, "unknown-software" },
	{ 1, 0x400000001, GUEST, NULL, "unknown-software" },
	{ 3, 0, GUEST, NULL, "L1-dcache-loads" },
	{ 3, 0x10000, GUEST, NULL, "L1-dcache-load-misses" },
	{ 3, 0x10102, GUEST, NULL, "LLC-store-misses" },
	{ 3, 0x206, GUEST, NULL, "node-prefetches" },
	{ 3, 0x10203, GUEST, NULL, "dTLB-prefetch-misses" },
	{ 3, 0x101, GUEST, NULL, "invalid-cache" },
	{ 3, 0x201, GUEST, NULL, "L1-icache-prefetches" },
	{ 3, 0x204, GUEST, NULL, "invalid-cache" },
	{ 3, 0x105, GUEST, NULL, "invalid-cache" },
	{ 3, 0x7, GUEST, NULL, "unknown-ext-hardware-cache-type" },
	{ 3, 0x300, GUEST, NULL, "unknown-ext-hardware-cache-op" },
	{ 3, 0x20000, GUEST, NULL, "unknown-ext-hardware-cache-result" },
	{ 4, 0x1ab, KERNEL | HV | GUEST, "armv8_pmuv3_0", "raw 0x1ab:uH" },
	{ 5, 0, GUEST, NULL, "mem:0x1234:rw" },
	{ 2, 77, 0, NULL, "unknown tracepoint" },
	{ 10, 1, 0, "arm_spe_0", "arm_spe_0" },
	{ 10, 1, 0, NULL, "unknown attr type: 10" },
};

static void names_are_those_of_perf(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct attr attr = {
			.type = names[i].type,
			.config = names[i].config,
			.flags = names[i].flags,
			.config1 = 0x1234,
			.bp_type = 3,
		};
		struct text text = { 0 };

		attr_name(&attr, names[i].pmu, &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, names[i].name);
		text_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_is_read_from_its_place),
		cmocka_unit_test(what_was_written_reads_back),
		cmocka_unit_test(sizes_are_respected),
		cmocka_unit_test(every_cut_fails_cleanly),
		cmocka_unit_test(names_are_those_of_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
