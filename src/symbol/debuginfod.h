/* SPDX-License-Identifier: Apache-2.0 */
/* Files from the debuginfod servers that DEBUGINFOD_URLS names. */
#ifndef CYCLOPS_SYMBOL_DEBUGINFOD_H
#define CYCLOPS_SYMBOL_DEBUGINFOD_H

#include "capture/format/info.h"

enum debuginfod_kind {
	DEBUGINFOD_EXECUTABLE,
	DEBUGINFOD_DEBUGINFO,
};

/*
 * The path of a local copy, to be freed; NULL if no server is named, libdebuginfod (of a static build:
 * debuginfod-find) is not installed, or no server has the file. May take as long as DEBUGINFOD_TIMEOUT says.
 */
char *debuginfod_fetch(enum debuginfod_kind, const struct build_id *);

/*
 * Makes a process that asks the servers from now on, if any are named: before the sandbox, in which there is no network.
 */
void debuginfod_prepare(void);

#endif
