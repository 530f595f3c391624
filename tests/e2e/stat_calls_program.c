/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of which it is known what each call counts: pages that are touched first, naps. With
 * -DPART=1 the functions of a shared library, with -DPART=2 another file with a function of the same name.
 * argv[1]: what to do.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

enum { PAGE = 4096 };

void in_library(int n);
int call_twin(void);

#if PART == 1

void in_library(int n)
{
	volatile char *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)p, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		p[i * PAGE] = 1;
}

#else

static APART int twin(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + PART;
}

#if PART == 2

int call_twin(void)
{
	return twin(1);
}

#else

/* A loop whose first instruction is that of the function. */
static APART size_t steps(size_t n)
{
	while (n != 0) {
		__asm__ volatile("");
		n--;
	}
	return n;
}

static APART void touch(int n)
{
	volatile char *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)p, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		p[i * PAGE] = 1;
}

static APART void nap(int n)
{
	const struct timespec time = { .tv_nsec = 100000 };

	for (int i = 0; i < n; i++)
		nanosleep(&time, NULL);
}

static APART void outer(void)
{
	touch(10);
	touch(20);
	in_library(5);
}

static APART int recursive(int n)
{
	int below;

	touch(5);
	below = n > 0 ? recursive(n - 1) : 0;
	__asm__ volatile("" : "+r"(below)); /* no loop is made of it */
	return below + 1;
}

static jmp_buf back;

static APART void leave(int is_leaving)
{
	touch(3);
	if (is_leaving)
		longjmp(back, 1);
}

static APART void tail_called(int n)
{
	touch(n);
}

/* Jumps, as it has nothing left to do. */
static APART void tail_caller(int n)
{
	touch(2);
	tail_called(n + 5);
}

static APART int tiny(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void *touch_in_thread(void *n)
{
	touch((int)(intptr_t)n);
	return NULL;
}

static int all(void)
{
	volatile int left = 0;
	pthread_t threads[3];
	pid_t child;
	int status;

	outer();
	outer();
	outer();
	recursive(3);
	while (left < 4) /* each other one */
		if (setjmp(back) == 0) {
			left++;
			leave(left % 2);
		}
	tail_caller(2);
	nap(5);
	steps(100);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, touch_in_thread,
			       (void *)(intptr_t)(1000 * (i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (child == 0) {
		touch(50);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return twin(1) + call_twin();
}

/* Forks inside of a function that both return from. */
static APART int forks(void)
{
	pid_t pid = fork();

	touch(1);
	return pid;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	int sum = 0;

	if (strcmp(what, "all") == 0)
		return all();
	if (strcmp(what, "fast") == 0)
		for (int i = 0; i < 20000; i++)
			sum = tiny(sum);
	if (strcmp(what, "fork") == 0) {
		sum = forks();
		if (sum == 0)
			_exit(0);
		waitpid(sum, NULL, 0);
	}
	if (strcmp(what, "exec") == 0)
		execl(argv[0], argv[0], "nothing", (char *)NULL);
	if (strcmp(what, "kill") == 0)
		abort();
	return 0;
}

#endif
#endif
