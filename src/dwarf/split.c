/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libdw looks at (libdw_find_split_unit.c of elfutils): the name in the folder of the file, then in the folder
 * that it was compiled in, until one has the unit. A name or a folder may be absolute.
 */
#include "dwarf/split.h"

#include <dwarf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"

struct split_places {
	char *folder; /* of the file, without links; NULL: not known, as to libdw */
	char *root;   /* the same of the root; "" if it is not there */
	bool has_root;
};

struct split_places *split_places_new(int fd, const char *root)
{
	struct split_places *p = mem_zalloc(1, sizeof(*p));
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	while (n > 0 && n < PATH_MAX && path[n - 1] != '/')
		n--;
	if (n > 1 && n < PATH_MAX && path[0] == '/')
		p->folder = mem_strndup(path, (size_t)n - 1);
	p->has_root = root != NULL;
	if (p->has_root)
		p->root = realpath(root, NULL);
	return p;
}

void split_places_free(struct split_places *p)
{
	if (p == NULL)
		return;
	free(p->folder);
	free(p->root);
	free(p);
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/* A path that libdw looks at, to be freed. NULL: none. */
static char *candidate(const struct split_places *p, const char *folder, const char *name)
{
	bool is_whole = name != NULL && (name[0] == '/' || folder[0] == '/');
	struct text path = { 0 };

	if (name == NULL || (!is_whole && p->folder == NULL))
		return NULL;
	if (!is_whole)
		text_format(&path, "%s/", p->folder);
	if (name[0] != '/')
		text_format(&path, "%s/", folder);
	text_format(&path, "%s%c", name, 0);
	return path.bytes;
}

/* A link before ".." would lead elsewhere than the words say. */
static bool has_up(const char *path)
{
	for (const char *part = path; part != NULL; part = strchr(part, '/')) {
		part += strspn(part, "/");
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
			return true;
	}
	return false;
}

enum verdict { SPLIT_REFUSED, SPLIT_MISSING, SPLIT_FILE };

/* The path is below the folder, which has no links on its way: links behind it would lead anywhere. */
static enum verdict walk(const char *path, const char *folder)
{
	char *way = mem_strndup(path, strlen(path));
	char *end = way + strlen(folder);
	enum verdict verdict = SPLIT_FILE;

	while (verdict == SPLIT_FILE && *end != '\0') {
		struct stat found;

		end += 1 + strcspn(end + 1, "/");
		*end = '\0';
		if (lstat(way, &found) < 0)
			verdict = SPLIT_MISSING;
		else if ((found.st_mode & S_IFMT) != (path[end - way] == '/' ? S_IFDIR : S_IFREG))
			verdict = SPLIT_REFUSED;
		*end = path[end - way];
	}
	free(way);
	return verdict;
}

/* The path is anywhere: it must lead to a file that is called as split files are. */
static enum verdict judge_name(const char *path)
{
	static const char ending[] = ".dwo";
	char *real = realpath(path, NULL);
	size_t n = real != NULL ? strlen(real) : 0;
	struct stat found;
	enum verdict verdict = SPLIT_REFUSED;

	if (real == NULL)
		verdict = SPLIT_MISSING;
	else if (n >= sizeof(ending) && strcmp(real + n - (sizeof(ending) - 1), ending) == 0 &&
		 stat(real, &found) == 0 && S_ISREG(found.st_mode))
		verdict = SPLIT_FILE;
	free(real);
	return verdict;
}

static enum verdict judge(const struct split_places *p, const char *path)
{
	const char *const folders[] = { p->folder, p->root };
	enum verdict verdict = SPLIT_REFUSED;
	char *plain;

	if (path == NULL)
		return SPLIT_MISSING;
	plain = path_plain(path);
	for (size_t i = 0; i < COUNT(folders) && verdict == SPLIT_REFUSED && !has_up(path); i++)
		if (folders[i] != NULL && path_is_below(plain, folders[i]))
			verdict = walk(plain, folders[i]);
	free(plain);
	return verdict == SPLIT_REFUSED && !p->has_root ? judge_name(path) : verdict;
}

/* Has the file the unit, so that libdw looks no further? */
static bool has_unit(const char *path, uint64_t id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	uint8_t type = 0;
	bool is_there = false;

	while (!is_there && dwarf != NULL &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &type, NULL, NULL) == 0) {
		uint64_t found = 0;

		is_there = type == DW_UT_split_compile &&
			   dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &found, NULL, NULL) == 0 &&
			   found == id;
	}
	dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	return is_there;
}

bool split_may_be_opened(const struct split_places *p, Dwarf_Die *skeleton)
{
	const char *name = text_of(skeleton, DW_AT_dwo_name);
	const char *folder = text_of(skeleton, DW_AT_comp_dir);
	char *paths[2];
	enum verdict verdicts[COUNT(paths)];
	uint64_t id = 0;
	bool is_allowed;

	if (name == NULL)
		name = text_of(skeleton, DW_AT_GNU_dwo_name);
	paths[0] = candidate(p, "", name);
	paths[1] = folder != NULL ? candidate(p, folder, name) : NULL;
	for (size_t i = 0; i < COUNT(paths); i++)
		verdicts[i] = judge(p, paths[i]);
	is_allowed = verdicts[0] != SPLIT_REFUSED && verdicts[1] != SPLIT_REFUSED;
	if (verdicts[0] == SPLIT_FILE && !is_allowed)
		is_allowed =
			dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0 &&
			has_unit(paths[0], id);
	for (size_t i = 0; i < COUNT(paths); i++)
		free(paths[i]);
	return is_allowed;
}
