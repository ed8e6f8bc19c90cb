// C++ with exceptions, for comparison with itself and with other counters:
// frames unwound through destructors, rethrown, nested and converted
// exceptions, virtual and template functions, library algorithms that call
// back and throw.  Its output is fixed by its argument, its exit status is 3.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static long alive, made, thrown, caught;

struct guard {
	long value;
	explicit guard(long v) : value(v) { alive++; made++; }
	~guard() { alive--; }
};

struct failure : std::runtime_error {
	long depth;
	failure(const std::string &what, long d)
	    : std::runtime_error(what), depth(d) {}
};

struct special : failure {
	explicit special(long d) : failure("special", d) {}
	const char *what() const noexcept override { return "very special"; }
};

__attribute__((noinline)) long
descend(long n, long at)
{
	guard g(n);

	if (n == at) {
		thrown++;
		if (n % 3 == 0)
			throw special(n);
		if (n % 3 == 1)
			throw failure("failure " + std::to_string(n), n);
		throw n;
	}
	return n == 0 ? 0 : descend(n - 1, at) + g.value;
}

__attribute__((noinline)) long
rethrow(long n, long at)
{
	try {
		return descend(n, at);
	} catch (failure &) {
		caught++;
		throw;
	} catch (long v) {
		caught++;
		throw std::out_of_range("was " + std::to_string(v));
	}
}

__attribute__((noinline)) long
outcome(long n, long at)
{
	guard g(at);

	try {
		return rethrow(n, at);
	} catch (special &s) {
		caught++;
		return s.depth + (long)strlen(s.what());
	} catch (std::exception &e) {
		caught++;
		return -(long)strlen(e.what());
	}
}

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

struct square : shape {
	double side;
	explicit square(double s) : side(s)
	{
		if (s > 30)
			throw std::length_error("too wide");
	}
	double area() const override { return side * side; }
};

struct disc : shape {
	double radius;
	explicit disc(double r) : radius(r) {}
	double area() const override { return 3 * radius * radius; }
};

template <typename T> __attribute__((noinline)) T
largest(const std::vector<T> &v)
{
	if (v.empty())
		throw std::invalid_argument("nothing");
	return *std::max_element(v.begin(), v.end());
}

__attribute__((noinline)) bool
before(long a, long b)
{
	if (a == 4711 && b != a)
		throw std::logic_error("incomparable");
	return a < b;
}

__attribute__((noinline)) long
sorted(long n, bool poisoned)
{
	std::vector<long> v;

	for (long i = 0; i < n; i++)
		v.push_back(i * 7919 % 1009);
	if (poisoned)
		v[n / 2] = 4711;
	try {
		std::sort(v.begin(), v.end(), before);
		return v[n / 3];
	} catch (std::logic_error &e) {
		caught++;
		return -1;
	}
}

// The exception a destructor meets while another one is in flight.
struct careful {
	~careful()
	{
		try {
			outcome(5, 1);
			throw 1;
		} catch (int) {
			caught++;
		}
	}
};

__attribute__((noinline)) long
nested(long n)
{
	try {
		careful c;
		if (n % 2)
			throw std::string("odd");
		return n;
	} catch (std::string &s) {
		caught++;
		return (long)s.size();
	}
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10, sum = 0;
	std::vector<std::unique_ptr<shape>> shapes;
	std::map<std::string, long> words;
	std::function<long(long)> twice = [](long v) { return 2 * v; };

	for (long i = 0; i < rounds; i++) {
		for (long at = 0; at < 12; at++)
			sum += outcome(8, at);
		sum += nested(i);
		words["word" + std::to_string(i % 13)] += twice(i);
		try {
			shapes.emplace_back(new disc(double(i % 5)));
			shapes.emplace_back(new square(double(i)));
		} catch (std::length_error &) {
			caught++;
		}
	}
	double area = 0;
	for (auto &s : shapes)
		area += s->area();
	try {
		sum += largest(std::vector<long>{ 3, 1, 2 });
		sum += largest(std::vector<long>());
	} catch (std::invalid_argument &e) {
		caught++;
	}
	printf("sum %ld area %.1f sorted %ld %ld\n", sum, area, sorted(200, false),
	    sorted(200, true));
	for (auto &w : words)
		printf("%s %ld\n", w.first.c_str(), w.second);
	printf("alive %ld made %ld thrown %ld caught %ld\n", alive, made, thrown,
	    caught);
	return 3;
}
