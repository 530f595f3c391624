/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/json_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int json_wrong(const char *key, const json_t *found, const char *wanted, struct err *err)
{
	char *text = found == NULL ? NULL : json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT);

	if (found == NULL)
		err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: missing, wanted %s", key, wanted);
	else
		err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: found %.60s, wanted %s", key,
			text == NULL ? "?" : text, wanted);
	free(text);
	return -1;
}

int json_read_text(struct arena *memory, const json_t *object, const char *key, const char **out,
		   struct err *err)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value) || json_string_length(value) == 0)
		return json_wrong(key, value, "a text", err);
	*out = arena_strndup(memory, json_string_value(value), json_string_length(value));
	return 0;
}

int json_read_code(const json_t *object, const char *key, uint64_t max, uint64_t *out,
		   struct err *err)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	char *end = NULL;
	uint64_t number;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return json_wrong(key, value, "a number as text, such as \"0xd0c\"", err);
	number = strtoull(text, &end, 0);
	if (*end != '\0' || number > max)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: found \"%.40s\", wanted a number up to 0x%" PRIx64, key, text,
			       max);
	*out = number;
	return 0;
}

int json_read_list(const json_t *object, const char *key, const json_t **out, struct err *err)
{
	const json_t *value = json_object_get(object, key);

	if (value != NULL && !json_is_null(value) && !json_is_array(value))
		return json_wrong(key, value, "a list", err);
	*out = json_is_array(value) ? value : NULL;
	return 0;
}

void *json_array_memory(struct arena *memory, size_t n, size_t size)
{
	return n == 0 ? NULL : memset(arena_alloc(memory, n * size), 0, n * size);
}
