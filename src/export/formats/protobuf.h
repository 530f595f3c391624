/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of Protocol Buffers messages: https://protobuf.dev/programming-guides/encoding. A field of 0 or
 * without bytes is left out, as proto3 has it.
 */
#ifndef CYCLOPS_EXPORT_FORMATS_PROTOBUF_H
#define CYCLOPS_EXPORT_FORMATS_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* A number without its field, as elements of packed fields are. */
void protobuf_put_varint(struct text *, uint64_t value);

/* A field with a number; negative ones as 64 bits. */
void protobuf_put_number(struct text *, unsigned field, uint64_t value);

/* The same, also if it is 0: for an element of a repeated field, or one of several (oneof). */
void protobuf_put_element(struct text *, unsigned field, uint64_t value);

/* A field of eight bytes. */
void protobuf_put_fixed64(struct text *, unsigned field, uint64_t value);

/* The beginning of a field of so many bytes, which follow. */
void protobuf_put_length(struct text *, unsigned field, uint64_t size);

/* A field with bytes, a string, a message, or a packed list; also if it is empty. */
void protobuf_put_bytes(struct text *, unsigned field, const void *bytes, size_t size);
void protobuf_put_message(struct text *, unsigned field, const struct text *message);

#endif
