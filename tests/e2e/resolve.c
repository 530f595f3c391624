/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names file offsets of one ELF file, for tests and for timing: reads offsets in hexadecimal
 * from standard input, and prints for each, separated by tabs: "place", offset, address,
 * function, offset in the function; then lines of "frame", function, file, line, column,
 * inlined or not.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "symbol/symbols.h"

struct settings {
	struct symbols_options options;
	const char *debug_dirs[2];
	const char *build_id;
	unsigned n_workers;
	bool functions_only, is_quiet;
	const char *path;
};

/* clang-format off */
static const struct option long_options[] = {
	{ "symfs", required_argument, NULL, 's' },
	{ "debug-dir", required_argument, NULL, 'd' },
	{ "debuginfod", no_argument, NULL, 'u' },
	{ "arch", required_argument, NULL, 'a' },
	{ "build-id", required_argument, NULL, 'b' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "parameters", no_argument, NULL, 'p' },
	{ "functions", no_argument, NULL, 'f' },
	{ "distrust", no_argument, NULL, 'D' },
	{ "quiet", no_argument, NULL, 'q' },
	{ NULL, 0, NULL, 0 },
};
/* clang-format on */

static bool parse(struct settings *s, int argc, char **argv)
{
	int option;

	*s = (struct settings){ .n_workers = 1, .options.use_this_machine = true };
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 's':
			s->options.symfs = optarg;
			break;
		case 'd':
			s->debug_dirs[0] = optarg;
			s->options.debug_dirs = s->debug_dirs;
			break;
		case 'a':
			s->options.arch = optarg;
			break;
		case 'b':
			s->build_id = optarg;
			break;
		case 'j':
			s->n_workers = (unsigned)atoi(optarg);
			break;
		case 'p':
			s->options.with_parameters = true;
			break;
		case 'f':
			s->functions_only = true;
			break;
		case 'D':
			s->options.use_this_machine = false;
			break;
		case 'u':
			s->options.use_debuginfod = true;
			break;
		case 'q':
			s->is_quiet = true;
			break;
		default:
			return false;
		}
	}
	s->path = argv[optind];
	return s->path != NULL;
}

static void set_build_id(struct build_id *id, const char *digits)
{
	unsigned byte;

	while (id->size < BUILD_ID_MAX && sscanf(digits + 2 * (size_t)id->size, "%2x", &byte) == 1)
		id->bytes[id->size++] = (uint8_t)byte;
}

static void print(const struct symbols *s, const struct place *place, const struct symbol *symbol)
{
	const struct strings *strings = symbols_strings(s);

	printf("place\t%#jx\t%#jx\t%s\t%#jx\n", (uintmax_t)place->offset,
	       (uintmax_t)symbol->address, strings_get(strings, symbol->function),
	       (uintmax_t)symbol->function_offset);
	for (uint32_t i = 0; i < symbol->n_frames; i++) {
		const struct symbol_frame *f = &symbols_frames(s)[symbol->first_frame + i];

		printf("frame\t%s\t%s\t%u\t%u\t%s\n", strings_get(strings, f->function),
		       strings_get(strings, f->file), f->line, f->column,
		       f->is_inlined ? "inlined" : "");
	}
}

static void print_missing(const struct symbols *s)
{
	for (size_t i = 0; i < symbols_n_missing(s); i++) {
		const struct symbols_missing *m = symbols_missing_at(s, i);

		fprintf(stderr, "missing\t%ju\t%ju\t%s\t%s\n", (uintmax_t)m->n_places,
			(uintmax_t)m->n_without_line, m->reason, m->remedy);
	}
	for (size_t i = 0; i < symbols_diags(s)->list.n; i++)
		fprintf(stderr, "diag\t%s\n", symbols_diags(s)->list.items[i].text);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct strings strings;
	struct modules modules = { .strings = &strings };
	VEC_OF(struct place) places = { 0 };
	VEC_OF(struct symbol) found = { 0 };
	struct module *module;
	struct symbols *symbols;
	struct pool *pool;
	uintmax_t offset;
	double start;

	if (!parse(&settings, argc, argv))
		return 2;
	strings_init(&strings);
	vec_add(&modules.list);
	module = vec_add(&modules.list);
	module->kind = MODULE_FILE;
	module->path = strings_addz(&strings, settings.path);
	module->name = module->path;
	if (settings.build_id != NULL)
		set_build_id(&module->build_id, settings.build_id);
	while (scanf("%jx", &offset) == 1)
		*vec_add(&places) = (struct place){ .module = { 1 }, .offset = offset };
	vec_reserve(&found, places.n);

	pool = pool_new(settings.n_workers);
	start = seconds();
	symbols = symbols_new(&modules, &settings.options);
	symbols_resolve(symbols, pool, places.items, places.n,
			settings.functions_only ? SYMBOLS_FUNCTIONS : SYMBOLS_LINES, found.items);
	fprintf(stderr, "time\t%.3f s for %zu places\n", seconds() - start, places.n);
	for (size_t i = 0; i < places.n && !settings.is_quiet; i++)
		print(symbols, &places.items[i], &found.items[i]);
	print_missing(symbols);

	symbols_free(symbols);
	pool_free(pool);
	vec_release(&places);
	vec_release(&found);
	vec_release(&modules.list);
	strings_release(&strings);
	return 0;
}
