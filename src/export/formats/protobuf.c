/* SPDX-License-Identifier: Apache-2.0 */
#include "export/formats/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_BITS = 3, VARINT_BITS = 7 };

void protobuf_put_varint(struct text *out, uint64_t value)
{
	for (; value > 0x7f; value >>= VARINT_BITS)
		text_char(out, (char)(value | 0x80));
	text_char(out, (char)value);
}

static void put_tag(struct text *out, unsigned field, unsigned wire)
{
	protobuf_put_varint(out, (uint64_t)field << WIRE_BITS | wire);
}

void protobuf_put_element(struct text *out, unsigned field, uint64_t value)
{
	put_tag(out, field, WIRE_VARINT);
	protobuf_put_varint(out, value);
}

void protobuf_put_number(struct text *out, unsigned field, uint64_t value)
{
	if (value != 0)
		protobuf_put_element(out, field, value);
}

void protobuf_put_fixed64(struct text *out, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(out, field, WIRE_FIXED64);
	for (int shift = 0; shift < 64; shift += 8)
		text_char(out, (char)(value >> shift));
}

void protobuf_put_length(struct text *out, unsigned field, uint64_t size)
{
	put_tag(out, field, WIRE_BYTES);
	protobuf_put_varint(out, size);
}

void protobuf_put_bytes(struct text *out, unsigned field, const void *bytes, size_t size)
{
	protobuf_put_length(out, field, size);
	text_add(out, bytes, size);
}

void protobuf_put_message(struct text *out, unsigned field, const struct text *message)
{
	protobuf_put_bytes(out, field, message->bytes, message->n);
}
