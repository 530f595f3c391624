/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

struct cyclops *open_or_skip(const struct cyclops_options *asked)
{
	struct cyclops_options o = asked != NULL ? *asked : (struct cyclops_options){ 0 };
	struct cyclops *c;
	int error;

	o.sz = sizeof(o);
	if (o.events == NULL)
		o.events = "page-faults,context-switches";
	error = cyclops_open(&c, &o);
	if (error != 0) {
		print_message("skipped: %s\n", cyclops_why(c));
		cyclops_close(c);
		skip();
	}
	return c;
}

void need_counting(void)
{
	cyclops_close(open_or_skip(NULL));
}

struct cyclops_count count_of(struct cyclops *c, int region, int event)
{
	struct cyclops_count count = { .sz = sizeof(count) };

	assert_int_equal(cyclops_count_of(c, region, event, &count), 0);
	return count;
}

void touch_pages(size_t n)
{
	volatile char *pages =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	madvise((void *)(uintptr_t)pages, n * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		pages[i * PAGE] = 1;
}

void take_naps(unsigned n)
{
	static const struct timespec nap = { .tv_nsec = 100000 };

	for (unsigned i = 0; i < n; i++)
		nanosleep(&nap, NULL);
}

size_t read_faults(const char *path, uint64_t *out, size_t max)
{
	FILE *file = fopen(path, "r");
	char line[1024];
	size_t n = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *event = strstr(line, ",page-faults,");

		if (event == NULL || strncmp(line, "touch,", 6) != 0 ||
		    strstr(line, ",counted,") == NULL)
			continue;
		assert_true(n < max);
		out[n++] = strtoull(event + strlen(",page-faults,"), NULL, 10);
	}
	fclose(file);
	return n;
}
