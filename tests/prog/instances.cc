// Templates, constructors, virtual functions, lambdas and exceptions, of which
// some run and others do not: see tests/lcov.t.
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

template <class T> struct Stack {
	std::vector<T> v;

	void push(T x)
	{
		if (v.size() > 100)
			throw std::runtime_error("full");
		v.push_back(x);
	}

	T pop()
	{
		if (v.empty())
			throw std::runtime_error("empty");
		T x = v.back();

		v.pop_back();
		return x;
	}

	bool has(T x) const
	{
		for (auto &y : v)
			if (y == x)
				return true;
		return false;
	}
};

template <class T> T largest(T a, T b) { return a > b ? a : b; }

struct Shape {
	virtual ~Shape() {}
	virtual double area() const = 0;
};

struct Square : Shape {
	double s;

	explicit Square(double s) : s(s) { if (s < 0) throw 1; }
	double area() const override { return s * s; }
};

struct Circle : Shape {
	double r;

	explicit Circle(double r) : r(r) {}
	double area() const override { return 3.14 * r * r; }
};

int
main(int argc, char **)
{
	Stack<int> a;
	Stack<std::string> b;
	Stack<double> c;
	std::map<std::string, int> m;
	int n = 0;

	for (int i = 0; i < 10; i++)
		a.push(i);
	try {
		b.push("x");
		b.pop();
		b.pop();
	} catch (std::exception &e) {
		printf("%s\n", e.what());
	}
	for (int i = 0; i < argc + 3; i++)
		m[std::to_string(i)]++;

	auto f = [&](int x) { return x > 3 && a.has(x); };

	for (int i = 0; i < 6; i++)
		n += f(i);
	if (argc > 5) {
		c.push(1.0);
		n += (int)largest(1.0, 2.0);
	}
	n += largest(argc, 3);

	Shape *s = argc > 3 ? (Shape *)new Circle(2) : new Square(2);

	n += (int)s->area();
	delete s;
	std::sort(a.v.begin(), a.v.end(), [](int x, int y) { return x > y; });
	return n == 100;
}
