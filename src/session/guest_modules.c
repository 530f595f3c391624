/* SPDX-License-Identifier: Apache-2.0 */
#include "session/guest_modules.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/kernel.h"

static void map_modules(struct timeline *t, uint32_t pid, const char *kallsyms)
{
	struct kernel_names names = { 0 };
	struct text name = { 0 };

	kernel_names_read_bases(&names, kallsyms);
	for (size_t i = 0; i < names.bases.n; i++) {
		const struct kernel_module_base *base = &names.bases.items[i];

		text_reset(&name);
		text_format(&name, "[%s]", base->name);
		text_char(&name, '\0');
		if (base->size > 0 && base->size <= UINT64_MAX - base->address)
			timeline_map_guest(t, pid, base->address, base->address + base->size - 1,
					   name.bytes);
	}
	text_release(&name);
	kernel_names_release(&names);
}

/* A folder without the list of modules still says that this process is a guest. */
static void map_folder(struct timeline *t, const char *mount, uint32_t pid)
{
	struct text path = { 0 };

	timeline_map_guest(t, pid, 0, UINT64_MAX, "[guest.kernel]");
	text_format(&path, "%s/%u/proc/kallsyms", mount, (unsigned)pid);
	text_char(&path, '\0');
	map_modules(t, pid, path.bytes);
	text_release(&path);
}

int guest_modules_add(struct timeline *t, const struct symbols_options *o, struct err *err)
{
	struct dirent **entries;
	int n;

	timeline_add_guests(t);
	if (o->guest_kallsyms != NULL)
		map_modules(t, 0, o->guest_kallsyms);
	if (o->guest_mount == NULL)
		return 0;
	n = scandir(o->guest_mount, &entries, NULL, alphasort);
	if (n < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "--guestmount: %s: %s", o->guest_mount,
			       strerror(errno));
	for (int i = 0; i < n; i++) {
		char *end;
		uint64_t pid = strtoull(entries[i]->d_name, &end, 10);

		if (*end == '\0' && pid > 0 && pid < UINT32_MAX)
			map_folder(t, o->guest_mount, (uint32_t)pid);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
