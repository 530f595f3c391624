/* SPDX-License-Identifier: Apache-2.0 */
/* SPE records of a function that is made up here, and what the profiles say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "base/alloc.h"
#include "feedback/feedback.h"
#include "spe/packet.h"

#define EV(bit) (UINT64_C(1) << SPE_EV_##bit)

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	TO_JOIN = 0x54000061, /* b.ne, three instructions on */
	CALL_LEAF = 0x94000003,
	CONDITIONAL = 1, /* of the operation packet */
	INTERVAL = 1024,
};

/* Offsets in the code: the function f, and one that it calls. */
enum {
	F = 0,
	BRANCH = 4,
	FALL = 8,
	JOIN = 0x10,
	CALL = 0x14,
	BEHIND_CALL = 0x18,
	F_RET = 0x1c,
	LEAF = 0x20,
	ELSEWHERE = 0x8000, /* code without a name, which calls f */
};

static const uint32_t code[] = { NOP, TO_JOIN, NOP, NOP, NOP, CALL_LEAF, NOP, RET, NOP, RET };

/* So many records of an instruction; `previous`: offset of the target of the branch before. */
struct made {
	uint32_t n, at;
	enum { NO_BRANCH, TAKEN, NOT_TAKEN } kind;
	uint32_t to, previous;
	uint32_t n_mispredicted;
};

/* Returns where the code begins in the file, which is mapped whole. */
static uint64_t build_program(const char *folder)
{
	uint8_t text[sizeof(code)];
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, text, sizeof(text) },
		{ NULL },
	};
	const struct built_symbol symbols[] = {
		{ "f", F, LEAF - F, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
		{ "a leaf", LEAF, 8, STB_LOCAL, STT_FUNC, STV_DEFAULT, 1 },
		{ NULL },
	};
	const struct built_elf elf = { .machine = EM_AARCH64,
				       .sections = sections,
				       .symbols = symbols };

	for (size_t i = 0; i < COUNT(code); i++)
		memcpy(text + 4 * i, &code[i], 4);
	return elf_build(in_folder(folder, "bin/alpha"), &elf);
}

static int take(void *context, const struct text *text)
{
	text_add(context, text->bytes, text->n);
	return 0;
}

/* The profile of these records, to be released; `with_previous`: as a CPU with FEAT_SPEv1p2 records them. */
static struct text profile_of(const char *format, const struct made *made, size_t n,
			      bool with_previous)
{
	char *folder = folder_make();
	VEC_OF(struct spe_record) records = { 0 };
	struct text out = { 0 }, note = { 0 };
	struct session session;
	uint64_t base;
	struct err err;

	base = TEXT_START + build_program(folder);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < made[i].n; k++) {
			uint64_t events = EV(RETIRED) |
					  (made[i].kind == NOT_TAKEN ? EV(NOT_TAKEN) : 0) |
					  (k < made[i].n_mispredicted ? EV(MISPREDICTED) : 0);
			struct spe_record r =
				spe_of(base + made[i].at, ALPHA,
				       made[i].kind == NO_BRANCH ? SPE_OP_OTHER : SPE_OP_BRANCH,
				       events, 10, START_NS + records.n);

			r.op = made[i].at == BRANCH ? CONDITIONAL : 0;
			r.has |= made[i].kind != NO_BRANCH ? (uint32_t)HAS_TARGET : 0u;
			r.target = base + made[i].to;
			if (with_previous) {
				r.has |= HAS_PREV_TARGET;
				r.prev_target = base + made[i].previous;
			}
			*vec_add(&records) = r;
		}
	}
	open_fixture(&(struct contents){ .records = records.items,
					 .n_records = records.n,
					 .spe_interval = INTERVAL,
					 .symfs = folder },
		     2, &session);
	if (feedback_write(&session, NULL,
			   &(struct feedback_request){ .format = feedback_format_find(format) },
			   take, &out, &note, &err) < 0)
		fail_msg("%s", err.text);
	text_char(&out, 0);
	close_fixture(&session);
	text_release(&note);
	vec_release(&records);
	folder_remove(folder);
	return out;
}

/* Executions of a line that begins so; 0: there is none. */
static double line_of(const struct text *out, const char *beginning)
{
	const char *at = strstr(out->bytes, beginning);
	unsigned long long wrong, n;

	return at != NULL && sscanf(at + strlen(beginning), "%llu %llu", &wrong, &n) == 2
		       ? (double)n
		       : 0;
}

/* Records that agree: 1000 of f, of which 700 branch. */
static const struct made sound[] = {
	{ 1000, ELSEWHERE, TAKEN, F, ELSEWHERE, 0 },
	{ 1000, F, NO_BRANCH, 0, F, 0 },
	{ 700, BRANCH, TAKEN, JOIN, F, 70 },
	{ 300, BRANCH, NOT_TAKEN, FALL, F, 0 },
	{ 300, FALL, NO_BRANCH, 0, F, 0 },
	{ 300, FALL + 4, NO_BRANCH, 0, F, 0 },
	{ 700, JOIN, NO_BRANCH, 0, JOIN, 0 },
	{ 300, JOIN, NO_BRANCH, 0, F, 0 },
	{ 700, CALL, TAKEN, LEAF, JOIN, 0 },
	{ 300, CALL, TAKEN, LEAF, F, 0 },
	{ 1000, LEAF, NO_BRANCH, 0, LEAF, 0 },
	{ 1000, LEAF + 4, TAKEN, BEHIND_CALL, LEAF, 0 },
	{ 1000, BEHIND_CALL, NO_BRANCH, 0, BEHIND_CALL, 0 },
	{ 1000, F_RET, TAKEN, ELSEWHERE, BEHIND_CALL, 0 },
};

/* Each number is the records times the interval, also with targets before; names are escaped. */
static void sound_records_are_kept(void **state)
{
	static const char *const lines[] = {
		"1 f 4 1 f 8 ",
		"1 f 4 1 f 10 ",
		"1 f c 1 f 10 ",
		"1 f 14 1 a\\ leaf/1 0 ",
	};
	static const double wanted[] = { 300, 700, 300, 1000 };

	(void)state;
	for (int with_previous = 0; with_previous < 2; with_previous++) {
		struct text out = profile_of("bolt", sound, COUNT(sound), with_previous);

		for (size_t i = 0; i < COUNT(lines); i++) {
			double n = line_of(&out, lines[i]) / (INTERVAL + 1);

			if (n < 0.99 * wanted[i] || n > 1.01 * wanted[i])
				fail_msg("%s%g, wanted %g, in\n%s", lines[i], n, wanted[i],
					 out.bytes);
		}
		assert_non_null(strstr(out.bytes, "1 f 4 1 f 10 7")); /* a tenth is mispredicted */
		text_release(&out);
	}
}

/*
 * Few records of the branch, and what is behind it tells how it came there: that is evidence, too. 600 to
 * 400 by the branch, 1400 to 600 by the targets before of two instructions.
 */
static void targets_before_are_evidence(void **state)
{
	static const struct made made[] = {
		{ 1000, ELSEWHERE, TAKEN, F, ELSEWHERE, 0 },
		{ 1000, F, NO_BRANCH, 0, F, 0 },
		{ 600, BRANCH, TAKEN, JOIN, F, 0 },
		{ 400, BRANCH, NOT_TAKEN, FALL, F, 0 },
		{ 350, FALL, NO_BRANCH, 0, F, 0 },
		{ 350, FALL + 4, NO_BRANCH, 0, F, 0 },
		{ 700, JOIN, NO_BRANCH, 0, JOIN, 0 },
		{ 300, JOIN, NO_BRANCH, 0, F, 0 },
		{ 700, CALL, TAKEN, LEAF, JOIN, 0 },
		{ 300, CALL, TAKEN, LEAF, F, 0 },
		{ 1000, F_RET, TAKEN, ELSEWHERE, BEHIND_CALL, 0 },
	};
	double taken[2];

	(void)state;
	for (int with_previous = 0; with_previous < 2; with_previous++) {
		struct text out = profile_of("bolt", made, COUNT(made), with_previous);

		taken[with_previous] = line_of(&out, "1 f 4 1 f 10 ") / (INTERVAL + 1) /
				       (line_of(&out, "1 f 4 1 f 8 ") / (INTERVAL + 1) +
					line_of(&out, "1 f 4 1 f 10 ") / (INTERVAL + 1));
		text_release(&out);
	}
	if (taken[1] < taken[0] + 0.02)
		fail_msg("taken: %g without targets before, %g with them", taken[0], taken[1]);
}

/* The same by address, for perf2bolt: runs of code, and branches. */
static void pre_aggregated_has_addresses(void **state)
{
	struct text out = profile_of("bolt-pre-aggregated", sound, COUNT(sound), false);

	(void)state;
	if (strstr(out.bytes, "F 0 8 ") == NULL || strstr(out.bytes, "F 8 10 ") == NULL ||
	    strstr(out.bytes, "B 4 10 ") == NULL || strstr(out.bytes, "B 14 20 ") == NULL)
		fail_msg("%s", out.bytes);
	text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_records_are_kept),
		cmocka_unit_test(targets_before_are_evidence),
		cmocka_unit_test(pre_aggregated_has_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
