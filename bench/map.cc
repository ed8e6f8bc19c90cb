// Words counted in a map, each hundredth of which is thrown through a few
// functions: C++ with its library and its exceptions.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct refused : std::runtime_error {
	unsigned value;
	explicit refused(unsigned v) : std::runtime_error("refused"), value(v)
	{
	}
};

static unsigned
next(unsigned &state)
{
	return (state = state * 1103515245 + 12345) >> 16;
}

static __attribute__((noinline)) std::string
word(unsigned value, unsigned each)
{
	std::string s;

	if (each && value % each == 0)
		throw refused(value);
	for (unsigned n = 3 + value % 5; n--; value /= 3)
		s += char('a' + value % 26);
	return s;
}

static __attribute__((noinline)) unsigned
count(std::map<std::string, std::vector<unsigned>> &map, unsigned value,
      unsigned each)
{
	std::vector<unsigned> &places = map[word(value, each)];

	places.push_back(value);
	return places.size();
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2000000;
	unsigned each = argc > 2 ? atoi(argv[2]) : 100;
	std::map<std::string, std::vector<unsigned>> map;
	unsigned state = 1, sum = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			sum += count(map, next(state), each);
		} catch (const refused &e) {
			sum ^= e.value;
		}
	}
	printf("%u %zu\n", sum, map.size());
	return 0;
}
