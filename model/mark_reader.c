/* SPDX-License-Identifier: Apache-2.0 */
#include "model/mark_reader.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "measure/mark.h"

/* Copies what is there, at most up to the end of the second page. Returns how much that is. */
static size_t copy_memory(uint64_t address, void *out, size_t size)
{
	const uint64_t page = 4096;
	size_t first = (size_t)(page - address % page);
	const struct iovec to = { .iov_base = out, .iov_len = size };
	const struct iovec from[] = {
		{ .iov_base = (void *)(uintptr_t)address, .iov_len = first < size ? first : size },
		{ .iov_base = (void *)(uintptr_t)(address + first),
		  .iov_len = first < size ? size - first : 0 },
	};
	ssize_t n = process_vm_readv(getpid(), &to, 1, from, 2, 0);

	return n < 0 ? 0 : (size_t)n;
}

bool mark_read(uint64_t address, uint64_t guest_base, struct seen_mark *out)
{
	struct mark mark;

	if (copy_memory(address + guest_base, &mark, sizeof(mark)) != sizeof(mark) ||
	    mark.magic != MARK_MAGIC || mark.kind > UINT32_MAX || mark.region > MARK_MOST_REGION)
		return false;
	*out = (struct seen_mark){
		.kind = (uint32_t)mark.kind,
		.handle = mark.handle,
		.region = (uint32_t)mark.region,
	};
	if (mark.kind == MARK_BEGIN) {
		size_t n = copy_memory(mark.name + guest_base, out->name, sizeof(out->name) - 1);

		out->name[n] = '\0';
	}
	return true;
}
