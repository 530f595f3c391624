/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"

enum { MAX_NAMES = 1000 }; /* that are tried for the temporary file */

static int cannot_write(const struct output_file *f, struct err *err)
{
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", f->path, strerror(errno));
}

/* The folder of the target, with its slash, and behind it a name of this process. */
static char *temporary_name(const char *target, int number)
{
	struct text name = { 0 };

	text_add(&name, target, (size_t)(path_base(target) - target));
	text_format(&name, ".cyclops-%d-%d%c", (int)getpid(), number, 0);
	return name.bytes;
}

/* Makes a file in the folder of the target: without a name where the file system can. */
static int open_beside(struct output_file *f)
{
	size_t size = (size_t)(path_base(f->target) - f->target);
	char *folder = size > 0 ? mem_strndup(f->target, size) : mem_strndup(".", 1);
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	free(folder);
	for (int i = 0; fd < 0 && i < MAX_NAMES; i++) {
		free(f->temporary);
		f->temporary = temporary_name(f->target, i);
		fd = open(f->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		f->is_named = fd >= 0;
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

/* Forgets the temporary file. */
static void drop(struct output_file *f)
{
	if (f->is_named)
		unlink(f->temporary);
	f->is_named = false;
	free(f->temporary);
	free(f->target);
	f->temporary = f->target = NULL;
}

/*
 * Sets what a new file of that path replaces: the file behind its links, with what `old` says of it, or the path itself
 * (no mode in `old`) if nothing is there. Other processes make and remove it meanwhile, so what one question has told
 * is not asked again. NULL: a link to nowhere, no ordinary file, or one that may not be written.
 */
static char *find_target(const char *path, struct stat *old)
{
	char *target = NULL;

	*old = (struct stat){ 0 };
	if (lstat(path, old) < 0)
		return mem_strndup(path, strlen(path));
	if (!S_ISLNK(old->st_mode)) {
		target = mem_strndup(path, strlen(path));
	} else {
		target = realpath(path, NULL);
		if (target != NULL && lstat(target, old) < 0)
			*old = (struct stat){ 0 };
	}
	if (target != NULL && old->st_mode != 0 &&
	    (!S_ISREG(old->st_mode) || (access(target, W_OK) < 0 && errno != ENOENT))) {
		free(target);
		target = NULL;
	}
	return target;
}

/* Opens a file that will replace that of the path, with its owner and rights. -1: there can be none. */
static int open_replacement(struct output_file *f)
{
	struct stat old;
	int fd;

	f->target = find_target(f->path, &old);
	fd = f->target != NULL ? open_beside(f) : -1;
	if (fd >= 0 && old.st_mode != 0 &&
	    (fchown(fd, old.st_uid, old.st_gid) < 0 || fchmod(fd, old.st_mode & 0777) < 0)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		drop(f);
	return fd;
}

/* Fails at a link of another user. `path` without its last byte that is a slash. */
static int check_links(const char *path, struct err *err)
{
	for (size_t n = 1; n <= strlen(path); n++) {
		struct stat found;
		char *way;
		bool is_strange;

		if (path[n] != '/' && path[n] != '\0')
			continue;
		way = mem_strndup(path, n);
		is_strange = lstat(way, &found) == 0 && S_ISLNK(found.st_mode) &&
			     found.st_uid != 0 && !path_owner_is_us(found.st_uid);
		if (is_strange)
			err_set(err, ERR_IO, ERR_NOWHERE,
				"%s: cannot write: %s is a symbolic link of user %u", path, way,
				(unsigned)found.st_uid);
		free(way);
		if (is_strange)
			return -1;
	}
	return 0;
}

int output_file_check(const char *path, struct err *err)
{
	struct stat old;

	if (check_links(path, err) < 0)
		return -1;
	if (stat(path, &old) < 0 || !S_ISREG(old.st_mode) || path_owner_is_us(old.st_uid))
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "%s: cannot write: it is a file of user %u; remove it, or name another one",
		       path, (unsigned)old.st_uid);
}

bool output_file_replaces(const char *path, const char *file)
{
	struct stat output, input;

	return stat(path, &output) == 0 && stat(file, &input) == 0 &&
	       (S_ISREG(output.st_mode) || S_ISDIR(output.st_mode)) &&
	       output.st_dev == input.st_dev && output.st_ino == input.st_ino;
}

int output_file_open(struct output_file *f, const char *path, struct err *err)
{
	int fd;

	*f = (struct output_file){ 0 };
	if (output_file_check(path, err) < 0)
		return -1;
	f->path = mem_strndup(path, strlen(path));
	fd = open_replacement(f);
	if (fd < 0) /* in place */
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	f->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f->stream != NULL)
		return 0;
	cannot_write(f, err);
	if (fd >= 0)
		close(fd);
	drop(f);
	free(f->path);
	f->path = NULL;
	return -1;
}

/* Gives a file without a name one. */
static int link_temporary(struct output_file *f)
{
	char *self = mem_alloc(64, 1);

	snprintf(self, 64, "/proc/self/fd/%d", fileno(f->stream));
	for (int i = 0; !f->is_named && i < MAX_NAMES; i++) {
		free(f->temporary);
		f->temporary = temporary_name(f->target, i);
		f->is_named =
			linkat(AT_FDCWD, self, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0;
		if (!f->is_named && errno != EEXIST)
			break;
	}
	free(self);
	return f->is_named ? 0 : -1;
}

int output_file_publish(struct output_file *f, struct err *err)
{
	if (f->target == NULL)
		return 0;
	if (link_temporary(f) < 0 || rename(f->temporary, f->target) < 0)
		return cannot_write(f, err);
	f->is_named = false;
	drop(f);
	return 0;
}

int output_file_close(struct output_file *f, int rc, struct err *err)
{
	if (f->stream == NULL)
		return rc;
	if (rc == 0 && (fflush(f->stream) != 0 || ferror(f->stream)))
		rc = cannot_write(f, err);
	if (rc == 0)
		rc = output_file_publish(f, err);
	if (fclose(f->stream) != 0 && rc == 0)
		rc = cannot_write(f, err);
	drop(f);
	free(f->path);
	*f = (struct output_file){ 0 };
	return rc;
}
