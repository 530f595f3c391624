/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/identity.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/mapped.h"
#include "base/text.h"

const char *const start_basis_names[] = { "recorded", "file", "given" };

/* Constants of the two halves of a hash. They are part of the format of datasets. */
static const uint64_t hash_seeds[2] = { 0x6379636c6f707321u, 0x666c656574212121u };

enum { HASH_CHUNK = 1 << 20, NS_PER_S = 1000000000 };

static int hash_file(const char *path, uint64_t hash[2], struct err *err)
{
	struct mapped file = { 0 };

	if (mapped_open(&file, path, err) < 0)
		return -1;
	for (size_t at = 0; at < file.size; at += HASH_CHUNK) {
		size_t size = file.size - at < HASH_CHUNK ? file.size - at : HASH_CHUNK;

		hash[0] = hash_bytes(file.bytes + at, size, hash[0]);
		hash[1] = hash_bytes(file.bytes + at, size, hash[1]);
		mapped_forget(&file, at, at + size);
	}
	mapped_release(&file);
	return 0;
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int hash_folder(const char *path, uint64_t hash[2], struct err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_shown, alphasort);
	int rc = n < 0 ? err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno)) : 0;

	for (int i = 0; i < n; i++) {
		struct text inner = { 0 };

		text_format(&inner, "%s/%s%c", path, entries[i]->d_name, 0);
		if (rc == 0)
			rc = hash_file(inner.bytes, hash, err);
		text_release(&inner);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return rc;
}

int identity_hash(const char *path, char out[CAPTURE_HASH_DIGITS + 1], struct err *err)
{
	uint64_t hash[2] = { hash_seeds[0], hash_seeds[1] };
	struct stat found;

	if (stat(path, &found) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	if ((S_ISDIR(found.st_mode) ? hash_folder(path, hash, err) : hash_file(path, hash, err)) <
	    0)
		return -1;
	put_hex_digits(out, hash[0], CAPTURE_HASH_DIGITS / 2);
	put_hex_digits(out + CAPTURE_HASH_DIGITS / 2, hash[1], CAPTURE_HASH_DIGITS / 2);
	out[CAPTURE_HASH_DIGITS] = '\0';
	return 0;
}

bool day_read(const char *text, int64_t *out_ns)
{
	struct tm tm = { 0 };
	char again[DAY_BYTES];
	time_t time;
	const char *end = strptime(text, "%Y-%m-%d", &tm);

	if (end == NULL || *end != '\0')
		return false;
	time = timegm(&tm);
	strftime(again, sizeof(again), "%Y-%m-%d", &tm);
	if (strcmp(again, text) != 0 || time < 0 || time > INT64_MAX / NS_PER_S)
		return false;
	*out_ns = (int64_t)time * NS_PER_S;
	return true;
}

/* When the file of the capture was written for the last time, since 1970; 0: not known. */
static int64_t modified_ns(const char *path)
{
	struct stat found;

	if (stat(path, &found) < 0)
		return 0;
	return (int64_t)found.st_mtim.tv_sec * NS_PER_S + found.st_mtim.tv_nsec;
}

/* The time of its start, and on which basis. */
static int find_start(struct identity *who, const struct session *s,
		      const struct identity_given *given, struct err *err)
{
	const struct info *info = capture_info(s->capture);
	uint64_t first_ns = 0, last_ns = 0;

	if (!capture_end_times(s->capture, &first_ns, &last_ns)) {
		first_ns = capture_totals(s->capture)->first_ns;
		last_ns = capture_totals(s->capture)->last_ns;
	}
	who->duration_ns = (int64_t)(last_ns - first_ns);
	if (given->day != NULL) {
		who->basis = START_GIVEN;
		if (!day_read(given->day, &who->start_ns))
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--day: found '%s', wanted a day such as 2026-11-26",
				       given->day);
	} else if (info->wall_clock_ns != 0) {
		who->basis = START_RECORDED;
		who->start_ns = (int64_t)(info->wall_clock_ns - info->clock_time_ns + first_ns);
	} else {
		who->basis = START_OF_FILE;
		who->start_ns = modified_ns(s->path) - who->duration_ns;
	}
	if (who->start_ns < 0)
		who->start_ns = 0;
	who->wall_less_clock_ns = who->start_ns - (int64_t)first_ns;
	return 0;
}

int identity_find(struct identity *who, const struct session *s, const struct identity_given *given,
		  struct err *err)
{
	const struct info *info = capture_info(s->capture);
	const char *host = strings_get(capture_strings(s->capture), info->hostname);
	struct text words = { 0 };
	time_t seconds;
	struct tm tm;

	if (find_start(who, s, given, err) < 0)
		return -1;
	who->host = given->host != NULL ? given->host : host[0] != '\0' ? host : "unknown";
	seconds = (time_t)(who->start_ns / NS_PER_S);
	gmtime_r(&seconds, &tm);
	if (tm.tm_year + 1900 > 9999 ||
	    strftime(who->day, sizeof(who->day), "%Y-%m-%d", &tm) != DAY_BYTES - 1)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: its clock is beyond the year 9999; give --day", s->path);
	text_format(&words, "%s/%s/%s", who->capture, who->day, who->host);
	who->part = (int64_t)(hash_bytes(words.bytes, words.n, hash_seeds[0]) >> 1 | 1);
	text_release(&words);
	return 0;
}

int64_t identity_slice_ns(const struct identity *who, const struct session *s, uint64_t slice)
{
	if (s->slices.n == 0 || slice >= s->slices.n)
		return who->start_ns;
	return who->wall_less_clock_ns + (int64_t)capture_totals(s->capture)->first_ns +
	       (int64_t)slices_start_ns(&s->slices, (uint32_t)slice);
}
