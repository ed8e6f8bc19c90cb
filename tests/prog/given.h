/* What the program given.c tells given_at.c, and is told. */
#ifndef GIVEN_H
#define GIVEN_H

struct given {
	volatile int thread;	/* its id, when that is in its handler */
	volatile int go;	/* the thread may leave its loop */
	volatile int looks;	/* the other is about to ask for the action */
	volatile int looked;	/* it has asked */
};

#endif
