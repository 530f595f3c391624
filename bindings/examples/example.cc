/* SPDX-License-Identifier: Apache-2.0 */
/* c++ -DCYCLOPS_MEASURE example.cc -lcyclops && CYCLOPS_OUT=- ./a.out */
#include <cyclops/measure.hpp>
#include <numeric>
#include <vector>

int main()
{
	cyclops_measure::measure m;
	cyclops_measure::region fill(m, "fill"), add(m, "add");
	std::vector<double> numbers;
	double sum = 0;

	{
		cyclops_measure::scope in(fill);
		numbers.resize(1 << 20);
		std::iota(numbers.begin(), numbers.end(), 0);
	}
	for (int i = 0; i < 3; i++) {
		cyclops_measure::scope in(add);
		sum += std::accumulate(numbers.begin(), numbers.end(), 0.0);
	}
	return sum > 0 ? 0 : 1;
}
