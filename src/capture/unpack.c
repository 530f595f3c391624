/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define ZLIB_CONST /* input is const */
#include <zlib.h>

#include "base/alloc.h"

enum {
	FREE_BYTES = 16 << 20, /* that no ratio limits */
	STEP_BYTES = 1 << 16,
	XZ_MEMORY = 128 << 20, /* that a file may want: xz -9 wants 65 MiB */
	GZIP_WINDOW = 15 + 16, /* the largest, of gzip's format */
};

/* A file on its way through a decompressor. */
struct unpacking {
	const uint8_t *in; /* what is left */
	size_t n_in;
	uint8_t *out;  /* room for a step */
	size_t n_out;  /* bytes that the last step wrote there */
	bool is_whole; /* nothing is open: the end may come here */
	union {
		ZSTD_DStream *zstd;
		z_stream gzip;
		lzma_stream xz;
	} of;
};

static bool zstd_begin(struct unpacking *u)
{
	u->of.zstd = ZSTD_createDStream();
	return u->of.zstd != NULL;
}

static const char *zstd_step(struct unpacking *u)
{
	ZSTD_inBuffer in = { .src = u->in, .size = u->n_in };
	ZSTD_outBuffer out = { .dst = u->out, .size = STEP_BYTES };
	size_t wanted = ZSTD_decompressStream(u->of.zstd, &out, &in);

	if (ZSTD_isError(wanted))
		return ZSTD_getErrorName(wanted);
	u->in += in.pos;
	u->n_in -= in.pos;
	u->n_out = out.pos;
	u->is_whole = wanted == 0;
	return NULL;
}

static void zstd_end(struct unpacking *u)
{
	ZSTD_freeDStream(u->of.zstd);
}

static bool gzip_begin(struct unpacking *u)
{
	u->of.gzip = (z_stream){ 0 };
	return inflateInit2(&u->of.gzip, GZIP_WINDOW) == Z_OK;
}

/* A file may be several, one after another. */
static const char *gzip_step(struct unpacking *u)
{
	z_stream *z = &u->of.gzip;
	size_t given = u->n_in < UINT32_MAX ? u->n_in : UINT32_MAX;
	int rc;

	if (u->is_whole && inflateReset(z) != Z_OK)
		return "cannot begin again";
	z->next_in = u->in;
	z->avail_in = (uInt)given;
	z->next_out = u->out;
	z->avail_out = STEP_BYTES;
	rc = inflate(z, Z_NO_FLUSH);
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return z->msg != NULL ? z->msg : zError(rc);
	u->in += given - z->avail_in;
	u->n_in -= given - z->avail_in;
	u->n_out = STEP_BYTES - z->avail_out;
	u->is_whole = rc == Z_STREAM_END;
	return NULL;
}

static void gzip_end(struct unpacking *u)
{
	inflateEnd(&u->of.gzip);
}

static bool xz_begin(struct unpacking *u)
{
	u->of.xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&u->of.xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
}

static const char *xz_step(struct unpacking *u)
{
	lzma_stream *x = &u->of.xz;
	lzma_ret rc;

	x->next_in = u->in;
	x->avail_in = u->n_in;
	x->next_out = u->out;
	x->avail_out = STEP_BYTES;
	rc = lzma_code(x, LZMA_FINISH);
	if (rc == LZMA_MEMLIMIT_ERROR)
		return "it takes more than 128 MiB of memory";
	if (rc != LZMA_OK && rc != LZMA_STREAM_END && rc != LZMA_BUF_ERROR)
		return "its data is damaged";
	u->in = x->next_in;
	u->n_in = x->avail_in;
	u->n_out = STEP_BYTES - x->avail_out;
	u->is_whole = rc == LZMA_STREAM_END;
	return NULL;
}

static void xz_end(struct unpacking *u)
{
	lzma_end(&u->of.xz);
}

/* begin() is false if memory is short; step() returns what is wrong, or NULL. */
static const struct packer {
	const char *name;
	uint8_t magic[6], n_magic;
	bool (*begin)(struct unpacking *);
	const char *(*step)(struct unpacking *);
	void (*end)(struct unpacking *);
} packers[] = {
	{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4, zstd_begin, zstd_step, zstd_end },
	{ "gzip", { 0x1f, 0x8b }, 2, gzip_begin, gzip_step, gzip_end },
	{ "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, xz_begin, xz_step, xz_end },
};

static const struct packer *find_packer(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < COUNT(packers); i++)
		if (size >= packers[i].n_magic &&
		    memcmp(bytes, packers[i].magic, packers[i].n_magic) == 0)
			return &packers[i];
	return NULL;
}

bool is_packed(const uint8_t *bytes, size_t size)
{
	return find_packer(bytes, size) != NULL;
}

bool is_bomb(uint64_t n_out, uint64_t n_in)
{
	return n_out > FREE_BYTES + UNPACK_MAX_RATIO * n_in;
}

static int unpack_all(const struct packer *p, struct unpacking *u, FILE *to,
		      char why[UNPACK_ERROR_BYTES], struct err *err)
{
	size_t size = u->n_in;
	uint64_t n_out = 0;

	while (u->n_in > 0 || !u->is_whole) {
		size_t before = u->n_in;
		const char *wrong = p->step(u);

		if (wrong != NULL) {
			snprintf(why, UNPACK_ERROR_BYTES, "%s says %s", p->name, wrong);
			return 0;
		}
		n_out += u->n_out;
		if (is_bomb(n_out, size - u->n_in)) {
			snprintf(why, UNPACK_ERROR_BYTES, "more than %d times its size comes out",
				 UNPACK_MAX_RATIO);
			return 0;
		}
		if (fwrite(u->out, 1, u->n_out, to) != u->n_out)
			return err_set(err, ERR_IO, ERR_NOWHERE,
				       "cannot write it decompressed to a temporary file: %s",
				       strerror(errno));
		if (u->n_out == 0 && u->n_in == before && !u->is_whole) {
			snprintf(why, UNPACK_ERROR_BYTES, "it is cut off");
			return 0;
		}
	}
	return 0;
}

int unpack(const uint8_t *bytes, size_t size, struct mapped *out, char why[UNPACK_ERROR_BYTES],
	   struct err *err)
{
	const struct packer *p = find_packer(bytes, size);
	struct unpacking u = { .in = bytes, .n_in = size };
	FILE *to = temporary_file(err);
	int rc;

	if (to == NULL)
		return err_within(err, "decompressed file");
	if (!p->begin(&u)) {
		fclose(to);
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "no memory for %s", p->name);
	}
	u.out = mem_alloc(STEP_BYTES, 1);
	rc = unpack_all(p, &u, to, why, err);
	if (rc == 0)
		rc = mapped_from_stream(out, to, err);
	p->end(&u);
	free(u.out);
	fclose(to);
	return rc;
}
