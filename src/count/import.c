/* SPDX-License-Identifier: Apache-2.0 */
#include "count/import.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/path.h"
#include "count/import_inside.h"

enum { SIZE_MAX_TEXT = 1 << 30 };

/* In the order of trying: the last format accepts what no other does. */
static const struct import_format *const formats[] = {
	&import_regions, &import_json,	    &import_perf_json, &import_topdown,
	&import_rpistat, &import_perf_text, &import_perf_csv,
};

/*
 * Takes the product from the path: topdown-tool writes
 * DIR/cpu/<product>[_core_N|_core_aggregate…]_{metrics,events}.csv.
 */
static void take_product(const char *path, struct counts *out)
{
	static const char *const ends[] = { "_core_", "_metrics", "_events" };
	const char *name = path_base(path);
	size_t len = strlen(name);

	for (size_t i = 0; i < COUNT(ends); i++) {
		const char *end = strstr(name, ends[i]);

		if (end != NULL && (size_t)(end - name) < len)
			len = (size_t)(end - name);
	}
	if (len > 0 && len < strlen(name))
		out->cpu = arena_strndup(&out->memory, name, len);
}

int counts_import(const char *text, size_t size, const char *path, struct counts *out,
		  struct err *err)
{
	size_t i = 0;

	if (size > SIZE_MAX_TEXT)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE,
			       "counts: %zu bytes, more than the gigabyte we are prepared to hold",
			       size);
	if (size == 0)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "counts: the file is empty");
	while (i < COUNT(formats) - 1 && !formats[i]->is_it(text, size))
		i++;
	out->source = formats[i]->name;
	if (formats[i]->read(text, size, out, err) < 0)
		return -1;
	if (path != NULL && formats[i] == &import_topdown)
		take_product(path, out);
	if (out->items.n == 0 && out->metrics.n == 0)
		return err_set(
			err, ERR_FORMAT, ERR_NOWHERE,
			"counts: found none (read as %s); wanted the output of perf stat "
			"(plain, -x, -j), of topdown-tool (csv), of rpistat, of cyclops stat, "
			"cyclops model or libcyclops (json)",
			formats[i]->name);
	return 0;
}
