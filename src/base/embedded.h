/* SPDX-License-Identifier: Apache-2.0 */
/* Files embedded in the program by the build (scripts/embed.py). */
#ifndef CYCLOPS_BASE_EMBEDDED_H
#define CYCLOPS_BASE_EMBEDDED_H

#include <stddef.h>
#include <string.h>

struct embedded_file {
	const char *name;  /* without its directory; NULL ends a list of files */
	const char *bytes; /* NUL-terminated */
	size_t size;
};

/* The file of that name in a list, or NULL. */
static inline const struct embedded_file *embedded_find(const struct embedded_file *files,
							const char *name)
{
	for (const struct embedded_file *f = files; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

#endif
