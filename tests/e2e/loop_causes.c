/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of one cause each, chosen by -DCHAIN, -DCHASE …: loop_causes.py. */
#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Data that nothing here writes to are not static, or the compiler would know that they are 0. */
#define KEPT __attribute__((noipa))

static uint64_t state = 88172645463325252;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#if defined(CHAIN)
double numbers[2048];

KEPT static double add(void)
{
	double sum = 0;

	for (int i = 0; i < 2048; i++)
		sum += numbers[i];
	return sum;
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 300; i++)
		sum += add();
	return sum != 0;
}
#elif defined(UNOPTIMISED) || defined(IN_MEMORY)
uint32_t numbers[2048];

/* Sum and counter are on the stack; or two sums are in memory, where they may be one. */
#ifdef UNOPTIMISED
__attribute__((optimize("O0")))
#endif
KEPT static void
add(uint32_t *to, uint32_t *more, const uint32_t *from)
{
#ifdef UNOPTIMISED
	uint32_t sum = *to;

	for (int i = 0; i < 2048; i++)
		sum = sum * 3 + from[i];
	*to = *more = sum;
#else
	for (int i = 0; i < 2048; i++) {
		*to += from[i];
		*more ^= from[i];
	}
#endif
}

int main(void)
{
	uint32_t sum = 0, more = 0;

	for (int i = 0; i < 300; i++)
		add(&sum, &more, numbers);
	return sum + more != 0;
}
#elif defined(SPILLED)
/* More sums that wait for each other than there are registers: some are on the stack, and have to be. */
#define TWELVE(DO, x) DO(x##a) DO(x##b) DO(x##c) DO(x##d) DO(x##e) DO(x##f) SIX(DO, x)
#define SIX(DO, x) DO(x##g) DO(x##h) DO(x##i) DO(x##j) DO(x##k) DO(x##l)
#define EACH(DO) TWELVE(DO, r) TWELVE(DO, s) TWELVE(DO, t)
#define DECLARE(name) uint64_t name = next_random();
#define STEP(name) name = name * 3 + last, last = name;
#define ADD(name) last += name;

KEPT static uint64_t draw(int rounds)
{
	uint64_t last = 1;

	EACH(DECLARE)
	for (int round = 0; round < rounds; round++) {
		EACH(STEP)
	}
	EACH(ADD)
	return last;
}

int main(void)
{
	return draw(100000) == 0;
}
#elif defined(DIVISION)
uint64_t numbers[2048], parts = 1021;

/* No quotient waits for another. */
KEPT static uint64_t add(uint64_t by)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2048; i++)
		sum += numbers[i] / by;
	return sum;
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2048; i++)
		numbers[i] = next_random();
	for (int i = 0; i < 300; i++)
		sum += add(parts + (uint64_t)i);
	return sum == 1;
}
#elif defined(CHASE) || defined(LONG_CHASE) || defined(PAGE_CHASE) || defined(UNOPTIMISED_CHASE)
#if defined(LONG_CHASE)
enum { NODES = 1 << 16, NODE_BYTES = 64, STEPS = 4000 };
#elif defined(PAGE_CHASE)
enum { NODES = 1 << 12, NODE_BYTES = 16384, STEPS = 100000 };
#else
enum { NODES = 1 << 16, NODE_BYTES = 64, STEPS = 300000 };
#endif

static struct node {
	struct node *next;
	char rest[NODE_BYTES - 8];
} nodes[NODES];

#define TEN(x) x x x x x x x x x x

#ifdef UNOPTIMISED_CHASE
__attribute__((optimize("O0")))
#endif
KEPT static struct node *
walk(struct node *at, int n)
{
	while (n-- > 0) {
#if defined(LONG_CHASE)
		TEN(TEN(at = at->next;))
#else
		at = at->next;
#endif
	}
	return at;
}

int main(void)
{
	static uint32_t order[NODES];

	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		uint32_t other = (uint32_t)(next_random() % i), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 0; i < NODES; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
	return walk(nodes, STEPS) == NULL;
}
#elif defined(COLUMNS)
float map[2048][4096];

KEPT static float add_columns(void)
{
	float sum = 0;

	for (int x = 0; x < 256; x++)
		for (int y = 0; y < 2048; y++)
			sum += map[y][x];
	return sum;
}

int main(void)
{
	return add_columns() != 0;
}
#elif defined(GATHER) || defined(LATE)
enum { PICKED = 200000, AHEAD = 2 };

KEPT static uint64_t pick(const uint64_t *table, const uint32_t *which)
{
	uint64_t sum = 0;

	for (int i = 0; i < PICKED; i++) {
#if defined(LATE)
		uint64_t value = table[which[i]];

		__builtin_prefetch(&table[which[i + AHEAD]]);
		for (int k = 0; k < 3; k++)
			value = value * 31 + (uint64_t)k;
		sum ^= value;
#else
		sum += table[which[i]];
#endif
	}
	return sum;
}

int main(void)
{
	uint64_t *table = calloc(1 << 23, sizeof(*table));
	uint32_t *which = malloc((PICKED + AHEAD) * sizeof(*which));

	for (int i = 0; i < PICKED + AHEAD; i++)
		which[i] = (uint32_t)(next_random() % (1 << 23));
	return pick(table, which) + pick(table, which) != 0;
}
#elif defined(BRANCHES)
static uint8_t bytes[1 << 15];

KEPT static long count(int round)
{
	long sum = 0;

	for (int i = 0; i < 1 << 15; i++)
		if (bytes[i] >= 128) {
			sum += bytes[i] * round;
			__asm__ volatile("");
		}
	return sum;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 1 << 15; i++)
		bytes[i] = (uint8_t)next_random();
	for (int i = 0; i < 12; i++)
		sum += count(i);
	return sum == 0;
}
#elif defined(STORES)
KEPT static void scatter(uint32_t *to)
{
	uint32_t at = 12345;

	for (uint32_t i = 0; i < 300000; i++) {
		at = at * 1664525 + 1013904223;
		to[at >> 8] = i;
	}
}

int main(void)
{
	uint32_t *to = malloc(sizeof(*to) << 24);

	scatter(to);
	return to[5] == 1;
}
#elif defined(SCALAR) || defined(VECTORS)
uint8_t a[8192], b[8192], c[8192];

#ifdef SCALAR
enum { ROUNDS = 60 };
#else
enum { ROUNDS = 5000 };
#endif

KEPT static void add(void)
{
#if defined(SCALAR)
	for (int i = 0; i < 8192; i++) {
		int sum = a[i] + b[i];

		c[i] = (uint8_t)(sum > 255 ? 255 : sum);
	}
#else
	for (int i = 0; i < 8192; i += 16)
		vst1q_u8(c + i, vqaddq_u8(vld1q_u8(a + i), vld1q_u8(b + i)));
#endif
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++)
		add();
	return c[0];
}
#elif defined(BESIDE)
/* Four chains beside each other: three quarters of the width. */
KEPT static uint64_t draw(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t sum = 0;

	for (int i = 0; i < 500000; i++) {
		a = a * 6364136223846793005u + 1442695040888963407u;
		b = b * 3935559000370003845u + 2691343689449507681u;
		c = c * 2862933555777941757u + 3037000493u;
		d = d * 3202034522624059733u + 4354685564936845319u;
		sum += (a >> 33 ^ b >> 29) + (c >> 37 ^ d >> 21);
	}
	return sum;
}

int main(void)
{
	return draw(1, 2, 3, 4) == 1;
}
#elif defined(UNITS)
/* Pairs of vectors: the units for loads and stores have no rest, and nothing waits for a result. */
uint8_t from[4096], to[4096];

KEPT static void copy(void)
{
	for (int i = 0; i < 4096; i += 64) {
		uint8x16x4_t four = vld1q_u8_x4(from + i);

		vst1q_u8_x4(to + i, four);
	}
}

int main(void)
{
	for (int i = 0; i < 30000; i++)
		copy();
	return to[0];
}
#elif defined(KEYED)
/* The loop around changes a key, which a hash is made of: no column of a table. */
enum { NUMBERS = 1 << 14, PLACES = 1 << 20 };

uint32_t numbers[NUMBERS];
uint64_t places[PLACES];

KEPT static uint64_t look_up(uint32_t n_keys)
{
	uint64_t sum = 0;

	for (uint32_t key = 0; key < n_keys; key++)
		for (int i = 0; i < NUMBERS; i++) {
			uint64_t hash = (numbers[i] + key) * 0x9e3779b97f4a7c15;

			hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
			hash = (hash ^ hash >> 32) * 0x94d049bb133111eb;
			sum += places[hash >> 44];
		}
	return sum;
}

int main(void)
{
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (uint32_t)next_random();
	for (int i = 0; i < PLACES; i += 8)
		places[i] = (uint64_t)i;
	return look_up(8) == 1;
}
#elif defined(MATRIX)
enum { N = 256 };

double left[N][N], right[N][N], product[N][N];

KEPT static void multiply(int rows)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum;
		}
}

int main(void)
{
	multiply(12);
	return product[1][1] != 0;
}
#elif defined(HASHED)
/* Each place is a hash of what was found at the one before. */
enum { PLACES = 1 << 19 };

uint64_t places[PLACES];

KEPT static uint64_t visit(uint64_t at, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t found = places[at % PLACES] + (uint64_t)i;

		at = found ^ found >> 13 ^ found << 7;
	}
	return at;
}

int main(void)
{
	for (int i = 0; i < PLACES; i++)
		places[i] = next_random();
	return visit(1, 300000) == 0;
}
#elif defined(NUMBERED)
/* A list whose nodes know the number of the next. */
enum { NODES = 1 << 16 };

struct {
	uint32_t value[11], next;
} nodes[NODES];

KEPT static uint32_t walk(uint32_t at, int n)
{
	uint32_t sum = 0;

	for (int i = 0; i < n; i++) {
		sum += nodes[at].value[3];
		at = nodes[at].next;
	}
	return sum;
}

int main(void)
{
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i].next = (i * 5 + 12345) % NODES;
	return walk(1, 300000) == 1;
}
#elif defined(AUTOMATA)
/* Six tables of 32 KiB in turn, each for a few steps that depend on each other. */
enum { TABLES = 6, STATES = 128, LETTERS = 128, STEPS = 40, WORDS = 1500 };

uint16_t tables[TABLES][STATES][LETTERS];
uint8_t text[WORDS][STEPS];

KEPT static uint32_t match(uint32_t *ends)
{
	for (int word = 0; word < WORDS; word++)
		for (int table = 0; table < TABLES; table++) {
			uint32_t at = 0;

			for (int i = 0; i < STEPS; i++)
				at = (&tables[table][0][0])[at + text[word][i]];
			ends[table] += at;
		}
	return ends[0];
}

int main(void)
{
	uint32_t ends[TABLES] = { 0 };

	for (int i = 0; i < TABLES * STATES * LETTERS; i++)
		(&tables[0][0][0])[i] = (uint16_t)(next_random() % STATES * LETTERS);
	for (int i = 0; i < WORDS * STEPS; i++)
		(&text[0][0])[i] = (uint8_t)(next_random() % LETTERS);
	return match(ends) == 1;
}
#elif defined(ROWS)
/* Columns of rows that are found by pointers, in no order. */
enum { HEIGHT = 6000, WIDTH = 40 };

float *rows[HEIGHT];

KEPT static float add_columns(void)
{
	float most = 0;

	for (int x = 0; x < WIDTH; x++) {
		int n = 0;

		for (int y = 0; y < HEIGHT; y++)
			n += rows[y][x] > 1;
		most += (float)n;
	}
	return most;
}

int main(void)
{
	float *memory = calloc(HEIGHT * WIDTH * 4, sizeof(*memory));

	for (uint32_t y = 0; y < HEIGHT; y++)
		rows[y] = memory + y * 2609 % HEIGHT * WIDTH * 4;
	return add_columns() == 1;
}
#elif defined(GENERATOR)
KEPT static uint64_t draw(uint64_t x, uint64_t factor, uint64_t step)
{
	uint64_t bits = 0;

	for (int i = 0; i < 100000; i++) {
		x = x * factor + step;
		bits += x >> 63;
	}
	return bits;
}

int main(void)
{
	return draw(next_random(), 6364136223846793005u, 1442695040888963407u) == 1;
}
#elif defined(HASH)
uint8_t letters[2048];

KEPT static uint64_t hash(void)
{
	uint64_t sum = 14695981039346656037u;

	for (int i = 0; i < 2048; i++)
		sum = (sum ^ letters[i]) * 1099511628211u;
	return sum;
}

int main(void)
{
	uint64_t all = 0;

	for (int i = 0; i < 40; i++)
		all += hash();
	return all == 1;
}
#elif defined(LARGE_CODE)
/* 160 KiB of straight code. */
int main(void)
{
	uint64_t a = 1, b = 2;

	for (int i = 0; i < 70; i++)
		__asm__ volatile(".rept 10240\n\tadd %0, %0, #3\n\teor %1, %1, #8\n\t"
				 "add x9, %0, #1\n\teor x10, %1, #2\n\t.endr"
				 : "+r"(a), "+r"(b)
				 :
				 : "x9", "x10");
	return a + b == 1;
}
#endif
