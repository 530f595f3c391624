/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/fix/fold.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/accesses/extent.h"

/* A thread in an object. */
struct actor {
	uint32_t instance, tid, place; /* one of its places, by number in `places` */
	uint32_t number, role;
	uint64_t written, read; /* the lowest offsets; UINT64_MAX: none */
};

/* An access of the objects in question. */
struct actor_access {
	struct layout_access access;
	uint32_t actor;
};

struct folding {
	const struct c2c_objects *objects;
	const struct c2c_instances *instances;
	struct c2c_fold *out;
	bool *is_in;		  /* by instance */
	struct tuples actor_keys; /* (instance, process << 32 | tid) */
	VEC_OF(struct actor) actors;
	struct tuples places;
	VEC_OF(uint32_t) joined; /* by place: another one that threads do in the same object */
	VEC_OF(struct actor_access) accesses_made;
};

struct layout_access c2c_layout_access(const struct c2c *s, uint32_t touch, uint64_t offset)
{
	struct c2c_touch_key key = c2c_touch_key(s->accesses_seen, touch);
	struct c2c_extent extent = c2c_extent(s, &key);
	uint64_t n = c2c_touch_records(s->accesses_seen, touch);
	bool is_atomic = extent.kind & (C2C_KIND_ATOMIC | C2C_KIND_EXCLUSIVE);

	struct layout_access out = {
		.offset = offset,
		.size = c2c_extent_bytes(&extent),
		.thread = key.tid,
		.is_atomic = is_atomic,
	};

	memory_counts_add(&out.counts, c2c_memory_kind(extent.kind), n);
	return out;
}

static uint32_t root_of(struct folding *f, uint32_t place)
{
	while (f->joined.items[place] != place) {
		f->joined.items[place] = f->joined.items[f->joined.items[place]];
		place = f->joined.items[place];
	}
	return place;
}

/* The lower number stays, so that the order of joins does not matter. */
static void join_places(struct folding *f, uint32_t a, uint32_t b)
{
	a = root_of(f, a);
	b = root_of(f, b);
	f->joined.items[a > b ? a : b] = a < b ? a : b;
}

static uint32_t c2c_fold_place_of(struct folding *f, uint32_t place)
{
	uint32_t number = tuples_add(&f->places, &(uint64_t){ place });

	if (number == f->joined.n)
		*vec_add(&f->joined) = number;
	return number;
}

static uint32_t actor_of(struct folding *f, uint32_t instance, const struct c2c_touch_key *k)
{
	const uint64_t key[] = { instance, (uint64_t)k->process << 32 | k->tid };
	uint32_t number = tuples_add(&f->actor_keys, key), place = c2c_fold_place_of(f, k->place);

	if (number == f->actors.n)
		*vec_add(&f->actors) = (struct actor){ .instance = instance,
						       .tid = k->tid,
						       .place = place,
						       .number = number,
						       .written = UINT64_MAX,
						       .read = UINT64_MAX };
	join_places(f, f->actors.items[number].place, place);
	return number;
}

/* What reaches over the end of the object is cut off. */
static void clip(struct layout_access *a, uint64_t size)
{
	if (size > a->offset && a->size > size - a->offset)
		a->size = (uint32_t)(size - a->offset);
}

static void add_access(struct folding *f, uint32_t number, bool is_outside)
{
	const struct c2c *s = f->objects->sharing;
	const struct types *types = symbols_types(s->session->symbols);
	const struct c2c_access *a = &s->accesses.items[number];
	uint32_t instance = f->instances->of_access[number];
	struct c2c_instance in = c2c_instance(f->instances, instance);
	uint64_t offset = c2c_objects_query(f->objects, number).address - in.start;
	struct type_id type = c2c_instance_type(f->instances, in.kind);

	for (uint32_t i = 0; i < a->n_touches; i++) {
		uint32_t touch = a->first_touch + i;
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, touch);
		struct layout_access access = c2c_layout_access(s, touch, offset);
		uint32_t actor_number = actor_of(f, instance, &k);
		struct actor *actor = &f->actors.items[actor_number];
		uint64_t *lowest =
			memory_writes(&access.counts) > 0 ? &actor->written : &actor->read;

		clip(&access, types_get(types, type)->size);
		access.is_outside = is_outside;
		*lowest = access.offset < *lowest ? access.offset : *lowest;
		*vec_add(&f->accesses_made) = (struct actor_access){ access, actor_number };
	}
}

static void add_accesses(struct folding *f, const struct c2c_causes *causes, uint32_t cause)
{
	const struct c2c *s = f->objects->sharing;

	for (uint32_t i = 0; i < s->accesses.n; i++) {
		uint32_t instance = f->instances->of_access[i], line = f->objects->lines[i];

		if (instance != TUPLES_NONE && f->is_in[instance])
			add_access(f, i, line >= s->subjects.n || causes->of_line[line] != cause);
	}
}

static int compare_actors(const void *left, const void *right, void *context)
{
	const struct actor *a = left, *b = right;
	uint32_t place_of_a = root_of(context, a->place), place_of_b = root_of(context, b->place);

	if (a->instance != b->instance)
		return (a->instance > b->instance) - (a->instance < b->instance);
	if (place_of_a != place_of_b)
		return (place_of_a > place_of_b) - (place_of_a < place_of_b);
	if (a->written != b->written)
		return (a->written > b->written) - (a->written < b->written);
	if (a->read != b->read)
		return (a->read > b->read) - (a->read < b->read);
	if (a->tid != b->tid)
		return (a->tid > b->tid) - (a->tid < b->tid);
	return (a->number > b->number) - (a->number < b->number);
}

/* By actor: what they are alike in, and which of several such it is. */
static void find_roles(struct folding *f)
{
	size_t n = f->actors.n;
	struct actor *sorted = mem_alloc(n + 1, sizeof(*sorted));
	uint64_t *nth = mem_alloc(n + 1, sizeof(*nth));
	struct tuples roles;

	for (size_t i = 0; i < n; i++)
		sorted[i] = f->actors.items[i];
	if (n > 1)
		qsort_r(sorted, n, sizeof(*sorted), compare_actors, f);
	for (size_t i = 0; i < n; i++) {
		bool is_next = i > 0 && sorted[i].instance == sorted[i - 1].instance &&
			       root_of(f, sorted[i].place) == root_of(f, sorted[i - 1].place);

		nth[sorted[i].number] = is_next ? nth[sorted[i - 1].number] + 1 : 0;
	}
	tuples_init(&roles, 2);
	for (size_t i = 0; i < n; i++) {
		const uint64_t key[] = { root_of(f, f->actors.items[i].place), nth[i] };

		f->actors.items[i].role = tuples_add(&roles, key);
	}
	tuples_release(&roles);
	free(nth);
	free(sorted);
}

/* Does each thread do the same in all objects, and no other thread does that? */
static bool are_same_threads(const struct folding *f)
{
	struct tuples roles, tids, pairs;
	bool out;

	tuples_init(&roles, 1);
	tuples_init(&tids, 1);
	tuples_init(&pairs, 2);
	for (size_t i = 0; i < f->actors.n; i++) {
		const struct actor *a = &f->actors.items[i];

		tuples_add(&roles, &(uint64_t){ a->role });
		tuples_add(&tids, &(uint64_t){ a->tid });
		tuples_add(&pairs, (const uint64_t[]){ a->role, a->tid });
	}
	out = pairs.n == roles.n && pairs.n == tids.n;
	tuples_release(&roles);
	tuples_release(&tids);
	tuples_release(&pairs);
	return out;
}

/* One for all that are alike. */
static void fold_alike(struct folding *f)
{
	struct c2c_fold *out = f->out;
	struct tuples keys;

	tuples_init(&keys, 3);
	for (size_t i = 0; i < f->accesses_made.n; i++) {
		struct layout_access a = f->accesses_made.items[i].access;
		const struct actor *actor = &f->actors.items[f->accesses_made.items[i].actor];
		uint32_t number;

		a.thread = out->has_roles ? actor->role : actor->tid;
		number = tuples_add(
			&keys, (const uint64_t[]){ a.offset, (uint64_t)a.size << 32 | a.thread,
						   (uint64_t)a.is_atomic << 1 | a.is_outside });
		if (number == out->accesses.n) {
			*vec_add(&out->accesses) = a;
			continue;
		}
		memory_counts_merge(&out->accesses.items[number].counts, &a.counts);
	}
	tuples_release(&keys);
}

/* What objects have in common that begin as far into a line. */
struct place_in_line {
	uint64_t cycles, address;
	uint32_t n_objects;
};

static void find_address(struct folding *f, const struct c2c_cause *cause)
{
	const struct c2c *s = f->objects->sharing;
	bool *is_counted = mem_zalloc((size_t)f->instances->keys.n + 1, sizeof(*is_counted));
	VEC_OF(struct place_in_line) list = { 0 };
	struct tuples keys;
	const struct place_in_line *best;

	tuples_init(&keys, 1);
	for (size_t i = 0; i < cause->lines.n; i++) {
		const struct c2c_subject *line = &s->subjects.items[cause->lines.items[i]];
		uint32_t number = f->instances->of_line[cause->lines.items[i]];
		uint64_t start = c2c_instance(f->instances, number).start;
		uint32_t place = tuples_add(&keys, &(uint64_t){ start % s->options.line_bytes });

		if (place == list.n)
			vec_add(&list)->address = start;
		list.items[place].cycles += (uint64_t)line->excess_cycles;
		list.items[place].n_objects += !is_counted[number];
		f->out->n_objects += !is_counted[number];
		is_counted[number] = true;
	}
	best = &list.items[0];
	for (size_t i = 1; i < list.n; i++)
		if (list.items[i].cycles > best->cycles)
			best = &list.items[i];
	f->out->address = best->address;
	f->out->n_alike = best->n_objects;
	tuples_release(&keys);
	vec_release(&list);
	free(is_counted);
}

void c2c_fold_init(struct c2c_fold *out, const struct c2c_objects *objects,
		   const struct c2c_instances *instances, const struct c2c_causes *causes,
		   uint32_t number)
{
	const struct c2c_cause *cause = &causes->list.items[number];
	struct folding f = { .objects = objects, .instances = instances, .out = out };

	*out = (struct c2c_fold){ 0 };
	tuples_init(&f.actor_keys, 2);
	tuples_init(&f.places, 1);
	f.is_in = mem_zalloc((size_t)instances->keys.n + 1, sizeof(*f.is_in));
	for (size_t i = 0; i < cause->lines.n; i++)
		f.is_in[instances->of_line[cause->lines.items[i]]] = true;
	add_accesses(&f, causes, number);
	find_roles(&f);
	out->has_roles = !are_same_threads(&f);
	fold_alike(&f);
	find_address(&f, cause);
	free(f.is_in);
	vec_release(&f.accesses_made);
	vec_release(&f.joined);
	vec_release(&f.actors);
	tuples_release(&f.actor_keys);
	tuples_release(&f.places);
}

void c2c_fold_release(struct c2c_fold *f)
{
	vec_release(&f->accesses);
	*f = (struct c2c_fold){ 0 };
}
