/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines are findings, and what is to be said if none is. */
#ifndef CYCLOPS_C2C_VERDICT_CLASSES_H
#define CYCLOPS_C2C_VERDICT_CLASSES_H

#include "c2c/accesses/result.h"

/* A line with less of the latency of all loads is no finding. */
#define C2C_LEAST_SHARE 0.001

/* Of all stores, for lines that only stores meet on. */
#define C2C_LEAST_STORES 0.01

/* How much is known of what is wrong with a line. */
enum c2c_class {
	C2C_NOT_CONTENDED,
	C2C_STORES_ONLY, /* several write different parts of it; what stores wait for is not recorded */
	C2C_SUSPECTED, /* loads waited, whom for is not known */
	C2C_CONTENDED,
	C2C_N_CLASSES,
};

enum c2c_class c2c_class_of(const struct c2c *, const struct c2c_subject *);

/* A line's part of all contended loads. */
double c2c_contended_part(const struct c2c *, const struct c2c_subject *);

/* What shares are of: from issue on where that was recorded, or else from dispatch. */
const char *c2c_latency_words(const struct c2c *);

/* Why there is no finding. */
enum c2c_silence {
	C2C_NO_DATA_ADDRESSES, /* which it takes */
	C2C_NO_WRITES,	       /* stores were not recorded */
	C2C_SPREAD,	       /* many lines wait, none of them much */
	C2C_NONE_CONTENDED,
};

enum c2c_silence c2c_silence_of(const struct c2c *);

/* Was any write to a line seen? Atomics write, too, but they are loads in the record. */
bool c2c_has_writes(const struct c2c *);

#endif
