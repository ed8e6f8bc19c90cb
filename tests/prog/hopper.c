/*
 * Loads one library after the other, as its arguments name them, and unloads it,
 * again and again; each leaves frames in its own way (hop.c).  The libraries
 * take each other's place in memory.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void (*go)(long *), (*call)(void (*)(void));
static long buf[16];
static volatile long sum;

static void
t_go(void)
{
	go(buf);
}

static void
t_down(int n)
{
	if (n)
		t_down(n - 1);
	else
		call(t_go);
	sum++;
}

/* The place where the library has go. */
static void *
t_once(const char *path, int n)
{
	void *dl = dlopen(path, RTLD_NOW);
	int (*save)(long *) = dlsym(dl, "save");

	go = dlsym(dl, "go");
	call = dlsym(dl, "call");
	for (volatile int i = 0; i < 3; i++) {
		memset(buf, 0, sizeof(buf));
		if (!save(buf))
			t_down(n + i);
	}
	dlclose(dl);
	return go;
}

int
main(int argc, char **argv)
{
	void *place = NULL, *was;

	for (volatile int i = 0; i < 4; i++)
		for (volatile int k = 1; k < argc; k++) {
			was = place;
			place = t_once(argv[k], i);
			if (was && was != place)
				return 1;
		}
	return 0;
}
