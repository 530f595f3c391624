/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel could do this at once (openat2() with RESOLVE_IN_ROOT), but the sandbox's filter does not see whether
 * openat2() writes (sandbox/filter.c), and libelf and libdw want paths. So there is one way for all kernels.
 */
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

enum { MAX_LINKS = 40 /* as the kernel has it */, MAX_REST = 1 << 16 };

/* A way through folders and links. */
struct way {
	struct text done; /* the root, then what is no link: "/root/usr" */
	size_t root;	  /* its bytes: the way never gets shorter */
	char *rest;	  /* what is to be walked; owned */
	unsigned n_links;
};

/* Goes on at the target of a link instead of the link. False: it cannot be read, or there are too many. */
static bool follow(struct way *w, const char *link, const char *behind)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target));
	struct text rest = { 0 };

	if (n <= 0 || n == sizeof(target) || ++w->n_links > MAX_LINKS)
		return false;
	text_add(&rest, target, (size_t)n);
	text_format(&rest, "/%s%c", behind, 0);
	free(w->rest);
	w->rest = rest.bytes;
	if (target[0] == '/')
		w->done.n = w->root;
	return rest.n < MAX_REST;
}

/* Takes the next part of the way. False: it leads nowhere. */
static bool step(struct way *w)
{
	size_t start = strspn(w->rest, "/"), n = strcspn(w->rest + start, "/"), before = w->done.n;
	const char *part = w->rest + start;
	struct stat found;

	if (n == 2 && memcmp(part, "..", 2) == 0) {
		while (w->done.n > w->root && w->done.bytes[--w->done.n] != '/')
			;
	} else if (n > 1 || (n == 1 && part[0] != '.')) {
		text_char(&w->done, '/');
		text_add(&w->done, part, n);
		text_char(&w->done, '\0');
		if (lstat(w->done.bytes, &found) < 0)
			return false;
		if (S_ISLNK(found.st_mode)) {
			char *link = mem_strndup(w->done.bytes, w->done.n);
			bool is_read;

			w->done.n = before;
			is_read = follow(w, link, part + n);
			free(link);
			return is_read;
		}
		w->done.n--;
	}
	memmove(w->rest, part + n, strlen(part + n) + 1);
	return true;
}

char *path_in_root(const char *root, const char *path)
{
	struct way w = { .root = strlen(root), .rest = mem_strndup(path, strlen(path)) };
	bool is_there = strlen(path) < MAX_REST;

	while (w.root > 0 && root[w.root - 1] == '/')
		w.root--;
	text_add(&w.done, root, w.root);
	while (is_there && w.rest[strspn(w.rest, "/")] != '\0')
		is_there = step(&w);
	free(w.rest);
	text_char(&w.done, '\0');
	if (is_there)
		return w.done.bytes;
	text_release(&w.done);
	return NULL;
}

char *path_plain(const char *path)
{
	char *out = mem_alloc(strlen(path) + 1, 1);
	size_t n = 0, least = path[0] == '/'; /* what ".." does not take away */

	if (least > 0)
		out[n++] = '/';
	for (const char *part = path + strspn(path, "/"); *part != '\0';
	     part += strspn(part, "/")) {
		size_t len = strcspn(part, "/");
		bool is_up = len == 2 && memcmp(part, "..", 2) == 0;

		if (is_up && n > least) {
			while (n > least && out[--n] != '/')
				;
		} else if ((len != 1 || part[0] != '.') && !(is_up && path[0] == '/')) {
			if (n > 0 && out[n - 1] != '/')
				out[n++] = '/';
			memcpy(out + n, part, len);
			n += len;
			least = is_up ? n : least;
		}
		part += len;
	}
	out[n] = '\0';
	return out;
}

bool path_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (n == 0)
		return path[0] != '/' &&
		       (strncmp(path, "..", 2) != 0 || (path[2] != '/' && path[2] != '\0'));
	while (n > 0 && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 && path[n] == '/';
}

bool path_owner_is_us(uid_t owner)
{
	const char *asked = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

	return owner == geteuid() || (asked != NULL && owner == (uid_t)strtoul(asked, NULL, 10));
}

int path_make_folders(const char *path, mode_t mode, struct err *err)
{
	char *way = mem_strndup(path, strlen(path));
	int error = 0;

	for (size_t n = 1; error == 0 && way[0] != '\0' && n <= strlen(path); n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		way[n] = '\0';
		if (mkdir(way, mode) < 0 && errno != EEXIST) {
			error = errno;
			err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot make the folder: %s", way,
				strerror(error));
		}
		way[n] = path[n];
	}
	free(way);
	errno = error;
	return error == 0 ? 0 : -1;
}
