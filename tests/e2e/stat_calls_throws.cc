// SPDX-License-Identifier: Apache-2.0
// Exceptions leave a function: those that catch them find the way.
#include <stdexcept>

namespace shop {
struct Order {
	int price(int item);
	int price(double weight);
};

__attribute__((noinline)) int Order::price(int item)
{
	if (item % 2 != 0)
		throw std::runtime_error("odd");
	return item;
}

__attribute__((noinline)) int Order::price(double weight)
{
	__asm__ volatile("");
	return static_cast<int>(weight);
}
} // namespace shop

int main()
{
	shop::Order order;
	int caught = 0;

	for (int i = 0; i < 10; i++) {
		try {
			order.price(i);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return caught == 5 && order.price(2.0) == 2 ? 0 : 1;
}
