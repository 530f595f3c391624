/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

char *dataset_file_path(const char *dataset, const char *table, const char *day, const char *rest)
{
	struct text path = { 0 };

	text_format(&path, "%s/%s/day=%s/%s%c", dataset, table, day, rest, 0);
	return path.bytes;
}

bool path_is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

int folder_make(const char *path, struct err *err)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot make the folder: %s", path,
		       strerror(errno));
}

int folder_is_day(const struct dirent *entry)
{
	return strncmp(entry->d_name, "day=", 4) == 0 &&
	       strlen(entry->d_name) == strlen("day=2026-11-26");
}

int folder_is_host(const struct dirent *entry)
{
	return strncmp(entry->d_name, "host=", 5) == 0;
}

int folder_is_part(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return strncmp(entry->d_name, "part-", 5) == 0 && end != NULL &&
	       strcmp(end, ".parquet") == 0;
}

int folder_names(const char *folder, int (*is_wanted)(const struct dirent *), struct dirent ***out,
		 struct err *err)
{
	int n = scandir(folder, out, is_wanted, alphasort);

	if (n >= 0)
		return n;
	*out = NULL;
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", folder, strerror(errno));
}

void folder_names_free(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

int dataset_check(const char *dataset, struct err *err)
{
	struct text path = { 0 };
	int rc = 0;

	text_format(&path, "%s/captures%c", dataset, 0);
	if (!path_is_there(path.bytes))
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "%s: it has no table captures: `cyclops collect --into %s CAPTURE…` "
			     "makes one",
			     dataset, dataset);
	text_release(&path);
	return rc;
}

int dataset_lock(const char *dataset, struct err *err)
{
	struct text path = { 0 };
	int fd = -1;

	text_format(&path, "%s/merged%c", dataset, 0);
	if (folder_make(path.bytes, err) == 0) {
		fd = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
			err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path.bytes,
				errno == EWOULDBLOCK ? "another compact or push is running"
						     : strerror(errno));
			if (fd >= 0)
				close(fd);
			fd = -1;
		}
	}
	text_release(&path);
	return fd;
}
