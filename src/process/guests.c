/* SPDX-License-Identifier: Apache-2.0 */
#include "process/guests.h"

#include <stdio.h>
#include <string.h>

void guests_release(struct guests *g)
{
	vec_release(&g->maps);
}

/* The first of a guest is its kernel's image. */
static const struct guest_map *guest_image(const struct guests *g, uint32_t pid)
{
	for (size_t i = 0; i < g->maps.n; i++)
		if (g->maps.items[i].pid == pid)
			return &g->maps.items[i];
	return NULL;
}

/* The reference symbol of a kernel's image, "_text" of "[guest.kernel.kallsyms]_text"; NULL: it is something else. */
static const char *image_symbol(const char *path)
{
	static const char begin[] = "[guest.kernel";
	const char *end = strchr(path, ']');

	return strncmp(path, begin, strlen(begin)) == 0 && end != NULL ? end + 1 : NULL;
}

/* All that is not known to be something else is taken to be the kernel's image, as nothing tells where that ends. */
static struct module_id add_image(struct guests *g, const struct module *kernel,
				  struct module_table *modules)
{
	struct module image = *kernel;
	char name[sizeof("[guest.kernel.kallsyms.4294967295]")] = "[guest.kernel.kallsyms]";

	const struct guest_map *known = guest_image(g, kernel->pid);
	struct guest_map *map;

	if (known != NULL)
		return known->module;
	if (kernel->pid != 0)
		snprintf(name, sizeof(name), "[guest.kernel.kallsyms.%u]", (unsigned)kernel->pid);
	image.kind = MODULE_GUEST_KERNEL;
	image.path = strings_addz(modules->strings, name);
	map = vec_add(&g->maps);
	*map = (struct guest_map){
		.pid = kernel->pid,
		.range = { 0, UINT64_MAX },
		.module = module_table_add_guest(modules, &image),
	};
	return map->module;
}

static void add_module(struct guests *g, const struct guest_note *note,
		       struct module_table *modules)
{
	struct module_id image = add_image(g, &(struct module){ .pid = note->pid }, modules);
	struct module module = *modules_get(&modules->modules, image);

	module.kind = MODULE_GUEST_MODULE;
	module.path = note->path;
	*vec_add(&g->maps) = (struct guest_map){
		.pid = note->pid,
		.range = note->range,
		.module = module_table_add_guest(modules, &module),
	};
}

void guests_freeze(struct guests *g, const struct notes *notes, struct module_table *modules)
{
	struct strings *strings = modules->strings;

	if (!g->are_there)
		return;
	g->user = module_table_add_guest(
		modules, &(struct module){ .kind = MODULE_OTHER,
					   .path = strings_addz(strings, "[guest.user]") });
	for (size_t i = 0; i < notes->guests.n; i++) {
		const struct guest_note *n = &notes->guests.items[i];
		const char *symbol = image_symbol(strings_get(strings, n->path));

		if (symbol != NULL)
			add_image(g,
				  &(struct module){ .pid = n->pid,
						    .load_address = n->page_offset,
						    .ref_symbol = strings_addz(strings, symbol) },
				  modules);
	}
	add_image(g, &(struct module){ 0 }, modules);
	for (size_t i = 0; i < notes->guests.n; i++)
		if (image_symbol(strings_get(strings, notes->guests.items[i].path)) == NULL)
			add_module(g, &notes->guests.items[i], modules);
}

struct placed guests_place(const struct guests *g, uint32_t pid, bool is_user, uint64_t address)
{
	struct placed placed = {
		.place = { is_user ? g->user : (struct module_id){ 0 }, address },
		.to_ns = UINT64_MAX,
		.last = UINT64_MAX,
	};
	uint32_t whose = guest_image(g, pid) != NULL ? pid : 0;

	for (size_t i = is_user ? 0 : g->maps.n; i-- > 0;) {
		const struct guest_map *m = &g->maps.items[i];

		if (m->pid != whose)
			continue;
		if (address < m->range.start) {
			if (m->range.start <= placed.last)
				placed.last = m->range.start - 1;
		} else if (address > m->range.last) {
			if (m->range.last >= placed.first)
				placed.first = m->range.last + 1;
		} else {
			if (m->range.start > placed.first)
				placed.first = m->range.start;
			if (m->range.last < placed.last)
				placed.last = m->range.last;
			placed.place.module = m->module;
			break;
		}
	}
	return placed;
}
