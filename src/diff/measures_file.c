/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines: measures as a JSON file, to be kept beside the sources. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diff/measures.h"
#include "table/format.h"

enum { SCHEMA = 2 }; /* version 1 lacks the saturated parts */

#define SIGNATURE "cyclops baseline"

const char *measures_text(struct measures *m, const char *text)
{
	return text == NULL ? NULL : valid_text(&m->memory, text);
}

static void put_text(json_t *object, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_object_set_new(object, key, json_stringn_nocheck(text, strlen(text)));
}

static json_t *measure_json(const struct measure *m)
{
	json_t *object = json_object();

	put_text(object, "kind", measure_kind_name(m->kind));
	put_text(object, "event", m->event);
	put_text(object, "name", m->name);
	put_text(object, "module", m->module);
	put_text(object, "unit", m->unit);
	json_object_set_new(object, "value", json_real(m->value));
	if (!isnan(m->error))
		json_object_set_new(object, "error", json_real(m->error));
	if (m->samples > 0)
		json_object_set_new(object, "samples", json_integer((json_int_t)m->samples));
	if (m->n_saturated > 0) {
		json_object_set_new(object, "full", json_real(m->saturated));
		json_object_set_new(object, "full_samples",
				    json_integer((json_int_t)m->n_saturated));
	}
	if (m->is_scaled)
		json_object_set_new(object, "scaled", json_true());
	return object;
}

static int compare_measures(const void *left, const void *right)
{
	const struct measure *a = left, *b = right;
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	if (order == 0)
		order = strcmp(a->event, b->event);
	if (order == 0)
		order = strcmp(a->module, b->module);
	return order != 0 ? order : strcmp(a->name, b->name);
}

static json_t *list_json(const struct measures *m)
{
	struct measure *sorted = mem_alloc(m->list.n + 1, sizeof(*sorted));
	json_t *list = json_array();

	if (m->list.n > 0)
		memcpy(sorted, m->list.items, m->list.n * sizeof(*sorted));
	qsort(sorted, m->list.n, sizeof(*sorted), compare_measures);
	for (size_t i = 0; i < m->list.n; i++)
		json_array_append_new(list, measure_json(&sorted[i]));
	free(sorted);
	return list;
}

void measures_write(const struct measures *m, struct text *out)
{
	json_t *root = json_object();
	char *bytes;

	put_text(root, "file", SIGNATURE);
	json_object_set_new(root, "schema", json_integer(SCHEMA));
	put_text(root, "command", m->command);
	put_text(root, "cpu", m->cpu);
	json_object_set_new(root, "elapsed_ns", json_integer((json_int_t)m->elapsed_ns));
	json_object_set_new(root, "modelled", json_boolean(m->is_modelled));
	json_object_set_new(root, "unscaled", json_boolean(m->is_unscaled));
	json_object_set_new(root, "measures", list_json(m));
	bytes = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	text_str(out, bytes);
	text_char(out, '\n');
	free(bytes);
	json_decref(root);
}

bool measures_is_baseline(const char *bytes, size_t size)
{
	return size > 0 && bytes[0] == '{' &&
	       memmem(bytes, size < 200 ? size : 200, SIGNATURE, strlen(SIGNATURE)) != NULL;
}

static const char *text_of(struct measures *m, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return NULL;
	return arena_strndup(&m->memory, json_string_value(value), json_string_length(value));
}

static const char *text_or_empty(struct measures *m, const json_t *object, const char *key)
{
	const char *text = text_of(m, object, key);

	return text != NULL ? text : "";
}

static uint64_t measures_file_number_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

static int read_measure(struct measures *m, const json_t *object, size_t number, struct err *err)
{
	const json_t *error = json_object_get(object, "error");
	const char *kind = text_or_empty(m, object, "kind");
	struct measure measure = {
		.event = text_or_empty(m, object, "event"),
		.name = text_or_empty(m, object, "name"),
		.module = text_or_empty(m, object, "module"),
		.unit = text_or_empty(m, object, "unit"),
		.value = json_number_value(json_object_get(object, "value")),
		.error = json_is_number(error) ? json_number_value(error) : NAN,
		.samples = measures_file_number_of(object, "samples"),
		.saturated = fmax(0, json_number_value(json_object_get(object, "full"))),
		.n_saturated = measures_file_number_of(object, "full_samples"),
		.is_scaled = json_is_true(json_object_get(object, "scaled")),
	};

	if (measure_kind_find(kind) < 0)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "measure %zu: there is no kind '%s'",
			       number, kind);
	if (measure.name[0] == '\0' || !json_is_number(json_object_get(object, "value")))
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "measure %zu has no %s", number,
			       measure.name[0] == '\0' ? "name" : "value");
	measure.kind = (uint8_t)measure_kind_find(kind);
	m->kinds |= 1u << measure.kind;
	*vec_add(&m->list) = measure;
	return 0;
}

static int read_baseline(const json_t *root, struct measures *out, struct err *err)
{
	const json_t *list = json_object_get(root, "measures");

	if (measures_file_number_of(root, "schema") != SCHEMA || !json_is_array(list))
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "a baseline of another schema than %d; write it again with "
			       "`cyclops diff --save FILE`",
			       SCHEMA);
	out->command = text_of(out, root, "command");
	out->cpu = text_of(out, root, "cpu");
	out->elapsed_ns = measures_file_number_of(root, "elapsed_ns");
	out->is_modelled = json_is_true(json_object_get(root, "modelled"));
	out->is_unscaled = json_is_true(json_object_get(root, "unscaled"));
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_measure(out, json_array_get(list, i), i, err) < 0)
			return -1;
	return 0;
}

int measures_read(const char *bytes, size_t size, const char *name, struct measures *out,
		  struct err *err)
{
	json_error_t why;
	json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &why);
	int rc;

	if (root == NULL)
		return err_set(err, ERR_FORMAT, (uint64_t)(why.position > 0 ? why.position : 0),
			       "%s: not a baseline: line %d: %s", name, why.line, why.text);
	rc = read_baseline(root, out, err);
	json_decref(root);
	return rc < 0 ? err_within(err, "%s", name) : 0;
}
