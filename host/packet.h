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
	PACKET_MAX = 1 << 16,	/* longest reply that is accepted */
	LINK_TIMEOUT = -1,
	LINK_GONE = -2,		/* the stub closed the connection */
	LINK_WOKEN = -3,	/* a signal came to pmon */
	LINK_BAD = -4,		/* what arrives is not the protocol */
};

struct link {
	int fd;			/* -1: none */
	bool quiet;		/* no acknowledgements are exchanged */
	bool owes;		/* an acknowledgement, which goes with the next
				   packet */
	uint8_t in[4096];	/* bytes received and not looked at yet */
	size_t in_lo, in_hi;
	bool unheard;		/* nothing came since the last packet was sent */
	char *sent;		/* the last packet, framed, for sending again */
	size_t sent_len;
	char *reply;		/* the last packet received, unescaped and
				   followed by a NUL */
};

/*
 * Connect to `where`: the path of a Unix socket if it has a slash, else
 * HOST:PORT or [HOST]:PORT.  0, or -1 with the message set; errno tells why if
 * the connection failed, and is 0 if the name could not be resolved.
 */
int link_open(struct link *link, const char *where);
void link_close(struct link *link);

/* Send a packet; 0, or LINK_GONE. */
int packet_send(struct link *link, const void *data, size_t n);

/*
 * Receive a packet into link->reply.  Returns its length or a LINK_ error.
 * timeout is in milliseconds, -1 for none.  Signals end the wait only if there
 * is no timeout.
 */
int packet_receive(struct link *link, int timeout);

/* Have bytes been received that were not looked at yet? */
bool link_pending(const struct link *link);

/*
 * Send the interrupt character, one byte outside of packets, once the stub has
 * acknowledged the last packet.
 */
int link_interrupt(struct link *link);

#endif
