/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, uint64_t at, const char *format, ...)
{
	va_list args;

	err->code = code;
	err->at = at;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int err_within(struct err *err, const char *format, ...)
{
	char context[sizeof(err->text)];
	char whole[2 * sizeof(err->text) + 2];
	va_list args;

	va_start(args, format);
	vsnprintf(context, sizeof(context), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "%s: %s", context, err->text);
	snprintf(err->text, sizeof(err->text), "%.*s", (int)sizeof(err->text) - 1, whole);
	return -1;
}
