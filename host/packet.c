/*
 * The transport of the GDB remote protocol.  Asks for damaged packets again,
 * and skips whatever comes between packets.
 */
#include "host/packet.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	TRIES_MAX = 5,		/* for one packet, sent or received */
	NOISE_MAX = 1 << 16,	/* bytes skipped before a packet begins */
	INTERRUPT = 0x03,
};

static int
open_unix(const char *where)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(where) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return fail("%s: too long for the path of a socket", where);
	}
	strcpy(addr.sun_path, where);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	fail("%s: cannot connect: %s", where, strerror(err));
	errno = err;
	return -1;
}

/* Small packets go back and forth, and Nagle's algorithm would delay each. */
static int
open_address(const struct addrinfo *info)
{
	int one = 1, err;
	int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC,
			info->ai_protocol);

	if (fd < 0)
		return -1;
	if (connect(fd, info->ai_addr, info->ai_addrlen) == 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static int
open_tcp(const char *where)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	char *name = mem_strdup(where), *node = name;
	char *colon = strrchr(name, ':');
	int fd = -1, err = 0;
	size_t n;

	if (!colon || !colon[1]) {
		free(name);
		return fail("%s: neither HOST:PORT nor the path of a socket",
			    where);
	}
	*colon = '\0';
	n = strlen(node);
	if (*node == '[' && node[n - 1] == ']') {
		node[n - 1] = '\0';
		node++;
	}
	err = getaddrinfo(*node ? node : NULL, colon + 1, &hints, &list);
	if (err) {
		fail("%s: %s", where, gai_strerror(err));
		free(name);
		errno = 0;
		return -1;
	}
	for (struct addrinfo *i = list; i && fd < 0; i = i->ai_next)
		fd = open_address(i);
	err = errno;
	freeaddrinfo(list);
	free(name);
	if (fd >= 0)
		return fd;
	fail("%s: cannot connect: %s", where, strerror(err));
	errno = err;
	return -1;
}

int
link_open(struct link *link, const char *where)
{
	*link = (struct link){ .fd = -1 };
	link->fd = strchr(where, '/') ? open_unix(where) : open_tcp(where);
	if (link->fd < 0)
		return -1;
	link->reply = mem_alloc(PACKET_MAX + 1);
	return 0;
}

static int
bytes_send(struct link *link, const char *p, size_t n)
{
	while (n) {
		ssize_t done = send(link->fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return LINK_GONE;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Acknowledge the last packet received, if that is still owed. */
static int
ack_send(struct link *link)
{
	if (!link->owes)
		return 0;
	link->owes = false;
	return bytes_send(link, "+", 1);
}

void
link_close(struct link *link)
{
	if (!link)
		return;
	if (link->fd >= 0) {
		ack_send(link);
		close(link->fd);
	}
	free(link->sent);
	free(link->reply);
	*link = (struct link){ .fd = -1 };
}

static char
hex_digit(unsigned value)
{
	return "0123456789abcdef"[value & 15];
}

static int
hex_value(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int
packet_send(struct link *link, const void *data, size_t n)
{
	const char *from = data;
	uint8_t sum = 0;
	char *to, *start;
	int err;

	free(link->sent);
	link->sent = to = mem_alloc(2 * n + 5);
	if (link->owes)
		*to++ = '+';
	start = to;
	*to++ = '$';
	for (size_t i = 0; i < n; i++) {
		if (strchr("$#}*", from[i]) && from[i]) {
			*to++ = '}';
			*to++ = (char)(from[i] ^ 0x20);
		} else {
			*to++ = from[i];
		}
	}
	for (const char *p = start + 1; p < to; p++)
		sum += (uint8_t)*p;
	*to++ = '#';
	*to++ = hex_digit(sum >> 4);
	*to++ = hex_digit(sum);
	link->sent_len = (size_t)(to - start);
	err = bytes_send(link, link->sent, (size_t)(to - link->sent));
	if (link->owes)
		memmove(link->sent, start, link->sent_len);
	link->owes = false;
	link->unheard = true;
	return err;
}

bool
link_pending(const struct link *link)
{
	return link->in_lo < link->in_hi;
}

static int64_t
now(void)
{
	return (int64_t)(clock_ns() / 1000000);
}

/*
 * If qemu 10 reads an interrupt together with the packet that lets the program
 * go on, it forgets to report the next stop, and waits for another packet.
 */
static void
ack_await(const struct link *link)
{
	enum { ACK_TIME = 10 * 1000 };
	struct pollfd pollfd = { .fd = link->fd, .events = POLLIN };
	int64_t left, deadline = now() + ACK_TIME;

	while (link->unheard && !link->quiet && (left = deadline - now()) > 0)
		if (poll(&pollfd, 1, (int)left) > 0)
			return;
}

int
link_interrupt(struct link *link)
{
	char c = INTERRUPT;

	ack_await(link);
	return bytes_send(link, &c, 1);
}

/* The next byte, or a LINK_ error.  deadline is on now()'s clock, or -1. */
static int
byte_receive(struct link *link, int64_t deadline)
{
	struct pollfd pollfd = { .fd = link->fd, .events = POLLIN };
	int64_t left = -1;
	ssize_t n;
	int ready;

	if (link_pending(link))
		return link->in[link->in_lo++];
	for (;;) {
		if (deadline >= 0) {
			left = deadline - now();
			left = left > 0 ? left : 0;
		}
		ready = poll(&pollfd, 1, (int)left);
		if (ready == 0)
			return LINK_TIMEOUT;
		if (ready < 0 && deadline < 0)
			return LINK_WOKEN;
		if (ready < 0)
			continue;
		n = recv(link->fd, link->in, sizeof(link->in), 0);
		if (n > 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		return LINK_GONE;
	}
	link->in_lo = 1;
	link->in_hi = (size_t)n;
	link->unheard = false;
	return link->in[0];
}

/*
 * Skip to where a packet begins.  If the stub rejects the last packet, send it
 * again.
 */
static int
packet_begin(struct link *link, int64_t deadline, int *again)
{
	for (int noise = 0; noise < NOISE_MAX; noise++) {
		int c = byte_receive(link, deadline);

		if (c < 0 || c == '$')
			return c;
		if (c != '-' || link->quiet)
			continue;
		if (++*again > TRIES_MAX ||
		    bytes_send(link, link->sent, link->sent_len))
			return LINK_BAD;
	}
	return LINK_BAD;
}

/* Append a byte, `times` times, to the reply. */
static bool
reply_put(struct link *link, size_t *n, uint8_t c, unsigned times)
{
	if (*n + times > PACKET_MAX)
		return false;
	memset(link->reply + *n, c, times);
	*n += times;
	return true;
}

enum { SUM_WRONG = -10 };

/*
 * Receive a packet from behind its '$' to its checksum.  Returns its length, or
 * a negative value.  There is a deadline, so signals do not end the wait.
 */
static int
packet_body(struct link *link, int64_t deadline)
{
	uint8_t sum = 0, escape = 0;
	size_t n = 0;
	int c, hi, lo;

	while ((c = byte_receive(link, deadline)) != '#') {
		if (c < 0)
			return c;
		sum += (uint8_t)c;
		if (c == '}' && !escape) {
			escape = 0x20;
			continue;
		}
		if (c == '*' && !escape) {
			c = byte_receive(link, deadline);
			sum += (uint8_t)c;
			if (c < ' ' || !n ||
			    !reply_put(link, &n, (uint8_t)link->reply[n - 1],
				       (unsigned)c - 29))
				return c < 0 ? c : LINK_BAD;
			continue;
		}
		if (!reply_put(link, &n, (uint8_t)c ^ escape, 1))
			return LINK_BAD;
		escape = 0;
	}
	hi = byte_receive(link, deadline);
	lo = hi < 0 ? hi : byte_receive(link, deadline);
	if (lo < 0)
		return lo;
	link->reply[n] = '\0';
	hi = hex_value(hi);
	lo = hex_value(lo);
	return hi >= 0 && lo >= 0 && (hi << 4 | lo) == sum ? (int)n : SUM_WRONG;
}

int
packet_receive(struct link *link, int timeout)
{
	enum { REST = 10 * 1000 };	/* for the rest of a packet */
	int64_t deadline = timeout < 0 ? -1 : now() + timeout;
	int again = 0;

	if (ack_send(link))
		return LINK_GONE;
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		int n = packet_begin(link, deadline, &again);

		if (n < 0)
			return n;
		n = packet_body(link, now() + REST);
		if (n == LINK_TIMEOUT)
			return LINK_BAD;
		if (n < 0 && n != SUM_WRONG)
			return n;
		if (link->quiet)
			return n < 0 ? LINK_BAD : n;
		if (n >= 0) {
			link->owes = true;
			return n;
		}
		if (bytes_send(link, "-", 1))
			return LINK_GONE;
	}
	return LINK_BAD;
}
