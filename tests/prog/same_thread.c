/*
 * A library to be preloaded: threads are known to the program by a number that
 * does not depend on addresses.  For programs with one thread that do one
 * thing with a small number and another with a large one.
 */
#include <pthread.h>

pthread_t
pthread_self(void)
{
	return 4711;
}
