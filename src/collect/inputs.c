/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

void inputs_release(struct inputs *in)
{
	for (size_t i = 0; i < in->paths.n; i++)
		free(in->paths.items[i]);
	vec_release(&in->paths);
}

/* Does the file begin as a capture does? */
static bool begins_as_capture(const char *path)
{
	static const char magic[] = "PERFILE2";
	char bytes[sizeof(magic) - 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_it = fd >= 0 && read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
		     memcmp(bytes, magic, sizeof(bytes)) == 0;

	if (fd >= 0)
		close(fd);
	return is_it;
}

static char *inner_path(const char *folder, const char *name)
{
	struct text path = { 0 };

	text_format(&path, "%s/%s%c", folder, name, 0);
	return path.bytes;
}

static bool is_capture_folder(const char *path)
{
	char *data = inner_path(path, "data");
	bool is_it = begins_as_capture(data);

	free(data);
	return is_it;
}

static void add_path(struct inputs *in, const char *path)
{
	*vec_add(&in->paths) = mem_strndup(path, strlen(path));
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Symbolic links to folders are not followed: they may lead in a circle. */
static int add_folder(struct inputs *in, const char *path, struct err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_visible, alphasort);
	int rc = n < 0 ? err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno)) : 0;

	for (int i = 0; i < n; i++) {
		char *inner = inner_path(path, entries[i]->d_name);
		struct stat found;

		if (rc == 0 && lstat(inner, &found) == 0) {
			if (S_ISDIR(found.st_mode) && !is_capture_folder(inner))
				rc = add_folder(in, inner, err);
			else if (S_ISDIR(found.st_mode) || begins_as_capture(inner))
				add_path(in, inner);
		}
		free(inner);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return rc;
}

int inputs_add(struct inputs *in, const char *path, struct err *err)
{
	struct stat found;

	if (stat(path, &found) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	if (S_ISDIR(found.st_mode) && !is_capture_folder(path))
		return add_folder(in, path, err);
	add_path(in, path);
	return 0;
}
