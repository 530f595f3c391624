/* SPDX-License-Identifier: Apache-2.0 */
/* The header features that describe the machine: read from /proc and /sys. */
#ifndef CYCLOPS_RECORD_MACHINE_INFO_H
#define CYCLOPS_RECORD_MACHINE_INFO_H

#include <stdint.h>

#include <stdbool.h>

#include "base/text.h"
#include "capture/writer/writer.h"

/*
 * Sets HOSTNAME, OSRELEASE, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CPU_TOPOLOGY, NUMA_TOPOLOGY,
 * CACHE and MEM_TOPOLOGY; what cannot be read is left out. `root` is put before all paths, "" for
 * this machine.
 */
void record_machine(struct writer *, const char *root);

/* Appends "GenuineIntel,6,85,4", as CPUID says it of the first CPU; false if this is not x86. */
bool machine_x86_id(const char *root, struct text *);

#endif
