/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes for DecompressionStream of browsers: gzip, in base64. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#define ZLIB_CONST /* its input is const */
#include <zlib.h>

#include "base/alloc.h"
#include "html/html.h"

/* zlib's window of 32 KiB, with a header of gzip in place of its own. */
enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, PIECE = 64 << 10 };

/* Compresses; running out of memory is the only way to fail, and ends the program as elsewhere. */
static void put_gzip(struct text *out, const char *bytes, size_t size)
{
	z_stream z = { .next_in = (const Bytef *)bytes };
	int rc;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	do {
		if (z.avail_in == 0 && size > 0) {
			z.avail_in = size > INT_MAX ? INT_MAX : (uInt)size;
			size -= z.avail_in;
		}
		z.next_out = (Bytef *)text_room(out, PIECE);
		z.avail_out = PIECE;
		rc = deflate(&z, size == 0 ? Z_FINISH : Z_NO_FLUSH);
		out->n += PIECE - z.avail_out;
	} while (rc == Z_OK || rc == Z_BUF_ERROR);
	deflateEnd(&z);
	if (rc != Z_STREAM_END)
		abort();
}

static void put_base64(struct text *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *to = text_room(out, (size + 2) / 3 * 4);

	for (size_t i = 0; i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		uint32_t word = (uint32_t)bytes[i] << 16 |
				(n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				(n > 2 ? bytes[i + 2] : 0);

		*to++ = digits[word >> 18];
		*to++ = digits[word >> 12 & 63];
		*to++ = n > 1 ? digits[word >> 6 & 63] : '=';
		*to++ = n > 2 ? digits[word & 63] : '=';
	}
	out->n = (size_t)(to - out->bytes);
}

void html_put_compressed(struct text *out, const char *bytes, size_t size)
{
	struct text gzip = { 0 };

	put_gzip(&gzip, bytes, size);
	put_base64(out, (const uint8_t *)gzip.bytes, gzip.n);
	text_release(&gzip);
}
