/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two kinds of memory that the kernel shares with a recorder: a ring of records, and the AUX
 * buffer beside it, which hardware such as SPE fills.
 *
 *   | control page | ring of records: 2^n pages |    | AUX buffer: 2^m pages |
 *
 * Positions count bytes from the start of recording and never wrap. The offset in the memory is the
 * position modulo its size.
 */
#ifndef CYCLOPS_RECORD_RING_RING_H
#define CYCLOPS_RECORD_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format/record.h"
#include "pmu/kernel.h"

struct perf_event_mmap_page;

/* New bytes, in two pieces if they wrap. A missing piece is NULL and 0. */
struct ring_bytes {
	const uint8_t *bytes, *rest;
	size_t n, n_rest;
	uint64_t position; /* of the first of them */
};

/* Zeroed is empty. */
struct ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;   /* a power of two */
	size_t mapped; /* bytes, with the control page */
	uint64_t read_to;
};

/*
 * Maps the ring of an event. `size`: a power of two, at least a page. Returns 0 or a negative
 * errno.
 */
int ring_map(struct ring *, const struct kernel *, int fd, size_t size);
void ring_unmap(struct ring *, const struct kernel *);

/* The whole records that came since the last ring_consume(). */
struct ring_bytes ring_peek(const struct ring *);

/* Lets the kernel overwrite the bytes. Copy them before. */
void ring_consume(struct ring *, const struct ring_bytes *);

/* How the timer's ticks become nanoseconds of the perf clock; false if the kernel does not say. */
bool ring_time_conv(const struct ring *, struct record_time_conv *out);

/* The AUX buffer of an event whose ring is mapped. Zeroed is empty. */
struct aux_ring {
	struct perf_event_mmap_page *page; /* that of the ring */
	uint8_t *data;
	size_t size; /* a power of two */
	uint64_t read_to;
	bool is_overwritten; /* snapshot mode: the kernel overwrites the oldest bytes */
	bool has_wrapped;    /* snapshot mode: was seen full once */
};

int aux_ring_map(struct aux_ring *, const struct kernel *, const struct ring *, int fd, size_t size,
		 bool is_overwritten);
void aux_ring_unmap(struct aux_ring *, const struct kernel *);

/* What came since the last aux_ring_consume(). Not for snapshot mode. */
struct ring_bytes aux_ring_peek(const struct aux_ring *);
void aux_ring_consume(struct aux_ring *, const struct ring_bytes *);

/*
 * Snapshot mode: the content, oldest bytes first. Until the buffer has been full once, only what
 * came since the last snapshot. A full buffer does not say what the last snapshot had, so bytes are
 * repeated, as in perf. The event must be disabled.
 */
struct ring_bytes aux_ring_snapshot(struct aux_ring *);

#endif
