/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gains.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/path.h"
#include "base/text.h"
#include "base/xxhash64.h"

/* A larger file beside a capture is not read. */
enum { MOST_BESIDE = 64 << 20, HASH_DIGITS = 16 };

void gains_init(struct gains *g)
{
	*g = (struct gains){ 0 };
	tuples_init(&g->pcs, 1);
}

void gains_release(struct gains *g)
{
	for (size_t i = 0; i < g->runs.n; i++) {
		free(g->runs.items[i].name);
		vec_release(&g->runs.items[i].blocks);
	}
	vec_release(&g->runs);
	tuples_release(&g->pcs);
}

const struct gains_run *gains_find(const struct gains *g, const char *name)
{
	for (size_t i = 0; i < g->runs.n; i++)
		if (strcmp(g->runs.items[i].name, name) == 0)
			return &g->runs.items[i];
	return NULL;
}

static bool read_json_count(const json_t *object, const char *key, uint64_t *out)
{
	const json_t *number = json_object_get(object, key);

	*out = (uint64_t)json_integer_value(number);
	return json_is_integer(number) && json_integer_value(number) >= 0;
}

static int read_gains_run(struct gains *g, const json_t *run, const char *path, struct err *err)
{
	const char *name = json_string_value(json_object_get(run, "name"));
	struct gains_run *out = vec_add(&g->runs);
	uint64_t bits = 0;

	out->name = mem_strndup(name != NULL ? name : "", strlen(name != NULL ? name : ""));
	if (name == NULL || !read_json_count(run, "bits", &bits) || bits > UINT32_MAX ||
	    !read_json_count(run, "cycles", &out->cycles) ||
	    !read_json_count(run, "cpu_cycles", &out->cpu_cycles))
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: a run wants a name, bits, cycles and cpu_cycles", path);
	out->bits = (uint32_t)bits;
	return 0;
}

/* A block of the file is an array: address, then the cycles of each run from number `first` on. */
static int read_gains_block(struct gains *g, size_t first, const json_t *block, const char *path,
			    struct err *err)
{
	const char *address = json_string_value(json_array_get(block, 0));
	size_t n = g->runs.n - first;
	uint32_t number;
	uint64_t pc;

	if (address == NULL || json_array_size(block) != n + 1)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: a block wants its address, and cycles of %zu runs", path, n);
	pc = strtoull(address, NULL, 16);
	number = tuples_add(&g->pcs, &pc);
	for (size_t i = 0; i < n; i++) {
		struct gains_run *run = &g->runs.items[first + i];

		while (run->blocks.n <= number)
			*vec_add(&run->blocks) = 0;
		run->blocks.items[number] =
			(uint64_t)json_integer_value(json_array_get(block, i + 1));
	}
	return 0;
}

static int read_gains_file(struct gains *g, const json_t *root, const char *path, struct err *err)
{
	const json_t *runs = json_object_get(root, "runs");
	const json_t *blocks = json_object_get(root, "blocks");
	const json_t *parallel = json_object_get(root, "parallel");
	const char *capture = json_string_value(json_object_get(root, "capture"));
	size_t first = g->runs.n;
	uint64_t schema;

	if (!read_json_count(root, "schema", &schema) || schema != 1 ||
	    json_array_size(runs) == 0 || !json_is_boolean(parallel))
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: wanted runs of the model, schema 1", path);
	g->is_parallel |= json_is_true(parallel);
	g->has_capture = capture != NULL && strspn(capture, "0123456789abcdef") == HASH_DIGITS &&
			 capture[HASH_DIGITS] == '\0';
	g->capture = g->has_capture ? strtoull(capture, NULL, 16) : 0;
	for (size_t i = 0; i < json_array_size(runs); i++)
		if (read_gains_run(g, json_array_get(runs, i), path, err) < 0)
			return -1;
	for (size_t i = 0; i < json_array_size(blocks); i++)
		if (read_gains_block(g, first, json_array_get(blocks, i), path, err) < 0)
			return -1;
	return 0;
}

int gains_read(struct gains *g, const char *path, struct err *err)
{
	json_error_t syntax;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &syntax);
	int rc;

	if (root == NULL)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s:%d: %s", path, syntax.line,
			       syntax.text);
	rc = read_gains_file(g, root, path, err);
	json_decref(root);
	return rc;
}

static json_t *gains_json(const struct gains *g, uint64_t capture)
{
	json_t *runs = json_array(), *blocks = json_array();
	char address[24], hash[HASH_DIGITS + 1];

	for (size_t i = 0; i < g->runs.n; i++) {
		const struct gains_run *run = &g->runs.items[i];

		json_array_append_new(runs, json_pack("{s:s,s:I,s:I,s:I}", "name", run->name,
						      "bits", (json_int_t)run->bits, "cycles",
						      (json_int_t)run->cycles, "cpu_cycles",
						      (json_int_t)run->cpu_cycles));
	}
	for (uint32_t b = 0; b < g->pcs.n; b++) {
		json_t *block = json_array();

		snprintf(address, sizeof(address), "0x%" PRIx64, *tuples_get(&g->pcs, b));
		json_array_append_new(block, json_string(address));
		for (size_t i = 0; i < g->runs.n; i++)
			json_array_append_new(
				block, json_integer((json_int_t)gains_block(&g->runs.items[i], b)));
		json_array_append_new(blocks, block);
	}
	snprintf(hash, sizeof(hash), "%016" PRIx64, capture);
	return json_pack("{s:i,s:b,s:s,s:b,s:o,s:o}", "schema", 1, "modelled", 1, "capture", hash,
			 "parallel", g->is_parallel, "runs", runs, "blocks", blocks);
}

static int hash_file(const char *path, uint64_t *out, struct err *err)
{
	struct mapped file = { 0 };

	if (mapped_open(&file, path, err) < 0)
		return -1;
	*out = xxhash64(file.bytes, file.size);
	mapped_release(&file);
	return 0;
}

int gains_write(const struct gains *g, const char *path, const char *capture, struct err *err)
{
	uint64_t hash;
	json_t *root;
	int rc;

	if (hash_file(capture, &hash, err) < 0)
		return -1;
	root = gains_json(g, hash);
	rc = json_dump_file(root, path, JSON_COMPACT);
	json_decref(root);
	if (rc == 0)
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot write", path);
}

bool gains_read_beside(struct gains *out, const char *capture)
{
	struct text path = { 0 };
	uint64_t hash = 0;
	struct stat st;
	struct err err;
	bool is_of_it;

	gains_init(out);
	text_format(&path, "%.*s" GAINS_FILE "%c", (int)(path_base(capture) - capture), capture, 0);
	is_of_it = stat(path.bytes, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MOST_BESIDE &&
		   gains_read(out, path.bytes, &err) == 0 && out->has_capture &&
		   hash_file(capture, &hash, &err) == 0 && hash == out->capture;
	text_release(&path);
	return is_of_it;
}
