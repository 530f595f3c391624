/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the telemetry files that Arm publishes for its cores (telemetry-solution, on github.com
 * and gitlab.arm.com) to CPU files of the catalog. For this folder only.
 */
#ifndef CYCLOPS_CPU_TELEMETRY_H
#define CYCLOPS_CPU_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* Is it a telemetry file? */
bool telemetry_is_it(const json_t *root);

/*
 * Converts a file to the form of catalog/schema.md; the caller owns the result. `id`: of the CPU,
 * NULL: made from its name. NULL and an error if something is missing.
 */
json_t *telemetry_convert(const json_t *root, const char *id, struct err *);

#endif
