/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the writer share. Failing asserts the test that runs. */
#ifndef CYCLOPS_TESTS_WRITER_FIXTURE_H
#define CYCLOPS_TESTS_WRITER_FIXTURE_H

#include "capture/capture.h"
#include "capture/writer/writer.h"

/* Two events whose trailers differ. Ids 11 and 12 are of the first, 21 of the second. */
extern const struct writer_event two_events[2];

/* A file for one test; discard() removes it. */
char *temporary_path(void);
void discard(char *path);

/* A writer of the two events. */
struct writer *opened(const char *path);

/* Opens and scans. All bytes of the file must be accounted for as sound. */
struct capture *scanned(const char *path, capture_visit *visit, void *context);
struct capture *closed_and_scanned(struct writer *, const char *path, capture_visit *visit,
				   void *context);

#endif
