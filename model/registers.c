/* SPDX-License-Identifier: Apache-2.0 */
#include "model/registers.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
	/*
	 * CPUARMState of QEMU begins with the sixteen registers of AArch32; those of AArch64
	 * follow.
	 */
	REGISTERS_AT = 16 * sizeof(uint32_t),
	N_GENERAL = 32,
	ENOUGH = 200, /* right addresses to verify with, of many instructions and base registers */
};

static bool is_readable(const void *at)
{
	uint64_t copy[N_GENERAL];
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, copy, sizeof(copy), (off_t)(uintptr_t)at);
	close(fd);
	return n == sizeof(copy);
}

void registers_learn(struct registers *r, struct register_trust *t, const void *cpu_state)
{
	const void *at = (const char *)cpu_state + REGISTERS_AT;

	if (atomic_load(&t->is_wrong))
		return;
	if (r->cpu_state != NULL || cpu_state == NULL || (uintptr_t)at % sizeof(uint64_t) != 0 ||
	    !is_readable(at)) {
		atomic_store(&t->is_wrong, true);
		return;
	}
	r->cpu_state = cpu_state;
	r->values = at;
}

/* Does the instruction overwrite its base register? Then the address cannot be checked after it. */
static bool changes_base(const struct insn *in)
{
	for (size_t i = 0; i < COUNT(in->results); i++)
		if (in->results[i] == in->address.base)
			return true;
	return false;
}

void registers_check(struct register_trust *t, const struct registers *r, const struct insn *in,
		     uint64_t va)
{
	if (atomic_load_explicit(&t->n_right, memory_order_relaxed) >= ENOUGH ||
	    in->address.form != ADDRESS_OFFSET || changes_base(in) || r->values == NULL ||
	    atomic_load(&t->is_wrong))
		return;
	if (insn_address_of(in, r->values) == va)
		atomic_fetch_add(&t->n_right, 1);
	else
		atomic_store(&t->is_wrong, true);
}

bool registers_trusted(const struct register_trust *t, const struct registers *r)
{
	return r->values != NULL && !atomic_load(&t->is_wrong) &&
	       atomic_load(&t->n_right) >= ENOUGH;
}
