/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of gates for continuous integration: a JUnit XML report, a test case for each condition.
 * The file is valid XML 1.0 in UTF-8, whatever bytes names are made of.
 */
#ifndef CYCLOPS_GATE_JUNIT_H
#define CYCLOPS_GATE_JUNIT_H

#include "base/err.h"
#include "base/text.h"
#include "gate/gate.h"

/* Appends the report of `cyclops COMMAND`. */
void junit_put(const struct gates *, const char *command, struct text *out);

/* Writes it to a file, over one that is there. */
int junit_write(const struct gates *, const char *command, const char *path, struct err *);

#endif
