/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads PERF_RECORD_SAMPLE. Fields have a fixed order; each is present if its bit is set. Format:
 * docs/reference/perf-data.md sections 3.3 and 3.4.
 */
#include "capture/format/sample.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "batch/batch.h"

/* Bits of attr.branch_sample_type that change the layout. */
enum branch_bit {
	BRANCH_HW_INDEX = 17,
	BRANCH_COUNTERS = 19,
};

static bool attr_has_bit(uint64_t bits, unsigned bit)
{
	return bits >> bit & 1;
}

/* Takes `n` items of `words` 64-bit words. */
static struct sample_words take_words(struct cursor *c, uint64_t n, size_t words)
{
	size_t item_size = words * sizeof(uint64_t);

	if (!cur_holds(c, n, item_size)) {
		c->bad = true;
		return (struct sample_words){ 0 };
	}
	return (struct sample_words){ .bytes = cur_take(c, n * item_size), .n = n };
}

/* The words of a value in a READ field, without those that a group has once. */
static size_t read_value_words(uint64_t format)
{
	return 1u + attr_has_bit(format, READ_ID) + attr_has_bit(format, READ_LOST);
}

static struct sample_words take_read(struct cursor *c, uint64_t format)
{
	size_t n_times =
		attr_has_bit(format, READ_TIME_ENABLED) + attr_has_bit(format, READ_TIME_RUNNING);
	uint64_t n_values = 1, n = n_times;
	struct cursor ahead = *c;

	if (attr_has_bit(format, READ_GROUP)) {
		n_values = cur_u64(&ahead);
		n++;
	}
	if (!cur_holds(c, n_values, sizeof(uint64_t))) {
		c->bad = true;
		return (struct sample_words){ 0 };
	}
	return take_words(c, n + n_values * read_value_words(format), 1);
}

/* Raw data begins with a u32 size; both together are padded to 8 bytes. */
static void take_raw(struct cursor *c, struct sample *s)
{
	s->raw_size = cur_u32(c);
	s->raw = cur_take(c, s->raw_size);
	cur_skip(c, -(sizeof(uint32_t) + (uint64_t)s->raw_size) % 8);
}

static void take_branches(struct cursor *c, uint64_t branch_type, struct sample *s)
{
	uint64_t n = cur_u64(c);

	if (attr_has_bit(branch_type, BRANCH_HW_INDEX))
		s->branch_hw_index = cur_u64(c);
	s->branches = take_words(c, n, 3);
	if (attr_has_bit(branch_type, BRANCH_COUNTERS))
		(void)take_words(c, n, 1);
}

static uint64_t take_regs(struct cursor *c, uint64_t mask, struct sample_words *out)
{
	uint64_t abi = cur_u64(c);

	if (abi != 0)
		*out = take_words(c, (uint64_t)__builtin_popcountll(mask), 1);
	return abi;
}

static void take_stack(struct cursor *c, struct sample *s)
{
	s->user_stack_size = cur_u64(c);
	if (s->user_stack_size == 0)
		return;
	s->user_stack = cur_take(c, s->user_stack_size);
	s->user_stack_used = cur_u64(c);
}

static void take_weight(struct cursor *c, uint64_t sample_type, struct sample *s)
{
	if (attr_has_bit(sample_type, SAMPLE_WEIGHT)) {
		s->weight = cur_u64(c);
	} else if (attr_has_bit(sample_type, SAMPLE_WEIGHT_STRUCT)) {
		s->weight = cur_u32(c);
		s->weight2 = cur_u16(c);
		s->weight3 = cur_u16(c);
	}
}

static uint64_t take_if(struct cursor *c, uint64_t sample_type, unsigned bit)
{
	return attr_has_bit(sample_type, bit) ? cur_u64(c) : 0;
}

/* The fields before the first one of variable length: a word each. */
static const uint64_t fixed_fields =
	1ull << SAMPLE_IDENTIFIER | 1ull << SAMPLE_IP | 1ull << SAMPLE_TID | 1ull << SAMPLE_TIME |
	1ull << SAMPLE_ADDR | 1ull << SAMPLE_ID | 1ull << SAMPLE_STREAM_ID | 1ull << SAMPLE_CPU |
	1ull << SAMPLE_PERIOD;

/* The next word, if the bit is set. */
static inline uint64_t load_if(const uint8_t **at, uint64_t sample_type, unsigned bit)
{
	uint64_t word = 0;

	if (attr_has_bit(sample_type, bit)) {
		word = load_u64(*at);
		*at += sizeof(word);
	}
	return word;
}

/* Reads these fields. All are there or none is read. */
static void take_fixed(struct cursor *c, uint64_t type, struct sample *s)
{
	size_t n = (size_t)__builtin_popcountll(type & fixed_fields);
	const uint8_t *at = cur_take(c, n * sizeof(uint64_t));
	uint64_t identifier, thread;

	if (at == NULL)
		return;
	identifier = load_if(&at, type, SAMPLE_IDENTIFIER);
	s->ip = load_if(&at, type, SAMPLE_IP);
	thread = load_if(&at, type, SAMPLE_TID);
	s->pid = (uint32_t)thread;
	s->tid = (uint32_t)(thread >> 32);
	s->time_ns = load_if(&at, type, SAMPLE_TIME);
	s->addr = load_if(&at, type, SAMPLE_ADDR);
	s->id = load_if(&at, type, SAMPLE_ID);
	if (!attr_has_bit(type, SAMPLE_ID))
		s->id = identifier;
	s->stream_id = load_if(&at, type, SAMPLE_STREAM_ID);
	s->cpu = (uint32_t)load_if(&at, type, SAMPLE_CPU);
	s->period = load_if(&at, type, SAMPLE_PERIOD);
}

static void sample_take_variable(struct cursor *c, const struct attr *attr, struct sample *s)
{
	uint64_t type = attr->sample_type;

	if (attr_has_bit(type, SAMPLE_READ))
		s->read = take_read(c, attr->read_format);
	if (attr_has_bit(type, SAMPLE_CALLCHAIN)) {
		uint64_t n = cur_u64(c);
		s->callchain = take_words(c, n, 1);
	}
	if (attr_has_bit(type, SAMPLE_RAW))
		take_raw(c, s);
	if (attr_has_bit(type, SAMPLE_BRANCH_STACK))
		take_branches(c, attr->branch_sample_type, s);
	if (attr_has_bit(type, SAMPLE_REGS_USER))
		s->user_regs_abi = take_regs(c, attr->sample_regs_user, &s->user_regs);
	if (attr_has_bit(type, SAMPLE_STACK_USER))
		take_stack(c, s);
	take_weight(c, type, s);
	s->data_src = take_if(c, type, SAMPLE_DATA_SRC);
	s->transaction = take_if(c, type, SAMPLE_TRANSACTION);
	if (attr_has_bit(type, SAMPLE_REGS_INTR))
		s->intr_regs_abi = take_regs(c, attr->sample_regs_intr, &s->intr_regs);
	s->phys_addr = take_if(c, type, SAMPLE_PHYS_ADDR);
	s->cgroup = take_if(c, type, SAMPLE_CGROUP);
	s->data_page_size = take_if(c, type, SAMPLE_DATA_PAGE_SIZE);
	s->code_page_size = take_if(c, type, SAMPLE_CODE_PAGE_SIZE);
	if (attr_has_bit(type, SAMPLE_AUX)) {
		s->aux_size = cur_u64(c);
		s->aux = cur_take(c, s->aux_size);
	}
}

int sample_read(const struct record *r, const struct attr *attr, struct sample *out,
		struct err *err)
{
	struct cursor c = r->body;

	*out = (struct sample){ .sample_type = attr->sample_type, .branch_hw_index = UINT64_MAX };
	take_fixed(&c, attr->sample_type, out);
	if (attr->sample_type & ~fixed_fields)
		sample_take_variable(&c, attr, out);
	if (!cur_ok(&c))
		return err_set(err, ERR_FORMAT, r->position,
			       "sample of %" PRIu64 " bytes: ends before its fields "
			       "(sample_type 0x%" PRIx64 ")",
			       r->size, attr->sample_type);
	/* new kinds of fields came behind the others so far */
	if (cur_left(&c) != 0 && attr->sample_type >> SAMPLE_BITS_END == 0)
		return err_set(err, ERR_FORMAT, r->position,
			       "sample of %" PRIu64 " bytes: %zu bytes left over behind its fields "
			       "(sample_type 0x%" PRIx64 ")",
			       r->size, cur_left(&c), attr->sample_type);
	return 0;
}

/* Fields of one word, in the order of a record: before the lists, and behind them. */
static const uint8_t words_before[] = {
	SAMPLE_IDENTIFIER, SAMPLE_IP,	     SAMPLE_TID, SAMPLE_TIME,	SAMPLE_ADDR,
	SAMPLE_ID,	   SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_PERIOD,
};

static const uint8_t words_behind[] = {
	SAMPLE_WEIGHT,	  SAMPLE_WEIGHT_STRUCT, SAMPLE_DATA_SRC,       SAMPLE_TRANSACTION,
	SAMPLE_PHYS_ADDR, SAMPLE_CGROUP,	SAMPLE_DATA_PAGE_SIZE, SAMPLE_CODE_PAGE_SIZE,
};

/* Gives the fields of sample_type their places, and takes them out of `type`. */
static void place_words(struct sample_layout *l, const uint8_t *fields, size_t n, uint64_t *type)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t field = fields[i];

		if (!attr_has_bit(*type, field))
			continue;
		*type &= ~(1ull << field);
		l->place[field] = (uint8_t)l->size;
		l->mask[field] = UINT64_MAX;
		l->size += sizeof(uint64_t);
	}
}

/* Gives the one list its place. Branches with counters have a list behind that. */
static void place_list(struct sample_layout *l, const struct attr *attr, uint64_t *type)
{
	const uint64_t chain = 1ull << SAMPLE_CALLCHAIN, branches = 1ull << SAMPLE_BRANCH_STACK;
	uint64_t list = *type & (chain | branches);

	if (list != chain && list != branches)
		return;
	if (list == branches && attr_has_bit(attr->branch_sample_type, BRANCH_COUNTERS))
		return;
	*type &= ~list;
	l->entry_bytes = (list == chain ? 1 : 3) * sizeof(uint64_t);
	l->list = (uint8_t)l->size;
	l->size += sizeof(uint64_t);
	if (list == branches && attr_has_bit(attr->branch_sample_type, BRANCH_HW_INDEX))
		l->size += sizeof(uint64_t);
	l->entries = (uint8_t)l->size;
}

struct sample_layout sample_layout_of(const struct attr *attr)
{
	const uint64_t both_weights = 1ull << SAMPLE_WEIGHT | 1ull << SAMPLE_WEIGHT_STRUCT;
	uint64_t type = attr->sample_type;
	struct sample_layout l = { .size = sizeof(uint64_t) };

	place_words(&l, words_before, COUNT(words_before), &type);
	place_list(&l, attr, &type);
	place_words(&l, words_behind, COUNT(words_behind), &type);
	if (type != 0 || (attr->sample_type & both_weights) == both_weights)
		return (struct sample_layout){ 0 };
	return l;
}

struct sample_id sample_read_id(const struct record *r, const struct attr *attr)
{
	uint64_t type = attr->sample_type;
	struct cursor c = r->body;
	struct sample s = { 0 };

	take_fixed(&c, type, &s);
	if (!cur_ok(&c))
		return (struct sample_id){ 0 };
	return (struct sample_id){
		.has = (attr_has_bit(type, SAMPLE_TID) ? HAS_PID | HAS_TID : 0) |
		       (attr_has_bit(type, SAMPLE_TIME) ? HAS_TIME : 0) |
		       (attr_has_bit(type, SAMPLE_CPU) ? HAS_CPU : 0),
		.pid = s.pid,
		.tid = s.tid,
		.cpu = s.cpu,
		.time_ns = s.time_ns,
		.id = s.id,
		.stream_id = s.stream_id,
	};
}
