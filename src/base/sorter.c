/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sorter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/heap.h"
#include "base/radix.h"

/* A record begins with the sizes of its key and its value, of 32 bits each. */
enum { HEAD_BYTES = 8, SEEN_BYTES = 1 << 20, LEAST_SEEN_BYTES = 64 << 10 };

/* Of a record, beside its bytes: where it starts, and what sort_starts() takes. */
enum { START_BYTES = 2 * sizeof(size_t) + sizeof(uint64_t) + 2 * sizeof(uint32_t) };

void sorter_init(struct sorter *s, size_t limit_bytes)
{
	*s = (struct sorter){ .limit_bytes = limit_bytes };
}

void sorter_release(struct sorter *s)
{
	text_release(&s->records);
	vec_release(&s->starts);
	vec_release(&s->ends);
	mapped_release(&s->sorted);
	if (s->pieces != NULL)
		fclose(s->pieces);
	*s = (struct sorter){ 0 };
}

/* Reads the record at these bytes; returns its size. */
static size_t read_record(const uint8_t *bytes, struct sorter_record *out)
{
	memcpy(&out->key_size, bytes, sizeof(out->key_size));
	memcpy(&out->value_size, bytes + sizeof(out->key_size), sizeof(out->value_size));
	out->key = bytes + HEAD_BYTES;
	out->value = out->key + out->key_size;
	return HEAD_BYTES + (size_t)out->key_size + out->value_size;
}

static int compare_keys(const struct sorter_record *a, const struct sorter_record *b)
{
	size_t common = a->key_size < b->key_size ? a->key_size : b->key_size;
	int order = memcmp(a->key, b->key, common);

	return order != 0 ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static int compare_starts(const void *left, const void *right, void *sorter)
{
	const struct sorter *s = sorter;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	struct sorter_record x, y;
	int order;

	read_record((const uint8_t *)s->records.bytes + a, &x);
	read_record((const uint8_t *)s->records.bytes + b, &y);
	order = compare_keys(&x, &y);
	return order != 0 ? order : (a > b) - (a < b);
}

/* How many bytes all keys begin with alike. */
static size_t common_bytes(const struct sorter *s)
{
	const uint8_t *bytes = (const uint8_t *)s->records.bytes;
	struct sorter_record first, r;
	size_t n;

	read_record(bytes + s->starts.items[0], &first);
	n = first.key_size;
	for (size_t i = 1; i < s->starts.n && n > 0; i++) {
		size_t k = 0;

		read_record(bytes + s->starts.items[i], &r);
		while (k < n && k < r.key_size && r.key[k] == first.key[k])
			k++;
		n = k;
	}
	return n;
}

/* The bytes of a key behind those, as a number that is ordered as they are. A key that ends there goes on with zeros. */
static uint64_t key_number(const struct sorter_record *r, size_t from)
{
	uint64_t number = 0;

	for (size_t i = from; i < from + sizeof(number); i++)
		number = number << 8 | (i < r->key_size ? r->key[i] : 0);
	return number;
}

/* By number, which reads no key twice; then those of one number by their keys. */
static void sort_starts(struct sorter *s)
{
	size_t n = s->starts.n, *starts, from;
	uint64_t *numbers;
	uint32_t *order;

	if (n < 2)
		return;
	from = common_bytes(s);
	numbers = mem_alloc(n, sizeof(*numbers));
	order = mem_alloc(n, sizeof(*order));
	starts = mem_alloc(n, sizeof(*starts));
	for (size_t i = 0; i < n; i++) {
		struct sorter_record r;

		read_record((const uint8_t *)s->records.bytes + s->starts.items[i], &r);
		numbers[i] = key_number(&r, from);
		order[i] = (uint32_t)i;
	}
	radix_sort(order, n, numbers);
	for (size_t i = 0; i < n; i++)
		starts[i] = s->starts.items[order[i]];
	memcpy(s->starts.items, starts, n * sizeof(*starts));
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && numbers[order[end]] == numbers[order[i]]; end++)
			;
		if (end - i > 1)
			qsort_r(&s->starts.items[i], end - i, sizeof(*starts), compare_starts, s);
	}
	free(numbers);
	free(order);
	free(starts);
}

static int cannot_write(struct sorter *s)
{
	s->rc = temporary_file_failed(&s->err);
	return s->rc;
}

static int write_record(struct sorter *s, FILE *to, const uint8_t *bytes)
{
	struct sorter_record r;
	size_t size = read_record(bytes, &r);

	return fwrite(bytes, 1, size, to) == size ? 0 : cannot_write(s);
}

/* Writes what is in memory to the file, as a sorted piece. */
static void write_piece(struct sorter *s)
{
	long end;

	sort_starts(s);
	if (s->pieces == NULL && s->rc == 0) {
		s->pieces = temporary_file(&s->err);
		s->rc = s->pieces == NULL ? -1 : 0;
	}
	for (size_t i = 0; i < s->starts.n && s->rc == 0; i++)
		write_record(s, s->pieces, (const uint8_t *)s->records.bytes + s->starts.items[i]);
	end = s->rc == 0 ? ftell(s->pieces) : 0;
	if (end < 0)
		cannot_write(s);
	*vec_add(&s->ends) = (uint64_t)end;
	text_reset(&s->records);
	s->starts.n = 0;
}

void sorter_add(struct sorter *s, const struct text *key, const struct text *value)
{
	const uint32_t sizes[] = { (uint32_t)key->n, (uint32_t)value->n };
	size_t size = HEAD_BYTES + key->n + value->n;
	size_t used = s->records.n + s->starts.n * START_BYTES;

	if (s->rc < 0)
		return;
	if (s->starts.n > 0 && used + size + START_BYTES > s->limit_bytes)
		write_piece(s);
	*vec_add(&s->starts) = s->records.n;
	text_add(&s->records, (const char *)sizes, sizeof(sizes));
	text_add(&s->records, key->bytes, key->n);
	text_add(&s->records, value->bytes, value->n);
}

/* A piece of the file that is being merged. */
struct piece {
	uint64_t at, end, seen; /* seen: the bytes before are not needed any more */
	uint32_t number;
	struct sorter_record record; /* at `at` */
};

static int compare_pieces(const struct piece *a, const struct piece *b)
{
	int order = compare_keys(&a->record, &b->record);

	return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int compare_for_heap(const void *a, const void *b)
{
	return compare_pieces(a, b);
}

/* Merges the pieces, which are mapped, into `to`. */
static int merge_pieces(struct sorter *s, const struct mapped *from, FILE *to)
{
	size_t n = s->ends.n;
	struct piece *heap = mem_zalloc(n, sizeof(*heap));
	uint64_t step = LEAST_SEEN_BYTES;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = i > 0 ? s->ends.items[i - 1] : 0;

		heap[i] = (struct piece){ start, s->ends.items[i], start, (uint32_t)i, { 0 } };
		read_record(from->bytes + start, &heap[i].record);
	}
	qsort(heap, n, sizeof(*heap), compare_for_heap); /* sorted is a heap, too */
	while (n > 0 && s->rc == 0) {
		struct piece *least = &heap[0];

		write_record(s, to, from->bytes + least->at);
		least->at +=
			HEAD_BYTES + (uint64_t)least->record.key_size + least->record.value_size;
		if (least->at - least->seen > step) {
			mapped_drop(from, least->seen, least->at);
			least->seen = least->at;
		}
		if (least->at < least->end)
			read_record(from->bytes + least->at, &least->record);
		else
			*least = heap[--n];
		if (n > 0)
			heap_sink(heap, n, 0, a, b, compare_pieces(a, b) < 0);
	}
	free(heap);
	return s->rc;
}

static int merge_all(struct sorter *s)
{
	struct mapped pieces = { 0 };
	FILE *to;

	write_piece(s);
	if (s->rc < 0)
		return -1;
	text_release(&s->records);
	vec_release(&s->starts);
	s->rc = mapped_from_stream(&pieces, s->pieces, &s->err);
	fclose(s->pieces);
	s->pieces = NULL;
	to = s->rc < 0 ? NULL : temporary_file(&s->err);
	s->rc = to == NULL ? -1 : merge_pieces(s, &pieces, to);
	mapped_release(&pieces);
	if (s->rc == 0)
		s->rc = mapped_from_stream(&s->sorted, to, &s->err);
	if (to != NULL)
		fclose(to);
	return s->rc;
}

int sorter_finish(struct sorter *s, struct err *err)
{
	if (s->rc == 0 && s->pieces == NULL)
		sort_starts(s);
	else if (s->rc == 0)
		merge_all(s);
	if (s->rc < 0)
		*err = s->err;
	return s->rc;
}

bool sorter_next(const struct sorter *s, uint64_t *at, struct sorter_record *out)
{
	uint64_t next;

	if (s->sorted.bytes == NULL) {
		if (*at >= s->starts.n)
			return false;
		read_record((const uint8_t *)s->records.bytes + s->starts.items[(*at)++], out);
		return true;
	}
	if (*at >= s->sorted.size)
		return false;
	next = *at + read_record(s->sorted.bytes + *at, out);
	if (*at / SEEN_BYTES != next / SEEN_BYTES && *at > SEEN_BYTES)
		mapped_drop(&s->sorted, (*at / SEEN_BYTES - 1) * SEEN_BYTES,
			    *at / SEEN_BYTES * SEEN_BYTES);
	*at = next;
	return true;
}

bool sorter_keys_equal(const struct sorter_record *a, const struct sorter_record *b)
{
	return a->key_size == b->key_size && memcmp(a->key, b->key, a->key_size) == 0;
}

void sort_key_u32(struct text *key, uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		text_char(key, (char)(value >> shift));
}

void sort_key_u64(struct text *key, uint64_t value)
{
	sort_key_u32(key, (uint32_t)(value >> 32));
	sort_key_u32(key, (uint32_t)value);
}

uint32_t sort_key_get_u32(const uint8_t *key)
{
	return (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
}

uint64_t sort_key_get_u64(const uint8_t *key)
{
	return (uint64_t)sort_key_get_u32(key) << 32 | sort_key_get_u32(key + 4);
}

void sort_value_put(struct text *value, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		text_char(value, (char)(number | 0x80));
	text_char(value, (char)number);
}

uint64_t sort_value_get(const uint8_t **at)
{
	uint64_t value = 0;
	int shift = 0;

	for (; **at > 0x7f; ++*at, shift += 7)
		value |= (uint64_t)(**at & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

/* Bits that say which are not 0, and these. */
void sort_value_put_words(struct text *value, const uint64_t *words, int n)
{
	uint32_t present = 0;

	assert(n <= 32);
	for (int i = 0; i < n; i++)
		present |= (uint32_t)(words[i] != 0) << i;
	text_add(value, (const char *)&present, sizeof(present));
	for (; present != 0; present &= present - 1)
		sort_value_put(value, words[__builtin_ctz(present)]);
}

void sort_value_get_words(const uint8_t **at, uint64_t *words, int n)
{
	uint32_t present;

	memcpy(&present, *at, sizeof(present));
	*at += sizeof(present);
	memset(words, 0, (size_t)n * sizeof(*words));
	for (; present != 0; present &= present - 1)
		words[__builtin_ctz(present)] = sort_value_get(at);
}
