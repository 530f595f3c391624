/* SPDX-License-Identifier: Apache-2.0 */
#include "writer_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"

#define BIT(n) ((uint64_t)1 << (n))

static const uint64_t ids_a[] = { 11, 12 }, ids_b[] = { 21 };

const struct writer_event two_events[2] = {
	{
		.attr = { .type = 10,
			  .config = 3,
			  .sample_type = BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU) |
					 BIT(SAMPLE_IDENTIFIER),
			  .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		.ids = ids_a,
		.n_ids = COUNT(ids_a),
		.name = "arm_spe_0/x/",
	},
	{
		.attr = { .type = 0,
			  .sample_type = BIT(SAMPLE_TIME) | BIT(SAMPLE_ID) | BIT(SAMPLE_STREAM_ID) |
					 BIT(SAMPLE_IDENTIFIER),
			  .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		.ids = ids_b,
		.n_ids = COUNT(ids_b),
	},
};

char *temporary_path(void)
{
	char *path = mem_strndup("/tmp/cyclops-writer-XXXXXX", 26);
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

void discard(char *path)
{
	unlink(path);
	free(path);
}

struct writer *opened(const char *path)
{
	struct writer *w = NULL;
	struct err err;

	assert_int_equal(writer_open(path, two_events, COUNT(two_events), &w, &err), 0);
	return w;
}

struct capture *scanned(const char *path, capture_visit *visit, void *context)
{
	struct capture *c = NULL;
	struct err err;
	const struct capture_totals *t;

	assert_int_equal(capture_open(path, &c, &err), 0);
	assert_int_equal(capture_scan(c, visit, context, &err), 0);
	t = capture_totals(c);
	assert_int_equal(t->header_bytes + t->record_bytes + t->feature_bytes, capture_size(c));
	return c;
}

struct capture *closed_and_scanned(struct writer *w, const char *path, capture_visit *visit,
				   void *context)
{
	struct err err = { .text = "" };
	struct capture *c;

	assert_int_equal(writer_close(w, &err), 0);
	c = scanned(path, visit, context);
	assert_int_equal(diags_bytes(capture_diags(c), DIAG_NOTE), 0);
	return c;
}
