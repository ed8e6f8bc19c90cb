/*
 * Calls functions of the C library through the linker's stubs so often that the
 * counts of these follow: labs 10 times and llabs 5 times, and labs by a pointer
 * 3 times, which leads to the stub where addresses are fixed.
 */
#include <stdlib.h>

static long (*volatile pointer)(long);

int
main(void)
{
	long sum = 0;

	pointer = labs;
	for (int i = 0; i < 10; i++) {
		sum += labs(i);
		if (i & 1)
			sum += llabs(1);
	}
	for (int i = 0; i < 3; i++)
		sum += pointer(1);
	return sum != 53;
}
