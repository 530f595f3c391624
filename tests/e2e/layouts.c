/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the bytes of variables of one ELF file, for tests: reads names of variables from
 * standard input, and prints for each a line "variable", name, size, type, then for each byte
 * up to a limit: offset, path; separated by tabs. A variable that is not found has no size.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "variables/data.h"

enum { MAX_BYTES = 256 };

struct world {
	struct strings strings;
	struct modules modules;
	struct symbols_options options;
	struct symbols *symbols;
	struct pool *pool;
};

static void world_init(struct world *w, const char *path)
{
	*w = (struct world){ .options.use_this_machine = true };
	strings_init(&w->strings);
	w->modules.strings = &w->strings;
	vec_add(&w->modules.list);
	*vec_add(&w->modules.list) = (struct module){
		.kind = MODULE_FILE,
		.path = strings_addz(&w->strings, path),
	};
	w->symbols = symbols_new(&w->modules, &w->options);
	w->pool = pool_new(2);
}

static void world_release(struct world *w)
{
	pool_free(w->pool);
	symbols_free(w->symbols);
	vec_release(&w->modules.list);
	strings_release(&w->strings);
}

static void print_bytes(const struct types *types, const struct data_object *object)
{
	struct text path = { 0 };

	for (uint64_t i = 0; i < object->size && i < MAX_BYTES; i++) {
		text_reset(&path);
		types_path(types, object->type, i, 1, &path, NULL);
		printf("%" PRIu64 "\t%.*s\n", i, (int)path.n, path.n > 0 ? path.bytes : "");
	}
	text_release(&path);
}

/* All variables are asked for at once, as programs with much debug information need it. */
static void print_all(struct world *w, char *const *names, const struct data_place *places,
		      size_t n)
{
	struct data_object *objects = mem_zalloc(n + 1, sizeof(*objects));
	const struct types *types = symbols_types(w->symbols);
	struct text type = { 0 };

	symbols_data(w->symbols, w->pool, places, n, objects);
	for (size_t i = 0; i < n; i++) {
		text_reset(&type);
		types_name(types, objects[i].type, &type);
		printf("variable\t%s\t%" PRIu64 "\t%.*s\t%s\n", names[i], objects[i].size,
		       (int)type.n, type.bytes,
		       strings_get(symbols_strings(w->symbols), objects[i].name));
		print_bytes(types, &objects[i]);
	}
	text_release(&type);
	free(objects);
}

/* Lines are "NAME ADDRESS", the address in hexadecimal. */
int main(int argc, char **argv)
{
	VEC_OF(char *) names = { 0 };
	VEC_OF(struct data_place) places = { 0 };
	struct world w;
	char name[500];
	uint64_t address;

	if (argc != 2)
		return 2;
	world_init(&w, argv[1]);
	while (scanf("%499s %" SCNx64, name, &address) == 2) {
		*vec_add(&names) = mem_strndup(name, strlen(name));
		*vec_add(&places) = (struct data_place){ .module = { 1 }, .address = address };
	}
	print_all(&w, names.items, places.items, places.n);
	for (size_t i = 0; i < names.n; i++)
		free(names.items[i]);
	vec_release(&names);
	vec_release(&places);
	world_release(&w);
	return 0;
}
