/* SPDX-License-Identifier: Apache-2.0 */
/* Code with chains of inlined functions, for comparing what tools say of its addresses. */
#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace shop {

template <typename T> struct box {
	std::vector<T> items;

	__attribute__((always_inline)) inline T &at(size_t i)
	{
		return items[i % items.size()];
	}
	__attribute__((always_inline)) inline T sum()
	{
		T total{};
		for (size_t i = 0; i < items.size(); i++)
			total += at(i);
		return total;
	}
	T longest() const;
};

template <typename T> T box<T>::longest() const
{
	return *std::max_element(items.begin(), items.end(),
				 [](const T &a, const T &b) { return sizeof(a) + a < b + sizeof(b); });
}

struct counter {
	std::map<std::string, int> counts;

	void add(const std::string &name)
	{
		struct local {
			static int next(int n)
			{
				return n + (n < 100);
			}
		};
		counts[name] = local::next(counts[name]);
	}
};

} // namespace shop

namespace {

__attribute__((noinline)) int hidden(shop::box<int> &b)
{
	auto twice = [&](int n) { return b.at(n) * 2; };
	int result = b.sum() + twice(3);
	if (result > 10) {
		int inner = b.longest();
		result += twice(inner);
	}
	return result;
}

} // namespace

__attribute__((noinline)) int visible(shop::counter &c, const std::string &name)
{
	for (char letter : name)
		c.add(std::string(2, letter));
	return (int)c.counts.size();
}

int main(int argc, char **argv)
{
	shop::box<int> b;
	shop::counter c;

	for (int i = 0; i < argc + 5; i++)
		b.items.push_back(i * argc);
	return hidden(b) + visible(c, argv[0]);
}
