/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over the files named on the command line, and over all files of the
 * directories named: so that each normal test run replays the corpus, without a fuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/mapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The target gets a copy of the exact size, so that reading past its end is noticed. */
static int replay_file(const char *path, size_t *n)
{
	struct mapped file = { 0 };
	struct err err;
	uint8_t *bytes;

	if (mapped_open(&file, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	bytes = mem_alloc(file.size > 0 ? file.size : 1, 1);
	if (file.size > 0)
		memcpy(bytes, file.bytes, file.size);
	LLVMFuzzerTestOneInput(bytes, file.size);
	free(bytes);
	mapped_release(&file);
	++*n;
	return 0;
}

static int replay_directory(const char *path, size_t *n)
{
	struct dirent **entries = NULL;
	int n_entries = scandir(path, &entries, is_visible, alphasort);
	int rc = n_entries < 0 ? -1 : 0;

	for (int i = 0; i < n_entries; i++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (replay_file(name, n) < 0)
			rc = -1;
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int main(int argc, char **argv)
{
	size_t n = 0;
	int rc = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;
		int failed;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			failed = replay_directory(argv[i], &n);
		else
			failed = replay_file(argv[i], &n);
		if (failed < 0)
			rc = 1;
	}
	printf("%zu inputs\n", n);
	return n == 0 ? 1 : rc;
}
