/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	{"schema": 1, "machines": {KEY: {"STALL_FRONTEND": {"verdict": "reads 0"},
 *					 "CPU_CYCLES": {"verdict": "off", "factor": 64}}}}
 */
#include "counting/event_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"

enum { SCHEMA = 1, PATH_SIZE = 4096, FILE_MAX = 1 << 20 };

static const char *const verdict_names[N_EVENT_VERDICTS] = {
	[EVENT_OK] = "ok",
	[EVENT_READS_0] = "reads 0",
	[EVENT_IS_OFF] = "off",
	[EVENT_FIRES_ELSEWHERE] = "fires elsewhere",
};

void event_checks_release(struct event_checks *c)
{
	vec_release(&c->list);
	arena_release(&c->memory);
	*c = (struct event_checks){ 0 };
}

void event_checks_add(struct event_checks *c, const char *event, enum event_verdict verdict,
		      double factor)
{
	*vec_add(&c->list) = (struct event_check){
		.event = arena_strndup(&c->memory, event, strlen(event)),
		.verdict = verdict,
		.factor = factor,
	};
}

const struct event_check *event_checks_find(const struct event_checks *c, const char *event)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (strcasecmp(c->list.items[i].event, event) == 0)
			return &c->list.items[i];
	return NULL;
}

const char *event_verdict_name(enum event_verdict verdict)
{
	return verdict_names[verdict];
}

const char *event_checks_key_of(struct arena *memory, uint64_t midr, const char *cpu_name,
				const char *kernel_release)
{
	struct text text = { 0 };
	const char *key;

	if (midr != 0)
		text_format(&text, "0x%llx", (unsigned long long)midr);
	else
		text_str(&text, cpu_name != NULL ? cpu_name : "unknown CPU");
	text_format(&text, " %s", kernel_release);
	key = arena_strndup(memory, text.bytes, text.n);
	text_release(&text);
	return key;
}

const char *event_checks_key(struct arena *memory, uint64_t midr, const char *cpu_name)
{
	struct utsname kernel = { 0 };

	uname(&kernel);
	return event_checks_key_of(memory, midr, cpu_name, kernel.release);
}

/* The folder of the file. False if neither XDG_STATE_HOME nor HOME is set. */
static bool state_folder(char out[PATH_SIZE])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (state != NULL && state[0] == '/')
		n = snprintf(out, PATH_SIZE, "%s/cyclops", state);
	else if (home != NULL && home[0] == '/')
		n = snprintf(out, PATH_SIZE, "%s/.local/state/cyclops", home);
	return n > 0 && n < PATH_SIZE - 64;
}

/* The parsed file; an empty object if it cannot be read or has another schema. */
static json_t *read_file(const char *folder)
{
	char path[PATH_SIZE];
	json_t *root = NULL;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/events.json", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX)
		root = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	if (fd >= 0)
		close(fd);
	if (json_integer_value(json_object_get(root, "schema")) != SCHEMA) {
		json_decref(root);
		root = json_object();
	}
	return root;
}

static int verdict_of(const json_t *object)
{
	const char *word = json_string_value(json_object_get(object, "verdict"));

	for (int i = 0; word != NULL && i < N_EVENT_VERDICTS; i++)
		if (strcmp(word, verdict_names[i]) == 0)
			return i;
	return -1;
}

void event_checks_load(const char *key, struct event_checks *out)
{
	char folder[PATH_SIZE];
	json_t *root, *events, *check;
	const char *event;

	if (!state_folder(folder))
		return;
	root = read_file(folder);
	events = json_object_get(json_object_get(root, "machines"), key);
	json_object_foreach(events, event, check)
	{
		double factor = json_number_value(json_object_get(check, "factor"));

		if (verdict_of(check) >= 0)
			event_checks_add(out, event, (enum event_verdict)verdict_of(check),
					 factor > 0 ? factor : 1);
	}
	json_decref(root);
}

/* Writes a temporary file and renames it, so that no reader sees a part of the file. */
static int write_file(char *folder, const json_t *root, struct err *err)
{
	char path[PATH_SIZE], temporary[PATH_SIZE];
	int fd = -1, rc = -1;

	snprintf(path, sizeof(path), "%.4000s/events.json", folder);
	snprintf(temporary, sizeof(temporary), "%.4000s/.events-XXXXXX", folder);
	if (path_make_folders(folder, 0700, err) == 0)
		fd = mkostemp(temporary, O_CLOEXEC);
	if (fd >= 0) {
		rc = json_dumpfd(root, fd, JSON_INDENT(1) | JSON_SORT_KEYS);
		rc = fchmod(fd, 0600) < 0 ? -1 : rc;
		rc = close(fd) < 0 ? -1 : rc;
		if (rc == 0)
			rc = rename(temporary, path);
		if (rc < 0)
			unlink(temporary);
	}
	return rc == 0 ? 0
		       : err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write: %s", path,
				 strerror(errno));
}

static json_t *member_object(json_t *object, const char *name)
{
	json_t *found = json_object_get(object, name);

	if (!json_is_object(found)) {
		json_object_set_new(object, name, json_object());
		found = json_object_get(object, name);
	}
	return found;
}

int event_checks_save(const char *key, const struct event_checks *c, struct err *err)
{
	char folder[PATH_SIZE];
	json_t *root, *events;
	int rc;

	if (!state_folder(folder))
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "no folder for it: neither XDG_STATE_HOME nor HOME is set");
	root = read_file(folder);
	json_object_set_new(root, "schema", json_integer(SCHEMA));
	events = member_object(member_object(root, "machines"), key);
	for (size_t i = 0; i < c->list.n; i++) {
		const struct event_check *check = &c->list.items[i];
		json_t *object = json_object();

		json_object_set_new(object, "verdict", json_string(verdict_names[check->verdict]));
		if (check->verdict == EVENT_IS_OFF && isfinite(check->factor))
			json_object_set_new(object, "factor", json_real(check->factor));
		json_object_set_new(events, check->event, object);
	}
	rc = write_file(folder, root, err);
	json_decref(root);
	return rc;
}

void event_checks_apply(const struct event_checks *c, struct counts *counts)
{
	for (size_t i = 0; c->list.n > 0 && i < counts->items.n; i++) {
		struct count *count = &counts->items.items[i];
		const struct event_check *check = event_checks_find(c, count->event);

		if (check != NULL && check->verdict == EVENT_READS_0 && count->value == 0 &&
		    count->state == COUNT_COUNTED)
			count->state = COUNT_NOT_SUPPORTED;
	}
}
