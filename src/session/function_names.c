/* SPDX-License-Identifier: Apache-2.0 */
/* Functions have numbers, which are kept by place: in chunks like the places themselves, and read without a lock. */
#include "session/function_names.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/tuples.h"

struct known_function {
	const char *name; /* NULL: it has none */
	uint64_t start;	  /* offset in the module */
};

/* What places have no function have instead. */
enum { NO_FUNCTION = 0 };

struct function_names {
	struct session *session;
	pthread_mutex_t asking; /* held by who uses symbols, or adds something */
	struct tuples keys;	/* name, start → number of the function */
	_Atomic(struct known_function *) functions[PLACE_CHUNKS];
	/* By place: the number of its function, + 1; 0: it was not asked for yet. */
	_Atomic(_Atomic(uint32_t) *) answers[PLACE_CHUNKS];
};

static size_t chunk_size(unsigned chunk)
{
	return (size_t)1 << (chunk + PLACE_FIRST_LOG);
}

/* The number of a function; the mutex is held. What is there already is not written to, as others read it. */
static uint32_t add_function(struct function_names *f, const char *name, uint64_t start)
{
	uint32_t n = f->keys.n;
	uint32_t number = tuples_add(&f->keys, (uint64_t[]){ (uintptr_t)name, start });
	uint64_t slot;
	unsigned chunk = place_chunk_of(number, &slot);
	struct known_function *list;

	if (number < n)
		return number;
	list = atomic_load_explicit(&f->functions[chunk], memory_order_relaxed);
	if (list == NULL) {
		list = mem_zalloc(chunk_size(chunk), sizeof(*list));
		atomic_store_explicit(&f->functions[chunk], list, memory_order_release);
	}
	list[slot] = (struct known_function){ name, start };
	return number;
}

struct function_names *function_names_new(struct session *s)
{
	struct function_names *f = mem_zalloc(1, sizeof(*f));

	f->session = s;
	pthread_mutex_init(&f->asking, NULL);
	tuples_init(&f->keys, 2);
	add_function(f, NULL, 0); /* NO_FUNCTION */
	return f;
}

void function_names_free(struct function_names *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < PLACE_CHUNKS; i++) {
		free(atomic_load(&f->functions[i]));
		free(atomic_load(&f->answers[i]));
	}
	tuples_release(&f->keys);
	pthread_mutex_destroy(&f->asking);
	symbols_update_missing(f->session->symbols);
	free(f);
}

/* The slowest way: the first time that a place is asked for. */
__attribute__((noinline)) static uint32_t ask(struct function_names *f, uint32_t number)
{
	struct place place = session_place(f->session, number);
	_Atomic(uint32_t) *answers;
	uint64_t slot, offset;
	unsigned chunk = place_chunk_of(number, &slot);
	uint32_t answer;

	pthread_mutex_lock(&f->asking);
	answers = atomic_load_explicit(&f->answers[chunk], memory_order_relaxed);
	if (answers == NULL) {
		answers = mem_zalloc(chunk_size(chunk), sizeof(*answers));
		atomic_store_explicit(&f->answers[chunk], answers, memory_order_release);
	}
	answer = atomic_load_explicit(&answers[slot], memory_order_relaxed);
	if (answer == 0) {
		const char *name = symbols_function_at(f->session->symbols, place, &offset);

		answer = 1 + (name == NULL ? (uint32_t)NO_FUNCTION
					   : add_function(f, name, place.offset - offset));
		atomic_store_explicit(&answers[slot], answer, memory_order_release);
	}
	pthread_mutex_unlock(&f->asking);
	return answer;
}

static const struct known_function *function_of(struct function_names *f, uint32_t place)
{
	uint64_t slot;
	unsigned chunk = place_chunk_of(place, &slot);
	_Atomic(uint32_t) *answers = atomic_load_explicit(&f->answers[chunk], memory_order_acquire);
	uint32_t answer =
		answers == NULL ? 0 : atomic_load_explicit(&answers[slot], memory_order_acquire);

	if (answer == 0)
		answer = ask(f, place);
	chunk = place_chunk_of(answer - 1, &slot);
	return &atomic_load_explicit(&f->functions[chunk], memory_order_acquire)[slot];
}

const char *function_names_find(struct function_names *f, uint32_t place)
{
	return function_of(f, place)->name;
}

uint64_t function_names_offset(struct function_names *f, uint32_t place)
{
	return session_place(f->session, place).offset - function_of(f, place)->start;
}
