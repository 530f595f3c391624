/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the recorder looked up and stored in the capture: simpleperf does. */
#include <string.h>

#include "symbol/binary_load.h"

static const struct stored_file *find_stored(const struct loading *l)
{
	const struct info *info = l->sources->info;
	const char *path = strings_get(l->sources->strings, l->module->path);

	for (size_t i = 0; info != NULL && i < info->stored_files.n; i++) {
		const struct stored_file *file = &info->stored_files.items[i];

		if (file->n > 0 &&
		    strcmp(strings_get(l->sources->info_strings, file->path), path) == 0)
			return file;
	}
	return NULL;
}

/*
 * What to add to an offset of the module to get the address of a stored function. Without the offset of
 * its code, the file is taken to be mapped from its first byte on, as simpleperf does.
 */
static uint64_t to_stored(const struct stored_file *file)
{
	if (file->kind != STORED_ELF && file->kind != STORED_KERNEL_MODULE)
		return 0;
	return file->min_offset == OFFSET_UNKNOWN ? file->min_address
						  : file->min_address - file->min_offset;
}

bool load_stored(struct loading *l)
{
	const struct stored_file *file = find_stored(l);
	struct binary *b = l->binary;

	if (file == NULL)
		return false;
	for (size_t i = 0; i < file->n; i++) {
		const struct stored_function *stored =
			&l->sources->info->stored_functions.items[file->first + i];

		if (stored->size > UINT64_MAX - stored->address)
			continue;
		functions_add(&b->own,
			      &(struct function){
				      .start = stored->address,
				      .size = stored->size,
				      .limit = stored->size > 0 ? stored->address + stored->size
								: UINT64_MAX,
				      .name = strings_get(l->sources->info_strings, stored->name),
				      .binding = FUNCTION_GLOBAL,
			      });
	}
	functions_build(&b->own);
	b->functions = &b->own;
	b->to_file = to_stored(file);
	b->to_function = 0;
	shortage_release(&b->names);
	return true;
}
