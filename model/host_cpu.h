/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the host that are held on one CPU of it for a while. */
#ifndef CYCLOPS_MODEL_HOST_CPU_H
#define CYCLOPS_MODEL_HOST_CPU_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct host_pin {
	atomic_bool is_set;
	cpu_set_t before; /* if it is set: the CPUs that the thread could use */
};

/*
 * Holds the calling thread on a CPU, also if the guest wants it on others: the model has CPUs of its own.
 * False: the system does not let it.
 */
bool host_pin_set(struct host_pin *, int cpu);

/* The thread, of any process, may use the CPUs again that it could use before; nothing if the pin is not set. */
void host_pin_release(struct host_pin *, pid_t id);

#endif
