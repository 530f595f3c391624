/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of commands that read captures (sandbox/sandbox.h): what options say of it. */
#ifndef CYCLOPS_CLI_SANDBOXED_H
#define CYCLOPS_CLI_SANDBOXED_H

#include "cli/options.h"

/*
 * Starts the sandbox, unless --no-sandbox is given: before anything of a capture is read and before there are
 * threads. Files that options and arguments name stay open to it. Where the kernel has no such thing, nothing
 * happens: `cyclops doctor` says so.
 */
void enter_sandbox(const struct option_set *sets, size_t n_sets, const struct arguments *);

#endif
