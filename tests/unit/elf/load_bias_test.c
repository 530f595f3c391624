/* SPDX-License-Identifier: Apache-2.0 */
/* Where files were loaded, by mappings with pages of several sizes. */
#include "elf/load_bias.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { MOST = 3 };

#define BIAS UINT64_C(0x70000000)

static const struct {
	const char *what;
	uint16_t type;
	struct elf_segment segments[MOST];
	struct data_mapping mappings[MOST]; /* ends with last == 0 */
	enum load_bias answer;
	uint64_t bias;
} cases[] = {
	{ "the page of the code shows the data's bytes, too",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true }, { 0xfd98, 0x278, 0x1fd98, 0x9000, false } },
	  { { BIAS, BIAS + 0xffff, 0, false } },
	  LOAD_BIAS_FOUND,
	  BIAS },
	{ "both mappings begin at offset 0, the next is that of the data",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true }, { 0xfd98, 0x278, 0x1fd98, 0x9000, false } },
	  { { BIAS + 0x10000, BIAS + 0x2ffff, 0, true }, { BIAS, BIAS + 0xffff, 0, false } },
	  LOAD_BIAS_FOUND,
	  BIAS },
	{ "… which reading makes executable",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true }, { 0xfd98, 0x278, 0x1fd98, 0x9000, false } },
	  { { BIAS + 0x10000, BIAS + 0x2ffff, 0, false }, { BIAS, BIAS + 0xffff, 0, false } },
	  LOAD_BIAS_FOUND,
	  BIAS },
	{ "segments follow each other in the file, not in memory",
	  ET_DYN,
	  { { 0, 0x600, 0, 0x600, false },
	    { 0x600, 0x200, 0x1600, 0x200, true },
	    { 0x800, 0x100, 0x2800, 0x100, false } },
	  { { BIAS + 0x1000, BIAS + 0x1fff, 0, false } },
	  LOAD_BIAS_FOUND,
	  BIAS },
	{ "one of two loadings",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true } },
	  { { BIAS, BIAS + 0xfff, 0, false }, { 2 * BIAS, 2 * BIAS + 0xfff, 0, false } },
	  LOAD_BIAS_FOUND,
	  BIAS },
	{ "linked for an address",
	  ET_EXEC,
	  { { 0, 0x8f0, 0x400000, 0x8f0, true }, { 0x8f0, 0x100, 0x4108f0, 0x100, true } },
	  { { 0x400000, 0x40ffff, 0, false } },
	  LOAD_BIAS_FOUND,
	  0 },
	{ "code that may be either",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true }, { 0x8f0, 0x100, 0x108f0, 0x100, true } },
	  { { BIAS, BIAS + 0xffff, 0, false } },
	  LOAD_BIAS_AMBIGUOUS,
	  0 },
	{ "… which lengths tell",
	  ET_DYN,
	  { { 0, 0x3000, 0, 0x3000, true }, { 0x3000, 0x9000, 0x13000, 0x9000, true } },
	  { { BIAS, BIAS + 0x2fff, 0, false } },
	  LOAD_BIAS_FOUND,
	  BIAS },
	{ "elsewhere in the file",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true } },
	  { { BIAS, BIAS + 0xffff, 0x50000, false } },
	  LOAD_BIAS_NONE,
	  0 },
	{ "offsets at the end of all",
	  ET_DYN,
	  { { UINT64_MAX, 1, 0, 1, true }, { 1, UINT64_MAX, 0, 1, true } },
	  { { 0, UINT64_MAX - 1, UINT64_MAX, false } },
	  LOAD_BIAS_NONE,
	  0 },
	{ "nothing is mapped",
	  ET_DYN,
	  { { 0, 0x8f0, 0, 0x8f0, true } },
	  { { 0 } },
	  LOAD_BIAS_NONE,
	  0 },
};

static void mappings_tell_the_bias(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct elf_file file = { .type = cases[i].type };
		uint64_t bias = 0;
		size_t n = 0;

		for (size_t k = 0; k < MOST && cases[i].segments[k].size > 0; k++)
			*vec_add(&file.segments) = cases[i].segments[k];
		while (n < MOST && cases[i].mappings[n].last > 0)
			n++;
		print_message("%s\n", cases[i].what);
		assert_int_equal(load_bias_find(&file, cases[i].mappings, n, &bias),
				 cases[i].answer);
		assert_int_equal(bias, cases[i].bias);
		vec_release(&file.segments);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_tell_the_bias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
