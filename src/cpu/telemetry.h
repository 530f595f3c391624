/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The telemetry files that Arm publishes, one for each core (github.com and gitlab.arm.com,
 * telemetry-solution), as CPU files of ours: inside this folder only.
 */
#ifndef CYCLOPS_CPU_TELEMETRY_H
#define CYCLOPS_CPU_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* Is the file one of those? */
bool telemetry_is_it(const json_t *root);

/*
 * The same facts in the form of catalog/schema.md; the caller gives the object back. `id` is that
 * of the CPU, NULL: made from its name. NULL and an error if something is missing.
 */
json_t *telemetry_convert(const json_t *root, const char *id, struct err *);

#endif
