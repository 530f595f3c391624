/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of --fail-if: "ipc < 1.5", "share(parse) > 10 %", "function:chase > 5 ms". */
#ifndef CYCLOPS_GATE_CONDITION_H
#define CYCLOPS_GATE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Of what is the limit? */
enum condition_unit {
	CONDITION_PLAIN,
	CONDITION_PERCENT, /* "%": a limit of 3 % is 0.03 */
	CONDITION_TIME,	   /* "ns", "us", "ms", "s": the limit is in ns */
};

struct condition {
	const char *text; /* as it was given; borrowed */
	const char *name; /* in `text`, not terminated … */
	size_t name_size; /* … of so many bytes, at least one */
	bool is_less, or_equal;
	enum condition_unit unit;
	double limit; /* finite */
};

/*
 * Reads NAME SIGN NUMBER [UNIT]. The sign is the last one: names of C++ functions contain such signs,
 * too. A name is whatever precedes it. The error says what is wrong and shows the form.
 */
int condition_parse(const char *text, struct condition *out, struct err *);

/* Does this value meet it? */
bool condition_is_met(const struct condition *, double value);

#endif
