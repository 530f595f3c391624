/* SPDX-License-Identifier: Apache-2.0 */
/* Adds what is loaded in the kernels of virtual machines to the timeline of a capture. */
#ifndef CYCLOPS_SESSION_GUEST_MODULES_H
#define CYCLOPS_SESSION_GUEST_MODULES_H

#include "process/timeline.h"
#include "symbol/symbols.h"

/*
 * There are guests. Reads their lists of modules: those beside --guestkallsyms, and beside PID/proc/kallsyms below --guestmount,
 * whose folders also say which guests there are. Before timeline_freeze().
 */
int guest_modules_add(struct timeline *, const struct symbols_options *, struct err *);

#endif
