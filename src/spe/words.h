/* SPDX-License-Identifier: Apache-2.0 */
/* Text formatting for this folder, word by word, to a buffer with enough room. */
#ifndef CYCLOPS_SPE_WORDS_H
#define CYCLOPS_SPE_WORDS_H

#include <stdint.h>
#include <string.h>

#include "spe/packet.h"

/* A word of at most 23 letters. All 24 bytes are copied, with one or two instructions. */
struct spe_word {
	uint8_t size;
	char text[24];
};

#define SPE_WORD(string)                                                                           \
	{                                                                                          \
		.size = sizeof(string) - 1, .text = string                                         \
	}

/* Copies 24 bytes to `at`, and returns where the word ends. */
static inline char *spe_word_put(char *at, const struct spe_word *w)
{
	memcpy(at, w->text, sizeof(w->text));
	return at + w->size;
}

/* Names of event bits in dumps; size 0 if there is none. */
extern const struct spe_word spe_event_words[64];

/* The operation as in dumps. Writes at most SPE_OP_ROOM bytes. */
enum { SPE_OP_ROOM = 128 };
char *spe_put_op(char *at, enum spe_wording, unsigned op_class, uint64_t payload);

/* The packet's text. Writes at most SPE_TEXT_ROOM bytes. */
enum { SPE_TEXT_ROOM = 768 };
char *spe_put_packet(char *at, const struct spe_packet *, enum spe_wording,
		     const struct spe_event_names *);

#endif
