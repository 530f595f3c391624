/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/locate.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lzma.h>

#include "base/alloc.h"
#include "base/path.h"
#include "symbol/candidates.h"
#include "symbol/debuginfod.h"

static const char *const code_patterns[] = {
	"{symfs}{path}",	  "{cache}/.build-id/{id}/elf",
	"{cache}/.build-id/{id}", /* of perf before 4.9 */
	"{debug}/.build-id/{id}", NULL,
};

static const char *const debug_patterns[] = {
	"{debug}/.build-id/{id}.debug",
	"{cache}/.build-id/{id}/debug",
	"{folder}/{link}",
	"{folder}/.debug/{link}",
	"{debug}{recorded-folder}/{link}",
	"{debug}/{link}",
	NULL,
};

static const char *const alt_patterns[] = {
	"{debug}/.build-id/{id}.debug",
	"{folder}/{link}",
	NULL,
};

static const char *const absolute_alt_patterns[] = {
	"{debug}/.build-id/{id}.debug",
	"{symfs}{link}",
	"{link}",
	NULL,
};

static const char *const cached_patterns[] = {
	"{cache}/.build-id/{id}/{link}",
	NULL,
};

/* Architectures by their name in uname(), and whose code they run. First match wins. */
static const struct architecture {
	const char *prefix;
	uint16_t machines[2];
} architectures[] = {
	{ "aarch64", { EM_AARCH64, EM_ARM } }, { "arm64", { EM_AARCH64, EM_ARM } },
	{ "arm", { EM_ARM, EM_ARM } },	       { "x86_64", { EM_X86_64, EM_386 } },
	{ "i", { EM_386, EM_386 } },	       { "ppc", { EM_PPC64, EM_PPC } },
	{ "riscv", { EM_RISCV, EM_RISCV } },   { "s390", { EM_S390, EM_S390 } },
};

void refusal_release(struct refusal *refusal)
{
	free(refusal->path);
	*refusal = (struct refusal){ 0 };
}

bool machine_fits(const struct search *search, uint16_t machine)
{
	const char *arch = search->options->arch;

	for (size_t i = 0; arch != NULL && i < COUNT(architectures); i++) {
		const struct architecture *a = &architectures[i];

		if (strncmp(arch, a->prefix, strlen(a->prefix)) == 0)
			return machine == a->machines[0] || machine == a->machines[1];
	}
	return true;
}

static char *folder_of(const char *path)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash == NULL ? NULL : mem_strndup(path, (size_t)(slash - path));
}

/* The search for the code. */
struct code_search {
	const struct search *search;
	const struct wanted *wanted;
	struct elf_file *out;
	struct refusal *why;
};

static bool locate_refuse(struct code_search *s, enum refusal_kind kind, const char *path,
			  const struct elf_file *file)
{
	if (s->why->path == NULL || kind > s->why->kind) {
		refusal_release(s->why);
		s->why->kind = kind;
		s->why->path = mem_strndup(path, strlen(path));
		s->why->found = file->build_id;
	}
	return false;
}

/* Whether a file may be taken though no build-id says that it is the right one. */
static bool is_trusted(struct code_search *s, const char *path, const struct elf_file *file)
{
	const struct symbols_options *options = s->search->options;

	if (!machine_fits(s->search, file->machine))
		return locate_refuse(s, REFUSED_CPU, path, file);
	if (options->symfs == NULL && !options->use_this_machine)
		return locate_refuse(s, REFUSED_OTHER_MACHINE, path, file);
	if (options->symfs == NULL && s->wanted->is_deleted)
		return locate_refuse(s, REFUSED_DELETED, path, file);
	return true;
}

static bool is_right(struct code_search *s, const char *path, const struct elf_file *file)
{
	if (s->wanted->build_id.size == 0)
		return is_trusted(s, path, file);
	return build_id_matches(&s->wanted->build_id, &file->build_id) ||
	       locate_refuse(s, REFUSED_BUILD_ID, path, file);
}

/* A file that cannot be opened, though its rights allow it: Landlock has rules of its own. */
static bool is_hidden(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, R_OK) == 0;
}

static bool try_code(void *context, const char *path)
{
	struct code_search *s = context;
	struct elf_file file = { 0 };
	struct err err;

	if (elf_file_open(&file, path, &err) < 0) {
		if (err.code == ERR_FORMAT)
			return locate_refuse(s, REFUSED_NOT_ELF, path, &file);
		return is_hidden(path) && locate_refuse(s, REFUSED_SANDBOX, path, &file);
	}
	if (!is_right(s, path, &file)) {
		elf_file_release(&file);
		return false;
	}
	*s->out = file;
	return true;
}

/* The recorded path without what the kernel appends to those of deleted files. */
static char *clean_path(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), tail = sizeof(deleted) - 1;

	if (length > tail && strcmp(path + length - tail, deleted) == 0)
		length -= tail;
	return mem_strndup(path, length);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_regular(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/*
 * A file in the folder itself, whatever it is called there: users copy a program, but not its path. Only the
 * build-id tells which one it is.
 */
static bool try_folder(struct code_search *s, const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, by_name);
	bool is_found = false;

	for (int i = 0; i < n; i++) {
		struct elf_file file = { 0 };
		struct err err;
		char *path = path_in_root(folder, entries[i]->d_name);

		if (!is_found && path != NULL && is_regular(path) &&
		    elf_file_open(&file, path, &err) == 0) {
			is_found = build_id_matches(&s->wanted->build_id, &file.build_id) &&
				   elf_file_has(&file, ".text");
			if (is_found)
				*s->out = file;
			else
				elf_file_release(&file);
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	return is_found;
}

int locate_code(const struct search *search, const struct wanted *wanted, struct elf_file *out,
		struct refusal *why)
{
	struct code_search s = { .search = search, .wanted = wanted, .out = out, .why = why };
	char *path = clean_path(wanted->path);
	struct candidates c;
	bool is_found;

	candidates_init(&c, search->options, search->cache);
	candidates_set_id(&c, &wanted->build_id);
	c.parts[PART_PATH] = path[0] == '/' ? path : NULL;
	is_found = candidates_try(&c, code_patterns, try_code, &s);
	free(path);
	if (!is_found && search->options->symfs != NULL && wanted->build_id.size > 0)
		is_found = try_folder(&s, search->options->symfs);
	if (!is_found && search->options->use_debuginfod) {
		char *fetched = debuginfod_fetch(DEBUGINFOD_EXECUTABLE, &wanted->build_id);

		is_found = fetched != NULL && try_code(&s, fetched);
		free(fetched);
	}
	if (is_found)
		refusal_release(why);
	return is_found ? 0 : -1;
}

/* Names in files of strangers: none that leads to another folder is a name. */
static bool is_name(const char *name)
{
	return name != NULL && strchr(name, '/') == NULL && strcmp(name, "..") != 0;
}

/* The folder of a path as recorded, if it has no ".."; the kernel writes none. */
static char *recorded_folder_of(const char *path)
{
	char *folder = folder_of(path), *plain = folder == NULL ? NULL : path_plain(folder);

	if (plain != NULL && strcmp(plain, folder) != 0) {
		free(folder);
		folder = NULL;
	}
	free(plain);
	return folder;
}

/* The search for a debug file: by build-id where there is one, else by checksum. */
struct debug_search {
	struct build_id build_id;
	bool has_crc;
	uint32_t crc;
	struct elf_file *out;
};

static bool belongs(const struct debug_search *s, const struct elf_file *file)
{
	if (s->build_id.size > 0 && file->build_id.size > 0)
		return build_id_matches(&s->build_id, &file->build_id);
	return s->has_crc && lzma_crc32(file->bytes.bytes, file->bytes.size, 0) == s->crc;
}

static bool has_names(const struct elf_file *file)
{
	return elf_file_has(file, ".symtab") || elf_file_has(file, ".debug_info") ||
	       elf_file_has(file, ".zdebug_info");
}

static bool try_debug(void *context, const char *path)
{
	struct debug_search *s = context;
	struct elf_file file = { 0 };
	struct err err;

	if (elf_file_open(&file, path, &err) < 0)
		return false;
	if (!has_names(&file) || !belongs(s, &file)) {
		elf_file_release(&file);
		return false;
	}
	*s->out = file;
	return true;
}

bool locate_debug(const struct search *search, const struct wanted *wanted,
		  const struct elf_file *code, struct elf_file *out)
{
	bool has_code_id = elf_file_is_open(code) && code->build_id.size > 0;
	struct debug_search s = {
		.build_id = has_code_id ? code->build_id : wanted->build_id,
		.out = out,
	};
	char *folder = folder_of(code->path), *recorded_folder = recorded_folder_of(wanted->path);
	const char *link = elf_file_debuglink(code, &s.crc);
	struct candidates c;
	bool is_found;

	candidates_init(&c, search->options, search->cache);
	candidates_set_id(&c, &s.build_id);
	c.parts[PART_LINK] = is_name(link) ? link : NULL;
	s.has_crc = c.parts[PART_LINK] != NULL;
	c.parts[PART_FOLDER] = folder;
	c.parts[PART_RECORDED_FOLDER] = recorded_folder;
	is_found = candidates_try(&c, debug_patterns, try_debug, &s);
	free(folder);
	free(recorded_folder);
	if (!is_found && search->options->use_debuginfod) {
		char *fetched = debuginfod_fetch(DEBUGINFOD_DEBUGINFO, &s.build_id);

		is_found = fetched != NULL && try_debug(&s, fetched);
		free(fetched);
	}
	return is_found;
}

/* The search for a path alone. */
struct path_search {
	const struct search *search;
	const char *folder;	  /* of the file with the link */
	struct build_id build_id; /* the file must have it, if it is known */
	char *path;
};

static bool is_below(const char *path, const char *folder)
{
	char *plain = folder == NULL ? NULL : path_plain(folder);
	bool is_it = plain != NULL && path_is_below(path, plain);

	free(plain);
	return is_it;
}

/*
 * The link may be a path, and is a stranger's: it may lead to the folders of debug files, or to the file's own. To be
 * freed; NULL: it leads elsewhere.
 */
static char *alt_path(const struct path_search *s, const char *path)
{
	const struct symbols_options *options = s->search->options;
	const char *const *dirs = options->debug_dirs;
	char *plain = path_plain(path);
	bool is_there = is_below(plain, "/usr/lib/debug") || is_below(plain, options->symfs) ||
			is_below(plain, s->search->cache) || is_below(plain, s->folder);

	for (; dirs != NULL && *dirs != NULL; dirs++)
		is_there |= is_below(plain, *dirs);
	if (is_there)
		return plain;
	free(plain);
	return NULL;
}

static bool try_alt(void *context, const char *path)
{
	struct path_search *s = context;
	char *plain = alt_path(s, path);
	struct elf_file file = { 0 };
	struct err err;
	bool is_it = false;

	if (plain != NULL && elf_file_open(&file, plain, &err) == 0) {
		is_it = build_id_matches(&s->build_id, &file.build_id);
		elf_file_release(&file);
	}
	if (is_it)
		s->path = mem_strndup(plain, strlen(plain));
	free(plain);
	return is_it;
}

char *locate_alt(const struct search *search, const struct elf_file *debug)
{
	struct cursor link = elf_file_bytes(debug, ".gnu_debugaltlink");
	const char *name = cur_string(&link);
	char *folder = folder_of(debug->path);
	struct path_search s = { .search = search, .folder = folder };
	struct candidates c;

	if (name == NULL || cur_left(&link) > BUILD_ID_MAX) {
		free(folder);
		return NULL;
	}
	s.build_id.size = (uint8_t)cur_left(&link);
	memcpy(s.build_id.bytes, link.pos, s.build_id.size);
	candidates_init(&c, search->options, search->cache);
	candidates_set_id(&c, &s.build_id);
	c.parts[PART_LINK] = name;
	c.parts[PART_FOLDER] = folder;
	candidates_try(&c, name[0] == '/' ? absolute_alt_patterns : alt_patterns, try_alt, &s);
	free(folder);
	return s.path;
}

static bool try_readable(void *context, const char *path)
{
	struct path_search *s = context;

	if (access(path, R_OK) != 0)
		return false;
	s->path = mem_strndup(path, strlen(path));
	return true;
}

char *locate_cached(const struct search *search, const struct build_id *id, const char *name)
{
	struct path_search s = { 0 };
	struct candidates c;

	candidates_init(&c, search->options, search->cache);
	candidates_set_id(&c, id);
	c.parts[PART_LINK] = name;
	candidates_try(&c, cached_patterns, try_readable, &s);
	return s.path;
}
