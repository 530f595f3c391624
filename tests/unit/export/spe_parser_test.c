/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as spe-parser itself writes them for the same records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "export/spe_parser.h"
#include "../session/fixture.h"
#include "spe/packet.h"

#define EV(bit) (1ull << SPE_EV_##bit)

enum { N_PIECES = 6 };

static const struct spe_parser_options as_csv = { .is_parquet = false };

static const struct {
	struct spe_record record;
	enum spe_parser_file file;
	const char *row; /* behind the cpu */
} cases[] = {
	{ { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_XLAT | HAS_VA |
		   HAS_SOURCE | HAS_TICKS,
	    .pc = 0xffbbf3da99a6a0,
	    .pc_level = 2,
	    .op_class = SPE_OP_LDST,
	    .events = EV(RETIRED) | EV(L1D_ACCESS) | EV(TLB_ACCESS),
	    .issue = 24,
	    .total = 38,
	    .xlat = 1,
	    .va = 0xff083e7fccbca8,
	    .ticks = 20685196991554 },
	  SPE_PARSER_LDST,
	  "LD,0xffffbbf3da99a6a0,2,false,false,false,GP-REG,0,false,false,"
	  "RETIRED:L1D-ACCESS:TLB-ACCESS,24,38,0xffff083e7fccbca8,1,,L1D,,20685196991554" },
	{ { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_TOTAL | HAS_SOURCE | HAS_PA | HAS_CONTEXT,
	    .pc = 0xff8000084072ac,
	    .pc_level = 1,
	    .op_class = SPE_OP_LDST,
	    .op = 0x1,
	    .events = EV(RETIRED) | EV(REMOTE) | 1ull << 24,
	    .total = 1028,
	    .source = 0xd,
	    .pa = 0x80001234,
	    .context = 100,
	    .context_level = 1 },
	  SPE_PARSER_LDST,
	  "ST,0xff8000084072ac,1,false,false,false,GP-REG,0,false,false,"
	  "RETIRED:REMOTE-ACCESS,0,1028,,0,0x80001234,REMOTE,0x64,0" },
	{ { .has = HAS_PC | HAS_OP | HAS_VA,
	    .pc = 0xaaaae4c10f90,
	    .va = 0xaaaaec29f150,
	    .op_class = SPE_OP_LDST,
	    .op = 0x2d },
	  SPE_PARSER_LDST,
	  "ST,0xaaaae4c10f90,0,false,false,false,SVE,128,true,false,,0,0,0xaaaaec29f150,0,,,,0" },
	{ { .has = HAS_OP | HAS_SOURCE, .op_class = SPE_OP_LDST, .op = 0x1e, .source = 0x77 },
	  SPE_PARSER_LDST,
	  "LD,,0,true,true,true,,0,false,false,,0,0,,0,,,,0" },
	{ { .has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL | HAS_TARGET,
	    .pc = 0xffc0c28685447c,
	    .pc_level = 2,
	    .target = 0xffc0c286854480,
	    .target_level = 2,
	    .op_class = SPE_OP_BRANCH,
	    .op = 0x1,
	    .events = EV(RETIRED) | EV(NOT_TAKEN),
	    .issue = 32,
	    .total = 33 },
	  SPE_PARSER_BR,
	  "B,0xffffc0c28685447c,2,true,false,RETIRED:NOT-TAKEN,32,33,0xffffc0c286854480,2,,0,,0" },
	{ { .has = HAS_PC | HAS_OP,
	    .pc = 0xff8000084072ac,
	    .pc_level = 2,
	    .op_class = SPE_OP_OTHER },
	  SPE_PARSER_OTHER,
	  "OTHER,0xffff8000084072ac,2,OTHER,0,false,false,false,,0,0,,0" },
	{ { .has = HAS_OP | HAS_EVENTS,
	    .op_class = SPE_OP_OTHER,
	    .events = EV(RETIRED) | EV(L1D_ACCESS) | EV(EXCEPTION) | EV(MISPREDICTED) },
	  SPE_PARSER_OTHER,
	  "OTHER,,0,OTHER,0,false,false,false,EXCEPTION-GEN:MISPRED:RETIRED,0,0,,0" },
};

/* What each file got. */
struct files {
	struct text texts[SPE_PARSER_N_FILES];
	size_t n_pieces, limit;
};

static int take(void *context, enum spe_parser_file file, const struct text *piece)
{
	struct files *files = context;

	if (files->n_pieces == files->limit)
		return -1;
	files->n_pieces++;
	text_add(&files->texts[file], piece->bytes, piece->n);
	return 0;
}

static void release(struct files *files)
{
	for (size_t i = 0; i < SPE_PARSER_N_FILES; i++)
		text_release(&files->texts[i]);
}

/* Each case alone: one file has a header and a row, the others stay empty. */
static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct files files = { .limit = SIZE_MAX };
		const struct text *text = &files.texts[cases[i].file];
		char expected[512];
		struct session s;
		int len;

		open_fixture(&(struct contents){ .records = &cases[i].record, .n_records = 1 }, 1,
			     &s);
		assert_int_equal(spe_parser_run(&s, NULL, &as_csv, take, &files), 0);
		for (size_t file = 0; file < SPE_PARSER_N_FILES; file++)
			assert_int_equal(files.texts[file].n > 0, file == cases[i].file);
		assert_memory_equal(text->bytes, "\"cpu\",\"op\",\"pc\",\"el\",", 21);
		len = snprintf(expected, sizeof(expected), "\n1,%s\n", cases[i].row);
		assert_true((size_t)len < text->n);
		assert_memory_equal(text->bytes + text->n - len, expected, (size_t)len);
		release(&files);
		close_fixture(&s);
	}
}

/* All together: file order in each file, one header each, for any number of workers. */
static void test_files(void **state)
{
	struct spe_record records[COUNT(cases) + 1] = { { .has = HAS_PC, .pc = 0x400000 } };
	struct files first = { .limit = SIZE_MAX };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		records[i + 1] = cases[i].record;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct files files = { .limit = SIZE_MAX };
		struct session s;

		open_fixture(&(struct contents){ .records = records, .n_records = COUNT(records) },
			     n_workers, &s);
		assert_int_equal(
			spe_parser_run(&s, NULL, &as_csv, take, n_workers == 1 ? &first : &files),
			0);
		for (size_t file = 0; n_workers > 1 && file < SPE_PARSER_N_FILES; file++) {
			assert_int_equal(files.texts[file].n, first.texts[file].n);
			assert_memory_equal(files.texts[file].bytes, first.texts[file].bytes,
					    files.texts[file].n);
		}
		release(&files);
		close_fixture(&s);
	}
	release(&first);
}

static void test_refusal(void **state)
{
	struct spe_record records[COUNT(cases)];
	struct session s;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		records[i] = cases[i].record;
	open_fixture(&(struct contents){ .records = records, .n_records = COUNT(records) }, 2, &s);
	for (size_t limit = 0; limit <= N_PIECES; limit++) {
		struct files files = { .limit = limit };

		/* Three headers, and the rows of each table. */
		assert_int_equal(spe_parser_run(&s, NULL, &as_csv, take, &files),
				 limit < N_PIECES ? -1 : 0);
		assert_int_equal(files.n_pieces, limit);
		release(&files);
	}
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
