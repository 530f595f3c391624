/* SPDX-License-Identifier: Apache-2.0 */
/* Why a module has no names or lines, and what the user can do about it: texts for messages. */
#ifndef CYCLOPS_SYMBOL_SHORTAGE_H
#define CYCLOPS_SYMBOL_SHORTAGE_H

#include "symbol/locate.h"

/* Zeroed: nothing is missing. Both texts are owned, and there are both or none. */
struct shortage {
	char *reason, *remedy;
	const char *brief; /* the reason in a few words, where it has more; NULL */
};

enum shortage_kind {
	SHORT_OF_SYMBOLS,	/* stripped of all names */
	SHORT_OF_LOCAL_SYMBOLS, /* stripped but for exported names */
	SHORT_OF_FUNCTION,	/* all is there, but some addresses belong to no function */
	SHORT_OF_LINES,
	SHORT_OF_KERNEL_LINES,
	SHORT_OF_SEGMENTS, /* only the debug file is here */
	SHORT_OF_JIT_MAP,
	SHORT_OF_KERNEL,    /* neither kallsyms nor vmlinux */
	SHORT_OF_BOOT,	    /* kallsyms is of another boot or kernel */
	SHORT_OF_ADDRESSES, /* kallsyms hides them */
	SHORT_OF_GUEST,	    /* no kallsyms of the virtual machine */
	SHORT_OF_GUEST_ADDRESSES,
	SHORT_OF_GUEST_BOOT,
	SHORT_OF_RELOCATION, /* vmlinux is there, but not where the kernel was */
	SHORT_OF_MODULE_BASE,
	SHORT_OF_VDSO,
};

/* Sets the shortage, unless one is set already: the first one found is the cause. */
void shortage_set(struct shortage *, enum shortage_kind);

/* The same, by the refusal of a search for a file. */
void shortage_set_refusal(struct shortage *, const struct refusal *, const struct wanted *);

void shortage_release(struct shortage *);

#endif
