/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc and /sys without memory of their own: libcyclops, which must not end a program that
 * runs out of it, is made of this file, too.
 */
#include "system/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool system_path(const char *root, const char *format, va_list args, char out[SYSTEM_PATH_MAX])
{
	int at = snprintf(out, SYSTEM_PATH_MAX, "%s", root);
	int n;

	if (at < 0 || at >= SYSTEM_PATH_MAX)
		return false;
	n = vsnprintf(out + at, SYSTEM_PATH_MAX - (size_t)at, format, args);
	return n >= 0 && n < SYSTEM_PATH_MAX - at;
}

/* Reads the beginning of a file, at most size - 1 bytes; -1 if it cannot be read. */
static ssize_t read_beginning(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t done = 0;
	ssize_t n = 1;

	out[0] = '\0';
	if (fd < 0)
		return -1;
	while (done < size - 1 && n > 0) {
		do
			n = read(fd, out + done, size - 1 - done);
		while (n < 0 && errno == EINTR);
		done += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	out[n < 0 ? 0 : done] = '\0';
	return n < 0 ? -1 : (ssize_t)done;
}

bool system_beginning(const char *root, char *out, size_t size, const char *format, ...)
{
	char path[SYSTEM_PATH_MAX];
	va_list args;
	bool is_path;

	out[0] = '\0';
	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	return is_path && read_beginning(path, out, size) >= 0;
}

/* The first line; false if it does not fit or has a NUL. */
static bool system_line_of(const char *path, char *out, size_t size)
{
	char text[SYSTEM_LINE_MAX + 1];
	ssize_t n = read_beginning(path, text, sizeof(text));
	size_t length = strcspn(text, "\n");
	bool fits = n >= 0 && length < size && (text[length] == '\n' || length == (size_t)n);

	memcpy(out, text, fits ? length : 0);
	out[fits ? length : 0] = '\0';
	return fits;
}

bool system_line(const char *root, char *out, size_t size, const char *format, ...)
{
	char path[SYSTEM_PATH_MAX];
	va_list args;
	bool is_path;

	out[0] = '\0';
	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	return is_path && system_line_of(path, out, size);
}

bool system_number(const char *root, int64_t *out, const char *format, ...)
{
	char path[SYSTEM_PATH_MAX], line[SYSTEM_LINE_MAX];
	char *end;
	int64_t value;
	va_list args;
	bool is_path;

	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	if (!is_path || !system_line_of(path, line, sizeof(line)))
		return false;
	errno = 0;
	value = strtoll(line, &end, 0);
	if (end == line || errno != 0)
		return false;
	*out = value;
	return true;
}

bool system_has(const char *root, const char *format, ...)
{
	char path[SYSTEM_PATH_MAX];
	va_list args;
	bool is_path;

	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	return is_path && access(path, F_OK) == 0;
}

enum system_access system_access(const char *root, const char *format, ...)
{
	char path[SYSTEM_PATH_MAX];
	va_list args;
	bool is_path;

	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	if (!is_path)
		return SYSTEM_MISSING;
	if (access(path, R_OK) == 0)
		return SYSTEM_READABLE;
	return errno == EACCES || errno == EPERM ? SYSTEM_FORBIDDEN : SYSTEM_MISSING;
}
