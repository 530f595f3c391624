/* SPDX-License-Identifier: Apache-2.0 */
/* Can the model run this program? */
#ifndef CYCLOPS_MODEL_PROGRAM_H
#define CYCLOPS_MODEL_PROGRAM_H

#include "base/err.h"

enum { INTERPRETER_MAX = 256 };

/*
 * Checks that the file is an AArch64 program. `loader` gets the path of the dynamic loader that it
 * names, or "" for a static program. The error says what the file is instead, and what would help.
 */
int model_program_check(const char *path, char loader[INTERPRETER_MAX], struct err *);

#endif
