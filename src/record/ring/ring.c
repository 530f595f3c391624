/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol with the kernel: struct perf_event_mmap_page in include/uapi/linux/perf_event.h. */
#include "record/ring/ring.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

static bool is_power_of_two(size_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

int ring_map(struct ring *r, const struct kernel *k, int fd, size_t size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;
	int rc;

	assert(is_power_of_two(size) && size >= page_size);
	rc = k->map(k->context, fd, 0, page_size + size, true, &memory);
	if (rc < 0)
		return rc;
	*r = (struct ring){
		.page = memory,
		.data = (uint8_t *)memory + page_size,
		.size = size,
		.mapped = page_size + size,
	};
	return 0;
}

void ring_unmap(struct ring *r, const struct kernel *k)
{
	if (r->page != NULL)
		k->unmap(k->context, r->page, r->mapped);
	*r = (struct ring){ 0 };
}

/* The bytes of positions [from, to) in memory of `size` bytes, in one or two pieces. */
static struct ring_bytes ring_pieces(const uint8_t *data, size_t size, uint64_t from, uint64_t to)
{
	size_t n = (size_t)(to - from), at = from & (size - 1), room = size - at;
	struct ring_bytes b = { .bytes = data + at, .n = n, .position = from };

	assert(n <= size); /* the kernel never overtakes the reader */
	if (n == 0)
		b.bytes = NULL;
	if (n > room) {
		b.n = room;
		b.rest = data;
		b.n_rest = n - room;
	}
	return b;
}

/* The acquire load of the head makes the bytes before it visible. */
struct ring_bytes ring_peek(const struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);

	return ring_pieces(r->data, r->size, r->read_to, head);
}

void ring_consume(struct ring *r, const struct ring_bytes *b)
{
	r->read_to += b->n + b->n_rest;
	__atomic_store_n(&r->page->data_tail, r->read_to, __ATOMIC_RELEASE);
}

/* The fields are guarded by a sequence lock: odd while the kernel writes them. */
bool ring_time_conv(const struct ring *r, struct record_time_conv *out)
{
	const struct perf_event_mmap_page *page = r->page;
	struct record_time_conv t;
	uint32_t before;

	do {
		before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		t = (struct record_time_conv){
			.shift = page->time_shift,
			.mult = page->time_mult,
			.zero = page->time_zero,
			.cycles = page->time_cycles,
			.mask = page->time_mask,
			.has_short = page->cap_user_time_short,
		};
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((before & 1) != 0 || before != __atomic_load_n(&page->lock, __ATOMIC_RELAXED));
	if (!page->cap_user_time_zero)
		return false;
	*out = t;
	return true;
}

int aux_ring_map(struct aux_ring *a, const struct kernel *k, const struct ring *ring, int fd,
		 size_t size, bool is_overwritten)
{
	void *memory;
	int rc;

	assert(is_power_of_two(size));
	ring->page->aux_offset = ring->mapped;
	ring->page->aux_size = size;
	rc = k->map(k->context, fd, ring->mapped, size, !is_overwritten, &memory);
	if (rc < 0)
		return rc;
	*a = (struct aux_ring){
		.page = ring->page,
		.data = memory,
		.size = size,
		.is_overwritten = is_overwritten,
	};
	return 0;
}

void aux_ring_unmap(struct aux_ring *a, const struct kernel *k)
{
	if (a->data != NULL)
		k->unmap(k->context, a->data, a->size);
	*a = (struct aux_ring){ 0 };
}

struct ring_bytes aux_ring_peek(const struct aux_ring *a)
{
	uint64_t head = __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);

	return ring_pieces(a->data, a->size, a->read_to, head);
}

void aux_ring_consume(struct aux_ring *a, const struct ring_bytes *b)
{
	a->read_to += b->n + b->n_rest;
	__atomic_store_n(&a->page->aux_tail, a->read_to, __ATOMIC_RELEASE);
}

/*
 * Has the buffer wrapped? The head is an offset on some kernels, so it does not say. Buffers begin
 * as zeros, and records hardly leave the last 512 bytes zero.
 */
static bool is_written_at_end(const struct aux_ring *a)
{
	static const uint8_t zeros[512];

	return memcmp(a->data + a->size - sizeof(zeros), zeros, sizeof(zeros)) != 0;
}

struct ring_bytes aux_ring_snapshot(struct aux_ring *a)
{
	uint64_t head = __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);

	if (!a->has_wrapped)
		a->has_wrapped = head >= a->size || is_written_at_end(a);
	if (!a->has_wrapped) {
		uint64_t from = a->read_to;

		a->read_to = head;
		return ring_pieces(a->data, a->size, from, head);
	}
	if (head < a->size)
		head += a->size;
	return ring_pieces(a->data, a->size, head - a->size, head);
}
