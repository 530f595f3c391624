/* SPDX-License-Identifier: Apache-2.0 */
/* A dump of a just-in-time compiler: all of its functions lie inside of the file. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "capture/format/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct jitdump dump;
	struct jitdump_code code;
	struct err err;
	uint64_t shift;
	size_t n = 0;

	if (jitdump_open(bytes, size, "fuzz", &dump, &err) < 0)
		return 0;
	shift = jitdump_line_shift(&dump);
	while (jitdump_next(&dump, &code)) {
		struct jitdump_lines lines = jitdump_lines_of(&code, shift);
		struct jitdump_line line;
		size_t n_lines = 0;

		assert(++n <= size / 16);
		assert(code.size > 0 && code.size <= UINT64_MAX - code.address);
		if (code.is_move)
			continue;
		assert(code.file_at <= size && code.size <= size - code.file_at);
		assert(strlen(code.name) < size);
		while (jitdump_lines_next(&lines, &line)) {
			assert(++n_lines <= size / 16);
			assert(line.offset < code.size && line.line > 0);
			assert(line.n_file > 0 && memchr(line.file, 0, line.n_file) == NULL);
		}
	}
	return 0;
}
