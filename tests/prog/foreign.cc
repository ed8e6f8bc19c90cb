// Code of headers beside its own: see tests/foreign.t.
#include <map>
#include <string>

static int
doubled(int x)
{
	return 2 * x;
}

static int
never(int x)
{
	return 3 * x;
}

int
main(int argc, char **)
{
	std::map<std::string, int> map;

	for (int i = 0; i < 20; i++)
		map[std::to_string(i)] = doubled(i);
	return argc > 5 ? never(argc) : (int)map.size() != 20;
}
