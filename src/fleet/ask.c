/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/ask.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mapped.h"

bool fleet_is_store(const char *dataset)
{
	return strstr(dataset, "://") != NULL;
}

/* Why a table is not there, though captures are; NULL: none was collected. */
static const char *const missing_why[N_DATASET_TABLES] = {
	[DATASET_SHARED_LINES] = "contended lines",
	[DATASET_COUNTS] = "counts (`perf record -s` or -e '{a,b}:S', `perf stat record`)",
};

/* Engines say of a pattern that no file matches it; a person wants to know why. */
static int check_dataset(const struct fleet_question *q, struct err *err)
{
	struct text path = { 0 };
	struct stat found;
	int rc = 0;

	if (fleet_is_store(q->dataset))
		return 0;
	for (int i = 0; i < N_DATASET_TABLES && rc == 0; i++) {
		text_reset(&path);
		text_format(&path, "%s/%s%c", q->dataset, dataset_table_names[i], 0);
		if (!(q->query->tables >> i & 1) || stat(path.bytes, &found) == 0)
			continue;
		if (missing_why[i] == NULL)
			rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
				     "%s: it has no table %s: `cyclops collect --into %s CAPTURE…` "
				     "makes one",
				     q->dataset, dataset_table_names[i], q->dataset);
		else
			rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
				     "%s: it has no table %s: none of its captures has %s, or they "
				     "were collected before cyclops looked for them (`cyclops "
				     "collect --again --into %s CAPTURE…`)",
				     q->dataset, dataset_table_names[i], missing_why[i],
				     q->dataset);
	}
	text_release(&path);
	return rc;
}

int fleet_setup(const char *path, struct text *out, struct err *err)
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
	    fleet_setup(q->by.setup, out, err) < 0)
		return -1;
	dialect_script(engine->dialect, q->query, &q->scope, q->dataset, out);
	return 0;
}

/* Engines say of a store what the network said; a person wants to know what the store needs. */
static int run_engine(const struct fleet_question *q, const struct text *script,
		      struct text *answer, struct err *err)
{
	const struct engine *engine = engine_find(q->by.engine, err);
	struct err why;
	int rc = engine_run(engine, q->by.program, q->by.master, script, answer, &why);

	if (rc == 0)
		return 0;
	if (!fleet_is_store(q->dataset) || q->by.setup != NULL)
		*err = why;
	else
		err_set(err, why.code, ERR_NOWHERE,
			"%s: without --setup FILE, which has the statements for the store's client "
			"and secrets (`cyclops help fleet`), %s",
			q->dataset, why.text);
	return -1;
}

int fleet_ask(const struct fleet_question *q, struct fleet_facts *facts, struct table *t,
	      struct err *err)
{
	struct text script = { 0 }, answer = { 0 };
	int rc = fleet_script(q, &script, err);

	if (rc == 0)
		rc = check_dataset(q, err);
	if (rc == 0)
		rc = run_engine(q, &script, &answer, err);
	if (rc == 0)
		rc = result_read(engine_find(q->by.engine, err), &answer, facts, t, err);
	if (rc == 0 && facts->captures == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "%s: it has no captures of this machine, host and time", q->dataset);
	text_release(&answer);
	text_release(&script);
	return rc;
}
