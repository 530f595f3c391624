/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gnu_debugdata ("MiniDebugInfo"): distributions leave the symbol table of a stripped file
 * inside it, as an ELF file compressed with xz.
 */
#include "elf/elf_symbols.h"

#include <stdlib.h>

#include <lzma.h>

#include "base/alloc.h"

enum {
	/* Symbol tables shrink to a fifth or so; what grows more is not one. */
	MAX_RATIO = 100,
	MAX_BYTES = 1 << 30,
	MEMORY_LIMIT = 256 << 20, /* for the decoder itself */
	STEP_BYTES = 1 << 16,
};

/* Decompresses up to `limit` bytes into `out`, which grows with what is really there. */
static lzma_ret decompress(lzma_stream *stream, struct cursor packed, size_t limit, uint8_t **out,
			   size_t *out_size)
{
	size_t size = 0, cap = 0;
	lzma_ret ret = LZMA_OK;

	stream->next_in = packed.pos;
	stream->avail_in = cur_left(&packed);
	while (ret == LZMA_OK && size < limit) {
		if (size == cap) {
			cap = cap == 0 ? STEP_BYTES : 2 * cap;
			*out = mem_resize(*out, cap, 1);
		}
		stream->next_out = *out + size;
		stream->avail_out = cap - size;
		ret = lzma_code(stream, LZMA_FINISH);
		size = cap - stream->avail_out;
	}
	*out_size = size;
	return ret;
}

int elf_symbols_open_debugdata(struct elf_file *inner, const struct elf_file *file, struct err *err)
{
	struct cursor packed = elf_file_bytes(file, ".gnu_debugdata");
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *image = NULL;
	size_t size = 0, limit = cur_left(&packed);
	lzma_ret ret;

	limit = limit > MAX_BYTES / MAX_RATIO ? MAX_BYTES : limit * MAX_RATIO;
	if (lzma_stream_decoder(&stream, MEMORY_LIMIT, 0) != LZMA_OK)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE, "%s: cannot start the xz decoder",
			       file->path);
	ret = decompress(&stream, packed, limit, &image, &size);
	lzma_end(&stream);
	if (ret != LZMA_STREAM_END) {
		free(image);
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: .gnu_debugdata is damaged after %zu bytes (xz says %d)",
			       file->path, size, (int)ret);
	}
	return elf_file_open_image(inner, image, size, file->path, err);
}
