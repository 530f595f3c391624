/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synthesize/synthesize.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/alloc.h"
#include "system/system.h"
#include "record/synthesize/build_ids.h"

void synthesis_release(struct synthesis *s)
{
	build_id_cache_free(s->build_ids);
	s->build_ids = NULL;
	vec_release(&s->pids);
}

static bool take_hex(char **at, char end, uint64_t *out)
{
	char *stop;

	if (!isxdigit((unsigned char)**at))
		return false;
	*out = strtoull(*at, &stop, 16);
	if (*stop != end)
		return false;
	*at = stop + 1;
	return true;
}

/* Reads the permissions, such as "r-xp". */
static bool take_rights(char **at, struct record_mmap *map)
{
	const char *rights = *at;

	if (strnlen(rights, 5) < 5 || rights[4] != ' ')
		return false;
	map->protection = (rights[0] == 'r' ? PROT_READ : 0u) |
			  (rights[1] == 'w' ? PROT_WRITE : 0u) |
			  (rights[2] == 'x' ? PROT_EXEC : 0u);
	map->flags = rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	map->is_data = rights[2] != 'x';
	*at += 5;
	return true;
}

/* The kernel escapes newlines in names as "\012", and nothing else. */
static void unescape_path(char *path)
{
	char *to = path;

	for (const char *from = path; *from != '\0'; from++) {
		bool is_newline = strncmp(from, "\\012", 4) == 0;

		*to++ = is_newline ? '\n' : *from;
		from += is_newline ? 3 : 0;
	}
	*to = '\0';
}

/* start-end permissions offset major:minor inode     path */
bool synthesize_read_map(char *line, struct record_mmap *out)
{
	struct record_mmap map = { 0 };
	uint64_t end, major, minor;
	char *path;

	if (!take_hex(&line, '-', &map.start) || !take_hex(&line, ' ', &end) || end < map.start ||
	    !take_rights(&line, &map) || !take_hex(&line, ' ', &map.page_offset) ||
	    !take_hex(&line, ':', &major) || !take_hex(&line, ' ', &minor) ||
	    !isdigit((unsigned char)*line))
		return false;
	map.length = end - map.start;
	map.major = (uint32_t)major;
	map.minor = (uint32_t)minor;
	map.inode = strtoull(line, &path, 10);
	path += strspn(path, " ");
	unescape_path(path);
	map.path = *path != '\0' ? path : "//anon";
	*out = map;
	return true;
}

/* Reads the file through /proc/PID/root, as the process may be in a container. */
static void write_map(struct synthesis *s, struct record_mmap *map)
{
	char path[PATH_MAX];
	uint16_t misc = CPUMODE_USER;

	if (s->with_build_ids && map->path[0] == '/' && map->inode != 0 && !map->is_data &&
	    snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/root%s", s->root, map->pid,
		     map->path) < (int)sizeof(path)) {
		map->build_id = build_id_cache_get(s->build_ids, path,
						   makedev(map->major, map->minor), map->inode);
		if (map->build_id.size > 0)
			misc |= MISC_MMAP_BUILD_ID;
	}
	writer_mmap2(s->writer, map, misc, NULL);
}

static void write_maps(struct synthesis *s, uint32_t pid)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/maps", s->root, pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	while ((n = getline(&line, &room, file)) > 0) {
		struct record_mmap map;

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (!synthesize_read_map(line, &map) || (map.is_data && !s->with_data))
			continue;
		map.pid = map.tid = pid;
		write_map(s, &map);
	}
	free(line);
	fclose(file);
}

static void write_namespaces(const struct synthesis *s, uint32_t pid, uint32_t tid)
{
	static const char *const names[N_NAMESPACES] = { "net",	 "uts", "ipc",	 "pid",
							 "user", "mnt", "cgroup" };
	struct record_namespaces spaces = { .pid = pid, .tid = tid };
	char path[PATH_MAX];

	for (size_t i = 0; i < N_NAMESPACES; i++) {
		struct stat st;

		snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/task/%" PRIu32 "/ns/%s", s->root,
			 pid, tid, names[i]);
		if (stat(path, &st) < 0)
			continue;
		spaces.links[i].device = st.st_dev;
		spaces.links[i].inode = st.st_ino;
	}
	writer_namespaces(s->writer, &spaces, NULL);
}

/* The parent of the first thread is the parent process; that of others is the first thread. */
static void write_thread(const struct synthesis *s, uint32_t pid, uint32_t ppid, uint32_t tid)
{
	struct record_task fork = {
		.pid = pid,
		.tid = tid,
		.ppid = tid == pid ? ppid : pid,
		.ptid = tid == pid ? ppid : pid,
		.lists_maps = true,
	};
	char comm[64];

	if (!system_line(s->root, comm, sizeof(comm), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm",
			 pid, tid))
		return;
	writer_task(s->writer, RECORD_FORK, &fork, NULL);
	if (s->with_namespaces)
		write_namespaces(s, pid, tid);
	writer_comm(s->writer, &(struct record_comm){ .pid = pid, .tid = tid, .comm = comm }, NULL);
}

/* The number of a line "Name: NUMBER" in a status file. */
static bool status_number(const char *status, const char *name, uint32_t *out)
{
	const char *at = strstr(status, name);

	if (at == NULL)
		return false;
	*out = (uint32_t)strtoul(at + strlen(name), NULL, 10);
	return true;
}

/* The process of a thread, and its parent process. */
static bool read_status(const struct synthesis *s, uint32_t tid, uint32_t *out_pid,
			uint32_t *out_ppid)
{
	struct text status = { 0 };
	bool is_read = system_text(s->root, &status, "/proc/%" PRIu32 "/status", tid);

	if (is_read) {
		text_char(&status, '\0');
		is_read = status_number(status.bytes, "\nTgid:", out_pid) &&
			  status_number(status.bytes, "\nPPid:", out_ppid);
	}
	text_release(&status);
	return is_read;
}

/* Is the name of an entry of /proc a pid or tid? */
static bool synthesize_is_number(const char *name, uint32_t *out)
{
	char *end;

	*out = (uint32_t)strtoul(name, &end, 10);
	return end != name && *end == '\0';
}

static bool is_process_written(const struct synthesis *s, uint32_t pid)
{
	for (size_t i = 0; i < s->pids.n; i++)
		if (s->pids.items[i] == pid)
			return true;
	return false;
}

void synthesize_process(struct synthesis *s, uint32_t tid)
{
	struct arena memory = { 0 };
	struct system_names names;
	uint32_t pid, ppid, thread;

	if (s->build_ids == NULL)
		s->build_ids = build_id_cache_new();
	if (!read_status(s, tid, &pid, &ppid) || is_process_written(s, pid))
		return;
	*vec_add(&s->pids) = pid;
	write_thread(s, pid, ppid, pid);
	write_maps(s, pid);
	names = system_list(s->root, &memory, "/proc/%" PRIu32 "/task", pid);
	for (size_t i = 0; i < names.n; i++)
		if (synthesize_is_number(names.items[i], &thread) && thread != pid)
			write_thread(s, pid, ppid, thread);
	arena_release(&memory);
}

void synthesize_all(struct synthesis *s)
{
	struct arena memory = { 0 };
	struct system_names names = system_list(s->root, &memory, "/proc");
	uint32_t pid;

	for (size_t i = 0; i < names.n; i++)
		if (synthesize_is_number(names.items[i], &pid))
			synthesize_process(s, pid);
	arena_release(&memory);
}
