/*
 * A library without relocations: maps.c maps its text alone, and calls it.
 */
long leaf(long x);

long
leaf(long x)
{
	return 3 * x;
}
