/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"

static const char *const part_names[N_PARTS] = {
	[PART_SYMFS] = "{symfs}",
	[PART_PATH] = "{path}",
	[PART_CACHE] = "{cache}",
	[PART_ID] = "{id}",
	[PART_DEBUG] = "{debug}",
	[PART_FOLDER] = "{folder}",
	[PART_RECORDED_FOLDER] = "{recorded-folder}",
	[PART_LINK] = "{link}",
};

void candidates_init(struct candidates *c, const struct symbols_options *options, const char *cache)
{
	*c = (struct candidates){ .options = options };
	c->parts[PART_SYMFS] = options->symfs == NULL ? "" : options->symfs;
	c->parts[PART_CACHE] = cache;
}

void candidates_set_id(struct candidates *c, const struct build_id *id)
{
	char text[BUILD_ID_TEXT];

	if (id->size < 2)
		return;
	build_id_text(id, text);
	memcpy(c->id, text, 2);
	c->id[2] = '/';
	memcpy(c->id + 3, text + 2, strlen(text + 2) + 1);
	c->parts[PART_ID] = c->id;
}

/* Appends the pattern with its parts filled in; false if a part is not known. */
static bool expand(const struct candidates *c, const char *pattern, struct text *out)
{
	while (*pattern != '\0') {
		size_t part = 0;

		if (*pattern != '{') {
			text_char(out, *pattern++);
			continue;
		}
		while (strncmp(pattern, part_names[part], strlen(part_names[part])) != 0)
			part++;
		if (c->parts[part] == NULL || (c->parts[part][0] == '\0' && part != PART_SYMFS))
			return false;
		text_str(out, c->parts[part]);
		pattern += strlen(part_names[part]);
	}
	text_char(out, '\0');
	return true;
}

/* What is found by way of --symfs stays in it, whatever links and names say. */
static bool try_path(const struct candidates *c, const char *path, candidate_test *test,
		     void *context)
{
	const char *symfs = c->options->symfs;
	size_t n = symfs != NULL ? strlen(symfs) : 0;
	char *inside;
	bool is_it;

	if (n == 0 || !path_is_below(path, symfs))
		return test(context, path);
	inside = path_in_root(symfs, path + n);
	is_it = inside != NULL && test(context, inside);
	free(inside);
	return is_it;
}

static bool try_pattern(const struct candidates *c, const char *pattern, candidate_test *test,
			void *context)
{
	struct text path = { 0 };
	bool is_it = expand(c, pattern, &path) && try_path(c, path.bytes, test, context);

	text_release(&path);
	return is_it;
}

/* Tries a pattern with one directory of debug files, in the file tree of symfs or our own. */
static bool try_debug_dir(struct candidates *c, const char *symfs, const char *dir,
			  const char *pattern, candidate_test *test, void *context)
{
	struct text path = { 0 };
	bool is_it;

	text_format(&path, "%s%s", symfs, dir);
	text_char(&path, '\0');
	c->parts[PART_DEBUG] = path.bytes;
	is_it = try_pattern(c, pattern, test, context);
	c->parts[PART_DEBUG] = NULL;
	text_release(&path);
	return is_it;
}

static bool try_debug_dirs(struct candidates *c, const char *pattern, candidate_test *test,
			   void *context)
{
	const struct symbols_options *options = c->options;
	const char *const *dirs = options->debug_dirs;

	for (; dirs != NULL && *dirs != NULL; dirs++) {
		if (try_debug_dir(c, "", *dirs, pattern, test, context))
			return true;
	}
	if (options->symfs != NULL &&
	    try_debug_dir(c, options->symfs, "/usr/lib/debug", pattern, test, context))
		return true;
	return try_debug_dir(c, "", "/usr/lib/debug", pattern, test, context);
}

bool candidates_try(struct candidates *c, const char *const *patterns, candidate_test *test,
		    void *context)
{
	for (; *patterns != NULL; patterns++) {
		bool has_dirs = strstr(*patterns, part_names[PART_DEBUG]) != NULL;

		if (has_dirs ? try_debug_dirs(c, *patterns, test, context)
			     : try_pattern(c, *patterns, test, context))
			return true;
	}
	return false;
}
