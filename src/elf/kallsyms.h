/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of a running kernel: /proc/kallsyms, or a copy of it. */
#ifndef CYCLOPS_ELF_KALLSYMS_H
#define CYCLOPS_ELF_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"
#include "elf/functions.h"

enum { N_KALLSYMS_MARKS = 2 };

/* Zeroed is empty. */
struct kallsyms {
	struct functions functions;	  /* of the kernel and its modules, at their addresses */
	struct functions data;		  /* the same of variables */
	bool is_hidden;			  /* all addresses are 0: the reader may not see them */
	uint64_t marks[N_KALLSYMS_MARKS]; /* see kallsyms_find_mark() */
};

/* Reads the file at `path`. Lines that are not symbols are passed over. */
int kallsyms_read(struct kallsyms *, const char *path, struct err *);

void kallsyms_release(struct kallsyms *);

/*
 * The address of a symbol that recorders give to say where the kernel was: "_text" or
 * "_stext". False if it is another one, or not there.
 */
bool kallsyms_find_mark(const struct kallsyms *, const char *name, uint64_t *out);

#endif
