/*
 * Throws as often as it is told, each time past five frames that clean up.
 */
#include <cstdlib>
#include <stdexcept>

static long cleaned;

struct cleaner {
	~cleaner() { cleaned++; }
};

static __attribute__((noinline)) int
past(int depth)
{
	cleaner c;

	if (!depth)
		throw std::runtime_error("thrown");
	return past(depth - 1) + 1;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0, caught = 0;

	for (long i = 0; i < n; i++) {
		try {
			past(4);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return caught == n && cleaned == 5 * n ? 0 : 1;
}
