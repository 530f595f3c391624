/* SPDX-License-Identifier: Apache-2.0 */
/* Event bits by name. */
#include "spe/names.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "spe/packet.h"
#include "spe/words.h"

const struct spe_word spe_event_words[64] = {
	[SPE_EV_EXCEPTION] = SPE_WORD("EXCEPTION-GEN"),
	[SPE_EV_RETIRED] = SPE_WORD("RETIRED"),
	[SPE_EV_L1D_ACCESS] = SPE_WORD("L1D-ACCESS"),
	[SPE_EV_L1D_REFILL] = SPE_WORD("L1D-REFILL"),
	[SPE_EV_TLB_ACCESS] = SPE_WORD("TLB-ACCESS"),
	[SPE_EV_TLB_WALK] = SPE_WORD("TLB-REFILL"),
	[SPE_EV_NOT_TAKEN] = SPE_WORD("NOT-TAKEN"),
	[SPE_EV_MISPREDICTED] = SPE_WORD("MISPRED"),
	[SPE_EV_LLC_ACCESS] = SPE_WORD("LLC-ACCESS"),
	[SPE_EV_LLC_MISS] = SPE_WORD("LLC-REFILL"),
	[SPE_EV_REMOTE] = SPE_WORD("REMOTE-ACCESS"),
	[SPE_EV_ALIGNMENT] = SPE_WORD("ALIGNMENT"),
	[SPE_EV_TRANSACTION] = SPE_WORD("TXN"),
	[SPE_EV_PARTIAL_PREDICATE] = SPE_WORD("SVE-PARTIAL-PRED"),
	[SPE_EV_EMPTY_PREDICATE] = SPE_WORD("SVE-EMPTY-PRED"),
	[SPE_EV_L2D_ACCESS] = SPE_WORD("L2D-ACCESS"),
	[SPE_EV_L2D_MISS] = SPE_WORD("L2D-MISS"),
	[SPE_EV_HITM] = SPE_WORD("HITM"),
	[SPE_EV_RECENTLY_FETCHED] = SPE_WORD("LFB"),
	[SPE_EV_SNOOPED] = SPE_WORD("SNOOPED"),
	[SPE_EV_STREAMING_SVE] = SPE_WORD("STREAMING-SVE"),
	[SPE_EV_SMCU] = SPE_WORD("SMCU"),
};

/* Spellings beside the names in dumps. */
static const struct spelling {
	const char *name;
	uint8_t bit;
} spellings[] = {
	{ "exception", SPE_EV_EXCEPTION },
	{ "l1d", SPE_EV_L1D_ACCESS },
	{ "l1-access", SPE_EV_L1D_ACCESS },
	{ "l1d-miss", SPE_EV_L1D_REFILL },
	{ "l1-miss", SPE_EV_L1D_REFILL },
	{ "l1-refill", SPE_EV_L1D_REFILL },
	{ "tlb", SPE_EV_TLB_ACCESS },
	{ "dtlb-access", SPE_EV_TLB_ACCESS },
	{ "tlb-walk", SPE_EV_TLB_WALK },
	{ "tlb-miss", SPE_EV_TLB_WALK },
	{ "dtlb-walk", SPE_EV_TLB_WALK },
	{ "dtlb-miss", SPE_EV_TLB_WALK },
	{ "walk", SPE_EV_TLB_WALK },
	{ "mispredict", SPE_EV_MISPREDICTED },
	{ "mispredicted", SPE_EV_MISPREDICTED },
	{ "branch-miss", SPE_EV_MISPREDICTED },
	{ "branch-mispredict", SPE_EV_MISPREDICTED },
	{ "llc", SPE_EV_LLC_ACCESS },
	{ "llc-miss", SPE_EV_LLC_MISS },
	{ "remote", SPE_EV_REMOTE },
	{ "misaligned", SPE_EV_ALIGNMENT },
	{ "unaligned", SPE_EV_ALIGNMENT },
	{ "misalignment", SPE_EV_ALIGNMENT },
	{ "transaction", SPE_EV_TRANSACTION },
	{ "partial-pred", SPE_EV_PARTIAL_PREDICATE },
	{ "partial-predicate", SPE_EV_PARTIAL_PREDICATE },
	{ "sve-partial-predicate", SPE_EV_PARTIAL_PREDICATE },
	{ "empty-pred", SPE_EV_EMPTY_PREDICATE },
	{ "empty-predicate", SPE_EV_EMPTY_PREDICATE },
	{ "sve-empty-predicate", SPE_EV_EMPTY_PREDICATE },
	{ "l2d", SPE_EV_L2D_ACCESS },
	{ "l2-access", SPE_EV_L2D_ACCESS },
	{ "l2-miss", SPE_EV_L2D_MISS },
	{ "l2d-refill", SPE_EV_L2D_MISS },
	{ "l2-refill", SPE_EV_L2D_MISS },
	{ "modified", SPE_EV_HITM },
	{ "recently-fetched", SPE_EV_RECENTLY_FETCHED },
	{ "snoop", SPE_EV_SNOOPED },
	{ "streaming", SPE_EV_STREAMING_SVE },
};

const char *spe_event_name(unsigned bit)
{
	if (bit >= COUNT(spe_event_words) || spe_event_words[bit].size == 0)
		return NULL;
	return spe_event_words[bit].text;
}

/* Lower case, and '-' for '_'. */
static char plain_char(char c)
{
	if (c == '_')
		return '-';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(const char *a, const char *b)
{
	while (*a != '\0' && plain_char(*a) == plain_char(*b)) {
		a++;
		b++;
	}
	return *a == '\0' && *b == '\0';
}

/* The bit of "impdef:12", or -1. */
static int find_by_number(const char *name)
{
	static const char prefix[] = "impdef:";
	int bit = 0;

	for (const char *p = prefix; *p != '\0'; p++)
		if (plain_char(*name++) != *p)
			return -1;
	if (*name == '\0')
		return -1;
	for (; *name != '\0'; name++) {
		if (*name < '0' || *name > '9')
			return -1;
		bit = 10 * bit + (*name - '0');
		if (bit >= (int)COUNT(spe_event_words))
			return -1;
	}
	return bit;
}

int spe_event_find(const char *name)
{
	for (unsigned bit = 0; bit < COUNT(spe_event_words); bit++)
		if (spe_event_words[bit].size > 0 && same_name(name, spe_event_words[bit].text))
			return (int)bit;
	for (size_t i = 0; i < COUNT(spellings); i++)
		if (same_name(name, spellings[i].name))
			return spellings[i].bit;
	return find_by_number(name);
}

void spe_events_text(uint64_t events, char separator, struct text *out)
{
	for (uint64_t left = events; left != 0; left &= left - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(left);
		const char *name = spe_event_name(bit);

		if (left != events)
			text_char(out, separator);
		text_str(out, name != NULL ? name : "IMPDEF:");
		if (name == NULL)
			text_u64(out, bit);
	}
}
