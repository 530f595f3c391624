/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of this machine: its cores and what hosts it. Read below a root directory. */
#ifndef CYCLOPS_PMU_MACHINE_H
#define CYCLOPS_PMU_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* Cores of one kind. */
struct machine_core {
	uint64_t midr;	  /* MIDR_EL1; 0: not Arm, or not known */
	const char *name; /* name of a CPU that is not Arm, "Intel(R) Xeon(R) …"; NULL: not known */
	uint32_t n;
};

struct machine {
	struct arena memory;
	VEC_OF(struct machine_core) cores;
	uint32_t n_cpus; /* online */
	bool is_arm;
	bool is_virtual;
	const char *host; /* vendor and product: "Amazon EC2 c7g.large", "QEMU"; NULL: not known */
	bool is_container;
	bool has_device_tree;
};

/* `out` is overwritten; release it afterwards. */
void machine_read(struct machine *, const char *root);
void machine_release(struct machine *);

/* MIDR_EL1 of a CPU; 0: not Arm, or not known. */
uint64_t machine_midr(const char *root, uint32_t cpu);

#endif
