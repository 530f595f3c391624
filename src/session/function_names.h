/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of places, each looked up when it is first asked for: for output that is written while places are still being
 * found. names.h looks up many at once, in parallel.
 */
#ifndef CYCLOPS_SESSION_FUNCTION_NAMES_H
#define CYCLOPS_SESSION_FUNCTION_NAMES_H

#include <stdint.h>

#include "session/session.h"

struct function_names;

/* Nobody else may use the session's symbols until function_names_free(). */
struct function_names *function_names_new(struct session *);

/* What has no name is in symbols_missing_at() from then on. */
void function_names_free(struct function_names *);

/*
 * The function of a place, by its number: demangled, the same pointer for the same name, valid as long as the session's
 * symbols. NULL: it is not known. Any thread may ask.
 */
const char *function_names_find(struct function_names *, uint32_t place);

/* How far a place whose function was found is from its start. */
uint64_t function_names_offset(struct function_names *, uint32_t place);

#endif
