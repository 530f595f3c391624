/* SPDX-License-Identifier: Apache-2.0 */
/* Header features: any number of { u8 feature, u16 size, bytes[size] }, read one after another. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "capture/format/info.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cursor c = cur_of(bytes, size);
	struct info info = { 0 };
	struct strings strings;
	struct diags diags = { 0 };

	strings_init(&strings);
	while (cur_left(&c) > 3) {
		unsigned feature = cur_u8(&c);
		uint16_t wanted = cur_u16(&c);
		size_t left = cur_left(&c);
		struct cursor section = cur_split(&c, wanted < left ? wanted : left);
		struct info before = info;

		if (!feature_read(&info, feature, section, 0, &strings, &diags))
			assert(memcmp(&before, &info, sizeof(info)) == 0);
	}
	for (size_t i = 0; i < info.capabilities.n; i++)
		strings_get(&strings, info.capabilities.items[i].pmu);
	info_midr(&info, &strings);
	strings_get(&strings, info.command_line);
	info_release(&info);
	strings_release(&strings);
	diags_release(&diags);
	return 0;
}
