/* SPDX-License-Identifier: Apache-2.0 */
/* A gzip stream, made in pieces: the same bytes for the same text, without a name or a time. */
#ifndef CYCLOPS_EXPORT_FORMATS_GZIP_H
#define CYCLOPS_EXPORT_FORMATS_GZIP_H

#include <stdbool.h>

#include "base/text.h"

struct gzip;

struct gzip *gzip_new(void);
void gzip_free(struct gzip *);

/* Compresses a piece and appends what comes of it; the last one ends the stream. */
void gzip_add(struct gzip *, const struct text *, bool is_last, struct text *out);

#endif
