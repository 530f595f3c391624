/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the code of just-in-time compilers, which they dumped to files, to the timeline of a capture. */
#ifndef CYCLOPS_SESSION_JIT_CODE_H
#define CYCLOPS_SESSION_JIT_CODE_H

#include "capture/capture.h"
#include "process/timeline.h"
#include "symbol/symbols.h"

/*
 * Reads the dumps that processes of the capture mapped, where the options say that files of its machine are. What
 * cannot be read is said in `diags`. Before timeline_freeze().
 */
void jit_code_add(const struct capture *, struct timeline *, const struct symbols_options *,
		  struct diags *);

#endif
