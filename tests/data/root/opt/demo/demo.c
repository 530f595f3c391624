/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose slow places are known: pointer chases that live in the first-level cache, in
 * the second-level cache and in memory, a matrix multiplication in a bad and in a good order,
 * and branches that cannot be predicted. It has no library, so that its file stays small.
 */
#include <stddef.h>
#include <stdint.h>

enum {
	LINE = 64,
	L1_LINES = 32 * 1024 / LINE,		/* half of a 64 KiB cache */
	L2_LINES = 512 * 1024 / LINE,		/* half of 1 MiB */
	MEMORY_LINES = 64 * 1024 * 1024 / LINE, /* twice a system cache of 32 MiB */
	SIZE = 128,				/* of the matrix */
	ROWS = 12,				/* of it that are multiplied */
	N_LETTERS = 64 * 1024,
};

struct node {
	struct node *next;
	char rest[LINE - sizeof(struct node *)];
};

static struct node nodes[L2_LINES];
static double left[ROWS][SIZE], right[SIZE][SIZE], product[ROWS][SIZE];
static uint8_t letters[N_LETTERS];

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

enum { SYS_WRITE = 64, SYS_EXIT = 94, SYS_MMAP = 222, READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22 };

static uint32_t next_random(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

/* Links the first n nodes to one ring, in an order that no prefetcher guesses. */
static void link_nodes(unsigned n)
{
	/* A multiplier that is 1 modulo 4 and an odd increment visit each number below 2^k once. */
	unsigned at = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned next = (at * 1664525 + 1013904223) % n;

		nodes[at].next = &nodes[next];
		at = next;
	}
}

/* Each load's address is what the load before it read. */
static inline struct node *chase(struct node *node, unsigned steps)
{
	while (steps-- > 0)
		node = node->next;
	return node;
}

__attribute__((noipa)) static struct node *chase_l1(unsigned steps)
{
	return chase(&nodes[0], steps);
}

__attribute__((noipa)) static struct node *chase_l2(unsigned steps)
{
	return chase(&nodes[0], steps);
}

/* Over fresh memory, which is all zeros: the place of the next load depends on that zero. */
__attribute__((noipa)) static uint64_t chase_memory(const struct node *memory, unsigned steps)
{
	uint64_t at = 1;

	while (steps-- > 0)
		at = (at * 1664525 + 1013904223 + (uint64_t)(uintptr_t)memory[at].next) %
		     MEMORY_LINES;
	return at;
}

/* The innermost loop goes down a column of `right`: each load is a line of its own. */
__attribute__((noipa)) static void multiply_naive(void)
{
	for (unsigned i = 0; i < ROWS; i++) {
		for (unsigned j = 0; j < SIZE; j++) {
			double sum = 0;

			for (unsigned k = 0; k < SIZE; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum;
		}
	}
}

/* The same sums, but the innermost loop goes along the rows. */
__attribute__((noipa)) static void multiply_interchanged(void)
{
	for (unsigned i = 0; i < ROWS; i++) {
		for (unsigned k = 0; k < SIZE; k++) {
			double factor = left[i][k];

			for (unsigned j = 0; j < SIZE; j++)
				product[i][j] += factor * right[k][j];
		}
	}
}

/* Three cases, one as likely as the next: no branch predictor learns them. */
__attribute__((noipa)) static unsigned count_kinds(void)
{
	unsigned vowels = 0, others = 0;

	for (unsigned i = 0; i < N_LETTERS; i++) {
		if (letters[i] < 85) {
			vowels++;
			__asm__ volatile("" : "+r"(vowels));
		} else if (letters[i] < 170) {
			others += vowels & 1;
			__asm__ volatile("" : "+r"(others));
		}
	}
	return vowels + others;
}

__attribute__((noipa)) static void prepare(void)
{
	uint32_t state = 1;

	for (unsigned i = 0; i < N_LETTERS; i++)
		letters[i] = (uint8_t)(next_random(&state) >> 8);
	for (unsigned i = 0; i < SIZE; i++)
		for (unsigned k = 0; k < SIZE; k++)
			right[i][k] = (double)(i ^ k);
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned k = 0; k < SIZE; k++)
			left[i][k] = (double)(i + k);
}

static void say(const char *text, size_t size)
{
	system_call(SYS_WRITE, 1, (long)text, (long)size, 0, 0, 0);
}

static int work(void)
{
	static const char done[] = "done\n";
	const struct node *memory = (const struct node *)system_call(
		SYS_MMAP, 0, (long)MEMORY_LINES * LINE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
	uint64_t sum = 0;

	prepare();
	link_nodes(L1_LINES);
	sum += (uintptr_t)chase_l1(250000);
	link_nodes(L2_LINES);
	sum += (uintptr_t)chase_l2(150000);
	sum += chase_memory(memory, 40000);
	multiply_naive();
	sum += (uint64_t)product[1][1];
	multiply_interchanged();
	sum += (uint64_t)product[1][1];
	sum += count_kinds();
	say(done, sizeof(done) - 1);
	return sum == 0;
}

void _start(void);

__attribute__((noreturn)) void _start(void)
{
	system_call(SYS_EXIT, work(), 0, 0, 0, 0, 0);
	__builtin_unreachable();
}
