/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file. */
#include <stdint.h>
#include <stdlib.h>

#include "cli/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct config config = { 0 };
	struct err err;

	config_parse((const char *)bytes, size, "config", &config, &err);
	config_release(&config);
	return 0;
}
