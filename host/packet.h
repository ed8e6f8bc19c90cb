/*
 * Packets of the GDB remote protocol (GDB manual, appendix E.1): framing,
 * checksums, acknowledgements, escapes and run lengths, over a Unix socket or
 * TCP.  Knows nothing of what packets say.
 */
#ifndef HOST_PACKET_H
#define HOST_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PACKET_MAX = 1 << 16,	/* bytes of a reply that are taken */
	LINK_TIMEOUT = -1,
	LINK_GONE = -2,		/* the stub closed the connection */
	LINK_WOKEN = -3,	/* a signal came to pmon */
	LINK_BAD = -4,		/* what comes is not the protocol */
};

struct link {
	int fd;			/* -1: none */
	bool quiet;		/* no acknowledgements are exchanged */
	bool owes;		/* one, which goes with the next packet */
	uint8_t in[4096];	/* received, not looked at yet */
	size_t in_lo, in_hi;
	char *sent;		/* the last packet, framed, to send again */
	size_t sent_len;
	char *reply;		/* the last packet received, unescaped, and
				   ended by a NUL which is not counted */
};

/*
 * Connect to `where`: the path of a Unix socket if it has a slash, else
 * HOST:PORT or [HOST]:PORT.  0 or -1 with the message set; errno tells why
 * if it was the connection that failed.
 */
int link_open(struct link *link, const char *where);
void link_close(struct link *link);

/* Send a packet; 0, or LINK_GONE. */
int packet_send(struct link *link, const void *data, size_t n);

/*
 * Receive a packet into link->reply; its length, or what is negative above.
 * timeout is in milliseconds, -1: none.  Only without a timeout signals wake.
 */
int packet_receive(struct link *link, int timeout);

/* Bytes have come that were not looked at yet. */
bool link_pending(const struct link *link);

/* Send one byte outside of packets: the interrupt character. */
int link_interrupt(struct link *link);

#endif
