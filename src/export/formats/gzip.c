/* SPDX-License-Identifier: Apache-2.0 */
#include "export/formats/gzip.h"

#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

/* The window of 32 KiB, with a gzip header: see deflateInit2(). */
enum { WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8, ROOM_BYTES = 64 << 10 };

struct gzip {
	z_stream stream;
};

struct gzip *gzip_new(void)
{
	struct gzip *g = mem_zalloc(1, sizeof(*g));
	int rc = deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS,
			      MEMORY_LEVEL, Z_DEFAULT_STRATEGY);

	if (rc != Z_OK)
		abort(); /* no memory, as in base/alloc.h */
	return g;
}

void gzip_free(struct gzip *g)
{
	if (g == NULL)
		return;
	deflateEnd(&g->stream);
	free(g);
}

void gzip_add(struct gzip *g, const struct text *text, bool is_last, struct text *out)
{
	int rc;

	g->stream.next_in = (Bytef *)text->bytes;
	g->stream.avail_in = (uInt)text->n;
	do {
		g->stream.next_out = (Bytef *)text_room(out, ROOM_BYTES);
		g->stream.avail_out = ROOM_BYTES;
		rc = deflate(&g->stream, is_last ? Z_FINISH : Z_NO_FLUSH);
		assert(rc != Z_STREAM_ERROR);
		out->n += ROOM_BYTES - g->stream.avail_out;
	} while (g->stream.avail_out == 0);
}
