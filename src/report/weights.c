/* SPDX-License-Identifier: Apache-2.0 */
#include "report/weights.h"

uint64_t weights_add(struct weights *w, const uint64_t *key, uint64_t by)
{
	uint32_t number = tuples_add(&w->keys, key);

	if (number == w->list.n)
		vec_add(&w->list);
	return w->list.items[number] += by;
}

void weights_release(struct weights *w)
{
	tuples_release(&w->keys);
	vec_release(&w->list);
}
