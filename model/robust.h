/* SPDX-License-Identifier: Apache-2.0 */
/* Locks in memory that processes share. A process may be killed while it holds one. */
#ifndef CYCLOPS_MODEL_ROBUST_H
#define CYCLOPS_MODEL_ROBUST_H

#include <errno.h>
#include <pthread.h>

static inline void robust_mutex_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

/* The lock of a process that was killed is taken over, with the data as it is. */
static inline void robust_lock(pthread_mutex_t *mutex)
{
	if (pthread_mutex_lock(mutex) == EOWNERDEAD)
		pthread_mutex_consistent(mutex);
}

#endif
