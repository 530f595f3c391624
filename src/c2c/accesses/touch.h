/* SPDX-License-Identifier: Apache-2.0 */
/* How touches are added up while the capture is scanned; what is asked of them afterwards is in c2c/accesses/accesses.h. */
#ifndef CYCLOPS_C2C_ACCESSES_TOUCH_H
#define CYCLOPS_C2C_ACCESSES_TOUCH_H

#include "c2c/accesses/accesses.h"

enum {
	C2C_N_SLOTS = 64,	/* bits of struct c2c_touch.slots */
	C2C_TOUCHES_AHEAD = 16, /* to be fetched by whoever goes through them */
};

/* Adds the touch of a record, whose key has this number: that of a touch before, or the next one. */
void c2c_touch_keep(struct c2c_accesses *, uint32_t number, const struct c2c_kept_touch *);

/* Fetches what there is of a touch of several records, which c2c_touch_keep() adds to. */
void c2c_touch_fetch(const struct c2c_accesses *, const struct c2c_kept_touch *);

/* Of several records of a whole line: what both did. */
void c2c_whole_touch_merge(struct c2c_whole_touch *, const struct c2c_whole_touch *from);
struct c2c_whole_touch c2c_whole_touch_of(const struct c2c_accesses *,
					  const struct c2c_kept_touch *);

/* Its loads that waited for what others wrote, but for those that the mode is about. */
struct c2c_latency c2c_touch_reloads(const struct c2c_accesses *, uint32_t number);

#endif
