/* SPDX-License-Identifier: Apache-2.0 */
/* Answers are kept by number of the place, in chunks like the places themselves, and read without a lock. */
#include "session/function_names.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"

struct function_names {
	struct session *session;
	pthread_mutex_t asking; /* held by who uses symbols, or makes a chunk */
	_Atomic(_Atomic(const char *) *) chunks[PLACE_CHUNKS];
};

/* An answer; NULL: the place was not asked for yet. */
static const char not_known[] = "";

struct function_names *function_names_new(struct session *s)
{
	struct function_names *f = mem_zalloc(1, sizeof(*f));

	f->session = s;
	pthread_mutex_init(&f->asking, NULL);
	return f;
}

void function_names_free(struct function_names *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < COUNT(f->chunks); i++)
		free(atomic_load(&f->chunks[i]));
	pthread_mutex_destroy(&f->asking);
	symbols_update_missing(f->session->symbols);
	free(f);
}

/* The slowest way: the first time that a place is asked for. */
__attribute__((noinline)) static const char *ask(struct function_names *f, uint32_t place,
						 unsigned chunk, uint64_t slot)
{
	_Atomic(const char *) *answers;
	const char *answer;

	pthread_mutex_lock(&f->asking);
	answers = atomic_load_explicit(&f->chunks[chunk], memory_order_relaxed);
	if (answers == NULL) {
		answers = mem_zalloc((size_t)1 << (chunk + PLACE_FIRST_LOG), sizeof(*answers));
		atomic_store_explicit(&f->chunks[chunk], answers, memory_order_release);
	}
	answer = atomic_load_explicit(&answers[slot], memory_order_relaxed);
	if (answer == NULL) {
		answer = symbols_function_at(f->session->symbols, session_place(f->session, place));
		if (answer == NULL)
			answer = not_known;
		atomic_store_explicit(&answers[slot], answer, memory_order_release);
	}
	pthread_mutex_unlock(&f->asking);
	return answer;
}

const char *function_names_find(struct function_names *f, uint32_t place)
{
	uint64_t at = (uint64_t)place + (1u << PLACE_FIRST_LOG);
	unsigned log = 63u - (unsigned)__builtin_clzll(at), chunk = log - PLACE_FIRST_LOG;
	uint64_t slot = at - ((uint64_t)1 << log);
	_Atomic(const char *) *answers =
		atomic_load_explicit(&f->chunks[chunk], memory_order_acquire);
	const char *answer =
		answers == NULL ? NULL : atomic_load_explicit(&answers[slot], memory_order_acquire);

	if (answer == NULL)
		answer = ask(f, place, chunk, slot);
	return answer == not_known ? NULL : answer;
}
