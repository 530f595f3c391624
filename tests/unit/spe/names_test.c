/* SPDX-License-Identifier: Apache-2.0 */
/* Event names both ways, and what operation payloads mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "spe/names.h"
#include "spe/packet.h"

static void test_every_name_is_found(void **state)
{
	unsigned n_named = 0;

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = spe_event_name(bit);

		if (name == NULL)
			continue;
		assert_int_equal(spe_event_find(name), bit);
		n_named++;
	}
	assert_int_equal(n_named, 22);
	assert_null(spe_event_name(12));
	assert_null(spe_event_name(64));
	assert_null(spe_event_name(UINT32_MAX));
}

static void test_find(void **state)
{
	static const struct {
		const char *name;
		int bit;
	} cases[] = {
		{ "L1D-REFILL", SPE_EV_L1D_REFILL },
		{ "l1d_refill", SPE_EV_L1D_REFILL },
		{ "l1d-miss", SPE_EV_L1D_REFILL },
		{ "tlb-walk", SPE_EV_TLB_WALK },
		{ "TLB_Walk", SPE_EV_TLB_WALK },
		{ "tlb-miss", SPE_EV_TLB_WALK },
		{ "tlb-refill", SPE_EV_TLB_WALK },
		{ "mispred", SPE_EV_MISPREDICTED },
		{ "mispredict", SPE_EV_MISPREDICTED },
		{ "Mispredicted", SPE_EV_MISPREDICTED },
		{ "branch-miss", SPE_EV_MISPREDICTED },
		{ "not-taken", SPE_EV_NOT_TAKEN },
		{ "llc-miss", SPE_EV_LLC_MISS },
		{ "llc-access", SPE_EV_LLC_ACCESS },
		{ "remote", SPE_EV_REMOTE },
		{ "misaligned", SPE_EV_ALIGNMENT },
		{ "partial-predicate", SPE_EV_PARTIAL_PREDICATE },
		{ "empty_predicate", SPE_EV_EMPTY_PREDICATE },
		{ "l2d-miss", SPE_EV_L2D_MISS },
		{ "hitm", SPE_EV_HITM },
		{ "impdef:12", 12 },
		{ "IMPDEF:63", 63 },
		{ "impdef:64", -1 },
		{ "impdef:99999999999999999999", -1 },
		{ "impdef:", -1 },
		{ "impdef:1x", -1 },
		{ "impdef", -1 },
		{ "l1d-", -1 },
		{ "retire", -1 },
		{ "", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(spe_event_find(cases[i].name), cases[i].bit);
}

static void check_events(uint64_t events, char separator, const char *wanted)
{
	struct text text = { 0 };

	spe_events_text(events, separator, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, wanted);
	text_release(&text);
}

static void test_events_text(void **state)
{
	(void)state;
	check_events(0, ':', "");
	check_events(0x16, ':', "RETIRED:L1D-ACCESS:TLB-ACCESS");
	check_events(0x1002, ' ', "RETIRED IMPDEF:12");
	check_events(UINT64_C(1) << 63 | 1, ',', "EXCEPTION-GEN,IMPDEF:63");
}

static const struct {
	uint8_t op_class, payload;
	const char *text;
	struct spe_op op;
} ops[] = {
	{ 0, 0x00, "OTHER INSN-OTHER", { "OTHER", "OTHER" } },
	{ 0, 0x01, "OTHER COND-SELECT", { "OTHER", "OTHER", .is_conditional = true } },
	{ 0,
	  0x06,
	  "OTHER ASE FP INSN-OTHER",
	  { "OTHER", "OTHER", .is_fp = true, .is_simd = true } },
	{ 0,
	  0x1e,
	  "SVE-OTHER EVLEN 64 FP PRED",
	  { "OTHER", "SVE", .is_sve = true, .is_fp = true, .is_predicated = true,
	    .vector_bits = 64 } },
	{ 0, 0xac, "SME-OTHER ETS 4096", { "OTHER", "SME", .is_sme = true, .vector_bits = 4096 } },
	{ 0,
	  0xfe,
	  "SME-OTHER ETS 4194304 FP",
	  { "OTHER", "SME", .is_sme = true, .is_fp = true, .vector_bits = 4194304 } },
	{ 0, 0x13, "OP-TYPE 0x13 (0)", { "OTHER", "" } },
	{ 1, 0x00, "LD GP-REG", { "LD", "GP-REG", .is_load = true } },
	{ 1, 0x01, "ST GP-REG", { "ST", "GP-REG", .is_store = true } },
	{ 1, 0x04, "LD SIMD-FP", { "LD", "SIMD-FP", .is_load = true, .is_simd = true } },
	{ 1,
	  0x16,
	  "LD AT AR",
	  { "LD", "AT AR", .is_load = true, .is_atomic = true, .is_acquire_release = true } },
	{ 1, 0x0b, "ST EXCL", { "ST", "EXCL", .is_store = true, .is_exclusive = true } },
	{ 1,
	  0x1e,
	  "LD AT EXCL AR",
	  { "LD", "AT EXCL AR", .is_load = true, .is_atomic = true, .is_exclusive = true,
	    .is_acquire_release = true } },
	{ 1, 0x02, "LD", { "LD", "", .is_load = true } },
	{ 1, 0x10, "LD UNSPEC-REG", { "LD", "UNSPEC-REG", .is_load = true } },
	{ 1, 0x31, "ST NV-SYSREG", { "ST", "NV-SYSREG", .is_store = true } },
	{ 1, 0x14, "LD MTE-TAG", { "LD", "MTE-TAG", .is_load = true } },
	{ 1, 0x20, "LD MEMCPY", { "LD", "MEMCPY", .is_load = true } },
	{ 1, 0x25, "ST MEMSET", { "ST", "MEMSET", .is_store = true } },
	{ 1, 0x24, "LD", { "LD", "", .is_load = true } },
	{ 1, 0x45, "ST GCS COMM", { "ST", "GCS", .is_store = true, .is_gcs = true } },
	{ 1,
	  0xac,
	  "LD SVE-SME-REG EVLEN 128 PRED SG",
	  { "LD", "SVE", .is_load = true, .is_sve = true, .is_predicated = true,
	    .is_gather_scatter = true, .vector_bits = 128 } },
	{ 2, 0x00, "B", { "B", "", .is_branch = true } },
	{ 2, 0x01, "B COND", { "B", "COND", .is_branch = true, .is_conditional = true } },
	{ 2,
	  0x0a,
	  "B IND CR-BL",
	  { "B", "IND", .is_branch = true, .is_indirect = true, .is_call = true } },
	{ 2,
	  0x17,
	  "B COND IND GCS CR-RET",
	  { "B", "COND IND", .is_branch = true, .is_conditional = true, .is_indirect = true,
	    .is_gcs = true, .is_return = true } },
	{ 2, 0x18, "B CR-NON-BL-RET", { "B", "", .is_branch = true } },
	{ 3, 0x2a, "OP-TYPE 0x2a (3)", { "OP-TYPE", "" } },
};

static void check_op(const struct spe_op *a, const struct spe_op *b)
{
	assert_string_equal(a->op, b->op);
	assert_string_equal(a->subclass, b->subclass);
	assert_int_equal(a->is_load, b->is_load);
	assert_int_equal(a->is_store, b->is_store);
	assert_int_equal(a->is_branch, b->is_branch);
	assert_int_equal(a->is_atomic, b->is_atomic);
	assert_int_equal(a->is_exclusive, b->is_exclusive);
	assert_int_equal(a->is_acquire_release, b->is_acquire_release);
	assert_int_equal(a->is_conditional, b->is_conditional);
	assert_int_equal(a->is_indirect, b->is_indirect);
	assert_int_equal(a->is_call, b->is_call);
	assert_int_equal(a->is_return, b->is_return);
	assert_int_equal(a->is_gcs, b->is_gcs);
	assert_int_equal(a->is_sve, b->is_sve);
	assert_int_equal(a->is_sme, b->is_sme);
	assert_int_equal(a->is_fp, b->is_fp);
	assert_int_equal(a->is_simd, b->is_simd);
	assert_int_equal(a->is_predicated, b->is_predicated);
	assert_int_equal(a->is_gather_scatter, b->is_gather_scatter);
	assert_int_equal(a->vector_bits, b->vector_bits);
}

static void test_ops(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct spe_op op = spe_op_of(ops[i].op_class, ops[i].payload);
		struct text text = { 0 };

		check_op(&op, &ops[i].op);
		spe_op_text(ops[i].op_class, ops[i].payload, &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, ops[i].text);
		text_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_name_is_found),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_events_text),
		cmocka_unit_test(test_ops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
