/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors with a position. A function that can fail returns 0 or -1 and fills its last parameter.
 * Library code neither prints nor exits; the command does, once.
 */
#ifndef CYCLOPS_BASE_ERR_H
#define CYCLOPS_BASE_ERR_H

#include <stdint.h>

enum err_code {
	ERR_NONE = 0,
	ERR_IO,		 /* a system call failed: open, read, write, map */
	ERR_FORMAT,	 /* the bytes violate their format */
	ERR_UNSUPPORTED, /* well-formed, but not supported */
	ERR_USAGE,	 /* the user asked for something that does not exist */
	ERR_LIMIT,	 /* larger than what we are prepared to hold */
	ERR_NO_DATA,	 /* the input is sound, but has nothing of this kind */
};

/* "No position": the error is not about a byte of the input. */
#define ERR_NOWHERE UINT64_MAX

struct err {
	enum err_code code;
	uint64_t at; /* offset in the file or stream, or ERR_NOWHERE */
	char text[512];
};

/*
 * Fills `err` and returns -1, so that failing is one line. The text says what was read,
 * what was found and what was wanted: lower case, no full stop, names from outside quoted.
 */
int err_set(struct err *err, enum err_code code, uint64_t at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "context: " before the text of an error that is passed on. Returns -1. */
int err_within(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
