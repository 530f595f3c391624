/* SPDX-License-Identifier: Apache-2.0 */
/* Packets as text, in the words of `perf script -D`. */
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "spe/words.h"

/* Payload bits of address packets. */
enum { ADDRESS_BITS = 56, LEVEL_SHIFT = 61, NS_SHIFT = 63, CH_SHIFT = 62, PAT_SHIFT = 56 };

/* Event bits that perf 6.1 names: 0 to 11, 17, 18. */
static const uint64_t perf_6_1_events = 0x60fff;

/* The size of perf's buffer. If the text is longer, perf prints the raw payload. */
enum { EVENTS_TEXT_LIMIT = 256 };

static const struct spe_word kind_words[] = {
	[SPE_BAD] = SPE_WORD("Bad packet!"),	 [SPE_PAD] = SPE_WORD("PAD"),
	[SPE_ALIGNMENT] = SPE_WORD("PAD"),	 [SPE_END] = SPE_WORD("END"),
	[SPE_TIMESTAMP] = SPE_WORD("TS "),	 [SPE_EVENTS] = SPE_WORD("EV"),
	[SPE_SOURCE] = SPE_WORD("DATA-SOURCE "), [SPE_CONTEXT] = SPE_WORD("CONTEXT "),
	[SPE_OP] = SPE_WORD("OP-TYPE "),	 [SPE_ADDRESS] = SPE_WORD("ADDR "),
	[SPE_COUNTER] = SPE_WORD("LAT "),
};
static const struct spe_word events_word = SPE_WORD("EVENTS "), impdef_word = SPE_WORD(" IMPDEF:");
static const struct spe_word el_word = SPE_WORD(" el"), ns_word = SPE_WORD(" ns=");
static const struct spe_word ch_word = SPE_WORD(" ch="), pat_word = SPE_WORD(" pat=");

static const struct spe_word address_words[] = {
	[SPE_ADDR_PC] = SPE_WORD("PC "),	   [SPE_ADDR_TARGET] = SPE_WORD("TGT "),
	[SPE_ADDR_VA] = SPE_WORD("VA "),	   [SPE_ADDR_PA] = SPE_WORD("PA "),
	[SPE_ADDR_PREV_TARGET] = SPE_WORD("PBT "),
};

static const struct spe_word counter_words[] = {
	[SPE_COUNT_TOTAL] = SPE_WORD(" TOT"),
	[SPE_COUNT_ISSUE] = SPE_WORD(" ISSUE"),
	[SPE_COUNT_XLAT] = SPE_WORD(" XLAT"),
};
static const struct spe_word unknown_counter = SPE_WORD(" ");

static char *put_digit(char *at, const struct spe_word *name, unsigned digit)
{
	at = spe_word_put(at, name);
	*at = "0123456789abcdef"[digit & 15];
	return at + 1;
}

static char *put_signed(char *at, uint64_t value)
{
	bool is_negative = value >> 63;

	*at = '-';
	at += is_negative;
	return at + put_u64(at, is_negative ? -value : value);
}

/* The text for unknown values: name of the kind, payload and a number, as in perf. */
static char *put_raw(char *at, const struct spe_word *name, uint64_t payload, unsigned number)
{
	at = spe_word_put(at, name);
	at += put_hex(at, payload);
	memcpy(at, " (", 2);
	at += 2;
	at += put_u64(at, number);
	*at = ')';
	return at + 1;
}

static char *packet_text_put_event(char *at, const struct spe_word *name)
{
	*at = ' ';
	return spe_word_put(at + 1, name);
}

/*
 * Appends the CPU's own names for bits of `events`, and clears these bits. Returns NULL if a name
 * does not fit before `end`: names may have any length.
 */
static char *put_cpu_events(char *at, const char *end, const struct spe_event_names *names,
			    uint64_t *events)
{
	for (uint64_t left = *events; names != NULL && left != 0; left &= left - 1) {
		const char *name = names->by_bit[__builtin_ctzll(left)];
		size_t size = name == NULL ? 0 : strlen(name);

		if (name == NULL)
			continue;
		if (end - at <= (ptrdiff_t)size + 1)
			return NULL;
		*at = ' ';
		memcpy(at + 1, name, size);
		at += size + 1;
		*events &= ~(left & -left);
	}
	return at;
}

static char *put_impdef(char *at, uint64_t events)
{
	const char *separator = "";

	if (events != 0)
		at = spe_word_put(at, &impdef_word);
	for (; events != 0; events &= events - 1, separator = ",") {
		*at = *separator;
		at += *separator != '\0';
		at += put_u64(at, (uint64_t)__builtin_ctzll(events));
	}
	return at;
}

/*
 * Appends events that perf has no name for. Returns NULL if they do not fit before `end`. Not inlined: the registers
 * that it needs would be saved for every packet.
 */
static __attribute__((noinline)) char *put_unnamed_events(char *at, const char *end,
							  const struct spe_event_names *names,
							  uint64_t events)
{
	at = put_cpu_events(at, end, names, &events);
	return at == NULL ? NULL : put_impdef(at, events);
}

static char *packet_put_events(char *at, const struct spe_packet *p, enum spe_wording wording,
			       const struct spe_event_names *names)
{
	bool is_full = wording == SPE_WORDING_FULL;
	uint64_t unnamed = 0;
	char *start = at;

	at = spe_word_put(at, &kind_words[SPE_EVENTS]);
	for (uint64_t left = is_full ? p->payload : p->payload & perf_6_1_events; left != 0;
	     left &= left - 1) {
		const struct spe_word *name = &spe_event_words[__builtin_ctzll(left)];

		if (name->size > 0)
			at = packet_text_put_event(at, name);
		else
			unnamed |= left & -left;
	}
	if (unnamed != 0)
		at = put_unnamed_events(at, start + EVENTS_TEXT_LIMIT, names, unnamed);
	if (at == NULL || at - start >= EVENTS_TEXT_LIMIT)
		return put_raw(start, &events_word, p->payload, p->size);
	return at;
}

static char *packet_text_put_address(char *at, const struct spe_packet *p, enum spe_wording wording)
{
	unsigned n_known = wording == SPE_WORDING_FULL ? SPE_ADDR_PREV_TARGET : SPE_ADDR_PA;
	uint64_t payload = p->payload;
	uint64_t address = payload & (UINT64_MAX >> (64 - ADDRESS_BITS));
	unsigned ns = (unsigned)(payload >> NS_SHIFT);

	if (p->index > n_known)
		return put_raw(at, &kind_words[SPE_ADDRESS], payload, p->index);
	at = spe_word_put(at, &address_words[p->index]);
	at += put_hex(at, p->index == SPE_ADDR_VA ? payload : address);
	switch (p->index) {
	case SPE_ADDR_VA:
		return at;
	case SPE_ADDR_PA:
		at = put_digit(at, &ns_word, ns);
		at = put_digit(at, &ch_word, payload >> CH_SHIFT & 1);
		return put_digit(at, &pat_word, payload >> PAT_SHIFT & 15);
	default:
		at = put_digit(at, &el_word, payload >> LEVEL_SHIFT & 3);
		return put_digit(at, &ns_word, ns);
	}
}

static char *put_counter(char *at, const struct spe_packet *p)
{
	at = spe_word_put(at, &kind_words[SPE_COUNTER]);
	at += put_u64(at, p->payload);
	return spe_word_put(at, p->index < COUNT(counter_words) ? &counter_words[p->index]
								: &unknown_counter);
}

static char *put_context(char *at, const struct spe_packet *p)
{
	at = spe_word_put(at, &kind_words[SPE_CONTEXT]);
	at += put_hex(at, p->payload);
	return put_digit(at, &el_word, p->index + 1u);
}

char *spe_put_packet(char *at, const struct spe_packet *p, enum spe_wording wording,
		     const struct spe_event_names *names)
{
	switch (p->kind) {
	case SPE_BAD:
	case SPE_PAD:
	case SPE_ALIGNMENT:
	case SPE_END:
		return spe_word_put(at, &kind_words[p->kind]);
	case SPE_TIMESTAMP:
	case SPE_SOURCE:
		return put_signed(spe_word_put(at, &kind_words[p->kind]), p->payload);
	case SPE_EVENTS:
		return packet_put_events(at, p, wording, names);
	case SPE_CONTEXT:
		return put_context(at, p);
	case SPE_OP:
		return spe_put_op(at, wording, p->index, p->payload);
	case SPE_ADDRESS:
		return packet_text_put_address(at, p, wording);
	case SPE_COUNTER:
		return put_counter(at, p);
	}
	return at;
}

void spe_packet_text(const struct spe_packet *p, enum spe_wording wording,
		     const struct spe_event_names *names, struct text *out)
{
	char *start = text_room(out, SPE_TEXT_ROOM);

	out->n += (size_t)(spe_put_packet(start, p, wording, names) - start);
}
