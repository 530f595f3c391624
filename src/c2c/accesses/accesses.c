/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/accesses/accesses.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "c2c/accesses/touch.h"
#include "spe/names.h"
#include "spe/packet.h"

enum {
	PAGE_SHIFT = 12,
	TOUCHES_AT_ONCE = 128,

	/* The effective vector length in a load or store of SVE: 32 << field bits. */
	VECTOR_LENGTH_SHIFT = 4,
	VECTOR_LENGTH_MASK = 7,
};

void c2c_choice_init(struct c2c_choice *c, const struct c2c_options *options, size_t n_lines,
		     uint64_t first_ns, uint64_t last_ns)
{
	*c = (struct c2c_choice){ .options = options,
				  .first_ns = first_ns,
				  .most_near = SIZE_MAX,
				  .most_kept = SIZE_MAX };
	while (last_ns > first_ns && (last_ns - first_ns) >> c->slot_shift >= C2C_N_SLOTS)
		c->slot_shift++;
	address_filter_init(&c->filter, options->line_bytes, n_lines);
	tuples_init(&c->keys, 2);
	c->is_whole = mem_zalloc(n_lines + 1, sizeof(*c->is_whole));
}

void c2c_choice_add_near(struct c2c_choice *c, uint32_t space, uint64_t address)
{
	const uint64_t key[] = { space, address };

	tuples_add(&c->keys, key);
	address_filter_add(&c->filter, address);
}

void c2c_choice_add(struct c2c_choice *c, uint32_t space, uint64_t address)
{
	assert(c->n_shown == c->keys.n);
	c2c_choice_add_near(c, space, address);
	c->n_shown = c->keys.n;
}

void c2c_choice_add_whole(struct c2c_choice *c, uint32_t space, uint64_t address)
{
	c->is_whole[c->keys.n] = true;
	c2c_choice_add(c, space, address);
}

void c2c_choice_sieve(struct c2c_choice *c, const struct c2c_sieve *sieve,
		      struct address_filter *filter, c2c_is_whole_line *is_whole_line,
		      const void *context)
{
	assert(c->n_shown == c->keys.n);
	address_filter_release(&c->filter);
	c->filter = *filter;
	*filter = (struct address_filter){ 0 };
	for (uint32_t i = 0; i < c->keys.n; i++)
		address_filter_add(&c->filter, tuples_get(&c->keys, i)[1]);
	c->sieve = sieve;
	c->is_whole_line = is_whole_line;
	c->context = context;
}

void c2c_choice_release(struct c2c_choice *c)
{
	tuples_release(&c->keys);
	free(c->is_whole);
	address_filter_release(&c->filter);
	*c = (struct c2c_choice){ 0 };
}

struct scan_wish c2c_accesses_wish(const struct c2c_choice *choice)
{
	return (struct scan_wish){
		.addresses = &choice->filter,
		.with_physical = choice->options->by_physical,
		.without_targets = true,
	};
}

static const uint64_t partial_events =
	(uint64_t)1 << SPE_EV_PARTIAL_PREDICATE | (uint64_t)1 << SPE_EV_EMPTY_PREDICATE;

/* How an access with this payload is made. */
static struct c2c_payload payload_of(uint8_t payload)
{
	struct spe_op op = spe_op_of(SPE_OP_LDST, payload);
	unsigned kind = payload & 1 ? C2C_KIND_STORE : 0;

	kind |= op.is_atomic ? C2C_KIND_ATOMIC : 0;
	kind |= op.is_exclusive ? C2C_KIND_EXCLUSIVE : 0;
	kind |= op.is_acquire_release ? C2C_KIND_ORDERED : 0;
	kind |= op.is_simd || op.is_sve || op.is_sme ? C2C_KIND_VECTOR : 0;
	return (struct c2c_payload){
		.kind = (uint8_t)kind,
		.vector = (uint8_t)(op.is_sve ? (payload >> VECTOR_LENGTH_SHIFT &
						 VECTOR_LENGTH_MASK) +
							1u
					      : 0),
	};
}

static unsigned vector_of(const struct c2c_accesses *a, const struct batch *b, size_t row)
{
	return b->kind == BATCH_SPE ? a->of_payload[b->op[row]].vector : 0;
}

/* Only accesses of SVE have a length. */
static unsigned kind_of_spe(const struct c2c_accesses *a, const struct batch *b, size_t row)
{
	struct c2c_payload p = a->of_payload[b->op[row]];
	bool is_partial =
		p.vector > 0 && b->has[row] & HAS_EVENTS && b->events[row] & partial_events;

	return p.kind | (is_partial ? C2C_KIND_PARTIAL : 0u);
}

/* How a row accesses memory: bits of enum c2c_kind. */
static unsigned row_kind(const struct c2c_accesses *a, const struct batch *b, size_t row)
{
	uint32_t mask;

	if (b->kind == BATCH_SPE)
		return kind_of_spe(a, b, row);
	mask = c2c_classify_data_src(b->data_src[row], true);
	return (mask & C2C_BIT(STORES) ? C2C_KIND_STORE : 0u) |
	       (mask & C2C_BIT(LOCKED) ? C2C_KIND_ATOMIC : 0u);
}

/* Those of all lines that are to be shown. */
static size_t n_slices(const struct c2c_accesses *a)
{
	return (size_t)a->choice->n_shown * a->session->slices.n;
}

static void *accesses_new(const struct session *session, const void *options)
{
	struct c2c_accesses *a = mem_zalloc(1, sizeof(*a));

	a->session = session;
	a->choice = options;
	a->n_lines = a->near_end = a->kept_end = a->choice->keys.n;
	a->near = mem_zalloc(a->n_lines - a->choice->n_shown + 1, sizeof(*a->near));
	a->classifier = c2c_classifier_new(session);
	for (unsigned i = 0; i < COUNT(a->of_payload); i++)
		a->of_payload[i] = payload_of((uint8_t)i);
	tuples_init(&a->keys, C2C_TOUCH_WORDS);
	tuples_init(&a->pages, 2);
	a->slices = mem_zalloc(n_slices(a) + 1, sizeof(*a->slices));
	tuples_init(&a->views, 2);
	tuples_init(&a->found, 2);
	return a;
}

static void accesses_free(void *partial)
{
	struct c2c_accesses *a = partial;

	if (a == NULL)
		return;
	c2c_classifier_free(a->classifier);
	tuples_release(&a->keys);
	tuples_release(&a->pages);
	tuples_release(&a->views);
	tuples_release(&a->found);
	vec_release(&a->found_whole);
	vec_release(&a->viewed);
	vec_release(&a->kept);
	vec_release(&a->many);
	vec_release(&a->whole);
	free(a->first);
	free(a->near);
	free(a->slices);
	free(a);
}

static uint64_t pair(uint64_t high, uint64_t low)
{
	return high << 32 | low;
}

static bool is_near(const struct c2c_accesses *a, uint64_t line)
{
	return line >= a->choice->n_shown && a->choice->sieve == NULL;
}

static void add_page(struct c2c_accesses *a, struct c2c_kept_touch *one, uint32_t line,
		     uint64_t physical)
{
	const uint64_t page[] = { line, physical >> PAGE_SHIFT };

	if (!is_near(a, line))
		tuples_add(&a->pages, page);
	one->node = (int8_t)info_memory_node(capture_info(a->session->capture), physical);
}

static void add_slice(struct c2c_accesses *a, uint32_t line, uint64_t time_ns)
{
	const struct slices *s = &a->session->slices;

	if (s->n > 0 && !is_near(a, line))
		a->slices[(size_t)line * s->n + slices_find(s, time_ns)]++;
}

static void add_view(struct c2c_accesses *a, uint32_t line, uint32_t process, uint64_t address)
{
	const uint64_t key[] = { line, process };
	uint32_t number = tuples_add(&a->views, key);

	if (number == a->viewed.n)
		*vec_add(&a->viewed) = address;
	if (address < a->viewed.items[number])
		a->viewed.items[number] = address;
}

uint64_t c2c_accesses_view(const struct c2c_accesses *a, uint32_t line, uint32_t process)
{
	const uint64_t key[] = { line, process };
	uint32_t number = tuples_find(&a->views, key);

	return number == TUPLES_NONE ? 0 : a->viewed.items[number];
}

static uint32_t line_of_words(const uint64_t *words)
{
	return (uint32_t)(words[0] >> 32);
}

/* Adds a touch behind the others, whose key is there already. */
static void add_kept(struct c2c_accesses *a, const struct c2c_accesses *of,
		     const struct c2c_kept_touch *touch)
{
	struct c2c_kept_touch *kept = vec_add(&a->kept);

	*kept = *touch;
	if ((touch->flags & (C2C_KEPT_MANY | C2C_KEPT_WHOLE)) != C2C_KEPT_MANY)
		return; /* those of whole lines stay where they are */
	*vec_add(&a->many) = of->many.items[touch->many];
	kept->many = (uint32_t)a->many.n - 1;
}

/* Touches of lines that are left out make room. */
static void drop_forgotten(struct c2c_accesses *a)
{
	struct c2c_accesses old = *a;

	tuples_init(&a->keys, C2C_TOUCH_WORDS);
	a->kept.items = NULL;
	a->many.items = NULL;
	a->kept.n = a->kept.cap = a->many.n = a->many.cap = 0;
	a->n_forgotten = 0;
	for (uint32_t i = 0; i < old.keys.n; i++) {
		const uint64_t *words = tuples_get(&old.keys, i);

		if (is_near(a, line_of_words(words)) && line_of_words(words) >= a->kept_end)
			continue;
		tuples_add(&a->keys, words);
		add_kept(a, &old, &old.kept.items[i]);
	}
	tuples_release(&old.keys);
	vec_release(&old.kept);
	vec_release(&old.many);
}

static void leave_out_last(struct c2c_accesses *a)
{
	uint32_t n = a->near[--a->kept_end - a->choice->n_shown];

	a->n_near -= n;
	a->n_forgotten += n;
}

/*
 * Leaves out the last lines near by, until the touches of the others are not too many. So are they when those of all workers
 * are put in order: what is left is the same for any number of workers, as each has all touches of the lines in front that it kept.
 */
static void hold_to_limit(struct c2c_accesses *a)
{
	while (a->n_near > a->choice->most_kept)
		leave_out_last(a);
	if (a->n_forgotten > a->choice->most_kept)
		drop_forgotten(a);
}

/* A touch of a line near by, all of which are counted. */
static void add_near_touch(struct c2c_accesses *a, const uint64_t *words,
			   const struct c2c_kept_touch *touch)
{
	uint32_t line = line_of_words(words), n = a->keys.n;

	if (line >= a->kept_end) {
		a->near[line - a->choice->n_shown] |= 1;
		return;
	}
	c2c_touch_keep(a, tuples_add(&a->keys, words), touch);
	if (a->keys.n == n)
		return;
	a->n_near++;
	a->near[line - a->choice->n_shown]++;
	hold_to_limit(a);
}

/* Touches of lines that are shown, to be added at once: their keys are looked up in a large table. */
struct touches {
	size_t n;
	uint64_t words[TOUCHES_AT_ONCE * C2C_TOUCH_WORDS];
	struct c2c_kept_touch list[TOUCHES_AT_ONCE];
};

static void add_touches(struct c2c_accesses *a, struct touches *some)
{
	uint32_t numbers[TOUCHES_AT_ONCE];

	tuples_add_all(&a->keys, some->words, some->n, numbers);
	for (size_t i = 0; i < some->n; i++)
		if (numbers[i] < a->kept.n)
			prefetch_to_write(&a->kept.items[numbers[i]]);
	for (size_t i = 0; i < some->n; i++)
		if (numbers[i] < a->kept.n)
			c2c_touch_fetch(a, &a->kept.items[numbers[i]]);
	for (size_t i = 0; i < some->n; i++)
		c2c_touch_keep(a, numbers[i], &some->list[i]);
	some->n = 0;
}

static void add_touch(struct c2c_accesses *a, struct touches *some, const uint64_t *words,
		      const struct c2c_kept_touch *touch)
{
	if (is_near(a, line_of_words(words))) {
		add_near_touch(a, words, touch);
		return;
	}
	memcpy(&some->words[some->n * C2C_TOUCH_WORDS], words, C2C_TOUCH_WORDS * sizeof(*words));
	some->list[some->n++] = *touch;
	if (some->n == TOUCHES_AT_ONCE)
		add_touches(a, some);
}

static struct c2c_kept_touch touch_of_row(const struct batch *b, size_t row, uint32_t mask)
{
	uint32_t has = b->has[row];
	struct c2c_kept_touch one = { .mask = mask, .node = -1 };

	if (c2c_row_total(b, row, &one.total)) {
		one.flags |= C2C_KEPT_LATENCY;
		one.flags |= c2c_is_saturated(b, one.total) ? C2C_KEPT_SATURATED : 0;
		one.issue = has & HAS_ISSUE ? b->issue[row] : 0;
	}
	if (has & HAS_TIME) {
		one.flags |= C2C_KEPT_TIME;
		one.time_ns = b->time_ns[row];
	}
	return one;
}

static bool is_of_whole(const struct c2c_accesses *a, uint32_t line)
{
	uint32_t n = a->choice->keys.n;

	return line >= n ? a->found_whole.items[line - n] : c2c_is_whole(a->choice, line);
}

/* Does it count what it waited, though it is none of those that the mode is about? */
static bool is_reload(const struct c2c_accesses *a, const struct c2c_kept_touch *one)
{
	return one->flags & C2C_KEPT_LATENCY &&
	       c2c_is_reload(one->mask, one->mask & c2c_mode_masks[a->choice->options->mode]);
}

static void touch_key(const struct c2c_accesses *a, const struct batch *b, size_t row,
		      uint32_t line, uint32_t offset, unsigned kind, uint32_t tid,
		      uint64_t words[C2C_TOUCH_WORDS])
{
	words[0] = pair(line, (uint64_t)vector_of(a, b, row) << 24 | (uint64_t)offset << 8 | kind);
	words[1] = pair(batch_place(b, row), tid);
	words[2] = pair(batch_process(b, row), batch_cpu(b, row));
	words[3] = b->has[row] & HAS_PC ? b->pc[row] : 0;
}

static void whole_key(const struct batch *b, size_t row, uint32_t line, unsigned kind, uint32_t tid,
		      uint64_t words[C2C_TOUCH_WORDS])
{
	words[0] = pair(line, kind & (C2C_KIND_STORE | C2C_KIND_ATOMIC));
	words[1] = tid;
	words[2] = pair(batch_process(b, row), 0);
	words[3] = 0;
}

static void c2c_accesses_add_row(struct c2c_accesses *a, const struct batch *b, size_t row,
				 uint32_t line, const struct c2c_spot *spot, uint32_t mask,
				 struct touches *some)
{
	uint32_t has = b->has[row], tid = has & HAS_TID ? b->tid[row] : UINT32_MAX;
	unsigned kind = row_kind(a, b, row);
	struct c2c_kept_touch one = touch_of_row(b, row, mask);
	uint64_t words[C2C_TOUCH_WORDS];

	if (is_of_whole(a, line))
		one.flags |= C2C_KEPT_WHOLE | (is_reload(a, &one) ? C2C_KEPT_RELOAD : 0);
	if ((one.flags & (C2C_KEPT_WHOLE | C2C_KEPT_RELOAD)) == C2C_KEPT_WHOLE)
		whole_key(b, row, line, kind, tid, words);
	else
		touch_key(a, b, row, line, spot->offset, kind, tid, words);
	if (has & HAS_TIME)
		add_slice(a, line, b->time_ns[row]);
	if (has & HAS_PA)
		add_page(a, &one, line, b->pa[row]);
	if (spot->space == C2C_PHYSICAL)
		add_view(a, line, batch_process(b, row), b->va[row] - spot->offset);
	add_touch(a, some, words, &one);
}

/* The rows that may be of the lines, which are few where other analyses share the scan. */
static size_t find_rows(const struct c2c_choice *choice, const struct batch *b, uint16_t *out)
{
	size_t n = 0;

	for (size_t row = 0; row < b->n; row++) {
		struct c2c_spot spot = c2c_spot(choice->options, b, row);

		out[n] = (uint16_t)row;
		n += ((b->has[row] & HAS_VA) != 0) &
		     address_filter_may_have(&choice->filter, spot.address);
	}
	return n;
}

/* Is it known already that it was accessed, and left out? */
static bool is_left_out(const struct c2c_accesses *a, uint32_t line)
{
	return is_near(a, line) && line >= a->kept_end && a->near[line - a->choice->n_shown] > 0;
}

/* The number of a line; TUPLES_NONE: it is not looked at. */
static uint32_t number_of_line(struct c2c_accesses *a, const struct c2c_spot *spot)
{
	const struct c2c_choice *c = a->choice;
	const uint64_t key[] = { spot->space, spot->address };
	uint32_t line = tuples_find(&c->keys, key);

	if (line != TUPLES_NONE || c->sieve == NULL ||
	    !c2c_sieve_may_have(c->sieve, spot->space, spot->address))
		return line;
	line = tuples_add(&a->found, key);
	if (line == a->found_whole.n)
		*vec_add(&a->found_whole) =
			c->is_whole_line(c->context, spot->space, spot->address);
	return c->keys.n + line;
}

static void accesses_consume(void *partial, const struct batch *b)
{
	struct c2c_accesses *a = partial;
	uint16_t rows[BATCH_ROWS];
	size_t n = find_rows(a->choice, b, rows);
	struct touches some;

	some.n = 0;
	for (size_t i = 0; i < n; i++) {
		size_t row = rows[i];
		struct c2c_spot spot = c2c_spot(a->choice->options, b, row);
		uint32_t line = number_of_line(a, &spot), mask;

		if (line == TUPLES_NONE || is_left_out(a, line))
			continue;
		mask = c2c_classify_row(a->classifier, b, row);
		if (c2c_is_of_line(mask))
			c2c_accesses_add_row(a, b, row, line, &spot, mask, &some);
	}
	add_touches(a, &some);
}

/* Nobody looks for a touch any more. */
static void accesses_finish(void *partial)
{
	struct c2c_accesses *a = partial;

	tuples_forget_index(&a->keys);
}

/* Adds the touches of another one behind its own, even if they have the same keys. */
static void append_touches(struct c2c_accesses *to, const struct c2c_accesses *from)
{
	uint32_t first, n_many = (uint32_t)to->many.n, n_whole = (uint32_t)to->whole.n;
	uint64_t *words = tuples_append(&to->keys, from->keys.n, &first);

	memcpy(words, from->keys.words, (size_t)from->keys.n * C2C_TOUCH_WORDS * sizeof(*words));
	vec_reserve(&to->kept, from->kept.n);
	for (size_t i = 0; i < from->kept.n; i++) {
		struct c2c_kept_touch *kept = &to->kept.items[to->kept.n++];

		*kept = from->kept.items[i];
		if (kept->flags & C2C_KEPT_MANY)
			kept->many += kept->flags & C2C_KEPT_WHOLE ? n_whole : n_many;
	}
	vec_reserve(&to->whole, from->whole.n);
	for (size_t i = 0; i < from->whole.n; i++)
		to->whole.items[to->whole.n++] = from->whole.items[i];
	vec_reserve(&to->many, from->many.n);
	for (size_t i = 0; i < from->many.n; i++)
		to->many.items[to->many.n++] = from->many.items[i];
}

/* Gives lines that `from` met the numbers that they have in `to`; its touches there begin with `first`. */
static uint32_t *take_found(struct c2c_accesses *to, const struct c2c_accesses *from,
			    uint32_t first)
{
	uint32_t n = to->choice->keys.n,
		 *numbers = mem_alloc(n + from->found.n + 1, sizeof(*numbers));

	for (uint32_t i = 0; i < n; i++)
		numbers[i] = i;
	for (uint32_t i = 0; i < from->found.n; i++) {
		uint32_t number = tuples_add(&to->found, tuples_get(&from->found, i));

		if (number == to->found_whole.n)
			*vec_add(&to->found_whole) = from->found_whole.items[i];
		numbers[n + i] = n + number;
	}
	for (uint32_t i = first; i < to->keys.n; i++) {
		uint64_t *words = to->keys.words + (size_t)i * C2C_TOUCH_WORDS;

		words[0] = pair(numbers[line_of_words(words)], (uint32_t)words[0]);
	}
	return numbers;
}

static void accesses_merge(void *into, const void *from, const struct id_map *map)
{
	struct c2c_accesses *to = into;
	const struct c2c_accesses *part = from;
	uint32_t n_touches = to->keys.n, *numbers;

	(void)map;
	append_touches(to, part);
	numbers = take_found(to, part, n_touches);
	to->is_joined = true;
	to->kept_end = part->kept_end < to->kept_end ? part->kept_end : to->kept_end;
	for (uint32_t line = to->choice->n_shown; line < to->n_lines; line++)
		to->near[line - to->choice->n_shown] |= part->near[line - to->choice->n_shown];
	for (uint32_t i = 0; i < part->pages.n; i++) {
		const uint64_t *page = tuples_get(&part->pages, i);

		tuples_add(&to->pages, (const uint64_t[]){ numbers[page[0]], page[1] });
	}
	free(numbers);
	for (size_t i = 0; i < n_slices(to); i++)
		to->slices[i] += part->slices[i];
	for (uint32_t i = 0; i < part->views.n; i++) {
		const uint64_t *key = tuples_get(&part->views, i);

		add_view(to, (uint32_t)key[0], (uint32_t)key[1], part->viewed.items[i]);
	}
}

size_t c2c_accesses_n_left_out(const struct c2c_accesses *a)
{
	size_t n = 0;

	for (uint32_t line = a->near_end; line < a->choice->keys.n; line++)
		n += a->near[line - a->choice->n_shown] > 0;
	return n;
}

size_t c2c_accesses_n_lines(const struct c2c_accesses *a)
{
	return (size_t)a->choice->keys.n + a->found.n;
}

const uint64_t *c2c_accesses_line(const struct c2c_accesses *a, uint32_t line)
{
	uint32_t n = a->choice->keys.n;

	return line < n ? tuples_get(&a->choice->keys, line) : tuples_get(&a->found, line - n);
}

static void use_add_thread(struct c2c_line_use *use, uint32_t tid, bool is_write)
{
	if (tid == C2C_NO_TID)
		return;
	use->has_threads |= use->tid != C2C_NO_TID && use->tid != tid;
	use->is_written |= is_write;
	use->tid = tid;
}

void c2c_accesses_sum(const struct c2c_accesses *a, struct c2c_line_use *out)
{
	for (size_t i = 0; i < c2c_accesses_n_lines(a); i++)
		out[i] = (struct c2c_line_use){ .tid = C2C_NO_TID };
	for (uint32_t i = 0; i < a->keys.n; i++) {
		struct c2c_touch_key k = c2c_touch_key(a, i);
		struct c2c_line_use *use = &out[k.line];
		struct c2c_latency reloads = c2c_touch_reloads(a, i);

		if (i + C2C_TOUCHES_AHEAD < a->keys.n)
			c2c_touch_fetch(a, &a->kept.items[i + C2C_TOUCHES_AHEAD]);
		use_add_thread(use, k.tid, (k.kind & (C2C_KIND_STORE | C2C_KIND_ATOMIC)) != 0);
		use->n_records += c2c_touch_records(a, i);
		use->n_reloads += reloads.n;
		use->reload_cycles += reloads.cycles;
	}
}

static void keep_pages(struct c2c_accesses *a, const uint32_t *numbers)
{
	struct tuples old = a->pages;

	tuples_init(&a->pages, 2);
	for (uint32_t i = 0; i < old.n; i++) {
		const uint64_t *page = tuples_get(&old, i);

		if (numbers[page[0]] != TUPLES_NONE)
			tuples_add(&a->pages, (const uint64_t[]){ numbers[page[0]], page[1] });
	}
	tuples_release(&old);
}

/* Touches of several records stay where they are. */
static void keep_touches(struct c2c_accesses *a, const uint32_t *numbers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->keys.n; i++) {
		const uint64_t *words = tuples_get(&a->keys, i);
		uint64_t *out = a->keys.words + (size_t)n * C2C_TOUCH_WORDS;
		uint32_t number = numbers[line_of_words(words)];

		if (number == TUPLES_NONE)
			continue;
		memmove(out, words, C2C_TOUCH_WORDS * sizeof(*out));
		out[0] = pair(number, (uint32_t)out[0]);
		a->kept.items[n++] = a->kept.items[i];
	}
	a->keys.n = n;
	a->kept.n = n;
}

void c2c_accesses_choose(struct c2c_accesses *a, const struct c2c_choice *choice)
{
	uint32_t *numbers = mem_alloc(c2c_accesses_n_lines(a) + 1, sizeof(*numbers));

	for (uint32_t i = 0; i < c2c_accesses_n_lines(a); i++)
		numbers[i] = tuples_find(&choice->keys, c2c_accesses_line(a, i));
	keep_touches(a, numbers);
	keep_pages(a, numbers);
	a->choice = choice;
	a->n_lines = a->near_end = a->kept_end = choice->keys.n;
	free(numbers);
}

void c2c_accesses_take(struct c2c_accesses *to, const struct c2c_accesses *from)
{
	uint32_t first = to->n_lines, n = to->keys.n;

	append_touches(to, from);
	for (uint64_t *words = to->keys.words + (size_t)n * C2C_TOUCH_WORDS;
	     words < to->keys.words + (size_t)to->keys.n * C2C_TOUCH_WORDS;
	     words += C2C_TOUCH_WORDS)
		words[0] = pair(first + line_of_words(words), (uint32_t)words[0]);
	to->n_lines += from->n_lines;
	to->first = mem_resize(to->first, (size_t)to->n_lines + 1, sizeof(*to->first));
	for (uint32_t line = 0; line <= from->n_lines; line++)
		to->first[first + line] = n + from->first[line];
	for (uint32_t i = 0; i < from->views.n; i++) {
		const uint64_t *key = tuples_get(&from->views, i);

		add_view(to, first + (uint32_t)key[0], (uint32_t)key[1], from->viewed.items[i]);
	}
}

const struct analysis_class c2c_accesses_class = {
	.new = accesses_new,
	.free = accesses_free,
	.consume = accesses_consume,
	.finish = accesses_finish,
	.merge = accesses_merge,
};
