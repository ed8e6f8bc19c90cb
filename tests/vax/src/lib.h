/* What the test programs for the VAX have of a C library. */
#ifndef LIB_H
#define LIB_H

#include <stddef.h>

extern int errno;
extern char **environ;

struct sigvec {
	void (*handler)(int, int, void *);
	int mask, onstack;
};

void _exit(int) __attribute__((noreturn));
int read(int, void *, int);
int write(int, const void *, int);
int open(const char *, int, int);
int close(int);
int unlink(const char *);
int setbrk(void *);
int lseek(int, int, int);
int getpid(void);
int kill(int, int);
int ioctl(int, int, void *);
int fstat(int, void *);
int getpagesize(void);
int sigvec(int, const struct sigvec *, struct sigvec *);
int sigblock(int);
int sigsetmask(int);
int gettimeofday(void *, void *);
int nosuch(void);

size_t strlen(const char *);
int strcmp(const char *, const char *);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
void *malloc(size_t);
void free(void *);
void put(const char *);
void put_number(long);

#endif
