/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a CPU by the names that users type. */
#ifndef CYCLOPS_MODEL_EVENT_CODE_H
#define CYCLOPS_MODEL_EVENT_CODE_H

#include <stdint.h>

#include "base/err.h"

/* An event as the catalog has it. */
struct event_code {
	char name[64];
	uint64_t code;
};

/* `cpu`: its id in the catalog. `text`: a name of the catalog or the kernel, in any case. */
int event_code_find(const char *text, const char *cpu, struct event_code *out, struct err *);

#endif
