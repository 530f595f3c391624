/* SPDX-License-Identifier: Apache-2.0 */
/* What packets are called, in both wordings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "hex.h"
#include "spe/packet.h"

/* From published dumps of real machines, and derived from the architecture. */
static const struct {
	const char *hex;
	const char *full;
	const char *perf_6_1; /* NULL: the same */
} texts[] = {
	/* A kernel load on a VHE host. */
	{ "b0 d0 c2 a1 ed 66 ba ff c0", "PC 0xffba66eda1c2d0 el2 ns=1", NULL },
	{ "00", "PAD", NULL },
	{ "65 80 5f 00 00", "CONTEXT 0x5f80 el2", NULL },
	{ "49 00", "LD GP-REG", NULL },
	{ "52 16 00", "EV RETIRED L1D-ACCESS TLB-ACCESS", NULL },
	{ "99 04 00", "LAT 4 ISSUE", NULL },
	{ "98 0c 00", "LAT 12 TOT", NULL },
	{ "b2 28 6b 09 03 37 0e ff 00", "VA 0xff0e3703096b28", NULL },
	{ "9a 01 00", "LAT 1 XLAT", NULL },
	{ "43 00", "DATA-SOURCE 0", NULL },
	{ "71 2e 65 2f 6a 0a 00 00 00", "TS 44731163950", NULL },
	/* A conditional branch that was not taken. */
	{ "b0 e0 b0 ef ed 66 ba ff c0", "PC 0xffba66edefb0e0 el2 ns=1", NULL },
	{ "65 0e 00 00 00", "CONTEXT 0xe el2", NULL },
	{ "4a 01", "B COND", NULL },
	{ "52 42 00", "EV RETIRED NOT-TAKEN", NULL },
	{ "99 10 00", "LAT 16 ISSUE", NULL },
	{ "98 11 00", "LAT 17 TOT", NULL },
	{ "b1 e4 b0 ef ed 66 ba ff c0", "TGT 0xffba66edefb0e4 el2 ns=1", NULL },
	{ "71 8d 65 2f 6a 0a 00 00 00", "TS 44731164045", NULL },
	/* A user's load with its physical address. */
	{ "71 af f9 04 81 00 0c 00 00", "TS 13196304120239", NULL },
	{ "b0 00 b6 a9 e4 aa aa 00 80", "PC 0xaaaae4a9b600 el0 ns=1", NULL },
	{ "98 08 00", "LAT 8 TOT", NULL },
	{ "b2 43 da 5d e6 aa aa 00 00", "VA 0xaaaae65dda43", NULL },
	{ "b3 43 5a 95 2c 03 08 00 80", "PA 0x8032c955a43 ns=1 ch=0 pat=0", NULL },
	/* Records that end without a time, and the same branch with one. */
	{ "b0 e0 43 21 bf fd 7f 00 80", "PC 0x7ffdbf2143e0 el0 ns=1", NULL },
	{ "52 02 00", "EV RETIRED", NULL },
	{ "99 27 00", "LAT 39 ISSUE", NULL },
	{ "98 28 00", "LAT 40 TOT", NULL },
	{ "b1 08 44 21 bf fd 7f 00 80", "TGT 0x7ffdbf214408 el0 ns=1", NULL },
	{ "01", "END", NULL },
	{ "99 29 00", "LAT 41 ISSUE", NULL },
	{ "98 2a 00", "LAT 42 TOT", NULL },
	{ "71 6b 72 5a 1d 8f 03 00 00", "TS 3913207673451", NULL },
	/* Neoverse N1, served by another cluster. */
	{ "b0 88 b6 cb 8f 22 d4 ff c0", "PC 0xffd4228fcbb688 el2 ns=1", NULL },
	{ "52 1e 03", "EV RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS LLC-ACCESS LLC-REFILL", NULL },
	{ "99 51 01", "LAT 337 ISSUE", NULL },
	{ "98 f5 01", "LAT 501 TOT", NULL },
	{ "b2 50 9e d7 f1 3e 40 ff 00", "VA 0xff403ef1d79e50", NULL },
	{ "b3 50 9e d7 71 3f 40 00 80", "PA 0x403f71d79e50 ns=1 ch=0 pat=0", NULL },
	{ "43 0c", "DATA-SOURCE 12", NULL },
	{ "71 b3 9a e9 bd 3e 07 00 00", "TS 7966055570099", NULL },
	/* A guest's kernel at EL1. */
	{ "b0 f4 d3 29 10 00 80 ff a0", "PC 0xff80001029d3f4 el1 ns=1", NULL },
	{ "99 0b 00", "LAT 11 ISSUE", NULL },
	{ "98 0d 00", "LAT 13 TOT", NULL },
	{ "b2 d0 40 d8 70 00 00 ff 00", "VA 0xff000070d840d0", NULL },
	{ "71 a5 1f b3 20 14 00 00 00", "TS 86447955877", NULL },
	{ "b0 7c f9 29 10 00 80 ff a0", "PC 0xff80001029f97c el1 ns=1", NULL },
	{ "99 02 00", "LAT 2 ISSUE", NULL },
	{ "98 03 00", "LAT 3 TOT", NULL },
	{ "48 00", "OTHER INSN-OTHER", NULL },
	{ "71 ef 1f b3 20 14 00 00 00", "TS 86447955951", NULL },
	/* A model of 2018 with 8-bit events and an odd top byte. */
	{ "b2 c0 3b 29 0f 00 00 ff ff", "VA 0xffff00000f293bc0", NULL },
	{ "b3 c0 eb 24 fb 00 00 00 80", "PA 0xfb24ebc0 ns=1 ch=0 pat=0", NULL },
	{ "9a 00 00", "LAT 0 XLAT", NULL },
	{ "42 16", "EV RETIRED L1D-ACCESS TLB-ACCESS", NULL },
	{ "b0 00 c4 15 08 00 00 ff ff", "PC 0xff00000815c400 el3 ns=1", NULL },
	{ "98 00 00", "LAT 0 TOT", NULL },
	{ "71 36 6c 21 2c 09 00 00 00", "TS 39395093558", NULL },
	/* Single packets. */
	{ "b0 5c 8b 8c 86 c2 c0 ff c0", "PC 0xffc0c2868c8b5c el2 ns=1", NULL },
	{ "b1 e0 89 8c 86 c2 c0 ff c0", "TGT 0xffc0c2868c89e0 el2 ns=1", NULL },
	{ "b2 c0 26 c2 07 20 fc ff 00", "VA 0xfffc2007c226c0", NULL },
	{ "b3 e8 09 8a d8 0b 08 00 80", "PA 0x80bd88a09e8 ns=1 ch=0 pat=0", NULL },
	{ "b3 e8 09 8a d8 0b 08 00 5b", "PA 0x80bd88a09e8 ns=0 ch=1 pat=b", NULL },
	{ "99 07 00", "LAT 7 ISSUE", NULL },
	{ "98 0b 00", "LAT 11 TOT", NULL },
	{ "71 6c f8 a5 83 00 0c 00 00", "TS 13196348225644", NULL },
	{ "49 01", "ST GP-REG", NULL },
	{ "4a 02", "B IND", NULL },
	{ "49 16", "LD AT AR", NULL },
	{ "49 05", "ST SIMD-FP", NULL },
	{ "49 0a", "LD EXCL", NULL },
	{ "49 1f", "ST AT EXCL AR", NULL },
	{ "49 10", "LD UNSPEC-REG", NULL },
	{ "49 1d", "ST SVE-SME-REG EVLEN 64 PRED", "ST EVLEN 64 PRED" },
	{ "49 38", "LD SVE-SME-REG EVLEN 256", "LD EVLEN 256" },
	{ "49 88", "LD SVE-SME-REG EVLEN 32 SG", "LD EVLEN 32 SG" },
	{ "49 14", "LD MTE-TAG", "LD" },
	{ "49 21", "ST MEMCPY", "ST" },
	{ "49 25", "ST MEMSET", "ST" },
	{ "49 24", "LD", NULL },
	{ "49 30", "LD NV-SYSREG", NULL },
	{ "49 40", "LD GCS", "LD" },
	{ "49 44", "LD GCS COMM", "LD" },
	{ "48 08", "SVE-OTHER EVLEN 32", NULL },
	{ "48 1e", "SVE-OTHER EVLEN 64 FP PRED", NULL },
	{ "48 88", "SME-OTHER ETS 128", "OTHER INSN-OTHER" },
	{ "48 ac", "SME-OTHER ETS 4096", "OTHER INSN-OTHER" },
	{ "48 fe", "SME-OTHER ETS 4194304 FP", "OTHER INSN-OTHER" },
	{ "48 01", "OTHER COND-SELECT", NULL },
	{ "48 06", "OTHER ASE FP INSN-OTHER", "OTHER INSN-OTHER" },
	{ "48 11", "OP-TYPE 0x11 (0)", "OTHER COND-SELECT" },
	{ "4a 00", "B", NULL },
	{ "4a 04", "B GCS", "B" },
	{ "4a 0a", "B IND CR-BL", "B" },
	{ "4a 12", "B IND CR-RET", "B" },
	{ "4a 18", "B CR-NON-BL-RET", "B" },
	{ "4a 13", "B COND IND CR-RET", "B COND" },
	{ "4a 03", "B COND IND", NULL },
	{ "4b 2a", "OP-TYPE 0x2a (3)", NULL },
	{ "20 b0 00 b6 a9 e4 aa aa 00 80", "PC 0xaaaae4a9b600 el0 ns=1", NULL },
	{ "20 98 07 00", "LAT 7 TOT", NULL },
	{ "21 98 03 00", "LAT 3 ", NULL },
	{ "21 b0 01 00 00 00 00 00 00 80", "ADDR 0x8000000000000001 (8)", NULL },
	{ "b7 00 00 00 00 00 00 00 00", "ADDR 0x0 (7)", NULL },
	{ "62 06 00 38 00", "EV RETIRED L1D-ACCESS L2D-ACCESS L2D-MISS HITM",
	  "EV RETIRED L1D-ACCESS" },
	{ "72 02 00 00 00 00 00 01 00", "EV RETIRED IMPDEF:48", "EV RETIRED" },
	{ "72 00 90 00 00 00 00 00 80", "EV IMPDEF:12,15,63", "EV" },
	{ "62 01 04 c7 03",
	  "EV EXCEPTION-GEN REMOTE-ACCESS TXN SVE-PARTIAL-PRED SVE-EMPTY-PRED LFB SNOOPED"
	  " STREAMING-SVE SMCU",
	  "EV EXCEPTION-GEN REMOTE-ACCESS SVE-PARTIAL-PRED SVE-EMPTY-PRED" },
	{ "52 02 10", "EV RETIRED IMPDEF:12", "EV RETIRED" },
	{ "64 d2 04 00 00", "CONTEXT 0x4d2 el1", NULL },
	{ "66 d2 04 00 00", "CONTEXT 0x4d2 el3", NULL },
	{ "67 ff ff ff ff", "CONTEXT 0xffffffff el4", NULL },
	{ "53 0d 00", "DATA-SOURCE 13", NULL },
	{ "73 ff ff ff ff ff ff ff ff", "DATA-SOURCE -1", NULL },
	{ "b4 00 10 20 30 40 50 00 80", "PBT 0x504030201000 el0 ns=1",
	  "ADDR 0x8000504030201000 (4)" },
	{ "20 00", "PAD", NULL },
	{ "71 fe fe fe fe fe fe fe fe", "TS -72340172838076674", NULL },
	{ "71 00 00 00 00 00 00 00 80", "TS -9223372036854775808", NULL },
	{ "72 ff ff ff ff ff ff ff ff", "EVENTS 0xffffffffffffffff (8)",
	  "EV EXCEPTION-GEN RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS TLB-REFILL NOT-TAKEN MISPRED"
	  " LLC-ACCESS LLC-REFILL REMOTE-ACCESS ALIGNMENT SVE-PARTIAL-PRED SVE-EMPTY-PRED" },
	{ "02", "Bad packet!", NULL },
	{ "b0 01", "Bad packet!", NULL },
};

static void check_text(const char *hex, enum spe_wording wording,
		       const struct spe_event_names *names, const char *wanted)
{
	uint8_t bytes[16];
	size_t n = hex_bytes(hex, bytes, sizeof(bytes));
	struct spe_packet p = spe_packet_read(bytes, n, 0);
	struct text text = { 0 };

	spe_packet_text(&p, wording, names, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, wanted);
	text_release(&text);
}

static void test_wordings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		check_text(texts[i].hex, SPE_WORDING_FULL, NULL, texts[i].full);
		check_text(texts[i].hex, SPE_WORDING_PERF_6_1, NULL,
			   texts[i].perf_6_1 != NULL ? texts[i].perf_6_1 : texts[i].full);
	}
}

static void test_cpu_events(void **state)
{
	static const struct spe_event_names n1 = { { [12] = "LATE-PREFETCH" } };
	static const struct spe_event_names odd = { { [1] = "MINE", [15] = "B", [14] = "A" } };
	static const struct spe_event_names none;

	(void)state;
	check_text("52 02 10", SPE_WORDING_FULL, &n1, "EV RETIRED LATE-PREFETCH");
	check_text("52 00 30", SPE_WORDING_FULL, &n1, "EV LATE-PREFETCH IMPDEF:13");
	check_text("52 02 10", SPE_WORDING_FULL, &none, "EV RETIRED IMPDEF:12");
	check_text("52 02 10", SPE_WORDING_FULL, NULL, "EV RETIRED IMPDEF:12");
	check_text("52 02 10", SPE_WORDING_PERF_6_1, &n1, "EV RETIRED");
	/* The architecture's names stand; the CPU's come in the order of the bits. */
	check_text("52 02 f0", SPE_WORDING_FULL, &odd, "EV RETIRED A B IMPDEF:12,13");
}

/* Names of a CPU may have any length: a text of 256 letters or more is the number alone. */
static void test_long_names(void **state)
{
	char name[400], wanted[512];

	(void)state;
	for (size_t n = 0; n < sizeof(name); n++) {
		const struct spe_event_names names = { { [12] = name } };

		memset(name, 'N', n);
		name[n] = '\0';
		if (strlen("EV RETIRED ") + n < 256)
			snprintf(wanted, sizeof(wanted), "EV RETIRED %s", name);
		else
			snprintf(wanted, sizeof(wanted), "EVENTS 0x1002 (2)");
		check_text("52 02 10", SPE_WORDING_FULL, &names, wanted);
	}
	check_text("72 ff ff ff ff ff ff ff ff", SPE_WORDING_FULL,
		   &(const struct spe_event_names){ { [63] = "LAST" } },
		   "EVENTS 0xffffffffffffffff (8)");
}

/* The text of any packet fits where it is put, whatever the payload. */
static void test_longest_events(void **state)
{
	static const struct spe_event_names names = { { [12] = "LATE-PREFETCH" } };
	uint64_t bits = 0;

	(void)state;
	for (unsigned n = 0; n <= 64; n++) {
		struct spe_packet p = { SPE_EVENTS, .size = 8, .length = 9, .payload = bits };
		struct text text = { 0 };

		spe_packet_text(&p, SPE_WORDING_FULL, &names, &text);
		assert_true(text.n < 256);
		text_release(&text);
		bits = bits << 1 | 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wordings),
		cmocka_unit_test(test_cpu_events),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_longest_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
