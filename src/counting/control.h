/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that come while events are counted, as perf stat has them: "fifo:CTL[,ACK]" names one or two
 * FIFOs, "fd:N[,M]" descriptors that are open. Each line of the first is a command; "ack" is written to the
 * second when it has been done.
 */
#ifndef CYCLOPS_COUNTING_CONTROL_H
#define CYCLOPS_COUNTING_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum control_command {
	CONTROL_NONE, /* no whole command is there now */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING, /* nothing to do but the answer */
	CONTROL_UNKNOWN,
};

struct control {
	int fd, ack_fd; /* -1: none */
	bool is_ours;	/* they are closed at the end */
	char line[128]; /* of the command that is being read, or was read last */
	size_t n;
	bool is_long; /* the line does not fit: no command is so long */
};

/* Opens what the text names; NULL: nothing. */
int control_open(struct control *, const char *text, struct err *);
void control_release(struct control *);

/* The next command that has come. Does not wait. After the end of the input fd is -1. */
enum control_command control_next(struct control *);

/* Says that the command has been done. */
void control_acknowledge(const struct control *);

#endif
