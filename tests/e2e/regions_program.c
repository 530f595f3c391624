/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions whose instructions are known: regions_program. For AArch64 under the machine model:
 * model_regions.py.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cyclops/measure.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define PASSES 1000 /* through the loop of body() */

/* Symbols that the truth is looked up by: only body() executes what is between them. */
void body(uint64_t *memory);
__asm__("	.text\n"
	"	.global	body, body_end\n"
	"	.type	body, %function\n"
	"body:	mov	x1, #" TEXT(PASSES) "\n"
					    "1:	.rept	20\n"
					    "	add	x2, x2, #1\n"
					    "	.endr\n"
					    "	ldr	x3, [x0]\n"
					    "	str	x2, [x0, #8]\n"
					    "	subs	x1, x1, #1\n"
					    "	b.ne	1b\n"
					    "	ret\n"
					    "body_end:\n"
					    "	nop\n");

/*
 * A region without the library, so that all of its instructions are known: those from exact_from to
 * before exact_to, which are executed once.
 */
#define MARK(kind, label)                                                                          \
	"	adrp	x0, mark_" #kind "\n"                                                      \
	"	add	x0, x0, :lo12:mark_" #kind "\n"                                            \
	"	b	2f\n"                                                                                  \
	"	.balign	16\n"                                                                            \
	"2:	.inst	0xd298f83f, 0xd281619f\n" label "	ldr	x1, [x0]\n"
#define MARK_DATA(kind, number)                                                                    \
	"mark_" #kind ": .quad 0x316b72616d637963, " #number ", 77, 1, exact_name\n"
void exact(uint64_t *memory);
__asm__("	.data\n"
	"	.balign	8\n" MARK_DATA(open, 1) MARK_DATA(ready, 2) MARK_DATA(begin, 3) MARK_DATA(
		end, 4) "exact_name: .asciz \"exact\"\n"
			"	.text\n"
			"	.global	exact, exact_from, exact_to\n"
			"	.type	exact, %function\n"
			"exact:	mov	x4, x0\n" MARK(open, "") MARK(ready, "")
				MARK(begin, "exact_from:\n") "	mov	x2, #500\n"
							     "3:	ldr	x3, [x4]\n"
							     "	add	x4, x4, #4096\n"
							     "	udiv	x3, x3, x2\n"
							     "	tbz	x2, #1, 4f\n"
							     "	str	x3, [x4, #8]\n"
							     "4:	subs	x2, x2, #1\n"
							     "	b.ne	3b\n" MARK(
								     end,
								     "exact_to:\n") "	ret\n");

/* The two moves are there, and no mark is: the model must not take it for one. */
static uint64_t no_mark(const uint64_t *memory)
{
	uint64_t value;

	__asm__ volatile("	.inst	0xd298f83f, 0xd281619f\n"
			 "	ldr	%0, [%1]\n"
			 : "=r"(value)
			 : "r"(memory), "m"(*memory));
	return value;
}

/* Exactly n instructions, if n is known to the compiler. */
#define STRAIGHT(n) __asm__ volatile(".rept " TEXT(n) "\n nop\n .endr\n" ::: "memory")

static struct cyclops *m;

static void recurse(int region, int levels)
{
	cyclops_begin(m, region);
	STRAIGHT(500);
	if (levels > 1)
		recurse(region, levels - 1);
	cyclops_end(m, region);
}

static void *work(void *argument)
{
	int region = cyclops_region(m, "thread"), calls = (int)(intptr_t)argument;

	cyclops_thread_open(m);
	for (int i = 0; i < calls; i++) {
		cyclops_begin(m, region);
		STRAIGHT(300);
		cyclops_end(m, region);
	}
	/* An open region of a thread that ends is not measured. */
	cyclops_begin(m, region);
	return NULL;
}

static int work_in_child(void)
{
	struct cyclops *own;
	int region;

	/* The parent's handle counts nothing here. The emulator does not clear its page on fork. */
	cyclops_begin(m, 1);
	cyclops_end(m, 1);
	cyclops_open(&own, NULL);
	region = cyclops_region(own, "child");
	for (int i = 0; i < 7; i++) {
		cyclops_begin(own, region);
		STRAIGHT(700);
		cyclops_end(own, region);
	}
	return cyclops_close(own);
}

int main(void)
{
	static uint64_t memory[510 * 512];
	int straight, outer, inner, again, whole, forgotten, status = 0;
	pthread_t threads[3];
	pid_t child;

	exact(memory);
	no_mark(memory);
	cyclops_open(&m, NULL);
	fprintf(stderr, "%s\n", cyclops_why(m));
	straight = cyclops_region(m, "straight");
	outer = cyclops_region(m, "outer");
	inner = cyclops_region(m, "\"inner\" \\ Größe");
	again = cyclops_region(m, "again");
	whole = cyclops_region(m, "whole");
	forgotten = cyclops_region(m, "forgotten");
	cyclops_begin(m, straight);
	cyclops_begin(m, forgotten);
	cyclops_end(m, forgotten);
	cyclops_reset(m);
	cyclops_end(m, straight);
	for (int i = 0; i < 100; i++) {
		cyclops_begin(m, straight);
		STRAIGHT(1000);
		cyclops_end(m, straight);
	}
	for (int i = 0; i < 10; i++) {
		cyclops_begin(m, outer);
		STRAIGHT(200);
		for (int k = 0; k < 2; k++) {
			cyclops_begin(m, inner);
			STRAIGHT(50);
			cyclops_end(m, inner);
		}
		if (cyclops_end(m, inner) == 0) /* it does not match */
			return 1;
		cyclops_end(m, outer);
	}
	recurse(again, 4);
	cyclops_begin(m, whole);
	body(memory);
	cyclops_end(m, whole);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)(10 * (i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (child == 0)
		_exit(work_in_child());
	waitpid(child, &status, 0);
	cyclops_close(m);
	return WEXITSTATUS(status);
}
