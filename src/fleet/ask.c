/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/ask.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mapped.h"

/* What an engine reads over a network: nothing is known of it here. */
static bool is_elsewhere(const char *dataset)
{
	return strstr(dataset, "://") != NULL;
}

/* Engines say of a pattern that no file matches it; a person wants to know why. */
static int check_dataset(const struct fleet_question *q, struct err *err)
{
	struct text path = { 0 };
	struct stat found;
	int rc = 0;

	if (is_elsewhere(q->dataset))
		return 0;
	for (int i = 0; i < N_DATASET_TABLES && rc == 0; i++) {
		text_reset(&path);
		text_format(&path, "%s/%s%c", q->dataset, dataset_table_names[i], 0);
		if (q->query->tables >> i & 1 && stat(path.bytes, &found) < 0)
			rc = err_set(
				err, ERR_NO_DATA, ERR_NOWHERE,
				i == DATASET_SHARED_LINES
					? "%s: it has no table %s: none of its captures has "
					  "contended lines, or they were collected before cyclops "
					  "looked for them (`cyclops collect --again --into %s "
					  "CAPTURE…`)"
					: "%s: it has no table %s: `cyclops collect --into %s "
					  "CAPTURE…` makes one",
				q->dataset, dataset_table_names[i], q->dataset);
	}
	text_release(&path);
	return rc;
}

static int put_setup(const char *path, struct text *out, struct err *err)
{
	struct mapped file = { 0 };

	if (path == NULL)
		return 0;
	if (mapped_open(&file, path, err) < 0)
		return -1;
	text_add(out, (const char *)file.bytes, file.size);
	text_char(out, '\n');
	mapped_release(&file);
	return 0;
}

int fleet_script(const struct fleet_question *q, struct text *out, struct err *err)
{
	const struct engine *engine = engine_find(q->by.engine, err);

	if (engine == NULL || fleet_query_check(q->query, &q->scope, err) < 0 ||
	    put_setup(q->by.setup, out, err) < 0)
		return -1;
	dialect_script(engine->dialect, q->query, &q->scope, q->dataset, out);
	return 0;
}

int fleet_ask(const struct fleet_question *q, struct fleet_facts *facts, struct table *t,
	      struct err *err)
{
	struct text script = { 0 }, answer = { 0 };
	int rc = fleet_script(q, &script, err);

	if (rc == 0)
		rc = check_dataset(q, err);
	if (rc == 0)
		rc = engine_run(engine_find(q->by.engine, err), q->by.program, q->by.master,
				&script, &answer, err);
	if (rc == 0)
		rc = result_read(engine_find(q->by.engine, err), &answer, facts, t, err);
	if (rc == 0 && facts->captures == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "%s: it has no captures of this machine, host and time", q->dataset);
	text_release(&answer);
	text_release(&script);
	return rc;
}
