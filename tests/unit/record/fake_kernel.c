/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_kernel.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static struct fake_event *event_of(struct fake_kernel *k, int fd)
{
	return &k->events[fd - FAKE_FIRST_FD];
}

static int refused(const struct fake_kernel *k, const struct event_request *r)
{
	for (size_t i = 0; i < COUNT(k->refusals); i++) {
		uint64_t precise = r->attr->flags >> ATTR_PRECISE_IP & 3;
		bool is_any = (k->refusals[i].flags | k->refusals[i].read_format |
			       k->refusals[i].precise) == 0;

		if (k->refusals[i].error == 0 ||
		    (k->refusals[i].pid != 0 && k->refusals[i].pid != r->pid))
			continue;
		if (is_any || (r->attr->flags & k->refusals[i].flags) != 0 ||
		    (r->attr->read_format & k->refusals[i].read_format) != 0 ||
		    (k->refusals[i].precise != 0 && precise >= k->refusals[i].precise))
			return -k->refusals[i].error;
	}
	return 0;
}

static int fake_open(void *context, const struct event_request *r)
{
	struct fake_kernel *k = context;
	int error = refused(k, r);

	if (error < 0)
		return error;
	if (k->n_events == FAKE_EVENTS)
		return -EMFILE;
	k->events[k->n_events] = (struct fake_event){
		.attr = *r->attr, .pid = r->pid, .cpu = r->cpu, .group = r->group_fd, .output = -1
	};
	return FAKE_FIRST_FD + k->n_events++;
}

static int fake_close(void *context, int fd)
{
	event_of(context, fd)->is_closed = true;
	return 0;
}

static int fake_control(void *context, int fd, enum kernel_request request, uint64_t argument)
{
	struct fake_kernel *k = context;
	struct fake_event *e = event_of(k, fd);

	if (request == KERNEL_ENABLE || request == KERNEL_DISABLE)
		e->is_enabled = request == KERNEL_ENABLE;
	if (request == KERNEL_SET_OUTPUT && k->fails_output)
		return -EINVAL;
	if (request == KERNEL_SET_OUTPUT)
		e->output = (int)argument;
	return 0;
}

static int fake_id(void *context, int fd, uint64_t *out_id)
{
	struct fake_kernel *k = context;

	if (k->fails_id)
		return -EINVAL;
	*out_id = (uint64_t)fd * 10;
	return 0;
}

/* What the event's read_format asks for, as the kernel orders it. */
static int64_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	struct fake_kernel *k = context;
	const struct fake_event *e = event_of(k, fd);
	const uint64_t all[] = { e->enabled_ns, e->running_ns, 2, 0, e->n_lost };
	uint64_t words[1 + COUNT(all)] = { 1 };
	size_t n = 1;

	for (size_t bit = 0; bit < COUNT(all); bit++)
		if (e->attr.read_format >> bit & 1)
			words[n++] = all[bit];
	if (k->fails_read || size != n * sizeof(*words))
		return -ENOSPC;
	memcpy(buffer, words, size);
	return (int64_t)size;
}

static int fake_map(void *context, int fd, uint64_t offset, size_t size, bool is_writable,
		    void **out)
{
	struct fake_kernel *k = context;
	struct fake_event *e = event_of(k, fd);
	struct fake_event *owner = e->output >= 0 ? event_of(k, e->output) : e;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (k->map_error != 0)
		return -k->map_error;
	if (offset == 0) {
		if (k->max_ring != 0 && size - page > k->max_ring)
			return -EPERM;
		e->page = aligned_alloc(page, size);
		memset(e->page, 0, size);
		e->ring_size = size - page;
		*out = e->page;
		return 0;
	}
	if (offset != page + owner->ring_size || owner->page->aux_offset != offset ||
	    owner->page->aux_size != size)
		return -EINVAL;
	if (k->max_aux != 0 && size > k->max_aux)
		return -EPERM;
	owner->aux = mem_zalloc(size, 1);
	owner->aux_size = size;
	owner->is_aux_writable = is_writable;
	*out = owner->aux;
	return 0;
}

static void fake_unmap(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static int fake_poll(void *context, struct pollfd *fds, size_t n, int timeout_ms)
{
	struct fake_kernel *k = context;
	int ready = 0;

	(void)timeout_ms;
	for (size_t i = 0; i < n; i++) {
		fds[i].revents =
			fds[i].fd >= FAKE_FIRST_FD ? k->revents[fds[i].fd - FAKE_FIRST_FD] : 0;
		ready += fds[i].revents != 0;
	}
	return ready;
}

static uint64_t fake_clock_ns(void *context, clockid_t clock)
{
	(void)clock;
	return ((struct fake_kernel *)context)->now_ns;
}

void fake_kernel_init(struct fake_kernel *k)
{
	*k = (struct fake_kernel){
		.kernel = {
			.open = fake_open,
			.close = fake_close,
			.control = fake_control,
			.id = fake_id,
			.read = fake_read,
			.map = fake_map,
			.unmap = fake_unmap,
			.poll = fake_poll,
			.clock_ns = fake_clock_ns,
		},
	};
	k->kernel.context = k;
}

/* All memory was unmapped by the code under test, so nothing is left to free. */
void fake_kernel_release(struct fake_kernel *k)
{
	*k = (struct fake_kernel){ 0 };
}

static void put(uint8_t *memory, size_t size, uint64_t at, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memory[(at + i) % size] = bytes[i];
}

void fake_ring_put(struct fake_event *e, const void *bytes, size_t size)
{
	uint8_t *data = (uint8_t *)e->page + sysconf(_SC_PAGESIZE);

	put(data, e->ring_size, e->page->data_head, bytes, size);
	e->page->data_head += size;
}

void fake_aux_put(struct fake_event *e, const void *bytes, size_t size)
{
	put(e->aux, e->aux_size, e->page->aux_head, bytes, size);
	e->page->aux_head += size;
}
