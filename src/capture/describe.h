/* SPDX-License-Identifier: Apache-2.0 */
/* One line of text for each record, for `cyclops dump`. */
#ifndef CYCLOPS_CAPTURE_DESCRIBE_H
#define CYCLOPS_CAPTURE_DESCRIBE_H

#include "base/text.h"
#include "capture/capture.h"

/*
 * Appends a line: offset in the file, size, type, time, and the record's fields as
 * name=value. A body that cannot be read says so on its line.
 */
void record_describe(const struct capture *, const struct record *, const struct sample_id *,
		     struct text *);

#endif
