// A function that is only inlined, whose name has a comma.
#include <cstdio>

template <typename T, typename U>
static inline T
__attribute__((always_inline))
add(T a, U b)
{
	return b > 2 ? a : a + (T)b;
}

int
main()
{
	volatile int rounds = 5;
	int sum = 0;

	for (int i = 0; i < rounds; i++)
		sum = add<int, long>(sum, i);
	printf("%d\n", sum);
}
