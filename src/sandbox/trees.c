/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of older systems lack Landlock, so its interface (Documentation/userspace-api/landlock.rst of
 * Linux) stands here: the numbers of the calls are the same on all architectures.
 */
#include "sandbox/trees.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "sandbox/sanitized.h"

enum {
	CALL_CREATE = 444,
	CALL_ADD = 445,
	CALL_RESTRICT = 446,
	ASK_VERSION = 1, /* flag of the first */
	RULE_PATH = 1,	 /* kind of rule of the second */
};

/* Rights, by bit; the comment says which version of the interface has them. */
enum {
	MAY_EXECUTE = 1 << 0, /* 1, as the others down to MAY_MAKE_SYMLINK */
	MAY_WRITE_FILE = 1 << 1,
	MAY_READ_FILE = 1 << 2,
	MAY_READ_DIR = 1 << 3,
	MAY_REMOVE_DIR = 1 << 4,
	MAY_REMOVE_FILE = 1 << 5,
	MAY_MAKE_DIR = 1 << 7,
	MAY_MAKE_FILE = 1 << 8,
	MAY_MAKE_SYMLINK = 1 << 12,
	MAY_MOVE = 1 << 13,	/* 2: to another folder */
	MAY_TRUNCATE = 1 << 14, /* 3 */
	MAY_IOCTL = 1 << 15,	/* 5: of devices */
};

enum {
	MAY_READ = MAY_READ_FILE | MAY_READ_DIR | (IS_SANITIZED ? MAY_EXECUTE : 0),
	MAY_WRITE_ANYWAY = MAY_READ_FILE | MAY_WRITE_FILE | MAY_TRUNCATE,
	/* Nothing is read there by that: the folder may be the user's home. */
	MAY_REPLACE = MAY_WRITE_FILE | MAY_TRUNCATE | MAY_MAKE_FILE | MAY_REMOVE_FILE,
	MAY_MAKE_FOLDERS = MAY_REPLACE | MAY_MAKE_DIR,
	MAY_FILL = MAY_MAKE_FOLDERS | MAY_READ,

	/* What rules about files that are no folders can be about. */
	OF_FILES = MAY_EXECUTE | MAY_READ_FILE | MAY_WRITE_FILE | MAY_TRUNCATE,
};

enum { NET_ALL = 3 /* 4: bind, connect */, SCOPE_ALL = 3 /* 6: abstract sockets, signals */ };

struct attributes {
	uint64_t files, net, scoped; /* what is refused unless a rule allows it */
};

struct path_rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

/* The rules while they are made. */
struct trees {
	int fd;
	uint64_t handled;
};

int trees_version(void)
{
	long version = syscall(CALL_CREATE, NULL, 0, ASK_VERSION);

	return version > 0 ? (int)version : 0;
}

static uint64_t rights_of(int version)
{
	return version >= 5   ? MAY_IOCTL * 2 - 1
	       : version >= 3 ? MAY_TRUNCATE * 2 - 1
	       : version >= 2 ? MAY_MOVE * 2 - 1
			      : MAY_MAKE_SYMLINK * 2 - 1;
}

/* Allows a file, or a folder with all below it. What cannot be opened is left out. */
static void allow(const struct trees *t, const char *path, uint64_t rights)
{
	struct path_rule rule = { .parent = open(path, O_PATH | O_CLOEXEC) };
	struct stat found;

	if (rule.parent < 0)
		return;
	if (fstat(rule.parent, &found) == 0) {
		rule.allowed = rights & t->handled;
		if (!S_ISDIR(found.st_mode))
			rule.allowed &= OF_FILES;
		(void)syscall(CALL_ADD, t->fd, RULE_PATH, &rule, 0);
	}
	close(rule.parent);
}

/*
 * Of the file system's root these are read as a whole by nobody: devices, what processes and the kernel say, keys and
 * passwords of the system, sockets of services.
 */
static const char *const closed_at_root[] = { "proc", "sys", "dev", "etc", "run", "boot" };

/* Parts of those that are read: names of the kernel, its build-id, numbers of CPUs, the time zone, what a C library asks. */
static const char *const open_parts[] = {
	"/proc/self",	     "/proc/kallsyms",	    "/proc/modules",  "/proc/cpuinfo",
	"/proc/meminfo",     "/proc/stat",	    "/proc/sys/vm",   "/proc/sys/kernel",
	"/sys/kernel/notes", "/sys/devices/system", "/sys/fs/cgroup", "/etc/localtime",
	"/etc/ld.so.cache",  "/etc/debuginfod",	    "/dev/null",      "/dev/zero",
	"/dev/urandom",	     "/dev/random",	    "/boot/vmlinux",
};

/* Of what is hidden in the user's home these have programs, sources and debug files, and no secrets of their own. */
static const char *const open_at_home[] = {
	".debug",     ".cache/debuginfod_client", ".debuginfod_client_cache", ".cargo/bin",
	".cargo/git", ".cargo/registry",	  ".rustup/toolchains",	      ".local/bin",
	".local/lib", ".local/share/cyclops",
};

static bool is_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

struct level {
	const char *path;   /* of a folder, with its slash */
	const char *within; /* name of the entry that is gone into instead of allowed; "" if none */
	bool is_root, is_home;
};

static bool is_closed(const struct level *l, const char *name)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, l->within) == 0)
		return true;
	if (l->is_root && is_among(name, closed_at_root, COUNT(closed_at_root)))
		return true;
	return l->is_home && name[0] == '.';
}

static void allow_level(const struct trees *t, const struct level *l)
{
	DIR *folder = opendir(l->path);
	const struct dirent *entry;
	struct text path = { 0 };

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (is_closed(l, entry->d_name))
			continue;
		text_reset(&path);
		text_format(&path, "%s%s%c", l->path, entry->d_name, 0);
		allow(t, path.bytes, MAY_READ);
	}
	text_release(&path);
	if (folder != NULL)
		closedir(folder);
}

/*
 * Programs, debug files and sources are anywhere, so all may be read but what is closed at the root, and in the user's
 * home what is hidden: keys, passwords, tokens. Rules only add, so each folder on the way to the home is
 * allowed by its other entries.
 */
static void allow_reading(const struct trees *t)
{
	const char *given = getenv("HOME");
	char *home = given != NULL && given[0] == '/' ? realpath(given, NULL) : NULL;
	const char *rest = home != NULL ? home + 1 : "";
	struct text path = { 0 };

	text_str(&path, "/");
	for (bool is_last = false; !is_last;) {
		size_t n = strcspn(rest, "/");
		char *name = mem_strndup(rest, n);
		struct level level = { .within = name, .is_root = path.n == 1 };

		is_last = n == 0;
		level.is_home = is_last && home != NULL;
		text_char(&path, '\0');
		level.path = path.bytes;
		allow_level(t, &level);
		path.n--;
		text_format(&path, "%s/", name);
		rest += n + (rest[n] == '/');
		free(name);
	}
	for (size_t i = 0; i < COUNT(open_at_home) && home != NULL; i++) {
		text_reset(&path);
		text_format(&path, "%s/%s%c", home, open_at_home[i], 0);
		allow(t, path.bytes, MAY_READ);
	}
	for (size_t i = 0; i < COUNT(open_parts); i++)
		allow(t, open_parts[i], MAY_READ);
	text_release(&path);
	free(home);
}

static bool is_there(const char *path, struct stat *out)
{
	return stat(path, out) == 0;
}

/* A folder that is filled, and read; if it is not there, the one in which it is made. */
static void allow_filling(const struct trees *t, const char *path)
{
	char *folder = mem_strndup(path, strlen(path));
	struct stat found;

	while (folder[0] != '\0' && !is_there(folder, &found)) {
		size_t n = strlen(folder);

		while (n > 0 && folder[n - 1] == '/')
			n--;
		while (n > 0 && folder[n - 1] != '/')
			n--;
		folder[n] = '\0';
	}
	allow(t, folder[0] != '\0' ? folder : ".",
	      strcmp(folder, path) == 0 ? MAY_FILL : MAY_MAKE_FOLDERS);
	free(folder);
}

/*
 * An output: a folder, or a file, which is made beside the one that it replaces. What is neither, such as a pipe, is
 * written as it is.
 */
static void allow_writing(const struct trees *t, const char *path)
{
	char *real = realpath(path, NULL);
	const char *at = real != NULL ? real : path;
	size_t n = (size_t)(path_base(at) - at);
	char *folder = n > 0 ? mem_strndup(at, n) : mem_strndup(".", 1);
	struct stat found;
	bool exists = is_there(path, &found);

	if (exists ? S_ISDIR(found.st_mode) : at[n] == '\0')
		allow_filling(t, path);
	else if (exists && !S_ISREG(found.st_mode))
		allow(t, path, MAY_WRITE_ANYWAY);
	else
		allow(t, folder, MAY_REPLACE);
	if (exists && S_ISREG(found.st_mode)) /* in a folder that takes no new files */
		allow(t, path, MAY_WRITE_ANYWAY);
	free(folder);
	free(real);
}

/*
 * Temporary files. They have no name where the file system can do that; then no name may be made there.
 */
static void allow_temporary(const struct trees *t)
{
	const char *given = getenv("TMPDIR");
	const char *path = given != NULL && given[0] != '\0' ? given : "/tmp";
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	allow(t, path,
	      MAY_READ | MAY_WRITE_ANYWAY | (fd < 0 ? MAY_MAKE_FILE | MAY_REMOVE_FILE : 0));
	if (fd >= 0)
		close(fd);
}

static void allow_places(const struct trees *t, const struct sandbox_places *p)
{
	for (size_t i = 0; i < p->reads.n; i++)
		allow(t, p->reads.items[i], MAY_READ);
	for (size_t i = 0; i < p->writes.n; i++)
		allow_writing(t, p->writes.items[i]);
	for (size_t i = 0; i < p->folders.n; i++)
		allow_filling(t, p->folders.items[i]);
}

bool trees_restrict(int version, const struct sandbox_places *places)
{
	struct attributes attributes = {
		.files = rights_of(version),
		.net = version >= 4 ? NET_ALL : 0,
		.scoped = version >= 6 ? SCOPE_ALL : 0,
	};
	size_t size = version >= 6 ? sizeof(attributes) : (version >= 4 ? 2 : 1) * sizeof(uint64_t);
	struct trees t = { .handled = attributes.files };
	bool is_done;

	t.fd = (int)syscall(CALL_CREATE, &attributes, size, 0);
	if (t.fd < 0)
		return false;
	allow_reading(&t);
	allow_temporary(&t);
	allow_places(&t, places);
	is_done = syscall(CALL_RESTRICT, t.fd, 0) == 0;
	close(t.fd);
	return is_done;
}
