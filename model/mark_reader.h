/* SPDX-License-Identifier: Apache-2.0 */
/* Reads marks (measure/mark.h) out of the guest's memory. */
#ifndef CYCLOPS_MODEL_MARK_READER_H
#define CYCLOPS_MODEL_MARK_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/regions.h"

/* The mark at a guest address. False: there is none; other code may have such instructions, too. */
bool mark_read(uint64_t address, uint64_t guest_base, struct seen_mark *out);

#endif
