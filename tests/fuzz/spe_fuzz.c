/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPE bytes, whole and in pieces, parsed and by shape: the rows are the same, and every byte
 * is accounted for. The first byte of the input is the size of the pieces.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spe/decode.h"
#include "spe/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int is_true)
{
	if (!is_true)
		abort();
}

/* Folds what the rows say into one number. */
static uint64_t fold(uint64_t sum, const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		uint32_t has = b->has[i];
		uint64_t words[] = {
			has | (uint64_t)b->level[i] << 32,
			b->position[i],
			has & HAS_PC ? b->pc[i] : 0,
			has & HAS_VA ? b->va[i] ^ b->va_tag[i] : 0,
			has & HAS_PA ? b->pa[i] : 0,
			has & HAS_TARGET ? b->target[i] : 0,
			has & HAS_PREV_TARGET ? b->prev_target[i] : 0,
			has & HAS_TICKS ? b->ticks[i] : 0,
			has & HAS_EVENTS ? b->events[i] : 0,
			has & HAS_CONTEXT ? b->context[i] : 0,
			has & HAS_TOTAL ? b->total[i] : 0,
			has & HAS_ISSUE ? b->issue[i] : 0,
			has & HAS_XLAT ? b->xlat[i] : 0,
			has & HAS_SOURCE ? b->source[i] : 0,
			has & HAS_OP ? (uint64_t)b->op_class[i] << 8 | b->op[i] : 0,
		};

		sum = hash_words(words, sizeof(words) / sizeof(words[0]), sum);
	}
	return sum;
}

static uint64_t decode(const uint8_t *bytes, size_t size, size_t piece, int use_shapes,
		       struct spe_damage *damage)
{
	struct spe_decoder *d = spe_decoder_new();
	struct batch *b = batch_new();
	uint64_t sum = 0;

	spe_decoder_use_shapes(d, use_shapes);
	for (size_t at = 0; at < size;) {
		size_t left = size - at;
		size_t n;

		batch_reset(b, BATCH_SPE);
		n = spe_decode(d, bytes + at, left < piece ? left : piece, at, at, b);
		check(n > 0 || b->n > 0);
		sum = fold(sum, b);
		at += n;
	}
	spe_decoder_finish(d);
	*damage = spe_decoder_damage(d);
	batch_free(b);
	spe_decoder_free(d);
	return sum;
}

static void check_decoding(const uint8_t *bytes, size_t size, size_t piece)
{
	struct spe_damage d, other;
	uint64_t sum = decode(bytes, size, SIZE_MAX, 0, &d);

	check(d.bad_bytes + d.dropped_bytes + d.record_bytes + d.padding_bytes == size);
	check(decode(bytes, size, SIZE_MAX, 1, &other) == sum);
	check(memcmp(&d, &other, sizeof(d)) == 0);
	check(decode(bytes, size, piece, 1, &other) == sum);
	check(memcmp(&d, &other, sizeof(d)) == 0);
}

/* A packet that is written and read again is the same packet. */
static void check_packets(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct spe_packet p = spe_packet_read(bytes + at, size - at, at);
		uint8_t written[SPE_PACKET_MAX];
		struct spe_packet again;

		at += p.length;
		check(p.length > 0 && at <= size);
		if (p.kind == SPE_BAD || p.kind == SPE_ALIGNMENT)
			continue;
		again = spe_packet_read(written, spe_packet_write(&p, written), 0);
		check(again.kind == p.kind && again.index == p.index && again.size == p.size);
		check(again.payload == p.payload);
	}
}

/* Names of any length are the catalog's; bits that have one of the architecture's keep that. */
static const struct spe_event_names event_names = { {
	[1] = "TWO-NAMES",
	[12] = "LATE-PREFETCH",
	[13] = "",
	[14] = "AN-EVENT-WITH-A-NAME-THAT-IS-LONGER-THAN-ALL-OF-THE-ARCHITECTURE'S-TOGETHER-OR-AT-"
	       "LEAST-AS-LONG-AS-A-GOOD-PART-OF-THEM-SO-THAT-IT-DOES-NOT-FIT-WITH-MANY-OF-THEM",
	[63] = "LAST",
} };

static void check_dump(const uint8_t *bytes, size_t size, enum spe_wording wording)
{
	struct text text = { 0 };

	spe_dump(bytes, size, 0, wording, &event_names, &text);
	check((size == 0) == (text.n == 0));
	check(text.n == 0 || text.bytes[text.n - 1] == '\n');
	text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece;

	if (size == 0)
		return 0;
	piece = 1 + data[0];
	data++;
	size--;
	check_decoding(data, size, piece);
	check_packets(data, size);
	check_dump(data, size, SPE_WORDING_PERF_6_1);
	check_dump(data, size, SPE_WORDING_FULL);
	return 0;
}
