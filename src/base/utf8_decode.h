/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as in RFC 3629. */
#ifndef CYCLOPS_BASE_UTF8_DECODE_H
#define CYCLOPS_BASE_UTF8_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes a character of NUL-terminated text. Returns its size in bytes; 0 if it is not UTF-8
 * (overlong forms, surrogates and codes above U+10FFFF included).
 */
size_t utf8_decode(const char *text, uint32_t *out_code);

/* Is it a control character, or does it change the direction of text? */
bool utf8_is_unsafe(uint32_t code);

#endif
