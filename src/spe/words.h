/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting for this folder: text that goes to a place with enough room, word by word. */
#ifndef CYCLOPS_SPE_WORDS_H
#define CYCLOPS_SPE_WORDS_H

#include <stdint.h>
#include <string.h>

#include "spe/packet.h"

/* A word of at most 23 letters. All 24 bytes are copied: that is one or two instructions. */
struct spe_word {
	uint8_t size;
	char text[24];
};

#define SPE_WORD(string)                                                                           \
	{                                                                                          \
		.size = sizeof(string) - 1, .text = string                                         \
	}

/* Writes up to 24 bytes at `at`, returns where the word ends. */
static inline char *put_word(char *at, const struct spe_word *w)
{
	memcpy(at, w->text, sizeof(w->text));
	return at + w->size;
}

/* The dump's name of each event bit; size 0 if it has none. */
extern const struct spe_word spe_event_words[64];

/* The operation as the dump says it. At most SPE_OP_ROOM bytes are touched. */
enum { SPE_OP_ROOM = 128 };
char *spe_put_op(char *at, enum spe_wording, unsigned op_class, uint64_t payload);

/* The packet's text. At most SPE_TEXT_ROOM bytes are touched. */
enum { SPE_TEXT_ROOM = 768 };
char *spe_put_packet(char *at, const struct spe_packet *, enum spe_wording,
		     const struct spe_event_names *);

#endif
