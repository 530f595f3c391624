/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the library have in common: a handle, work that the kernel's own events count, and what was written. */
#ifndef CYCLOPS_TESTS_MEASURE_HANDLE_H
#define CYCLOPS_TESTS_MEASURE_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include "cyclops/measure.h"

enum { PAGE = 4096 };

/* Pages that a sanitizer touches for its own use. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZER_PAGES 8
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZER_PAGES 8
#endif
#ifndef SANITIZER_PAGES
#define SANITIZER_PAGES 0
#endif

/* Event 0 is the elapsed time and 1 cycles, which are added. */
enum { EVENT_TIME, EVENT_CYCLES, EVENT_FAULTS, EVENT_SWITCHES };

/* Opens a handle with the options, or with page faults and context switches; where this process may not count, the test is skipped. */
struct cyclops *open_or_skip(const struct cyclops_options *);

/* Ends the test where this process may not count. */
void need_counting(void);

struct cyclops_count count_of(struct cyclops *, int region, int event);

/* Touches pages that the process has not seen: a fault each. */
void touch_pages(size_t n);

/* Sleeps: a context switch each. */
void take_naps(unsigned n);

/* The faults of each row of csv for the region "touch", in the order of the rows. Returns how many there are, at most `max`. */
size_t read_faults(const char *path, uint64_t *out, size_t max);

#endif
