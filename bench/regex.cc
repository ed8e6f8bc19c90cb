// Regular expressions of the C++ library over made-up lines, and what matched
// in a hash table: templates, small functions, shared pointers.
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
#include <unordered_map>

static unsigned
next(unsigned &state)
{
	return (state = state * 1103515245 + 12345) >> 16;
}

static std::string
line(unsigned &state)
{
	std::string s;

	for (unsigned i = next(state) % 6 + 2; i--;) {
		unsigned value = next(state);

		s += value % 3 ? std::to_string(value % 1000) :
				 std::string(value % 5 + 1, char('a' + value % 26));
		s += value % 2 ? "." : "=";
	}
	return s;
}

int
main(int argc, char **argv)
{
	const std::regex pair("([a-z]+)=([0-9]+)"), dots("([0-9]+\\.){2,}");
	std::unordered_map<std::string, unsigned> sums;
	unsigned state = 1, dotted = 0, total = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 1000; i > 0; i--) {
		const std::string s = line(state);
		std::smatch match;

		dotted += std::regex_search(s, match, dots);
		for (std::sregex_iterator at(s.begin(), s.end(), pair), end;
		     at != end; ++at)
			sums[(*at)[1]] += unsigned(std::stoul((*at)[2]));
	}
	for (const auto &sum : sums)
		total += sum.second;
	printf("%u %zu %u\n", dotted, sums.size(), total);
}
