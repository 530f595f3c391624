/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that faults: HOW ROUNDS FILE. Each round takes memory, writes a byte to each page, and gives the memory back.
 * HOW says by what it takes memory, which decides whether it faults each time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 32 << 20, PAGE = 4096 };

static char *kept;

__attribute__((noinline)) static long touch_pages(volatile char *memory)
{
	long sum = 0;

	for (size_t i = 0; i < SIZE; i += PAGE) {
		memory[i] = (char)i;
		sum += memory[i];
	}
	return sum;
}

static char *map(int flags, int advice)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			    -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, SIZE, advice);
	return memory;
}

__attribute__((noinline)) static long read_pages(const volatile char *memory)
{
	long sum = 0;

	for (size_t i = 0; i < SIZE; i += PAGE)
		sum += memory[i];
	return sum;
}

/* All of a file that is in the page cache: mapped, mapped at once, or read into a buffer. */
static void read_file(const char *how, const char *path)
{
	static char buffer[1 << 16];
	int file = open(path, O_RDONLY);
	char *memory;

	if (file < 0)
		exit(1);
	if (strcmp(how, "file-read") == 0) {
		while (read(file, buffer, sizeof(buffer)) > 0)
			;
	} else {
		memory = mmap(NULL, SIZE, PROT_READ,
			      MAP_SHARED | (strcmp(how, "file-ahead") == 0 ? MAP_POPULATE : 0),
			      file, 0);
		if (memory == MAP_FAILED)
			exit(1);
		read_pages(memory);
		munmap(memory, SIZE);
	}
	close(file);
}

/* A child writes to what its parent wrote. */
static void touch_in_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		touch_pages(kept);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		exit(1);
}

static void do_round(const char *how, const char *path)
{
	char *memory;

	if (strcmp(how, "fork") == 0) {
		touch_in_child();
		return;
	}
	if (strncmp(how, "file", strlen("file")) == 0) {
		read_file(how, path);
		return;
	}
	if (strcmp(how, "kept") == 0) {
		touch_pages(kept);
		return;
	}
	if (strcmp(how, "malloc") == 0) {
		memory = malloc(SIZE);
		if (memory == NULL)
			exit(1);
		touch_pages(memory);
		free(memory);
		return;
	}
	memory = strcmp(how, "populate") == 0 ? map(MAP_POPULATE, MADV_NORMAL)
		 : strcmp(how, "huge") == 0   ? map(0, MADV_HUGEPAGE)
					      : map(0, MADV_NOHUGEPAGE);
	touch_pages(memory);
	munmap(memory, SIZE);
}

int main(int argc, char **argv)
{
	long rounds = argc == 4 ? atol(argv[2]) : 0;

	if (rounds == 0)
		return 2;
	if (strcmp(argv[1], "kept") == 0 || strcmp(argv[1], "fork") == 0) {
		kept = map(0, MADV_NOHUGEPAGE);
		touch_pages(kept);
	}
	for (long i = 0; i < rounds; i++)
		do_round(argv[1], argv[3]);
	return 0;
}
