/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 256 };

static uint32_t strings_probe(const struct strings *s, const char *text, size_t len)
{
	uint32_t slot = (uint32_t)hash_bytes(text, len, s->seed) & s->mask;

	for (; s->slots[slot] != 0; slot = (slot + 1) & s->mask) {
		const char *other = s->texts.items[s->slots[slot] - 1];

		if (strncmp(other, text, len) == 0 && other[len] == '\0')
			break;
	}
	return slot;
}

static void strings_grow(struct strings *s)
{
	size_t slots = 2 * ((size_t)s->mask + 1);

	assert(slots <= (size_t)1 << 31);
	s->mask = (uint32_t)slots - 1;
	free(s->slots);
	s->slots = mem_zalloc(slots, sizeof(*s->slots));
	for (size_t i = 0; i < s->texts.n; i++) {
		const char *text = s->texts.items[i];

		s->slots[strings_probe(s, text, strlen(text))] = (uint32_t)i + 1;
	}
}

void strings_init(struct strings *s)
{
	*s = (struct strings){ .mask = FIRST_SLOTS / 2 - 1, .seed = hash_seed() };
	strings_grow(s);
	strings_add(s, "", 0);
}

void strings_release(struct strings *s)
{
	arena_release(&s->text);
	vec_release(&s->texts);
	free(s->slots);
	*s = (struct strings){ 0 };
}

struct str_id strings_add(struct strings *s, const char *text, size_t len)
{
	uint32_t slot;

	if (len == 0)
		text = "";
	len = strnlen(text, len);
	slot = strings_probe(s, text, len);
	if (s->slots[slot] != 0)
		return (struct str_id){ s->slots[slot] - 1 };
	if (2 * (s->texts.n + 1) > s->mask) {
		strings_grow(s);
		slot = strings_probe(s, text, len);
	}
	*vec_add(&s->texts) = arena_strndup(&s->text, text, len);
	s->slots[slot] = (uint32_t)s->texts.n;
	return (struct str_id){ (uint32_t)s->texts.n - 1 };
}

struct str_id strings_addz(struct strings *s, const char *text)
{
	return strings_add(s, text, strlen(text));
}

const char *strings_get(const struct strings *s, struct str_id id)
{
	assert(id.v < s->texts.n);
	return s->texts.items[id.v];
}
