/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CYCLOPS_BASE_PATH_H
#define CYCLOPS_BASE_PATH_H

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include "base/err.h"

/* The part of a path behind its last slash; the path itself if it has none. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/*
 * Where a path leads if `root` is what "/" is to it, as for chroot(): links and ".." do not lead out. The
 * result has no links below the root, begins with the root as given, and is to be freed. NULL: nothing is there.
 */
char *path_in_root(const char *root, const char *path);

/* The path without ".", and without ".." but at its start, by its words alone: links are not looked at. To be freed. */
char *path_plain(const char *path);

/* Is the path, by its words, below the folder? Both are plain. */
bool path_is_below(const char *path, const char *folder);

/*
 * Are files of this owner this user's own? Under sudo, root's files and those of who asked are of one person. For folders
 * that all may write, such as /tmp, where others choose what is at a name.
 */
bool path_owner_is_us(uid_t owner);

/*
 * Makes a folder and those above it, with these rights; what is there already stays, and others may make them at the
 * same time. -1 and an error if one cannot be made; errno says why, too.
 */
int path_make_folders(const char *path, mode_t mode, struct err *);

#endif
