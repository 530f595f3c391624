/* SPDX-License-Identifier: Apache-2.0 */
/* cc -DCYCLOPS_MEASURE example.c -lcyclops && CYCLOPS_OUT=- ./a.out */
#include <cyclops/measure.h>
#include <stdlib.h>

static double sum_of(const double *numbers, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += numbers[i];
	return sum;
}

int main(void)
{
	enum { N = 1 << 20, ROUNDS = 3 };
	double *numbers = malloc(N * sizeof(*numbers)), sum = 0;
	CYCLOPS_HANDLE(m);

	CYCLOPS_OPEN(m, NULL);
	CYCLOPS_REGION(m, fill, "fill");
	CYCLOPS_REGION(m, add, "add");
	CYCLOPS_BEGIN(m, fill);
	for (size_t i = 0; numbers != NULL && i < N; i++)
		numbers[i] = (double)i;
	CYCLOPS_END(m, fill);
	for (int i = 0; numbers != NULL && i < ROUNDS; i++) {
		CYCLOPS_BEGIN(m, add);
		sum += sum_of(numbers, N);
		CYCLOPS_END(m, add);
	}
	CYCLOPS_CLOSE(m);
	free(numbers);
	return sum > 0 ? 0 : 1;
}
