/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/dialect.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Words of the texts that dialects replace. */
static const char *const replaced[DIALECT_WORDS] = { "CREATE VIEW", "CREATE TABLE",
						     "list_contains(" };

const struct dialect dialect_duckdb = {
	.name = "duckdb",
	.settings = "",
	.view = "CREATE TEMPORARY VIEW %s AS SELECT * FROM read_parquet(%s, hive_partitioning = "
		"false, "
		"union_by_name = true)",
	.view_of_samples = "CREATE TEMPORARY VIEW %s AS SELECT * FROM read_parquet(%s, "
			   "hive_partitioning = true, "
			   "hive_types_autocast = false, union_by_name = true)",
	.words = { "CREATE TEMPORARY VIEW", "CREATE TEMPORARY TABLE", "list_contains(" },
};

const struct dialect dialect_spark = {
	.name = "spark",
	.settings = "", /* SET would answer; engine.c has them */
	.view = "CREATE TEMPORARY VIEW %s USING parquet OPTIONS (path %s, mergeSchema true)",
	.view_of_samples = "CREATE TEMPORARY VIEW %s USING parquet OPTIONS (path %s, basePath %s, "
			   "mergeSchema true)",
	.words = { "CREATE TEMPORARY VIEW", "CACHE TABLE", "array_contains(" },
	.escapes_backslash = true,
};

const struct dialect dialect_clickhouse = {
	.name = "clickhouse",
	.settings = "SET join_use_nulls = 1, prefer_column_name_to_alias = 1, "
		    "use_hive_partitioning = 0, "
		    "format_csv_null_representation = '', "
		    "schema_inference_mode = 'union', input_format_parquet_allow_missing_columns = "
		    "1;\n",
	.view = "CREATE VIEW %s AS SELECT * FROM file(%s, Parquet) SETTINGS use_hive_partitioning "
		"= 0",
	.view_of_samples = "CREATE VIEW %s AS SELECT * FROM file(%s, Parquet) SETTINGS "
			   "use_hive_partitioning = 1",
	.store_view = "CREATE VIEW %s AS SELECT * FROM s3(%s, Parquet) SETTINGS "
		      "use_hive_partitioning = 0",
	.store_view_of_samples = "CREATE VIEW %s AS SELECT * FROM s3(%s, Parquet) SETTINGS "
				 "use_hive_partitioning = 1",
	.words = { "CREATE VIEW", "CREATE TEMPORARY TABLE", "has(" },
	.escapes_backslash = true,
};

void dialect_literal(const struct dialect *d, const char *text, struct text *out)
{
	text_char(out, '\'');
	for (const char *c = text != NULL ? text : ""; *c != '\0'; c++) {
		if (d->escapes_backslash && (*c == '\\' || *c == '\''))
			text_char(out, '\\');
		else if (*c == '\'')
			text_char(out, '\'');
		text_char(out, *c);
	}
	text_char(out, '\'');
}

static const char *view_format(const struct dialect *d, enum dataset_table table,
			       const char *dataset)
{
	bool is_store = d->store_view != NULL && strstr(dataset, "://") != NULL;

	if (table == DATASET_SAMPLES)
		return is_store ? d->store_view_of_samples : d->view_of_samples;
	return is_store ? d->store_view : d->view;
}

/* Appends the view of a table. */
static void put_view(const struct dialect *d, enum dataset_table table, const char *dataset,
		     struct text *out)
{
	const char *name = dataset_table_names[table];
	const char *format = view_format(d, table, dataset);
	struct text base = { 0 }, files = { 0 }, literals[2] = { { 0 } };

	text_format(&base, "%s/%s%c", dataset, name, 0);
	text_format(&files, "%s/*/*/part-*.parquet%c", base.bytes, 0);
	dialect_literal(d, files.bytes, &literals[0]);
	dialect_literal(d, base.bytes, &literals[1]);
	for (int i = 0; i < 2; i++)
		text_char(&literals[i], '\0');
	for (const char *values[] = { name, literals[0].bytes, literals[1].bytes },
			**value = values;
	     *format != '\0'; format++) {
		if (format[0] != '%') {
			text_char(out, *format);
			continue;
		}
		text_str(out, *value++);
		format++;
	}
	text_str(out, ";\n");
	for (int i = 0; i < 2; i++)
		text_release(&literals[i]);
	text_release(&files);
	text_release(&base);
}

/* Appends the value of "$name". */
static void put_parameter(const struct dialect *d, const char *name, size_t size,
			  const struct fleet_scope *scope, struct text *out)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "event", scope->event },
		{ "function", scope->function },
		{ "module", scope->module },
		{ "machine", scope->machine },
		{ "host", scope->host },
		{ "first_day", scope->first_day },
		{ "last_day", scope->last_day },
		{ "from", scope->from },
		{ "to", scope->to },
		{ "by", scope->by },
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		if (strlen(texts[i].name) == size && memcmp(texts[i].name, name, size) == 0) {
			dialect_literal(d, texts[i].value, out);
			return;
		}
	if (size == strlen("top") && memcmp(name, "top", size) == 0)
		text_u64(out, scope->top);
	else if (size == strlen("limit") && memcmp(name, "limit", size) == 0)
		text_u64(out, scope->top > 0 ? scope->top : INT32_MAX);
	else
		text_u64(out, scope->with_true_sharing); /* $all */
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_';
}

/* Is one of the replaced words there? Then its number, else -1. */
static int replaced_at(const char *at)
{
	for (int i = 0; i < DIALECT_WORDS; i++)
		if (strncmp(at, replaced[i], strlen(replaced[i])) == 0)
			return i;
	return -1;
}

/* Appends a text of share/cyclops/sql/ as the dialect has it. */
static void put_statement(const struct dialect *d, const char *name,
			  const struct fleet_scope *scope, struct text *out)
{
	const struct embedded_file *file;
	char file_name[32];
	const char *at;

	snprintf(file_name, sizeof(file_name), "%s.sql", name);
	file = embedded_find(fleet_sql_files, file_name);
	assert(file != NULL);
	at = file->bytes;
	while (*at != '\0') {
		const char *end = strchr(at, '\n');
		int word = replaced_at(at);

		if (at[0] == '-' && at[1] == '-' && end != NULL) {
			at = end + 1; /* a comment has no parameters */
		} else if (*at == '$' && is_of_name(at[1])) {
			size_t size = 1;

			while (is_of_name(at[1 + size]))
				size++;
			put_parameter(d, at + 1, size, scope, out);
			at += 1 + size;
		} else if (word >= 0) {
			text_str(out, d->words[word]);
			at += strlen(replaced[word]);
		} else {
			text_char(out, *at++);
		}
	}
	while (out->n > 0 && isspace((unsigned char)out->bytes[out->n - 1]))
		out->n--;
	text_str(out, ";\n");
}

void dialect_script(const struct dialect *d, const struct fleet_query *query,
		    const struct fleet_scope *scope, const char *dataset, struct text *out)
{
	text_str(out, d->settings);
	for (int i = 0; i < N_DATASET_TABLES; i++)
		if (query->tables >> i & 1)
			put_view(d, (enum dataset_table)i, dataset, out);
	put_statement(d, "counted", scope, out);
	if (query->tables >> DATASET_SYMBOLS & 1)
		put_statement(d, "named", scope, out);
	put_statement(d, "facts", scope, out);
	put_statement(d, query->name, scope, out);
}
