/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/nearest.h"
#include "base/text.h"

enum { LEAST_WIDTH = 40, MOST_WIDTH = 10000, SHOWN = 60 };

enum config_kind { KIND_TEXT, KIND_WORD, KIND_WIDTH };

static const struct config_rule {
	const char *name;
	enum config_kind kind;
	const char *wanted;   /* in words */
	const char *words[4]; /* KIND_WORD: any of them */
} rules[N_CONFIG_KEYS] = {
	[CONFIG_SYMFS] = { "symfs", KIND_TEXT, "a folder" },
	[CONFIG_DEBUGINFOD] = { "debuginfod", KIND_WORD, "yes or no", { "yes", "no" } },
	[CONFIG_CPU] = { "cpu", KIND_TEXT, "the name of a CPU" },
	[CONFIG_WIDTH] = { "width", KIND_WIDTH, "a number of columns from 40 to 10000" },
	[CONFIG_PAGER] = { "pager", KIND_TEXT, "a command" },
	[CONFIG_COLOR] = { "color",
			   KIND_WORD,
			   "auto, always or never",
			   { "auto", "always", "never" } },
};

/* A part of a line, without blanks around it. */
struct part {
	const char *text;
	size_t n;
};

/* Where the reader is, for errors. */
struct place {
	const char *path;
	unsigned line;
	struct err *err;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct part trimmed(const char *text, size_t n)
{
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	while (n > 0 && is_blank(*text)) {
		text++;
		n--;
	}
	return (struct part){ text, n };
}

static int shown(struct part p)
{
	return (int)(p.n < SHOWN ? p.n : SHOWN);
}

const char *user_config_key_name(enum config_key key)
{
	return rules[key].name;
}

static const char *key_at(const void *context, size_t i)
{
	(void)context;
	return i < N_CONFIG_KEYS ? rules[i].name : NULL;
}

static int unknown_key(const struct place *place, const char *key)
{
	const char *nearest = nearest_word(key, key_at, NULL);
	char names[128];

	return err_set(place->err, ERR_USAGE, ERR_NOWHERE,
		       "%s:%u: there is no key '%.*s'; there are %s%s%s%s", place->path,
		       place->line, SHOWN, key, list_words(key_at, NULL, names, sizeof(names)),
		       nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
		       nearest != NULL ? "?" : "");
}

static bool is_width(const char *value)
{
	size_t n = strspn(value, "0123456789");
	unsigned long width = n < 6 ? strtoul(value, NULL, 10) : 0;

	return n > 0 && value[n] == '\0' && width >= LEAST_WIDTH && width <= MOST_WIDTH;
}

static bool is_good(const struct config_rule *rule, const char *value)
{
	if (rule->kind == KIND_WIDTH)
		return is_width(value);
	if (rule->kind == KIND_TEXT)
		return value[0] != '\0';
	for (size_t i = 0; i < COUNT(rule->words) && rule->words[i] != NULL; i++)
		if (strcmp(rule->words[i], value) == 0)
			return true;
	return false;
}

static int set_key(const struct place *place, struct part key, struct part value,
		   struct user_config *config)
{
	const char *name = arena_strndup(&config->memory, key.text, key.n);
	const char *text = arena_strndup(&config->memory, value.text, value.n);
	int found = 0;

	while (found < N_CONFIG_KEYS && strcmp(rules[found].name, name) != 0)
		found++;
	if (found == N_CONFIG_KEYS)
		return unknown_key(place, name);
	if (config->values[found] != NULL)
		return err_set(place->err, ERR_USAGE, ERR_NOWHERE,
			       "%s:%u: %s is set a second time; it was '%.*s'", place->path,
			       place->line, name, SHOWN, config->values[found]);
	if (!is_good(&rules[found], text))
		return err_set(place->err, ERR_USAGE, ERR_NOWHERE,
			       "%s:%u: %s: found '%.*s', wanted %s", place->path, place->line, name,
			       SHOWN, text, rules[found].wanted);
	config->values[found] = text;
	return 0;
}

static int parse_line(const struct place *place, struct part line, struct user_config *config)
{
	const char *equals = memchr(line.text, '=', line.n);

	if (line.n == 0 || line.text[0] == '#')
		return 0;
	if (memchr(line.text, '\0', line.n) != NULL)
		return err_set(place->err, ERR_USAGE, ERR_NOWHERE,
			       "%s:%u: found a NUL byte, wanted text", place->path, place->line);
	if (equals == NULL || equals == line.text)
		return err_set(place->err, ERR_USAGE, ERR_NOWHERE,
			       "%s:%u: found '%.*s', wanted KEY = VALUE", place->path, place->line,
			       shown(line), line.text);
	return set_key(place, trimmed(line.text, (size_t)(equals - line.text)),
		       trimmed(equals + 1, line.n - (size_t)(equals - line.text) - 1), config);
}

int user_config_parse(const char *text, size_t size, const char *path, struct user_config *config,
		      struct err *err)
{
	struct place place = { .path = path, .line = 1, .err = err };

	for (size_t at = 0; at < size; place.line++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t n = end != NULL ? (size_t)(end - text) - at : size - at;

		if (parse_line(&place, trimmed(text + at, n), config) < 0)
			return -1;
		at += n + 1;
	}
	return 0;
}

/* Appends the path and a NUL. False: no folder for it is known. */
static bool put_path(struct text *out)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (folder != NULL && folder[0] == '/') /* others do not count, by the specification */
		text_str(out, folder);
	else if (home != NULL && home[0] == '/')
		text_format(out, "%s/.config", home);
	else
		return false;
	text_str(out, "/cyclops/config");
	text_char(out, '\0');
	return true;
}

int user_config_read(struct user_config *config, struct err *err)
{
	const char *columns = getenv("COLUMNS");
	struct mapped file = { 0 };
	struct text path = { 0 };
	int rc = 0;

	*config = (struct user_config){ 0 };
	if (put_path(&path) && access(path.bytes, F_OK) == 0) {
		rc = mapped_open(&file, path.bytes, err);
		if (rc == 0)
			rc = user_config_parse((const char *)file.bytes, file.size, path.bytes,
					       config, err);
		mapped_release(&file);
	}
	text_release(&path);
	if (columns != NULL && columns[0] != '\0')
		config->values[CONFIG_WIDTH] = NULL;
	return rc;
}

void user_config_release(struct user_config *config)
{
	arena_release(&config->memory);
	*config = (struct user_config){ 0 };
}
