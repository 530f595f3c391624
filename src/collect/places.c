/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "collect/dataset.h"
#include "elf/elf_file.h"
#include "session/names.h"

enum symbols_column {
	SYMBOLS_COL_PLACE,
	SYMBOLS_COL_BUILD_ID,
	SYMBOLS_COL_MODULE,
	SYMBOLS_COL_PATH,
	SYMBOLS_COL_OFFSET,
	SYMBOLS_COL_FUNCTION,
	SYMBOLS_COL_INLINED,
	SYMBOLS_COL_FILE,
	SYMBOLS_COL_LINE,
	SYMBOLS_COL_CHAIN,
	SYMBOLS_N_COLS,
};

static const struct parquet_column columns[SYMBOLS_N_COLS] = {
	[SYMBOLS_COL_PLACE] = { .name = "place", .type = PARQUET_INT64 },
	[SYMBOLS_COL_BUILD_ID] = { .name = "build_id", .type = PARQUET_TEXT, .has_bloom = true },
	[SYMBOLS_COL_MODULE] = { .name = "module", .type = PARQUET_TEXT },
	[SYMBOLS_COL_PATH] = { .name = "path", .type = PARQUET_TEXT },
	[SYMBOLS_COL_OFFSET] = { .name = "module_offset", .type = PARQUET_INT64 },
	[SYMBOLS_COL_FUNCTION] = { .name = "function", .type = PARQUET_TEXT },
	[SYMBOLS_COL_INLINED] = { .name = "inlined", .type = PARQUET_TEXT },
	[SYMBOLS_COL_FILE] = { .name = "file", .type = PARQUET_TEXT },
	[SYMBOLS_COL_LINE] = { .name = "line", .type = PARQUET_INT64 },
	[SYMBOLS_COL_CHAIN] = { .name = "chain", .type = PARQUET_TEXT_LIST },
};

/* A constant of the keys. It is part of the format of datasets. */
static const uint64_t place_seed = 0x706c616365212121u;

void known_places_init(struct known_places *known)
{
	pthread_mutex_init(&known->mutex, NULL);
	tuples_init(&known->keys, 1);
}

void known_places_release(struct known_places *known)
{
	tuples_release(&known->keys);
	pthread_mutex_destroy(&known->mutex);
}

/* Where the same file is elsewhere, offsets in it are the same: of the kernel, from its reference symbol on. */
static bool has_same_offsets(const struct module *m)
{
	switch (m->kind) {
	case MODULE_FILE:
	case MODULE_KERNEL_MODULE:
	case MODULE_VDSO:
		return m->build_id.size > 0;
	case MODULE_KERNEL:
		return m->build_id.size > 0 && m->load_address != 0;
	default:
		return false;
	}
}

/* By build-id; without one, or where code is made at run time, the code is only known to be that of this capture. */
static uint64_t module_key(const struct modules *modules, const struct module *m,
			   const struct identity *who)
{
	struct text words = { 0 };
	uint64_t key;

	if (has_same_offsets(m))
		text_add(&words, (const char *)m->build_id.bytes, m->build_id.size);
	else
		text_format(&words, "%s/%u/%s", who->capture, (unsigned)m->pid,
			    strings_get(modules->strings, m->path));
	key = hash_bytes(words.bytes, words.n, place_seed);
	text_release(&words);
	return key;
}

void place_keys_init(struct place_keys *keys, const struct session *s, const struct identity *who)
{
	const struct modules *modules = timeline_modules(s->timeline);

	*keys = (struct place_keys){ .session = s };
	keys->of_modules = mem_zalloc(modules->list.n + 1, sizeof(*keys->of_modules));
	for (size_t i = 1; i < modules->list.n; i++)
		keys->of_modules[i] = module_key(modules, &modules->list.items[i], who);
}

void place_keys_release(struct place_keys *keys)
{
	free(keys->of_modules);
}

/* The offset that is the same wherever the module is loaded. */
static uint64_t offset_of(const struct place_keys *keys, struct place place)
{
	const struct module *m =
		modules_get(timeline_modules(keys->session->timeline), place.module);

	return m->kind == MODULE_KERNEL && has_same_offsets(m) ? place.offset - m->load_address
							       : place.offset;
}

int64_t place_key(const struct place_keys *keys, uint32_t number)
{
	struct place place = session_place(keys->session, number);
	uint64_t words[2] = { keys->of_modules[place.module.v] };

	if (place.module.v == 0)
		return 0;
	words[1] = offset_of(keys, place);
	return (int64_t)(hash_words(words, 2, place_seed) >> 1 | 1);
}

/* Which places are new, by number; how many. */
static size_t find_new(const struct place_keys *keys, struct known_places *known, uint32_t n,
		       bool *is_new)
{
	size_t n_new = 0;

	pthread_mutex_lock(&known->mutex);
	for (uint32_t i = 1; i < n; i++) {
		uint64_t key = (uint64_t)place_key(keys, i);

		is_new[i] = key != 0 && tuples_find(&known->keys, &key) == TUPLES_NONE;
		n_new += is_new[i];
	}
	pthread_mutex_unlock(&known->mutex);
	return n_new;
}

static void add_known(const struct place_keys *keys, struct known_places *known, uint32_t n,
		      const bool *is_new)
{
	pthread_mutex_lock(&known->mutex);
	for (uint32_t i = 1; i < n; i++)
		if (is_new[i])
			tuples_add(&known->keys, &(uint64_t){ (uint64_t)place_key(keys, i) });
	pthread_mutex_unlock(&known->mutex);
}

static void put_build_id(struct parquet_values *v, const struct build_id *id)
{
	char digits[BUILD_ID_TEXT];

	dataset_put_text(v, id->size > 0 ? build_id_text(id, digits) : NULL);
}

static void put_names(struct parquet_values *v, const struct names *names, uint32_t place)
{
	const struct strings *strings = symbols_strings(names->session->symbols);
	const struct symbol *symbol = &names->symbols[place];
	const struct symbol_frame *frames = symbols_frames(names->session->symbols);
	struct str_id inlined = names_inlined(names, place);
	const char *file;
	uint32_t line;

	dataset_put_text(&v[SYMBOLS_COL_FUNCTION],
			 symbol->function.v != 0 ? strings_get(strings, symbol->function) : NULL);
	dataset_put_text(&v[SYMBOLS_COL_INLINED],
			 inlined.v != 0 ? strings_get(strings, inlined) : NULL);
	if (names_line(names, place, &file, &line)) {
		dataset_put_text(&v[SYMBOLS_COL_FILE], file);
		parquet_put(&v[SYMBOLS_COL_LINE], line);
	} else {
		parquet_put_null(&v[SYMBOLS_COL_FILE]);
		parquet_put_null(&v[SYMBOLS_COL_LINE]);
	}
	if (symbol->n_frames == 0) {
		parquet_put_null(&v[SYMBOLS_COL_CHAIN]);
		return;
	}
	parquet_put_list(&v[SYMBOLS_COL_CHAIN], symbol->n_frames);
	for (uint32_t i = 0; i < symbol->n_frames; i++) {
		const char *function =
			strings_get(strings, frames[symbol->first_frame + i].function);

		parquet_put_item(&v[SYMBOLS_COL_CHAIN], function, strlen(function));
	}
}

static void put_place(struct parquet_values *v, const struct place_keys *keys,
		      const struct names *names, uint32_t number)
{
	const struct session *s = keys->session;
	const struct modules *modules = timeline_modules(s->timeline);
	struct place place = session_place(s, number);
	const struct module *m = modules_get(modules, place.module);

	parquet_put(&v[SYMBOLS_COL_PLACE], (uint64_t)place_key(keys, number));
	put_build_id(&v[SYMBOLS_COL_BUILD_ID], &m->build_id);
	dataset_put_text(&v[SYMBOLS_COL_MODULE], names_module(s, place.module));
	dataset_put_text(&v[SYMBOLS_COL_PATH], strings_get(modules->strings, m->path));
	parquet_put(&v[SYMBOLS_COL_OFFSET], offset_of(keys, place));
	put_names(v, names, number);
}

static int write_rows(const struct place_keys *keys, const struct names *names, const bool *is_new,
		      const char *root, const struct identity *who, struct err *err)
{
	struct dataset_file file;
	int rc = dataset_begin(&file, root, "symbols", who, columns, COUNT(columns), err);

	/* in order of modules and offsets, whoever came first */
	for (uint32_t i = 0; i < names->n && rc == 0; i++) {
		if (!is_new[names->numbers[i]])
			continue;
		put_place(parquet_values(file.writer), keys, names, names->numbers[i]);
		rc = parquet_end_row(file.writer);
	}
	return dataset_end(&file, rc, err);
}

int places_write(struct session *s, const struct place_keys *keys, struct known_places *known,
		 const char *root, const struct identity *who, uint64_t *n_places,
		 uint64_t *n_unnamed, struct err *err)
{
	uint32_t n = place_numbers_n(s->places);
	bool *is_new = mem_zalloc(n, sizeof(*is_new));
	struct names names;
	int rc = 0;

	if (find_new(keys, known, n, is_new) > 0) {
		names_init(&names, s, is_new, SYMBOLS_LINES);
		rc = write_rows(keys, &names, is_new, root, who, err);
		for (uint32_t i = 1; i < n; i++) {
			*n_places += is_new[i];
			*n_unnamed += is_new[i] && names.symbols[i].function.v == 0;
		}
		names_release(&names);
	}
	if (rc == 0)
		add_known(keys, known, n, is_new);
	free(is_new);
	return rc;
}
