/* SPDX-License-Identifier: Apache-2.0 */
/* What samples of memory events say of their access: union perf_mem_data_src of perf_event.h. */
#ifndef CYCLOPS_ANALYSIS_DATA_SRC_H
#define CYCLOPS_ANALYSIS_DATA_SRC_H

#include <stdint.h>

#include "cpu/cpu.h"

enum data_access {
	DATA_LOAD = 1,
	DATA_STORE = 2,
	DATA_LOCKED = 4, /* an atomic operation, which is one of the others, too */
};

/* Bits of enum data_access; 0: it is no access, or not known. */
unsigned data_src_access(uint64_t data_src);

/* Where it hit, SOURCE_UNKNOWN if it did not or that is not told. */
enum source_level data_src_level(uint64_t data_src);

#endif
