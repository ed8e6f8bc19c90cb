/*
 * Does what each byte of its input says and answers each with a byte, so that
 * counts can be taken in between: 'a' calls work once, 't' has another thread
 * do so, 'd' goes three calls deeper and takes the next byte there, 'u' comes
 * up again, 'b' is busy until the next byte is there.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 3, LEAVES = 10 };

static volatile int sink;
static int to[2], from[2];

__attribute__((noinline)) void
leaf(int i)
{
	sink += i;				/* x 10 * (A + T) */
}

__attribute__((noinline)) void
work(int n)
{
	for (int i = 0; i < n; i++)
		leaf(i);			/* x 10 * (A + T) */
	sink++;					/* x A + T */
}

static void *
other(void *arg)
{
	char byte;

	while (read(to[0], &byte, 1) == 1) {
		work(LEAVES);			/* x T */
		if (write(from[1], &byte, 1) != 1)
			return arg;
	}
	return NULL;
}

__attribute__((noinline)) void
busy(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	while (!poll(&in, 1, 0))
		for (int i = 0; i < 100; i++)
			sink--;
	sink = 1;				/* x B */
}

void serve(void);

__attribute__((noinline)) void
deeper(int n)
{
	if (n)
		deeper(n - 1);			/* x 3 * D */
	else
		serve();			/* x D */
	sink += n;				/* x 4 * U */
}

void
serve(void)
{
	char byte;

	while (read(0, &byte, 1) == 1 && byte != 'u') {
		if (byte == 'a') {
			work(LEAVES);		/* x A */
		} else if (byte == 't') {
			if (write(to[1], &byte, 1) != 1 ||
			    read(from[0], &byte, 1) != 1)
				return;
		} else if (byte == 'd' || byte == 'b') {
			/* Before, as they wait for what comes. */
			if (write(1, &byte, 1) != 1)
				return;
			if (byte == 'd')
				deeper(DEPTH);
			else
				busy();		/* x BB */
			continue;
		}
		if (write(1, &byte, 1) != 1)
			return;
	}
	byte = 'u';
	if (write(1, &byte, 1) != 1)
		return;
}

int
main(void)
{
	pthread_t thread;

	if (pipe(to) || pipe(from) ||
	    pthread_create(&thread, NULL, other, NULL))
		return 1;
	serve();
	close(to[1]);
	pthread_join(thread, NULL);
	sink = 0;				/* x END */
	return 0;
}
