/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process may still do once it reads what strangers wrote (docs/security.md). Landlock says which files it
 * may open, seccomp which system calls it may make. Neither can be undone, and threads and children that
 * are started later have both. What must be able to do more is started before: see cli/pager.h and
 * symbol/debuginfod.h.
 */
#ifndef CYCLOPS_SANDBOX_SANDBOX_H
#define CYCLOPS_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

/* Paths of places. A path that is not there is left out. All borrowed. */
struct sandbox_places {
	VEC_OF(const char *) reads; /* files and whole folders, beside those that all may read */
	VEC_OF(const char *)
	writes; /* files and folders that are written: files are made in their folder */
	VEC_OF(const char *)
	folders; /* in which all may be written, and folders made; made if it is not there yet */
};

void sandbox_places_release(struct sandbox_places *);

/* What the kernel offers. */
struct sandbox_support {
	int landlock; /* version of its interface, at least 1; 0: it has none, or it is switched off */
	bool has_filter; /* seccomp with filters, and there is one for this architecture */
};

struct sandbox_support sandbox_support(void);

/*
 * Starts it, as far as the kernel can: returns what is in force. To be called before there are other
 * threads: landlock is of the thread that asks for it and what it starts.
 */
struct sandbox_support sandbox_start(const struct sandbox_places *);

#endif
