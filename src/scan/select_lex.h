/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the selection language (scan/select.h). */
#ifndef CYCLOPS_SCAN_SELECT_LEX_H
#define CYCLOPS_SCAN_SELECT_LEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* field names, unquoted values, "in" */
	TOKEN_NUMBER, /* of any base or unit: `number` */
	TOKEN_STRING, /* quoted */
	TOKEN_EQUAL,
	TOKEN_NOT_EQUAL,
	TOKEN_LESS,
	TOKEN_LESS_EQUAL,
	TOKEN_GREATER,
	TOKEN_GREATER_EQUAL,
	TOKEN_MATCH,
	TOKEN_NO_MATCH,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_RANGE, /* ".." */
};

struct token {
	enum token_kind kind;
	size_t at;	  /* position in the text */
	const char *text; /* of words, numbers and strings (without quotes), in the input */
	size_t len;
	uint64_t number; /* time units are converted to nanoseconds */
	int is_time;	 /* the number had a time unit */
};

/* Reads the token at *pos and moves behind it. */
int token_read(const char *text, size_t *pos, struct token *out, struct err *);

#endif
