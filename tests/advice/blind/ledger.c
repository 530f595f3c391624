/* SPDX-License-Identifier: Apache-2.0 */

/* Prints no paper, but works out the statements of a bank's journal. The journal is kept by month, in order of
 * posting; each entry names the entry before it of the same account. A statement follows an account from its
 * newest entry of the month to its oldest, and keeps the balance and the lowest balance. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MONTHS = 48, ACCOUNTS = 64, POSTINGS = 16384, RUNS = 2 };

struct entry {
	uint32_t earlier; /* number of the entry before, 0: there is none */
	int32_t cents;
	char remark[120];
};

struct statement {
	int64_t balance;
	int64_t lowest;
};

static uint32_t newest[MONTHS][ACCOUNTS];
static uint64_t state = 777001;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state ^ state >> 29;
}

static void post_month(struct entry *journal, uint32_t first, uint32_t *last)
{
	for (uint32_t n = first; n < first + POSTINGS; n += 4) {
		uint64_t word = draw();

		for (uint32_t i = 0; i < 4; i++) {
			uint32_t account = word & (ACCOUNTS - 1);

			journal[n + i].earlier = last[account];
			journal[n + i].cents = (int32_t)(word >> 6 & 1023) - 500;
			last[account] = n + i;
			word >>= 16;
		}
	}
}

#ifdef FIXED

/* A reader of one account. Entry 0 leads to itself and moves no money: a reader that is done waits there. */
struct reader {
	uint32_t at;
	struct statement now;
};

static struct reader read_entry(const struct entry *journal, struct reader reader)
{
	const struct entry *entry = &journal[reader.at];

	reader.now.balance += entry->cents;
	reader.now.lowest =
		reader.now.balance < reader.now.lowest ? reader.now.balance : reader.now.lowest;
	reader.at = entry->earlier;
	return reader;
}

static void state_accounts(const struct entry *journal, const uint32_t *last, struct statement *out)
{
	for (int i = 0; i < ACCOUNTS; i += 4) {
		struct reader a = { last[i], { 0, 0 } };
		struct reader b = { last[i + 1], { 0, 0 } };
		struct reader c = { last[i + 2], { 0, 0 } };
		struct reader d = { last[i + 3], { 0, 0 } };

		while (a.at | b.at | c.at | d.at) {
			a = read_entry(journal, a);
			b = read_entry(journal, b);
			c = read_entry(journal, c);
			d = read_entry(journal, d);
		}
		out[i] = a.now;
		out[i + 1] = b.now;
		out[i + 2] = c.now;
		out[i + 3] = d.now;
	}
}

#else

static void state_accounts(const struct entry *journal, const uint32_t *last, struct statement *out)
{
	for (int a = 0; a < ACCOUNTS; a++) {
		struct statement now = { 0, 0 };

		for (uint32_t n = last[a]; n != 0; n = journal[n].earlier) {
			now.balance += journal[n].cents;
			now.lowest = now.balance < now.lowest ? now.balance : now.lowest;
		}
		out[a] = now;
	}
}

#endif

int main(void)
{
	struct entry *journal = calloc(1 + (size_t)MONTHS * POSTINGS, sizeof *journal);
	struct statement out[ACCOUNTS];
	uint64_t sum = 0;

	if (!journal)
		return 1;
	for (uint32_t month = 0; month < MONTHS; month++)
		post_month(journal, 1 + month * POSTINGS, newest[month]);
	for (int run = 0; run < RUNS; run++)
		for (int month = 0; month < MONTHS; month++) {
			state_accounts(journal, newest[month], out);
			for (int a = 0; a < ACCOUNTS; a++)
				sum = sum * 31 + (uint64_t)out[a].balance * 7 +
				      (uint64_t)out[a].lowest;
		}
	printf("ledger %016llx\n", (unsigned long long)sum);
	free(journal);
	return 0;
}
