/*
 * Loads and unloads the libraries named by its arguments: ROUNDS CALLS
 * LIBRARY:TAG ...  In each round each library is loaded, its work_TAG(CALLS)
 * called, and unloaded; in the end all are loaded at once.  With "preload"
 * for ROUNDS it calls getppid CALLS times only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *
load(const char *path, const char *tag, int calls)
{
	char name[64];
	int (*work)(int);
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(99);
	}
	snprintf(name, sizeof(name), "work_%s", tag);
	work = (int (*)(int))dlsym(lib, name);
	printf("%s %d\n", name, work(calls));
	return lib;
}

int
main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), calls = atoi(argv[2]), i, k;

	if (!strcmp(argv[1], "preload")) {
		for (i = 0; i < calls; i++)
			if (getppid() != 77)
				return 98;
		return 0;
	}
	for (k = 3; k < argc; k++)
		*strchr(argv[k], ':') = '\0';
	for (i = 0; i < rounds; i++)
		for (k = 3; k < argc; k++)
			dlclose(load(argv[k], argv[k] + strlen(argv[k]) + 1,
				     calls));
	for (k = 3; k < argc; k++)
		load(argv[k], argv[k] + strlen(argv[k]) + 1, calls);
	return 0;
}
