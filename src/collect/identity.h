/* SPDX-License-Identifier: Apache-2.0 */
/* Which capture it is: the hash of its bytes; and of which host and day. */
#ifndef CYCLOPS_COLLECT_IDENTITY_H
#define CYCLOPS_COLLECT_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/session.h"

/* Where the time of a capture is from. */
enum start_basis {
	START_RECORDED, /* the capture says what the wall clock was */
	START_OF_FILE,	/* the file's modification time was when it ended */
	START_GIVEN,	/* --day: midnight, UTC */
};

enum { CAPTURE_HASH_DIGITS = 32, DAY_BYTES = sizeof("2026-11-26") };

struct identity {
	char capture[CAPTURE_HASH_DIGITS + 1]; /* hash of its bytes, as hex digits */
	const char *host;		       /* borrowed from the session, or as given */
	char day[DAY_BYTES];		       /* of its start, UTC */
	enum start_basis basis;
	int64_t start_ns;	    /* since 1970 */
	int64_t duration_ns;	    /* between the first and the last record with a time */
	int64_t wall_less_clock_ns; /* to be added to times of the capture */
	int64_t part; /* the number of this collection: above 0, by capture, day and host */
};

/* "recorded", "file", "given". */
extern const char *const start_basis_names[];

/* What is said of captures that do not know it; NULL: nothing. */
struct identity_given {
	const char *host, *day;
};

/* Fills `capture` with the hash of a capture's bytes: a file, or a folder of `perf record --threads`. */
int identity_hash(const char *path, char out[CAPTURE_HASH_DIGITS + 1], struct err *);

/* Fills in the rest, of the opened capture whose hash is in it. */
int identity_find(struct identity *, const struct session *, const struct identity_given *,
		  struct err *);

/* When a slice of the session's time begins, since 1970; without slices, or if it is not known, the capture's start. */
int64_t identity_slice_ns(const struct identity *, const struct session *, uint64_t slice);

/* Is it a day, as 2026-11-26, of 1970 to 2262? Then *out_ns is its first moment, since 1970. */
bool day_read(const char *text, int64_t *out_ns);

#endif
