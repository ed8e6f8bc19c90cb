/*
 * Divides work between this thread and one that lives only as long.  Never
 * leaves a thread behind.
 */
#include "util/halves.h"

#include <pthread.h>
#include <signal.h>

struct half {
	void (*work)(void *ctx, size_t first, size_t last);
	void *ctx;
	size_t first, last;
};

static void *
half_work(void *arg)
{
	const struct half *half = arg;

	half->work(half->ctx, half->first, half->last);
	return NULL;
}

void
halves_work(void (*work)(void *ctx, size_t first, size_t last), void *ctx,
	    size_t n)
{
	struct half half = { work, ctx, n / 2, n };
	sigset_t all, old;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, half_work, &half);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	work(ctx, 0, n / 2);
	if (err)
		half_work(&half);
	else
		pthread_join(thread, NULL);
}
