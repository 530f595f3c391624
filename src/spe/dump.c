/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer as text, one line per packet, in the columns of `perf script -D`:
 *
 *   .  00000013:  99 07 00                                        LAT 7 ISSUE
 *
 * The text is about fifteen times as large as the bytes, so this code is optimised.
 */
#include "spe/packet.h"

#include "spe/words.h"

/* Columns of a line. */
enum {
	BYTES_AT = 13,	     /* three columns per byte */
	BYTES_PER_LINE = 16, /* longer padding is continued in the next line */
	TEXT_AT = BYTES_AT + 3 * BYTES_PER_LINE + 1,
	LINE_ROOM = TEXT_AT + SPE_TEXT_ROOM + 16,
};

static const char hex_pairs[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
				"202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
				"404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
				"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
				"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
				"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
				"c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
				"e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

static void put_pair(char *at, uint8_t byte)
{
	memcpy(at, hex_pairs + 2 * (size_t)byte, 2);
}

/* ".  OFFSET: ", with eight digits or more. */
static char *put_offset(char *at, uint64_t offset)
{
	memcpy(at, ".  ", 3);
	if (offset > UINT32_MAX) {
		size_t digits = put_hex_digits(at + 3, offset, 8);

		memcpy(at + 3 + digits, ": ", 2);
		return at + 3 + digits + 2;
	}
	put_pair(at + 3, (uint8_t)(offset >> 24));
	put_pair(at + 5, (uint8_t)(offset >> 16));
	put_pair(at + 7, (uint8_t)(offset >> 8));
	put_pair(at + 9, (uint8_t)offset);
	memcpy(at + 11, ": ", 2);
	return at + BYTES_AT;
}

/* The bytes in their columns, then a blank before the text. */
static char *put_bytes(char *at, const uint8_t *bytes, size_t n)
{
	memset(at, ' ', TEXT_AT - BYTES_AT);
	for (size_t i = 0; i < n; i++)
		put_pair(at + 3 * i + 1, bytes[i]);
	return at + TEXT_AT - BYTES_AT;
}

/* The size of a packet's line: consecutive padding shares lines. */
static size_t line_length(const struct spe_packet *p, const uint8_t *bytes, size_t left)
{
	size_t n = p->length;

	if (p->kind != SPE_PAD && p->kind != SPE_ALIGNMENT)
		return n;
	while (n < BYTES_PER_LINE && n < left && bytes[n] == 0)
		n++;
	return n;
}

size_t spe_dump_some(const uint8_t *bytes, size_t size, uint64_t address, size_t from, size_t limit,
		     enum spe_wording wording, const struct spe_event_names *names,
		     struct text *out)
{
	size_t start = out->n;
	size_t at = from;

	while (at < size && out->n - start < limit) {
		struct spe_packet p = spe_packet_read(bytes + at, size - at, address + at);
		size_t n = line_length(&p, bytes + at, size - at);
		char *line = text_room(out, LINE_ROOM);
		char *end = put_offset(line, at);

		end = put_bytes(end, bytes + at, n);
		end = spe_put_packet(end, &p, wording, names);
		*end++ = '\n';
		out->n += (size_t)(end - line);
		at += n;
	}
	return at;
}

void spe_dump(const uint8_t *bytes, size_t size, uint64_t address, enum spe_wording wording,
	      const struct spe_event_names *names, struct text *out)
{
	spe_dump_some(bytes, size, address, 0, SIZE_MAX, wording, names, out);
}
