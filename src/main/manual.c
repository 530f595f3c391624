/* SPDX-License-Identifier: Apache-2.0 */
#include "main/manual.h"

#include <stddef.h>
#include <stdio.h>

#include "base/embedded.h"

/* Made from docs/man by the build: "cyclops.txt", "cyclops-hot.txt" … */
extern const struct embedded_file manual_files[];

const char *manual_page(const char *command)
{
	const struct embedded_file *file;
	char name[64];
	int len;

	if (command == NULL || command[0] == '\0')
		len = snprintf(name, sizeof(name), "cyclops.txt");
	else
		len = snprintf(name, sizeof(name), "cyclops-%s.txt", command);
	if (len < 0 || (size_t)len >= sizeof(name))
		return NULL;
	file = embedded_find(manual_files, name);
	return file == NULL ? NULL : file->bytes;
}
