/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_map(struct mapped *out, const char *path, struct err *err)
{
	struct stat st;
	int fd, rc;

	if (stat(path, &st) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: is not a regular file", path);
	if (st.st_size > REGULAR_FILE_MOST)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "%s: larger than %lld GiB", path,
			       (long long)(REGULAR_FILE_MOST >> 30));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) { /* it may be another one by now */
		close(fd);
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: is not a regular file", path);
	}
	rc = mapped_from_fd(out, fd, path, err);
	close(fd);
	return rc;
}
