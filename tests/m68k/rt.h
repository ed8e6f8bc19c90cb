/*
 * A C library of a few lines for the fixtures: they are linked with nothing
 * else, so that they are small and run on a plain 68000.
 */
#ifndef RT_H
#define RT_H

enum { STDIN, STDOUT };

/* System calls; negative results are errors. */
long rt_read(int fd, void *buf, unsigned long n);
long rt_write(int fd, const void *buf, unsigned long n);
long rt_open(const char *path);		/* to read */
long rt_getpid(void);
long rt_kill(long pid, int signal);

void rt_puts(const char *s);
void rt_number(long n);

#endif
