/*
 * How much slower functions are when they are relocated: with no counters, with
 * the optimal ones, one in every place, locked ones, and counting the entries
 * only.  Each figure is the processor time relative to the original's,
 * of the best of many short runs, which other load disturbs least.
 */
#include <stdint.h>
#include <time.h>

#include "tests/lib/relocation.h"

#define WORK __attribute__((noinline, aligned(64)))

enum { RUNS = 60 };

uint64_t work_fib(uint64_t n);
uint64_t work_shell(uint64_t n);
uint64_t work_sum(uint64_t n);
uint64_t work_bits(uint64_t n);
uint64_t work_sieve(uint64_t n);
uint64_t work_switch(uint64_t n);
uint64_t work_hash(uint64_t n);
uint64_t work_calls(uint64_t n);
uint64_t work_leaf(uint64_t n);

static uint32_t data[1 << 16];

WORK uint64_t
work_fib(uint64_t n)
{
	return n < 2 ? n : work_fib(n - 1) + work_fib(n - 2);
}

WORK uint64_t
work_shell(uint64_t n)
{
	uint32_t x = 1;

	for (uint64_t i = 0; i < n; i++)
		data[i] = x = x * 1664525 + 1013904223;
	for (uint64_t gap = n / 2; gap; gap /= 2)
		for (uint64_t i = gap; i < n; i++) {
			uint32_t v = data[i];
			uint64_t k = i;

			for (; k >= gap && data[k - gap] > v; k -= gap)
				data[k] = data[k - gap];
			data[k] = v;
		}
	return data[n / 2];
}

/* A tight loop: nothing but the add and the branch. */
WORK uint64_t
work_sum(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

/* Branches that cannot be predicted. */
WORK uint64_t
work_bits(uint64_t n)
{
	uint64_t sum = 0;
	uint32_t x = 1;

	for (uint64_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		if (x >> 31) {
			sum += 3;
			__asm__ volatile("" : "+r"(sum));
		}
		if (x >> 30 & 1) {
			sum ^= i;
			__asm__ volatile("" : "+r"(sum));
		}
	}
	return sum;
}

WORK uint64_t
work_sieve(uint64_t n)
{
	uint64_t primes = 0;

	memset(data, 0, n * sizeof(*data));
	for (uint64_t i = 2; i < n; i++) {
		if (data[i])
			continue;
		primes++;
		for (uint64_t k = i * i; k < n; k += i)
			data[k] = 1;
	}
	return primes;
}

WORK uint64_t
work_switch(uint64_t n)
{
	uint64_t x = 1, acc = 0;

	for (uint64_t i = 0; i < n; i++) {
		switch ((i * 2654435761u >> 16) & 7) {
		case 0:
			x += i;
			break;
		case 1:
			x ^= acc;
			break;
		case 2:
			acc += x >> 3;
			break;
		case 3:
			x *= 5;
			break;
		case 4:
			acc ^= i;
			break;
		case 5:
			x -= acc;
			break;
		case 6:
			acc = acc * 3 + 1;
			break;
		case 7:
			x = x >> 1 | x << 63;
			break;
		}
		__asm__ volatile("" : "+r"(x), "+r"(acc));
	}
	return x + acc;
}

WORK uint64_t
work_hash(uint64_t n)
{
	const uint8_t *p = (const uint8_t *)data;
	uint64_t h = 0;

	for (uint64_t i = 0; i < n; i++) {
		h = h * 31 + p[i & 0xffff];
		if (!(h & 0xff))
			h += i;
	}
	return h;
}

WORK uint64_t
work_leaf(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n & 1 ? n * 3 : n >> 1;
}

WORK uint64_t
work_calls(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += work_leaf(i);
	return sum;
}

static const struct {
	const char *name, *also;
	uint64_t (*run)(uint64_t n);
	uint64_t n;
} works[] = {
	{ "work_sum", NULL, work_sum, 2000000 },
	{ "work_hash", NULL, work_hash, 600000 },
	{ "work_bits", NULL, work_bits, 120000 },
	{ "work_sieve", NULL, work_sieve, 65536 },
	{ "work_shell", NULL, work_shell, 8000 },
	{ "work_switch", NULL, work_switch, 400000 },
	{ "work_fib", NULL, work_fib, 28 },
	{ "work_calls", "work_leaf", work_calls, 700000 },
};

static const struct {
	const char *what;
	bool none;
	struct make_options options;
} kinds[] = {
	{ "jumps only", true, { .method = PLACE_OPTIMAL } },
	{ "optimal", false, { .method = PLACE_OPTIMAL } },
	{ "every", false, { .method = PLACE_EVERY } },
	{ "locked", false, { .method = PLACE_OPTIMAL, .shared = true } },
	{ "entries",
	  false,
	  { .method = PLACE_OPTIMAL,
	    .entry_only = true,
	    .extent = EXTENT_PROBED } },
};

static struct object object;
static volatile uint64_t sink;

static double
seconds(uint64_t (*run)(uint64_t n), uint64_t n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	sink = run(n);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) +
	       1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

static struct relocation *
install(const char *name, const struct make_options *options, bool none)
{
	for (size_t i = 0; name && i < object.image->nfuncs; i++) {
		struct relocation *c;

		if (strcmp(object.image->funcs[i].name, name) != 0)
			continue;
		c = relocation_make(&object, &object.image->funcs[i], options,
				    none);
		if (c->relocated)
			relocation_install(c);
		return c;
	}
	return NULL;
}

static void
removed(struct relocation *c)
{
	if (!c)
		return;
	if (c->relocated)
		relocation_remove(c);
	relocation_free(c);
}

/*
 * The original and the relocated function take turns, as the machine may have
 * its moods.
 */
static double
slower(size_t i, size_t k, double *least)
{
	double best = 1e9;

	for (int r = 0; r < RUNS; r++) {
		double t = seconds(works[i].run, works[i].n);
		struct relocation *c, *d;

		if (t < *least)
			*least = t;
		c = install(works[i].name, &kinds[k].options, kinds[k].none);
		d = install(works[i].also, &kinds[k].options, kinds[k].none);
		if (!c->relocated || (d && !d->relocated))
			abort();
		t = seconds(works[i].run, works[i].n);
		if (t < best)
			best = t;
		removed(d);
		removed(c);
		room_reset();
	}
	return best;
}

int
main(void)
{
	enum { KINDS = sizeof(kinds) / sizeof(*kinds) };
	double times[KINDS];

	object_open(&object, "/proc/self/exe", (void *)work_fib);
	printf("%-14s%10s", "", "ms");
	for (size_t k = 0; k < KINDS; k++)
		printf("%12s", kinds[k].what);
	printf("\n");
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
		double least = 1e9;

		for (size_t k = 0; k < KINDS; k++)
			times[k] = slower(i, k, &least);
		printf("%-14s%10.2f", works[i].name + 5, 1e3 * least);
		for (size_t k = 0; k < KINDS; k++)
			printf("%12.2f", times[k] / least);
		printf("\n");
	}
	object_close(&object);
	return 0;
}
