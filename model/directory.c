/* SPDX-License-Identifier: Apache-2.0 */
#include "model/directory.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { FIRST_SLOTS = 1024 };

void directory_init(struct directory *d)
{
	*d = (struct directory){
		.slots = mem_zalloc(FIRST_SLOTS, sizeof(*d->slots)),
		.mask = FIRST_SLOTS - 1,
	};
}

void directory_release(struct directory *d)
{
	free(d->slots);
	*d = (struct directory){ 0 };
}

/* The slot where the search for a line begins. No random seed: all runs have the same results. */
static size_t directory_home(const struct directory *d, uint64_t line)
{
	const uint64_t odd = 0x9e3779b97f4a7c15;

	return (size_t)(line * odd >> 32) & d->mask;
}

void directory_host_prefetch(const struct directory *d, uint64_t line)
{
	__builtin_prefetch(&d->slots[directory_home(d, line)]);
}

static size_t find_slot(const struct directory *d, uint64_t line)
{
	size_t i = directory_home(d, line);

	while (d->slots[i].holders != 0 && d->slots[i].line != line)
		i = (i + 1) & d->mask;
	return i;
}

uint64_t directory_holders(const struct directory *d, uint64_t line)
{
	return d->slots[find_slot(d, line)].holders;
}

static void directory_grow(struct directory *d)
{
	struct directory larger = { .mask = 2 * d->mask + 1, .n = d->n };

	larger.slots = mem_zalloc(larger.mask + 1, sizeof(*larger.slots));
	for (size_t i = 0; i <= d->mask; i++)
		if (d->slots[i].holders != 0)
			larger.slots[find_slot(&larger, d->slots[i].line)] = d->slots[i];
	free(d->slots);
	*d = larger;
}

void directory_add(struct directory *d, uint64_t line, unsigned cpu)
{
	struct directory_slot *slot = &d->slots[find_slot(d, line)];

	if (slot->holders == 0 && 2 * ++d->n > d->mask + 1) {
		directory_grow(d);
		slot = &d->slots[find_slot(d, line)];
	}
	slot->line = line;
	slot->holders |= (uint64_t)1 << cpu;
}

/* Empties a slot, and moves entries behind it forward so that searches still find them. */
static void empty_slot(struct directory *d, size_t hole)
{
	for (size_t i = (hole + 1) & d->mask; d->slots[i].holders != 0; i = (i + 1) & d->mask) {
		size_t from_home = (i - directory_home(d, d->slots[i].line)) & d->mask;

		if (from_home < ((i - hole) & d->mask))
			continue;
		d->slots[hole] = d->slots[i];
		hole = i;
	}
	d->slots[hole] = (struct directory_slot){ 0 };
	d->n--;
}

void directory_remove(struct directory *d, uint64_t line, unsigned cpu)
{
	size_t i = find_slot(d, line);

	assert(d->slots[i].holders >> cpu & 1);
	d->slots[i].holders &= ~((uint64_t)1 << cpu);
	if (d->slots[i].holders == 0)
		empty_slot(d, i);
}
