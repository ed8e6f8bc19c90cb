/*
 * The state of the remote host, which its files share, and the packets that it
 * sends.  Gives no packet a meaning.
 */
#include "host/remote_state.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"

struct remote remote = { .link = { .fd = -1 }, .mem = -1 };

int
remote_ask_bytes(const void *data, size_t n)
{
	int len;

	if (remote.link.fd < 0 || packet_send(&remote.link, data, n))
		return HOST_GONE;
	len = packet_receive(&remote.link, REPLY_SECONDS * 1000);
	return len < 0 ? HOST_GONE : len;
}

int
remote_ask(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	must(n >= 0);
	n = remote_ask_bytes(text, (size_t)n);
	free(text);
	return n;
}

bool
remote_ok(int len)
{
	return len == 2 && !memcmp(remote.link.reply, "OK", 2);
}

uint64_t
remote_hex(const char *p, const char **end)
{
	char *stop;
	uint64_t value = strtoull(p, &stop, 16);

	*end = stop;
	return value;
}

int
remote_byte(const char *p)
{
	if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]))
		return -1;
	return (int)strtoul((const char[]){ p[0], p[1], '\0' }, NULL, 16);
}
