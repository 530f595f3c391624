/* SPDX-License-Identifier: Apache-2.0 */
/* Records as text, for `cyclops dump`. */
#ifndef CYCLOPS_CAPTURE_DESCRIBE_H
#define CYCLOPS_CAPTURE_DESCRIBE_H

#include "base/text.h"
#include "capture/capture.h"

/*
 * Appends a line: offset in the file, size, type, time, then fields as name=value. A body that
 * cannot be read is noted in its line.
 */
void record_describe(const struct capture *, const struct record *, const struct sample_id *,
		     struct text *);

#endif
