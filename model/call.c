/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers: include/uapi/asm-generic/unistd.h of Linux. */
#include "model/call.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/alloc.h"

enum {
	PSELECT6 = 72,
	PPOLL = 73,
	NANOSLEEP = 101,
	CLOCK_NANOSLEEP = 115,
	FUTEX = 98,
	EXIT_GROUP = 94,
	CLONE = 220,
	CLONE3 = 435,
	MUNMAP = 215,
	MREMAP = 216,
	MMAP = 222,
	NS_PER_SECOND = 1000000000,
	FUTEX_WAIT = 0,
	FUTEX_REALTIME = 256,
};

/* Calls that are not CALL_PLAIN; futex is in futex_kind(). */
static const struct {
	int16_t number;
	uint8_t kind;
} kinds[] = {
	{ 22, CALL_BLOCKS }, /* epoll_pwait */
	{ 25, CALL_BLOCKS }, /* fcntl: may wait for a lock */
	{ 32, CALL_BLOCKS }, /* flock */
	{ 57, CALL_WAKES },  /* close: the end of a pipe */
	{ 63, CALL_BLOCKS }, /* read */
	{ 64, CALL_BLOCKS }, /* write */
	{ 65, CALL_BLOCKS }, /* readv */
	{ 66, CALL_BLOCKS }, /* writev */
	{ 67, CALL_BLOCKS }, /* pread64 */
	{ 68, CALL_BLOCKS }, /* pwrite64 */
	{ 71, CALL_BLOCKS }, /* sendfile */
	{ PSELECT6, CALL_BLOCKS },  { PPOLL, CALL_BLOCKS },
	{ 76, CALL_BLOCKS }, /* splice */
	{ 82, CALL_BLOCKS }, /* fsync */
	{ 83, CALL_BLOCKS }, /* fdatasync */
	{ 95, CALL_BLOCKS }, /* waitid */
	{ NANOSLEEP, CALL_SLEEPS }, { CLOCK_NANOSLEEP, CALL_SLEEPS },
	{ 124, CALL_YIELDS },	/* sched_yield */
	{ 129, CALL_WAKES },	/* kill */
	{ 130, CALL_WAKES },	/* tkill */
	{ 131, CALL_WAKES },	/* tgkill */
	{ 133, CALL_BLOCKS },	/* rt_sigsuspend */
	{ 137, CALL_BLOCKS },	/* rt_sigtimedwait */
	{ 188, CALL_BLOCKS },	/* msgrcv */
	{ 189, CALL_BLOCKS },	/* msgsnd */
	{ 192, CALL_BLOCKS },	/* semtimedop */
	{ 193, CALL_BLOCKS },	/* semop */
	{ 202, CALL_BLOCKS },	/* accept */
	{ 203, CALL_BLOCKS },	/* connect */
	{ 206, CALL_BLOCKS },	/* sendto */
	{ 207, CALL_BLOCKS },	/* recvfrom */
	{ 210, CALL_WAKES },	/* shutdown */
	{ 211, CALL_BLOCKS },	/* sendmsg */
	{ 212, CALL_BLOCKS },	/* recvmsg */
	{ 221, CALL_EXECUTES }, /* execve */
	{ 242, CALL_BLOCKS },	/* accept4 */
	{ 243, CALL_BLOCKS },	/* recvmmsg */
	{ 260, CALL_BLOCKS },	/* wait4 */
	{ 269, CALL_BLOCKS },	/* sendmmsg */
	{ 281, CALL_EXECUTES }, /* execveat */
};

static enum call_kind kind_of(int64_t number)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].number == number)
			return (enum call_kind)kinds[i].kind;
	return CALL_PLAIN;
}

/* Some operations of futex block, the others may wake threads. */
static enum call_kind futex_kind(uint64_t operation)
{
	enum { WAIT = FUTEX_WAIT, LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE = 11, LOCK_PI2 = 13 };

	switch (operation & 0x7f) {
	case WAIT:
	case LOCK_PI:
	case WAIT_BITSET:
	case WAIT_REQUEUE:
	case LOCK_PI2:
		return CALL_BLOCKS;
	default:
		return CALL_WAKES;
	}
}

/* Reads the time to sleep. The guest's values are not checked yet: invalid ones are left out. */
static void read_sleep_time(struct call *call, uint64_t address, uint64_t guest_base)
{
	int64_t time[2];

	if (address == 0)
		return;
	memcpy(time, (const void *)(uintptr_t)(address + guest_base), sizeof(time));
	if (time[0] >= 0 && time[0] < INT32_MAX && time[1] >= 0 && time[1] < NS_PER_SECOND)
		call->sleep_ns = (uint64_t)time[0] * NS_PER_SECOND + (uint64_t)time[1];
}

static void set_unmapped(struct call *call, uint64_t address, uint64_t size)
{
	call->unmapped = address;
	call->unmapped_end = address + size;
}

struct call call_read(int64_t number, const uint64_t a[CALL_ARGUMENTS], uint64_t guest_base)
{
	const uint64_t relative = 0;
	struct call call = { .kind = kind_of(number) };

	switch (number) {
	case FUTEX:
		call.kind = futex_kind(a[1]);
		if (call.kind == CALL_BLOCKS && (a[1] & 0x7f) != FUTEX_WAIT) {
			call.deadline = a[3];
			call.clock =
				(a[1] & FUTEX_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
		}
		break;
	case NANOSLEEP:
		read_sleep_time(&call, a[0], guest_base);
		break;
	case CLOCK_NANOSLEEP:
		call.kind = a[1] == relative ? CALL_SLEEPS : CALL_BLOCKS;
		if (a[1] == relative) {
			read_sleep_time(&call, a[2], guest_base);
		} else {
			call.deadline = a[2];
			call.clock = (int)a[0];
		}
		break;
	case MMAP:
		if ((a[3] & MAP_FIXED) != 0) /* else it maps free addresses */
			set_unmapped(&call, a[0], a[1]);
		break;
	case MUNMAP:
	case MREMAP:
		set_unmapped(&call, a[0], a[1]);
		break;
	case CLONE: /* the emulator treats vfork as fork */
		call.makes_process = (a[0] & CLONE_VM) == 0 || (a[0] & CLONE_VFORK) != 0;
		call.makes_thread = !call.makes_process;
		break;
	case CLONE3:
		call.makes_thread = true;
		break;
	case PSELECT6: /* without descriptors it is a sleep, and so is ppoll */
		call.kind = a[0] == 0 && a[4] != 0 ? CALL_SLEEPS : CALL_BLOCKS;
		if (a[0] == 0)
			read_sleep_time(&call, a[4], guest_base);
		break;
	case PPOLL:
		call.kind = a[1] == 0 && a[2] != 0 ? CALL_SLEEPS : CALL_BLOCKS;
		if (a[1] == 0)
			read_sleep_time(&call, a[2], guest_base);
		break;
	case EXIT_GROUP:
		call.ends_process = true;
		break;
	default:
		break;
	}
	return call;
}

enum call_kind call_returned(int64_t number)
{
	enum call_kind kind = number == FUTEX ? CALL_WAKES : kind_of(number);

	return kind == CALL_WAKES ? CALL_WAKES : CALL_PLAIN;
}
