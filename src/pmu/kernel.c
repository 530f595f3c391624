/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/kernel.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int error_or(long result)
{
	return result < 0 ? -errno : (int)result;
}

static int linux_open(void *context, const struct event_request *request)
{
	(void)context;
	return event_open(request);
}

static int linux_close(void *context, int fd)
{
	(void)context;
	return error_or(close(fd));
}

static int linux_control(void *context, int fd, enum kernel_request request, uint64_t argument)
{
	static const unsigned long numbers[] = {
		[KERNEL_ENABLE] = PERF_EVENT_IOC_ENABLE,
		[KERNEL_DISABLE] = PERF_EVENT_IOC_DISABLE,
		[KERNEL_SET_OUTPUT] = PERF_EVENT_IOC_SET_OUTPUT,
		[KERNEL_SET_FILTER] = PERF_EVENT_IOC_SET_FILTER,
	};

	(void)context;
	return error_or(ioctl(fd, numbers[request], argument));
}

static int linux_id(void *context, int fd, uint64_t *out_id)
{
	(void)context;
	return error_or(ioctl(fd, PERF_EVENT_IOC_ID, out_id));
}

static int64_t linux_read(void *context, int fd, void *buffer, size_t size)
{
	ssize_t n = read(fd, buffer, size);

	(void)context;
	return n < 0 ? -errno : n;
}

static int linux_map(void *context, int fd, uint64_t offset, size_t size, bool is_writable,
		     void **out)
{
	int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
	void *memory = mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);

	(void)context;
	if (memory == MAP_FAILED)
		return -errno;
	*out = memory;
	return 0;
}

static void linux_unmap(void *context, void *memory, size_t size)
{
	(void)context;
	munmap(memory, size);
}

static int linux_bpf(void *context, int command, void *attr, size_t size)
{
	(void)context;
	return error_or(syscall(SYS_bpf, command, attr, size));
}

static int linux_poll(void *context, struct pollfd *fds, size_t n, int timeout_ms)
{
	(void)context;
	return error_or(poll(fds, n, timeout_ms));
}

static uint64_t linux_clock_ns(void *context, clockid_t clock)
{
	struct timespec now = { 0 };

	(void)context;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const struct kernel kernel_linux = {
	.open = linux_open,
	.close = linux_close,
	.control = linux_control,
	.id = linux_id,
	.read = linux_read,
	.map = linux_map,
	.unmap = linux_unmap,
	.bpf = linux_bpf,
	.poll = linux_poll,
	.clock_ns = linux_clock_ns,
};
