/* SPDX-License-Identifier: Apache-2.0 */
/* A program that calls a function of a shared library (LIBRARY: that library), by a stub of the linker. */
int work(int n);

#ifdef LIBRARY

int work(int n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
	return n + 1;
}

#else

enum { ROUNDS = 3000 };

int main(void)
{
	int sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += work(i);
	return sum == 0;
}

#endif
