/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose functions are called by several others, for tests of the callers that cyclops estimates for
 * SPE records. The first argument chooses one, the second its size. The model knows who called.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define TAIL NOINLINE __attribute__((optimize("optimize-sibling-calls")))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { SMALL = 512, LARGE = 1 << 20, THREADS = 4 };

static uint64_t small[SMALL], large[LARGE];
static volatile uint64_t sink;

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* The shared leaf: its loads hit or miss by what its caller gives it. */
NOINLINE static uint64_t gather(const uint64_t *from, uint64_t mask, uint64_t n, uint64_t seed)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += from[next_random(&seed) & mask];
	return sum;
}

NOINLINE static uint64_t from_small(uint64_t n, uint64_t seed)
{
	return gather(small, SMALL - 1, n, seed) + 1;
}

NOINLINE static uint64_t from_large(uint64_t n, uint64_t seed)
{
	return gather(large, LARGE - 1, n, seed) + 1;
}

/* 1. Two hot callers with other data: one misses, the other does not. */
static void shared(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		sink += from_small(3000, i);
		sink += from_large(1000, i);
	}
}

/* 2. The same in a fine loop, where no time tells the callers apart. */
static void interleaved(uint64_t n)
{
	for (uint64_t i = 0; i < n * 150; i++) {
		sink += from_small(12, i);
		sink += from_large(12, i);
	}
}

/* 3. Recursion: a tree that two functions descend, one of them in cold data. */
struct node {
	struct node *left, *right;
	uint64_t key, pad[5];
};

NOINLINE static struct node *grow(uint64_t depth, uint64_t *seed, struct node *pool, uint64_t *n)
{
	struct node *node = &pool[(*n)++];

	node->key = next_random(seed);
	if (depth == 0)
		return node;
	node->left = grow(depth - 1, seed, pool, n);
	node->right = grow(depth - 1, seed, pool, n);
	return node;
}

NOINLINE static uint64_t descend(const struct node *node, uint64_t path)
{
	if (node->left == NULL)
		return node->key;
	return node->key + descend(path & 1 ? node->right : node->left, path >> 1);
}

NOINLINE static uint64_t look_up(const struct node *tree, uint64_t seed)
{
	return descend(tree, next_random(&seed)) + 1;
}

NOINLINE static uint64_t check_one(const struct node *tree, uint64_t seed)
{
	return descend(tree, next_random(&seed) & 7) + 2;
}

static void recursion(uint64_t n)
{
	uint64_t used = 0, seed = 1;
	struct node *pool = calloc(1 << 16, sizeof(*pool));
	const struct node *tree = grow(14, &seed, pool, &used);

	for (uint64_t i = 0; i < n * 100; i++) {
		sink += look_up(tree, i);
		if (i % 3 == 0)
			sink += check_one(tree, i);
	}
}

/* 4. Phases: callers take turns for long. */
static void phases(uint64_t n)
{
	for (uint64_t phase = 0; phase < 6; phase++)
		for (uint64_t i = 0; i < n * (phase % 3 + 1) / 5; i++)
			sink += phase % 2 == 0 ? from_small(3000, i) : from_large(800, i);
}

/* 5. Threads, each with another mixture of callers. */
static uint64_t size_of_threads;

static void *mixture(void *of)
{
	uint64_t parts = (uint64_t)(uintptr_t)of, sum = 0;

	for (uint64_t i = 0; i < size_of_threads; i++)
		sum += i % THREADS < parts ? from_large(300, i) : from_small(900, i);
	sink += sum;
	return NULL;
}

static void threads(uint64_t n)
{
	pthread_t all[THREADS];

	size_of_threads = n;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, mixture, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

/* 6. Deep chains from two roots. */
NOINLINE static uint64_t deeper(uint64_t depth, const uint64_t *from, uint64_t mask, uint64_t seed)
{
	if (depth == 0)
		return gather(from, mask, 200, seed);
	return deeper(depth - 1, from, mask, seed) + 1;
}

NOINLINE static uint64_t root_near(uint64_t seed)
{
	return deeper(40, small, SMALL - 1, seed) + 1;
}

NOINLINE static uint64_t root_far(uint64_t seed)
{
	return deeper(24, large, LARGE - 1, seed) + 1;
}

static void deep(uint64_t n)
{
	for (uint64_t i = 0; i < n * 10; i++) {
		sink += root_near(i);
		if (i % 2 == 0)
			sink += root_far(i);
	}
}

/* 7. Tail calls: who calls the leaf is not on the stack, but its caller is. */
TAIL static uint64_t tail_small(uint64_t n, uint64_t seed)
{
	return gather(small, SMALL - 1, n, seed);
}

TAIL static uint64_t tail_large(uint64_t n, uint64_t seed)
{
	return gather(large, LARGE - 1, n, seed);
}

NOINLINE static uint64_t reader(uint64_t i)
{
	return tail_small(500, i) + 1;
}

NOINLINE static uint64_t scanner(uint64_t i)
{
	return tail_large(400, i) + 1;
}

static void tail(uint64_t n)
{
	for (uint64_t i = 0; i < n * 4; i++) {
		sink += reader(i);
		sink += scanner(i);
	}
}

/* 8. A function that is inlined into what two others call. */
static inline __attribute__((always_inline)) uint64_t step(const uint64_t *from, uint64_t mask,
							   uint64_t *seed)
{
	return from[next_random(seed) & mask];
}

NOINLINE static uint64_t walk(const uint64_t *from, uint64_t mask, uint64_t n, uint64_t seed)
{
	uint64_t sum = 0;

	while (n-- > 0)
		sum += step(from, mask, &seed) ^ sum << 3;
	return sum;
}

NOINLINE static uint64_t parse(uint64_t i)
{
	return walk(small, SMALL - 1, 700, i) + 1;
}

NOINLINE static uint64_t match(uint64_t i)
{
	return walk(large, LARGE - 1, 150, i) + 1;
}

static void inlined(uint64_t n)
{
	for (uint64_t i = 0; i < n * 6; i++) {
		sink += parse(i);
		sink += match(i);
	}
}

/* 9. A function of a library that several call, with sizes of their own. */
static char buffer[1 << 14];

NOINLINE static void copy_line(uint64_t i)
{
	memcpy(buffer, (const char *)large + i % 1000 * 64, 64);
	sink++;
}

NOINLINE static void copy_page(uint64_t i)
{
	memcpy(buffer, (const char *)large + i * 7919 % 1900 * 4096, 4096);
	sink++;
}

NOINLINE static void copy_block(uint64_t i)
{
	memcpy(buffer, (const char *)small, 1024 + i % 2 * 1024);
	sink++;
}

static void library(uint64_t n)
{
	for (uint64_t i = 0; i < n * 20; i++) {
		copy_page(i);
		for (int k = 0; k < 8; k++)
			copy_line(i + (uint64_t)k);
		copy_block(i);
		copy_block(i + 1);
	}
}

/* 10. A caller that is rare, but slow. */
static void rare(uint64_t n)
{
	for (uint64_t i = 0; i < n * 3; i++)
		sink += i % 40 == 39 ? from_large(1000, i) : from_small(1000, i);
}

/* 11. Callbacks by function pointer: the leaf is not called by name. */
typedef uint64_t visit(const uint64_t *from, uint64_t at);

NOINLINE static uint64_t visit_one(const uint64_t *from, uint64_t at)
{
	return from[at] + from[at ^ 1];
}

NOINLINE static uint64_t visit_two(const uint64_t *from, uint64_t at)
{
	return from[at] ^ from[at ^ 2];
}

NOINLINE static uint64_t each(visit *what, const uint64_t *from, uint64_t mask, uint64_t n,
			      uint64_t seed)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += what(from, next_random(&seed) & mask);
	return sum;
}

NOINLINE static uint64_t survey(visit *what, uint64_t i)
{
	return each(what, large, LARGE - 1, 200, i) + 1;
}

NOINLINE static uint64_t refresh(visit *what, uint64_t i)
{
	return each(what, small, SMALL - 1, 600, i) + 1;
}

static void callbacks(uint64_t n)
{
	static visit *const all[] = { visit_one, visit_two };

	for (uint64_t i = 0; i < n * 4; i++) {
		sink += survey(all[i % 2], i);
		sink += refresh(all[i / 2 % 2], i);
	}
}

/* 12. Loops of other lengths: many short calls, few long ones. */
static void lengths(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		for (uint64_t k = 0; k < 60; k++)
			sink += from_small(5 + (i + k) % 20, i + k);
		sink += from_large(200 + i % 8 * 200, i);
	}
}

/*
 * 13 to 18 were written before the estimator was changed, and nothing was fitted to them.
 *
 * 13. A hash table whose keys are read at random: some often, most rarely.
 */
enum { SLOTS = 1 << 18 };

static uint64_t table[SLOTS];

NOINLINE static uint64_t probe(uint64_t key)
{
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 46;

	while (table[at] != 0 && table[at] != key)
		at = (at + 1) & (SLOTS - 1);
	return at;
}

NOINLINE static void put(uint64_t key)
{
	table[probe(key)] = key;
}

NOINLINE static uint64_t get_popular(uint64_t random)
{
	return table[probe(1 + random % 64)] + 1;
}

NOINLINE static uint64_t get_any(uint64_t random)
{
	return table[probe(1 + random % 100000)] + 2;
}

static void hash(uint64_t n)
{
	uint64_t seed = 3;

	for (uint64_t i = 0; i < n * 500; i++) {
		uint64_t random = next_random(&seed);

		if (random % 10 < 2)
			put(1 + next_random(&seed) % 100000);
		else if (random % 10 < 7)
			sink += get_popular(next_random(&seed));
		else
			sink += get_any(next_random(&seed));
	}
}

/* 14. One comparison for sorting what fits into the cache and for searching what does not. */
NOINLINE static int compare_keys(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

NOINLINE static uint64_t sort_batch(uint64_t *batch, size_t size, uint64_t *seed)
{
	for (size_t i = 0; i < size; i++)
		batch[i] = next_random(seed);
	for (size_t i = 1; i < size; i++)
		for (size_t k = i; k > 0 && compare_keys(&batch[k - 1], &batch[k]) > 0; k--) {
			uint64_t moved = batch[k];

			batch[k] = batch[k - 1];
			batch[k - 1] = moved;
		}
	return batch[0];
}

NOINLINE static uint64_t search_all(uint64_t key)
{
	size_t from = 0, to = LARGE;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (compare_keys(&large[middle], &key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void sorted(uint64_t n)
{
	uint64_t batch[24], seed = 5;

	for (size_t i = 0; i < LARGE; i++)
		large[i] = i * 2048;
	for (uint64_t i = 0; i < n * 25; i++) {
		sink += sort_batch(batch, 8 + i % 17, &seed);
		for (uint64_t k = 0; k < 3; k++)
			sink += search_all(next_random(&seed));
	}
}

/* 15. A function of texts that five parts of a parser call, for texts of other lengths and ages. */
static char texts[1 << 20];

NOINLINE static uint64_t hash_text(const char *text, uint64_t n)
{
	uint64_t hash = 5381;

	for (uint64_t i = 0; i < n; i++)
		hash = hash * 33 ^ (uint8_t)text[i];
	return hash;
}

NOINLINE static uint64_t keyword(uint64_t random)
{
	return hash_text(texts + random % 32 * 16, 3 + random % 5) + 1;
}

NOINLINE static uint64_t identifier(uint64_t random)
{
	return hash_text(texts + random % 4096 * 64, 6 + random % 20) + 2;
}

NOINLINE static uint64_t literal(uint64_t random)
{
	return hash_text(texts + random % 16000 * 64, 64) + 3;
}

NOINLINE static uint64_t comment(uint64_t random)
{
	return hash_text(texts + random % 1000 * 64, 300 + random % 300) + 4;
}

NOINLINE static uint64_t path(uint64_t random)
{
	return hash_text(texts + random % 8 * 64, 40) + 5;
}

static void parser(uint64_t n)
{
	static uint64_t (*const parts[])(uint64_t) = {
		keyword, keyword, keyword, identifier, identifier, identifier, literal, path,
	};
	uint64_t seed = 7;

	for (uint64_t i = 0; i < n * 60; i++) {
		sink += parts[next_random(&seed) % COUNT(parts)](next_random(&seed));
		if (i % 25 == 0)
			sink += comment(next_random(&seed));
	}
}

/* 16. A dot product along rows and along columns. */
enum { SIDE = 384 };

NOINLINE static uint64_t dot(const uint64_t *a, const uint64_t *b, uint64_t stride)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < SIDE; i++)
		sum += a[i] * b[i * stride];
	return sum;
}

NOINLINE static uint64_t rows(uint64_t i)
{
	return dot(large + i % SIDE * SIDE, large, 1) + 1;
}

NOINLINE static uint64_t columns(uint64_t i)
{
	return dot(large + i % SIDE * SIDE, large + i * 31 % SIDE, SIDE) + 2;
}

static void matrix(uint64_t n)
{
	for (uint64_t i = 0; i < n * 8; i++) {
		for (uint64_t k = 0; k < i % 5; k++)
			sink += rows(i + k);
		sink += columns(i);
	}
}

/* 17. Requests at random, 7 : 2 : 1, that walk lists by one function: short ones, long ones, scattered ones. */
struct item {
	struct item *next;
	uint64_t value, pad[6];
};

enum { ITEMS = 1 << 16 };

static struct item items[ITEMS];

NOINLINE static uint64_t walk_list(const struct item *from, uint64_t n)
{
	uint64_t sum = 0;

	for (; n > 0; n--, from = from->next)
		sum += from->value;
	return sum;
}

NOINLINE static uint64_t session_state(uint64_t random)
{
	return walk_list(&items[random % 64], 4 + random % 8) + 1;
}

NOINLINE static uint64_t on_query(uint64_t random)
{
	return session_state(random) + walk_list(&items[random % 128], 6) + 2;
}

NOINLINE static uint64_t on_update(uint64_t random)
{
	return session_state(random) + walk_list(&items[random % ITEMS], 20) + 3;
}

NOINLINE static uint64_t on_report(uint64_t random)
{
	return walk_list(&items[random % ITEMS], 150) + 4;
}

static void requests(uint64_t n)
{
	uint64_t seed = 11;

	for (uint64_t i = 0; i < ITEMS; i++)
		items[i] = (struct item){ &items[i < 256 ? (i + 1) % 256 : (i * 40503 + 1) % ITEMS],
					  i,
					  { 0 } };
	for (uint64_t i = 0; i < n * 60; i++) {
		uint64_t kind = next_random(&seed) % 10, random = next_random(&seed);

		sink += kind < 7   ? on_query(random)
			: kind < 9 ? on_update(random)
				   : on_report(random);
	}
}

/* 18. Two threads with an allocator each, whose free list is walked and filled by several, after a quiet start. */
struct heap {
	struct item *free, *old; /* the list; nodes of its own that are not in it */
	uint64_t n, seed, sum;
};

NOINLINE static struct item *take(struct heap *h)
{
	struct item *item = h->free;

	h->free = item->next;
	item->value++;
	return item;
}

NOINLINE static void give(struct heap *h, struct item *item)
{
	item->next = h->free;
	h->free = item;
}

NOINLINE static uint64_t reuse(struct heap *h)
{
	struct item *a = take(h), *b = take(h);
	uint64_t value = a->value ^ b->value;

	give(h, a);
	give(h, b);
	return value;
}

NOINLINE static uint64_t churn(struct heap *h)
{
	struct item *all[40];

	for (size_t i = 0; i < COUNT(all); i++)
		all[i] = take(h);
	for (size_t left = COUNT(all); left > 0; left--) {
		size_t at = next_random(&h->seed) % left;

		give(h, all[at]);
		all[at] = all[left - 1];
	}
	return all[0]->value;
}

NOINLINE static uint64_t drain(struct heap *h)
{
	uint64_t sum = 0;
	struct item *item = &h->old[next_random(&h->seed) % (ITEMS / 2)];

	for (uint64_t i = 0; i < 60; i++) {
		give(h, item);
		item = &h->old[next_random(&h->seed) % (ITEMS / 2)];
		sum += take(h)->value;
	}
	return sum;
}

static void *allocate(void *of)
{
	struct heap *h = of;

	for (uint64_t i = 0; i < h->n * 40; i++) {
		uint64_t random = next_random(&h->seed);

		h->sum += reuse(h);
		if (random % 16 == 0 && i > h->n * 10)
			h->sum += drain(h);
		else if (random % 8 < 3)
			h->sum += churn(h);
	}
	return NULL;
}

static void heaps(uint64_t n)
{
	struct heap all[2] = { { .n = n, .seed = 13 }, { .n = n, .seed = 17 } };
	static struct item pool[2][4096];
	pthread_t threads[COUNT(all)];

	for (size_t t = 0; t < COUNT(all); t++) {
		for (size_t i = 0; i < COUNT(pool[t]); i++)
			pool[t][i].next = &pool[t][(i + 1) % COUNT(pool[t])];
		all[t].free = pool[t];
		all[t].old = items + t * (ITEMS / 2);
		pthread_create(&threads[t], NULL, allocate, &all[t]);
	}
	for (size_t t = 0; t < COUNT(all); t++) {
		pthread_join(threads[t], NULL);
		sink += all[t].sum;
	}
}

/*
 * 19 to 21 were written when the estimator had its present form.
 *
 * 19. A priority queue whose elements sink from the top, or from where they were changed.
 */
enum { QUEUE = 1 << 17 };

static uint64_t queue[QUEUE];

NOINLINE static void sink_down(uint64_t at, uint64_t n)
{
	for (;;) {
		uint64_t child = 2 * at + 1, least, key;

		if (child >= n)
			return;
		least = child + (child + 1 < n && queue[child + 1] < queue[child]);
		if (queue[at] <= queue[least])
			return;
		key = queue[at];
		queue[at] = queue[least];
		queue[least] = key;
		at = least;
	}
}

NOINLINE static void replace_top(uint64_t key)
{
	queue[0] = key;
	sink_down(0, QUEUE);
}

NOINLINE static void raise_key(uint64_t at, uint64_t by)
{
	queue[at] += by;
	sink_down(at, QUEUE);
}

NOINLINE static void small_queue(uint64_t key)
{
	queue[0] = key;
	sink_down(0, 60);
}

static void queues(uint64_t n)
{
	uint64_t seed = 19;

	for (uint64_t i = 0; i < QUEUE; i++)
		queue[i] = i * 1000;
	for (uint64_t i = 0; i < n * 60; i++) {
		uint64_t random = next_random(&seed);

		replace_top(queue[0] + random % 100000000);
		for (uint64_t k = 0; k < 3; k++)
			raise_key(next_random(&seed) % QUEUE, random % 100000);
		if (random % 2 == 0)
			for (uint64_t k = 0; k < 4; k++)
				small_queue(queue[0] + next_random(&seed) % 50000);
	}
}

/* 20. A stream of bytes that a decoder reads bit by bit: headers, literals, copies out of a window. */
struct bits {
	uint64_t word, left, at;
};

NOINLINE static uint64_t read_bits(struct bits *b, uint64_t n)
{
	uint64_t value;

	if (b->left < n) {
		b->at = (b->at + 1) & (LARGE - 1);
		b->word = large[b->at] ^ b->at * 0x9e3779b97f4a7c15u;
		b->left = 64;
	}
	value = b->word & ((1ull << n) - 1);
	b->word >>= n;
	b->left -= n;
	return value;
}

NOINLINE static uint64_t read_header(struct bits *b)
{
	uint64_t sum = 0;

	for (int i = 0; i < 3; i++)
		sum += read_bits(b, 16);
	return sum + 1;
}

NOINLINE static uint64_t read_literals(struct bits *b, uint64_t n)
{
	uint64_t sum = 0;

	while (n-- > 0)
		texts[sum++ & 4095] = (char)read_bits(b, 8);
	return sum;
}

NOINLINE static uint64_t read_copy(struct bits *b)
{
	uint64_t from = read_bits(b, 19), sum = 0;

	for (uint64_t i = 0; i < 24; i++)
		sum += (uint8_t)texts[from + i];
	return sum + read_bits(b, 4);
}

static void decoder(uint64_t n)
{
	struct bits b = { 0 };

	for (uint64_t i = 0; i < n * 60; i++) {
		if (i % 40 == 0)
			sink += read_header(&b);
		if (read_bits(&b, 2) == 0)
			sink += read_literals(&b, 5 + read_bits(&b, 4));
		else
			sink += read_copy(&b);
	}
}

/* 21. One pass over rows of a picture for a preview (few pixels far apart) and for the whole. */
NOINLINE static uint64_t blend(uint64_t *to, const uint64_t *from, uint64_t n, uint64_t stride)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		to[i * stride] = (to[i * stride] >> 1) + (from[i * stride] >> 1);
		sum += to[i * stride];
	}
	return sum;
}

NOINLINE static uint64_t preview(uint64_t row)
{
	return blend(large + row * 1024, large + (row + 512) * 1024, 64, 16) + 1;
}

NOINLINE static uint64_t whole(uint64_t row)
{
	return blend(large + row * 1024, large + (row + 512) * 1024, 1024, 1) + 2;
}

NOINLINE static uint64_t cursor(uint64_t row)
{
	return blend(small, small + 256 + row % 64, 16, 1) + 3;
}

static void picture(uint64_t n)
{
	for (uint64_t i = 0; i < n * 4; i++) {
		for (uint64_t k = 0; k < 12; k++)
			sink += preview((i * 97 + k) % 512) + cursor(k);
		if (i % 2 == 0)
			sink += whole(i * 31 % 512);
	}
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
} programs[] = {
	{ "shared", shared }, { "interleaved", interleaved }, { "recursion", recursion },
	{ "phases", phases }, { "threads", threads },	      { "deep", deep },
	{ "tail", tail },     { "inlined", inlined },	      { "library", library },
	{ "rare", rare },     { "callbacks", callbacks },     { "lengths", lengths },
	{ "hash", hash },     { "sorted", sorted },	      { "parser", parser },
	{ "matrix", matrix }, { "requests", requests },	      { "heaps", heaps },
	{ "queues", queues }, { "decoder", decoder },	      { "picture", picture },
};

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;

	for (size_t i = 0; argc > 1 && i < COUNT(programs); i++) {
		if (strcmp(programs[i].name, argv[1]) != 0)
			continue;
		programs[i].run(n);
		return 0;
	}
	return 2;
}
