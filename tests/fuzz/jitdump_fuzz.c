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
	size_t n = 0;

	if (jitdump_open(bytes, size, "fuzz", &dump, &err) < 0)
		return 0;
	while (jitdump_next(&dump, &code)) {
		assert(++n <= size / 16);
		assert(code.size > 0 && code.size <= UINT64_MAX - code.address);
		if (code.is_move)
			continue;
		assert(code.file_at <= size && code.size <= size - code.file_at);
		assert(strlen(code.name) < size);
	}
	return 0;
}
