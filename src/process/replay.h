/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the notes of pass 1 in order of time: makes processes, threads, modules and mappings. */
#ifndef CYCLOPS_PROCESS_REPLAY_H
#define CYCLOPS_PROCESS_REPLAY_H

#include "base/strings.h"
#include "process/module_table.h"
#include "process/notes.h"
#include "process/spaces.h"
#include "process/tasks.h"

/* What is filled; all borrowed. */
struct replay {
	struct strings *strings;
	struct module_table *modules;
	struct spaces *spaces;
	struct tasks *tasks;
};

/* The notes must be sorted. */
void replay_notes(const struct notes *, const struct replay *);

#endif
