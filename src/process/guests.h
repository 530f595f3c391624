/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual machines whose code was sampled on their host: what is in their kernels. Who the guest of a process is, such as of
 * qemu, is said by its pid, as `perf kvm` does; 0 are those of which nothing else is known.
 */
#ifndef CYCLOPS_PROCESS_GUESTS_H
#define CYCLOPS_PROCESS_GUESTS_H

#include "process/module_table.h"
#include "process/notes.h"
#include "process/timeline.h"

/* What is in the kernel of a guest, from some time before the capture until its end. */
struct guest_map {
	uint32_t pid;
	struct range range;
	struct module_id module;
};

/* Zeroed is empty. */
struct guests {
	bool are_there;		       /* samples of them are */
	VEC_OF(struct guest_map) maps; /* later ones hide earlier ones of the same guest */
	struct module_id user;	       /* of all user space of guests */
};

void guests_release(struct guests *);

/* Takes what was noted of guests. */
void guests_freeze(struct guests *, const struct notes *, struct module_table *);

/* The place of an address of the guest of process `pid`. */
struct placed guests_place(const struct guests *, uint32_t pid, bool is_user, uint64_t address);

#endif
