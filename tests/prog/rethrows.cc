/*
 * Exceptions of many shapes, again and again: rethrows [threads] [N].  Prints
 * how often two functions were called; pmon is to count the same.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/time.h>
#include <thread>
#include <vector>

static long thrown, cleaned;
static thread_local volatile long sink;

static void
count(long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

extern "C" __attribute__((noinline)) void
throw_one(int kind)
{
	count(&thrown);
	if (kind % 2)
		throw std::runtime_error("one");
	throw kind;
}

extern "C" __attribute__((noinline)) void
clean(void)
{
	count(&cleaned);
}

/* A destructor that throws and catches, while another exception is on its way. */
struct cleans {
	int kind;
	~cleans()
	{
		clean();
		if (kind % 3 == 0)
			try {
				throw_one(kind + 1);
			} catch (...) {
				sink++;
			}
	}
};

__attribute__((noinline)) static int
deep(int depth, int kind)
{
	cleans local = { depth };
	volatile char room[64] = { 0 };

	sink += room[depth % 64];
	if (depth)
		return deep(depth - 1, kind) + 1;
	throw_one(kind);
	return 0;
}

__attribute__((noinline)) static int
sized(int size, int kind)
{
	volatile char *room = static_cast<volatile char *>(
		__builtin_alloca(static_cast<size_t>(size)));

	room[0] = 1;
	throw_one(kind);
	return room[0];
}

__attribute__((noinline)) static int
again(int depth, int kind)
{
	try {
		return deep(depth, kind);
	} catch (const std::exception &) {
		sink++;
		throw;
	} catch (int n) {
		if (n % 4 == 0)
			throw std::logic_error("other");
		return n;
	}
}

static void
some(long n)
{
	for (volatile long i = 0; i < n; i++) {
		int k = static_cast<int>(i);

		try {
			sink += again(k % 5, k);
		} catch (const std::exception &) {
			sink++;
		}
		try {
			sink += sized(16 + 32 * (k % 4), k);
		} catch (...) {
			sink++;
		}
	}
}

static volatile sig_atomic_t handled;

/* A throw within a handler, wherever the signal comes. */
static void
handler(int)
{
	handled = handled + 1;
	try {
		deep(1, 1);
	} catch (...) {
		sink++;
	}
}

static void
signals(long n)
{
	const struct itimerval once = { { 0, 0 }, { 0, 80 } };
	volatile long sent = 0;

	signal(SIGALRM, handler);
	for (volatile long i = 0; handled < n; i++) {
		if (sent == handled) {
			sent = sent + 1;
			setitimer(ITIMER_REAL, &once, NULL);
		}
		some(1);
	}
}

int
main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 50;

	if (argc > 1 && !strcmp(argv[1], "threads")) {
		std::vector<std::thread> threads;

		for (int i = 0; i < 4; i++)
			threads.emplace_back(some, n);
		for (auto &t : threads)
			t.join();
	} else if (argc > 1 && !strcmp(argv[1], "signals")) {
		signals(n);
	} else {
		some(n);
	}
	printf("%ld %ld\n", thrown, cleaned);
	return 0;
}
