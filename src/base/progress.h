/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far long work has come. Whoever does the work says so, at no cost where nobody looks; whoever shows
 * it reads it from another thread (cli/progress.h). A pointer to it may be NULL everywhere.
 */
#ifndef CYCLOPS_BASE_PROGRESS_H
#define CYCLOPS_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	_Atomic(const char *) doing; /* "reading"; a constant; NULL: nothing is under way */
	_Atomic uint64_t done, total;

	/* Takes what is shown off the screen, before anything else is written there; may be NULL. */
	void (*hide)(struct progress *);
};

/* Begins work of `total` units, whatever they are; `doing` is a constant. */
static inline void progress_begin(struct progress *p, const char *doing, uint64_t total)
{
	if (p == NULL)
		return;
	atomic_store(&p->done, 0);
	atomic_store(&p->total, total);
	atomic_store(&p->doing, doing);
}

/* So many units more, or so many altogether, are done. */
static inline void progress_add(struct progress *p, uint64_t units)
{
	if (p != NULL)
		atomic_fetch_add_explicit(&p->done, units, memory_order_relaxed);
}

static inline void progress_set(struct progress *p, uint64_t units)
{
	if (p != NULL)
		atomic_store_explicit(&p->done, units, memory_order_relaxed);
}

/* The work is over. When it returns, nothing of it is shown any more. */
static inline void progress_end(struct progress *p)
{
	if (p == NULL)
		return;
	atomic_store(&p->doing, NULL);
	if (p->hide != NULL)
		p->hide(p);
}

#endif
