/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file. */
#include <stdint.h>
#include <stdlib.h>

#include "cli/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct user_config config = { 0 };
	struct err err;

	user_config_parse((const char *)bytes, size, "config", &config, &err);
	user_config_release(&config);
	return 0;
}
