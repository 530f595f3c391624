/* SPDX-License-Identifier: Apache-2.0 */
#include "model/prefetch.h"

#include <stdbool.h>
#include <stdlib.h>

#include "model/params.h"

enum { CONFIDENT_AFTER = 2 }; /* equal strides or steps */

/* Updates the stride. Is it confident, and is the access in another line than the last one? */
static bool update_stride(struct stride_entry *e, uint64_t pc, uint64_t va, int64_t longest)
{
	int64_t stride = (int64_t)(va - e->va);
	bool is_new_line = va >> LINE_SHIFT != e->va >> LINE_SHIFT;

	if (e->pc != pc) {
		*e = (struct stride_entry){ .pc = pc, .va = va };
		return false;
	}
	if (stride == 0)
		return false;
	if (stride != e->stride)
		e->n_same = e->n_ahead = 0;
	else
		e->n_same++;
	e->stride = stride;
	e->va = va;
	return is_new_line && e->n_same >= CONFIDENT_AFTER && llabs(stride) <= longest;
}

/* A stride shorter than a line goes from line to line. */
static int64_t step_of(int64_t stride)
{
	if (llabs(stride) >= LINE_BYTES)
		return stride;
	return stride < 0 ? -LINE_BYTES : LINE_BYTES;
}

size_t prefetcher_train_stride(struct prefetcher *p, uint64_t pc, uint64_t va, uint64_t *out_vas)
{
	struct stride_entry *e = &p->entries[(pc >> 2) % STRIDE_ENTRIES];
	size_t n = 0;

	if (p->distance == 0 || !update_stride(e, pc, va, p->longest_stride))
		return 0;
	if (e->n_ahead > 0)
		e->n_ahead--; /* this access is the first of those prefetched */
	while (e->n_ahead < p->distance && n < PREFETCH_MAX) {
		e->n_ahead++;
		out_vas[n++] = va + (uint64_t)(step_of(e->stride) * (int64_t)e->n_ahead);
	}
	return n;
}

/* The stream that the line continues, or else the least recently used one, emptied. */
static struct stream *find_stream(struct prefetcher *p, uint64_t line)
{
	struct stream *oldest = &p->streams[0];

	for (size_t i = 0; i < STREAMS; i++) {
		struct stream *s = &p->streams[i];
		int64_t step = (int64_t)(line - s->line);
		bool is_next = s->step != 0 ? step == s->step : step == 1 || step == -1;

		if (s->used != 0 && is_next) {
			s->step = step;
			return s;
		}
		if (s->used < oldest->used)
			oldest = s;
	}
	*oldest = (struct stream){ 0 };
	return oldest;
}

size_t prefetcher_train_stream(struct prefetcher *p, uint64_t va, uint64_t *out_vas)
{
	uint64_t line = va >> LINE_SHIFT;
	struct stream *s;
	size_t n = 0;

	if (p->distance == 0)
		return 0;
	s = find_stream(p, line);
	s->line = line;
	s->used = ++p->n_lines;
	if (s->step == 0 || ++s->n_same < CONFIDENT_AFTER)
		return 0;
	if (s->n_ahead > 0)
		s->n_ahead--;
	while (s->n_ahead < p->distance && n < PREFETCH_MAX) {
		s->n_ahead++;
		out_vas[n++] = (line + (uint64_t)(s->step * (int64_t)s->n_ahead)) << LINE_SHIFT;
	}
	return n;
}
