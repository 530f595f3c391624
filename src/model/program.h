/* SPDX-License-Identifier: Apache-2.0 */
/* Can the model run this program, and where are the things it needs for it? */
#ifndef CYCLOPS_MODEL_PROGRAM_H
#define CYCLOPS_MODEL_PROGRAM_H

#include "base/err.h"

enum { INTERPRETER_MAX = 256 };

/*
 * Checks that the file is an AArch64 program for Linux, and finds the loader it asks for: its
 * path, or "" if it is static. The error says what else the file is, and what would help.
 */
int model_program_check(const char *path, char loader[INTERPRETER_MAX], struct err *);

#endif
