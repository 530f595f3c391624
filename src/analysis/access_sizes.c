/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/access_sizes.h"

#include <stdlib.h>

#include "analysis/vector_length.h"
#include "base/alloc.h"
#include "isa/access.h"
#include "symbol/code.h"

enum { LONGEST_INSTRUCTION = 15, PLACES_A_JOB = 4096 };

struct looking {
	struct access_sizes *sizes;
	const struct session *session;
	const bool *wanted;
};

static void look_at(struct access_sizes *a, const struct session *s, uint32_t place)
{
	const uint32_t kinds = ACCESS_LOAD | ACCESS_STORE;
	struct isa_access access;
	struct code code;

	if (!symbols_code(s->symbols, session_place(s, place), LONGEST_INSTRUCTION, &code) ||
	    !isa_access(code.isa, code.bytes, code.size, &access) || !(access.flags & kinds))
		return;
	a->bytes[place] = access.bytes;
	a->is_scalable[place] = access.flags & ACCESS_SCALABLE;
}

static void look_at_some(void *context, size_t job, unsigned worker)
{
	const struct looking *l = context;
	size_t end = (job + 1) * PLACES_A_JOB;

	(void)worker;
	for (size_t i = job * PLACES_A_JOB; i < end && i < l->sizes->n; i++)
		if (l->wanted[i])
			look_at(l->sizes, l->session, (uint32_t)i);
}

/* Opens the files, which is not for several threads. */
static void open_modules(const struct session *s, const bool *wanted, uint32_t n)
{
	struct module_id last = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct module_id module = session_place(s, i).module;

		if (wanted[i] && module.v != last.v)
			symbols_isa(s->symbols, module);
		last = wanted[i] ? module : last;
	}
}

void access_sizes_init(struct access_sizes *a, struct session *s, const bool *wanted)
{
	struct looking looking = { a, s, wanted };

	*a = (struct access_sizes){ .n = place_numbers_n(s->places) };
	a->bytes = mem_zalloc(a->n + 1, sizeof(*a->bytes));
	a->is_scalable = mem_zalloc(a->n + 1, sizeof(*a->is_scalable));
	open_modules(s, wanted, a->n);
	pool_run(s->pool, (a->n + PLACES_A_JOB - 1) / PLACES_A_JOB, look_at_some, &looking);
	for (uint32_t i = 0; i < a->n; i++)
		a->n_scalable += a->is_scalable[i];
}

void access_sizes_stretch(struct access_sizes *a, uint32_t vector_bits)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->is_scalable[i])
			a->bytes[i] = a->bytes[i] * vector_bits / VECTOR_LEAST_BITS;
}

void access_sizes_release(struct access_sizes *a)
{
	free(a->bytes);
	free(a->is_scalable);
	*a = (struct access_sizes){ 0 };
}
