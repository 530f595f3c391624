/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool.h"

/* What is read before it is forgotten. */
enum { SEEN_BYTES = 1 << 20 };

void spool_release(struct spool *s)
{
	if (s->file != NULL)
		fclose(s->file);
	for (size_t i = 0; i < s->files.n; i++)
		mapped_release(&s->files.items[i]);
	vec_release(&s->files);
	text_release(&s->written);
	*s = (struct spool){ 0 };
}

void spool_flush(struct spool *s, size_t least_bytes)
{
	if (s->written.n < least_bytes || s->written.n == 0)
		return;
	if (s->file == NULL && s->rc == 0) {
		s->file = temporary_file(&s->err);
		s->rc = s->file == NULL ? -1 : 0;
	}
	if (s->rc == 0 && fwrite(s->written.bytes, 1, s->written.n, s->file) != s->written.n)
		s->rc = temporary_file_failed(&s->err);
	s->n_in_file += s->written.n;
	text_reset(&s->written);
}

/* Maps a file, which stays when it is closed. */
static void take_file(struct spool *into, FILE *file)
{
	if (file != NULL && into->rc == 0)
		into->rc = mapped_from_stream(vec_add(&into->files), file, &into->err);
}

void spool_finish(struct spool *s)
{
	if (s->file == NULL)
		return;
	spool_flush(s, 0);
	take_file(s, s->file);
}

void spool_merge(struct spool *into, const struct spool *from)
{
	if (from->rc < 0 && into->rc == 0) {
		into->rc = from->rc;
		into->err = from->err;
	}
	if (from->rc == 0)
		take_file(into, from->file);
}

const void *spool_bytes(const struct spool *s, size_t *out_size)
{
	if (s->files.n == 0) {
		*out_size = s->written.n;
		return s->written.bytes;
	}
	*out_size = s->files.items[0].size;
	return s->files.items[0].bytes;
}

const uint8_t *spool_next(const struct spool *s, struct spool_position *at)
{
	while (s->rc == 0 && at->file < s->files.n) {
		const struct mapped *file = &s->files.items[at->file];

		if (at->at < file->size)
			return file->bytes + at->at;
		at->file++;
		at->at = 0;
	}
	return NULL;
}

void spool_move(const struct spool *s, struct spool_position *at, const uint8_t *end)
{
	const struct mapped *file = &s->files.items[at->file];
	uint64_t before = at->at;

	at->at = (uint64_t)(end - file->bytes);
	if (before / SEEN_BYTES != at->at / SEEN_BYTES)
		mapped_drop(file, 0, before);
}

void spool_drop(const struct spool *s)
{
	for (size_t i = 0; i < s->files.n; i++)
		mapped_drop(&s->files.items[i], 0, s->files.items[i].size);
}
