/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded reader of untrusted little-endian bytes. Reading past the end yields zero and
 * marks the cursor bad; it stays bad. So a record is read in a straight line and checked
 * once, before anything read is used.
 */
#ifndef CYCLOPS_BASE_CURSOR_H
#define CYCLOPS_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *pos, *end;
	bool bad;
};

static inline struct cursor cur_of(const void *bytes, size_t size)
{
	const uint8_t *start = (const uint8_t *)bytes;

	return (struct cursor){ .pos = start, .end = size == 0 ? start : start + size };
}

/* Was everything read so far inside of the bytes? */
static inline bool cur_ok(const struct cursor *c)
{
	return !c->bad;
}

static inline size_t cur_left(const struct cursor *c)
{
	return (size_t)(c->end - c->pos);
}

/* Are there `count` items of `size` bytes left? To be asked before allocating for them. */
static inline bool cur_holds(const struct cursor *c, uint64_t count, size_t size)
{
	return !c->bad && count <= cur_left(c) / size;
}

/* The next `size` bytes, or NULL. */
static inline const uint8_t *cur_take(struct cursor *c, uint64_t size)
{
	const uint8_t *at = c->pos;

	if (c->bad || size > cur_left(c)) {
		c->bad = true;
		c->pos = c->end;
		return NULL;
	}
	c->pos += size;
	return at;
}

static inline void cur_skip(struct cursor *c, uint64_t size)
{
	(void)cur_take(c, size);
}

/* A cursor over the next `size` bytes alone; empty and bad if they are not there. */
static inline struct cursor cur_split(struct cursor *c, uint64_t size)
{
	const uint8_t *at = cur_take(c, size);

	if (at == NULL)
		return (struct cursor){ .pos = c->end, .end = c->end, .bad = true };
	return cur_of(at, (size_t)size);
}

static inline uint8_t cur_u8(struct cursor *c)
{
	const uint8_t *at = cur_take(c, 1);

	return at == NULL ? 0 : *at;
}

static inline uint16_t load_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *at)
{
	return (uint32_t)load_u16(at) | (uint32_t)load_u16(at + 2) << 16;
}

static inline uint64_t load_u64(const uint8_t *at)
{
	return (uint64_t)load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

static inline uint16_t cur_u16(struct cursor *c)
{
	const uint8_t *at = cur_take(c, 2);

	return at == NULL ? 0 : load_u16(at);
}

static inline uint32_t cur_u32(struct cursor *c)
{
	const uint8_t *at = cur_take(c, 4);

	return at == NULL ? 0 : load_u32(at);
}

static inline uint64_t cur_u64(struct cursor *c)
{
	const uint8_t *at = cur_take(c, 8);

	return at == NULL ? 0 : load_u64(at);
}

/*
 * A NUL-terminated string inside the remaining bytes, or NULL (and bad) if none ends there.
 * Borrowed from the bytes; the cursor stands behind the NUL.
 */
static inline const char *cur_string(struct cursor *c)
{
	const uint8_t *at = c->pos;
	const uint8_t *nul = c->bad ? NULL : memchr(at, 0, cur_left(c));

	if (nul == NULL) {
		c->bad = true;
		c->pos = c->end;
		return NULL;
	}
	c->pos = nul + 1;
	return (const char *)at;
}

#endif
