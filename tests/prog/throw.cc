// Leaves stack frames by exceptions; the argument says how.  Everything is
// called from functions whose names have a t_, so that a monitor of these can
// tell.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

static volatile int sum, rounds = 5;

struct t_guard {
	int n;
	t_guard(int m) : n(m) { sum = sum + n; }
	~t_guard() { sum = sum - n; }
};

static void
t_plain(int depth)
{
	if (!depth)
		throw 7;
	t_plain(depth - 1);
	sum = sum + 1;
}

static void
t_cleanups(int depth)
{
	t_guard guard(depth);

	if (!depth)
		throw std::runtime_error("deep");
	t_cleanups(depth - 1);
	sum = sum + 1;
}

// Destructors that throw and catch themselves while one is thrown.
struct t_busy {
	~t_busy()
	{
		try {
			t_plain(3);
		} catch (int) {
			sum = sum + 1;
		}
	}
};

static void
t_busy_deep(int depth)
{
	t_busy busy;

	if (!depth)
		throw std::runtime_error("busy");
	t_busy_deep(depth - 1);
}

static void
t_through(void (*f)(int))
{
	static const int depths[] = { 0, 1, 2, 10, 50 };

	for (int depth : depths)
		for (int i = 0; i < rounds; i++)
			try {
				f(depth);
			} catch (int) {
				sum = sum + 1;
			} catch (const std::exception &) {
				sum = sum + 2;
			}
}

static void
t_same()
{
	for (int i = 0; i < rounds; i++)
		try {
			t_guard guard(i);
			if (i % 2)
				throw i;
			sum = sum + 1;
		} catch (int n) {
			sum = sum + n;
		}
}

static void
t_rethrow_deep(int depth)
{
	try {
		if (!depth)
			throw 3;
		t_rethrow_deep(depth - 1);
	} catch (int) {
		sum = sum + depth;
		throw;
	}
}

static void
t_saved(int depth)
{
	std::exception_ptr saved;

	try {
		t_cleanups(depth);
	} catch (...) {
		saved = std::current_exception();
	}
	std::rethrow_exception(saved);
}

// Specifications that are not met, and an end by terminate.
static void
t_uncaught_deep(int depth)
{
	t_guard guard(depth);

	if (!depth)
		throw 1.5;
	t_uncaught_deep(depth - 1);
}

[[noreturn]] static void
t_terminate()
{
	_exit(0);
}

static void
t_uncaught()
{
	std::set_terminate(t_terminate);
	t_uncaught_deep(4);
}

static void
t_noexcept_inner() noexcept
{
	t_uncaught_deep(3);
}

static void
t_noexcept()
{
	std::set_terminate(t_terminate);
	t_noexcept_inner();
}

// Cancellation unwinds through destructors and catch (...).
static pthread_barrier_t barrier;

static void
t_cancelled_deep(int depth)
{
	t_guard guard(depth);

	if (depth) {
		try {
			t_cancelled_deep(depth - 1);
		} catch (...) {
			sum = sum + 1;
			throw;
		}
		return;
	}
	pthread_barrier_wait(&barrier);
	pause();
}

static void *
t_body(void *arg)
{
	void (*f)(int) = reinterpret_cast<void (*)(int)>(arg);

	f(6);
	return nullptr;
}

static void
t_exits(int depth)
{
	t_guard guard(depth);

	if (!depth)
		pthread_exit(nullptr);
	t_exits(depth - 1);
}

static void
t_thread(void (*f)(int), bool cancel)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, nullptr, 2);
	pthread_create(&thread, nullptr, t_body, reinterpret_cast<void *>(f));
	if (cancel) {
		pthread_barrier_wait(&barrier);
		pthread_cancel(thread);
	}
	pthread_join(thread, nullptr);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "plain"))
		t_through(t_plain);
	else if (!strcmp(what, "cleanups"))
		t_through(t_cleanups);
	else if (!strcmp(what, "busy"))
		t_through(t_busy_deep);
	else if (!strcmp(what, "same"))
		t_same();
	else if (!strcmp(what, "rethrow"))
		t_through(t_rethrow_deep);
	else if (!strcmp(what, "saved"))
		t_through(t_saved);
	else if (!strcmp(what, "uncaught"))
		t_uncaught();
	else if (!strcmp(what, "noexcept"))
		t_noexcept();
	else if (!strcmp(what, "cancel"))
		t_thread(t_cancelled_deep, true);
	else if (!strcmp(what, "pthread_exit"))
		t_thread(t_exits, false);
	else
		return 2;
	return 0;
}
